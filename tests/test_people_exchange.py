"""Answers of people go out without names and come back the same, through tables and through Label Studio's JSON."""

import json
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from questree.api import people_export
from questree.people.book import Book, Item
from questree.people.label_studio import studio_config
from questree.people.results import Answered
from questree.people.task import Reply, shipped, shipped_task
from questree.tables.run import Run
from worlds.asked_people import answer_all, asked, copied
from worlds.commands import questree


@pytest.fixture
def book(notebook: Path, tmp_path: Path) -> Book:
    return asked(copied(notebook, "images", tmp_path), "--sample 8 --split all --gold 0")


def says(name: str, item: Item) -> Reply:
    if name == "Zoë" and item.item % 2:
        return Reply("no", 'a, "quoted" cat; or so', ("bad grammar", "several answers"))
    return Reply("yes")


def test_tables_have_every_answer_and_nobodys_name(book: Book, tmp_path: Path) -> None:
    answer_all(book, "verify", ["Zoë", "Ann", "Ben"], says)
    for name in ("answers.csv", "answers.jsonl"):
        people_export.export(book.path.parent, "verify", out=tmp_path / name)
        text = (tmp_path / name).read_text("utf-8")
        assert not any(who in text for who in ("Zoë", "Ann", "Ben"))
        assert not any(one.token in text for one in book.annotators())
    table = pl.read_csv(tmp_path / "answers.csv", infer_schema=False)
    assert table.equals(pl.read_ndjson(tmp_path / "answers.jsonl").cast(pl.String))
    assert len(table) == 24
    assert table["value"].value_counts().sort("value").rows() == [("no", 4), ("yes", 20)]


def test_a_table_that_was_written_can_be_read_elsewhere(book: Book, notebook: Path, tmp_path: Path) -> None:
    answer_all(book, "verify", ["Zoë", "Ann", "Ben"], says)
    out = tmp_path / "answers.csv"
    people_export.export(book.path.parent, "verify", out=out)
    other = asked(copied(notebook, "images", tmp_path / "other"), "--sample 8 --split all --gold 0")
    done = questree("people", "import", other.path.parent, out)
    assert done.stdout == "verify: 24 answers of 3 people, 0 repeated (the last counts)\n"
    names = ["item", "value", "text", "faults"]
    mine, theirs = (Answered.read(each, "verify").every.select(names).sort(names[:2]) for each in (book, other))
    assert mine.equals(theirs)
    assert questree("people", "import", other.path.parent, out).returncode == 0
    assert len(Answered.read(other, "verify").every) == 24  # the same answers again are the same


def test_a_plain_table_of_a_crowd_is_enough_and_all_that_is_wrong_is_told(book: Book, tmp_path: Path) -> None:
    items = book.items("verify")
    path = tmp_path / "crowd.csv"
    path.write_text(f"id,annotator,value\n{items[0].id},W1,yes\n{items[0].id},W2,no\n{items[0].id},W1,no\n")
    done = questree("people", "import", book.path.parent, path)
    assert done.stdout == "verify: 2 answers of 2 people, 1 repeated (the last counts)\n"
    path.write_text(f"id,annotator,value,seconds\nnobody,W1,yes,1\n{items[0].id},W1,perhaps,1\n{items[1].id},,yes,1\n")
    wrong = questree("people", "import", book.path.parent, path).stderr
    assert "line 2: no item 'nobody' in this task" in wrong
    assert "line 3: expected an answer to what was asked, got 'perhaps'; choose from yes, no, cannot tell" in wrong
    assert "line 4: expected an annotator, got none" in wrong
    path.write_text("worker,verdict\n")
    assert "expected columns annotator, value" in questree("people", "import", book.path.parent, path).stderr
    assert len(Answered.read(book, "verify").every) == 2


def test_odd_tables_are_one_line_each_and_nothing_is_taken(book: Book, tmp_path: Path) -> None:
    first, second = book.items("verify")[:2]
    head = "item,id,annotator,value,seconds\n"
    wide = "x" * 200_000
    cases: dict[str, str | bytes] = {
        "got none": "",
        "cannot be read": b"item,annotator,value\n\xff\xfe,W,yes\n",
        "field larger than field limit": f'{head}0,,W1,"{wide}",1\n',
        "expected seconds, got 'nan'": f"{head}0,,W1,yes,nan\n",
        "expected seconds, got '-1'": f"{head}0,,W1,yes,-1\n",
        "expected seconds, got 'soon'": f"{head}0,,W1,yes,soon\n",
        "got item;annotator;value": "item;annotator;value\n0;W1;yes\n",
        "no item '3.0'": f"{head}3.0,,W1,yes,1\n",
        "no item '99'": f"{head}99,,W1,yes,1\n",
        f"expected the id {first.id!r}, got {second.id!r}": f"{head}{first.item},{second.id},W1,yes,1\n",
        "line 3: expected an annotator": f"{head}0,,W1,yes,1\n0,,,yes,1\n",
        "line 2: expected an answer to what was asked, got ''": f"{head}0,,W1\n",
    }
    for message, text in cases.items():
        path = tmp_path / "odd.csv"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        done = questree("people", "import", book.path.parent, path)
        assert done.returncode == 1, message
        assert message in done.stderr, done.stderr[:300]
        assert "Traceback" not in done.stderr
    assert Answered.read(book, "verify").every.is_empty()
    assert [one.kind for one in book.annotators()] == []
    path.write_text(f'{head}0,,W1,no,2\n1,,"W\n2",yes,3\n')  # a name over two lines
    assert questree("people", "import", book.path.parent, path).returncode == 0


def test_lines_that_were_written_can_be_read_elsewhere(book: Book, notebook: Path, tmp_path: Path) -> None:
    answer_all(book, "verify", ["Zoë", "Ann", "Ben"], says)
    out = tmp_path / "answers.jsonl"
    people_export.export(book.path.parent, "verify", out=out)
    other = asked(copied(notebook, "images", tmp_path / "other"), "--sample 8 --split all --gold 0")
    assert questree("people", "import", other.path.parent, out).returncode == 0
    names = ["item", "value", "text", "faults"]
    mine, theirs = (Answered.read(each, "verify").every.select(names).sort(names[:2]) for each in (book, other))
    assert mine.equals(theirs)
    out.write_text('{"item": 1}\n')
    assert "expected columns annotator" in questree("people", "import", other.path.parent, out).stderr
    out.write_text("[1]\n")
    assert "line 1: expected an object" in questree("people", "import", other.path.parent, out).stderr


def test_paraphrases_from_elsewhere_are_checked_like_those_of_the_page(notebook: Path, tmp_path: Path) -> None:
    book = asked(copied(notebook, "images", tmp_path), "--task paraphrase --sample 2 --split all --gold 0")
    (first, second), path = book.items("paraphrase"), tmp_path / "own.jsonl"

    def imported(*rows: tuple[int, str, str, str]) -> str:
        names = ("item", "annotator", "text", "value")
        path.write_text("\n".join(json.dumps(dict(zip(names, row, strict=True))) for row in rows))
        done = questree("people", "import", book.path.parent, path, "--task", "paraphrase")
        return str(done.stdout + done.stderr)

    assert "same words" not in imported((first.item, "W1", f"Now tell me: {first.text}", ""))
    assert "expected an answer to what was asked" in imported((second.item, "W1", second.text, ""))
    confirm = book.items("paraphrase")[-1]
    assert confirm.role == "confirm"
    assert "nobody judges their own paraphrase" in imported((confirm.item, "W1", "", "same"))
    assert "1 answers of 1 people" in imported((confirm.item, "W2", "", "same"))
    assert len(Answered.read(book, "paraphrase").paraphrases()) == 1


def exported(tasks: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """As Label Studio exports what two people said to each task, one of them twice but cancelled."""

    def one(who: Any, value: str, **more: Any) -> dict[str, Any]:
        result = [{"from_name": "value", "to_name": "question", "type": "choices", "value": {"choices": [value]}}]
        if value == "no":
            result += [
                {"from_name": "text", "to_name": "question", "type": "textarea", "value": {"text": ["two"]}},
                {
                    "from_name": "faults",
                    "to_name": "question",
                    "type": "choices",
                    "value": {"choices": ["bad grammar"]},
                },
            ]
        return {"id": 7, "completed_by": who, "lead_time": 4.5, "was_cancelled": False, "result": result} | more

    annotations = [one(1, "yes"), one({"id": 2, "email": "b@x.org"}, "no"), one(1, "no", was_cancelled=True)]
    return [{"id": at, "annotations": annotations, "predictions": [], **task} for at, task in enumerate(tasks)]


def test_label_studio_is_given_tasks_and_its_export_is_read(book: Book, tmp_path: Path) -> None:
    tasks, answers = tmp_path / "tasks.json", tmp_path / "export.json"
    people_export.export(book.path.parent, "verify", label_studio=tasks)
    given = json.loads(tasks.read_text())
    assert [task["data"]["item"] for task in given] == [one.item for one in book.items("verify")]
    assert {name for task in given for name in task["data"]}.isdisjoint({"truth", "role", "there"})
    answers.write_text(json.dumps(exported(given)))
    assert "16 answers of 2 people" in questree("people", "import", book.path.parent, answers).stdout
    found = Answered.read(book, "verify").every
    assert found.group_by("value").len().sort("value").rows() == [("no", 8), ("yes", 8)]
    assert found.filter(value="no").select("text", "faults", "seconds").unique().rows() == [
        ("two", ["bad grammar"], 4.5)
    ]
    odd = exported(given[:1])
    odd[0]["data"] = odd[0]["data"] | {"id": "of-another-run"}
    answers.write_text(json.dumps(odd))
    assert "got 'of-another-run'; is it of another task?" in imported_from(book, answers)
    for text in ('{"data": 1}', '[{"data": {}, "annotations": [3]}]', '[{"annotations": []}]', "[" * 100_000):
        answers.write_text(text)
        assert "expected Label Studio's JSON export" in imported_from(book, answers)
    more: list[dict[str, Any]] = [{"lead_time": "long"}, {"result": {}}, {"lead_time": -1}, {"completed_by": [1]}]
    for wrong in more:
        odd = exported(given[:1])
        odd[0]["annotations"][0] |= wrong
        answers.write_text(json.dumps(odd))
        assert "expected" in imported_from(book, answers)
    assert len(Answered.read(book, "verify").every) == 16


def imported_from(book: Book, path: Path) -> str:
    done = questree("people", "import", book.path.parent, path)
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    return str(done.stderr)


def test_label_studio_shows_films_frames_or_images(book: Book, notebook: Path, tmp_path: Path) -> None:
    def written(run: Path, *more: str | Path) -> tuple[list[dict[str, Any]], str]:
        out = tmp_path / "tasks.json"
        done = questree("people", "export", run, "--label-studio", out, *more)
        assert done.returncode == 0, done.stderr
        return [each["data"] for each in json.loads(out.read_text())], (tmp_path / "tasks.xml").read_text()

    films = tmp_path / "films"
    films.mkdir()
    run = copied(notebook, "run", tmp_path).folder
    items = asked(Run(run), "--sample 3 --gold 0").items("verify")
    facts = Run(run).load("facts")
    for video in {one.scope[0] for one in items}:
        (films / f"{video}.mp4").touch()
        (films / video).mkdir()
        at = facts.videos["id"].to_list().index(video)
        for number in facts.frames.filter(video=at)["number"][:2]:
            (films / video / f"{number:06}.png").touch()
    data, config = written(run, "--media", films)
    assert '<Video name="video" value="$video"/>' in config
    assert [each["video"] for each in data] == [f"/data/local-files/?d=films/{one.scope[0]}.mp4" for one in items]
    for film in films.glob("*.mp4"):
        film.unlink()
    data, config = written(run, "--media", films, "--media-url", "https://x.org/")
    assert 'valueList="$images"' in config
    assert all(len(each["images"]) == 2 for each in data)
    assert data[0]["images"][0].startswith(f"https://x.org/{items[0].scope[0]}/")
    done = questree("people", "export", book.path.parent, "--label-studio", tmp_path / "x.json", "--media", films)
    assert "expected media of every item, got none of" in done.stderr
    assert not (tmp_path / "x.json").exists()
    for one in book.items("verify"):
        for image in one.scope:
            (films / f"{image}.jpg").touch()
    data, _ = written(book.path.parent, "--media", films)
    assert [len(each["images"]) for each in data] == [len(one.scope) for one in book.items("verify")]


@pytest.mark.parametrize("task", ["verify", "choose", "free", "absent", "paraphrase", "compare"])
def test_label_studios_interface_names_what_tasks_have(notebook: Path, tmp_path: Path, task: str) -> None:
    run = copied(notebook, "run", tmp_path)
    models = ""
    if task == "compare":
        for bot in ("oracle", "uniform"):
            assert questree("answer", run.folder, "--model", bot, "--quiet").returncode == 0
        models = "--models oracle,uniform"
    asked(run, f"--task {task} --sample 4 {models}")
    people_export.export(run.folder, task, label_studio=tmp_path / "tasks.json")
    view = ET.fromstring((tmp_path / "tasks.xml").read_text())
    data = [each["data"] for each in json.loads((tmp_path / "tasks.json").read_text())]
    wanted = {part.get("value", "") for part in view.iter() if part.get("value", "").startswith("$")}
    assert wanted
    assert all(name[1:] in record for name in wanted for record in data)
    controls = {part.get("name") for part in view.iter() if part.get("toName")}
    assert controls <= {"value", "text", "faults", "marked"}


def test_label_studios_own_package_accepts_every_interface() -> None:
    sdk = pytest.importorskip("label_studio_sdk.label_interface", reason="label-studio-sdk is not installed")
    for name in shipped():
        for looks in ("", "video", "images"):
            sdk.LabelInterface(studio_config(shipped_task(name), looks)).validate()
