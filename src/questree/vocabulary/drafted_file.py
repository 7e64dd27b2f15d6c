"""A vocabulary file proposed from the class names that facts use: every word, and special lists by words and use."""

from collections.abc import Iterator
from typing import NamedTuple

from questree.faults import Fault, refuse
from questree.vocabulary.draft import (
    ANNOTATED,
    ANY_ACTION,
    ANYTHING,
    INTERACTING,
    VAGUE,
    Draft,
    UsedWords,
)
from questree.vocabulary.drafted_words import LOOK, DraftWord
from questree.vocabulary.inflection import headed
from questree.vocabulary.notes import NOTES
from questree.vocabulary.write import toml_value

ENTAILED = {"carrying": "holding", "holding": "touching", "wiping": "touching", "twisting": "touching"}
ENTAILED |= {"sitting on": "touching", "lying on": "touching", "leaning on": "touching", "wearing": "touching"}
TAKING = ("take", "grab", "get", "fetch", "pick up", "take out", "pick")
PUTTING = ("put", "put down", "place", "throw", "lay", "put away", "drop", "set down")
TRANSITIONS = (*TAKING, *PUTTING, "open", "close", "turn on", "turn off", "switch on", "switch off")


class DraftedFile(NamedTuple):
    text: str  # a vocabulary file that has every name of the files
    look: list[tuple[str, str]]  # words the rules are not sure of, and why
    shared: list[str]  # what was done about words that share a wording


def drafted(used: UsedWords, name: str, source: str) -> DraftedFile:
    own = [given for given in used.relations if given in (ANNOTATED, INTERACTING)]
    refuse([Fault(source, f"relation {given!r} comes by itself; leave it out of the files") for given in own])
    draft = Draft(used)
    words = (word for kind in (draft.objects, draft.relations, draft.actions) for word in kind.values())
    look = [(word.name, why.removeprefix(LOOK)) for word in words for why in word.remarks if why.startswith(LOOK)]
    return DraftedFile("\n".join(lines(draft, name, source)) + "\n", look, draft.shared)


def lists(draft: Draft) -> dict[str, list[object]]:
    """What can be told from words and use; the other lists stay empty."""
    asked = [word for word in draft.relations.values() if word.fields["group"] != "derived"]
    names = [str(word.fields["name"]) for word in asked]
    verbs = {bare(word): word.name for word in asked if "present" in word.fields}
    silent = [
        str(word.fields["name"]) for word in asked if "present" not in word.fields and word.fields["group"] != "spatial"
    ]
    handling = draft.handles and draft.handles.fields["name"]
    found: dict[str, list[object]] = {name: [] for name in NOTES}
    found["never_asked_relations"] = [*silent]
    found["not_touching_contacts"] = [name for name in silent if name != handling]
    found["vague_relations"] = [name for name in silent if name.split(" ")[0] in VAGUE]
    found["plain_contacts"] = ["touching"] if "touching" in names else []
    found["transition_verbs"] = [verbs[verb] for verb in TRANSITIONS if verb in verbs]
    heads: dict[str, list[str]] = {}
    for word in draft.objects.values():
        if "merged" not in word.fields and "part_only" not in word.fields and word is not draft.person:
            heads.setdefault(headed(str(word.fields["name"]))[1], []).append(str(word.fields["name"]))
    found["similar_objects"] = [family for family in heads.values() if len(family) > 1]
    return found


def to_weigh(draft: Draft) -> dict[str, list[str]]:
    """Entries of lists that change much and need somebody who knows the data: proposed, but not in force."""
    verbs = {bare(word): word.name for word in draft.relations.values() if word.fields["group"] == "verb"}
    of = {"take_verbs": TAKING, "hold_verbs": ("hold",), "put_verbs": PUTTING}
    found = {name: [verbs[verb] for verb in wanted if verb in verbs] for name, wanted in of.items()}
    return found | {"single_object_verbs": single(draft)}


def bare(word: DraftWord) -> str:
    """put, of a verb said as put somewhere."""
    return str(word.fields["present"]).removesuffix(f" {word.fields.get('rest')}")


def single(draft: Draft) -> list[str]:
    """Verbs of actions that have one object only."""
    uses: dict[str, set[object]] = {}
    for word in draft.actions.values():
        if "object" in word.fields:
            uses.setdefault(str(word.fields["verb"]), set()).add(word.fields["object"])
    by_id = {word.id: word for word in draft.relations.values()}
    return [str(by_id[id].fields["name"]) for id, things in uses.items() if len(things) == 1]


def lines(draft: Draft, name: str, source: str) -> Iterator[str]:
    yield f"# Drafted from {source} by `questree vocabulary draft`. Forms are made by rule: read them, correct what"
    yield '# is wrong, above all where a line says "look at this", then run `questree vocabulary check` on this file.'
    yield f"name = {toml_value(name)}"
    ids = {
        "person": (draft.person, "o1"),
        "annotated": (draft.annotated, "d1"),
        "interacting": (draft.interacting, "d2"),
    }
    ids |= {"unnamed": (draft.unnamed, "")} if draft.unnamed else {}
    ids |= {"other": (draft.objects[ANYTHING], "")} if ANYTHING in draft.objects else {}
    ids |= {"other_action": (draft.actions[ANY_ACTION], "")} if ANY_ACTION in draft.actions else {}
    ids |= {"other_relation": (draft.other_relation, "")} if draft.other_relation else {}
    yield from (f"{key} = {toml_value(word.id)}" for key, (word, usual) in ids.items() if word.id != usual)
    yield "\n# article: a, an, some, the, their or nothing; merged: the class it is counted as; labels: spellings"
    yield "# in files; part_only: an object of actions that no question asks for."
    yield "objects = ["
    yield from (word.line() for word in draft.objects.values())
    yield "]\n\n# group: spatial, contact, verb (of an action), attention (never asked) or derived. present: did they"
    yield "# ...; past: the thing they ...; folds: the contact that facts of this verb are stored under."
    yield "relations = ["
    last = sorted(draft.relations.values(), key=lambda word: word.fields["group"] == "derived")
    yield from (word.line() for word in last)
    yield "]\n\n# phrase: they were ...; present: did they ...; past: before they ...; verb, object: what is done to"
    yield "# what."
    yield "actions = ["
    yield from (word.line() for word in draft.actions.values())
    yield "]\n\n[lists]"
    for key, entries in lists(draft).items():
        yield f"# {NOTES[key].does}"
        if proposed := to_weigh(draft).get(key):
            yield f"# perhaps: {key} = {toml_value(proposed)}"
        yield f"{key} = {toml_value(entries)}"
    names = {str(word.fields["name"]) for word in draft.relations.values()}
    yield "\n# what holds whenever another relation holds"
    yield "[entailments]"
    entailed = {one: [other] for one, other in ENTAILED.items() if {one, other} <= names}
    for verb in draft.handled():
        entailed.setdefault(verb, []).append(str(draft.hands_on().fields["name"]))
    yield from (f"{toml_value(one)} = {toml_value(others)}" for one, others in entailed.items())
