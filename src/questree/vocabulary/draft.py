"""Words for the class names that facts use: forms by rule, groups by words, plurals and synonyms counted as one."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from questree.vocabulary.class_names import (
    DETERMINERS,
    NO_THING,
    PARTICLES,
    SPATIAL,
    cleaned,
    up_to_preposition,
    with_articles,
)
from questree.vocabulary.inflection import (
    BODY,
    ENGLISH,
    PREPOSITIONS,
    article,
    base,
    is_plural,
    is_progressive,
    past,
    plural,
    progressive,
)
from questree.vocabulary.write import toml_value

PERSON, ANNOTATED, INTERACTING = "person", "annotated", "interacting with"
HANDLING = "hands on"  # a contact nobody is asked about: what holds of a thing to which something is done
AFAR = set(ENGLISH["done_from_afar"].split())
AT, SEEING = (["at"], ["to"], ["towards"], ["toward"]), ("watch", "see", "view", "observe")
UNNAMED = "something unnamed"  # what an action is done to that names its place or tool
PEOPLE = ("person", "human", "actor")
SUBJECTS = (*PEOPLE, "someone", "somebody", "man", "woman", "he", "she", "they")  # before an action's verb
SYNONYMS = [row.split(", ") for row in ENGLISH["synonyms"].split("\n") if row]
NEGATIVE = ("not", "no", "none", "unsure", "unknown", "never", "without")
ANYTHING, ANY_ACTION = "other thing", "doing something else"  # what has no class
VAGUE = ("other", "misc", "unsure", "unknown", "none")
UNSURE = ("unsure", "none")


@dataclass
class UsedWords:
    """The class names in somebody's files, with how often each is used."""

    objects: Counter[str] = field(default_factory=Counter)
    relations: Counter[str] = field(default_factory=Counter)
    actions: Counter[str] = field(default_factory=Counter)


@dataclass
class DraftWord:
    """A word of the proposal: its fields as the file has them, and a remark for whoever reads it."""

    id: str
    fields: dict[str, object]
    remark: str = ""
    given: list[str] = field(default_factory=list)  # spellings in the files
    used: int = 0

    def line(self) -> str:
        labels = [name for name in self.given if name not in (self.fields.get("name"), self.fields.get("phrase"))]
        shown = {"id": self.id} | self.fields | ({"labels": labels} if labels else {})
        text = ", ".join(f"{name} = {toml_value(value)}" for name, value in shown.items())
        times = ["once" if self.used == 1 else f"{self.used:,} times"] * bool(self.used)
        notes = "; ".join([*times, *filter(None, [self.remark])])
        return f"  {{ {text} }},{f'  # {notes}' if notes else ''}"


def vague(name: str) -> bool:
    """Does it say that there is no class: other, misc object, unknown action?"""
    first, *rest = name.split(" ")
    return first in VAGUE and set(rest) <= {
        "action",
        "activity",
        "object",
        "thing",
        "item",
        "objects",
        "things",
        "items",
        "relation",
        "relationship",
    }


def numbered(prefix: str, taken: Iterable[str]) -> Iterator[str]:
    """o1, o2, ...; another prefix where the files have names of this form."""
    while any(re.fullmatch(rf"{prefix}\d+", name) for name in taken):
        prefix += "x"
    return (f"{prefix}{number}" for number in range(1, 1 << 30))


class Draft:
    def __init__(self, used: UsedWords):
        self.objects, self.relations, self.actions = (dict[str, DraftWord]() for _ in range(3))  # by name
        self.said = dict[str, str]()  # object as actions may say it, without articles inside -> its name
        self.patterns = dict[str, str]()  # phrase -> its words without verb, articles and object
        self.object_ids = numbered("o", used.objects)
        self.person = self.add(self.objects, next(self.object_ids), PERSON, {"name": PERSON, "article": "a"})
        for name, times in used.objects.most_common():
            word = self.thing(self.called(cleaned(name, first=0)), name, times)
            word.remark = word.remark or "check: name" * ("(" in name)
        self.relation_ids, self.verb_ids = numbered("r", used.relations), numbered("v", used.relations)
        for name, times in used.relations.most_common():
            self.relation(name, times)
        self.action_ids = numbered("a", used.actions)
        for name, times in used.actions.most_common():
            self.action(name, times)
        if self.handled() and HANDLING not in self.relations:
            said = {"name": HANDLING, "group": "contact"}
            self.add(self.relations, next(self.relation_ids), HANDLING, said).remark = "never asked"
        derived = numbered("d", used.relations)
        self.annotated = self.add(self.relations, next(derived), ANNOTATED, {"name": ANNOTATED, "group": "derived"})
        forms = {"present": "interact with", "past": "interacted with"}
        fields = {"name": INTERACTING, "group": "derived"} | forms
        self.interacting = self.add(self.relations, next(derived), INTERACTING, fields)
        self.merge()

    def handled(self) -> list[str]:
        """Verbs of actions that nobody does from afar: whoever does them interacts with the thing."""
        verbs = {str(word.fields["verb"]) for word in self.actions.values() if "object" in word.fields}
        own = (word for word in self.relations.values() if word.id in verbs and "folds" not in word.fields)
        return [str(word.fields["name"]) for word in own if str(word.fields["present"]).split(" ")[0] not in AFAR]

    @property
    def other_relation(self) -> DraftWord | None:
        """The commonest relation that has no class; one that nobody is sure of may be none at all."""
        found = (word for name, word in self.relations.items() if vague(name) and name.split(" ")[0] not in UNSURE)
        return next(found, None)

    def add(self, words: dict[str, DraftWord], id: str, name: str, fields: Mapping[str, object]) -> DraftWord:
        words[name] = DraftWord(id, dict(fields))
        return words[name]

    def use(self, word: DraftWord, given: str, times: int) -> DraftWord:
        if given and given not in word.given:
            word.given.append(given)
        word.used += times
        return word

    def thing(self, name: str, given: str = "", times: int = 0) -> DraftWord:
        """The object of this name, a new one if need be; any word for a person is the person."""
        if name in PEOPLE and given:
            return self.use(self.person, given, times)
        if vague(name) and given:
            name = ANYTHING
        if name not in self.objects:
            body = not given and name.split(" ")[-1] in BODY  # part of an action alone
            said: dict[str, object] = {"name": name, "article": "their" if body else article(name)}
            said |= {"plural": True} if is_plural(name) else {}
            self.add(self.objects, next(self.object_ids), name, said | ({"part_only": True} if body else {}))
            self.objects[name].remark = "" if given else "in actions only"
            if name == ANYTHING:
                self.objects[name].fields |= {"part_only": True}
                self.objects[name].remark = "what has no class"
        return self.use(self.objects[name], given, times)

    def called(self, name: str) -> str:
        """With the articles inside it, by which actions may say it or not."""
        self.said[name] = said = with_articles(name)
        return said

    def relation(self, given: str, times: int) -> None:
        name = cleaned(given)
        words = name.split(" ")
        if words[0] in NEGATIVE or words[0] in VAGUE:
            fields, remark = {"name": name, "group": "contact"}, "never asked"
        elif set(words) <= SPATIAL:
            fields, remark = {"name": name, "group": "spatial"}, ""
        elif words[0].endswith(("ed", "en")) and not is_progressive(words[0]):
            forms = {"present": f"get {name}", "past": f"got {name}"}
            fields, remark = {"name": name, "group": "contact"} | forms, "check: forms"
        else:
            verb, rest = base(words[0]), " ".join(["", *words[1:]])
            name = progressive(verb) + rest
            afar = verb in AFAR and (words[1:2] in AT or verb in SEEING)  # who points at a thing does not touch it
            group = "spatial" if afar else "contact"
            fields = {"name": name, "group": group, "present": verb + rest, "past": past(verb) + rest}
            remark = "" if is_progressive(words[0]) or words[0].endswith("s") else "check: is it a verb?"
        if name not in self.relations:
            self.add(self.relations, next(self.relation_ids), name, fields).remark = remark
        self.use(self.relations[name], given, times)

    def verb(self, verb: str, rest: str, times: int) -> DraftWord:
        """The verb relation of an action; facts of one that files also have as a contact are stored there."""
        name = " ".join(filter(None, (progressive(verb), rest)))
        key, contact = f"verb {name}", self.relations.get(name)
        if key not in self.relations:
            forms = {"present": f"{verb} {rest}".strip(), "past": f"{past(verb)} {rest}".strip()}
            folds = {"folds": contact.id} if contact and contact.fields["group"] != "spatial" else {}
            self.add(self.relations, next(self.verb_ids), key, {"name": name, "group": "verb"} | forms | folds)
        return self.use(self.relations[key], "", times)

    def action(self, given: str, times: int) -> None:
        verb, particle, said, noun, remark = self.parts(cleaned(given, first=1).split(" "))
        role = self.place(said.split(" ")) if not noun else {}
        noun = role.pop("noun", noun)
        tail = " ".join(["", *filter(None, (particle, said))])
        phrase = progressive(verb) + tail
        if phrase not in self.actions:
            relation = self.verb(verb, particle, times)
            fields = {"phrase": phrase, "present": verb + tail, "past": past(verb) + tail, "verb": relation.id}
            thing = self.thing(noun, times=times).id if noun else ""
            self.patterns[phrase] = " ".join(word for word in tail.split() if word not in {*DETERMINERS, *noun.split()})
            self.add(self.actions, next(self.action_ids), phrase, fields | ({"object": thing} if thing else {}) | role)
            if role and UNNAMED not in self.objects:
                said_of: dict[str, object] = {"name": UNNAMED, "article": "", "part_only": True}
                self.add(self.objects, next(self.object_ids), UNNAMED, said_of)
            self.actions[phrase].remark = remark
        self.use(self.actions[phrase], given, times)

    def parts(self, words: list[str]) -> tuple[str, str, str, str, str]:
        """(verb, particle or preposition, what follows, the object in it, remark) of an action's words."""
        if vague(" ".join(words)):
            return "do", "", "something else", "", "what has no class"
        words = words[words[0] in SUBJECTS :] or words
        verb, _, particle = words[0].partition("-")
        words = [verb, particle, *words[1:]] if particle in PARTICLES | PREPOSITIONS else words  # throw-in, warm-up
        later = next((at for at, word in enumerate(words) if at and is_progressive(word)), 0)
        if later == len(words) - 1 and later and not is_progressive(words[0]):  # coffee making
            words = [words[later], *words[:later]]
        if not re.fullmatch(r"[a-z][a-z'-]+", words[0]):
            return "do", "", " ".join(words), "", "check: no words to read"
        verb, rest, particle = base(words[0]), words[1:], ""
        if rest and rest[0] in PARTICLES | PREPOSITIONS:
            particle, rest = rest[0], rest[1:]
            if rest and rest[0] in PREPOSITIONS and particle in PARTICLES:  # looking out of a window
                particle, rest = f"{particle} {rest[0]}", rest[1:]
        bare = rest[1:] if rest and rest[0] in DETERMINERS else rest
        noun, end = self.named(bare)
        if not noun:
            return verb, particle, " ".join(rest), "", ""
        if bare is rest:  # without articles, so all of them are missing: stir soup with spoon
            rest = [*self.article(noun), *self.said.get(" ".join(bare[:end]), " ".join(bare[:end])).split(" ")]
            while end < len(bare):
                other, more = self.named(bare[end + 1 :])
                there = bare[end] in PREPOSITIONS and other and bare[end + 1] not in DETERMINERS | NO_THING | SPATIAL
                some = self.article(other) if there else []
                rest += [bare[end], *([] if bare[end] == "of" and some == ["some"] else some)]
                rest += bare[end + 1 : end + 1 + more]
                end += 1 + more
        return verb, particle, " ".join(rest), noun, ""

    def place(self, words: list[str]) -> dict[str, str]:
        """Putting something on a table: the noun, which is a place or a tool, and its role."""
        at = next((at for at, word in enumerate(words) if at and words[at - 1] in NO_THING and word in PREPOSITIONS), 0)
        rest = words[at + 1 :][len({*words[at + 1 : at + 2]} & DETERMINERS) :]
        noun = self.named(rest)[0] if at else ""
        return {"noun": noun, "role": "tool" if words[at] == "with" else "place"} if noun else {}

    def article(self, noun: str) -> list[str]:
        word = self.objects.get(noun)
        said = word.fields["article"] if word else "their" if noun.split(" ")[-1] in BODY else article(noun)
        return [str(said)] if noun and said else []

    def named(self, words: list[str]) -> tuple[str, int]:
        """The object these words begin with, and how many: one that files have, else all up to a preposition."""
        for end in range(len(words), 0, -1):
            name = self.said.get(" ".join(words[:end]), " ".join(words[:end]))
            if name in self.objects and set(words[:end]) & PREPOSITIONS:
                return name, end
        plain = up_to_preposition(words)
        return self.known_noun(plain), len(plain)

    def known_noun(self, words: list[str]) -> str:
        """The object that these words name: the longest end of them that files have, else all of them."""
        ends = [" ".join(words[at:]) for at in range(len(words))]
        found = next((end for end in ends if end in self.objects), " ".join(words))
        return "" if found in NO_THING | set(PEOPLE) else found

    def merge(self) -> None:
        """Plurals into their singulars, synonyms into the one that is used most; the rest of a row is counted as it."""
        rows = [[name, plural(name)] for name in self.objects]
        for row in [*rows, *SYNONYMS]:
            there = [self.objects[name] for name in row if name in self.objects]
            if len(there) < 2 or self.person in there:
                continue
            kept = there[0] if len(row) == 2 and plural(row[0]) == row[1] else max(there, key=lambda word: word.used)
            while "merged" in kept.fields:
                kept = next(word for word in self.objects.values() if word.id == kept.fields["merged"])
            for other in there:
                if other is not kept and "merged" not in other.fields:
                    self.count_as(other, kept)
        counted = {word.id: word.fields.get("merged", word.id) for word in self.objects.values()}
        first = dict[tuple[object, ...], DraftWord]()
        for phrase, word in self.actions.items():  # peeling an onion, peeling some onions
            if "object" in word.fields:
                key = (word.fields["verb"], counted[str(word.fields["object"])], self.patterns[phrase])
                kept = first.setdefault(key, word)
                if kept is not word:
                    word.fields["merged"], word.remark = kept.id, f"counted as {kept.fields['phrase']}"

    def count_as(self, other: DraftWord, kept: DraftWord) -> None:
        """The word and all that were counted as it."""
        for word in self.objects.values():
            if word is other or word.fields.get("merged") == other.id:
                word.fields["merged"] = kept.id
                word.remark = f"counted as {kept.fields['name']}"
