"""Vocabularies of thousands of words: the same facts give the same questions, answers, DAGs and scores as few words."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from questree.benchmarks.agqa.editions import SECOND
from questree.columns import sets
from questree.columns.sets import MemberLists, PairList
from questree.sources.runs import write_run
from questree.stages.template_columns import TemplateColumns
from questree.synth.corpora import CorpusPlan, write_corpus
from questree.tables.facts import Facts
from questree.tables.nodes import NODES, slots_of
from questree.tables.questions import QUESTIONS, SIDES, packed_time, read_balanced, time_actions, time_kind
from questree.tables.run import Run
from questree.vocabulary import Vocabulary, default
from questree.vocabulary.load import default_text
from questree.vocabulary.write import vocabulary_text
from worlds.commands import run
from worlds.many_words import places, renumbered, spread

positions = st.integers(-1, 99)
members = st.lists(st.tuples(st.integers(0, 5), positions), max_size=20)
Member = tuple[int, int]


def column(values: list[int]) -> np.ndarray:
    return np.array(values, np.int64)


def both(some: list[Member], rows: int = 6) -> tuple[list[set[int]], sets.Sets, sets.Sets]:
    """Sets in Python, as masks (of the words below 64) and as lists."""
    small = [(row, word) for row, word in some if word < 64]
    plain = [{word for own, word in small if own == row and word >= 0} for row in range(rows)]
    columns = column([row for row, _ in small]), column([word for _, word in small])
    masks, lists = (sets.sets_of(*columns, rows, words) for words in (64, 100))
    assert isinstance(masks, np.ndarray) and isinstance(lists, MemberLists)
    return plain, masks, lists


@given(members, members, st.lists(st.integers(0, 63), min_size=6, max_size=6), st.permutations(range(6)))
def test_lists_are_the_sets_that_masks_are(
    some: list[Member], others: list[Member], words: list[int], order: list[int]
) -> None:
    plain, *found = both(some)
    other, *against = both(others)
    rows, word = column(order), column(words)
    for one, two in zip(found, against, strict=True):
        few = one[rows]
        moved = [plain[row] for row in order]
        assert sets.has(few, word).tolist() == [w in own for w, own in zip(words, moved, strict=True)]
        assert sets.size(few).tolist() == [len(own) for own in moved]
        assert sets.some(few).tolist() == [bool(own) for own in moved]
        assert sets.the_one(few).tolist() == [next(iter(own)) if len(own) == 1 else -1 for own in moved]
        assert sets.meet(few, two).tolist() == [bool(own & theirs) for own, theirs in zip(moved, other, strict=True)]
        more = sets.joined(few, np.where(word % 3 == 0, -1, word), 64 if isinstance(one, np.ndarray) else 100)
        assert sets.size(more).tolist() == [
            len(own | ({w} if w % 3 else set())) for own, w in zip(moved, words, strict=True)
        ]
        assert sets.size(sets.with_none(few)).tolist() == [*(len(own) for own in moved), 0]
        assert sets.has(more[np.arange(0)], column([])).tolist() == []


@given(st.lists(st.tuples(st.integers(0, 400), st.integers(0, 400), st.integers(1, 9)), max_size=12))
def test_pairs_of_many_words_add_up(some: list[tuple[int, int, int]]) -> None:
    total: dict[tuple[int, int], int] = {}
    for a, b, value in some:
        total[a, b] = total.get((a, b), 0) + value
    first, second, values = (column([row[at] for row in some]) for at in range(3))
    found = sets.pairs_of(first, second, values, (401, 401))
    assert isinstance(found, PairList)
    asked = [*total, (0, 0), (400, 3)]
    one, other = (column([pair[at] for pair in asked]) for at in range(2))
    assert found[one, other].tolist() == [total.get(pair, 0) for pair in asked]
    assert (found < 5)[one, other].tolist() == [total.get(pair, 0) < 5 for pair in asked]


@given(st.integers(0, 4), st.integers(-1, 23_999), st.integers(-1, 23_999))
def test_a_time_of_any_actions_is_one_number(kind: int, a: int, b: int) -> None:
    packed = packed_time(kind, a, b)
    assert (time_kind(packed), *time_actions(packed)) == (kind, a, b) and 0 <= packed < 1 << 40
    if max(a, b) < 255:  # as tables of few words have always had it
        assert packed == kind + 256 * (a + 1) + 65536 * (b + 1)


@pytest.fixture(scope="module")
def twins(cleaned_run: Run, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Run, Run]]:
    """The same facts in few words and in the same words among thousands, through all stages."""
    folder, few = tmp_path_factory.mktemp("twins"), default()
    many = spread(few)
    assert not few.wide and many.wide and len(many.objects) > 4000 and len(many.actions) > 8000
    facts = cleaned_run.load("raw").between(0, 4)
    write_run(folder / "few", default_text(), facts)
    write_run(folder / "many", vocabulary_text(many), renumbered(facts, few, many))
    for name in ("few", "many"):
        for command in COMMANDS:
            run(f"questree {command.replace('RUN', name)} --quiet", folder)
    yield Run(folder / "few"), Run(folder / "many")


COMMANDS = (
    "augment RUN",
    "generate RUN --references 1000 --rare-below 3 --shard 3 --text --workers 1",
    "split RUN --all --workers 1",
    "decompose RUN --all --workers 1 --invalid-actions 0 --train-set",
    "answer RUN --model most-likely",
    "export agqa RUN --unbalanced --out RUN/agqa --workers 1",
    "export decomp RUN --out RUN/decomp --workers 1",
    "ground RUN --all --out RUN/ground",
    "score RUN --resamples 20 --json RUN/scores.json",
    "audit RUN --workers 1 --json RUN/audit.json",
    "report RUN --resamples 20 --bots none --out RUN/report",
)


def test_facts_are_cleaned_alike(twins: tuple[Run, Run]) -> None:
    few, many = twins
    wanted, got = renumbered(few.load("facts"), few.vocabulary(), many.vocabulary()), many.load("facts")
    for name in vars(wanted):
        assert getattr(got, name).equals(getattr(wanted, name)), name
    assert got.tracks["object"].dtype == pl.UInt16 and few.load("facts").tracks["object"].dtype == pl.UInt8
    assert got.relations.equals(renumbered(Facts(**vars(few.load("facts"))), *words(twins)).relations)


def words(twins: tuple[Run, Run]) -> tuple[Vocabulary, Vocabulary]:
    return twins[0].vocabulary(), twins[1].vocabulary()


def tables(run: Run, *folders: str) -> dict[str, pl.DataFrame]:
    """Every Parquet file below these folders, without the columns of positions of words."""
    found = {}
    for folder in folders:
        for path in sorted((run.folder / folder).rglob("*.parquet")):
            table = pl.read_parquet(path)
            numbers = {*QUESTIONS.wide, *(name for side in SIDES for name in side.wide), *slots_of(table.columns)}
            found[str(path.relative_to(run.folder))] = table.drop(numbers - {"phrase"}, strict=False)
    return found


def test_the_same_questions_are_asked_in_the_same_words(twins: tuple[Run, Run]) -> None:
    few, many = (tables(run, "questions", "splits", "decomposed") for run in twins)
    assert few.keys() == many.keys() and any("text" in name for name in few) and any("edges" in name for name in few)
    for name, table in few.items():
        assert many[name].cast(table.schema).equals(table), name


def test_positions_are_those_of_the_same_words(twins: tuple[Run, Run]) -> None:
    for folder in ("00000", "00001"):
        few, many = (QUESTIONS.read(run.questions / folder) for run in twins)
        relation = places(*words(twins), "relation")
        assert (relation[few["relation"].to_numpy().clip(max=len(relation) - 1)] == many["relation"].to_numpy()).all()
        for side in "ab":
            action, at = places(*words(twins), "action"), "ab".index(side)
            old, new = (time_actions(table["time"].to_numpy().astype(np.int64))[at] for table in (few, many))
            assert (np.where(old < 0, -1, action[old]) == new).all()
        assert many["time"].dtype == pl.UInt64 and few["time"].dtype == pl.UInt32
        few, many = (NODES.read(run.decomposed / folder) for run in twins)
        assert many["s0"].dtype == pl.UInt16 and few["s0"].dtype == pl.UInt8
        assert (few["s6"] == 255).to_list() == (many["s6"] == 65535).to_list()


def files(run: Run, *parts: str) -> dict[str, bytes]:
    every = [path for part in parts for path in [run.folder / part, *sorted((run.folder / part).rglob("*"))]]
    return {str(path.relative_to(run.folder)): path.read_bytes() for path in every if path.is_file()}


LISTS = ["agqa/AGQA_scene_graphs/ENG.txt", "agqa/AGQA_scene_graphs/IDX.txt"]  # of all words there are


def test_exports_and_scores_are_the_same(twins: tuple[Run, Run]) -> None:
    few, many = (files(run, "agqa", "decomp", "ground", "scores.json") for run in twins)
    assert few.keys() == many.keys() and len(few) > 10
    assert [name for name in few if few[name] != many[name]] == LISTS


def test_an_audit_finds_the_same(twins: tuple[Run, Run]) -> None:
    few, many = (msgspec.json.decode((run.folder / "audit.json").read_bytes()) for run in twins)
    assert numbers(few) == pytest.approx(numbers(many), rel=1e-9) and len(numbers(few)) > 100


def numbers(told: Any, place: str = "") -> dict[str, float]:
    """Every number of a JSON file by its place in it."""
    inner = told.items() if isinstance(told, dict) else enumerate(told) if isinstance(told, list) else ()
    own = {place: float(told)} if isinstance(told, int | float) else {}
    return own | {at: value for name, part in inner for at, value in numbers(part, f"{place}/{name}").items()}


def test_a_balanced_set_has_the_same_open_questions_and_as_many_others(twins: tuple[Run, Run]) -> None:
    """Which of several equal keys keep their questions is drawn by the positions of their words."""
    kept = []
    for each in twins:
        run(f"questree balance {each.folder} --workers 1 --quiet", each.folder)
        asked = pl.concat([QUESTIONS.read(path) for path in sorted(each.questions.iterdir()) if path.is_dir()])
        kept.append(asked.join(read_balanced(each.balanced), on=["video", "number"]).sort("video", "number"))
    few, many = (table.group_by("template").len().sort("template") for table in kept)
    assert few.equals(many) and few["len"].sum() > 50
    known = TemplateColumns(SECOND.by_code)
    few, many = (
        table.filter(pl.Series(known.open[table["template"].to_numpy()])).select("video", "number") for table in kept
    )
    assert few.equals(many) and len(few) > 10


JUDGE = """
import sys
sys.path[:0] = [sys.argv[1]]
import questree.vocabulary as vocabulary
from worlds.many_words import MORE, crowd, crowded
words = crowded(vocabulary.default())
vocabulary.default = lambda: words
from judges import naive_generator as naive
from judges.facts import WORDS, read
from questree.stages.generate import fillings
from worlds import generator_rows as rows
from worlds.small import facts
fillings.EVERY = 1000
assert WORDS is words
naive.EVERY_OBJECT += [word.id for word in words.objects[-MORE:]]
found = facts("\\n".join(crowd(seed) for seed in (1,)))
wanted, rejected = naive.generate(read(found), 0)
made = rows.generated(found, 0)
from collections import Counter
got = [Counter(own) for own in rows.plain(made, 1)]
assert got == wanted, [next(iter((a - b) + (b - a)), None) for a, b in zip(got, wanted)]
print(sum(map(len, got)))
"""


def judged(script: str) -> int:
    """How many different questions the naive judge and ours agree on, in words of the script's own."""
    here = str(Path(__file__).parent)
    done = subprocess.run([sys.executable, "-c", script, here], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    return int(done.stdout)


def test_more_objects_in_a_video_than_a_mask_holds() -> None:
    assert judged(JUDGE) > 10_000


OTHER = """
import sys
sys.path[:0] = [sys.argv[1]]
from collections import Counter
import msgspec
import questree.vocabulary as vocabulary
words, other = vocabulary.default(), "o12"
objects = tuple(msgspec.structs.replace(word, part_only=word.part_only or word.id == other) for word in words.objects)
words = msgspec.structs.replace(words, objects=objects, other=other)
vocabulary.default = lambda: words
from judges import naive_generator as naive
from judges import naive_references
from judges.facts import OTHER, read
from questree.benchmarks.agqa import templates as t
from worlds import generator_rows as rows
from worlds import generator_worlds as chance
from worlds.small import facts
naive.EVERY_OBJECT.remove(other)
naive_references.NEVER_SLOT.add(other)
assert OTHER == other
found = facts("\\n".join(chance.world(seed=2, videos=8)))
wanted, rejected = naive.generate(read(found), 0)
made = rows.generated(found, 0)
got = [Counter(own) for own in rows.plain(made, 8)]
assert got == wanted, [next(iter((a - b) + (b - a)), None) for a, b in zip(got, wanted)]
assert made.rejected == rejected, (made.rejected - rejected, rejected - made.rejected)
for template in ("objExists", "objTime", "objRelExists"):
    assert rejected[template, t.UNNAMED], template
print(sum(map(len, got)))
"""


def test_what_has_no_class_may_be_anything() -> None:
    assert judged(OTHER) > 1000


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A made-up corpus of many words, asked in shards of two sizes."""
    folder = tmp_path_factory.mktemp("corpus")
    plan = CorpusPlan(videos=30, objects=400, relations=300, actions=900, cast=6, instances=1, seconds=40.0, frames=12)
    write_corpus(folder / "corpus", plan, 1)
    run("questree ingest json corpus/videos.json --vocabulary corpus/vocabulary.toml --out run -q", folder)
    for command in ("augment run", "generate run --shard 7 --workers 1 --rare-below 0"):
        run(f"questree {command} --quiet", folder)
    return folder


@pytest.mark.parametrize("template,kind,column", [("objExists", "object", "x"), ("relExists", "relation", "relation")])
def test_a_video_is_asked_about_its_own_words_and_some_of_other_videos(
    corpus: Path, template: str, kind: str, column: str
) -> None:
    made = Run(corpus / "run")
    words, facts = made.vocabulary(), made.load("facts")
    derived = [words.relation_at[words.annotated], words.relation_at[words.interacting]]
    asked_about = words.group("contact", "verb") if kind == "relation" else np.arange(1, len(words.objects))
    seen = facts.tracks.filter(pl.col(kind).is_in(asked_about.tolist()))
    if kind == "relation":
        seen = seen.filter(~pl.col(kind).is_in(derived))
    questions = pl.concat([QUESTIONS.read(path) for path in sorted(made.questions.iterdir()) if path.is_dir()])
    asked = questions.filter(template=SECOND.codes[template], time=0).select("video", pl.col(column).alias(kind))
    occurring = set(seen[kind])
    assert set(asked[kind]) <= occurring and len(occurring) > 100
    own = seen.select("video", kind).unique()
    for (video,), part in asked.group_by("video"):
        theirs, done = set(own.filter(video=video)[kind]), facts.actions.filter(video=video).height
        others = len(set(part[kind]) - theirs)
        assert theirs <= set(part[kind]) and 64 - done <= others <= 64  # less what actions between frames may say
    assert len({frozenset(part[kind]) for _, part in asked.group_by("video")}) == 30


def test_which_words_are_asked_about_does_not_depend_on_shards(corpus: Path) -> None:
    first = tables(Run(corpus / "run"), "questions")
    run("questree generate run --shard 100 --workers 1 --rare-below 0 --quiet", corpus)
    again = QUESTIONS.read(corpus / "run/questions/00000").sort("video", "number")
    before = [table for name, table in first.items() if name.endswith("/questions.parquet")]
    assert again.select(before[0].columns).equals(pl.concat(before).sort("video", "number"))
