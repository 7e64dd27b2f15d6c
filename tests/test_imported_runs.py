"""Released files are runs: an imported question is stored like a generated one, and every stage takes it from there."""

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from html import unescape
from pathlib import Path
from unittest.mock import patch

import polars as pl
import pytest
from starlette.testclient import TestClient

from chaos.kills import content
from judges import scores_at_once
from questree.api.score_sets import scored_dags
from questree.benchmarks.agqa.held_out import NOVEL, held_out
from questree.faults import BadInput
from questree.formats import agqa_import, agqa_run, decomp_chunks
from questree.formats.agqa_packed import NO_NUMBER
from questree.formats.agqa_run import import_agqa
from questree.formats.decomp_run import import_dags
from questree.formats.decomp_tasks import NO_QUESTION
from questree.formats.json_records import spans
from questree.scoring import agqa_questions
from questree.scoring.compared import Scoring
from questree.scoring.video_dags import VideoDags
from questree.show.page.app import application
from questree.show.page.site import Site
from questree.stages.balance.rounds import selection
from questree.stages.generate.layout import cut
from questree.stages.questions import Bank, Shard
from questree.stages.split.compositions import LISTS, Says
from questree.stages.split.rows import video_rows
from questree.stages.split.videos import read_split
from questree.tables.facts import VIDEOS
from questree.tables.nodes import GIVEN
from questree.tables.run import Run
from questree.terms import slots
from worlds import exported_worlds as made
from worlds.commands import questree
from worlds.commands import run as command

DAGS = "DAGS/balanced_test_hierarchies"
WORDED = ("first", "second", "phrase")  # rows of side tables, which an import numbers anew


def some(release: Path, folder: Path, split: str = "test") -> Path:
    """The balanced file of a split alone."""
    folder.mkdir()
    shutil.copy(release / "AGQA_balanced" / f"{split}_balanced.txt", folder)
    return folder


@pytest.fixture(scope="module")
def apart(release: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A few balanced questions as files, DAGs and the answers of a bot that is sometimes wrong."""
    place = tmp_path_factory.mktemp("apart")
    records = dict(list(made.records(release, "balanced", "test").items())[::20])
    (place / "files").mkdir()
    (place / "files" / "test_balanced.txt").write_text(json.dumps(records))
    for line in (
        f"import agqa files --out RUN --facts {release}",
        "decompose RUN --workers 1",
        "answer RUN --model perception-noise --out mine.jsonl",
        "export decomp RUN --out DAGS --workers 1",
    ):
        command(f"questree {line} --quiet".replace("RUN", str(place / "RUN")), place)  # names are remembered
    return place


def every(run: Run) -> dict[str, tuple[Shard, int]]:
    """Id -> its shard and row."""
    bank, found = Bank(run), dict[str, tuple[Shard, int]]()
    for folder in bank.folders():
        shard = bank.shard(folder)
        found |= {id: (shard, row) for row, id in enumerate(shard.named_ids.to_list())}
    return found


def test_imported_questions_are_stored_like_the_generated_ones(imported: Run, random_run: Run) -> None:
    ours, theirs = every(imported), every(random_run)
    assert ours.keys() == theirs.keys()
    named = {run.folder: run.table("facts", VIDEOS)["id"].to_list() for run in (imported, random_run)}
    for id, (shard, row) in theirs.items():
        one, other = ours[id][0].questions.row(ours[id][1], named=True), shard.questions.row(row, named=True)
        assert named[imported.folder][one.pop("video")] == named[random_run.folder][other.pop("video")]
        train = one["flags"] != other["flags"]
        if train:  # records to train on do not say which composition is novel, only that some is
            assert one["flags"] & ~NOVEL == other["flags"] & ~NOVEL
            assert one["flags"] & NOVEL
            assert other["flags"] & NOVEL
        for name in other.keys() - {*WORDED, "flags"}:
            assert one[name] == other[name], (id, name)


def test_imported_questions_have_the_programs_and_texts_of_the_generated_ones(imported: Run, random_run: Run) -> None:
    ours, theirs = every(imported), every(random_run)
    for id in list(theirs)[::97]:
        one, other = (shard.question(row) for shard, row in (ours[id], theirs[id]))
        assert (one.program, one.text, one.answer) == (other.program, other.text, other.answer)
        form = ours[id][0].form(int(ours[id][0].forms[ours[id][1]]))
        for slot in slots(form.node):
            assert ours[id][0].words[slot][ours[id][1]] == theirs[id][0].words[slot][theirs[id][1]]
        for slot, (begin, end) in one.spans.items():
            assert one.text[begin:end].lower() in other.text.lower(), (id, slot)


def test_selection_and_splits_are_those_of_the_records(imported: Run, release: Path) -> None:
    names = imported.table("facts", VIDEOS)["id"]

    def ids(table: pl.DataFrame) -> set[str]:
        return {f"{names[video]}-{number}" for video, number in table.select("video", "number").iter_rows()}

    balanced = {split: made.records(release, "balanced", split) for split in ("train", "test")}
    chosen = selection(imported)
    assert chosen is not None
    assert ids(chosen) == balanced["train"].keys() | balanced["test"].keys()
    for name, field in (("videos", None), ("novel-compositions", "novel_comp"), ("more-steps", "more_steps")):
        for split, found in read_split(imported, name).items():
            kept = {id for id, own in balanced[split].items() if field is None or own[field] == (split == "test")}
            assert ids(found) == kept, (name, split)


def test_what_imported_questions_say_is_what_the_generated_ones_say(imported: Run, random_run: Run) -> None:
    """Without facts: records tell what references stand for, so a new split holds out the same."""
    held = held_out(random_run.vocabulary())
    said: list[dict[str, tuple[bool, ...]]] = [{}, {}]
    for found, run in zip(said, (imported, random_run), strict=True):
        bank = Bank(run)
        for shard in map(bank.shard, bank.folders()):
            rows = video_rows(shard)
            truths = [Says(name, held).holds(rows).tolist() for name in LISTS.values()]
            found |= dict(zip(shard.named_ids, zip(*truths, strict=True), strict=True))
    assert said[0] == said[1] and {*map(any, said[0].values())} == {True, False}


def test_a_file_with_balanced_questions_alone_and_capital_answers_is_a_run(release: Path, tmp_path: Path) -> None:
    records = made.records(release, "balanced", "test")
    for record in records.values():
        record["answer"] = record["answer"].capitalize()
    (tmp_path / "files").mkdir()
    (tmp_path / "files" / "test_balanced.txt").write_text(json.dumps(records))
    run = Run(tmp_path / "run")
    told = import_agqa(tmp_path / "files", run.folder)
    assert sum(map(len, told.left_out)) == 0
    assert every(run).keys() == records.keys()
    chosen = selection(run)
    assert chosen is not None
    assert len(chosen) == len(records)
    out = made.exported(run, tmp_path / "again", csv=False)
    assert made.records(out, "balanced", "test") == records
    selected, whole = (agqa_questions.of_run(run, "test", every).table for every in (False, True))
    assert whole.equals(selected) and len(whole)


def test_what_is_no_question_is_told_and_kept(release: Path, tmp_path: Path) -> None:
    few = dict(list(made.records(release, "balanced", "test").items())[:4])
    ids = list(few)
    few[ids[0]]["answer"] = "a spaceship"
    few[ids[1]]["program"] = "Exists(taking, Iterate(video, Filter(frame, [actions])))"
    few = {"no number" if id == ids[2] else id: record for id, record in few.items()}
    (tmp_path / "files").mkdir()
    (tmp_path / "files" / "test_balanced.txt").write_text(json.dumps(few))
    told = import_agqa(tmp_path / "files", tmp_path / "run")
    left = pl.concat(told.left_out).rows()
    assert dict(left)[ids[0]] == "its answer is none its template can have"
    assert dict(left)["no number"] == "its id is not <video>-<number>"
    assert every(Run(tmp_path / "run")).keys() == few.keys() - {id for id, _ in left} - {ids[1]}
    out = made.exported(Run(tmp_path / "run"), tmp_path / "again", csv=False)
    assert made.records(out, "balanced", "test") == few


def test_a_run_with_questions_of_its_own_takes_no_others(random_run: Run, release: Path) -> None:
    with pytest.raises(BadInput, match="this run has questions already"):
        import_agqa(release, random_run.folder)


def test_questions_may_be_imported_again(release: Path, tmp_path: Path) -> None:
    source, run = some(release, tmp_path / "files"), Run(tmp_path / "run")
    assert not import_agqa(source, run.folder).facts
    assert not run.has_facts()
    first = every(run).keys()
    run.decomposed.mkdir()
    (run.predictions / "mine").mkdir(parents=True)
    assert import_agqa(source, run.folder, release).facts
    assert not run.decomposed.exists() and (run.predictions / "mine").is_dir()
    assert run.has_facts()
    assert every(run).keys() == first


def test_a_sample_has_all_balanced_questions_and_is_drawn_by_ids(
    imported: Run, random_run: Run, release: Path, tmp_path: Path
) -> None:
    found = {}
    for name, run in (("generated", random_run), ("imported", imported)):
        out = made.exported(run, tmp_path / name, unbalanced=True, csv=False, graphs=False, sample=2200)
        drawn = [made.records(out, "unbalanced", split) for split in ("train", "test")]
        chosen = [made.records(out, "balanced", split) for split in ("train", "test")]
        assert sum(map(len, drawn)) == 2200
        assert all(own.keys() <= few.keys() for own, few in zip(chosen, drawn, strict=True))
        found[name] = drawn
    assert found["generated"] == found["imported"]
    more = made.exported(random_run, tmp_path / "more", unbalanced=True, csv=False, graphs=False, sample=2500)
    for split, own in zip(("train", "test"), found["generated"], strict=True):
        assert own.keys() <= made.records(more, "unbalanced", split).keys()
    with pytest.raises(BadInput, match="as many as there are balanced ones, got 5"):
        made.exported(random_run, tmp_path / "few", unbalanced=True, sample=5)
    with pytest.raises(BadInput, match="sample: expected unbalanced"):
        made.exported(random_run, tmp_path / "few", sample=2500)


def guesses(release: Path, file: Path) -> Path:
    """Predictions for the balanced test questions, two of three right."""
    records = made.records(release, "balanced", "test")
    said = [record["answer"] if at % 3 else "no" for at, record in enumerate(records.values())]
    rows = [{"id": id, "prediction": word} for id, word in zip(records, said, strict=True)]
    file.write_text("\n".join(map(json.dumps, rows)))
    return file


def scored(what: str, tmp_path: Path) -> list[dict[str, object]]:
    command(f"questree score agqa {what} --resamples 20 --quiet --json {tmp_path / 'scores.json'}", tmp_path)
    found: list[dict[str, object]] = json.loads((tmp_path / "scores.json").read_text())
    return found


def test_a_run_is_scored_like_its_question_file(imported: Run, random_run: Run, release: Path, tmp_path: Path) -> None:
    said = f"--predictions {guesses(release, tmp_path / 'said.jsonl')}"
    wanted = scored(f"--questions {release}/AGQA_balanced/test_balanced.txt {said}", tmp_path)
    assert len(wanted) > 100
    assert scored(f"{imported.folder} {said}", tmp_path) == wanted
    assert scored(f"{random_run.folder} {said}", tmp_path) == wanted


def test_a_run_without_facts_goes_through_every_command(release: Path, tmp_path: Path) -> None:
    records = dict(list(made.records(release, "balanced", "test").items())[:40])
    (tmp_path / "files").mkdir()
    (tmp_path / "files" / "test_balanced.txt").write_text(json.dumps(records))
    one = next(iter(records))
    for line in (
        "import agqa files --out RUN",
        "audit RUN --workers 1",
        "split RUN",
        "decompose RUN --workers 1",
        *(f"answer RUN --model {bot}" for bot in ("oracle", "most-likely", "perception-noise")),
        "answer RUN --model perception-noise --name mine --out mine.jsonl",
        "answer RUN --predictions mine.jsonl --model again",
        "score agqa RUN --model mine --resamples 10 --json mine.json",
        "score agqa RUN --model again --resamples 10 --json again.json",
        "score decomp RUN --resamples 10 --json dags.json",
        "compare oracle mine --run RUN --resamples 10",
        "report RUN --out page.html --resamples 10",
        "export agqa RUN --out AGAIN",
        "export decomp RUN --out DAGS --workers 1",
        f"score decomp --hierarchies {DAGS} --predictions mine.jsonl --resamples 10 --json files.json",
        "verify RUN --again",
        "diff RUN RUN",
    ):
        command(f"questree {line} --quiet", tmp_path)
    found = {name: json.loads((tmp_path / f"{name}.json").read_text()) for name in ("mine", "again", "dags", "files")}
    assert [row | {"model": ""} for row in found["mine"]] == [row | {"model": ""} for row in found["again"]]
    assert [row for row in found["dags"] if row["model"] == "mine"] == found["files"]
    right = [row for row in found["dags"] if row["model"] == "oracle" and row["metric"] == "accuracy"]
    assert {row["value"] for row in right if row["n"]} == {1.0}
    assert made.records(tmp_path / "AGAIN", "balanced", "test") == records
    page = (tmp_path / "page.html").read_text("utf-8")
    assert "Traceback" not in page
    video = one.rpartition("-")[0]
    for id in (one, video):
        shown = questree("show", "RUN", id, folder=tmp_path).stdout
        assert f"the run has no facts about video {video}, so there is no timeline" in shown
    client = TestClient(application(Site.read(Run(tmp_path / "RUN"))), base_url="http://127.0.0.1:8000")
    for place in ("/", "/?words=the&sort=question", "/list/video.csv", f"/questions/{one}", "/compare"):
        assert client.get(place).status_code == 200
    assert "The run has no facts about this video" in client.get(f"/questions/{one}").text


@pytest.mark.parametrize("questions", [True, False])
def test_released_dags_are_the_dags_of_a_run(questions: bool, apart: Path, release: Path, tmp_path: Path) -> None:
    if questions:
        command(f"questree import agqa {apart / 'files'} --out {tmp_path / 'RUN'} --quiet", tmp_path)
    for line in (
        f"import decomp {apart / 'DAGS'} --out RUN --json told.json",
        f"answer RUN --predictions {apart / 'mine.jsonl'} --model mine",
        *(f"answer RUN --model {bot}" for bot in ("oracle", "most-likely", "composition-noise")),
        "score decomp RUN --resamples 10 --json dags.json",
        "score agqa RUN --resamples 10 --json questions.json",
        f"score decomp RUN --predictions {apart / 'mine.jsonl'} --resamples 10 --json given.json",
        f"score decomp --hierarchies {apart / DAGS} --predictions {apart / 'mine.jsonl'} "
        "--resamples 10 --json files.json",
        f"score agqa --questions {apart / 'files' / 'test_balanced.txt'} --predictions {apart / 'mine.jsonl'} "
        "--resamples 10 --json alone.json",
        "report RUN --out page.html --resamples 10",
        "export decomp RUN --out AGAIN",
        "verify RUN --again",
    ):
        command(f"questree {line} --quiet".replace("RUN", str(tmp_path / "RUN")), tmp_path)
    found = {name: json.loads((tmp_path / f"{name}.json").read_text()) for name in ("told", "dags", "files", "alone")}
    found["questions"], given = (json.loads((tmp_path / f"{name}.json").read_text()) for name in ("questions", "given"))
    assert given == found["files"] and VideoDags.ids_apart(Run(tmp_path / "RUN"), None)
    assert found["told"]["left out"] == []
    assert [row for row in found["dags"] if row["model"] == "mine"] == found["files"]
    right = [row for row in found["dags"] if row["model"] == "oracle" and row["metric"] == "accuracy"]
    assert {row["value"] for row in right if row["n"]} == {1.0}
    same = [row for row in found["questions"] if row["model"] == "mine" and row["by"] != "flag"]
    if questions:  # a DAG alone does not say what is novel or takes more steps
        assert same == [row for row in found["alone"] if row["model"] == "mine" and row["by"] != "flag"]
    assert made.content(tmp_path / "AGAIN") == {
        name: own for name, own in made.content(apart / "DAGS").items() if not name.startswith("csvs")
    }
    assert "contradicts itself" in (tmp_path / "page.html").read_text("utf-8")  # in the drawing of a failure
    id, dag = next(iter(json.loads(next((apart / DAGS).glob("[!i]*.json")).read_text()).items()))
    shown = questree("show", tmp_path / "RUN", id, "--dag", folder=tmp_path).stdout
    client = TestClient(application(Site.read(Run(tmp_path / "RUN"))), base_url="http://127.0.0.1:8000")
    page = unescape(client.get(f"/questions/{id}").text)
    assert client.get("/?words=the&sort=-question").status_code == client.get("/list/video.jsonl").status_code == 200
    for text in dag["subquestion"]:
        assert text in shown
        assert text in page
    if not questions:
        goes_on(tmp_path)


def test_ids_that_several_shards_may_have_are_looked_at_together(apart: Path, tmp_path: Path) -> None:
    command(f"questree import decomp {apart / 'DAGS'} --out {tmp_path / 'RUN'} --quiet", tmp_path)
    run, file = Run(tmp_path / "RUN"), apart / "mine.jsonl"
    assert VideoDags.ids_apart(run, None)
    folder = next(path for path in run.decomposed.iterdir() if path.is_dir())
    table = GIVEN.read(folder)
    GIVEN.write(table.with_columns(key=table["key"].scatter(0, "anybody")), folder)
    assert not VideoDags.ids_apart(run, None)
    how = Scoring("wrong", 10)
    parts = scored_dags([file], (), run.folder, how=how)
    assert parts.rows == scores_at_once.dags(run.folder, how=how).of_files([file]).rows


def goes_on(folder: Path) -> None:
    """A run of DAGs alone goes through what makes other selections, splits and DAGs, and is not emptied."""
    for line in (
        "audit RUN --workers 1",
        "balance RUN",
        "split RUN",
        "decompose RUN --workers 1",
        "export traces RUN --out TRACES",
    ):
        command(f"questree {line} --quiet".replace("RUN", str(folder / "RUN")), folder)
    before = every(Run(folder / "RUN")).keys()
    for words in (
        ("generate",),
        ("generate", "--estimate"),
        ("ground", "--out", "G"),
        ("export", "agqa", "--out", "G"),
    ):
        told = questree(*words, folder / "RUN", folder=folder)
        assert (
            told.returncode == 1 and len(told.stderr.strip().splitlines()) == 1 and str(folder / "RUN") in told.stderr
        )
    assert every(Run(folder / "RUN")).keys() == before


def test_dags_that_cannot_be_read_are_told_and_kept(apart: Path, tmp_path: Path) -> None:
    shutil.copytree(apart / DAGS, tmp_path / "files_test_hierarchies")
    path = next((tmp_path / "files_test_hierarchies").glob("[!i]*.json"))
    dags = json.loads(path.read_text())
    first, second, *rest = dags
    next(iter(dags[first]["subquestion"].values()))["program"] = "humming(objExists(person))"
    next(iter(dags[second]["subquestion"].values()))["answer"] = "a spaceship"
    path.write_text(json.dumps(dags))
    run = Run(tmp_path / "RUN")
    command(f"questree import decomp files_test_hierarchies --out {run.folder} --json told.json --quiet", tmp_path)
    told = json.loads((tmp_path / "told.json").read_text())["left out"]
    assert sorted(each["for example"] for each in told) == sorted([first, second])
    assert {first, second}.isdisjoint(every(run))
    assert set(rest) <= every(run).keys()
    command(f"questree export decomp {run.folder} --out AGAIN --quiet", tmp_path)
    assert json.loads(next((tmp_path / "AGAIN").glob(f"*/{path.name}")).read_text()) == dags


def odd_folders(apart: Path, folder: Path) -> Path:
    """DAGs in three folders with videos in common, and what cannot be read or is of no question among them."""
    names = "balanced_test_hierarchies", "some_train_hierarchies", "unbalanced_test_hierarchies"
    one, two, three = (shutil.copytree(apart / DAGS, folder / name) for name in names)
    files = sorted(path.name for path in one.glob("[!i]*.json"))
    loose = json.loads((one / "isolated.json").read_text())
    for path in (one / files[0], one / files[3], *(two / name for name in files[1:]), *(three / n for n in files[::2])):
        path.unlink()
    for path, id in ((one / files[1], f"{files[2][:-5]}-1"), (three / files[1], "nobody-7"), (two / files[0], "odd")):
        dags = json.loads(path.read_text())  # ids of other videos, or of none
        path.write_text(json.dumps(dags | {id: next(iter(dags.values()))}))
    for path, program in ((one / files[-1], "humming(objExists(person))"), (three / files[1], "hm(objExists(person))")):
        dags = json.loads(path.read_text())
        next(iter(next(iter(dags.values()))["subquestion"].values()))["program"] = program
        _, second, *_ = dags.values()
        second["old_program"] = "Hm("
        path.write_text(json.dumps(dags))
    top = next(each for each in json.loads((one / files[2]).read_text()).values())["subquestion"]
    text, node = next((text, node) for text, node in top.items() if node["program"])
    more = [{"type": "x"}, {**node, "key": "nobody-n1", "question": text}, {**node, "key": "alone-3", "question": text}]
    (two / "isolated.json").write_text(json.dumps([*more, *loose[::-1]]))
    return folder


@pytest.mark.parametrize("questions", [True, False])
def test_however_dags_are_shared_out_the_run_is_the_same(questions: bool, apart: Path, tmp_path: Path) -> None:
    source, found = odd_folders(apart, tmp_path / "folders"), list[tuple[dict[str, bytes], object]]()
    with patch.object(agqa_run, "cut", lambda expected, _: cut(expected, 2)):
        for name, videos, workers in (("whole", 1000, 1), ("single", 1, 1), ("few", 3, 2)):
            run = tmp_path / name
            if questions:
                import_agqa(apart / "files", run)
            with patch.object(decomp_chunks, "VIDEOS", videos):
                told, left = import_dags(source, run, workers=workers)
            assert left is not None
            kept = {file: data for file, data in content(run).items() if not file.startswith("hierarchies")}
            found.append((kept, (told, left.in_order(), list(left.in_order()[0]))))
    assert found[0] == found[1] == found[2]
    assert sum(name.startswith("decomposed/") and name.endswith("tops.parquet") for name in found[0][0]) > 2
    assert left is not None
    counts = left.in_order()[0]
    assert counts[NO_NUMBER] >= 2 and counts[NO_QUESTION] and sum(why.startswith("program: ") for why in counts) == 2


def both_sets(release: Path, folder: Path) -> Path:
    """Some questions of test videos, a few of them balanced, too."""
    records = dict(list(made.records(release, "unbalanced", "test").items())[::7])
    folder.mkdir()
    (folder / "test_unbalanced.txt").write_text(json.dumps(records))
    (folder / "test_balanced.txt").write_text(json.dumps(dict(list(records.items())[::5])))
    return folder


@contextmanager
def cut_small() -> Iterator[None]:
    """Files are read in many parts."""
    with (
        patch.object(agqa_import, "ROWS", 40),
        patch.object(agqa_import, "spans", lambda path: spans(path, 4000)),
    ):
        yield


@pytest.mark.parametrize("known", [True, False])
def test_however_files_are_cut_the_questions_are_the_same(release: Path, tmp_path: Path, known: bool) -> None:
    source, facts = both_sets(release, tmp_path / "files"), release if known else None
    whole, cut = tmp_path / "whole", tmp_path / "cut"
    told = [import_agqa(source, whole, facts)]
    with cut_small():
        assert len(list(agqa_import.file_parts(source, cut))) > 8
        told.append(import_agqa(source, cut, facts))
    assert told[0].questions == told[1].questions and told[0].shapes == told[1].shapes
    ours, theirs = (
        {name: data for name, data in content(run).items() if not name.startswith("imported")} for run in (whole, cut)
    )
    assert ours == theirs and any(name.startswith("splits") for name in ours)


def test_a_part_of_a_file_that_cannot_be_read_is_named(release: Path, tmp_path: Path) -> None:
    source = both_sets(release, tmp_path / "files")
    file = source / "test_unbalanced.txt"
    text = file.read_text()
    at = text.index('"question": ', len(text) // 2)
    file.write_text(text[:at] + text[at:].replace('"question": ', '"question" ', 1))
    with cut_small(), pytest.raises(BadInput) as bad:
        import_agqa(source, tmp_path / "run")
    first, last = map(str, bad.value.faults)
    assert first.startswith(f"{file}: not JSON: ") and last.startswith("test_unbalanced.txt, part ")
    assert last.endswith("finished; nothing is written; rerun, with --workers 1")
    assert not (tmp_path / "run").exists()
