"""`questree program`: what is printed and written, how faults are shown, and the page that documents it."""

import io
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import pytest

from questree.api.notations import Notation, described, parsed, written
from questree.cli.app import main
from questree.cli.program import app
from questree.domains.images import IMAGES
from questree.domains.video import VIDEO
from questree.faults import BadInput
from questree.vocabulary import default

PAGE = (Path(__file__).parent.parent / "docs" / "programs.md").read_text("utf-8")
TEXT = "Exists(blanket, Iterate(Localize(while, holding a pillow), Filter(frame, [objects])))"
ROWS = '[{"operation":"find","arguments":["cat"]},{"operation":"count","dependencies":[0]}]'


def run(*arguments: str) -> None:
    app(list(arguments), result_action="return_value")


def lines_of(*arguments: str, capsys: pytest.CaptureFixture[str]) -> list[str]:
    run(*arguments)
    return [line.rstrip() for line in capsys.readouterr().out.splitlines()]


def fault_of(*arguments: str) -> list[str]:
    with pytest.raises(BadInput) as bad:
        run(*arguments)
    return str(bad.value).splitlines()


def test_a_program_is_shown_with_all_that_follows_from_it(capsys: pytest.CaptureFixture[str]) -> None:
    shown = lines_of("read", TEXT, "--notation", "agqa", "--to", "own", "--to", "decomp", capsys=capsys)
    assert shown[:11] == [
        "within -> frames",
        "  interacting -> frames",
        "    blanket (object)",
        "  while -> window",
        "    holding a pillow (action)",
        "",
        "Is the person interacting with a blanket while holding a pillow?",
        "Does the person interact with a blanket while holding a pillow?",
        "",
        "steps 3; exists; verify; object; binary; type Interaction While",
        "own: within(interacting(blanket), while(holding a pillow))",
    ]
    assert shown[11].startswith("decomp: while(interactionExists(")
    assert [line.split()[0] for line in shown[12:15] if line] == ["sub-questions", "type"]
    assert shown[15].split(None, 1) == ["Interaction", "Is the person interacting with a blanket?"]
    assert " Object Exists    Does a pillow exist?" in shown
    assert len(shown[15:]) == 10


def test_the_result_can_be_kept_as_json_without_a_word(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out.json"
    run("read", "doing(holding)", "--json", str(out), "--quiet")
    assert capsys.readouterr().out == ""
    assert json.loads(out.read_text()) == {
        "program": "doing(holding)",
        "kind": "frames",
        "english": ["Is the person holding something?"],
        "steps": 1,
        "reasoning": ["exists"],
        "structural": "verify",
        "semantic": "relation",
        "answer_type": "binary",
        "type": "Relation Exists",
        "parts": [],
        "notations": {
            "own": "doing(holding)",
            "agqa": "Exists(holding, Iterate(video, Filter(frame, [relations])))",
            "decomp": "relationExists(holding)",
        },
        "notes": [],
    }


def test_standard_input_is_read(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO(ROWS + "\n"))
    shown = lines_of("read", "-", "--notation", "covr", capsys=capsys)
    assert shown == [
        "count -> count", "  find -> things", "    cat (noun)", "", "How many cats are there?", "",
        "steps 2; query; open; type Count", "own: count(find(cat))", f"covr: {ROWS}", "",
        "sub-questions", " type    question", " Exists  Is there a cat?",
    ]  # fmt: skip


def test_standard_input_that_is_no_text_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"ab\xff"), encoding="utf-8"))
    assert fault_of("read", "-") == ["standard input: not UTF-8 text (invalid start byte at byte 2)"]


def test_our_own_notation_finds_its_domain_by_its_operators(capsys: pytest.CaptureFixture[str]) -> None:
    assert lines_of("read", "exists(bag)", capsys=capsys)[0] == "exists -> frames"
    assert lines_of("read", "exists(find(cat))", capsys=capsys)[0] == "exists -> bool"


@pytest.mark.parametrize("spelling", ["cup", "o11", "cup/glass/bottle"])
def test_a_program_keeps_the_names_of_the_vocabulary(spelling: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert "own: exists(cup)" in lines_of("read", f"exists({spelling})", capsys=capsys)
    assert "own: both(exists(cup), doing(holding))" in lines_of(
        "read", f"both(exists({spelling}), doing(r15))", capsys=capsys
    )


def test_a_notation_that_cannot_say_it_is_left_out_unless_it_was_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    assert "agqa: cannot say this" in lines_of("read", "exists(bag)", capsys=capsys)
    assert fault_of("read", "exists(bag)", "--to", "agqa") == ["AGQA has no form for exists(bag)"]
    assert fault_of("read", "exists(bag)", "--to", "covr") == [
        "COVR's rows are about images, this program is about videos"
    ]
    assert fault_of("read", ROWS, "--notation", "covr", "--to", "decomp") == [
        "decomp is about videos, this program is about images"
    ]


def test_notes_are_printed(capsys: pytest.CaptureFixture[str]) -> None:
    text = "after(objExists(bag), interactionExists(objExists(person), relationExists(turning), objExists(light)))"
    shown = lines_of("read", text, "--notation", "decomp", capsys=capsys)
    actions = "'turning on a light', 'turning off a light'"
    assert f"note: (turning, light) may be {actions}: only the facts of a video tell which" in shown


def test_a_template_with_slots_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    shown = lines_of("read", "within(interaction($r, $o), $t)", capsys=capsys)
    assert "Is the person {r:head} {o:a}{r:rest}{t}?" in shown
    assert "note: questions do not have this shape; it is not taken apart into sub-questions" in shown


@pytest.mark.parametrize(
    "text",
    [
        "equals(bag, box)",
        "within(exists(bag), whole())",
        "only($found)",
        "both($a, $b)",
        "same_action(standing up, to_action(holding, bag))",
        "any_link()",
        "interacting(choose(holding, whole(), bag, box))",
    ],
)
def test_a_well_typed_program_of_another_shape_is_still_shown(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert f"own: {text}" in lines_of("read", text, capsys=capsys)


def test_a_fault_is_pointed_at() -> None:
    assert fault_of("read", TEXT.replace("while", "during"), "--notation", "agqa") == [
        "at 33: expected 'before', 'after', 'while' or 'between', got 'during'",
        "  Exists(blanket, Iterate(Localize(during, holding a pillow), Filter(frame, [objects])))",
        "  " + " " * 33 + "^",
    ]


def test_only_the_piece_around_a_fault_is_shown() -> None:
    text = "both(" * 9 + "exists(bagg)" + ",\n exists(bag))" * 9
    fault, piece, caret = fault_of("read", text)
    assert fault == "at 52: no object 'bagg' in the vocabulary; near: bag"
    assert piece == "  " + "both(" * 9 + "exists(bagg)" + ",  exists(bag))" * 3 + ",  exists(.."
    assert caret == "  " + " " * 52 + "^"
    text = text.replace("bagg", "bag").removesuffix("bag))") + "bagg))"
    fault, piece, caret = fault_of("read", text)
    assert fault == "at 186: no object 'bagg' in the vocabulary; near: bag"
    assert piece.startswith("  ..bag)),  exists(bag)),")
    assert piece[len(caret) - 1 :] == "bagg))"


@pytest.mark.parametrize(
    ("text", "notation", "fault"),
    [
        ("interacting(blankett)", "own", "at 12: no object 'blankett' in the vocabulary; near: blanket"),
        ("interactin(bag)", "own", "at 0: no operator 'interactin' for video; choose from "),
        ("whole()", "own", "at 0: expected a question, got whole(..), which gives window"),
        ("exists(fnd(cat))", "own", "at 7: no operator 'fnd' for images; choose from find"),
        ("exists()", "own", "at 0: exists(object: object) takes 1 arguments, got 0"),
        ("exists(cup, box)", "own", "at 0: exists(object: object) takes 1 arguments, got 2"),
        ("exists(interacting(bag))", "own", "at 0: exists: object must be of kind object, got frames"),
        ("exists(find(cat), find(dog))", "own", "at 0: exists(things: things) takes 1 arguments, got 2"),
        ("exists($)", "own", "at 7: expected a slot with a name, like $object, got '$'"),
        ("after(objExists($), objExists(bag))", "decomp", "at 16: expected a slot with a name, like $object"),
        ("", "own", "at 0: expected a word or a call, got the end"),
        ("both(" * 5000, "own", "at 505: calls inside each other more than 100 deep"),
        ("[", "covr", "expected a JSON list of rows: Input data was truncated"),
        ("{}", "covr", "expected a JSON list of rows: Expected `array`, got `object`"),
        ("[3]", "covr", "at 0: expected a row {operation, arguments, dependencies}, got 3"),
    ],
)
def test_faults_of_every_notation_are_one_line(text: str, notation: str, fault: str) -> None:
    assert fault_of("read", text, "--notation", notation)[0].startswith(fault)


def test_a_fault_in_rows_shows_the_row() -> None:
    rows = '[{"operation":"scene"},{"operation":"fnd","arguments":["cat"]}]'
    assert fault_of("read", rows, "--notation", "covr") == [
        "at 1: expected an operation, got 'fnd'; choose from find",
        '  row 1: {"operation":"fnd","arguments":["cat"]}',
    ]


@pytest.mark.filterwarnings("ignore:Cyclopts application invoked without tokens")
def test_the_command_ends_with_status_1_and_no_traceback(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    out = tmp_path / "out.json"
    monkeypatch.setattr(sys, "argv", ["questree", "program", "read", "exists(bagg)", "--json", str(out)])
    with pytest.raises(SystemExit) as end:
        main()
    assert end.value.code == 1
    assert capsys.readouterr().err == (
        "error: at 7: no object 'bagg' in the vocabulary; near: bag\n  exists(bagg)\n         ^\n"
    )
    assert not out.exists()


def test_operators_are_listed_with_their_types_meaning_and_english(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out.json"
    shown = lines_of("operators", "--json", str(out), capsys=capsys)
    assert shown[0] == f"video: {len(VIDEO.ops)} operators"
    assert any(line == f"images: {len(IMAGES.ops)} operators" for line in shown)
    listed = json.loads(out.read_text())
    assert {
        "operator": "before(action: action) -> window",
        "meaning": "Up to and including the first frame of the action's first instance; up to its start.",
        "English": "before {action}",
    } in listed["video"]
    assert [len(listed["video"]), len(listed["images"])] == [len(VIDEO.ops), len(IMAGES.ops)]


def test_the_page_lists_exactly_the_operators_of_videos() -> None:
    table = PAGE.split("## Operators of videos")[1].split("## ")[0]
    listed = re.findall(r"^\| `(.*)` \| (.*) \|$", table, re.MULTILINE)
    assert listed == [(row["operator"], row["meaning"]) for row in map(described, VIDEO.ops.values())]


def documented() -> Iterator[dict[str, Any]]:
    """The examples of the page: one program in several notations each."""
    for block in re.findall(r"```programs\n(.*?)```", PAGE, re.DOTALL):
        yield dict(re.split(r":\s+", line, maxsplit=1) for line in block.splitlines())


@pytest.mark.parametrize("example", list(documented()), ids=lambda example: example["own"])
def test_the_examples_of_the_page_are_one_program_in_every_notation(example: dict[str, Any]) -> None:
    words = default()
    names: tuple[Notation, ...] = get_args(Notation)
    for name in names:
        if name in example:
            node, notes = parsed(example[name], name, words)
            assert notes == []
            made = {other: _as_text(text) for other, text in written(node, None, words).items()}
            assert made == example


def _as_text(written: Any) -> str:
    return written if isinstance(written, str) else json.dumps(written, separators=(",", ":"))


def test_the_fault_on_the_page_is_what_is_printed() -> None:
    message, text, caret = PAGE.split("```\nerror: ")[1].split("```")[0].splitlines()
    assert fault_of("read", text.strip(), "--notation", "agqa") == [message, text, caret]
