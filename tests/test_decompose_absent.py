"""Objects that are not there: what people label absent, and objects asked for around actions that do not occur."""

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import polars as pl
import pytest

from conftest import copy
from judges.contradictions import Findings
from judges.facts import WORDS, Video, counted, read
from judges.table_rules import read_rules
from questree.cli.app import app
from questree.faults import BadInput
from questree.formats.decomp import export_decomp
from questree.formats.decomp_files import read_hierarchies
from questree.formats.decomp_run import import_dags
from questree.stages.again import made_again
from questree.stages.decompose.choose import choose
from questree.stages.decompose.columns import DecomposeSummary
from questree.stages.decompose.dag_shards import DecomposeOptions, decompose
from questree.stages.decompose.forms import NodeForms
from questree.stages.decompose.hierarchies import run_hierarchies
from questree.stages.decompose.negatives import read_labels
from questree.stages.decompose.spoken import Texts
from questree.stages.questions import Bank
from questree.tables.lock import differences, lock, verify
from questree.tables.nodes import KNOWN, NEGATIVES
from questree.tables.run import Run
from test_score_run import spelled
from worlds.agqa_rows import alike
from worlds.decomposed import Stored, made, shards
from worlds.exported_worlds import run_of
from worlds.small import facts

WORLD = """
video A test
frames 0 1 2 3 4 5
dish 1-2: holding, in front of
box 4: touching
action c154 3 3
action c118 1 2
video B train
frames 0 1 2 3
phone 0-1: touching
dish 2: touching
action c151 1 2
"""
ABSENT = "Does a bag exist?"


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Standing up and holding a dish in A, sitting down in B."""
    return run_of(facts(WORLD), tmp_path_factory.mktemp("absent") / "run")


def labels(run: Run, folder: Path, text: str) -> pl.DataFrame:
    (folder / "labels.csv").write_text("video,object\n" + text, "utf-8")
    return read_labels(folder / "labels.csv", Bank(run).ids, WORDS)


def taken_apart(
    run: Run, said: pl.DataFrame | None = None, **options: bool | int
) -> tuple[DecomposeSummary, Stored, pl.DataFrame]:
    """What is counted, the tables of the only shard, and its nodes with how they are known."""
    summary = decompose(run, DecomposeOptions(**options), pool=ThreadPoolExecutor(1), labels=said)  # type: ignore[arg-type]
    (folder,) = shards(run)
    stored = Stored.read(folder, executed=False)
    known = pl.Series(KNOWN).gather(pl.read_parquet(folder / "nodes.parquet")["known"])
    return summary, stored, stored.nodes.with_columns(known=known)


def answers(nodes: pl.DataFrame, known: str, video: int = 0) -> dict[str, str]:
    own = nodes.filter(video=video, known=known)
    return dict(zip(own["text"], own["answer"], strict=True))


def test_labels_are_read_from_csv_and_from_json(world: Run, tmp_path: Path) -> None:
    found = labels(world, tmp_path, "B, o2 \nA,bag\n")
    assert found.rows() == [(0, WORDS.object_at["bag"]), (1, WORDS.object_at["bag"])]
    (tmp_path / "labels.json").write_text('{"B": ["bag"], "A": ["bag"]}', "utf-8")
    assert read_labels(tmp_path / "labels.json", ["A", "B"], WORDS).equals(found)


def test_every_bad_label_is_told_at_once(world: Run, tmp_path: Path) -> None:
    with pytest.raises(BadInput) as error:
        labels(world, tmp_path, "A,bagg\nC,bag\nA,book\nB,person\nA,bag\nA,bag\nA,\n")
    assert [str(fault).partition(".csv, ")[2] for fault in error.value.faults] == [
        "line 2: no object 'bagg' in the vocabulary agqa; did you mean bag?",
        "line 3: no video 'C' here",
        "line 4: 'book' is counted as 'paper'; label that",
        "line 5: 'person' is in nearly every video, annotated or not; "
        "nobody is asked about person, clothes, floor, hands, hair",
        "line 7: 'bag' is labelled twice for video 'A'",
        "line 8: no object '' in the vocabulary agqa",
    ]


@pytest.mark.parametrize(
    ("name", "text", "what"),
    [
        ("a.csv", "name,thing\nA,bag\n", "its columns are name, thing; expected a CSV file"),
        ("a.csv", "", "its columns are none"),
        ("a.json", '{"A": "bag"}', "Expected `array`, got `str`"),
        ("a.json", "{", "truncated"),
    ],
)
def test_a_file_of_another_shape_is_refused(name: str, text: str, what: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text, "utf-8")
    with pytest.raises(BadInput, match=what):
        read_labels(tmp_path / name, ["A"], WORDS)
    with pytest.raises(BadInput, match="cannot be read"):
        read_labels(tmp_path / "nothing.csv", ["A"], WORDS)


def test_a_label_is_asked_and_said_in_an_open_world(world: Run, tmp_path: Path) -> None:
    said = labels(world, tmp_path, "A,bag\n")
    _, before, _ = taken_apart(world, closed=False)
    assert before.nodes.filter(video=0, text=ABSENT)["answer"].to_list() == [None], "a question has it as part"
    summary, stored, nodes = taken_apart(world, said, closed=False)
    actions = ("standing up", "holding a dish")
    timed = {f"Does a bag exist {time} {deed}?" for time in ("before", "after", "while") for deed in actions}
    assert answers(nodes, "labelled") == dict.fromkeys([ABSENT, *timed], "no")
    assert not answers(nodes, "labelled", video=1) and summary.negatives == 7
    assert not stored.nodes.filter(type="Object Exists", answer="no", video=1).height, "nobody said so"


def test_in_a_closed_world_the_same_is_executed(world: Run, tmp_path: Path) -> None:
    summary, _, nodes = taken_apart(world, labels(world, tmp_path, "A,bag\n"))
    assert answers(nodes, "executed")[ABSENT] == "no" and not answers(nodes, "labelled")
    assert summary.clashes == 0 and summary.negatives == 7


@pytest.mark.parametrize("closed", [True, False])
def test_a_label_that_facts_contradict_is_told_and_nothing_is_overwritten(
    closed: bool, world: Run, tmp_path: Path
) -> None:
    said = labels(world, tmp_path, "A,dish\nA,bag\nB,box\n")
    summary, _, nodes = taken_apart(world, said, closed=closed)
    assert summary.contradictions == ["video A: Does a dish exist? yes (executed) | but not so by a label"]
    assert answers(nodes, "executed")["Does a dish exist?"] == "yes"
    assert ("labelled" in nodes["known"]) == (not closed)


def test_a_label_that_questions_contradict_is_told_with_both_derivations(world: Run, tmp_path: Path) -> None:
    summary, _, nodes = taken_apart(world, labels(world, tmp_path, "A,dish\n"), rules_only=True)
    assert summary.clashes > 0 and answers(nodes, "labelled")["Does a dish exist?"] == "no"
    told = [line for line in summary.contradictions if "Does a dish exist? no (labelled)" in line]
    assert told and all(
        line.startswith("video A: ") and " (asked)" in line and " | but not so by " in line for line in told
    )


def never(video: Video) -> set[str]:
    """Phrases of actions that do not occur in a video, nor their verb with their object."""
    done = {instance.action for instance in video.instances}
    missing = {word.id for word in WORDS.actions if counted(word.id) == word.id} - done - {"c044"}
    words = [WORDS.actions[WORDS.action_at[deed]] for deed in missing if not alike(video, deed)]
    return {word.progressive or word.phrase for word in words}


def test_objects_are_asked_for_around_actions_that_do_not_occur(world: Run) -> None:
    _, _, nodes = taken_apart(world, closed=False, invalid_actions=3)
    there = {0: {"a dish", "a box"}, 1: {"a phone", "a dish"}}
    for at, video in enumerate(read(world.load("facts"))):
        found = answers(nodes, "no such action", at)
        assert set(found.values()) == {"no"} and len(found) == 2 * 3 * 3  # objects, times, actions
        asked = {tuple(text.removeprefix("Does ").removesuffix("?").split(" exist ", 1)) for text in found}
        assert {thing for thing, _ in asked} == there[at]
        assert {phrase.split(" ", 1)[0] for _, phrase in asked} == {"before", "after", "while"}
        assert {phrase.split(" ", 1)[1] for _, phrase in asked} <= never(video)
        deeds = nodes.filter(pl.col("text").is_in([f"Is the person {p.split(' ', 1)[1]}?" for _, p in asked]), video=at)
        assert set(deeds["answer"]) == {"no"} and len(deeds) == 3


def test_an_action_whose_pair_is_seen_is_none_that_does_not_occur(tmp_path: Path) -> None:
    """Turning a light on is not annotated; turning a light is, by turning it off."""
    run = run_of(
        facts("video A\nframes 0 1 2 3\nlight 1: turning\ndish 2: touching\naction c105 1 1"), tmp_path / "run"
    )
    _, _, nodes = taken_apart(run, closed=False, invalid_actions=200)
    texts = answers(nodes, "no such action")
    assert "Does a dish exist before turning on a light?" not in texts
    assert "Does a dish exist before standing up?" in texts


def test_rules_alone_say_what_execution_says_with_labels_and_negatives(asked_run: Run, tmp_path: Path) -> None:
    """Labels are true ones: some of what the closed world does not show."""
    run = run_of(asked_run.load("facts").between(0, 4), tmp_path / "run")
    names = [word.name for word in WORDS.objects]
    video = read(run.load("facts"))
    rows = [
        f"{Bank(run).ids[at]},{name}\n"
        for at, one in enumerate(video)
        for name in ("bag", "laptop", "bed", "broom")
        if not any(o == WORDS.objects[names.index(name)].id for known in one.facts for _, o in known)
    ]
    assert rows
    said = labels(run, tmp_path, "".join(rows))
    _, _, truth = taken_apart(run, said, invalid_actions=2)
    summary, _, found = taken_apart(run, said, invalid_actions=2, rules_only=True)
    both = found.drop_nulls("answer").join(truth, on=["video", "text"], how="left", suffix="_true")
    assert (both["answer"] == both["answer_true"]).all() and summary.clashes == 0
    counts = dict(both.group_by("known").len().iter_rows())
    assert counts.keys() == {"asked", "entailed", "labelled", "no such action"} and min(counts.values()) > 20


def test_negatives_break_no_rule_and_share_no_text(world: Run, tmp_path: Path) -> None:
    run = world
    taken_apart(run, labels(run, tmp_path, "A,bag\nB,laptop\n"), invalid_actions=5)
    (folder,) = shards(run)
    tables = {path.stem: pl.read_parquet(path) for path in folder.iterdir()}
    found = read_rules(Findings(), tables, Texts(WORDS))
    assert found.contradictions == 0 and found.applied["Before No"] > 50
    assert [dags.summary.clashes for dags in made(run, NodeForms(WORDS))] == [0]


def test_negatives_are_exported_as_questions_without_a_dag_and_to_train_on(world: Run, tmp_path: Path) -> None:
    taken_apart(world, labels(world, tmp_path, "A,light\nB,laptop\n"), closed=False, invalid_actions=1)
    (folder,) = shards(world)
    export_decomp(world, tmp_path / "out", pool=ThreadPoolExecutor(1))
    loose = json.loads((tmp_path / "out" / "unbalanced_test_hierarchies" / "isolated.json").read_text())
    own = {row["question"]: (row["type"], row["answer"], row["program"]) for row in loose}
    assert own["Does a light exist?"] == ("Object Exists", "no", "objExists(light)")
    assert own["Does a light exist while standing up?"][:2] == ("Exists While", "no")
    csv = pl.read_csv(tmp_path / "out" / "csvs" / "Train_frameqa_question-unbalanced-decomp.csv")
    assert csv.filter(question="Does a laptop exist?")["answer"].to_list() == ["no"]
    assert not csv["key"].is_duplicated().any()
    assert len(NEGATIVES.read(folder)) == 7 + 4 + 2 * 3 + 2 * 3
    told, _ = import_dags(tmp_path / "out", tmp_path / "again")
    export_decomp(Run(tmp_path / "again"), tmp_path / "out2")
    for path in sorted((tmp_path / "out").rglob("*.json")):
        assert path.read_bytes() == (tmp_path / "out2" / path.relative_to(tmp_path / "out")).read_bytes()
    assert told.kept_as_is == 0


@pytest.mark.parametrize("split", ["train", "test"])
def test_negatives_are_scored_alike_from_tables_and_from_files(split: str, world: Run, tmp_path: Path) -> None:
    taken_apart(world, labels(world, tmp_path, "A,light\nB,laptop\n"), closed=False, invalid_actions=1)
    export_decomp(world, tmp_path / "out", pool=ThreadPoolExecutor(1))
    here = run_hierarchies(world, split, workers=1).hierarchies
    there = read_hierarchies(tmp_path / "out" / f"unbalanced_{split}_hierarchies")
    assert all(one.equals(other) for one, other in zip(spelled(here), spelled(there), strict=True))
    assert here.keys.gather(here.isolated["key"]).str.contains("-s").sum() > 5


def test_the_command_takes_labels_and_counts_sources(
    world: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    labels(world, tmp_path, "A,bag\nA,dish\n")
    options = ["--absent", str(tmp_path / "labels.csv"), "--invalid-actions", "1", "--workers", "1"]
    record = tmp_path / "r.json"
    app(
        ["decompose", str(world.folder), *options, "--json", str(record)],
        exit_on_error=False,
        result_action="return_value",
    )
    said, found = capsys.readouterr().out, json.loads(record.read_text())
    assert "1 contradiction:\n  video A: Does a dish exist? yes (executed) | but not so by a label" in said
    assert found["types"]["Object Exists"]["labelled"] == 1 and found["clashes"] == 1
    assert found["types"]["Exists While"]["no such action"] == 4
    assert f"{found['negatives']:,} questions more whose answer is no" in said
    plan = json.loads((world.decomposed / "plan.json").read_text())["options"]
    assert plan["invalid_actions"] == 1 and len(plan["labels"]) == 32
    assert pl.read_parquet(world.decomposed / "absent.parquet").height == 2


def test_the_lock_file_knows_the_dags_and_they_come_out_again(world: Run, tmp_path: Path) -> None:
    run = copy(world, tmp_path)
    said = labels(run, tmp_path, "A,bag\n")
    decompose(run, DecomposeOptions(closed=False, invalid_actions=2), pool=ThreadPoolExecutor(1), labels=said)
    choose(run)
    lock(run, "decomposed")
    assert verify(run) == ([], []) and made_again(run, 1) == []
    other = copy(run, tmp_path / "other")
    decompose(other, DecomposeOptions(closed=False), pool=ThreadPoolExecutor(1))
    assert {Path(fault.place).name for fault in verify(other)[0]} >= {"nodes.parquet", "plan.json", "absent.parquet"}
    places = [difference.place for difference in differences(run, other)]
    assert places[:2] == ["decomposed, option invalid_actions", "decomposed, option labels"]
    assert {"decomposed, nodes", "decomposed, absent", "decomposed, subquestions"} <= set(places)
    nodes = shards(run)[0] / "nodes.parquet"
    pl.read_parquet(nodes).with_columns(answer=pl.lit(1, pl.UInt8)).write_parquet(nodes)
    assert [Path(fault.place).name for fault in made_again(run, 1)] == ["nodes.parquet"]


def test_a_negative_number_of_actions_is_refused(world: Run) -> None:
    with pytest.raises(BadInput, match="expected at least 0, got -1"):
        DecomposeOptions(invalid_actions=-1)
