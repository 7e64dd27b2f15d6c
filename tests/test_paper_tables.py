"""docs/paper-tables.md: every item of the papers has a command, and those of a run print its table."""

import re
import shlex
from pathlib import Path

import pytest

from conftest import copy
from questree.cli.answer import answer
from questree.cli.app import app
from questree.stages.decompose.dag_shards import DecomposeOptions, decompose
from questree.tables.run import Run

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
