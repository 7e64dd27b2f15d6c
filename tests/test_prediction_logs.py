"""Logs of other tools are files of predictions: lmms-eval, VLMEvalKit, inspect_ai, tables with any column names."""

import json
import zipfile
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pytest

from questree.faults import BadInput
from questree.models.predictions import FieldNames, form_of, read_predictions

SAID = {"001YG-1": "Yes.", "001YG-2": "the phone"}


def read(path: Path, **names: str) -> dict[str, str]:
    table = read_predictions(path, names=FieldNames(**names)).table
    return dict(zip(table["id"], table["prediction"], strict=True))


def lines(path: Path, records: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


def test_samples_of_lmms_eval(tmp_path: Path) -> None:
    records = [
        {"doc_id": at, "target": "x", "filtered_resps": [said], "agqa": {"id": id, "right": 1}, "input": "Q"}
        for at, (id, said) in enumerate(SAID.items())
    ]
    failed = {**records[0], "filtered_resps": ["[LMMS_EVAL_REQUEST_FAILED: timeout]"], "agqa": {"id": "001YG-3"}}
    assert read(lines(tmp_path / "m_samples_agqa.jsonl", [*records, failed])) == SAID


def test_samples_whose_id_nobody_kept_are_told_what_is_there(tmp_path: Path) -> None:
    path = lines(tmp_path / "m.jsonl", [{"doc_id": 1, "filtered_resps": ["yes"], "target": "no"}])
    with pytest.raises(BadInput, match="no question id in the samples of lmms-eval; let `process_results` return it"):
        read(path)


@pytest.mark.parametrize("form", ["tsv", "json", "xlsx"])
def test_results_of_vlmevalkit(tmp_path: Path, form: str) -> None:
    rows = [
        {"index": str(at), "id": id, "question": "Q\t?", "prediction": said}
        for at, (id, said) in enumerate(SAID.items())
    ]
    rows.append({"index": "9", "id": "001YG-9", "question": "Q", "prediction": "Failed to obtain answer via API."})
    path = tmp_path / f"m.{form}"
    if form == "tsv":
        pl.DataFrame(rows).write_csv(path, separator="\t")
    elif form == "json":
        path.write_text(json.dumps(rows))
    else:
        workbook(path, rows)
    assert read(path) == SAID


def workbook(path: Path, rows: list[dict[str, str]]) -> None:
    """As spreadsheets write it: texts once in a file of their own, cells with their numbers; one text in its cell."""
    texts = list(dict.fromkeys([*rows[0], *(value for row in rows for value in row.values())]))
    table = [list(rows[0]), *(list(row.values()) for row in rows)]
    cells = "".join(
        f'<row r="{y}">'
        + "".join(f'<c r="{"ABCD"[x]}{y}" t="s"><v>{texts.index(text)}</v></c>' for x, text in enumerate(row))
        + "</row>"
        for y, row in enumerate(table, 1)
    ).replace(f'<c r="D2" t="s"><v>{texts.index("Yes.")}</v></c>', '<c r="D2" t="inlineStr"><is><t>Yes.</t></is></c>')
    names = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("xl/worksheets/sheet1.xml", f"<worksheet {names}><sheetData>{cells}</sheetData></worksheet>")
        strings = "".join(f"<si><t>{text}</t></si>" for text in texts)
        archive.writestr("xl/sharedStrings.xml", f"<sst {names}>{strings}</sst>")


def samples() -> list[dict[str, Any]]:
    def of(id: str, epoch: int, content: object, error: object = None) -> dict[str, Any]:
        output = {"choices": [{"message": {"role": "assistant", "content": content}}]}
        return {"id": id, "epoch": epoch, "output": output, "error": error}

    first, second = SAID
    parts = [{"type": "reasoning", "reasoning": "hm"}, {"type": "text", "text": SAID[second]}]
    return [
        of(first, 2, SAID[first]),
        of(first, 1, "No."),
        of(second, 1, parts),
        of("001YG-3", 1, "", {"message": "x"}),
    ]


def test_logs_of_inspect(tmp_path: Path) -> None:
    (tmp_path / "log.json").write_text(json.dumps({"version": 2, "samples": samples()}))
    assert read(tmp_path / "log.json") == SAID
    with zipfile.ZipFile(tmp_path / "log.eval", "w") as archive:
        archive.writestr("header.json", "{}")
        for sample in samples():
            text = json.dumps(sample).encode()
            name = f"samples/{sample['id']}_epoch_{sample['epoch']}.json"
            archive.writestr(name, bytes(pa.compress(text, codec="zstd", asbytes=True)))
            archive.getinfo(name).compress_type, archive.getinfo(name).file_size = 93, len(text)
    assert read(tmp_path / "log.eval") == SAID


@pytest.mark.parametrize("form", ["jsonl", "json", "csv", "parquet", "arrow"])
def test_columns_may_have_any_name(tmp_path: Path, form: str) -> None:
    rows = [{"question": id, "id": "row", "model_output": said} for id, said in SAID.items()]
    path, table = tmp_path / f"m.{form}", pl.DataFrame(rows)
    if form == "jsonl":
        lines(path, rows)
    elif form == "json":
        path.write_text(json.dumps(rows))
    elif form == "arrow":
        table.write_ipc_stream(path)
        table.write_ipc(tmp_path / "file.arrow")
        assert read(tmp_path / "file.arrow", id="question", answer="model_output") == SAID
    else:
        table.write_csv(path) if form == "csv" else table.write_parquet(path)
    assert read(path, id="question", answer="model_output") == SAID
    with pytest.raises(BadInput, match="no column said; choose from question, id, model_output"):
        read(path, answer="said")


@pytest.mark.parametrize("name", ["m.json", "m.jsonl"])
def test_what_is_not_understood_names_the_fields_that_are_there(tmp_path: Path, name: str) -> None:
    record = {"qa": "1", "output": "yes"}
    (tmp_path / name).write_text(json.dumps(record if name.endswith("l") else [record]))
    with pytest.raises(BadInput, match=r"no id; expected one of .*; the fields are qa, output"):
        read(tmp_path / name)


@pytest.mark.parametrize(("name", "text"), [("m.xlsx", b"nonsense"), ("m.eval", b"PK\x03\x04nonsense")])
def test_damaged_files_are_one_line(tmp_path: Path, name: str, text: bytes) -> None:
    (tmp_path / name).write_bytes(text)
    with pytest.raises(BadInput, match="not a readable"):
        read(tmp_path / name)


def test_a_workbook_with_entities_is_refused(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "m.xlsx", "w") as archive:
        archive.writestr("xl/worksheets/sheet1.xml", '<!DOCTYPE a [<!ENTITY b "c">]><worksheet>&b;</worksheet>')
    with pytest.raises(BadInput, match="declares entities"):
        read(tmp_path / "m.xlsx")


@pytest.mark.parametrize(
    ("name", "text", "form"),
    [
        ("m.jsonl", b'{"doc_id": 1, "filtered_resps": ["yes"]}\n', "samples of lmms-eval"),
        ("m.jsonl", b'{"id": 1, "prediction": "yes"}\n', "JSON Lines"),
        ("m.json", b'[{"id": 1, "prediction": "yes"}]', "a JSON list"),
        ("m.json", b'{"samples": []}', "a log of inspect_ai"),
        ("m.eval", b"PK", "a log of inspect_ai"),
        ("m.xlsx", b"PK", "a workbook, as of VLMEvalKit"),
        ("m.tsv", b"id\tprediction\n", "a table (tsv)"),
    ],
)
def test_forms_are_named(tmp_path: Path, name: str, text: bytes, form: str) -> None:
    (tmp_path / name).write_bytes(text)
    assert form_of(tmp_path / name) == form


def saved(folder: Path, parts: list[dict[str, str]]) -> Path:
    """As `save_to_disk` writes a data set, a file per part; their order is in state.json alone."""
    folder.mkdir(parents=True)
    names = [f"data-{at:05}-of-{len(parts):05}.arrow" for at in reversed(range(len(parts)))]
    for name, part in zip(names, parts, strict=True):
        pl.DataFrame({"qid": list(part), "prediction": list(part.values())}).write_ipc_stream(folder / name)
    state = {"_data_files": [{"filename": name} for name in names], "_fingerprint": "0", "_split": None}
    (folder / "state.json").write_text(json.dumps(state))
    (folder / "dataset_info.json").write_text("{}")
    return folder


def test_a_folder_of_datasets_is_one_file_of_predictions(tmp_path: Path) -> None:
    parts = [{id: said} for id, said in SAID.items()]
    folder = saved(tmp_path / "model", [{"001YG-2": "replaced by a later part"}, *parts])
    given = read_predictions(folder)
    assert (given.model, given.duplicates, form_of(folder)) == ("model", 1, "a folder saved by datasets")
    assert read(folder) == SAID


def test_of_a_folder_with_several_splits_one_is_named(tmp_path: Path) -> None:
    for split in ("test", "train"):
        saved(tmp_path / "m" / split, [SAID])
    (tmp_path / "m/dataset_dict.json").write_text('{"splits": ["test"]}')
    assert read(tmp_path / "m") == SAID
    (tmp_path / "m/dataset_dict.json").write_text('{"splits": ["test", "train"]}')
    with pytest.raises(BadInput, match=r"expected one split, got 2; choose from .*test, .*train"):
        read(tmp_path / "m")


@pytest.mark.parametrize(
    ("state", "said"),
    [("[]", "not a readable folder"), ("{", "not a readable folder"), ('{"_data_files": []}', "got none")],
)
def test_a_damaged_folder_is_one_line(tmp_path: Path, state: str, said: str) -> None:
    (tmp_path / "state.json").write_text(state)
    with pytest.raises(BadInput, match=said):
        read(tmp_path)


def test_a_folder_names_no_files_outside_it(tmp_path: Path) -> None:
    pl.DataFrame({"id": ["1"], "prediction": ["secret"]}).write_ipc_stream(tmp_path / "other.arrow")
    (tmp_path / "m").mkdir()
    (tmp_path / "m/state.json").write_text('{"_data_files": [{"filename": "../other.arrow"}]}')
    with pytest.raises(BadInput, match="not a readable Arrow file"):
        read(tmp_path / "m")
