"""Facts of one frame that cannot be true of one object, found pair by pair."""

from questree.tables.facts import Facts
from questree.vocabulary import default

WORDS = default()
OPPOSITES = [{"above", "beneath"}, {"in front of", "behind"}]
NOT_A_CONTACT = {"not contacting", "other relationship"}


def contradictions(facts: Facts) -> list[tuple[int, int, str, str, str]]:
    """(video, frame, object, one relation, another) of each contradiction."""
    held: dict[tuple[int, int, str], set[str]] = {}
    for video, frame, relation, object in facts.relations.iter_rows():
        held.setdefault((video, frame, WORDS.objects[object].name), set()).add(WORDS.relations[relation].name)
    return [(*spot, a, b) for spot, names in held.items() for a in sorted(names) for b in sorted(names) if deny(a, b)]


def deny(a: str, b: str) -> bool:
    touched = {word.name for word in WORDS.relations if word.group == "contact"} - NOT_A_CONTACT
    return {a, b} in OPPOSITES or (a == "not contacting" and b in touched)
