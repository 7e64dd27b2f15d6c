"""Features from facts, beside what a reader of the facts would sum up by hand; their files; what is taken of them."""

import json
import re
import shutil
import signal
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import chdir
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import questree
from conftest import copy
from questree.faults import BadInput
from questree.features.codes import codes
from questree.features.files import read_shard
from questree.features.making import FactsOfVideos, write_features
from questree.features.options import FeatureOptions
from questree.features.read import FeatureSet, open_features, scope_key
from questree.sources.detections import read_detections
from questree.stages.ground.boxes import video_boxes
from questree.stages.ground.grounding import GroundOptions, relevant
from questree.tables.image_questions import answered, question_folders
from questree.tables.images import Images
from questree.tables.run import Run
from test_pages import commands
from worlds import forked
from worlds.commands import questree as command
from worlds.image_run import GROUPS, image_run

make = partial(questree.make_features, from_facts=True, workers=1)
ROOMS = ["train0", "train2"]
PAGE = Path(__file__).parents[1] / "docs" / "experiments.md"


@pytest.fixture
def videos(cleaned_run: Run, tmp_path: Path) -> Run:
    return Run(Path(shutil.copytree(cleaned_run.folder, tmp_path / "run")))


@pytest.fixture(scope="module")
def rooms(tmp_path_factory: pytest.TempPathFactory) -> Run:
    run = image_run(tmp_path_factory.mktemp("rooms") / "run")
    make(run.folder, shard=3)
    return run


def summed(words: Sequence[str], width: int) -> Any:
    return codes(words, width).sum(axis=0) if words else np.zeros(width)


def taken(found: FeatureSet, scope: str, stream: str) -> Any:
    """[item, width] of the items that are there."""
    (values, there) = found.take([scope], [stream])[stream]
    return values[0][there[0]]


def bytes_of(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def test_a_frame_sums_its_objects_and_relations(videos: Run) -> None:
    make(videos.folder, frames=4, width=32)
    facts, words = videos.load("facts"), videos.vocabulary()
    found, checked = open_features(videos.folder, "facts"), 0
    for video, id in enumerate(facts.videos["id"].to_list()):
        count = len(facts.frames.filter(pl.col("video") == video))
        for item, values in enumerate(taken(found, id, "appearance")):
            rows = facts.relations.filter(
                (pl.col("video") == video) & (pl.col("frame") == int((item + 0.5) * count / 4))
            )
            named = list[str]()
            for relation, object in rows.select("relation", "object").rows():
                of = words.relations[relation].id, words.objects[object].id
                present = of[0] == words.annotated
                named += [f"object {of[1]}"] if present else [f"relation {of[0]}", f"relation {of[0]}, object {of[1]}"]
            np.testing.assert_allclose(values, summed(named, 32), atol=1e-5)
            checked += 1
    assert checked == 4 * len(facts.videos)


def test_a_clip_sums_its_actions_by_how_much_of_it_they_take(videos: Run) -> None:
    make(videos.folder, clips=3, width=32)
    facts, words = videos.load("facts"), videos.vocabulary()
    found = open_features(videos.folder, "facts")
    for video, id in enumerate(facts.videos["id"].to_list()):
        count = len(facts.frames.filter(pl.col("video") == video))
        own = facts.actions.filter(pl.col("video") == video).drop_nulls("first")
        for clip, values in enumerate(taken(found, id, "motion")):
            begin, end = clip * count / 3, (clip + 1) * count / 3
            wanted = np.zeros(32)
            for action, first, last in own.select("action", "first", "last").rows():
                share = (min(last + 1, end) - max(first, begin)) / (end - begin)
                if first < end and last >= np.floor(begin) and int(last / (count / 3)) >= clip:
                    wanted += (0.5 + 0.5 * max(share, 0)) * summed([f"action {words.actions[action].id}"], 32)
            np.testing.assert_allclose(values, wanted, atol=1e-5)


def test_an_object_has_its_class_relations_and_box(videos: Run) -> None:
    make(videos.folder, object_frames=2, width=32)
    facts, words = videos.load("facts"), videos.vocabulary()
    found, seen = open_features(videos.folder, "facts"), 0
    for video, (id, width, height) in enumerate(facts.videos.select("id", "width", "height").rows()):
        count = len(facts.frames.filter(pl.col("video") == video))
        items = iter(taken(found, id, "objects"))
        for frame in sorted({int((step + 0.5) * count / 2) for step in range(2)}):
            here = (pl.col("video") == video) & (pl.col("frame") == frame)
            boxes = facts.objects.filter(here).drop_nulls("x1").sort("object")
            persons = facts.persons.filter(here).with_columns(object=pl.lit(0, boxes["object"].dtype))
            columns = ["object", "x1", "y1", "x2", "y2"]
            for object, *box in pl.concat([persons.select(columns), boxes.select(columns)]).rows():
                rows = facts.relations.filter(here & (pl.col("object") == object))
                named = [f"object {words.objects[object].id}"]
                named += [f"relation {words.relations[at].id}" for at in rows["relation"].to_list()]
                if object == words.object_at[words.person]:
                    now = facts.actions.filter((pl.col("video") == video) & (pl.col("first") <= frame))
                    own = now.filter(pl.col("last") >= frame)["action"].to_list()
                    named += [f"action {words.actions[at].id}" for at in own]
                values = next(items)
                np.testing.assert_allclose(values[:-6], summed(named, 26), atol=1e-5)
                shares = [box[0] / width, box[1] / height, box[2] / width, box[3] / height]
                area = (shares[2] - shares[0]) * (shares[3] - shares[1])
                np.testing.assert_allclose(values[-6:], [*shares, (frame + 0.5) / count, area], atol=1e-5)
                seen += 1
        assert list(items) == []
    assert seen > 50


def test_things_of_a_set_of_images_stand_one_after_the_other(rooms: Run) -> None:
    """train0: a red cup on a table; train2: a red cup and a blue cup on a table."""
    values = taken(open_features(rooms.folder, "facts"), scope_key(ROOMS), "objects")
    told = [
        ["name cup", "attribute red", "does on", "does on, to table"],
        ["name table", "done on", "done on, by cup"],
        ["name cup", "attribute red", "does on", "does on, to table"],
        ["name cup", "attribute blue", "does on", "does on, to table"],
        ["name table", "done on", "done on, by cup"],  # although two cups are on it
    ]
    np.testing.assert_allclose(values[:, :-6], [summed(words, 122) for words in told], atol=1e-5)
    spots = ((0, 0), (0, 1), (1, 0), (1, 1), (1, 2))  # image, thing
    boxes = [[0.1 * at, 0, 0.1 * at + 0.08, 0.8, image, 0.064] for image, at in spots]
    np.testing.assert_allclose(values[:, -6:], boxes, atol=1e-6)


def test_shorter_scopes_are_padded_and_unknown_ones_refused(rooms: Run) -> None:
    found = open_features(rooms.folder, "facts")
    values, there = found.take([scope_key(ROOMS), "train1"], ["objects"])["objects"]
    assert there.tolist() == [[True] * 5, [True, True, False, False, False]]
    assert not values[1, 2:].any()
    with pytest.raises(BadInput, match="expected features of 'nobody', got none"):
        found.take(["nobody"], ["objects"])
    with pytest.raises(BadInput, match="got 'other'; choose from facts"):
        open_features(rooms.folder, "other")


def test_what_is_kept_are_the_boxes_that_ground_counts(rooms: Run) -> None:
    """Of every question the relevant things: those that `ground` names, in its order."""
    questions, found = relevant(rooms, GroundOptions("all", all=True), GROUPS)
    images, features = Images.load(rooms.images), open_features(rooms.folder, "facts")
    asked = answered(rooms)
    assert questions["id"].to_list() == asked["id"].to_list()
    ids, checked = images.images["id"].to_list(), 0
    sets = [[ids[at] for at in own] for own in asked["images"].to_list()]
    kept = found["relevant"].to_list()
    values, there = features.take([scope_key(own) for own in sets], ["objects"], kept)["objects"]
    for row, (own, numbers) in enumerate(zip(sets, kept, strict=True)):
        every = taken(features, scope_key(own), "objects")
        np.testing.assert_array_equal(values[row][there[row]], every[numbers])
        checked += 0 < len(numbers) < len(every)
    assert checked > 20
    whole = features.take([scope_key(sets[0])] * 2, ["objects"], [None, []])["objects"][1]
    assert whole[0].all() and not whole[1].any()


def test_kept_boxes_of_a_video_are_counted_over_all_its_frames(random_run: Run, tmp_path: Path) -> None:
    run = Run(Path(shutil.copytree(random_run.folder, tmp_path / "run")))
    make(run.folder, object_frames=64)
    questions, found = relevant(run, GroundOptions("all"), {})
    features = open_features(run.folder, "facts")
    scopes = questions["image"].to_list()
    every = features.take(scopes, ["objects"])["objects"]
    kept = features.take(scopes, ["objects"], found["relevant"].to_list())["objects"]
    assert every[1].sum(axis=1).tolist() == found["boxes"].to_list()  # all frames are shown
    assert kept[1].sum(axis=1).tolist() == found["relevant"].list.len().to_list()
    for row, numbers in enumerate(found["relevant"].to_list()):
        np.testing.assert_array_equal(kept[0][row][kept[1][row]], every[0][row][numbers])


def test_the_same_bytes_whatever_the_workers(videos: Run) -> None:
    make(videos.folder, name="one", shard=5, noise=0.5, miss=0.2, confuse=0.2)
    questree.make_features(
        videos.folder, name="two", from_facts=True, shard=5, noise=0.5, miss=0.2, confuse=0.2, workers=2
    )
    places = [videos.folder / "features" / name for name in ("one", "two")]
    assert bytes_of(places[0]) == bytes_of(places[1])
    assert len(bytes_of(places[0])) == 3 + 2


class Killed(ThreadPoolExecutor):
    """A pool whose process dies at the second piece of work."""

    def submit(self, work: Any, /, *given: Any, **named: Any) -> "Future[Any]":
        if self._work_queue.qsize() or self._threads:
            raise KeyboardInterrupt
        return super().submit(work, *given, **named)


def test_what_a_killed_command_finished_is_kept(videos: Run) -> None:
    options = FeatureOptions(noise=0.1)
    source, where = FactsOfVideos(videos.folder, options), videos.folder / "features"
    with pytest.raises(KeyboardInterrupt):
        write_features(source, options, videos, "halved", "safetensors", 5, 1, Killed(1))
    done = where / ".halved.part" / "00000.safetensors"
    first = done.stat()
    assert not (where / "halved").exists()
    write_features(source, options, videos, "halved", "safetensors", 5, 1)
    write_features(source, options, videos, "whole", "safetensors", 5, 1)
    assert bytes_of(where / "halved") == bytes_of(where / "whole")
    assert (where / "halved" / "00000.safetensors").stat().st_mtime_ns == first.st_mtime_ns


def test_a_command_killed_anywhere_goes_on_to_the_same_bytes(videos: Run, tmp_path: Path) -> None:
    """By SIGKILL, before the first shard, between two, and while the note is written."""
    words, where = (
        ["features", "run", "--from-facts", "--shard", 5, "--workers", 1, "--quiet"],
        videos.folder / "features",
    )
    assert forked.questree(*words, "--name", "whole", folder=tmp_path).returncode == 0
    for at in (4, 9, 16):
        killed = forked.questree(*words, "--name", "killed", folder=tmp_path, killed_at=at)
        assert killed.returncode == -signal.SIGKILL, f"operation {at}"
        assert not (where / "killed").exists()
    assert command(*words, "--name", "killed", folder=tmp_path).returncode == 0
    assert bytes_of(where / "killed") == bytes_of(where / "whole")


def test_other_options_do_not_go_on_with_what_is_there(videos: Run) -> None:
    for noise in (0.1, 0.2):
        options = FeatureOptions(noise=noise)
        with pytest.raises(KeyboardInterrupt):
            write_features(FactsOfVideos(videos.folder, options), options, videos, "a", "parquet", 5, 1, Killed(1))
    make(videos.folder, name="a", shard=5, format="parquet", noise=0.2)
    make(videos.folder, name="b", shard=5, format="parquet", noise=0.2)
    assert bytes_of(videos.folder / "features" / "a") == bytes_of(videos.folder / "features" / "b")


def test_parquet_has_the_same_numbers(videos: Run) -> None:
    make(videos.folder)
    make(videos.folder, name="table", format="parquet")
    ids = videos.load("facts").videos["id"].to_list()
    one, two = (open_features(videos.folder, name) for name in ("facts", "table"))
    assert one.streams == two.streams
    for stream in one.streams:
        for left, right in zip(one.take(ids, [stream])[stream], two.take(ids, [stream])[stream], strict=True):
            np.testing.assert_array_equal(left, right)


def test_noise_is_as_large_as_it_says(videos: Run) -> None:
    make(videos.folder)
    make(videos.folder, name="noisy", noise=2, miss=0.3)
    ids = videos.load("facts").videos["id"].to_list()
    clean, noisy = (
        open_features(videos.folder, name).take(ids, ["appearance", "objects"]) for name in ("facts", "noisy")
    )
    assert (noisy["appearance"][0] - clean["appearance"][0]).std() == pytest.approx(0.5, rel=0.02)
    seen, every = noisy["objects"][1].sum(), clean["objects"][1].sum()
    assert abs(seen / every - 0.7) < 3 * (0.3 * 0.7 / every) ** 0.5


def test_a_detector_without_noise_finds_what_is_annotated(rooms: Run, tmp_path: Path) -> None:
    run = Run(Path(shutil.copytree(rooms.folder, tmp_path / "run")))
    make(run.folder, name="exact", detections=True, jitter=0, spurious=0)
    found = read_detections(run.folder / "features" / "exact" / "detections.json")
    things = Images.load(run.images).things
    np.testing.assert_array_equal(found.boxes, things.select("x1", "y1", "x2", "y2").to_numpy())
    for name in ("exact", "facts"):
        assert open_features(run.folder, name).take(["test0"], ["objects"])["objects"][0].shape == (1, 3, 128)
    make(run.folder, name="detected", detections=True, spurious=2, jitter=0.2, miss=0.4, seed=3)
    noisy = read_detections(run.folder / "features" / "detected" / "detections.json")
    assert np.diff(noisy.start).min() >= 2
    assert len(noisy.boxes) < len(found.boxes) + 2 * len(noisy.images)
    assert open_features(run.folder, "detected")._columns["boxes"].tolist() == np.diff(noisy.start).tolist()


def test_a_detector_of_videos_without_noise_changes_nothing(videos: Run) -> None:
    """Its boxes are those that are annotated, frame by frame, and objects are the same."""
    make(videos.folder)
    make(videos.folder, name="exact", detections=True, jitter=0, spurious=0)
    found = read_detections(videos.folder / "features" / "exact" / "detections.json")
    facts, words = videos.load("facts"), videos.vocabulary()
    boxes = video_boxes(facts, words)[0].table
    np.testing.assert_array_equal(found.boxes, np.trunc(boxes.select("x1", "y1", "x2", "y2").to_numpy()))
    ids = facts.videos["id"].to_list()
    named = [f"{ids[video]}/{number:06}" for video, number in facts.frames.select("video", "number").rows()]
    assert found.images == named
    counts = boxes.group_by("place", "frame").len()
    counted = {f"{place}/{frame:06}": count for place, frame, count in counts.rows()}
    assert np.diff(found.start).tolist() == [counted.get(name, 0) for name in named]
    exact, known = (open_features(videos.folder, name).take(ids, ["objects"])["objects"] for name in ("exact", "facts"))
    for one, other in zip(exact, known, strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_detector_of_videos_misses_shifts_and_makes_up(videos: Run) -> None:
    """Every object shown has the box of its number among all detections of its video; what is nowhere is a class."""
    how: dict[str, Any] = {"detections": True, "object_frames": 3, "width": 32, "seed": 3}
    make(videos.folder, name="noisy", jitter=0.2, spurious=2, miss=0.4, shard=5, **how)
    found = read_detections(videos.folder / "features" / "noisy" / "detections.json")
    facts, words = videos.load("facts"), videos.vocabulary()
    features = open_features(videos.folder, "noisy")
    annotated = len(video_boxes(facts, words)[0].table)
    real = len(found.boxes) - 2 * len(facts.frames)
    assert abs(real / annotated - 0.6) < 4 * (0.6 * 0.4 / annotated) ** 0.5
    assert np.diff(found.start).min() == 2
    told = json.loads((videos.folder / "features" / "noisy" / "detections.json").read_text())
    classes, alone = codes([f"object {word.id}" for word in words.objects], 26), 0
    for video, (id, width, height) in enumerate(facts.videos.select("id", "width", "height").rows()):
        numbers = facts.frames.filter(pl.col("video") == video)["number"].to_list()
        views = [told[f"{id}/{number:06}"]["bboxes"] for number in numbers]
        first = np.append(0, np.cumsum([len(view) for view in views]))
        sampled = sorted({int((step + 0.5) * len(numbers) / 3) for step in range(3)})
        every = taken(features, id, "objects")
        assert len(every) == sum(len(views[frame]) for frame in sampled)
        for frame in sampled:
            kept = [*range(first[frame], first[frame + 1])]
            values, there = features.take([id], ["objects"], [kept])["objects"]
            shares = np.array(views[frame]) / [width, height, width, height]
            np.testing.assert_allclose(values[0][there[0]][:, -6:-2], shares, atol=1e-5)
            for made_up in values[0][there[0]][-2:, :-6]:
                alone += np.isclose(classes, made_up, atol=1e-6).all(axis=1).any()
        assert alone % (2 * len(sampled)) == 0
    assert alone > 50
    make(videos.folder, name="same", jitter=0.2, spurious=2, miss=0.4, shard=3, **how)
    again = videos.folder / "features" / "same" / "detections.json"
    assert again.read_bytes() == (videos.folder / "features" / "noisy" / "detections.json").read_bytes()


def test_what_is_damaged_is_said_in_one_line(rooms: Run, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(rooms.folder / "features" / "facts", tmp_path / "facts"))
    for file in folder.glob("*.safetensors"):
        file.write_bytes(file.read_bytes()[:200])
    with pytest.raises(BadInput, match="not a readable safetensors file"):
        FeatureSet(folder).take(["train0"], ["objects"])
    (tmp_path / "x.parquet").write_bytes(b"no table")
    with pytest.raises(BadInput, match="not a readable Parquet file"):
        read_shard(tmp_path / "x.parquet", 1)


def test_nothing_is_made_of_a_run_whose_questions_are_damaged(tmp_path: Path) -> None:
    run = image_run(tmp_path / "run")
    (question_folders(run)[0] / "questions.parquet").write_bytes(b"no table")
    with pytest.raises(BadInput, match=r"covr/questions: not a readable Parquet file"):
        make(run.folder, shard=3)
    assert not [path for path in run.folder.rglob("*") if "features" in str(path.relative_to(run.folder))]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("", "features: expected --from-facts, or --media DIR with --backbone DIR"),
        ("--from-facts --width 8 --miss 2", "--miss: expected a share of at most 1, got 2"),
        ("--from-facts --jitter 0.1", "--jitter: expected it with --detections, got it alone"),
        ("--from-facts --spurious 3", "--spurious: expected it with --detections, got it alone"),
        ("--from-facts --name ../x", "'../x' cannot be the name of features"),
    ],
)
def test_bad_options_are_said_and_nothing_is_written(cleaned_run: Run, given: str, said: str) -> None:
    done = command("features", cleaned_run.folder, *given.split())
    assert done.returncode == 1
    assert said in done.stderr
    assert not (cleaned_run.folder / "features").exists()


def test_the_page_names_commands_that_work(cleaned_run: Run, tmp_path: Path) -> None:
    """Those that need neither pictures nor networks."""
    run = copy(cleaned_run, tmp_path)
    lines = [line for line in commands("docs/experiments.md") if "--from-facts" in line]
    assert len(lines) == 2
    for line in lines:
        done = command(*line.replace("RUN", str(run.folder)).split()[1:])
        assert done.returncode == 0, done.stderr
    assert sorted(path.name for path in (run.folder / "features").iterdir()) == ["facts", "noisy"]
    (python,) = re.findall(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    own = str(run.load("facts").videos["id"][0])
    told = dict[str, Any]()
    with chdir(tmp_path):
        exec(python.replace("038T4", own), told)
    assert told["values"].shape == (1, 8, 128)
    assert told["there"].all()
