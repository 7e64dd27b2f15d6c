"""AGQA-Decomp functional programs: `before(interactionExists(objExists(person), relationExists(holding), ..), ..)`."""

from dataclasses import dataclass, field

from questree.domains.video.actions import to_action
from questree.domains.video.atoms import happening, interaction
from questree.notation.grammar import Notation, rule, rules, write_word
from questree.terms import ACTION, OBJECT, RELATION, Node, Slot, Term, Word, fold
from questree.vocabulary.words import NONE, Vocabulary

# Heads no figure of the paper shows: inferred. Another spelling is a change of these lines only.
AND, XOR, WHILE, BETWEEN = "and", "xor", "while", "between"
LONGER, SHORTER = "longerChoose", "shorterChoose"  # which of two actions lasts longer, shorter
ONLY = "only"  # the one object there is, where equals(.., objects(..)) asks whether it is one of them
ACTIONS = "actions"  # actions(): which action; a time goes around it, as around a yes/no question
ALONE = "actionExists"  # actionExists(standing up): an action without an object, which has no pair to be written as

PERSON, RELATED = "objExists(person)", "relationExists($r)"
DONE_TO = f"interactionExists({PERSON}, {RELATED}, $o)"
DONE_TO_SOMETHING = f"interactionExists({PERSON}, {RELATED}, None)"
IN_CONTACT = f"interactionExists({PERSON}, relationExists(interacting with), $o)"
ENDS = ("first", "last")
TIMES = {"before": "before($c)", "after": "after($c)", WHILE: "while($c)"}
SOMETHING = "interactionExists(.., R, None) means the same as relationExists(R) and is written like that"
EITHER_SIDE = "before or after: relationExists(R) means the same as interactionExists(.., R, None), which is written"

SETS = {  # objects of a relation -> the window they are looked for in: the time stands inside
    f"objects({PERSON}, {RELATED})": "whole()",
    **{f"objects({time}({PERSON}, {RELATED}, $c))": window for time, window in TIMES.items()},
    f"objects({BETWEEN}({PERSON}, {RELATED}, $c, $d))": "between($c, $d)",
}
REFERENCES = (
    {text.replace("$r", "interacting with"): f"only(annotated({window}))" for text, window in SETS.items()}
    | {text: f"only(objects($r, {window}))" for text, window in SETS.items()}
    | {f"{end}({text})": f"{end}($r, {window})" for text, window in SETS.items() for end in ENDS}
)
LENGTHS = {"longest(action)": "longest()", "shortest(action)": "shortest()"}
EVENTS = {
    "objExists($o:word)": "exists($o)",
    RELATED: "doing($r)",
    f"{ALONE}($a:alone)": "happening($a)",
    **{f"{time}($e, $c)": f"within($e, {window})" for time, window in TIMES.items()},
    f"{BETWEEN}($e, $c, $d)": "within($e, between($c, $d))",
}
INTERACTIONS = {IN_CONTACT: "interacting($o)", DONE_TO: "interaction($r, $o)"}
VERIFICATIONS = {
    f"{AND}($a, $b)": "both($a, $b)",
    f"{XOR}($a, $b)": "but_not($a, $b)",
    **{
        f"equals($o, {end}({text}))": f"equals($o, {end}($r, {window}))"
        for text, window in SETS.items()
        for end in ENDS
    },
    **{f"equals($o, {text})": f"among($o, objects($r, {window}))" for text, window in SETS.items()},
    **{f"equals($o, {ONLY}({text}))": f"equals($o, only(objects($r, {window})))" for text, window in SETS.items()},
    f"equals($x, {LONGER}($a, $b))": "same_action($x, longer($a, $b))",
    f"equals($x, {SHORTER}($a, $b))": "same_action($x, shorter($a, $b))",
}
SIDES = "or(before({0}, $c), after({0}, $c))"
CHOICES = {
    SIDES.format(DONE_TO_SOMETHING): "relation_order($r, $c)",
    SIDES.format(IN_CONTACT): "object_order($o, $c)",
    **{f"or(equals($a, {t}), equals($b, {t}))": f"choose($r, {window}, $a, $b)" for t, window in SETS.items()},
    **{
        f"or(equals($a, {end}({text})), equals($b, {end}({text})))": f"choose_{end}($r, {window}, $a, $b)"
        for text, window in SETS.items()
        for end in ENDS
    },
    f"{LONGER}($a, $b)": "longer($a, $b)",
    f"{SHORTER}($a, $b)": "shorter($a, $b)",
}
ACTION_WINDOWS = {
    f"{ACTIONS}()": "whole()",
    **{f"{time}({ACTIONS}(), $c)": window for time, window in TIMES.items()},
    f"{BETWEEN}({ACTIONS}(), $c, $d)": "between($c, $d)",
}
WHICH_ACTION = {
    text: f"action_{'before' if window == TIMES['before'] else 'after'}({window})"
    for text, window in ACTION_WINDOWS.items()
}
EXTREME_ACTION = {
    f"{end}({text})": f"{end}_action({window})" for text, window in ACTION_WINDOWS.items() for end in ENDS
}


_frames = rules({DONE_TO_SOMETHING: "doing($r)"}, SOMETHING) + rules(EVENTS) + rules(INTERACTIONS)
_open_events = rules({text: f"happening({term})" for text, term in LENGTHS.items()})
_references = rules(REFERENCES)
DECOMP = Notation(
    "AGQA-Decomp",
    {
        "question": (
            *rules(WHICH_ACTION | EXTREME_ACTION),
            *rules({SIDES.format(RELATED): "relation_order($r, $c)"}, EITHER_SIDE),
            *rules(CHOICES),
            *rules({SIDES.format("$a"): "action_order($a, $c)"}),
            *rules(VERIFICATIONS),
            *_frames,
            *_references,
            *rules(LENGTHS),
        ),
        "bool": rules(VERIFICATIONS) + _frames + _open_events,
        "frames": _frames + _open_events,
        "object": (rule("objExists($o:word)", Slot("o", OBJECT)), *_references),
        "action": (
            rule(f"{ALONE}($a:alone)", Slot("a", ACTION)),
            *rules({DONE_TO: "to_action($r, $o)"} | LENGTHS),
        ),
    },
)


@dataclass(frozen=True)
class ReadProgram:
    node: Node
    notes: list[str] = field(default_factory=list)  # what the text leaves open, or says in an unusual way


def read(text: str, vocabulary: Vocabulary) -> ReadProgram:
    """The program a text spells. A condition names a verb and an object, which need not tell the action."""
    node, notes = DECOMP.read(text, vocabulary)

    def combine(node: Node, kids: dict[str, Term]) -> Term:
        verb, noun = (*kids.values(), None, None)[:2]
        if node.op is not to_action or not isinstance(verb, Word) or not isinstance(noun, Word):
            return Node(node.op, tuple(kids.values()))
        fitting = actions_of(verb, noun, vocabulary)
        if len(fitting) == 1:
            return Word(fitting[0], ACTION)
        notes.append(_unclear(verb, noun, fitting))
        return to_action(verb, noun)

    resolved = fold(node, lambda leaf: leaf, combine)
    assert isinstance(resolved, Node)
    return ReadProgram(resolved, list(dict.fromkeys(notes)))


def write(node: Node, vocabulary: Vocabulary) -> str:
    """Actions are written as their verb and object; asked by itself, an action is that interaction."""

    def leaf(term: Slot | Word) -> Term:
        return pair(term, vocabulary) if isinstance(term, Word) and term.kind == ACTION else term

    def combine(node: Node, kids: dict[str, Term]) -> Term:
        made = Node(node.op, tuple(kids.values()))
        action = made.args[0] if made.op is happening else None
        return interaction(*action.args) if isinstance(action, Node) and action.op is to_action else made

    paired = fold(node, leaf, combine)
    assert isinstance(paired, Node)
    return DECOMP.write(paired, vocabulary)


def pair(action: Word, vocabulary: Vocabulary) -> Term:
    """The verb and the noun of an action's phrase; the action itself if it has no object."""
    at = vocabulary.action_at[write_word(action, vocabulary)]
    if vocabulary.noun_of[at] == NONE:
        return action
    verb = vocabulary.relations[vocabulary.verb_of[vocabulary.merged_action[at]]]
    noun = vocabulary.objects[vocabulary.noun_of[at]]
    return to_action(Word(verb.name, RELATION), Word(noun.name, OBJECT))


def actions_of(verb: Word, noun: Word, vocabulary: Vocabulary) -> list[str]:
    """The phrases of the actions, merged ones aside, that have this verb and name this object."""
    relation, object = vocabulary.folded[vocabulary.relation_at[verb.name]], vocabulary.object_at[noun.name]
    fits = (vocabulary.verb_of == relation) & (vocabulary.noun_of == object)
    return [vocabulary.actions[at].phrase for at in fits.nonzero()[0] if not vocabulary.actions[at].merged]


def _unclear(verb: Word, noun: Word, fitting: list[str]) -> str:
    if not fitting:
        return f"no action of the vocabulary is ({verb.name}, {noun.name}): the facts of a video must tell what it is"
    listed = ", ".join(repr(phrase) for phrase in fitting)
    return f"({verb.name}, {noun.name}) may be {listed}: only the facts of a video tell which"
