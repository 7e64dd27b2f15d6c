"""COVR's records out of a run and into one: JSON types, references as graphs, what does not fit, the same again."""

import json
from pathlib import Path
from typing import Any
from unittest.mock import patch

import polars as pl
import pytest

from chaos.kills import content
from questree.benchmarks.covr.references import references, size
from questree.cli.formats import export_covr as export_command
from questree.cli.formats import import_covr as import_command
from questree.domains.images import IMAGES
from questree.domains.images.graph import Graph, GraphRelation
from questree.faults import BadInput
from questree.formats import covr_parts
from questree.formats.covr import elements
from questree.formats.covr_export import export
from questree.formats.covr_import import import_covr
from questree.notation import covr
from questree.notation.own import parse
from questree.sources.covr import answer_text
from questree.tables.image_questions import BALANCED, answered
from questree.tables.questions import with_programs
from questree.tables.run import Run
from worlds import image_run as made
from worlds.image_run import CUP, DOG, GROUPS, ON, TABLE

ON_TABLE = (GraphRelation("on", Graph("table")),)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return made.image_run(tmp_path_factory.mktemp("files") / "run", balanced=3)


@pytest.fixture(scope="module")
def release(run: Run, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("release") / "out"
    assert sum(export(run, out, every=True).values()) == len(answered(run))
    return out


def records(folder: Path) -> dict[str, Any]:
    lines = [line for path in sorted(folder.glob("*.jsonl")) for line in path.read_text().splitlines()]
    return {record["qid"]: record for record in map(json.loads, lines)}


def other(tmp_path: Path) -> Run:
    """A run with the same images and no questions."""
    run = Run(tmp_path / "other")
    made.write_images(run)
    return run


def test_a_record_says_everything_in_the_types_of_json(run: Run, release: Path) -> None:
    found, ids = records(release), pl.read_parquet(run.images / "images.parquet")["id"]
    types = {"VERIFY": bool, "COMPARE": bool, "COUNT": int, "QUERY": str, "CHOOSE": str}
    for row in with_programs(answered(run)).iter_rows(named=True):
        record = found[row["id"]]
        assert record["utterance"] == record["question"] == row["question"]
        assert record["scenes"] == [ids[image] for image in row["images"]]
        assert record["program"] == covr.write(parse(row["program"], IMAGES))
        assert record["sub_graph_info"] == {name: row[name] for name in ("length", "depth", "attributes")}
        kind = next(kind for name, kind in types.items() if row["template"].startswith(name))
        assert type(record["answer"]) is kind
        assert answer_text(record["answer"]) == row["answer"]
    assert {record["pattern_name"] for record in found.values()} >= {"multiple_ref", "count_ref", "quantifier"}


def test_a_record_names_the_properties_and_references_of_its_question(release: Path) -> None:
    asked = f"all({CUP}, with_relation(scene(), {TABLE}, on))?"
    record = next(record for record in records(release).values() if record["question"] == asked)
    assert record["properties"] == ["has_quantifier", "has_quantifier_all", "tpl_verify_quantifier"]
    assert record["sub_graphs"] == [[[["noun", "cup"]], [["relation", "on"]], [["noun", "table"]]]]
    assert record["ref_text"] == "cup that is on a table"


@pytest.mark.parametrize(
    ("program", "wanted"),
    [
        (f"count({ON})", [Graph("cup", None, ON_TABLE)]),
        (f"gt(count(filter({CUP}, red)), count({DOG}))", [Graph("cup", "red"), Graph("dog")]),
        (f"some({CUP}, filter(scene(), red))", [Graph("cup", "red")]),
        (f"some({ON}, filter(scene(), red))", [Graph("cup", "red", ON_TABLE)]),
        (
            f"query_name(unique(with_relation_object(assert_unique({CUP}), scene(), on)))",
            [Graph("cup", None, (GraphRelation("on", Graph("answer")),))],
        ),
        (
            f"query_name(unique(with_relation_object(with_relation_object({DOG}, {CUP}, near), scene(), on)))",
            [Graph("dog", None, (GraphRelation("near", Graph("cup", None, (GraphRelation("on", Graph("answer")),))),))],
        ),
        (
            f"query_link(unique_link(relation_between_nouns(unique({CUP}), {TABLE})))",
            [Graph("cup", None, (GraphRelation("answer", Graph("table")),))],
        ),
    ],
)
def test_references_are_read_off_the_program(program: str, wanted: list[Graph]) -> None:
    assert references(parse(program, IMAGES), "answer") == wanted


def test_prepositions_hang_on_their_relation() -> None:
    text = "count(with_relation(with_relation(find(man), find(word), erasing), find(board), erasing:_from))"
    (graph,) = references(parse(text, IMAGES), "")
    assert size([graph]) == {"length": 5, "depth": 4, "attributes": 0}
    said = [word for element in elements(graph) for word in element]
    assert said[1:] == [["relation", "erasing"], ["noun", "word"], ["relation", "erasing:_from"], ["noun", "board"]]


def test_what_is_exported_is_imported_the_same(run: Run, release: Path, tmp_path: Path) -> None:
    again = other(tmp_path)
    told = import_covr(release, again, GROUPS)
    first, second = answered(run), answered(again)
    assert second.equals(first) and not told.faults and not told.differing
    assert BALANCED.read(again.covr).equals(BALANCED.read(run.covr))
    export(again, tmp_path / "again", every=True)
    for path in sorted(release.iterdir()):
        assert (tmp_path / "again" / path.name).read_bytes() == path.read_bytes()


def test_files_and_properties_may_be_named_as_before(release: Path, tmp_path: Path) -> None:
    assert {path.name for path in release.iterdir()} == {"train.jsonl", "val.jsonl", "test.jsonl"}
    earlier = tmp_path / "earlier"
    earlier.mkdir()
    for path in release.iterdir():
        text = path.read_text().replace('"has_quantifier"', '"HAS-QUANT"')
        (earlier / path.name.replace("val", "dev")).write_text(text)
    tables = []
    for folder in (release, earlier):
        run = other(tmp_path / folder.name)
        import_covr(folder, run, GROUPS)
        tables.append(answered(run))
    assert tables[0].equals(tables[1])
    (earlier / "val.jsonl").write_text("")
    with pytest.raises(BadInput, match=r"expected one file of dev, got dev\.jsonl, val\.jsonl"):
        import_covr(earlier, other(tmp_path / "both"), GROUPS)


def test_an_earlier_export_is_replaced_whatever_its_middle_file_is_called(run: Run, tmp_path: Path) -> None:
    export(run, tmp_path / "out")
    (tmp_path / "out" / "val.jsonl").rename(tmp_path / "out" / "dev.jsonl")
    export(run, tmp_path / "out")
    assert not (tmp_path / "out" / "dev.jsonl").exists()


def test_only_the_balanced_selection_is_exported_unless_all_is_asked_for(run: Run, tmp_path: Path) -> None:
    export(run, tmp_path / "out")
    found = records(tmp_path / "out")
    assert set(found) == set(BALANCED.read(run.covr)["id"].to_list())
    assert not any("balanced" in record for record in found.values())


def record(**more: Any) -> dict[str, Any]:
    rows = [{"operation": "find", "arguments": ["cup"]}, {"operation": "count", "dependencies": [0]}]
    plain = {"qid": "a", "answer": 1, "scenes": ["train0"], "pattern_name": "count_ref", "program": rows}
    return plain | {"question": "How many cups?"} | more


def imported(tmp_path: Path, *lines: dict[str, Any]) -> tuple[Any, pl.DataFrame]:
    run = other(tmp_path)
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "val.jsonl").write_text("\n".join(map(json.dumps, lines)))
    told = import_covr(tmp_path / "in", run, GROUPS)
    return told, answered(run)


def test_a_released_record_becomes_a_row(tmp_path: Path) -> None:
    told, table = imported(tmp_path, record(), record(qid=7, scenes=["train2"], answer=2))
    assert table.drop("number").rows() == [  # the same text: a pair
        ("a", "dev", "COUNT", "How many cups?", "1", "count(find($0))", ["cup"], [5], 1, 1, 0, 0),
        (
            "7",
            "dev",
            "COUNT",
            "How many cups?",
            "2",
            "count(find($0))",
            ["cup"],
            [7],
            1,
            1,
            0,
            0,
        ),  # the same text: a pair
    ]
    assert told.answered == {"COUNT": {"same": 2}}


def test_records_that_do_not_fit_are_left_out_and_counted(tmp_path: Path) -> None:
    bad = [
        record(qid="a"),
        record(qid="b", scenes=["train0", "nowhere"]),
        record(qid="c", program=[{"operation": "counts"}]),
        record(qid="d", pattern_name="why"),
        record(
            qid="e",
            program=[{"operation": "find", "arguments": ["a, b"]}, {"operation": "exists", "dependencies": [0]}],
        ),
        record(qid="f", answer=None),
        record(qid="g", scenes=[]),
    ]
    told, table = imported(tmp_path, record(), *bad)
    assert table["id"].to_list() == ["a", "e"]
    assert table["words"].to_list()[1] == ["a, b"]
    assert told.examples == {
        "its id is used twice": ["a"],
        "a scene that is not among the images": ["b"],
        "a malformed program": ["c"],
        "no template 'why'": ["d"],
        "no answer": ["f"],
        "no scenes": ["g"],
    }


def many(split: str) -> list[dict[str, Any]]:
    """Records whose ids, texts, pairs and faults come again in other parts of their file and in other files."""
    found = []
    for at in range(40):
        own = record(qid=f"q{at % 23 if split == 'train' else at}", question=f"{at % 6}?", utterance=None)
        if at % 9 == 4:
            own["scenes"] = []
        elif at % 11 == 5:
            own["pattern_name"] = "why"
        own |= {"pair": 3 + at} if at % 8 == 6 else {}
        found.append(own | ({"balanced": at % 3 == 0} if at % 2 else {}))
    return found


def test_parts_of_files_give_what_whole_files_give(tmp_path: Path) -> None:
    asked = {split: many(split) for split in ("train", "dev")}
    made = dict[str, tuple[Any, dict[str, bytes]]]()
    for kind, most in (("lines", 1 << 30), ("lines", 700), ("list", 700)):
        place = tmp_path / f"{kind}{most}"
        run = other(place)
        (place / "in").mkdir()
        for split, own in asked.items():
            text = "\n".join(map(json.dumps, own)) + "\n" if kind == "lines" else json.dumps(own, indent=1)
            (place / "in" / f"{split}.{'jsonl' if kind == 'lines' else 'json'}").write_text(text)
        with patch.object(covr_parts, "BYTES", most):
            told = import_covr(place / "in", run, GROUPS)
            parts = [part for path in sorted((place / "in").iterdir()) for part in covr_parts.parts_of(path, "train")]
        assert (len(parts) > 9) == (most == 700)
        told.questions = {name.partition(".")[0]: count for name, count in told.questions.items()}
        made[place.name] = told, content(run.covr)
    whole, *others = made.values()
    assert all(own == whole for own in others)
    assert answered(run).select("id", "split", "pair").rows() == stays(asked)


def stays(asked: dict[str, list[dict[str, Any]]]) -> list[tuple[str, str, int]]:
    """Of every id the first record without a fault; texts of a split are numbered as they are met."""
    seen, pairs, found = set[str](), dict[tuple[str, str], int](), list[tuple[str, str, int]]()
    for split, own in asked.items():
        for each in own:
            if each["scenes"] and each["pattern_name"] != "why" and each["qid"] not in seen:
                seen.add(each["qid"])
                pair = pairs.setdefault((split, each["question"]), len(pairs))
                found.append((each["qid"], split, each.get("pair", pair)))
    return found


def test_wrong_lines_of_parts_are_told_by_their_numbers(tmp_path: Path) -> None:
    run = other(tmp_path)
    (tmp_path / "in").mkdir()
    lines = [json.dumps(record(qid=f"q{at}")) for at in range(30)]
    lines[20] = '{"qid": "b"'
    (tmp_path / "in" / "train.jsonl").write_text("\n".join(lines))
    with patch.object(covr_parts, "BYTES", 700), pytest.raises(BadInput) as bad:
        import_covr(tmp_path / "in", run, GROUPS)
    assert [fault.place.rpartition(", ")[2] for fault in bad.value.faults] == ["line 21"]
    assert not run.covr.exists()


def test_answers_that_programs_do_not_give_are_kept_and_listed(tmp_path: Path) -> None:
    unique = [*record()["program"][:1], {"operation": "unique", "dependencies": [0]}]
    asked = [*unique, {"operation": "query_name", "dependencies": [1]}]
    told, table = imported(tmp_path, record(answer=5), record(qid="b", scenes=["train2"], program=asked, answer="cup"))
    assert told.answered == {"COUNT": {"other": 1, "not unique": 1}}
    assert sorted(told.differing) == [("a", "5", "1"), ("b", "cup", "not unique")]
    assert table["answer"].to_list() == ["5", "cup"]


def test_lines_that_are_no_records_are_refused_with_their_numbers(tmp_path: Path) -> None:
    run = other(tmp_path)
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "train.jsonl").write_text('{"answer": 1}\n{"qid": "a", "answer": 1}\n{"qid": "b"')
    with pytest.raises(BadInput) as bad:
        import_covr(tmp_path / "in", run, GROUPS)
    assert [fault.place.rpartition(", ")[2] for fault in bad.value.faults] == ["line 1", "line 3"]
    assert not run.covr.exists()


def test_a_run_without_images_and_a_folder_without_files_are_refused(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    with pytest.raises(BadInput, match=r"expected train\.jsonl"):
        import_covr(tmp_path / "in", Run(tmp_path / "run"), GROUPS)
    (tmp_path / "in" / "train.jsonl").write_text("")
    with pytest.raises(BadInput, match="questree ingest gqa"):
        import_covr(tmp_path / "in", Run(tmp_path / "run"), GROUPS)


def test_the_commands_say_what_they_did(run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    export_command(run.folder, out=tmp_path / "out", json=tmp_path / "export.json")
    words = made.words_folder(tmp_path)
    again = other(tmp_path)
    import_command(tmp_path / "out", out=again.folder, words=words, json=tmp_path / "import.json")
    count = len(BALANCED.read(run.covr))
    assert f"{count:,} of {count:,} answers are what the program says" in capsys.readouterr().out
    assert sum(json.loads((tmp_path / "export.json").read_text())["questions"].values()) == count
    assert json.loads((tmp_path / "import.json").read_text())["other"] == []
