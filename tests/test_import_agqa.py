"""AGQA's question files come into a run as they are, go out again byte for byte, and are answered by the oracle."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from questree.cli.answer import answer
from questree.cli.formats import import_agqa as import_command
from questree.faults import BadInput
from questree.formats.agqa_import import files, read
from questree.formats.agqa_run import import_agqa
from questree.formats.json_records import JsonPiece, spans
from questree.notation.agqa import AgqaProgram, AgqaShapes
from questree.tables.run import Run
from questree.vocabulary import default
from worlds import exported_worlds as made

SAMPLE = Path(__file__).parents[2] / "shared" / "data" / "formats" / "agqa2_questions.json"
REFERENCE = (
    "Query(class, OnlyItem(IterateUntil(forward, video, Exists(on the side of, Filter(frame, [relations])), "
    "Filter(frame, [relations, on the side of, objects]))))"
)
WALKING = (
    f"Compare([before, after], Exists(walking, Iterate(Localize(temporal tag, ToAction(taking, {REFERENCE})), "
    "Filter(frame, [relations]))))"
)


def everything(run: Run) -> pl.DataFrame:
    tables = [read(run.imported, file) for name in ("balanced", "unbalanced") for file in files(run.imported, name)]
    return pl.concat([table.cast({"form": pl.String, "words": pl.List(pl.String)}) for table in tables])


def write(folder: Path, records: dict[str, Any], split: str = "test", **spacing: Any) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / f"{split}_balanced.txt").write_text(json.dumps(records, **spacing))
    return folder


def some(release: Path, count: int = 5) -> dict[str, made.Record]:
    return dict(list(made.records(release, "balanced", "test").items())[:count])


def test_export_import_export_gives_the_same_bytes(imported: Run, release: Path, tmp_path: Path) -> None:
    again = made.exported(imported, tmp_path / "again", unbalanced=True)
    assert made.content(again) == made.content(release)


def test_every_program_is_read_into_a_shape_and_its_words(imported: Run, release: Path) -> None:
    table = everything(imported)
    assert table["fault"].null_count() == table["form"].is_not_null().sum() == len(table)
    one = table.filter(program="Exists(bag, Iterate(video, Filter(frame, [objects])))")
    assert one.select("form", "words").unique().rows() == [("interacting($0)", ["bag"])]
    assert table["form"].n_unique() < 500 < table["program"].n_unique()


def test_the_oracle_agrees_with_every_exported_answer(imported: Run, tmp_path: Path) -> None:
    answer(imported.folder, model="oracle", json=tmp_path / "found.json", quiet=True)
    found = json.loads((tmp_path / "found.json").read_text())
    count = len(everything(imported))
    assert found["outcomes"] == {"agrees": count}
    assert found["disagreements"] == []
    assert sum(shape["asked"] for shape in found["shapes"].values()) == count


def test_the_oracle_lists_what_it_answers_otherwise(
    release: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    records = {
        id: record
        for id, record in made.records(release, "unbalanced", "test").items()
        if record["program"].startswith("Exists(") and record["ans_type"] == "binary"
    }
    ids = list(records)[:4]
    few = {id: records[id] for id in ids}
    few[ids[0]]["answer"] = "yes" if few[ids[0]]["answer"] == "no" else "no"
    few[ids[1]]["program"] = "Query(class, OnlyItem(Iterate(video, Filter(frame, [relations, twisting, objects]))))"
    few[ids[2]]["video_id"] = "NOWHERE"
    few[ids[3]]["program"] = "Exists(spaceship, Iterate(video, Filter(frame, [objects])))"
    import_command(write(tmp_path / "files", few), out=tmp_path / "run", facts=release)
    printed = capsys.readouterr().out
    assert "program: no object 'spaceship' in the vocabulary" in printed
    answer(tmp_path / "run", model="oracle", json=tmp_path / "found.json")
    found = json.loads((tmp_path / "found.json").read_text())
    assert found["outcomes"] == {"not read": 1, "different": 1, "undefined": 1, "no facts": 1}
    assert found["not read"] == {"program: no object 'spaceship' in the vocabulary": 1}
    odd = {each["id"]: each for each in found["disagreements"]}
    assert odd[ids[0]]["stored"] != odd[ids[0]]["computed"]
    assert odd[ids[1]]["computed"] is None
    assert odd[ids[1]]["why"] == "only(objects(twisting, whole())) has no single value"
    assert odd[ids[2]]["why"] == "the facts do not have its video"
    assert f"{ids[0]}: {few[ids[0]]['question']} stored" in capsys.readouterr().out


def test_facts_may_be_given_when_answering(release: Path, random_run: Run, tmp_path: Path) -> None:
    import_agqa(write(tmp_path / "files", some(release)), tmp_path / "run")
    with pytest.raises(BadInput, match="no facts to answer on"):
        answer(tmp_path / "run", model="oracle", quiet=True)
    answer(tmp_path / "run", model="oracle", facts=random_run.folder, json=tmp_path / "found.json", quiet=True)
    assert json.loads((tmp_path / "found.json").read_text())["outcomes"] == {"agrees": 5}


def test_odd_records_are_listed_and_kept_as_they_are(release: Path, tmp_path: Path) -> None:
    few = some(release, 6)
    ids = list(few)
    del few[ids[0]]["program"]
    few[ids[1]]["mood"] = "cheerful"
    few[ids[2]]["program"] = "Exists(bag, Iterate(video))"
    few[ids[3]]["sg_grounding"] = {"-1-4": []}
    few[ids[4]]["sg_grounding"] = {"0-999": []}
    few[ids[5]]["steps"] = "three"
    told = import_agqa(write(tmp_path / "files", few), tmp_path / "run")
    wanted = [
        "record: Object missing required field `program`",
        "record: Object contains unknown field `mood`",
        "program: at 12: expected Iterate(video, Filter(frame, [objects])), ",
        "grounding: a span that is not begin-end (a negative offset?)",
        "grounding: a span outside the question",
        "record: Expected `int`, got `str` - at `$.steps`",
    ]
    assert list(told.faults.values()) == [1] * 6
    for fault, beginning, id in zip(told.faults, wanted, ids, strict=True):
        assert fault.startswith(beginning)
        assert told.examples[fault] == [id]
    assert told.kept_as_is == 3
    out = made.exported(Run(tmp_path / "run"), tmp_path / "again", csv=False, graphs=False)
    assert made.records(out, "balanced", "test") == few


def test_records_written_in_another_way_are_kept_to_the_byte(release: Path, tmp_path: Path) -> None:
    few = {id: dict(reversed(record.items())) for id, record in some(release).items()}
    next(iter(few.values()))["question"] = "Was the café's bag held?"
    source = write(tmp_path / "files", few, ensure_ascii=False)
    assert import_agqa(source, tmp_path / "run").kept_as_is == 5
    out = made.exported(Run(tmp_path / "run"), tmp_path / "again", csv=False, graphs=False)
    assert (out / "AGQA_balanced" / "test_balanced.txt").read_bytes() == (source / "test_balanced.txt").read_bytes()


def test_files_without_questions_go_in_and_out(tmp_path: Path) -> None:
    source = write(write(tmp_path / "files", {}), {}, "train")
    assert import_agqa(source, tmp_path / "run").questions == {"train_balanced.txt": 0, "test_balanced.txt": 0}
    out = made.exported(Run(tmp_path / "run"), tmp_path / "again")
    assert (out / "AGQA_balanced" / "test_balanced.txt").read_text() == "{}"


@pytest.mark.skipif(not SAMPLE.is_file(), reason="the released sample is not beside the repository")
def test_released_records_are_read(tmp_path: Path) -> None:
    records = json.loads(SAMPLE.read_text())
    source = write(tmp_path / "files", records)
    told = import_agqa(source, tmp_path / "run")
    assert not told.faults
    table = everything(Run(tmp_path / "run"))
    assert table.filter(id="LSKA2-2205").select("form", "words").row(0) == (
        "relation_order($0, to_action($1, first($2, whole())))",
        ["walking", "taking", "on the side of"],
    )
    out = made.exported(Run(tmp_path / "run"), tmp_path / "again", csv=False)
    assert (out / "AGQA_balanced" / "test_balanced.txt").read_bytes() == (source / "test_balanced.txt").read_bytes()


def test_an_id_that_is_there_twice_is_refused(release: Path, tmp_path: Path) -> None:
    (id, record), other = next(iter(some(release).items())), json.dumps(some(release, 3))
    again = f'{{"{id}": {json.dumps(record)}, ' + other[1:]
    (tmp_path / "test_balanced.txt").write_text(again)
    with pytest.raises(BadInput) as refused:
        import_agqa(tmp_path, tmp_path / "run")
    assert str(refused.value) == f"{tmp_path / 'test_balanced.txt'}: id {id!r} is there twice"
    assert not (tmp_path / "run").exists()


def test_an_id_twice_in_a_long_file_is_found_too(
    release: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("questree.formats.agqa_import.spans", lambda path: spans(path, 2000))
    monkeypatch.setattr("questree.formats.agqa_import.ROWS", 2)
    first = next(iter(some(release).items()))
    text = json.dumps(some(release, 9))[:-1] + f', "{first[0]}": {json.dumps(first[1])}}}'
    (tmp_path / "test_balanced.txt").write_text(text)
    with pytest.raises(BadInput, match=f"id '{first[0]}' is there twice"):
        import_agqa(tmp_path, tmp_path / "run")
    assert not (tmp_path / "run").exists()


def pieces(path: Path, block: int) -> Iterator[JsonPiece]:
    return (span.piece(path) for span in spans(path, block))


@pytest.mark.parametrize("block", [1, 7, 40, 1000])
@pytest.mark.parametrize("between", [", ", ",", " ,\n ", "", " ", ",,", ", ,"])
@pytest.mark.parametrize("end", ["", " ", ",", ', "last": 3', ', "last": 3,'])
@pytest.mark.parametrize("after", ["", "\n", ",", "}", " 3"])
def test_pieces_of_a_file_are_read_if_and_only_if_all_of_it_is(
    tmp_path: Path, block: int, between: str, end: str, after: str
) -> None:
    members = [f'"V-{at}": {{"question": "a, {at}}}"}}' for at in range(9)]
    path, text = tmp_path / "test.txt", f"{{{between.join(members)}{end}}}{after}"
    path.write_text(text)
    try:
        wanted = json.loads(text)
    except ValueError:
        with pytest.raises((BadInput, ValueError)):
            [json.loads(piece.text) for piece in pieces(path, block)]
    else:
        found = [json.loads(piece.text) for piece in pieces(path, block)]
        assert [pair for own in found for pair in own.items()] == list(wanted.items())


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("[1, 2]", "expected a JSON object of questions, got b'[1, 2]'"),
        ('{"a-1": {"question": "Wh', "cut short: the JSON object it holds does not end"),
        ("", "cut short: the JSON object it holds does not end"),
        ('{"a-1": {"question" "What?"}}', "not JSON: JSON is malformed"),
        ('{"a-1": {}, }', "not JSON: expected no comma before b'', got 1"),
    ],
)
def test_a_file_that_is_no_object_of_questions_is_refused(text: str, fault: str, tmp_path: Path) -> None:
    (tmp_path / "train_balanced.txt").write_text(text)
    with pytest.raises(BadInput) as refused:
        import_agqa(tmp_path, tmp_path / "run")
    assert fault in str(refused.value)
    assert len(refused.value.faults) == 1
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("block", [1, 2, 3, 7, 50, 10_000])
def test_a_long_object_is_cut_between_its_members(block: int, tmp_path: Path) -> None:
    value = {
        "a": {"x": '}]\\"'},
        'b"{': {"y": [{}, "\\"]},
        "c": {},
        "d": [[1], {"e": "[{"}],
        "f\\": {"z": 'say "}, {"'},
    }
    path = tmp_path / "long.json"
    path.write_text(" " + json.dumps(value, indent=1) + "\n")
    found: dict[str, Any] = {}
    count = 0
    for piece in pieces(path, block):
        found |= json.loads(piece.text)
        count += piece.members
    assert (found, count) == (value, len(value))


def test_values_that_are_no_objects_are_not_lost(tmp_path: Path) -> None:
    path = tmp_path / "long.json"
    path.write_text('{"a": 1, "b": {}, "c": null}')
    assert [json.loads(piece.text) for piece in pieces(path, 3)] == [{"a": 1, "b": {}}, {"c": None}]


def test_a_word_that_is_said_twice_is_one_slot() -> None:
    shapes = AgqaShapes(default())
    assert shapes.program(WALKING) == AgqaProgram(
        "relation_order($0, to_action($1, first($2, whole())))", ["walking", "taking", "on the side of"], None
    )
    held = "Iterate(video, Filter(frame, [relation, holding, objects]))"
    twice = f"AND(Exists(bag, {held}), Exists(box, {held}))"
    assert shapes.program(twice).form == "both(interaction($0, $1), interaction($0, $2))"
    assert shapes.program(twice).words == ["holding", "bag", "box"]


def test_spaces_do_not_make_another_shape() -> None:
    shapes = AgqaShapes(default())
    plain = shapes.program("Exists(bag, Iterate(Localize(while, holding a bag), Filter(frame, [objects])))")
    assert plain == shapes.program("Exists( bag ,Iterate(Localize(while,holding a bag),Filter(frame,[ objects])))")
    assert plain == AgqaProgram("within(interacting($0), while($1))", ["bag", "holding a bag"], None)


def test_where_questions_or_facts_are_missing_it_says_what_was_wanted(release: Path, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"no question files: expected AGQA_balanced/train_balanced.txt"):
        import_agqa(tmp_path, tmp_path / "run")
    source = write(tmp_path / "files", some(release))
    with pytest.raises(BadInput, match=r"neither a run folder nor a folder with AGQA_train_stsgs.pkl"):
        import_agqa(source, tmp_path / "run", tmp_path / "files")
    assert not (tmp_path / "run").exists()
    import_agqa(source, tmp_path / "run", release)
    with pytest.raises(BadInput, match="this run has facts already"):
        import_agqa(source, tmp_path / "run", release)
    with pytest.raises(BadInput, match="`questree import` brings others"):
        shutil.rmtree(tmp_path / "run" / "imported")
        answer(tmp_path / "run", model="oracle")
