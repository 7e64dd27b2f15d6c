"""Rule 8: the order of actions with one thing is that of the annotation, and rule 9 has nothing to add to it."""

from hypothesis import example, given, settings
from hypothesis import strategies as st

from judges.action_order import Stamps, wrongly_ordered
from questree.stages.augment import RULES, AugmentOptions, Graphs
from questree.vocabulary import default
from worlds.small import facts

WORDS = default()
NUMBERS = {rule.number: rule for rule in RULES.values()}
Row = tuple[str, float, float]  # id, start, end
PILLOW = {"c079": "take", "c076": "hold", "c077": "put", "c080": "put"}
SECONDS = " ".join(str(second / 2) for second in range(41))


def apply(annotated: list[Row], *numbers: int) -> list[Row]:
    """(id, start, end) after these rules, by id."""
    lines = "".join(f"\naction {action} {start} {end}" for action, start, end in annotated)
    graphs = Graphs.of(facts(f"video A\nframes {SECONDS}{lines}"))
    for number in numbers:
        graphs, _ = NUMBERS[number].apply(graphs, WORDS, AugmentOptions())
    rows = graphs.actions.select("action", "start", "end").rows()
    return sorted((WORDS.actions[action].id, start, end) for action, start, end in rows)


def roles(rows: list[Row]) -> list[Stamps]:
    return [(PILLOW[action], start, end) for action, start, end in rows]


TAKEN = [("c079", 11.8, 17.3), ("c076", 11.8, 17.5), ("c077", 12.1, 18.0), ("c080", 13.0, 18.0)]


def test_what_overlaps_all_the_time_is_cut_in_the_order_of_the_annotation() -> None:
    assert apply(TAKEN[:3], 8) == [("c076", 14.55, 16.01), ("c077", 16.02, 18.0), ("c079", 11.8, 14.54)]
    assert apply(TAKEN, 8, 9) == [*apply(TAKEN[:3], 8), ("c080", 16.02, 18.0)], "and nothing is inferred"


def test_what_follows_later_loses_nothing_to_an_overlap_that_is_gone() -> None:
    assert apply([("c076", 0, 20), ("c077", 3, 5), ("c080", 15, 18)], 8) == [
        ("c076", 0.0, 3.99),
        ("c077", 4.0, 5.0),
        ("c080", 15.0, 18.0),
    ]


@st.composite
def annotations(draw: st.DrawFn) -> list[Row]:
    """Every action with the pillow at most once: instances of one action that overlap are one (rule 11)."""
    quarters = st.integers(0, 60)
    return [
        (action, start / 4, (start + draw(st.integers(4, 40))) / 4)
        for action in draw(st.lists(st.sampled_from(sorted(PILLOW)), min_size=2, max_size=4, unique=True))
        for start in [draw(quarters)]
    ]


@settings(max_examples=50)
@given(annotations())
@example([("c077", 0, 10), ("c079", 1, 11), ("c076", 2, 3)])  # each should precede the next by one of the measures
def test_the_order_by_start_and_middle_is_never_reversed(annotated: list[Row]) -> None:
    annotated, trimmed = sorted(annotated), apply(annotated, 8)
    assert wrongly_ordered(roles(annotated), roles(trimmed)) == []
    for (_, start, end), (_, now_start, now_end) in zip(annotated, trimmed, strict=True):
        assert start <= now_start and now_end <= end


@settings(max_examples=20)
@given(st.lists(st.integers(0, 12), min_size=2, max_size=2))
def test_a_holding_that_was_taken_and_put_is_not_taken_or_put_again(shifts: list[int]) -> None:
    """Whatever overlaps, if taking begins no later than holding and that no later than putting."""
    starts = [4.0, 4.0 + shifts[0] / 4, 4.0 + sum(shifts) / 4]
    staged = [(action, start, start + 5) for action, start in zip(("c079", "c076", "c077"), starts, strict=True)]
    assert len(apply(staged, 8, 9)) == 3
