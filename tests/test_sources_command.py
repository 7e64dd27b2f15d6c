"""`questree ingest` writes a whole run folder or nothing, and says what it found."""

import pickle
import re
import shutil
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest

from questree.__main__ import main
from questree.cli.terminal import output, write_json
from questree.faults import BadInput
from questree.tables.facts import FactPieces
from questree.tables.run import Run
from questree.vocabulary.load import default_text
from worlds.raw_files import mark, write_action_genome
from worlds.small import relations

HERE = Path(__file__).parent
FIXTURES, PAGE = HERE / "fixtures", HERE.parent / "docs" / "ingest.md"
FRAME, LATER = "AAAAA.mp4/000030.png", "AAAAA.mp4/000060.png"
VIDEOS = {"AAAAA": ("c107 0.00 99.00", 5.0)}


pytestmark = pytest.mark.filterwarnings("ignore:Cyclopts application invoked without tokens")


class Ingest:
    """Runs `questree ingest` and keeps what it says."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
        self.monkeypatch, self.capsys = monkeypatch, capsys
        self.out = self.err = ""

    def __call__(self, *words: object) -> int:
        self.monkeypatch.setattr(sys, "argv", ["questree", "ingest", *map(str, words)])
        with pytest.raises(SystemExit) as stopped:
            main()
        self.out, self.err = self.capsys.readouterr()
        assert isinstance(stopped.value.code, int)
        return stopped.value.code


@pytest.fixture
def ingest(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Ingest:
    return Ingest(monkeypatch, capsys)


def raw_folder(place: Path, **relations: Any) -> Path:
    objects = {FRAME: [mark("cup", **relations)], LATER: [mark("cup")]}
    return write_action_genome(place, objects, train=VIDEOS, test={"BBBBB": ("", 9.0)})


def test_a_run_folder_is_written_and_what_is_in_it_printed(tmp_path: Path, ingest: Ingest) -> None:
    raw = raw_folder(tmp_path / "raw", contacting=["holding"])
    assert ingest("action-genome", raw, "--out", tmp_path / "run", "--fps", 30, "--json", tmp_path / "result.json") == 0
    run = Run(tmp_path / "run")
    assert sorted(path.name for path in run.folder.iterdir()) == ["lock.json", "raw", "vocabulary.toml"]
    assert run.vocabulary_file.read_text("utf-8") == default_text()
    assert relations(run.load("raw")) == {"holding cup": [0]}
    lines = [line.split() for line in ingest.out.splitlines()]
    assert ["split", "videos", "frames", "objects", "persons", "relations", "actions"] in lines
    assert ["train", "1", "2", "2", "2", "1", "1"] in lines
    assert ["1", "action", "that", "ends", "after", "its", "video,", "kept"] in lines
    counts = {"videos": 1, "frames": 2, "objects": 2, "persons": 2, "relations": 1, "actions": 1}
    assert msgspec.json.decode((tmp_path / "result.json").read_bytes()) == {
        "run": str(tmp_path / "run"),
        "splits": [{"split": "train", **counts}, {"split": "all", **counts}],
        "skipped": {"action that ends after its video, kept": 1, "Charades video without frames, left out": 1},
    }


def test_quiet_prints_nothing(tmp_path: Path, ingest: Ingest) -> None:
    assert ingest("json", FIXTURES / "own_videos.json", "--out", tmp_path / "run", "--quiet") == 0
    assert (ingest.out, ingest.err) == ("", "")


def foreign(words: list[str]) -> bytes:
    """A file with actions of these classes."""
    actions = [{"class": word, "start": 0, "end": 1} for word in words]
    return msgspec.json.encode({"videos": [{"id": "a", "frames": [], "actions": actions}]})


def test_all_faults_are_printed_for_programs(tmp_path: Path, ingest: Ingest) -> None:
    words = ["c000", "c001", "c002", "c003", "c004", "x0", "x1", "x2", "x3", "x4"]
    mine = tmp_path / "mine.json"
    mine.write_bytes(foreign([*words, *words]))
    assert ingest("json", mine, "--out", tmp_path / "run", "--json", tmp_path / "found.json") == 1
    assert not (tmp_path / "found.json").exists()
    assert ingest("json", mine, "--out", tmp_path / "run", "--json", "-") == 1
    found = msgspec.json.decode(ingest.out.encode())["faults"]
    wrong = [f"{mine}, video a, action {at + 1} ({word})" for at, word in enumerate(words * 2) if word[0] == "x"]
    assert [fault["place"] for fault in found] == wrong
    assert [line.partition(" (")[0] for line in ingest.err.splitlines()] == [
        *(f"error: {mine}, video a, action {at}" for at in (6, 7, 8)),
        "error: ... and 7 more: unknown action ...",
    ]


def test_a_result_that_is_written_is_not_replaced_by_faults(tmp_path: Path) -> None:
    @output
    def command() -> None:
        write_json({"notes": [1]})
        raise BadInput.at("here", "no")

    with pytest.raises(BadInput):
        command(json=tmp_path / "found.json")
    assert msgspec.json.decode((tmp_path / "found.json").read_bytes()) == {"notes": [1]}


def test_the_words_of_another_vocabulary_are_one_line(tmp_path: Path, ingest: Ingest) -> None:
    mine = tmp_path / "mine.json"
    mine.write_bytes(foreign(["whisking", "peeling an egg", "stirring", "boiling", "c000"] * 9))
    assert ingest("json", mine, "--out", tmp_path / "run") == 1
    assert ingest.err == (
        f"error: {mine}: expected words of the vocabulary 'agqa', got 'whisking', 'peeling an egg', 'stirring' and 1 "
        f"more; give --vocabulary FILE, or draft one with `questree vocabulary draft {mine} --out vocabulary.toml`\n"
    )
    assert not (tmp_path / "run").exists()


def test_the_truth_of_a_made_up_world_lies_beside_it(tmp_path: Path, ingest: Ingest) -> None:
    raw = raw_folder(tmp_path / "raw")
    raw_folder(raw / "truth", contacting=["holding"])
    (raw / "frame_rates.csv").write_text("video,fps\nAAAAA,30\n")
    assert ingest("action-genome", raw, "--out", tmp_path / "run") == 0
    run = Run(tmp_path / "run")
    assert relations(run.load("raw")) == {}
    assert relations(run.load("truth")) == {"holding cup": [0]}
    assert "truth" in ingest.out


def test_a_truth_about_other_frames_is_refused(tmp_path: Path, ingest: Ingest) -> None:
    raw = raw_folder(tmp_path / "raw")
    write_action_genome(raw / "truth", {FRAME: []}, train=VIDEOS)
    assert ingest("action-genome", raw, "--out", tmp_path / "run", "--fps", 30) == 1
    assert (
        ingest.err == f"error: {raw / 'truth'}: its frames are not those of {raw}; the truth is about the same ones\n"
    )
    assert not (tmp_path / "run").exists()


def test_every_fault_is_a_line_and_nothing_is_written(tmp_path: Path, ingest: Ingest) -> None:
    bad = {"videos": [{"id": "a", "frames": [], "split": "dev"}, {"length": 5}]}
    (tmp_path / "bad.json").write_bytes(msgspec.json.encode(bad))
    assert ingest("json", tmp_path / "bad.json", "--out", tmp_path / "run") == 1
    assert ingest.out == ""
    assert ingest.err.splitlines() == [
        f"error: {tmp_path / 'bad.json'}, video 2 of the list: id is missing",
        f"error: {tmp_path / 'bad.json'}, video a: unknown split 'dev'; known: train, test, or none",
    ]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bad.json"]


def test_a_source_without_a_video_is_refused(tmp_path: Path, ingest: Ingest) -> None:
    mine = tmp_path / "mine.json"
    mine.write_text('{"videos": []}')
    assert ingest("json", mine, "--out", tmp_path / "run") == 1
    assert ingest.err == f"error: {mine}: no video found in these files\n"
    raw = write_action_genome(tmp_path / "raw", {}, train={"AAAAA": ("", 5.0)}, test={})
    assert ingest("action-genome", raw, "--out", tmp_path / "run", "--fps", 30) == 1
    why = "Charades video without frames, left out: 1"
    assert ingest.err == f"error: {raw}: no video found in these files; {why}\n"
    assert not (tmp_path / "run").exists()


def test_a_hostile_pickle_gives_one_line_and_runs_nothing(tmp_path: Path, ingest: Ingest) -> None:
    class Hostile:
        def __reduce__(self) -> Any:
            return (Path.touch, (tmp_path / "mark",))

    raw = raw_folder(tmp_path / "raw")
    (raw / "person_bbox.pkl").write_bytes(pickle.dumps({FRAME: Hostile()}))
    assert ingest("action-genome", raw, "--out", tmp_path / "run", "--fps", 30) == 1
    assert len(ingest.err.splitlines()) == 1
    assert "person_bbox.pkl: refused: it holds " in ingest.err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["raw"]


def test_an_earlier_run_is_replaced_and_what_was_made_of_it_goes(tmp_path: Path, ingest: Ingest) -> None:
    run = Run(tmp_path / "run")
    raw = raw_folder(tmp_path / "raw")
    raw_folder(raw / "truth")
    assert ingest("action-genome", raw, "--out", run.folder, "--fps", 30) == 0
    shutil.copytree(run.raw, run.facts)
    run.images.mkdir()
    run.ledger.write_text("{}")
    assert ingest("json", FIXTURES / "own_videos.json", "--out", run.folder) == 0
    assert sorted(path.name for path in run.folder.iterdir()) == ["images", "lock.json", "raw", "vocabulary.toml"]
    assert run.load("raw").videos["id"].to_list() == ["kitchen-1"]


def test_an_earlier_run_stays_when_writing_fails(
    tmp_path: Path, ingest: Ingest, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = tmp_path / "run"
    assert ingest("action-genome", raw_folder(tmp_path / "raw"), "--out", run, "--fps", 30) == 0
    before = {path.name: path.read_bytes() for path in (run / "raw").iterdir()}

    def full(facts: FactPieces, folder: Path) -> None:
        (folder / "videos.parquet").write_bytes(b"half")
        raise KeyboardInterrupt

    monkeypatch.setattr(FactPieces, "save", full)
    assert ingest("json", FIXTURES / "own_videos.json", "--out", run) == 130
    assert {path.name: path.read_bytes() for path in (run / "raw").iterdir()} == before
    assert sorted(path.name for path in run.iterdir()) == ["lock.json", "raw", "vocabulary.toml"]
    assert ingest("json", FIXTURES / "own_videos.json", "--out", tmp_path / "other") == 130
    assert not (tmp_path / "other").exists()


def test_a_folder_that_is_no_run_is_not_written_into(tmp_path: Path, ingest: Ingest) -> None:
    (tmp_path / "thesis.txt").write_text("dear")
    assert ingest("json", FIXTURES / "own_videos.json", "--out", tmp_path) == 1
    assert ingest.err == f"error: {tmp_path}: not empty and not a run folder; choose a new folder\n"
    assert ingest("json", FIXTURES / "own_videos.json", "--out", tmp_path / "thesis.txt") == 1
    assert "expected a folder, got a file" in ingest.err
    assert (tmp_path / "thesis.txt").read_text() == "dear"


def test_another_vocabulary_is_used_and_copied(tmp_path: Path, ingest: Ingest) -> None:
    words, mine = tmp_path / "mine.toml", tmp_path / "mine.json"
    words.write_text(default_text().replace('name = "vacuum"', 'name = "robot"'), "utf-8")
    frame = {"number": 1, "seconds": 0.5, "objects": [{"class": "robot"}]}
    mine.write_bytes(msgspec.json.encode({"videos": [{"id": "a", "frames": [frame]}]}))
    assert ingest("json", mine, "--out", tmp_path / "run") == 1
    assert "unknown object 'robot'" in ingest.err
    assert ingest("json", mine, "--out", tmp_path / "run", "--vocabulary", words) == 0
    assert (tmp_path / "run" / "vocabulary.toml").read_bytes() == words.read_bytes()
    assert ingest("json", mine, "--out", tmp_path / "b", "--vocabulary", tmp_path / "no.toml") == 1
    assert "no.toml: cannot be read" in ingest.err


def test_the_other_sources_have_their_commands(tmp_path: Path, ingest: Ingest) -> None:
    assert ingest("star", FIXTURES / "STAR_train.json", "--out", tmp_path / "star", "--fps", 10) == 0
    assert Run(tmp_path / "star").load("raw").videos["id"].to_list() == ["AAAAA"]
    graphs = tmp_path / "graphs"
    graphs.mkdir()
    deed = {"charades": "c079", "start": 2.0, "end": 4.0, "all_f": ["000105"]}
    graph = {"000105": {"secs": 3.5}, "c079/1": deed}
    (graphs / "AGQA_test_stsgs.pkl").write_bytes(pickle.dumps({"AAAAA": graph}))
    assert ingest("agqa", graphs, "--out", tmp_path / "agqa") == 0
    assert Run(tmp_path / "agqa").load("raw").frames["number"].to_list() == [105]


def test_image_facts_go_into_the_same_run(tmp_path: Path, ingest: Ingest) -> None:
    scenes = {"1": {"width": 9, "height": 9, "objects": {"7": {"name": "cup", "x": 1, "y": 1, "w": 2, "h": 2}}}}
    (tmp_path / "train_sceneGraphs.json").write_bytes(msgspec.json.encode(scenes))
    assert ingest("json", FIXTURES / "own_videos.json", "--out", tmp_path / "run") == 0
    assert (
        ingest("gqa", tmp_path / "train_sceneGraphs.json", "--out", tmp_path / "run", "--json", tmp_path / "n.json")
        == 0
    )
    assert (tmp_path / "run" / "images").is_dir()
    assert msgspec.json.decode((tmp_path / "n.json").read_bytes())["things"] == 1


def test_the_same_input_gives_the_same_bytes(tmp_path: Path, ingest: Ingest) -> None:
    raw = raw_folder(tmp_path / "raw", contacting=["holding", "touching"])
    for name in ("one", "two"):
        assert ingest("action-genome", raw, "--out", tmp_path / name, "--fps", 30) == 0
    files = sorted((tmp_path / "one").rglob("*.*"))
    assert len(files) == 9
    assert all(
        path.read_bytes() == (tmp_path / "two" / path.relative_to(tmp_path / "one")).read_bytes() for path in files
    )


@pytest.mark.skipif(not PAGE.is_file(), reason="the documentation is not part of an installed package")
def test_the_example_of_the_documentation_is_the_fixture_and_its_fault_lines_are_real(
    tmp_path: Path, ingest: Ingest
) -> None:
    page = PAGE.read_text("utf-8")
    example, bad = re.findall(r"```json\n(.*?)```", page, re.DOTALL)
    assert msgspec.json.decode(example) == msgspec.json.decode((FIXTURES / "own_videos.json").read_bytes())
    (tmp_path / "mine.json").write_text(bad)
    assert ingest("json", tmp_path / "mine.json", "--out", tmp_path / "run") == 1
    printed = ingest.err.replace(f"{tmp_path}/", "")
    assert printed.splitlines()
    assert printed in page
