"""DAGs as files: export in the release's layout, import, and both again; what is odd is listed and kept."""

import gzip
import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import polars as pl
import pytest

from conftest import copy
from questree.cli.app import app
from questree.faults import BadInput
from questree.formats import decomp_released
from questree.formats.agqa import ExportOptions, export
from questree.formats.decomp import export_decomp
from questree.formats.decomp_released import decompose_released
from questree.formats.decomp_run import import_dags
from questree.rules import VIDEO_DAGS
from questree.show.trees import lines
from questree.show.video_view import VideoView
from questree.stages.decompose.dag_shards import DecomposeOptions, decompose
from questree.stages.questions import Bank
from questree.tables.run import Run
from questree.vocabulary.load import default
from worlds.decomposed import Stored, shards

RELEASED = Path(__file__).parent / "data" / "agqa_decomp" / "hierarchies.json.gz"


def one() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(1)


@pytest.fixture(scope="module")
def run(asked_run: Run, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Some questions, as if they had been selected, decomposed in an open world."""
    run = copy(asked_run, tmp_path_factory.mktemp("decomposed"))
    questions = pl.concat([Bank(run).shard(folder).questions for folder in Bank(run).folders()])
    run.balanced.mkdir()
    questions.select("video", "number").gather_every(23).write_parquet(run.balanced / "balanced.parquet")
    decompose(run, DecomposeOptions(balanced=True, closed=False), pool=one())
    return run


@pytest.fixture(scope="module")
def exported(run: Run, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out: Path = tmp_path_factory.mktemp("exported") / "out"
    export_decomp(run, out, pool=one())
    return out


def contents(folder: Path) -> dict[str, Any]:
    return {str(path.relative_to(folder)): json.loads(path.read_bytes()) for path in sorted(folder.rglob("*.json"))}


def dags(folder: Path) -> dict[str, dict[str, Any]]:
    """Video -> its DAGs."""
    return {Path(name).stem: dags for name, dags in contents(folder).items() if not name.endswith("isolated.json")}


def test_the_layout_is_that_of_the_release(run: Run, exported: Path) -> None:
    folders = {"balanced_train_hierarchies", "balanced_test_hierarchies"}
    assert {path.name for path in exported.iterdir()} == {*folders, "csvs"}
    asked = sum(len(pl.read_parquet(folder / "tops.parquet")) for folder in shards(run))
    loose = [row for name, rows in contents(exported).items() if name.endswith("isolated.json") for row in rows]
    assert sum(map(len, dags(exported).values())) + len(loose) == asked
    assert {row["type"] for row in loose} <= {"Relation Exists", "Longest Action", "Shortest Action", "Action"}
    videos = run.load("facts").videos
    for name in contents(exported):
        if not name.endswith("isolated.json"):
            split = name.partition("_")[2].partition("_")[0]
            assert videos.filter(id=Path(name).stem)["split"][0] == split


def test_every_dag_is_whole_and_a_text_of_a_video_means_one_thing(exported: Path) -> None:
    for video, found in dags(exported).items():
        said: dict[str, Any] = {}
        for key, dag in found.items():
            assert key.startswith(f"{video}-")
            entries, hierarchy = dag["subquestion"], dag["hierarchy"]
            assert dag["question"] in entries and hierarchy.keys() <= entries.keys()
            assert entries[dag["question"]]["program"] == dag["new_program"]
            children = {c for parts in hierarchy.values() for children in parts.values() for c in children}
            assert children | {dag["question"]} == entries.keys(), "nothing is left over"
            assert {label for parts in hierarchy.values() for label in parts} <= set(VIDEO_DAGS.compositions)
            for text, entry in entries.items():
                assert said.setdefault(text, entry) == entry
                assert entry["type"] in VIDEO_DAGS.types
        keys = [entry["key"] for entry in said.values()]
        assert len(set(keys)) == len(keys)


def test_files_say_what_the_tables_say(run: Run, exported: Path) -> None:
    found, bank = dags(exported), Bank(run)
    for folder, made in zip(bank.folders(), shards(run), strict=True):
        stored, shard = Stored.read(made, executed=False), bank.shard(folder)
        at = {row: number for number, row in enumerate(shard.questions.select("video", "number").iter_rows())}
        for video, number, node in stored.tops.gather_every(20).iter_rows():
            question = shard.question(at[video, number])
            dag = found[bank.ids[video]].get(f"{bank.ids[video]}-{number}")
            if dag is None:
                assert node not in stored.edges, "it is isolated"
                continue
            own = stored.nodes[node].row(0, named=True)
            assert (dag["question"], dag["type"]) == (question.text, question.template.name)
            assert (dag["new_program"], dag["answer"]) == (own["program"], question.answer)
            renamed = {
                (own["text"] if parent == dag["question"] else parent, label, child)
                for parent, parts in dag["hierarchy"].items()
                for label, children in parts.items()
                for child in children
            }
            assert renamed == stored.dag(node)
            for row in stored.nodes[stored.below(node)].iter_rows(named=True):
                if row["text"] != own["text"]:
                    entry = dag["subquestion"][row["text"]]
                    assert (entry["type"], entry["program"], entry["answer"]) == (
                        row["type"],
                        row["program"],
                        row["answer"],
                    )


@pytest.mark.parametrize("split", ["train", "test"])
def test_the_csv_has_every_key_once(exported: Path, split: str) -> None:
    table = pl.read_csv(exported / "csvs" / f"{split.capitalize()}_frameqa_question-balanced-decomp.csv")
    own = exported / f"balanced_{split}_hierarchies"
    said = {
        e["key"]: (t, e["answer"]) for f in dags(own).values() for d in f.values() for t, e in d["subquestion"].items()
    }
    said |= {row["key"]: (row["question"], row["answer"]) for row in contents(own)["isolated.json"]}
    wanted = {key: entry for key, entry in said.items() if split == "test" or entry[1] is not None}
    found = {key: (text, answer) for key, text, answer in table.select("key", "question", "answer").iter_rows()}
    assert len(found) == len(table) and wanted == found
    assert table[""].to_list() == list(range(len(table)))
    assert table["vid_id"].equals(table["key"].str.split("-").list.get(0), check_names=False)


def test_an_open_world_publishes_no_absent_objects(exported: Path) -> None:
    entries = [e for found in dags(exported).values() for dag in found.values() for e in dag["subquestion"].values()]
    there = {entry["answer"] for entry in entries if entry["type"] == "Object Exists"}
    assert there == {"yes", None}


def test_import_and_export_again_gives_the_same_bytes(exported: Path, tmp_path: Path) -> None:
    told, _ = import_dags(exported, tmp_path / "run")
    assert (told.kept_as_is, told.odd.counts.total()) == (0, 0)
    export_decomp(Run(tmp_path / "run"), tmp_path / "again")
    files = sorted(path.relative_to(exported) for path in exported.rglob("*.json"))
    assert files == sorted(path.relative_to(tmp_path / "again") for path in (tmp_path / "again").rglob("*.json"))
    for file in files:
        assert (tmp_path / "again" / file).read_bytes() == (exported / file).read_bytes()


def write(folder: Path, files: dict[str, Any]) -> Path:
    folder.mkdir()
    for name, content in files.items():
        (folder / name).write_text(json.dumps(content), "utf-8")
    return folder


def test_hierarchies_of_another_program_come_back_as_they_were(tmp_path: Path) -> None:
    files = json.loads(gzip.decompress(RELEASED.read_bytes()))
    told, _ = import_dags(write(tmp_path / "test_hierarchies", files), tmp_path / "run")
    assert told.dags == {"test_hierarchies": 323}
    export_decomp(Run(tmp_path / "run"), tmp_path / "again")
    assert json.dumps(contents(tmp_path / "again" / "test_hierarchies")) == json.dumps(dict(sorted(files.items())))


LEAF = {"key": "V-0", "type": "Object Exists", "program": "objExists(person)", "answer": "yes"}
ROOT = {"key": "V-1", "type": "Relation Exists", "program": "actionExists(standing up)", "answer": None}
DAG: dict[str, Any] = {
    "question": "Is the person standing up?",
    "type": "",
    "old_program": "",
    "new_program": "actionExists(standing up)",
    "answer": None,
    "subquestion": {"Does a person exist?": LEAF, "Is the person standing up?": ROOT},
    "hierarchy": {"Is the person standing up?": {"Interaction": ["Does a person exist?"]}},
}


@pytest.mark.parametrize(
    ("odd", "what"),
    [
        (
            {"hierarchy": {"Is the person standing up?": {"Joining": ["Does a person exist?"]}}},
            "composition: 'Joining'",
        ),
        (
            {"hierarchy": {"Is the person standing up?": {"Interaction": ["Who?"]}}},
            "edge: a question that is not among",
        ),
        ({"question": "Who?"}, "root: the question is not among"),
        ({"subquestion": {"Does a person exist?": LEAF | {"type": "Thing"}}, "hierarchy": {}}, "type: 'Thing'"),
        ({"extra": 1}, "DAG: not of the shape"),
        ({"hierarchy": {"Does a person exist?": {}} | DAG["hierarchy"]}, ""),  # an empty entry is a trap, not a fault
    ],
)
def test_an_irregular_dag_is_listed_and_kept(odd: dict[str, Any], what: str, tmp_path: Path) -> None:
    files = {"V.json": {"V-1": DAG | odd, "V-2": DAG}}
    told, _ = import_dags(write(tmp_path / "some_hierarchies", files), tmp_path / "run")
    assert [fault for fault in told.odd.counts if what and fault.startswith(what)] or not what
    export_decomp(Run(tmp_path / "run"), tmp_path / "again")
    assert json.dumps(contents(tmp_path / "again" / "some_hierarchies")) == json.dumps(files)


def test_a_text_with_two_answers_in_a_video_is_listed(tmp_path: Path) -> None:
    other = DAG | {"subquestion": {"Does a person exist?": LEAF | {"answer": "no"}, "Is the person standing up?": ROOT}}
    files = {"V.json": {"V-1": DAG, "V-2": other}}
    told, _ = import_dags(write(tmp_path / "some", files), tmp_path / "run")
    assert told.odd.counts == {"text: its key, type, program or answer differs within the video": 1}
    assert told.kept_as_is == 0


def test_a_folder_without_hierarchies_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="no hierarchies"):
        import_dags(tmp_path, tmp_path / "out")
    (tmp_path / "V.json").write_text("{", "utf-8")
    with pytest.raises(BadInput, match=r"V\.json: not JSON"):
        import_dags(tmp_path, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_nothing_to_export_is_said(asked_run: Run, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="questree decompose"):
        export_decomp(asked_run, tmp_path / "out")


def released(exported: Path) -> dict[str, dict[str, str]]:
    """The decomposed questions as AGQA's release has them."""
    return {
        key: {"question": dag["question"], "answer": dag["answer"], "video_id": video, "program": dag["old_program"]}
        for video, found in dags(exported).items()
        for key, dag in found.items()
    }


def test_released_questions_have_the_same_dags_without_facts(exported: Path, tmp_path: Path) -> None:
    (tmp_path / "train_balanced.txt").write_text(json.dumps(released(exported)), "utf-8")
    told = decompose_released(tmp_path / "train_balanced.txt", tmp_path / "out", default())
    assert (told.strange_answers, told.summary.contradictions, told.unread.total()) == (0, [], 0)
    found, wanted = dags(tmp_path / "out"), dags(exported)
    assert (tmp_path / "out" / "train_balanced_hierarchies").is_dir() and found.keys() == wanted.keys()
    entailed = 0
    for video, own in wanted.items():
        assert found[video].keys() == own.keys()
        for key, dag in own.items():
            other = found[video][key]
            assert {n: other[n] for n in ("question", "new_program", "answer")} == {
                n: dag[n] for n in ("question", "new_program", "answer")
            }
            assert parts_of(other) == parts_of(dag)
            for text, entry in dag["subquestion"].items():
                same = other["subquestion"][text]
                assert (same["type"], same["program"]) == (entry["type"], entry["program"])
                if same["answer"] is not None and entry["answer"] is not None:
                    assert same["answer"] == entry["answer"]
                    entailed += text != dag["question"]
    assert entailed > 1000


def test_answers_of_the_unbalanced_file_and_what_follows_are_what_execution_says(
    run: Run, exported: Path, tmp_path: Path
) -> None:
    export(run, tmp_path / "files", ExportOptions(unbalanced=True, csv=False, graphs=False), pool=one())
    path = tmp_path / "files" / "AGQA_balanced" / "test_balanced.txt"
    told = decompose_released(path, tmp_path / "out", default(), 1, answers=[tmp_path / "files"])
    assert told.summary.clashes == told.strange_answers == told.unread.total() == 0
    found, compared, unknown = dags(tmp_path / "out"), 0, 0
    wanted = {video: own for video, own in dags(exported).items() if video in found}
    for video, own in wanted.items():
        assert found[video].keys() == own.keys()
        for key, dag in own.items():
            for text, entry in dag["subquestion"].items():
                same = found[video][key]["subquestion"][text]["answer"]
                assert same in (None, entry["answer"]) or entry["answer"] is None
                compared += None not in (same, entry["answer"])
                unknown += same is None
    assert compared > 4 * unknown > 0


def parts_of(dag: dict[str, Any]) -> dict[str, list[str]]:
    """Parents with their parts, whatever the label: without facts Between stays Between."""
    return {text: sorted(c for parts in own.values() for c in parts) for text, own in dag["hierarchy"].items()}


def test_a_question_that_cannot_be_read_is_isolated_with_the_reason(exported: Path, tmp_path: Path) -> None:
    records = dict(list(released(exported).items())[:3])
    first, second, third = records
    records[first]["program"] = "Wonder(blanket)"
    records[second]["answer"] = "perhaps"
    (tmp_path / "questions.json").write_text(json.dumps(records), "utf-8")
    told = decompose_released(tmp_path / "questions.json", tmp_path / "out", default())
    assert (told.summary.questions, told.unread.total(), told.strange_answers) == (3, 1, 1)
    loose = contents(tmp_path / "out")["questions_hierarchies/isolated.json"]
    assert [row["key"] for row in loose] == [first] and loose[0]["reason"].startswith("program: ")
    assert {key for found in dags(tmp_path / "out").values() for key in found} == {second, third}
    with pytest.raises(BadInput, match="no such file"):
        decompose_released(tmp_path / "nothing", tmp_path / "out", default())


@pytest.mark.processes
def test_a_large_file_comes_out_the_same_whatever_the_buckets_and_workers(
    exported: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    records = dict(sorted(released(exported).items(), key=lambda item: item[0][::-1])[::7])  # videos mixed
    next(iter(records.values()))["program"] = "Wonder(blanket)"
    (tmp_path / "questions.json").write_text(json.dumps(records), "utf-8")
    first = decompose_released(tmp_path / "questions.json", tmp_path / "one", default())
    monkeypatch.setattr(decomp_released, "BUCKET", 1 << 14)
    assert decomp_released.buckets(tmp_path / "questions.json") > 3
    second = decompose_released(tmp_path / "questions.json", tmp_path / "many", default(), workers=2)
    assert first == second and first.summary.questions == len(records)
    assert first.summary.places.total() == sum(
        len(dag["subquestion"]) for found in dags(tmp_path / "one").values() for dag in found.values()
    ) + leaves_alone(tmp_path / "one")
    files = sorted(path.relative_to(tmp_path / "one") for path in (tmp_path / "one").rglob("*"))
    assert files == sorted(path.relative_to(tmp_path / "many") for path in (tmp_path / "many").rglob("*"))
    for file in files:
        if file.suffix:
            assert (tmp_path / "one" / file).read_bytes() == (tmp_path / "many" / file).read_bytes()


def leaves_alone(folder: Path) -> int:
    """Isolated questions that could be read."""
    return sum("reason" not in row for row in contents(folder)["questions_hierarchies/isolated.json"])


def test_labels_answer_questions_of_a_released_file(exported: Path, tmp_path: Path) -> None:
    records = {
        "V-1": {
            "question": "?",
            "answer": "no",
            "video_id": "V",
            "program": "Exists(bag, Iterate(Localize(before, standing up), "
            "Filter(frame, [relations, holding, objects])))",
        }
    }
    (tmp_path / "questions.json").write_text(json.dumps(records), "utf-8")
    (tmp_path / "absent.csv").write_text("video,object\nV,bag\n", "utf-8")
    told = decompose_released(tmp_path / "questions.json", tmp_path / "out", default(), absent=tmp_path / "absent.csv")
    entries = dags(tmp_path / "out")["V"]["V-1"]["subquestion"]
    assert entries["Does a bag exist?"]["answer"] == entries["Does a bag exist before standing up?"]["answer"] == "no"
    assert entries["Is the person holding a bag?"]["answer"] == "no", "it follows"
    assert told.summary.types["Object Exists"]["labelled"] == 1
    (tmp_path / "absent.csv").write_text("video,object\nW,bag\n", "utf-8")
    with pytest.raises(BadInput, match="no video 'W' here"):
        decompose_released(tmp_path / "questions.json", tmp_path / "out", default(), absent=tmp_path / "absent.csv")
    assert "V" in dags(tmp_path / "out"), "what was there is still there"


GOOD = {"question": "?", "answer": "yes", "video_id": "V", "program": "Longest(action)"}


@pytest.mark.parametrize(
    ("text", "faults"),
    [
        ("[]", ["expected a JSON object of questions, got b'[]'"]),
        ('{"V-1": {', ["cut short: the JSON object it holds does not end"]),
        (
            json.dumps({"V-1": GOOD, "V-2": GOOD | {"answer": 1}, "V-3": {"question": "?"}}),
            [
                ", question V-2: Expected `str`, got `int` - at `$.answer`; "
                "expected a record with question, answer, video_id, program, all texts",
                ", question V-3: Object missing required field `answer`; "
                "expected a record with question, answer, video_id, program, all texts",
            ],
        ),
        (f'{{"V-1": {json.dumps(GOOD)}, "V-1": {json.dumps(GOOD)}}}', ["id 'V-1' is there twice"]),
    ],
)
def test_what_is_no_question_file_is_refused(text: str, faults: list[str], tmp_path: Path) -> None:
    (tmp_path / "questions.json").write_text(text, "utf-8")
    with pytest.raises(BadInput) as error:
        decompose_released(tmp_path / "questions.json", tmp_path / "out", default())
    assert [str(fault).partition("questions.json")[2].removeprefix(": ") for fault in error.value.faults] == faults
    assert [path.name for path in tmp_path.iterdir()] == ["questions.json"]


def test_a_question_file_is_taken_apart_whole(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="goes with --out DIR"):
        app(["decompose", "--from-agqa", "x", "--out", str(tmp_path), "--train-set"], exit_on_error=False)


def test_a_dag_is_shown_as_a_tree(asked_run: Run) -> None:
    bank = Bank(asked_run)
    shard = bank.shard(bank.folders()[0])
    at = int((shard.questions["template"] == 3).arg_true()[0])  # and
    question = shard.question(at)
    _, found = VideoView(asked_run).taken_apart(question.id)
    said = list(lines(found))
    assert said[0].startswith("0. ") and said[0].endswith(f"{question.answer}  [And]")
    assert [line.split(":")[0] for line in said if line[1:3] == "- "] == ["|- And", "`- And"]
    assert sum(len(edges) for edges in found.edges.values()) >= len(found.rows) - 1
    assert {row["text"] for row in found.rows} == {line.split(". ", 1)[1].split("?")[0] + "?" for line in said}


def test_show_draws_the_dag(asked_run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    id = f"{Bank(asked_run).ids[0]}-0"
    files = ["--svg", str(tmp_path / "dag.svg"), "--json", str(tmp_path / "dag.json")]
    app(["show", str(asked_run.folder), id, "--dag", *files], exit_on_error=False, result_action="return_value")
    record = json.loads((tmp_path / "dag.json").read_text())
    assert capsys.readouterr().out.startswith("0. ")
    drawing = ElementTree.parse(tmp_path / "dag.svg").getroot()
    boxes = [part for part in drawing.iter("{http://www.w3.org/2000/svg}rect") if part.get("rx")]
    edges = sum(len(node["parts"]) for node in record["nodes"])
    assert len(boxes) == len(record["nodes"])
    assert len(list(drawing.iter("{http://www.w3.org/2000/svg}line"))) == 2 * edges > 0  # down, and right


def test_show_refuses_the_dag_of_a_video(asked_run: Run) -> None:
    with pytest.raises(BadInput, match="show a question"):
        app(["show", str(asked_run.folder), Bank(asked_run).ids[0], "--dag"], exit_on_error=False)


def test_the_command_prints_coverage_and_what_was_relabelled(
    run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    again = copy(run, tmp_path)
    options = ["--workers", "1", "--json", str(tmp_path / "s.json")]
    app(["decompose", str(again.folder), *options], exit_on_error=False, result_action="return_value")
    said, record = capsys.readouterr().out, json.loads((tmp_path / "s.json").read_text())
    assert record["balanced"] and not record["closed"], "there is a selection, and no truth beside the facts"
    assert f"{record['relabelled']:,} Between nodes relabelled" in said and "Exists Before" in said
    assert record["nodes"] == sum(sum(counts.values()) for counts in record["types"].values())
    for one, other in zip(shards(run), shards(again), strict=True):
        for path in one.iterdir():
            assert path.read_bytes() == (other / path.name).read_bytes(), "another process writes the same bytes"
