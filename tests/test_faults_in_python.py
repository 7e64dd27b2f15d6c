"""Faults name the options of a command in a command, and the arguments of a function from Python."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import questree
from questree.faults import BadInput, in_python
from worlds.commands import questree as command


@pytest.mark.parametrize(
    ("said", "python"),
    [
        ("choose --missing=wrong or --missing=skip", 'choose missing="wrong" or missing="skip"'),
        ("--few-shot: expected at least 0, got -1", "few_shot: expected at least 0, got -1"),
        ("rerun, with --workers 1 or a smaller --shard", "rerun, with workers=1 or a smaller shard"),
        ("expected --hierarchies DIR (AGQA-Decomp) beside it", "expected hierarchies=DIR (AGQA-Decomp) beside it"),
        ("--only-templates: expected --templates FILE with it", "only_templates: expected templates=FILE with it"),
        ("makes another, or use --all", "makes another, or use every=True"),
        ("`questree verify RUN --write` makes one; see --facts", "`questree verify RUN --write` makes one; see facts"),
        ("a--b, - -x and 2020--2021 stay", "a--b, - -x and 2020--2021 stay"),
    ],
)
def test_options_are_said_as_arguments(said: str, python: str) -> None:
    assert in_python(said) == python
    assert str(BadInput.at("", said)) == python
    assert [fault.message for fault in BadInput.at("", said).faults] == [said], "commands print what was said"


def refused(work: Callable[[], Any]) -> str:
    with pytest.raises(questree.BadInput) as raised:
        work()
    return str(raised.value)


def test_a_function_names_its_arguments_where_its_command_names_options(notebook: Path, tmp_path: Path) -> None:
    run, images = notebook / "run", tmp_path / "images"
    shutil.copytree(notebook / "images", images)
    some = tmp_path / "some.jsonl"
    some.write_text('{"id": "07QFE-0", "prediction": "no"}\n')
    pairs: list[tuple[Callable[[], Any], tuple[Any, ...]]] = [
        (lambda: questree.balance(images, tail=0.1), ("balance", images, "--tail", 0.1)),
        (lambda: questree.split(images, few_shot=-1), ("split", images, "--few-shot", -1)),
        (lambda: questree.split(images, curve="a"), ("split", images, "--curve", "a")),
        (lambda: questree.generate(images, questions=0), ("generate", images, "--questions", 0)),
        (lambda: questree.score(some), ("score", "decomp", "--predictions", some)),
        (lambda: questree.open(run).score(some, on="dags"), ("score", "decomp", run, "--predictions", some)),
        (lambda: questree.power(run, half_width=0.0), ("power", run, "--half-width", 0)),
        (lambda: questree.power(run, half_width=2.0), ("power", run, "--half-width", 2)),
        (lambda: questree.answer(run, "oracle", noise=3.0), ("answer", run, "--model", "oracle", "--noise", 3)),
        (lambda: questree.report(run, bots="me"), ("report", run, "--bots", "me")),
        (lambda: questree.open(run, benchmark="x"), ("generate", run, "--benchmark", "x")),
    ]
    for work, words in pairs:
        done, said = command(*words), refused(work)
        assert done.returncode == 1
        lines = [line.removeprefix("error: ") for line in done.stderr.splitlines()]
        assert said.splitlines() == [in_python(line) for line in lines]
        assert "--" in done.stderr and "--" not in said, said
