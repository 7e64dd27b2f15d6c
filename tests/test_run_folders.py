"""A run folder that is not there is told as that, in one line, by every command that takes one."""

import inspect
from collections.abc import Iterator
from pathlib import Path

import pytest
from cyclopts import App

import questree
from questree.cli.app import app
from worlds import commands as here

NOWHERE = "nowhere"
# what commands need besides a run; where the run is not their first word it stands here, too
MORE = {
    "diff": f"{NOWHERE} {NOWHERE}",
    "experiment": f"agqa {NOWHERE}",
    "predictions check": f"said.jsonl --run {NOWHERE}",
    "compare": f"a b --run {NOWHERE}",
    "power": f"{NOWHERE}",
    "ground": f"{NOWHERE} --out out.json",
    "train": f"{NOWHERE} --model lstm",
    "predict": f"{NOWHERE} --model lstm",
    "answer": f"{NOWHERE} --model oracle",
    "serve-bot": f"{NOWHERE} --model oracle",
    "ask": f"{NOWHERE} --endpoint http://localhost:9/v1 --model some --no-media",
    "features": f"{NOWHERE} --from-facts",
    "people remove": f"{NOWHERE} --task some",
    "people import": f"{NOWHERE} said.jsonl",
    "score fpvg": f"{NOWHERE} --all said.jsonl --rel said.jsonl --irrel said.jsonl",
    "score paraphrased": f"{NOWHERE} --questions said.jsonl --original said.jsonl --predictions said.jsonl",
    "covr exclusion": f"{NOWHERE} --out out",
}


def commands(group: App, path: tuple[str, ...] = ()) -> Iterator[tuple[str, list[str]]]:
    """Every command below a group, with the names of its arguments."""
    for name in (each for each in group if not each.startswith("-")):
        own, words = group[name], (*path, name)
        if own.default_command is not None:
            yield " ".join(words), list(inspect.signature(own.default_command).parameters)
        yield from commands(own, words)


OF_RUNS = sorted(name for name, arguments in commands(app) if {"run", "first"} & {*arguments})


def words_of(name: str) -> list[str]:
    usual = f"{NOWHERE} --out out" if name.startswith("export ") else NOWHERE
    return [*name.split(), *MORE.get(name, usual).split()]


def test_all_commands_about_runs_are_tried() -> None:
    assert len(OF_RUNS) > 40 and {*MORE} <= {*OF_RUNS}


@pytest.mark.parametrize("name", OF_RUNS)
def test_a_run_folder_that_is_not_there_is_told_as_that(name: str, tmp_path: Path) -> None:
    (tmp_path / "said.jsonl").write_text('{"id": "V1-0", "prediction": "yes"}\n')
    there = {*tmp_path.iterdir()}
    done = here.questree(*words_of(name), folder=tmp_path)
    line = f"error: {NOWHERE}: expected a run folder, got nothing there; make one with `questree build`\n"
    assert (done.returncode, done.stderr) == (1, line)
    assert {*tmp_path.iterdir()} == there, "nothing is left behind"


def test_a_file_is_no_run_folder(tmp_path: Path) -> None:
    file = tmp_path / "run"
    file.write_text("")
    with pytest.raises(questree.BadInput, match="run: expected a run folder, got a file; make one with"):
        questree.open(file)
