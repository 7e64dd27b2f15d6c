"""Predictions scored on files of questions by parts: rows and what is said are those of a file that is read at once."""

import gzip
import json
import random
from codecs import BOM_UTF8
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from judges import scores_at_once
from questree.api import score_sets
from questree.faults import BadInput
from questree.formats import agqa_parts, covr_parts
from questree.formats.covr_export import export as export_covr
from questree.metrics.catalogue import METRICS, Metric
from questree.scoring import file_questions, file_sets, shared_files
from questree.scoring.compared import Scoring
from questree.tables.image_questions import answered
from worlds.exported_worlds import exported, random_run, records
from worlds.image_run import image_run

FREE = ["{}", "True", "I think it is {}.", "Yes, a {}", "{}!", "the {}", "no idea", "False", "before, not after"]
ALL = Scoring("wrong", 20, policy="all")
Record = dict[str, Any]


@pytest.fixture(params=[15_000, 120_000])
def parted(request: pytest.FixtureRequest) -> Iterator[None]:
    """Parts of so many bytes, however small a file is."""
    size = request.param
    few = [(agqa_parts, "BYTES", size), (file_questions, "SHARD", 75_000), (covr_parts, "BYTES", size)]
    with ExitStack() as left:
        for module, name, value in [*few, (shared_files, "LARGE", 0), (file_sets, "LARGE", 0)]:
            left.enter_context(patch.object(module, name, value))
        yield


@pytest.fixture(scope="module")
def released(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Record]:
    """Every ninth test question of random worlds, in no order, so that videos are in many parts."""
    folder = tmp_path_factory.mktemp("released")
    out = exported(random_run(folder / "run"), folder / "agqa", unbalanced=True)
    found = list(records(out, "unbalanced", "test").items())[::9]
    random.Random(1).shuffle(found)
    assert len({record["video_id"] for _, record in found}) > 2
    assert any(id != record["direct_equiv"] is not None for id, record in found)
    return dict(found)


@pytest.fixture(scope="module")
def sets(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Record]]:
    """COVR's questions, test and train."""
    run = image_run(tmp_path_factory.mktemp("sets") / "run")
    export_covr(run, run.folder.parent / "covr")
    assert len(answered(run)) > 20
    return {
        name: [json.loads(line) for line in (run.folder.parent / "covr" / f"{name}.jsonl").read_text().splitlines()]
        for name in ("train", "test")
    }


def written(path: Path, records: dict[str, Record] | list[Record], how: str = "whole") -> Path:
    lines = "\n".join(map(json.dumps, records)) if how == "lines" else json.dumps(records, indent=how == "wide" or None)
    path.write_bytes(gzip.compress(lines.encode()) if how == "packed" else lines.encode())
    return path


def lines(path: Path, said: dict[str, str]) -> Path:
    path.write_text("".join(json.dumps({"id": id, "prediction": answer}) + "\n" for id, answer in said.items()))
    return path


def messy(path: Path, said: dict[str, str], left_out: int = 40) -> Path:
    """Partly in free text: some of it twice, some to no question, some questions left out."""
    found = [
        json.dumps({"id": id, "prediction": FREE[at % 3 and at % len(FREE)].format(answer)})
        for at, (id, answer) in enumerate(said.items())
        for _ in range(2 if at % 50 == 1 else at % left_out != 2)
    ]
    path.write_text("\n".join([*found, '{"id": "nobody-1", "prediction": "yes"}']))
    return path


def answers(found: dict[str, Record] | list[Record]) -> dict[str, str]:
    if isinstance(found, dict):
        return {id: record["answer"] for id, record in found.items()}
    return {str(record["qid"]): str(record["answer"]) for record in found}


def told(work: Callable[[Callable[[str], None]], Any]) -> tuple[Any, ...]:
    """The rows, what is said, and those that need no predictions; or all that is wrong."""
    said = list[str]()
    try:
        scores = work(said.append)
        return scores.rows, said, [*scores.guesses]
    except BadInput as bad:
        return [str(fault) for fault in bad.faults], said, "refused"


def alike(path: Path, files: list[Path], how: Scoring = ALL, parts: bool = True, **more: Any) -> Any:
    """At once, and by parts; `parts`: are there any?"""
    covr = path.name.startswith("covr")
    module, name = (file_sets, "set_files_together") if covr else (file_questions, "file_together")
    work, at_once = getattr(module, name), scores_at_once.covr_questions if covr else scores_at_once.agqa_questions
    scored = score_sets.scored_covr if covr else score_sets.scored_agqa
    tried = list[object]()

    def counted(*given: Any) -> Any:
        tried.append(work(*given))
        return tried[-1]

    whole = told(lambda say: at_once(None, path, how=how, say=say, **more).of_files(files))
    with patch.object(module, name, counted):
        by_parts = told(lambda say: scored(files, (), questions=path, how=how, say=say, workers=1, **more))
    if not parts and whole[-1] == "refused":  # before anything is said about coverage
        whole, by_parts = whole[:1], by_parts[:1]
    assert whole == by_parts
    assert tried == [None] if not parts else tried != [None]
    assert not [*path.parent.glob(".*")]
    return whole[0]


@pytest.mark.usefixtures("parted")
@pytest.mark.parametrize("how", ["whole", "wide", "packed"])
def test_rows_of_videos_are_those_of_the_whole_file(released: dict[str, Record], tmp_path: Path, how: str) -> None:
    path = written(tmp_path / "test.txt", released, how)
    files = [messy(tmp_path / f"{name}.jsonl", answers(released), name) for name in (40, 7)]
    rows = alike(path, files)
    assert {row.by for row in rows} >= {"reasoning", "novel composition", "indirect reference", "steps", "policy"}
    counted = [row for row in rows if row.metric == "precision" and row.group == "Overall" and row.n]
    assert counted, "no question was right where its direct equivalent was"
    assert len(agqa_parts.parts_of(path)) > (how != "packed") * 2


@pytest.mark.usefixtures("parted")
@pytest.mark.parametrize("missing", ["error", "wrong", "skip"])
def test_questions_without_predictions_are_named_in_their_order(
    released: dict[str, Record], tmp_path: Path, missing: Any
) -> None:
    path, said = written(tmp_path / "test.txt", released), dict(list(answers(released).items())[::3])
    for policy in ("exact", "vqa", "lenient"):
        rows = alike(path, [messy(tmp_path / "mine.jsonl", said)], Scoring(missing, 20, policy=policy))
        lacking = list(answers(released))[1:3]
        assert (", ".join(lacking) in rows[0]) if missing == "error" else len(rows) > 100


@pytest.mark.usefixtures("parted")
@pytest.mark.parametrize("policy", ["exact", "lenient"])
def test_an_id_in_two_parts_is_the_last_question(released: dict[str, Record], tmp_path: Path, policy: Any) -> None:
    """What the first of them has for an answer is none of the data."""
    path, (id, record) = tmp_path / "test.txt", next(iter(released.items()))
    first = json.dumps({id: record | {"answer": "zebra"}, **released})
    path.write_text(f"{first[:-1]}, {json.dumps({id: record})[1:]}")
    mine = lines(tmp_path / "mine.jsonl", dict.fromkeys(released, "zebra"))
    rows = alike(path, [mine], Scoring("wrong", 20, policy=policy), parts=False)
    assert [(row.value, row.n) for row in rows if row.metric == "unparsed"] == [(1, len(released))]


@pytest.mark.usefixtures("parted")
def test_texts_that_are_none_matter_only_to_predictions_that_take_them(
    released: dict[str, Record], tmp_path: Path
) -> None:
    texts = {id: record | {"question": at} for at, (id, record) in enumerate(released.items())}
    path, said = written(tmp_path / "test.txt", texts), answers(released)
    for name, own in (("exact", said), ("free", dict.fromkeys(said, "I see a bag or so, on a table"))):
        alike(path, [lines(tmp_path / f"{name}.jsonl", own)], Scoring(resamples=0, policy="lenient"), parts=False)
    alike(path, [lines(tmp_path / "mine.jsonl", said)], Scoring(resamples=0))


@pytest.mark.usefixtures("parted")
@pytest.mark.parametrize("change", [{"video_id": "OTHER"}, {"direct_equiv": "OTHER-1"}])
def test_ids_that_do_not_name_their_videos_are_counted_at_once(
    released: dict[str, Record], tmp_path: Path, change: Record
) -> None:
    first = next(iter(released))
    path = written(tmp_path / "test.txt", released | {first: released[first] | change})
    alike(path, [messy(tmp_path / "mine.jsonl", answers(released))], parts=False)


@pytest.mark.usefixtures("parted")
def test_steps_that_a_shard_lacks_are_in_their_place(released: dict[str, Record], tmp_path: Path) -> None:
    """The line of accuracy against steps goes through them in order, whichever shard counts which."""
    videos = list(dict.fromkeys(record["video_id"] for record in released.values()))
    steps = {video: [at, 30 - at] for at, video in enumerate(videos, 1)}
    own = {id: one | {"steps": steps[one["video_id"]][len(id) % 2]} for id, one in released.items()}
    rows = alike(written(tmp_path / "test.txt", own), [messy(tmp_path / "mine.jsonl", answers(own))])
    points = [int(row.group) for row in rows if row.metric.startswith("fit") and row.model.endswith("(exact)")]
    assert points == sorted(points) and len(points) > 4


@pytest.mark.usefixtures("parted")
@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace('"ans_type": "open"', '"ans_type": 3'),
        lambda text: text.replace('"answer": "', '"reply": "'),
        lambda text: text[:-20],
        lambda text: text.replace('"global": [', '"global": ]', 1),
        lambda text: f"[{text}]",
        lambda text: " " * len(text),
        lambda text: f"{text[:-1]}, }}",
        lambda text: f"{text},",
        lambda text: text.replace("}, ", "} "),
        lambda text: text.replace('"steps": ', '"steps": 1000000000000'),
        lambda text: text.replace(
            "{", '{"V-1": {"answer": 3}, "V-1": {"answer": "", "video_id": "", "ans_type": ""}, ', 1
        ),
    ],
)
def test_faults_of_a_part_are_told_of_the_whole_file(
    released: dict[str, Record], tmp_path: Path, change: Callable[[str], str]
) -> None:
    path = tmp_path / "test.txt"
    path.write_text(change(json.dumps(released)))
    faults = alike(path, [messy(tmp_path / "mine.jsonl", answers(released))])
    assert all(str(fault).startswith(str(path)) for fault in faults)


@pytest.mark.usefixtures("parted")
@pytest.mark.parametrize("how", ["whole", "wide", "packed", "lines"])
@pytest.mark.parametrize("learns", [False, True])
def test_rows_of_image_sets_are_those_of_the_whole_file(
    sets: dict[str, list[Record]], tmp_path: Path, how: str, learns: bool
) -> None:
    many = [record | {"qid": f"{record['qid']} {at}"} for at in range(3) for record in sets["test"]]
    path, train = written(tmp_path / "covr.jsonl", many, how), written(tmp_path / "train.jsonl", sets["train"], how)
    files = [messy(tmp_path / f"{name}.jsonl", answers(many), name) for name in (40, 7)]
    rows = alike(path, files, train=train if learns else None)
    assert {row.model for row in rows} >= ({"MAJ", "MAJTEMPL"} if learns else set())
    assert len({row.group for row in rows if row.by == "template"}) > 5
    for missing in ("error", "skip"):
        alike(path, files, Scoring(missing, 20, policy="lenient"), train=train if learns else None)


@pytest.mark.usefixtures("parted")
def test_an_id_that_two_parts_have_is_counted_at_once(sets: dict[str, list[Record]], tmp_path: Path) -> None:
    many = [record | {"qid": str(at)} for at, record in enumerate(sets["test"] * 3)]
    path = written(tmp_path / "covr.jsonl", [*many, many[0]], "lines")
    several = len(covr_parts.parts_of(path, "test")) > 1
    for policy in ("exact", "lenient"):
        alike(path, [messy(tmp_path / "mine.jsonl", answers(many))], Scoring("wrong", 20, policy=policy), not several)


@pytest.mark.usefixtures("parted")
@pytest.mark.parametrize("how", ["whole", "lines"])
@pytest.mark.parametrize("wrong", [{"scenes": 3}, {"answer": []}])
@pytest.mark.parametrize("learnt", [False, True])
def test_faults_name_the_lines_of_the_whole_file(
    sets: dict[str, list[Record]], tmp_path: Path, how: str, wrong: Record, learnt: bool
) -> None:
    many = [record | {"qid": str(at)} for at, record in enumerate(sets["test"] * 3)]
    bad = [*many[:-3], many[-3] | wrong, *many[-2:]]
    path, train = written(tmp_path / "covr.jsonl", many if learnt else bad, how), tmp_path / "train.jsonl"
    written(train, bad, how)
    faults = alike(path, [messy(tmp_path / "mine.jsonl", answers(many))], train=train)
    line = f", line {len(many) - 2}" if how == "lines" else ""
    assert [fault.startswith(f"{train if learnt else path}{line}: expected questions") for fault in faults] == [True]


@pytest.mark.usefixtures("parted")
@pytest.mark.parametrize("change", [lambda text: f"{text[:-1]}, ]", lambda text: text.replace("}, {", "} {")])
def test_lists_that_are_no_json_are_told_as_ever(
    sets: dict[str, list[Record]], tmp_path: Path, change: Callable[[str], str]
) -> None:
    path = tmp_path / "covr.json"
    path.write_text(change(json.dumps([record | {"qid": at} for at, record in enumerate(sets["test"] * 3)])))
    assert "expected questions" in alike(path, [lines(tmp_path / "mine.jsonl", {"1": "yes"})])[0]


@pytest.mark.usefixtures("parted")
def test_a_byte_order_mark_is_one_only_where_a_file_begins(sets: dict[str, list[Record]], tmp_path: Path) -> None:
    some = written(tmp_path / "some.jsonl", sets["test"], "lines").read_bytes()
    path, mine = tmp_path / "covr.jsonl", lines(tmp_path / "mine.jsonl", {"1": "yes"})
    path.write_bytes(BOM_UTF8 + some)
    alike(path, [mine])
    for at in range(len(sets["test"])):
        cut = b"\n".join(some.splitlines()[:at])
        path.write_bytes(cut + b"\n" * bool(at) + BOM_UTF8 + some)
        with patch.object(covr_parts, "BYTES", max(len(cut), 1)):
            alike(path, [mine])


@pytest.mark.usefixtures("parted")
@pytest.mark.parametrize("name", ["test.txt", "covr.jsonl"])
def test_files_that_nobody_may_read_are_told_as_such(tmp_path: Path, name: str) -> None:
    path = written(tmp_path / name, {"V-1": {}})
    with patch.object(Path, "open", side_effect=PermissionError(13, "Permission denied")):
        assert alike(path, []) == [f"{path}: cannot be read (Permission denied)"]


@pytest.mark.usefixtures("parted")
def test_faults_of_predictions_do_not_read_all_questions(sets: dict[str, list[Record]], tmp_path: Path) -> None:
    path, mine = written(tmp_path / "covr.jsonl", sets["test"], "lines"), tmp_path / "mine.jsonl"
    mine.write_text("{")
    with patch("questree.scoring.file_sets.read_records", side_effect=AssertionError):
        assert alike(path, [mine])[0].startswith(f"{mine}, line 1")


@pytest.mark.usefixtures("parted")
def test_a_metric_of_a_plugin_is_counted_by_parts(released: dict[str, Record], tmp_path: Path) -> None:
    metric = Metric("longest", "right / asked", lambda table: table["correct"])
    path, mine = written(tmp_path / "test.txt", released), messy(tmp_path / "mine.jsonl", answers(released))
    with patch.dict(METRICS, {"longest": metric}):
        rows = alike(path, [mine])
    assert "longest" in {row.metric for row in rows}


def test_small_files_are_read_at_once(released: dict[str, Record], tmp_path: Path) -> None:
    alike(written(tmp_path / "test.txt", released), [messy(tmp_path / "mine.jsonl", answers(released))], parts=False)


@pytest.mark.usefixtures("parted")
def test_files_without_questions_are_told_as_ever(sets: dict[str, list[Record]], tmp_path: Path) -> None:
    mine, train = messy(tmp_path / "mine.jsonl", {"V-1": "yes"}), written(tmp_path / "train.jsonl", sets["train"])
    empty = written(tmp_path / "test.txt", {}, "packed")
    assert alike(empty, [mine], parts=False) == [f"{empty}: no questions"]
    alike(written(tmp_path / "covr.jsonl", [], "packed"), [mine], parts=False, train=train)


def test_a_file_that_is_not_there_is_said_so(tmp_path: Path) -> None:
    for name in ("test.txt", "covr.jsonl"):
        assert alike(tmp_path / name, [], parts=False) == [f"{tmp_path / name}: no such file"]
