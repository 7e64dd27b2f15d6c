"""Words for the class names that facts use: forms by rule, groups by words, plurals and synonyms counted as one."""

from collections import Counter, defaultdict
from dataclasses import dataclass, field

from questree.vocabulary.class_names import (
    SPATIAL,
    cleaned,
    with_articles,
    without_articles,
)
from questree.vocabulary.drafted_words import LOOK, DraftWord, DraftWords, numbered
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
    verb_forms,
)
from questree.vocabulary.step_reading import Step, StepReader
from questree.vocabulary.step_things import LIMBS, PEOPLE, TURNS, ThingReader

PERSON, ANNOTATED, INTERACTING = "person", "annotated", "interacting with"
HANDLING = "hands on"
SOMEWHERE = ("put", "place", "lay")  # need a place
AFAR = set(ENGLISH["done_from_afar"].split())
AT, SEEING = (["at"], ["to"]), ("watch", "see", "view", "observe")
BY_DISTANCE = {"toward", "towards", "past", "for"}
UNNAMED = "something unnamed"
SYNONYMS = [row.split(", ") for row in ENGLISH["synonyms"].split("\n") if row]
NEGATIVE = ("not", "no", "none", "unsure", "unknown", "never", "without")
NO_CLASS = ("object", "person", "thing")  # carry (an object)
ANYTHING, ANY_ACTION = "other thing", "doing something else"  # what has no class
VAGUE = ("other", "misc", "unsure", "unknown", "none", "na", "n/a", "null")
UNSURE = ("unsure", "none")
NO_KIND = {"action", "activity", "object", "thing", "item", "objects", "things", "items", "relation", "relationship"}


@dataclass
class UsedWords:
    """The class names in somebody's files, with how often each is used."""

    objects: Counter[str] = field(default_factory=Counter)
    relations: Counter[str] = field(default_factory=Counter)
    actions: Counter[str] = field(default_factory=Counter)


def vague(name: str) -> bool:
    """Does it say that there is no class: other, misc object, unknown action?"""
    first, *rest = name.split(" ")
    return first in VAGUE and set(rest) <= NO_KIND


def at_a_distance(verb: str, rest: list[str]) -> bool:
    """Wave at, dribble past: does it touch nothing for the word that links it to the thing?"""
    return bool(rest) and (rest[-1] in BY_DISTANCE or f"{verb}-{rest[-1]}" in AFAR)


class Draft:
    def __init__(self, used: UsedWords):
        self.objects, self.relations, self.actions = (DraftWords() for _ in range(3))
        self.shared = list[str]()  # what was done about words that share a wording
        self.said = dict[str, str]()  # object as actions may say it, without articles inside -> its name
        self.handles: DraftWord | None = None  # the contact that holds of what something is done to
        self.unnamed: DraftWord | None = None  # what an action is done to that names its place or tool
        self.patterns = dict[str, str]()  # phrase -> its words without articles and object
        names = [*used.objects, *used.relations, *used.actions]
        self.object_ids, self.relation_ids, self.verb_ids, self.action_ids, derived = (
            numbered(prefix, names) for prefix in "orvad"
        )
        self.person = self.objects.add(next(self.object_ids), {"name": PERSON, "article": "a"})
        self.annotated = self.relations.add(next(derived), {"name": ANNOTATED, "group": "derived"})
        forms = {"present": "interact with", "past": "interacted with"}
        self.interacting = self.relations.add(next(derived), {"name": INTERACTING, "group": "derived"} | forms)
        for name, times in used.objects.most_common():
            word = self.thing(self.called(cleaned(name, first=0)), name, times)
            word.remarks += [f"{LOOK}brackets"] * ("(" in name) + [f"{LOOK}two names"] * ("/" in word.name)
        for name, times in used.relations.most_common():
            self.relation(name, times)
        self.steps = StepReader(ThingReader(self.objects, self.said))
        for name, times in used.actions.most_common():
            self.action(name, times)
        self.games()
        if self.handled():
            self.hands_on()
        self.merge()

    def handled(self) -> list[str]:
        """Verbs of actions that nobody does from afar: whoever does them interacts with the thing."""
        verbs = {str(word.fields["verb"]) for word in self.actions.values() if "object" in word.fields}
        own = (word for word in self.relations.values() if word.id in verbs and word.fields["group"] == "verb")
        own = (word for word in own if "folds" not in word.fields)
        said = ((word.name, *str(word.fields["present"]).split(" ")) for word in own)
        return [name for name, verb, *rest in said if verb not in AFAR and not at_a_distance(verb, rest)]

    def hands_on(self) -> DraftWord:
        """A contact nobody is asked about: what holds of a thing to which something is done."""
        if self.handles is None:
            said = {"name": self.relations.unused(HANDLING), "group": "contact"}
            self.handles = self.relations.add(next(self.relation_ids), said, "never asked")
        return self.handles

    @property
    def other_relation(self) -> DraftWord | None:
        """The commonest relation that has no class; one that nobody is sure of may be none at all."""
        found = (word for name, word in self.relations.items() if vague(name) and name.split(" ")[0] not in UNSURE)
        return next(found, None)

    def thing(self, name: str, given: str = "", times: int = 0, by_step: str = "the") -> DraftWord:
        """The object of this name, a new one if need be; any word for a person is the person."""
        if name in PEOPLE and given:
            return self.objects.use(self.person, given, times)
        name = ANYTHING if vague(name) and given else name
        word = self.objects.word(*filter(None, (given, name))) or self.new_thing(name, bool(given), by_step)
        return self.objects.use(word, given, times)

    def new_thing(self, name: str, annotated: bool, by_step: str) -> DraftWord:
        """Annotated, or of actions alone; with "the" then unless the action says something else."""
        *rest, last = name.split(" ")
        body = not annotated and last in BODY - LIMBS  # part of an action alone
        own = body or by_step == "their" or (last in BODY and rest in (["left"], ["right"]))
        some = article(name)
        some = by_step if some in ("a", "an") and not annotated else some
        said: dict[str, object] = {"name": name, "article": "their" if own and some else some}
        said |= {"plural": True} if is_plural(name) else {}
        said |= {"part_only": True} if body or name == ANYTHING else {}
        remark = "what has no class" if name == ANYTHING else "" if annotated else "in actions only"
        return self.objects.add(next(self.object_ids), said, *filter(None, [remark]))

    def called(self, name: str) -> str:
        """With the articles inside it, by which actions may say it or not."""
        self.said[name] = said = with_articles(name)
        return said

    def relation(self, given: str, times: int) -> None:
        name = cleaned(given)
        parts = name.replace("-", " ").split()  # in-front-of, not-looking at
        name = " ".join(parts) if {*parts} & PREPOSITIONS.union(NEGATIVE) else name
        if name == ANNOTATED:
            name = self.relations.unused(name)
            self.share(f'relation "{given}"', f'called "{name}": "{ANNOTATED}" comes by itself')
        words, remark = name.split(" "), ""
        if words[0] in NEGATIVE or words[0] in VAGUE or words[-1] == ANNOTATED:
            fields: dict[str, str] = {"name": name, "group": "contact"}
            remark = "never asked"
        elif set(words) <= SPATIAL:
            fields = {"name": name, "group": "spatial"}
        elif words[0].endswith(("ed", "en")) and not is_progressive(words[0]):
            forms = {"present": f"get {name}", "past": f"got {name}"}
            fields, remark = {"name": name, "group": "contact"} | forms, f"{LOOK}forms"
        else:
            words = words[: -2 * (len(words) > 2 and words[-1] in NO_CLASS and words[-2] in ("a", "an")) or None]
            verbs, rest = [base(verb) for verb in words[0].split("/") if verb] or words[:1], " ".join(["", *words[1:]])
            afar = verbs[0] in AFAR and (words[1:2] in AT or verbs[0] in SEEING)  # to point at is not to touch
            afar = afar or at_a_distance(verbs[0], words[1:])
            name, present, did = (" or ".join(map(form, verbs)) + rest for form in (progressive, str, past))
            fields = {"name": name, "group": "spatial" if afar else "contact", "present": present, "past": did}
            known = all(map(verb_forms, verbs)) or is_progressive(words[0])
            remark = "" if known else f"{LOOK}is it a verb?"
            remark = f"{LOOK}what links it to the thing?" if words[-1] in TURNS else remark
        found = self.relations.word(given, fields["name"])
        if found is self.interacting:
            found = self.hands_on()
            self.share(f'relation "{given}"', f'counted as "{found.name}": "{INTERACTING}" comes by itself')
        if not found:
            found = self.relations.add(next(self.relation_ids), fields, *filter(None, [remark]))
        self.relations.use(found, given, times)

    def share(self, word: str, what: str) -> None:
        self.shared.append(f"{word}: {what}")

    def verb(self, verb: str, rest: str, times: int) -> DraftWord:
        """The verb relation of an action; facts of one that files have as a relation too are stored there."""
        name = " ".join(filter(None, (progressive(verb), rest)))
        if name == INTERACTING:
            return self.hands_on()
        key, other = f"verb {name}", self.relations.word(name)
        if key not in self.relations:
            forms = {"present": f"{verb} {rest}".strip(), "past": f"{past(verb)} {rest}".strip()}
            fields = {"name": name, "group": "verb"} | forms
            if verb in SOMEWHERE and not rest:  # did they put a fork somewhere
                said = {field: f"{form} somewhere" for field, form in (("progressive", name), *forms.items())}
                fields |= said | {"rest": "somewhere"}
            fields |= {"name": other.name, "folds": other.id} if other else {}
            word = self.relations.add(next(self.verb_ids), fields, key=key)
            if other:
                word.remarks.append(f"counted as the relation {other.fields['name']}")
                self.share(f'verb "{name}" of actions', f'counted as the relation "{other.name}"')
        return self.relations.use(self.relations[key], "", times)

    def action(self, given: str, times: int) -> None:
        step = Step(odd=["what has no class"]) if vague(cleaned(given)) else self.steps.read(given)
        word = self.actions.word(given, step.phrase)
        if not word:
            verb = self.verb(step.verb, step.particle, times)
            fields = {"phrase": step.phrase, "present": step.present, "past": step.past, "verb": verb.id}
            self.patterns[step.phrase] = step.pattern
            if step.noun:
                ways = [some for some in ("their", article(step.noun)) if f" {some} {step.noun} " in f"{step.phrase} "]
                own = self.steps.things.articles(step.noun, step.verb) == ["their"]  # landing on both feet
                by_step = "their" if own else [*ways, "the"][0]
                fields["object"] = self.thing(step.noun, times=times, by_step=by_step).id
            fields |= {"role": step.role} if step.role else {}
            if step.role and not self.unnamed:
                said_of: dict[str, object] = {"name": self.objects.unused(UNNAMED), "article": "", "part_only": True}
                self.unnamed = self.objects.add(next(self.object_ids), said_of)
            word = self.actions.add(next(self.action_ids), fields, *(f"{LOOK}{why}" for why in dict.fromkeys(step.odd)))
        self.actions.use(word, given, times)

    def games(self) -> None:
        """Played, a volleyball is said bare: it is if all say it so; else those that do are about no object."""
        for thing in self.objects.values():
            about = [word for word in self.actions.values() if word.fields.get("object") == thing.id]
            bare = [word for word in about if f"{progressive('play')} {thing.name}" in str(word.fields["phrase"])]
            if thing.fields["article"] not in ("a", "an", "the") or not bare:
                continue
            if bare == about and not thing.given:
                thing.fields["article"] = ""
            else:
                for word in bare:
                    del word.fields["object"]

    def merge(self) -> None:
        """Plurals into their singulars, synonyms into the one that is used most; the rest of a row is counted as it."""
        rows, bare = [[name, plural(name)] for name in self.objects], defaultdict[str, list[str]](list)
        for name in self.objects:  # hole in the plank, hole in a plank
            bare[without_articles(name)].append(name)
        for row in [*rows, *bare.values(), *SYNONYMS]:
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
            key = (word.fields["verb"], counted.get(str(word.fields.get("object"))), self.patterns[phrase])
            kept = first.setdefault(key, word)
            if kept is not word:
                word.fields["merged"] = kept.id
                word.remarks.append(f"counted as {kept.name}")

    def count_as(self, other: DraftWord, kept: DraftWord) -> None:
        """The word and all that were counted as it."""
        for word in self.objects.values():
            if word is other or word.fields.get("merged") == other.id:
                word.fields["merged"] = kept.id
                word.remarks.append(f"counted as {kept.name}")
