"""What functions of plugins return is checked: one line with the file and the name, whatever command is at work."""

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from conftest import copy
from questree.domains.video.kinds import FRAMES, WINDOW
from questree.faults import BadInput
from questree.plugins import checked
from questree.rules import Case, Members, NodeColumns, WordNumbers
from questree.tables.run import Run
from questree.terms import BOOL, NOT_THERE, OBJECT, UNDEFINED, UNKNOWN, Kind
from test_plugins import EXAMPLES, films, refused, works

PROGRAM = "never(within(interaction(holding, cup), after(sitting on a sofa)))"


class World(SimpleNamespace):
    """Three questions about frames that fit into two words, with four objects to name."""

    everything = np.full((3, 2), 7, np.uint64)
    vocabulary = SimpleNamespace(objects=["cup", "door", "bed", "sofa"])

    def __len__(self) -> int:
        return 3


def told(kind: Kind, value: Any) -> str:
    """What is said about an operator that returns this; nothing if it is taken as it is."""
    run = checked.operator_value("mine.py: operator n", kind, lambda world: value)
    try:
        assert run(World()) is value
    except BadInput as bad:
        return str(bad).removeprefix("mine.py: operator n: ")
    return ""


def test_columns_of_their_kind_are_taken() -> None:
    assert told(BOOL, np.array([True, False, True])) == ""
    assert told(BOOL, np.array([1, 0, UNKNOWN])) == ""
    assert told(OBJECT, np.array([3, NOT_THERE, UNDEFINED])) == ""
    assert told(FRAMES, np.zeros((3, 2), np.uint64)) == ""
    assert told(WINDOW, np.zeros((3, 2), np.int64)) == ""


@pytest.mark.parametrize(
    ("kind", "value", "said"),
    [
        (BOOL, None, "expected a numpy array of shape (3,) of bool, got None"),
        (BOOL, True, "expected a numpy array of shape (3,) of bool, got bool"),
        (BOOL, [True] * 3, "expected a numpy array of shape (3,) of bool, got list"),
        (BOOL, np.ones(2, bool), "expected a numpy array of shape (3,) of bool, got one of shape (2,) of bool"),
        (BOOL, np.ones(3), "expected a numpy array of shape (3,) of bool, got one of shape (3,) of float64"),
        (BOOL, np.array([0, 1, 2]), "expected values of kind bool, 0 to 1 (no, yes), got 2"),
        (OBJECT, np.array([0, 4, 1]), "expected values of kind object, 0 to 3, got 4"),
        (OBJECT, np.array([0, -5, 1]), "expected values of kind object, 0 to 3, got -5"),
        (OBJECT, np.ones(3, bool), "expected a numpy array of shape (3,) of int, got one of shape (3,) of bool"),
        (FRAMES, np.ones(3, bool), "expected a numpy array of shape (3, 2) of unsigned int, got one of shape (3,) of"),
        (WINDOW, np.zeros((3, 3), np.int64), "expected a numpy array of shape (3, 2) of int, got one of shape (3, 3)"),
    ],
)
def test_what_is_no_column_of_its_kind_is_refused(kind: Kind, value: Any, said: str) -> None:
    assert told(kind, value).startswith(said)


def members() -> Members:
    number = {"yes": 0, "no": 1}
    said, flags = np.array([0, 1, 1, 0]), np.ones(4, bool)
    columns = NodeColumns(WordNumbers(number), said, said, flags, flags, flags, lambda: said)
    return Members(columns, (np.array([0, 1]), np.array([2, 3])))


@pytest.mark.parametrize(
    ("reads", "said"),
    [
        (lambda members: None, "expected a Case, as members.case(..) gives it, got None"),
        (lambda members: members.says(1, "no"), "expected a Case, as members.case(..) gives it, got ndarray"),
        (lambda members: members.case(members.said(1)), "holds: expected a numpy array of shape (2,) of bool, got one"),
        (
            lambda members: members.case(members.says(1, "no")[:1]),
            "holds: expected a numpy array of shape (2,) of bool",
        ),
    ],
)
def test_what_a_rule_reads_is_checked(reads: Callable[[Members], Any], said: str) -> None:
    with pytest.raises(BadInput) as bad:
        checked.rule_case("mine.py: rule Never", reads)(members())
    assert str(bad.value).startswith(f"mine.py: rule Never: {said}")


def test_a_case_of_a_rule_is_taken_as_it_is() -> None:
    found = checked.rule_case("", lambda members: members.case(members.says(1, "no")))(members())
    assert isinstance(found, Case)
    assert found.holds.tolist() == [True, False]


def mistaken(folder: Path, right: str, wrong: str) -> str:
    """The example of a video operator with something else in one place, under the same name."""
    text = (EXAMPLES / "video_operator.py").read_text("utf-8")
    assert right in text
    folder.mkdir()
    (folder / "video_operator.py").write_text(text.replace(right, wrong), "utf-8")
    return f"{folder.name}/video_operator.py"


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ("[asked]", "expected a list of pairs (composition, program), got within(..) in it"),
        ("None", "expected a list of pairs (composition, program), got None"),
        ('[("Never", asked.args[1])]', "expected a program that is a question, got after(..), which gives window"),
        ('[("Never", asked.args[1].args[0])]', "expected a program that is a question, got a word"),
        ('[("Never", never(asked))]', "expected smaller questions, got some that lead back to the question itself"),
        ('[("Never", never(never(asked)))]', "expected smaller questions, got some without end"),
        ('[("Never", ops("images")["nothing"]())]', "expected an operator of video, got nothing(..)"),
    ],
)
def test_sub_questions_are_checked(wrong: str, said: str, tmp_path: Path) -> None:
    plugin = mistaken(tmp_path / "mine", '[("Never", asked)]', wrong)
    text = (tmp_path / plugin).read_text().replace("import Bool", "import ops, Bool")
    (tmp_path / plugin).write_text(text)
    found = refused(tmp_path, "program", "read", PROGRAM, "--plugin", plugin)
    assert found == f"{plugin}: operator never: parts: {said}"


def test_an_error_in_listing_sub_questions_is_no_other_shape(tmp_path: Path) -> None:
    plugin = mistaken(tmp_path / "mine", '[("Never", asked)]', '[("Never", asked.arg)]')
    found = refused(tmp_path, "program", "read", PROGRAM, "--plugin", plugin)
    assert found == f"{plugin}, line 13: AttributeError: 'Node' object has no attribute 'arg'"


def test_every_stage_says_which_plugin_went_wrong(cleaned_run: Run, tmp_path: Path) -> None:
    run = copy(cleaned_run, tmp_path).folder
    made = ("generate", run, "--only-templates", "--rare-below", 3, "--workers", 1, "--quiet", "--plugin")
    for name, wrong in {"counts": "asked.astype(int) * 2", "none": "None"}.items():
        plugin = mistaken(tmp_path / name, "return ~asked", f"return {wrong}")
        assert refused(tmp_path, *made, plugin).startswith(f"{plugin}: operator never: expected ")
    assert not (run / "questions").exists()
    good = mistaken(tmp_path / "good", "never", "never")
    works(tmp_path, *made, good)
    plugin = mistaken(tmp_path / "itself", '[("Never", asked)]', '[("Never", never(asked))]')
    found = refused(tmp_path, "decompose", run, "--workers", 1, "--plugin", plugin)
    assert found.startswith(f"{plugin}: operator never: parts: expected smaller questions")
    works(tmp_path, "decompose", run, "--workers", 1, "--quiet", "--plugin", good)
    plugin = mistaken(tmp_path / "rule", "return members", "return None and members")
    found = refused(tmp_path, "answer", run, "--model", "composition-noise", "--plugin", plugin)
    assert found == f"{plugin}: rule Never: expected a Case, as members.case(..) gives it, got None"
    works(tmp_path, "answer", run, "--model", "oracle", "--quiet", "--plugin", good)
    missing = "made with the plugin video_operator.py, which is not loaded; give it with --plugin video_operator.py"
    for command in (("answer", run, "--model", "oracle"), ("score", run), ("report", run), ("verify", run, "--again")):
        assert refused(tmp_path, *command) == f"{run / 'questions'}: {missing}"


def test_a_rule_of_generation_says_of_every_candidate_whether_it_is_left_out(cleaned_run: Run, tmp_path: Path) -> None:
    text = (EXAMPLES / "generation.py").read_text("utf-8")
    (tmp_path / "mine.py").write_text(text.replace("return np.asarray(", "return bool(", 1).replace("< 3)", "is None)"))
    made = ("--only-templates", "--rare-below", 3, "--workers", 1, "--plugin", "mine.py")
    found = refused(tmp_path, "generate", copy(cleaned_run, tmp_path).folder, *made)
    assert found.startswith("mine.py: rule of generation time is short: expected a numpy array of shape (")
    assert found.endswith("of bool, got bool")


def test_a_run_without_questions_that_are_kept_has_a_report(tmp_path: Path) -> None:
    films(tmp_path / "raw")
    plugin = EXAMPLES / "source.py"
    works(tmp_path, "build", "raw", "--out", "run", "--plugin", plugin, "--workers", 1, "--quiet")
    works(tmp_path, "report", "run", "--resamples", 0, "--bots", "none", "--quiet")
    assert "The sub-questions" in (tmp_path / "report.html").read_text("utf-8")
