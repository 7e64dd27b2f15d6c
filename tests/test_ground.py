"""What a question is about, box by box: small worlds by eye, a naive judge, and answers that need nothing else."""

import json
import shlex
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import polars as pl
import pytest

from judges.facts import WORDS, read
from judges.naive_relevance import Relevant
from questree.benchmarks.agqa.templates import TEMPLATES
from questree.cli.app import app
from questree.cli.fpvg import fpvg
from questree.cli.ground import ground as command
from questree.domains.images import IMAGES as LANGUAGE
from questree.domains.images.batches import execute
from questree.domains.images.corpus import corpus
from questree.faults import BadInput
from questree.notation.own import parse, show
from questree.scoring.compared import OnePolicy
from questree.stages.ground.boxes import image_boxes
from questree.stages.ground.evidence import unpacked
from questree.stages.ground.grounding import GroundOptions, ground, relevant
from questree.stages.questions import Bank
from questree.tables.facts import PERSONS, Facts
from questree.tables.image_questions import answered
from questree.tables.images import Images
from questree.tables.questions import with_programs
from questree.tables.run import Run
from test_pages import commands
from worlds import exported_worlds as worlds
from worlds import image_run as made
from worlds.image_run import CUP, DOG, GROUPS, ON, TABLE
from worlds.question_shards import write_questions
from worlds.small import facts

KITCHEN = """
video A test
frames 0 1 2 3 4 5 6
person 0-6 at 0 0 50 100
phone 0-1 at 60 0 70 10: holding
dish 3 at 80 0 90 10: holding
paper 5 at 100 0 110 10: holding
table 0-6 at 0 200 300 300: in front of
phone 6 at 60 0 70 10: touching
action c104 2 3
action c154 4 5
"""
LIGHT = "turning on a light"
EVERY = GroundOptions(split="all", all=True)


def spots(table: pl.DataFrame, boxes: pl.DataFrame, side: str = "relevant") -> dict[str, set[str]]:
    """id -> "name@frame" of its boxes; frame k has the number 30 k."""
    rows = table.select("id", box=side).explode("box").drop_nulls().join(boxes, on="box")
    found: dict[str, set[str]] = {id: set() for id in table["id"].to_list()}
    for id, name, frame in rows.select("id", "name", "frame").rows():
        found[id].add(f"{name}@{frame // 30}")
    return found


@pytest.fixture(scope="module")
def kitchen(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Program of a question -> (answer, relevant, irrelevant, relevant frames, why it is left out)."""
    run = worlds.run_of(facts(KITCHEN), tmp_path_factory.mktemp("kitchen") / "run")
    ((table, boxes),) = list(ground(run, EVERY, {}))
    own, rest = spots(table, boxes.table), spots(table, boxes.table, "irrelevant")
    bank = Bank(run)
    programs = {question.id: show(question.program) for question in bank.shard(bank.folders()[0])}
    columns = table.select("id", "answer", "relevant_frames", "left_out").rows()
    return {programs[id]: (answer, own[id], rest[id], frames, left) for id, answer, frames, left in columns}


@pytest.mark.parametrize(
    ("program", "answer", "wanted"),
    [
        ("interacting(phone)", "yes", "phone@0 phone@1 phone@6 person@0 person@1 person@6"),
        ("interacting(bag)", "no", ""),  # there is no bag
        ("first(holding, whole())", "phone", "phone@0 person@0"),
        ("last(holding, whole())", "paper", "paper@5 person@5"),
        ("equals(phone, first(holding, whole()))", "yes", "phone@0 person@0"),
        ("equals(dish, first(holding, whole()))", "no", "dish@3 person@3"),  # the dish, where it is seen
        (f"within(interaction(holding, dish), before({LIGHT}))", "no", "person@2 person@3"),  # only the light is there
        (f"only(objects(holding, after({LIGHT})))", "paper", "paper@5 person@5 person@2 person@3"),
        ("choose_first(holding, whole(), dish, phone)", "phone", "phone@0 dish@3 person@0 person@3"),
    ],
)
def test_the_relevant_boxes_of_a_small_kitchen(kitchen: dict[str, Any], program: str, answer: str, wanted: str) -> None:
    said, found, rest, frames, left = kitchen[program]
    assert said == answer
    assert found == set(wanted.split())
    assert sorted({int(spot.split("@")[1]) * 30 for spot in wanted.split()}) == frames
    everything = {f"{name}@{frame}" for name in ("person", "table") for frame in range(7)}
    everything |= {"phone@0", "phone@1", "phone@6", "dish@3", "paper@5"}
    assert rest == everything - found
    assert left == ("" if wanted else "nothing relevant")


def boxed(known: Facts) -> Facts:
    """The same facts with a box for everything, none over another, and the person on every frame."""
    at = pl.int_range(pl.len()).cast(pl.Float32) * 20
    sides = {"x1": at, "y1": pl.lit(0.0, pl.Float32), "x2": at + 10, "y2": pl.lit(10.0, pl.Float32)}
    objects = known.objects.with_columns(**sides)
    persons = known.frames.select("video", "frame", score=pl.lit(None, pl.Float32)).with_columns(
        **{name: side if name[0] == "x" else side + 20 for name, side in sides.items()}
    )
    return Facts(**{**vars(known), "objects": objects, "persons": PERSONS.frame(persons)})


@pytest.fixture(scope="module")
def random_run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    run = worlds.run_of(boxed(worlds.random_facts()), tmp_path_factory.mktemp("boxed") / "run")
    worlds.select_every(run, 7)
    return run


def test_the_judge_finds_the_same_boxes_for_every_template(random_run: Run) -> None:
    bank, known = Bank(random_run), random_run.load("facts")
    judged, there = read(known), known.objects.select("video", "frame", "object").rows()
    annotated = {(video, WORDS.objects[object].id, frame) for video, frame, object in there}
    tables = list(ground(random_run, EVERY, {}))
    found = {id: own for table, boxes in tables for id, own in spots_by_number(table, boxes.table, known).items()}
    checked: Counter[str] = Counter()
    for folder in bank.folders():
        shard = bank.shard(folder)
        order, left = list(range(len(shard.questions))), Counter[int]()
        Random(folder.name).shuffle(order)
        for at in order:
            left[shard.questions["template"][at]] += 1
            if left[shard.questions["template"][at]] > 12:
                continue
            question = shard.question(at)
            wanted = Relevant(question, judged[question.video], shard).spots()
            seen = {(o, f) for o, f in wanted if o == "o1" or (question.video, o, f) in annotated}
            assert found[question.id] == seen, show(question.program)
            checked[question.template.name] += 1
    assert set(checked) == {template.name for template in TEMPLATES}


def spots_by_number(table: pl.DataFrame, boxes: pl.DataFrame, known: Facts) -> dict[str, set[tuple[str, int]]]:
    """id -> (object, position of the frame) of its relevant boxes."""
    frames = known.frames.join(known.videos.with_row_index("video").select("video", place="id"), on="video")
    at = {(place, number): frame for place, number, frame in frames.select("place", "number", "frame").rows()}
    rows = table.select("id", box="relevant").explode("box").drop_nulls().join(boxes, on="box")
    found: dict[str, set[tuple[str, int]]] = {id: set() for id in table["id"].to_list()}
    for id, name, place, frame in rows.select("id", "name", "place", "frame").rows():
        found[id].add((WORDS.objects[WORDS.object_at[name]].id, at[place, frame]))
    return found


def test_frames_are_relevant_or_not_and_boxes_never_both(random_run: Run) -> None:
    known = random_run.load("facts")
    for table, boxes in ground(random_run, EVERY, {}):
        for row in table.sample(200, seed=1).iter_rows(named=True):
            assert not set(row["relevant"]) & set(row["irrelevant"])
            assert not set(row["relevant_frames"]) & set(row["irrelevant_frames"])
            places = boxes.table.filter(pl.col("place") == row["place"][0])
            assert {*row["relevant"], *row["irrelevant"]} <= set(places["box"].to_list())
            total = len(row["relevant_frames"]) + len(row["irrelevant_frames"])
            assert total == len(known.frames.filter(video=known.videos["id"].to_list().index(row["place"][0])))


def test_a_box_that_covers_much_of_a_relevant_one_is_kept_out_of_both(tmp_path: Path) -> None:
    world = """
    video A test
    frames 0 1
    person 0-1 at 0 0 10 10
    phone 0 at 20 0 30 10: holding
    dish 0 at 20 0 22.5 10: in front of
    table 0 at 27.4 0 99 10: in front of
    bag 0 at 28 0 90 10: in front of
    """
    run = worlds.run_of(facts(world), tmp_path / "run")
    ((table, boxes),) = list(ground(run, EVERY, {}))
    bank = Bank(run)
    name = next(q.id for q in bank.shard(bank.folders()[0]) if show(q.program) == "interacting(phone)")
    assert spots(table, boxes.table)[name] == {"phone@0", "person@0"}
    # the table covers 26 % of the phone, the dish exactly a quarter, the bag less
    assert spots(table, boxes.table, "irrelevant")[name] == {"dish@0", "bag@0", "person@1"}


# -- images --------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def images(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return made.image_run(tmp_path_factory.mktemp("images") / "run", balanced=3)


@pytest.mark.parametrize(
    ("program", "wanted"),
    [
        (f"count({CUP})", "test0-0"),
        (f"exists({ON})", "test0-0 test0-1"),
        (f"count(filter({CUP}, blue))", "test0-0"),  # one must look at the red cup to leave it out
        (f"all({CUP}, with_relation(scene(), {TABLE}, on))", "test0-0 test0-1"),
        (f"some({DOG}, filter(scene(), blue))", "test0-2"),  # not the other things that are blue, or not
        (f"query_name(unique(with_relation_object(assert_unique({DOG}), scene(), near)))", "test0-0 test0-2"),
        (
            f"choose_relation(query_link(unique_link(relation_between_nouns(unique({DOG}), {CUP}))), on, near)",
            "test0-0 test0-2",
        ),
        ("count(scene())", ""),
    ],
)
def test_the_things_a_program_visits(tmp_path: Path, program: str, wanted: str) -> None:
    """In the first room for testing: a red cup (0) on a table (1), a dog (2) near the cup."""
    run = Run(tmp_path / "run")
    known = made.write_images(run)
    table = made.questions(known, {"COUNT": [program]})
    run.covr.mkdir()
    write_questions(table.filter(pl.col("images") == [known.images["id"].to_list().index("test0")]), run)
    ((found, boxes),) = list(ground(run, EVERY, GROUPS))
    ids = known.things["id"]  # every thing has a box, so boxes are things
    assert sorted(ids[box] for box in found["relevant"][0]) == sorted(wanted.split())
    rest = {"test0-0", "test0-1", "test0-2"} - set(wanted.split())
    assert {ids[box] for box in found["irrelevant"][0]} == rest
    assert len(boxes.table) == len(ids)


def test_what_is_relevant_is_enough_to_answer(images: Run) -> None:
    """Programs give the same answers on images with nothing but the relevant things."""
    known, table = Images.load(images.images), with_programs(answered(images))
    ((found, _),) = list(ground(images, EVERY, GROUPS))
    _, box_of = image_boxes(known)
    thing = {int(box): at for at, box in enumerate(box_of)}
    checked = 0
    for (text, some, answer), kept in zip(
        table.select("program", "images", "answer").rows(), found["relevant"].to_list(), strict=True
    ):
        few = only_things(known, {thing[box] for box in kept})
        value = execute([parse(text, LANGUAGE)], [some], corpus(few, GROUPS)).value[0]
        assert {True: "yes", False: "no"}.get(value, str(value)) == answer or str(value) == answer
        checked += 1
    assert checked == len(table) > 100


def only_things(known: Images, kept: set[int]) -> Images:
    """The other things lose their names, attributes and relations."""
    nobody = pl.Series([at not in kept for at in range(len(known.things))])
    name = pl.when(nobody).then(pl.lit(len(known.words))).otherwise(pl.col("name"))
    words = pl.concat([known.words, pl.DataFrame({"word": ["nothing"]})])
    inside = list(kept)
    relations = known.relations.filter(pl.col("subject").is_in(inside) & pl.col("object").is_in(inside))
    attributes = known.attributes.filter(pl.col("thing").is_in(inside))
    things = known.things.with_columns(name=name.cast(pl.UInt32))
    return Images(known.images, things, attributes, relations, known.prepositions, words)


# -- files and scores ----------------------------------------------------------------------------------


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def test_the_files_say_per_frame_what_is_kept(random_run: Run, tmp_path: Path) -> None:
    for name in ("a", "b"):
        command(random_run.folder, out=tmp_path / name, sample=30, quiet=True, json=tmp_path / f"{name}.json")
    assert files(tmp_path / "a") == files(tmp_path / "b")
    lines = [json.loads(line) for line in (tmp_path / "a" / "questions.jsonl").read_text().splitlines()]
    boxes = {row["box"]: row for row in map(json.loads, (tmp_path / "a" / "boxes.jsonl").read_text().splitlines())}
    command(random_run.folder, out=tmp_path / "c", sample=30, format="parquet", quiet=True)
    table = pl.read_parquet(tmp_path / "c" / "questions.parquet")
    assert [line["id"] for line in lines] == table["id"].to_list() and len(lines) == 30
    assert pl.read_parquet(tmp_path / "c" / "boxes.parquet")["box"].to_list() == list(boxes)
    for line, row in zip(lines, table.iter_rows(named=True), strict=True):
        for side in ("relevant", "irrelevant"):
            assert [box for view in line["views"] for box in view[side]] == row[side]
            assert [v["frame"] for v in line["views"] if v["rests"] == (side == "relevant")] == row[f"{side}_frames"]
        for view in line["views"]:
            kept = [boxes[box] for side in ("relevant", "irrelevant") for box in view[side]]
            assert all((box["place"], box["frame"]) == (view["place"], view["frame"]) for box in kept)


def test_the_selection_and_the_split_are_those_of_the_run(random_run: Run, images: Run, tmp_path: Path) -> None:
    def ids(run: Run, options: GroundOptions) -> set[str]:
        return {id for table, _ in ground(run, options, GROUPS) for id in table["id"].to_list()}

    split = dict(zip(*(random_run.load("facts").videos[name] for name in ("id", "split")), strict=True))
    every, test = ids(random_run, EVERY), ids(random_run, GroundOptions(all=True))
    assert test == {id for id in every if split[id.rpartition("-")[0]] != "train"}
    assert len(ids(random_run, GroundOptions(split="all"))) == pytest.approx(len(every) / 7, abs=9)
    assert ids(images, GroundOptions(split="dev", all=True)) == set(
        answered(images).filter(split="dev")["id"].to_list()
    )
    assert len(ids(images, GroundOptions(split="all", sample=5))) == 5
    with pytest.raises(BadInput, match="split: expected train, test or all, got 'dev'"):
        ids(random_run, GroundOptions(split="dev"))
    with pytest.raises(BadInput, match="no questions here"):
        ids(Run(tmp_path), GroundOptions())


def predictions(path: Path, answers: dict[str, str]) -> list[Path]:
    path.write_text("\n".join(json.dumps({"id": id, "prediction": answer}) for id, answer in answers.items()))
    return [path]


def test_a_run_is_scored_by_the_evidence_of_its_programs(random_run: Run, tmp_path: Path) -> None:
    """A model that sees what it needs and nothing else is grounded wherever there is something to compare."""
    read, found = relevant(random_run, GroundOptions(), {})
    truth = dict(read.select("id", "answer").rows())
    given: dict[str, Any] = {
        "all": predictions(tmp_path / "all.jsonl", truth),
        "rel": predictions(tmp_path / "rel.jsonl", truth),
        "irrel": predictions(tmp_path / "irrel.jsonl", dict.fromkeys(truth, "?")),
    }
    paths: dict[str, Any] = {"write_relevance": tmp_path / "relevance.json", "json": tmp_path / "scores.json"}
    fpvg(random_run.folder, **given, **paths, quiet=True, how=OnePolicy(resamples=0))
    rows = {(row["metric"], row["by"], row["group"]): row for row in json.loads((tmp_path / "scores.json").read_text())}
    evaluated = int((found["left_out"] == "").sum())
    plus = rows["FPVG+", "all", "Overall"]
    assert (plus["value"], plus["n"]) == (1.0, evaluated) and 0 < evaluated < len(found)
    assert {group for metric, by, group in rows if by == "structural"} >= {"verify", "query", "choose", "Overall"}
    written = json.loads((tmp_path / "relevance.json").read_text())
    one = found["left_out"].to_list().index("")
    id, image = read.row(one)[:2]
    assert written[image][id]["relevant"] == found["relevant"][one].to_list()


def test_the_importance_of_boxes_is_counted_within_a_question(images: Run, tmp_path: Path) -> None:
    """A model that finds the relevant boxes most important matches their ranking fully."""
    read, found = relevant(images, GroundOptions(), GROUPS)
    truth = dict(read.select("id", "answer").rows())
    lists = found.select("relevant", "boxes").rows()
    scores = {id: np.isin(range(n), own).astype(float).tolist() for id, (own, n) in zip(truth, lists, strict=True)}
    (tmp_path / "importance.json").write_text(json.dumps(scores))
    words = made.words_folder(tmp_path)
    files = predictions(tmp_path / "all.jsonl", truth)
    paths: dict[str, Any] = {
        "importance": [tmp_path / "importance.json"],
        "json": tmp_path / "scores.json",
        "words": words,
    }
    fpvg(images.folder, all=files, rel=files, irrel=files, **paths, quiet=True, how=OnePolicy(resamples=0))
    rows = {(row["metric"], row["by"], row["group"]): row for row in json.loads((tmp_path / "scores.json").read_text())}
    assert rows["ranking match", "relevant", "Overall"]["value"] == 1.0


def test_without_a_run_the_files_are_wanted(tmp_path: Path) -> None:
    files = predictions(tmp_path / "all.jsonl", {})
    with pytest.raises(BadInput, match="expected a run folder, or --questions, --scene-graphs and --detections"):
        fpvg(all=files, rel=files, irrel=files)
    with pytest.raises(BadInput, match="got both"):
        fpvg(tmp_path, questions=[tmp_path], all=files, rel=files, irrel=files)


def test_the_page_on_grounding_works(random_run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read, _ = relevant(random_run, GroundOptions(), {})
    for name in ("all", "rel", "irrel"):
        predictions(tmp_path / f"{name}.jsonl", dict(read.select("id", "answer").rows()))
    monkeypatch.chdir(tmp_path)
    lines = commands("docs/ground.md")
    assert [line.split()[1] for line in lines] == ["ground"] * 4 + ["score"]
    for line in lines:
        with pytest.raises(SystemExit) as done:
            app([*shlex.split(line.replace("RUN", str(random_run.folder)))[1:], "--quiet"], exit_on_error=False)
        assert done.value.code == 0


def test_nothing_to_unpack_has_frames_all_the_same() -> None:
    assert unpacked(np.zeros((0, 2), np.uint64)).shape == (0, 128)
    assert np.flatnonzero(unpacked(np.array([[5, 1]], np.uint64))).tolist() == [0, 2, 64]
