"""Rule 8: taking, holding and putting follow each other, no second goes in which nothing else was done, and the ledger
names what is changed.
"""

from collections.abc import Iterable
from random import Random

from hypothesis import example, given, settings
from hypothesis import strategies as st

from judges.action_order import Stamps, alone, unsettled, wrongly_ordered
from judges.action_seconds import Done, ends_last, longest, starts_first
from questree.domains.video import VIDEO, videos
from questree.notation.own import parse
from questree.readings.answer import answer
from questree.stages.augment import RULES, AugmentOptions, Graphs, augment
from questree.stages.augment.ledger import Retimed
from questree.tables.facts import Facts
from questree.vocabulary import default
from worlds.small import facts

WORDS = default()
NUMBERS = {rule.number: rule for rule in RULES.values()}
Row = tuple[str, float, float]  # id, start, end
PILLOW = {"c079": "take", "c076": "hold", "c077": "put", "c080": "put"}
SECONDS = " ".join(str(second / 2) for second in range(161))


def video(name: str, annotated: list[Row]) -> str:
    return f"video {name}\nframes {SECONDS}" + "".join(f"\naction {a} {start} {end}" for a, start, end in annotated)


def apply(annotated: list[Row], *numbers: int, as_released: bool = False) -> list[Row]:
    """(id, start, end) after these rules, by id."""
    graphs = Graphs.of(facts(video("A", annotated)))
    for number in numbers:
        graphs, _ = NUMBERS[number].apply(graphs, WORDS, AugmentOptions(as_released=as_released))
    rows = graphs.actions.select("action", "start", "end").rows()
    return sorted((WORDS.actions[action].id, start, end) for action, start, end in rows)


def roles(rows: list[Row]) -> list[Stamps]:
    return [(PILLOW[action], start, end) for action, start, end in rows]


TAKEN = [("c079", 11.8, 17.3), ("c076", 11.8, 17.5), ("c077", 12.1, 18.0), ("c080", 13.0, 18.0)]
LONG = [("c076", 1.8, 53.0), ("c077", 18.3, 24.0), ("c080", 14.0, 49.2)]  # two puttings in a holding
ROUNDS = [("c076", 0.0, 20.0), ("c077", 3.0, 5.0), ("c080", 15.0, 18.0)]


def test_a_holding_that_goes_on_after_a_putting_keeps_all_its_seconds() -> None:
    assert apply(LONG, 8) == sorted(LONG)
    assert apply(ROUNDS, 8) == sorted(ROUNDS)
    _, ledger = augment(facts(video("A", LONG)), WORDS)
    assert {entry.number: entry.seconds_lost for entry in ledger if entry.seconds_lost} == {}


def test_what_overlaps_all_the_time_is_cut_in_the_order_of_the_annotation() -> None:
    released = [("c076", 14.55, 16.01), ("c077", 16.02, 18.0), ("c079", 11.8, 14.54)]
    assert apply(TAKEN[:3], 8, as_released=True) == released
    found = [(action, round(start, 3), round(end, 3)) for action, start, end in apply(TAKEN, 8, 9)]
    cut = [("c076", 14.55, 16.025), ("c077", 16.025, 18.0), ("c079", 11.8, 14.55), ("c080", 16.025, 18.0)]
    assert found == cut, "and nothing is inferred"


def test_as_released_a_holding_ends_at_the_first_putting() -> None:
    assert apply(ROUNDS, 8, as_released=True) == [("c076", 0.0, 3.99), ("c077", 4.0, 5.0), ("c080", 15.0, 18.0)]


@st.composite
def annotations(draw: st.DrawFn, repeated: bool = True) -> list[Row]:
    """Actions with the pillow that overlap, abut and contain each other; several puttings, or each at most once."""
    stamps, found = st.integers(0, 24), list[Row]()
    for action in draw(st.lists(st.sampled_from(sorted(PILLOW)), min_size=2, max_size=6, unique=not repeated)):
        start = draw(stamps) / 2
        found.append((action, start, start + draw(st.integers(1, 20)) / 2))
    return found


@settings(max_examples=60)
@given(annotations())
@example(LONG)
def test_no_second_goes_in_which_nothing_else_was_done_with_the_thing(annotated: list[Row]) -> None:
    annotated = apply(annotated, 11)  # instances of one action that overlap are one
    trimmed = apply(annotated, 8)
    assert list(alone(roles(annotated), roles(trimmed), 1 / 64)) == []
    assert unsettled(roles(annotated), roles(trimmed)) == []
    for (_, start, end), (_, now_start, now_end) in zip(annotated, trimmed, strict=True):
        assert start <= now_start < now_end <= end


@settings(max_examples=30)
@given(annotations(repeated=False))
@example([("c077", 0, 10), ("c079", 1, 11), ("c076", 2, 3)])  # each should precede the next by one of the measures
def test_as_released_the_order_by_start_and_middle_is_never_reversed(annotated: list[Row]) -> None:
    annotated, trimmed = sorted(annotated), apply(annotated, 8, as_released=True)
    assert wrongly_ordered(roles(annotated), roles(trimmed)) == []


WHOLE = {"first_action": starts_first, "last_action": ends_last, "longest": longest}
WITHOUT_9 = [rule for rule in RULES.values() if rule.number != 9]


def written(number: int) -> list[Row]:
    """A random annotation: rounds of taking, holding and putting that overlap, abut and repeat, and other actions."""
    random, found = Random(number), list[Row]()
    pool = [*PILLOW, "c076", "c077", "c115", "c026", "c151", "c154"]
    for _ in range(random.randrange(1, 8)):
        abut = [end for _, _, end in found] + [start for _, start, _ in found]
        start = random.choice([*abut, *(random.randrange(80) / 2 for _ in range(3))])
        found.append((random.choice(pool), start, start + random.choice([0.5, 2, 5, 9.5, 12, 30])))
    return found


def stamps(found: Facts, at: int) -> list[Done]:
    rows = found.actions.filter(video=at).select("action", "start", "end").rows()
    return sorted((WORDS.actions[action].id, start, end) for action, start, end in rows)


def moments(done: Iterable[Done]) -> set[tuple[str, int]]:
    """What is going on, every 64th of a second."""
    return {(a, at) for a, start, end in done for at in range(5120) if start <= (at + 0.5) / 64 < end}


def replayed(annotated: list[Done], changes: list[Retimed]) -> list[Done]:
    """What was annotated, after all that the ledger names, rule by rule."""
    found = set(annotated)
    for each in changes:
        if each.start is not None and each.end is not None:
            found.discard((each.action, each.start, each.end))
        if each.new_start is not None and each.new_end is not None:
            found.add((each.action, each.new_start, each.new_end))
    return sorted(found)


def test_answers_about_the_whole_video_are_those_of_the_annotation_but_for_what_the_ledger_names() -> None:
    annotated = [LONG, ROUNDS, TAKEN, *map(written, range(150))]
    text = [video(f"V{at}", rows) for at, rows in enumerate(annotated)]
    found, ledger = augment(facts("\n".join(text)), WORDS)
    cut, counts = augment(facts("\n".join(text)), WORDS, chosen=WITHOUT_9)
    world, lost, differ = videos(found, WORDS), 0, 0
    programs = {name: f"{name}()" if name == "longest" else f"{name}(whole())" for name in WHOLE}
    said = {name: answer(parse(program, VIDEO), world, {}) for name, program in programs.items()}
    for at, rows in enumerate(annotated):
        raw = sorted({(WORDS.actions[WORDS.merged_action[WORDS.action_at[a]]].id, *stamp) for a, *stamp in rows})
        left, trimmed = stamps(found, at), stamps(cut, at)
        changes = [each for entry in ledger for each in entry.retimed if each.video == f"V{at}"]
        assert replayed(raw, changes) == left
        for name, judge in WHOLE.items():
            answered = WORDS.actions[here].id if (here := int(said[name][at])) >= 0 else None
            assert answered == judge(left)
            if answered != judge(raw):
                differ += 1
                wanted = {answered, judge(raw)} - {None}
                assert changes and (len(wanted) == 1 or wanted & {each.action for each in changes})
        lost += len(moments(raw) - moments(trimmed))
    assert abs(lost / 64 - sum(entry.seconds_lost for entry in counts)) < 0.02 * len(annotated)
    assert lost and differ, "worlds without what this is about"


@settings(max_examples=20)
@given(st.lists(st.integers(0, 12), min_size=2, max_size=2))
def test_a_holding_that_was_taken_and_put_is_not_taken_or_put_again(shifts: list[int]) -> None:
    """Whatever overlaps, if taking begins no later than holding and that no later than putting."""
    starts = [4.0, 4.0 + shifts[0] / 4, 4.0 + sum(shifts) / 4]
    staged = [(action, start, start + 5) for action, start in zip(("c079", "c076", "c077"), starts, strict=True)]
    assert len(apply(staged, 8, 9)) == 3
