"""Cleaned facts never contradict themselves, whatever was annotated and whatever follows from it."""

from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from judges.contradictory_facts import contradictions
from questree.stages.augment import RULES, AugmentOptions, Change, Graphs, augment, guarantees
from questree.stages.augment.opposites import giving_way
from questree.vocabulary import default
from worlds.small import facts, relations

WORDS = default()
NUMBERS = {rule.number: rule for rule in RULES.values()}
WITHOUT_12 = [rule for rule in RULES.values() if rule.number != 12]


def cleaned(text: str) -> dict[str, list[int]]:
    after, _ = augment(facts(text), WORDS, chosen=WITHOUT_12)
    assert contradictions(after) == [] and guarantees(after, WORDS) == []
    return relations(after)


def test_a_contact_beats_that_there_is_none() -> None:
    found = cleaned("video A\nframes 0 1\nbox 0: holding, not contacting\nbox 1: not contacting, other relationship")
    assert found == {
        "holding box": [0],
        "touching box": [0],
        "not contacting box": [1],
        "other relationship box": [1],  # says nothing about a contact
    }


def test_two_merged_things_of_which_one_is_held_are_held() -> None:
    assert "not contacting food" not in cleaned("video A\nframes 0\nsandwich 0: not contacting\nfood 0: holding")


def test_what_follows_from_an_action_beats_an_annotation() -> None:
    found = cleaned("video A\nframes 0 1 2\nbox 0-2: not contacting\naction c043 1 1")  # taking touches
    assert found == {"taking box": [1], "touching box": [1], "not contacting box": [0, 2]}


def test_of_opposites_on_one_frame_neither_is_kept_unless_its_neighbours_tell() -> None:
    lone = "video A\nframes 0 9\nbox 0: in front of, behind, on the side of\nbox 9"
    assert cleaned(lone.replace("box 9", "box 1: behind")) == {"on the side of box": [0], "behind box": [1]}
    told = "video A\nframes 0 1 2\nbox 0: behind\nbox 1: in front of, behind\nbox 2: behind"
    assert cleaned(told) == {"behind box": [0, 1, 2]}


def test_opposites_that_would_be_copied_to_one_frame_are_not() -> None:
    told = "video A\nframes 0 1 2 3\nbox 0: behind\nbox 1: in front of\nbox 2: behind\nbox 3: in front of"
    assert cleaned(told) == {"in front of box": [1, 3], "behind box": [0, 2]}
    both = "video A\nframes 0 1 2 3\nbox 0: behind\nbox 1: in front of\nbox 2\nbox 3: in front of"
    assert cleaned(both.replace("box 3: in front of", "box 3: behind")) == {
        "in front of box": [1],
        "behind box": [0, 2, 3],
    }


def test_what_is_settled_is_counted() -> None:
    world = facts(
        "video A\nframes 0 1\nbox 0: holding, not contacting, above, beneath\nbag 1: in front of, behind, touching"
    )
    _, changes = NUMBERS[17].apply(Graphs.of(world), WORDS, AugmentOptions())
    assert changes == [Change("relation facts", removed=5)]


def test_facts_that_contradict_themselves_break_a_promise() -> None:
    world = facts("video A\nframes 0\nbare box 0: touching, not contacting")
    assert guarantees(world, WORDS) == ["1 facts that another of their frame denies: A frame 0 not contacting box"]


SAID = ("holding", "carrying", "not contacting", "not contacting", "in front of", "behind", "above", "beneath")
THINGS = ("food", "sandwich", "box", "dish", "cup")
DEEDS = ("c061", "c063", "c065", "c040", "c043", "c045", "c107", "c119")


def contrary(random: Random, name: int) -> str:
    """A video whose annotations contradict each other where they can; not every object is annotated on every frame."""
    size = random.randrange(2, 9)
    lines = [f"video V{name}\nframes {' '.join(str(at) for at in range(size))}\nperson 0-{size - 1} at 0 10 50 90"]
    for _ in range(random.randrange(12)):
        place = random.choice(["", "", f" at 0 {random.randrange(60)} 10 90"])
        said = ", ".join(random.sample(sorted(set(SAID)), random.randrange(1, 4)))
        lines.append(f"{random.choice(THINGS)} {random.randrange(size)}{place}: {said}")
    for action in random.sample(DEEDS, random.randrange(4)):
        start = random.randrange(size)
        lines.append(f"action {action} {start} {random.randrange(start, size)}")
    return "\n".join(lines)


@settings(max_examples=8)
@given(st.integers(0, 10**9), st.lists(st.sampled_from([3, 5, 8, 9, 10, 11, 12]), unique=True))
def test_no_frame_of_cleaned_facts_contradicts_itself(seed: int, left_out: list[int]) -> None:
    chosen = [rule for rule in RULES.values() if rule.number not in left_out]
    random = Random(seed)
    world = facts("\n".join(contrary(random, name) for name in range(10)))
    after, _ = augment(world, WORDS, chosen=chosen)
    assert contradictions(after) == []
    assert len(giving_way(after.relations, WORDS)) == 0
    assert guarantees(after, WORDS) == []
