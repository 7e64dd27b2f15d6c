"""COVR's Table 3 and Figure 6, of a run small enough to count by loops."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from questree.cli.covr import statistics_command as command
from questree.faults import BadInput
from questree.formats.covr_export import export
from questree.tables.run import Run
from worlds.image_run import image_run
from worlds.question_shards import put_in_shards


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return image_run(tmp_path_factory.mktemp("statistics") / "run", balanced=2)


def lines(folder: Path, *names: str) -> list[dict[str, Any]]:
    return [json.loads(line) for name in names for line in (folder / name).read_text().splitlines()]


def inner(program: list[Any]) -> list[Any]:
    """All rows, those of sub-programs too."""
    found = list(program)
    for row in program:
        for argument in row.get("arguments") or []:
            found += inner(argument) if isinstance(argument, list) else []
    return found


def anonymous(program: list[Any], at: int = -1) -> str:
    row = program[at]
    subs = [anonymous(each) for each in row.get("arguments") or [] if isinstance(each, list)]
    return f"{row['operation']}{subs}{[anonymous(program, on) for on in row.get('dependencies') or []]}"


def counted(records: list[dict[str, Any]]) -> dict[str, Any]:
    """By loops, from the released form of the questions."""
    answers: dict[str, set[Any]] = {}
    for record in records:
        answers.setdefault(record["question"], set()).add(str(record["answer"]))
    kind = Counter(
        "true"
        if isinstance(record["answer"], bool)
        else "many"
        if isinstance(record["answer"], int)
        else "or"
        if record["pattern_name"].startswith("choose")
        else "open"
        for record in records
    )
    return {
        "questions": len(records),
        "unique questions": len(answers),
        "questions whose text has two answers": sum(len(answers[record["question"]]) > 1 for record in records),
        "unique answers": len({str(record["answer"]) for record in records}),
        "unique images": len({scene for record in records for scene in record["scenes"]}),
        "unique anonymised programs": len({anonymous(record["program"]) for record in records}),
        "True/False questions": kind["true"],
        '"X or Y" questions': kind["or"],
        '"how many" questions': kind["many"],
        "open questions": kind["open"],
        "words per question": round(sum(len(record["question"].split()) for record in records) / len(records), 1),
        "images per question": round(sum(len(record["scenes"]) for record in records) / len(records), 1),
    }


@pytest.mark.parametrize("every", [False, True])
@pytest.mark.parametrize("chunk", [3, 1 << 16])
def test_the_table_is_what_loops_count(run: Run, tmp_path: Path, every: bool, chunk: int) -> None:
    export(run, tmp_path / "out", every)
    put_in_shards(run, chunk)
    command(run.folder, every=every, json=tmp_path / "s.json", quiet=True)
    found = json.loads((tmp_path / "s.json").read_text())
    files = {"train": ["train.jsonl"], "dev": ["val.jsonl"], "test": ["test.jsonl"]}
    files["dev + test"] = ["val.jsonl", "test.jsonl"]
    for part, names in files.items():
        own = {row["measurement"]: row[part] for row in found["table 3"]}
        assert own == counted(lines(tmp_path / "out", *names))
    for op in ("find", "filter", "with_relation"):
        programs = [inner(record["program"]) for record in lines(tmp_path / "out", "train.jsonl")]
        wanted = Counter(sum(row["operation"] == op for row in rows) for rows in programs)
        assert {row["occurrences"]: row[op] for row in found["figure 6"] if row[op]} == wanted
    train = lines(tmp_path / "out", "train.jsonl")
    answers = Counter(str(record["answer"]) for record in train if not isinstance(record["answer"], bool))
    assert found["figure 4"] == answers and len(answers) < 30
    images = Counter(str(len(record["scenes"])) for record in train)
    assert found["figure 5"] == images
    names = [str(tmp_path / "out" / name) for name in ("train.jsonl", "val.jsonl", "test.jsonl")]
    command(questions=[Path(name) for name in names], json=tmp_path / "f.json", quiet=True)
    assert json.loads((tmp_path / "f.json").read_text()) == found  # the same from the files


def test_an_empty_file_has_no_lines(tmp_path: Path) -> None:
    (tmp_path / "train.jsonl").write_text("")
    command(questions=[tmp_path / "train.jsonl"], json=tmp_path / "s.json", quiet=True)
    assert json.loads((tmp_path / "s.json").read_text()) == {
        "table 3": [],
        "figure 4": {},
        "figure 5": {},
        "figure 6": [],
    }


def test_paraphrases_are_counted_where_there_are_some(run: Run, tmp_path: Path) -> None:
    export(run, tmp_path)
    records = lines(tmp_path, "test.jsonl")
    records[0]["paraphrase"], records[1]["paraphrase"] = "How many cups?", "Is one red"
    (tmp_path / "test.jsonl").write_text("\n".join(map(json.dumps, records)))
    command(questions=[tmp_path / "val.jsonl", tmp_path / "test.jsonl"], json=tmp_path / "s.json", quiet=True)
    table = {row["measurement"]: row for row in json.loads((tmp_path / "s.json").read_text())["table 3"]}
    said = {name: table["words per paraphrase"][name] for name in ("dev", "test", "dev + test")}
    assert said == {"dev": None, "test": 3.0, "dev + test": 3.0}


def test_a_run_or_files_are_wanted(run: Run, tmp_path: Path) -> None:
    for wrong in ((), (run.folder, tmp_path)):
        with pytest.raises(BadInput, match="expected either a run folder or --questions"):
            command(*wrong[:1], questions=list(wrong[1:]) or None)
