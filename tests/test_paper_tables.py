"""docs/paper-tables.md: every item of the papers has a command, and those of a run print its table."""

import re
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from conftest import copy
from questree.api import stages
from questree.api.made import Made
from questree.cli.answer import answer
from questree.cli.app import app
from questree.rules import VIDEO_DAGS
from questree.scoring.agqa_questions import texts_of_run
from questree.stages.audit import videos
from questree.stages.audit.guesses import SETS
from questree.stages.decompose.dag_shards import DecomposeOptions, decompose
from questree.stages.decompose.spoken import Texts, say
from questree.tables.nodes import FORMS, read_nodes
from questree.tables.run import Run
from worlds.commands import run as command

PAGE = (Path(__file__).parents[1] / "docs" / "paper-tables.md").read_text("utf-8")
COMMANDS = list(dict.fromkeys(re.findall(r"\| `(questree [^`]+)` \|", PAGE)))
ITEMS = {  # tables and figures of each paper that say something about data or models
    "AGQA": (range(1, 16), range(3, 13)),
    "AGQA-Decomp": (range(1, 13), range(1, 13)),
    "COVR": (range(1, 18), range(2, 11)),
    "FPVG": (range(1, 8), range(1, 7)),
}
ELSEWHERE = ("show", "report", "generate", "decompose", "build", "people", "fpvg")  # run by tests of their own pages
PRINTED = {  # what must be in the output
    "audit RUN": "Questions by reasoning type (Table 10)",
    "audit RUN --templates": "Templates (Table 14)",
    "score agqa RUN": "By steps",
    "score decomp RUN --split test": "IC per rule",
    "score decomp RUN --split test --by-answer": "Accuracy per ground truth",
    "score decomp RUN --split test --errors": "Errors in choices, both options known",
}


@pytest.mark.parametrize("line", COMMANDS)
def test_a_command_can_be_given(line: str) -> None:
    command, bound, _ = app.parse_args(shlex.split(line)[1:], exit_on_error=False, print_error=False)
    assert command.__name__ and bound is not None


@pytest.mark.parametrize("paper", ITEMS)
def test_every_item_is_there(paper: str) -> None:
    part = PAGE.split(f"## {paper}\n")[1].split("\n## ")[0]
    for kind, wanted in zip(("Table", "Figure"), ITEMS[paper], strict=True):
        there = set[int]()
        for said in re.findall(rf"{kind}s? ([\d, to]+\d|\d)", part):
            for one in said.split(","):
                ends = [int(number) for number in one.split(" to ")]
                there.update(range(ends[0], ends[-1] + 1))
        assert set(wanted) <= there, kind


def test_commands_of_a_run_print_their_tables(
    random_run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run = copy(random_run, tmp_path)
    decompose(run, DecomposeOptions(balanced=True, closed=False), workers=1)
    monkeypatch.chdir(tmp_path)
    answer(run.folder, model="uniform", quiet=True)
    lines = [line for line in COMMANDS if "RUN" in line and not set(ELSEWHERE) & set(line.split())]
    assert {line.removeprefix("questree ") for line in lines} >= {*PRINTED}
    for line in lines:
        capsys.readouterr()
        fewer = " --resamples 2" if " score " in line else ""
        app(shlex.split(line.replace("RUN", str(run.folder)) + fewer)[1:], result_action="return_value")
        assert PRINTED.get(line.removeprefix("questree "), "") in capsys.readouterr().out


def tables_of(made: Made) -> dict[str, list[Mapping[str, Any]]]:
    return {each[0]: list(each[1]) for each in made.said if not isinstance(each, str)}


def test_lists_of_videos_have_the_papers_rows_and_columns(random_run: Run, tmp_path: Path) -> None:
    """AGQA's Tables 1 and 14, 1 and 2 of AGQA-Decomp; every example is a question of the run."""
    run = copy(random_run, tmp_path)
    tables = tables_of(stages.audit(run.folder, templates=True, workers=1))
    tables |= tables_of(stages.decompose(run.folder, balanced=False, workers=1))
    (size,) = tables["Size (Table 1)"]
    assert [*size] == [videos.LENGTH, "videos", *SETS, "objects", "relationships", "actions"]
    assert size["videos"] == len(run.load("facts").videos) and size["actions"] == len(run.load("facts").actions)
    rows, names = tables["Templates (Table 14)"], ("reasoning", "structural", "semantic", "steps", "example")
    assert all(tuple(row) == ("template", "before", "after", *names) for row in rows)
    assert sum(row["before"] for row in rows) == size["before"] > sum(row["after"] for row in rows) == size["after"]
    logic = next(row for row in rows if row["template"] == "andObjRelExists")
    assert [logic[name] for name in names[:3]] == ["exists, obj-rel", "logic", "relation"]
    assert {row["example"] for row in rows} <= {*texts_of_run(run)["question"]}
    types, compositions = tables["Types of sub-questions (Table 1)"], tables["Compositions (Table 2)"]
    assert [row["type"] for row in types] == VIDEO_DAGS.groups
    assert {own for row in compositions for own in row["composition"].split(", ")} == {*VIDEO_DAGS.compositions}
    words, read = Texts(run.vocabulary()), [folder for folder in run.decomposed.iterdir() if folder.is_dir()]
    nodes = [say(FORMS.read(each), read_nodes(each), words, columns=["text", "type"]) for each in read]
    asked = dict(pl.concat(nodes).select("text", "type").rows())
    examples = {row["example"]: row["type"] for row in types if row["example"]}
    assert len(examples) > 6
    assert all(VIDEO_DAGS.group_of(asked[text]) == name for text, name in examples.items())
    said = [part.partition(": ")[2] for row in compositions if row["example"] for part in row["example"].split(" | ")]
    assert len(said) > 10 and {*said} <= {*asked}
    whole, *parts = (part.partition(": ")[2] for part in compositions[0]["example"].split(" | "))
    assert asked[whole] == "Interaction" and len(parts) == 3  # the person, the relation, the object


def test_what_is_hidden_grounds_nothing(random_run: Run, tmp_path: Path) -> None:
    run = copy(random_run, tmp_path)
    file = run.folder / "facts" / "objects.parquet"
    objects = pl.read_parquet(file)
    objects.with_columns(visible=pl.int_range(pl.len()) >= 5).write_parquet(file)
    assert videos.size_of(Run(run.folder))["objects"] == len(objects) - 5


def test_lists_of_image_sets_have_the_papers_columns(tmp_path: Path) -> None:
    """COVR's Tables 1 and 2."""
    for line in (
        "synth images --images 60 --seed 1 --out raw",
        "ingest gqa raw --out RUN",
        "generate RUN --questions 60",
    ):
        command(f"questree {line} --quiet", tmp_path)
    rows = tables_of(stages.audit(tmp_path / "RUN", templates=True, workers=1))["Templates (Tables 1 and 2)"]
    assert [*rows[0]] == ["template", "before", "after", "preconditions", "wording", "example"]
    assert len(rows) > 5 and all(row["preconditions"] and row["wording"] and row["example"] for row in rows)
