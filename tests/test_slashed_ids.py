"""Ids of videos with slashes, dots and signs of addresses go through every command that names files or pages."""

import json
import re
from html import unescape
from pathlib import Path

import polars as pl
import pytest
from starlette.testclient import TestClient

from questree.formats.decomp_files import file_of, video_of
from questree.show.page.app import application
from questree.show.page.filters import address
from questree.show.page.site import Site
from questree.sources.own_json import write
from questree.tables.run import Run
from test_plugins import works

NAMES = ["P01/P01_101", "../up", "a%2Fb", "isolated", "P02/x y?#-1"]


@pytest.fixture(scope="module")
def folder(cleaned_run: Run, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a built run whose videos are called so, the last one of the test part."""
    place = tmp_path_factory.mktemp("slashed")
    write(cleaned_run.load("raw").between(0, len(NAMES)), cleaned_run.vocabulary(), place / "mine.json")
    content = json.loads((place / "mine.json").read_text())
    for name, video in zip(NAMES, content["videos"], strict=True):
        video |= {"id": name, "split": "test" if name == NAMES[-1] else "train"}
    (place / "mine.json").write_text(json.dumps(content))
    works(place, "build", "mine.json", "--out", "run", "--workers", 1, "--quiet")
    works(place, "decompose", "run", "--all", "--workers", 1, "--quiet")
    works(place, "answer", "run", "--model", "oracle", "--out", "said.jsonl", "--quiet")
    return place


@pytest.mark.parametrize("name", [*NAMES, "1FXJT", "100%", "%69solated", "%252F"])
def test_a_name_of_a_file_is_the_id_again(name: str) -> None:
    assert video_of(Path(file_of(name))) == name
    assert "/" not in file_of(name) and file_of(name) != "isolated.json"


def test_plain_ids_are_names_of_files_as_they_are() -> None:
    assert file_of("1FXJT") == "1FXJT.json"


def test_hierarchies_are_written_read_and_scored(folder: Path) -> None:
    works(folder, "export", "decomp", "run", "--out", "out", "--workers", 1, "--quiet")
    assert sorted(path.name for path in (folder / "out" / "unbalanced_train_hierarchies").iterdir()) == [
        "%69solated.json",
        "..%2Fup.json",
        "P01%2FP01_101.json",
        "a%252Fb.json",
        "isolated.json",
    ]
    assert (folder / "out" / "unbalanced_test_hierarchies" / "P02%2Fx y?#-1.json").is_file()
    works(folder, "import", "decomp", "out", "--out", "again", "--quiet")
    works(folder, "export", "decomp", "again", "--out", "second", "--quiet")
    for path in (folder / "out").glob("*_hierarchies/*.json"):
        assert path.read_bytes() == (folder / "second" / path.parent.name / path.name).read_bytes()
    scored = ("score", "decomp", "--hierarchies", "out/unbalanced_train_hierarchies", "--predictions", "said.jsonl")
    works(folder, *scored, "--resamples", 0, "--quiet", "--json", "scores.json")
    rows = json.loads((folder / "scores.json").read_text())
    assert {row["value"] for row in rows if row["metric"] in ("accuracy", "IC")} <= {1, None}


def test_releases_are_written_and_read(folder: Path) -> None:
    works(folder, "export", "agqa", "run", "--out", "agqa", "--unbalanced", "--workers", 1, "--quiet")
    works(folder, "ingest", "agqa", "agqa/AGQA_scene_graphs", "--out", "graphs", "--quiet")
    assert Run(folder / "graphs").load("raw").videos["id"].to_list() == sorted(NAMES)
    works(folder, "import", "agqa", "agqa", "--out", "imported", "--quiet", "--json", "imported.json")
    files = (folder / "imported" / "imported").rglob("*.parquet")
    assert {name for path in files for name in pl.read_parquet(path, columns=["video_id"])["video_id"]} == {*NAMES}
    works(folder, "ground", "run", "--out", "ground", "--all", "--split", "all", "--quiet")
    lines = (folder / "ground" / "questions.jsonl").read_text().splitlines()
    assert {json.loads(line)["id"].rpartition("-")[0] for line in lines} <= {*NAMES}


@pytest.mark.parametrize("name", NAMES)
def test_a_video_and_its_questions_are_shown(name: str, folder: Path) -> None:
    assert name in works(folder, "show", "run", name)
    assert "0. Is the person" in works(folder, "show", "run", f"{name}-0", "--dag", "--svg", "dag.svg")
    assert (folder / "dag.svg").is_file()


def test_the_report_and_the_page_name_them(folder: Path) -> None:
    works(folder, "report", "run", "--resamples", 0, "--bots", "none", "--quiet", "--workers", 1)
    client = TestClient(application(Site.read(Run(folder / "run"))), base_url="http://127.0.0.1")
    for name in (name for name in NAMES if "%" not in name):  # the client decodes twice, which no browser does
        page = client.get(address(f"/questions/{name}-0", {}))
        assert page.status_code == 200
        assert f"{name}-0" in unescape(page.text)
        (frames,) = re.findall(r'data-frames="([^"]*)"', page.text)
        part = client.get(f"{unescape(frames)}0")
        assert part.status_code == 200, frames


def test_dots_in_an_address_are_no_way_up() -> None:
    assert address("/questions/../up-0", {"page": "2"}) == "/questions/..%2Fup-0?page=2"
    assert address("/questions/a/./../b-0", {}) == "/questions/a/.%2F../b-0"
