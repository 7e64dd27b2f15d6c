"""The English of a program: with words the question, with blanks the pattern of a template, filled column-wise."""

from collections.abc import Callable, Iterator
from itertools import product
from string import Formatter

from questree.readings.answer import position
from questree.terms import Node, Slot, Word, fold
from questree.vocabulary.words import Vocabulary

LEADS = {  # form -> what opens a question about one thing, about several
    "does": ("Does {}", "Do {}"),
    "is": ("Is {}", "Are {}"),
    "is an object": ("Is {} an object", "Are {} things"),
}
EXISTENCE = {"exists": "Does {} exist", "there": "Is {} there"}  # form -> a question: at any time, in a time
IN_A_TIME = "asked in a time"  # form of what is asked about one; mostly as it is asked anyway
DEFINITE = ("the", "their")  # "Is the fridge there", but "Is there a knife"
Spell = Callable[[str], tuple[str, ...]]  # form -> the ways to say it, the usual one first


def wordings(node: Node, vocabulary: Vocabulary | None = None) -> list[str]:
    """Every way to ask the question; the first is the usual one."""

    def leaf(term: Slot | Word) -> Spell:
        if isinstance(term, Slot):
            return lambda form: ("{" + term.name + (":" + form if form else "") + "}",)
        return lambda form: (spelling(term, form, vocabulary),)

    def combine(node: Node, kids: dict[str, Spell]) -> Spell:
        said = node.op.phrase
        if callable(said):
            return lambda form: (said(node, form),)
        return lambda form: tuple(text for frame in frames(node, form) for text in filled(frame, kids))

    texts = (apart(" ".join(text.split())) + "?" for text in fold(node, leaf, combine)("ask"))
    return list(dict.fromkeys(texts))


RUN_ON = " in between ", " in, between "  # "What is the person in between ...": a relation, then a time


def apart(text: str) -> str:
    return text.replace(*RUN_ON)


def english(node: Node, vocabulary: Vocabulary | None = None, frame: int = 0) -> str:
    ways = wordings(node, vocabulary)
    return ways[frame % len(ways)]


def frames(node: Node, form: str) -> tuple[str, ...]:
    """The patterns of an operator: asking, or as a phrase in this form (or the plain one)."""
    phrase, asked = node.op.phrase, node.op.ask
    if form == "ask" or (form == IN_A_TIME and (callable(phrase) or form not in phrase)):
        found = asked(*node.args) if callable(asked) else asked
    elif form in LEADS and not callable(phrase) and form not in phrase:  # what a question opens with, and its subject
        found = tuple(LEADS[form][0].format(said) for said in frames(node, "a"))
    elif form in EXISTENCE and not callable(phrase) and form not in phrase:
        found = tuple(EXISTENCE[form].format(said) for said in frames(node, "a"))
    else:
        found = () if callable(phrase) else phrase.get(form, phrase.get("", ()))
    if not found:
        raise TypeError(f"operator {node.op.name} has no English for {form or 'its phrase'!r}")
    return found


def filled(frame: str, kids: dict[str, Spell]) -> Iterator[str]:
    """A pattern with every combination of its arguments' wordings."""
    pieces: list[tuple[str, ...]] = []
    for text, name, form, _ in Formatter().parse(frame):
        pieces.append((text,))
        if name:
            pieces.append(kids[name](form or ""))
    return map("".join, product(*pieces))


def spelling(word: Word, form: str, vocabulary: Vocabulary | None) -> str:
    """A plain word in one of its forms."""
    if word.kind.say:
        return word.kind.say(word.name, form)
    if word.kind.words not in ("objects", "relations", "actions"):
        return word.name
    assert vocabulary is not None, f"the word {word.name!r} is of a vocabulary"
    at = position(word, vocabulary)
    if word.kind.words == "objects":
        return noun_phrase(at, form == "a", vocabulary, form)
    if word.kind.words == "relations":
        return relation_form(at, form, vocabulary)
    action = vocabulary.actions[at]
    if form in ("verb", "head", "rest", "something"):
        return relation_form(int(vocabulary.verb_of[vocabulary.merged_action[at]]), form, vocabulary)
    if form.endswith("noun"):
        return noun_phrase(int(vocabulary.noun_of[at]), form == "a noun", vocabulary, form.removesuffix(" noun"))
    return {"present": action.present, "past": action.past}.get(form, action.progressive or action.phrase)


def relation_form(at: int, form: str, vocabulary: Vocabulary) -> str:
    """A relation: whole, as head and rest around its object ("having a bag on their back"), or its missing object."""
    relation = vocabulary.relations[at]
    whole = relation.progressive or relation.name
    forms = {
        "present": relation.present or f"be {whole}",
        "past": relation.past or f"were {whole}",
        "Did they": f"Did they {relation.present}" if relation.present else f"Were they {whole}",
        "head": whole.removesuffix(relation.rest).rstrip(),
        "rest": f" {relation.rest}" if relation.rest else "",  # brings its own space, so that it may be empty
        "something": relation.something,
    }
    return forms.get(form, whole)


def noun_phrase(at: int, article: bool, vocabulary: Vocabulary, lead: str = "") -> str:
    noun = vocabulary.objects[at]
    if lead in LEADS:
        return LEADS[lead][noun.plural].format(noun_phrase(at, True, vocabulary))
    if lead in EXISTENCE:
        return existence(at, lead, vocabulary)
    return f"{noun.article} {noun.name}".strip() if article else noun.name


def existence(at: int, form: str, vocabulary: Vocabulary) -> str:
    """Is it there? AGQA's sub-questions say "exist" at all times, those of other words only where no time is named:
    there the evaluation of AGQA-Decomp looks for it."""
    noun = vocabulary.objects[at]
    if vocabulary.existence != "exist" and noun.id == vocabulary.person:
        return "Is the person there"
    if vocabulary.existence == "exist":
        return f"{noun_phrase(at, True, vocabulary, 'does')} exist"
    said = f"any {noun.name}" if noun.article == "some" else noun_phrase(at, True, vocabulary)
    if form == "exists":
        return LEADS["does"][noun.plural].format(f"{said} exist")
    return LEADS["is"][noun.plural].format(f"{said} there" if noun.article in DEFINITE else f"there {said}")
