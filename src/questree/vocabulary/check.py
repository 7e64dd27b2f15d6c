"""What is missing or contradictory in a vocabulary, one line per fault, each naming the word or list it is about."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import get_type_hints

import msgspec

from questree.faults import Fault, with_nul
from questree.vocabulary.words import (
    DONE_TO,
    EXISTENCE,
    GROUPS,
    ROLES,
    Action,
    HeldOutWords,
    Lists,
    Object,
    Relation,
    Vocabulary,
)

UNSPELLABLE = "(),[]$\r\n"  # brackets, commas, dollars and line ends are signs of the notations of programs
ARTICLES = ("", "a", "an", "some", "the", "their")
MOST = {"objects": 8_190, "relations": 4_094, "actions": 24_000}  # keys of facts and columns of answers hold them
MOST_HELD_OUT = 12  # different words of held-out pairs: each is a bit of a question's marks
SEEN_ONLY = ("attention", "derived")  # groups of relations that nobody does
SAID = {"person": "person", "interacting": "interacting with"}  # as the English of all questions has it

KINDS = ("object", "relation", "action")
Word = Object | Relation | Action
Found = Iterator[tuple[str, str]]  # where, message


def check(vocabulary: Vocabulary, place: str) -> list[Fault]:
    """All faults, rule by rule; an empty list means every look-up of `Vocabulary` works."""
    rules = (sizes, ids, names, objects, relations, actions, special, lists, held_out, entailments)
    return [Fault(f"{place}, {where}", message) for rule in rules for where, message in rule(vocabulary)]


def sizes(vocabulary: Vocabulary) -> Found:
    for kind, most in MOST.items():
        count = len(getattr(vocabulary, kind))
        if count > most:
            yield kind, f"{count:,} {kind}, at most {most:,} fit"
        if count == 0 and kind != "actions":
            yield kind, f"no {kind}, at least one is needed"
    if vocabulary.existence not in EXISTENCE:
        yield "existence", f'expected one of {_quoted(EXISTENCE)}, got "{vocabulary.existence}"'


def ids(vocabulary: Vocabulary) -> Found:
    for kind, words in _kinds(vocabulary).items():
        for number, word in enumerate(words, 1):
            if not word.id:
                yield f"{kind} number {number}", "has no id"
            spellings = (word.id, word.phrase if isinstance(word, Action) else word.name, *word.labels)
            yield from (
                (fault.place, fault.message) for fault in with_nul(f"{kind} number {number}", "word", spellings)
            )
        for id, times in Counter(word.id for word in words if word.id).items():
            if times > 1:
                yield f"{kind} {id}", "id given to more than one word"


def names(vocabulary: Vocabulary) -> Found:
    """A spelling means one word; only a word counted as another one may be called like it (the verb holding)."""
    for kind, words in _kinds(vocabulary).items():
        at = _known(vocabulary)[kind]
        for word in words:
            name = word.phrase if isinstance(word, Action) else word.name
            if not name:
                yield f"{kind} {word.id}", f"has no {'phrase' if kind == 'action' else 'name'}"
            elif wrong := _unspellable(name):
                yield f"{kind} {word.id}", f"no program can spell {msgspec.json.encode(name).decode()}: {wrong}"
            for spelling in filter(None, (name, *word.labels)):
                meant = words[at[spelling]].id
                if meant not in (word.id, _counted_as(word)):
                    yield f"{kind} {word.id}", f'"{spelling}" already means {kind} {meant}'


def objects(vocabulary: Vocabulary) -> Found:
    merged = {word.id: word.merged for word in vocabulary.objects}
    for word in vocabulary.objects:
        where = f"object {word.id}"
        if word.article not in ARTICLES:
            yield where, f'article: expected one of {_quoted(ARTICLES)}, got "{word.article}"'
        yield from _target(where, "merged", word, merged, "an object")


def relations(vocabulary: Vocabulary) -> Found:
    folds = {word.id: word.folds for word in vocabulary.relations}
    verbs = {word.verb for word in vocabulary.actions}
    silent = {vocabulary.annotated, *vocabulary.lists.never_asked_relations}  # never appear in a question
    for word in vocabulary.relations:
        where = f"relation {word.id}"
        if word.group not in GROUPS:
            yield where, f'group: expected one of {_quoted(GROUPS)}, got "{word.group}"'
        yield from _target(where, "folds", word, folds, "a relation")
        verbless = word.group == "spatial" and word.id not in verbs and not (word.present or word.past)
        if not word.folds and not verbless and not silent & {word.id, word.name, *word.labels}:
            yield from _forms(where, word)
        for form in filter(None, (word.progressive or word.name, word.present, word.past)):
            if word.rest and not form.endswith(f" {word.rest}"):
                yield where, f'"{form}" does not end in its rest "{word.rest}"'


def actions(vocabulary: Vocabulary) -> Found:
    merged = {word.id: word.merged for word in vocabulary.actions}
    verbs = {word.id: word.group for word in vocabulary.relations}
    counted = {word.id: word.merged or word.id for word in vocabulary.objects}
    for word in vocabulary.actions:
        where = f"action {word.id}"
        if word.verb not in verbs:
            yield where, f'verb "{word.verb}" is not the id of a relation'
        elif verbs[word.verb] in SEEN_ONLY:
            yield (
                where,
                f'verb "{word.verb}" is of group {verbs[word.verb]}; choose one of group verb, contact or spatial',
            )
        for field, noun in (("object", word.object), ("noun", word.noun)):
            if noun and noun not in counted:
                yield where, f'{field} "{noun}" is not the id of an object'
        if word.noun in counted and counted[word.noun] != counted.get(word.object):
            yield where, f'noun "{word.noun}" is not counted as the same object as "{word.object}"'
        if word.role not in ROLES:
            yield where, f'role: expected one of {_quoted(ROLES)}, got "{word.role}"'
        elif word.role != DONE_TO and not word.object:
            yield where, f'role "{word.role}" of an action that names no object'
        elif word.role != DONE_TO and not vocabulary.unnamed:
            yield where, f'role "{word.role}" needs the key `unnamed`: the id of the object its verb is then done to'
        yield from _target(where, "merged", word, merged, "an action")
        if not word.merged:
            yield from _forms(where, word)


def special(vocabulary: Vocabulary) -> Found:
    """The three words the facts cannot do without, and the one they need for roles."""
    derived = 'a relation of group "derived"', {word.id for word in vocabulary.relations if word.group == "derived"}
    objects = "an object", {word.id for word in vocabulary.objects}
    for field, (kind, words) in (("person", objects), ("annotated", derived), ("interacting", derived)):
        if (given := getattr(vocabulary, field)) not in words:
            yield field, f'"{given}" is not the id of {kind}'
    spelled = {"person": vocabulary.object_at, "interacting": vocabulary.relation_at}
    for field, said in SAID.items():
        given, at = getattr(vocabulary, field), spelled[field]
        if given in at and at.get(said) != at[given]:
            yield field, f'questions say "{said}": give "{given}" this name, or the label "{said}"'
    parts = {word.id for word in vocabulary.objects if word.part_only and not word.merged}
    for field in ("unnamed", "other"):
        if (given := getattr(vocabulary, field)) and given not in parts:
            yield field, f'"{given}" is not the id of an object that is part_only and not merged'
    if (given := vocabulary.other_action) and given not in {word.id for word in vocabulary.actions if not word.merged}:
        yield "other_action", f'"{given}" is not the id of an action that is not merged'
    if (given := vocabulary.other_relation) and given not in (silent := {word.id for word in _silent(vocabulary)}):
        choices = f"; choose from {_quoted(sorted(silent))}" if silent else ""
        yield "other_relation", f'"{given}" is not the id of {SILENT}{choices}'


SILENT = "a relation in the lists never_asked_relations, vague_relations and, of a contact, not_touching_contacts"


def _silent(vocabulary: Vocabulary) -> Iterator[Relation]:
    """Relations that nobody asks for and from which nothing follows, not even that something is touched."""
    lists = vocabulary.lists
    never, vague, apart = (
        {vocabulary.relation_at.get(name) for name in names}
        for names in (lists.never_asked_relations, lists.vague_relations, lists.not_touching_contacts)
    )
    for at, word in enumerate(vocabulary.relations):
        if at in never & vague and (at in apart or word.group != "contact"):
            yield word


def lists(vocabulary: Vocabulary) -> Found:
    return _spelled("list", vocabulary.lists, vocabulary)


def held_out(vocabulary: Vocabulary) -> Found:
    given = vocabulary.held_out or HeldOutWords()
    yield from _spelled("held_out", given, vocabulary)
    different = {(place, word) for pair in given.pairs for place, word in enumerate(pair)}
    if len(different) > MOST_HELD_OUT:
        yield "held_out pairs", f"{len(different)} different words, at most {MOST_HELD_OUT} fit"


def _spelled(what: str, lists: Lists | HeldOutWords, vocabulary: Vocabulary) -> Found:
    """Every entry of a list is a word of its kind."""
    known, kinds_of = _known(vocabulary), get_type_hints(type(lists), include_extras=True)
    for name, entries in msgspec.structs.asdict(lists).items():
        kinds: tuple[str, ...] = kinds_of[name].__metadata__
        for entry in entries:
            spelled = (entry,) if isinstance(entry, str) else entry
            places = kinds if len(kinds) == len(spelled) else kinds[:1] * len(spelled)
            for kind, spelling in zip(places, spelled, strict=True):
                if spelling not in known[kind]:
                    yield f"{what} {name}", f'no {kind} is called "{spelling}"'


def entailments(vocabulary: Vocabulary) -> Found:
    known = _known(vocabulary)["relation"]
    for name, entailed in vocabulary.entailments.items():
        for spelling in (name, *entailed):
            if spelling not in known:
                yield f'entailments of "{name}"', f'no relation is called "{spelling}"'
        if way := _way_back(name, vocabulary):
            yield f'entailments of "{name}"', f"a relation cannot entail itself: {_quoted((name, *way))}"


def _way_back(start: str, vocabulary: Vocabulary) -> tuple[str, ...]:
    """The entailments that lead from a relation to itself, or nothing."""
    home, seen = _stored(start, vocabulary), set[str]()
    ways: list[tuple[str, ...]] = [(start,)]
    for way in ways:  # grows while it is walked
        for name, entailed in vocabulary.entailments.items():
            for spelling in entailed if _stored(name, vocabulary) == _stored(way[-1], vocabulary) else ():
                if (found := _stored(spelling, vocabulary)) == home:
                    return (*way[1:], spelling)
                if found not in seen:
                    seen.add(found)
                    ways.append((*way, spelling))
    return ()


def _stored(spelling: str, vocabulary: Vocabulary) -> str:
    """The id facts of a relation are stored under; a word that is not there stands for itself."""
    at = vocabulary.relation_at.get(spelling)
    return spelling if at is None else vocabulary.relations[at].folds or vocabulary.relations[at].id


def _kinds(vocabulary: Vocabulary) -> dict[str, Sequence[Word]]:
    return {kind: getattr(vocabulary, f"{kind}s") for kind in KINDS}


def _known(vocabulary: Vocabulary) -> dict[str, dict[str, int]]:
    return {kind: getattr(vocabulary, f"{kind}_at") for kind in KINDS}


def _counted_as(word: Word) -> str:
    return word.folds if isinstance(word, Relation) else word.merged


def _target(where: str, field: str, word: Word, targets: dict[str, str], kind: str) -> Found:
    """A word may be counted as another one, which must be there and be counted as itself."""
    target = _counted_as(word)
    if target == word.id and target:
        yield where, f"{field} points at the word itself, leave it out"
    elif target and target not in targets:
        yield where, f'{field} "{target}" is not the id of {kind}'
    elif target and targets[target]:
        yield where, f'{field} "{target}", which is itself counted as "{targets[target]}"'


def _unspellable(name: str) -> str:
    """Why a name cannot stand in a program, or nothing."""
    if signs := [sign for sign in UNSPELLABLE if sign in name]:
        return "it has " + " ".join("a line end" if sign.isspace() else sign for sign in signs)
    if name != name.strip():
        return "it begins or ends with a space"
    return 'it is "?"' if name == "?" else 'it begins with "!"' if name.startswith("!") else ""


def _forms(where: str, word: Relation | Action) -> Found:
    for field in ("present", "past"):
        if not getattr(word, field):
            yield where, f"has no {field} form"


def _quoted(choices: Iterable[str]) -> str:
    return ", ".join(f'"{choice}"' for choice in choices)
