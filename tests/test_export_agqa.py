"""A run as AGQA's release: the layout, every field of a record, what is refused."""

import json
import pickle
from concurrent.futures import ThreadPoolExecutor
from itertools import groupby, pairwise
from multiprocessing import active_children
from pathlib import Path

import polars as pl
import pytest

from conftest import copy
from questree.benchmarks.agqa.editions import SECOND
from questree.benchmarks.agqa.held_out import FLAGS
from questree.benchmarks.agqa.records import lines, quoted
from questree.benchmarks.agqa.templates import TEMPLATES, TIMES
from questree.cli.formats import export_agqa as agqa
from questree.faults import BadInput
from questree.formats.agqa import HEADER, ExportOptions, export, id_tables
from questree.notation.agqa import write
from questree.stages.generate.shards import GenerateOptions, generate
from questree.stages.questions import Bank, Question
from questree.stages.split.steps import NEVER, most_steps
from questree.tables.run import Run
from questree.vocabulary import default
from worlds import exported_worlds as made
from worlds.small import facts

SAMPLE = Path(__file__).parents[2] / "shared" / "data" / "formats" / "agqa2_questions.json"
TRAIN = [
    *("question", "answer", "video_id", "global", "local", "ans_type", "steps", "semantic", "structural"),
    *("novel_comp", "more_steps", "program", "sg_grounding"),
]
TEST = [
    *TRAIN,
    *("nc_seq", "nc_sup", "nc_dur", "nc_objrel", "indirect", "i_obj", "i_rel", "i_act", "i_temp", "direct_equiv"),
]
WORDS = default()
NUMBER = {template.name: at for at, template in enumerate(TEMPLATES)}


@pytest.fixture(scope="module")
def asked(random_run: Run) -> list[Question]:
    bank = Bank(random_run)
    return [question for folder in bank.folders() for question in bank.shard(folder)]


@pytest.fixture(scope="module")
def train(release: Path) -> dict[str, made.Record]:
    return made.records(release, "unbalanced", "train")


@pytest.fixture(scope="module")
def test(release: Path) -> dict[str, made.Record]:
    return made.records(release, "unbalanced", "test")


def test_the_layout_is_that_of_the_release(release: Path) -> None:
    kinds = ("balanced", "compo", "steps_templ")
    files = [f"csvs/{part}_frameqa_question-{kind}.csv" for part in ("Test", "Train", "Valid") for kind in kinds]
    files += [f"AGQA_{name}/{split}_{name}.txt" for name in ("balanced", "unbalanced") for split in ("test", "train")]
    graphs = ("AGQA_test_stsgs.pkl", "AGQA_train_stsgs.pkl", "ENG.txt", "IDX.txt")
    assert sorted(made.content(release)) == sorted(files + [f"AGQA_scene_graphs/{name}" for name in graphs])


def test_records_have_the_fields_of_the_release_in_its_order(
    train: dict[str, made.Record], test: dict[str, made.Record]
) -> None:
    assert {tuple(record) for record in train.values()} == {tuple(TRAIN)}
    assert {tuple(record) for record in test.values()} == {tuple(TEST)}


@pytest.mark.skipif(not SAMPLE.is_file(), reason="the released sample is not beside the repository")
def test_fields_have_the_types_of_the_released_sample(test: dict[str, made.Record]) -> None:
    released = json.loads(SAMPLE.read_text())["YSKX3-8"]
    assert list(released) == TEST
    types = {name: type(value) for name, value in released.items()}
    for record in test.values():
        assert {name: type(record[name]) for name in TEST[:-1]} == {name: types[name] for name in TEST[:-1]}
        assert isinstance(record["direct_equiv"], str | None)


def test_the_split_of_a_video_decides_its_file_and_no_split_means_test(
    random_run: Run, train: dict[str, made.Record], test: dict[str, made.Record]
) -> None:
    said = dict(random_run.load("facts").videos.select("id", "split").iter_rows())
    assert {said[record["video_id"]] for record in train.values()} == {"train"}
    assert {said[record["video_id"]] for record in test.values()} == {"test", ""}


def test_questions_come_by_video_and_number(train: dict[str, made.Record]) -> None:
    videos = [video for video, _ in groupby(id.rpartition("-")[0] for id in train)]
    assert len(videos) == len(set(videos))
    numbers = [(id.rpartition("-")[0], int(id.rpartition("-")[2])) for id in train]
    assert all(a[0] != b[0] or a[1] < b[1] for a, b in pairwise(numbers))


def test_the_balanced_file_has_the_selected_questions(random_run: Run, release: Path) -> None:
    chosen = pl.concat([pl.read_parquet(path) for path in sorted(random_run.balanced.glob("*.parquet"))])
    ids = random_run.load("facts").videos["id"]
    wanted = {f"{ids[video]}-{number}" for video, number in chosen.iter_rows()}
    found = made.records(release, "balanced", "train") | made.records(release, "balanced", "test")
    assert set(found) == wanted
    everything = made.records(release, "unbalanced", "train") | made.records(release, "unbalanced", "test")
    assert found == {id: everything[id] for id in found}


def test_a_record_says_what_its_question_says(
    asked: list[Question], train: dict[str, made.Record], test: dict[str, made.Record]
) -> None:
    records = train | test
    assert len(records) == len(train) + len(test) == len(asked)
    for question in asked[::3]:
        record, labels = records[question.id], question.template.categories
        assert record["question"] == question.text
        assert record["answer"] == question.answer.lower()
        assert record["program"] == write(question.program, WORDS)
        assert record["video_id"] == question.id.rpartition("-")[0]
        assert record["steps"] == question.row["steps"]
        assert record["global"] == list(labels.reasoning)
        assert (record["semantic"], record["structural"]) == (labels.semantic, labels.structural)
        assert record["ans_type"] == ("open" if labels.structural == "query" else "binary")
        flags = {name: question.row["flags"] >> bit & 1 for bit, name in enumerate(FLAGS)}
        assert record["novel_comp"] == max(flags[name] for name in FLAGS if name.startswith("nc_"))
        if question.id in test:
            assert {name: record[name] for name in FLAGS} == flags
            assert record["indirect"] == max(flags[name] for name in FLAGS if name.startswith("i_"))


def local_key(question: Question) -> str:
    """Section 3.4 of the description of AGQA, for one question."""
    row, name = question.row, question.template.name
    time = "-".join(WORDS.actions[at].id for at in ((row["time"] >> 8) % 256 - 1, (row["time"] >> 16) - 1) if at >= 0)
    words = WORDS.actions if name.startswith("act") else WORDS.objects
    x, y = (words[row[side]].id if row[side] < len(words) else "" for side in "xy")
    relation = WORDS.relations[row["relation"]].id if row["relation"] != 255 else ""
    raw = dict.fromkeys(("objWhat", "objFirst", "objLast"), relation)
    raw |= dict.fromkeys(("actWhatAfterAll", "actWhatBefore", "actFirst"), time)
    raw |= {"objWhatGeneral": "object", "actLast": "action", "actLongest": "longest", "actShortest": "shortest"}
    if name in raw:
        return raw[name]
    end = f"{TIMES[row['time'] % 256]}-{time}"
    if name.startswith("actLength"):
        way = "longer" if "Longer" in name else "shorter"
        return f"{way}-{x}-{y}-{way}-{end}" if "Choose" in name else f"yes-no-{way}-{x}-{y}-{end}"
    if "Choose" in name:
        return f"{relation}-{x}-{y}-{relation}-{x}-{y}-{end}"
    if name in ("actTime", "relTime", "objTime"):
        return f"before-after-{relation or x}-{WORDS.actions[row['y']].id}-{end}"
    if name in ("andObjRelExists", "xorObjRelExists"):
        return f"yes-no-{name[:3]}-{relation}-{x}-{y}-{end}"
    own = {"objExists": x, "relExists": relation}.get(name, f"{relation}-{x}")
    return f"yes-no-{own}-{end}"


def test_balancing_keys_are_those_of_the_release(
    asked: list[Question], train: dict[str, made.Record], test: dict[str, made.Record]
) -> None:
    records = train | test
    assert {question.id: records[question.id]["local"] for question in asked} == {
        question.id: local_key(question) for question in asked
    }


def test_the_direct_equivalent_is_the_first_direct_question_of_its_kind(
    asked: list[Question], test: dict[str, made.Record]
) -> None:
    groups: dict[tuple[object, ...], list[Question]] = {}
    for question in sorted(asked, key=lambda question: (question.video, question.row["number"])):
        row = question.row
        raw = row["time"] if "{time}" in question.template.local else 0  # the raw key has no time in it but here
        key = (question.video, question.template.name, row["relation"], row["x"], row["y"], raw)
        groups.setdefault(key, []).append(question)
    met = set()
    for members in groups.values():
        direct = next((question.id for question in members if not question.row["flags"] & 0b1111), None)
        for question in members:
            if question.id in test:
                assert test[question.id]["direct_equiv"] == direct
                met.add((direct is None, direct == question.id))
    assert met == {(True, False), (False, True), (False, False)}


def test_more_steps_are_those_a_quarter_of_the_training_questions_exceeds() -> None:
    rows = [(0, 1, 50), (0, 3, 25), (0, 5, 25), (1, 2, 74), (1, 4, 26), (NUMBER["relTime"], 8, 9)]
    told = [(*row, True) for row in rows] + [(0, 8, 900, False), (2, 1, 1, False), (2, 3, 1, False)]
    counts = pl.DataFrame(told, ["template", "steps", "n", "train"], orient="row")
    found = {at: most for at, most in enumerate(most_steps(counts, {}, SECOND)) if most != NEVER}
    assert found == {0: 3, 1: 4, 2: 3, NUMBER["relTime"]: 5}


def test_balanced_training_questions_decide_what_has_more_steps(
    asked: list[Question], release: Path, train: dict[str, made.Record], test: dict[str, made.Record]
) -> None:
    taken: dict[str, dict[str, list[int]]] = {"train": {}, "test": {}}
    for side, own in taken.items():
        selected = made.records(release, "balanced", side)
        for question in asked:
            if question.id in selected:
                own.setdefault(question.template.name, []).append(question.row["steps"])
    most = {
        name: min(m for m in steps if 4 * sum(s <= m for s in steps) >= 3 * len(steps))
        for name, steps in (taken["test"] | taken["train"]).items()
    }
    most["relTime"] = 5
    records = train | test
    for question in asked:
        wanted = int(question.row["steps"] > most.get(question.template.name, NEVER))
        assert records[question.id]["more_steps"] == wanted, question


def test_ids_and_english_lead_to_each_other(release: Path) -> None:
    folder = release / "AGQA_scene_graphs"
    english, ids = (json.loads((folder / name).read_text()) for name in ("ENG.txt", "IDX.txt"))
    assert (english, ids) == (id_tables(WORDS)["ENG"], id_tables(WORDS)["IDX"])
    assert (english["o4"], english["r15"], english["c076"]) == ("blanket", "holding", "holding a pillow")
    assert all(english[id] == text for text, id in ids.items())
    assert set(ids) == set(english.values())


def test_text_that_json_must_escape_is_escaped() -> None:
    odd = ["plain", 'a "b"', "back\\slash", "tab\t", "café", None, "", "\x7f"]
    found = quoted(pl.Series(odd, dtype=pl.String)).to_list()
    assert found == [None if text is None else json.dumps(text) for text in odd]


def test_a_line_is_what_the_json_module_writes(test: dict[str, made.Record]) -> None:
    id, record = next(iter(test.items()))
    columns = {
        name: json.dumps(value) if name in ("global", "sg_grounding") else value for name, value in record.items()
    }
    line = lines(pl.DataFrame([{"id": id, **columns}]), "test")[0]
    assert "{" + line + "}" == json.dumps({id: record})


def test_without_a_selection_only_everything_can_be_exported(random_run: Run, tmp_path: Path) -> None:
    run = Run(copy(random_run, tmp_path).folder)
    for path in run.balanced.iterdir():
        path.unlink()
    run.balanced.rmdir()
    with pytest.raises(BadInput) as refused:
        export(run, tmp_path / "out", ExportOptions())
    fault = f"{run.balanced}: no balanced questions: `questree balance` selects them; or use --unbalanced"
    assert [str(one) for one in refused.value.faults] == [fault]
    assert not (tmp_path / "out").exists()
    made.exported(run, tmp_path / "out", unbalanced=True, graphs=False)
    names = {path.name for path in (tmp_path / "out" / "csvs").iterdir()}
    assert "Train_frameqa_question-unbalanced.csv" in names
    assert not (tmp_path / "out" / "AGQA_balanced").exists()
    assert not (tmp_path / "out" / "AGQA_scene_graphs" / "AGQA_test_stsgs.pkl").exists()


def test_a_selection_of_questions_that_are_not_there_is_refused(random_run: Run, tmp_path: Path) -> None:
    run = copy(random_run, tmp_path)
    pl.DataFrame({"video": [0], "number": [999_999]}).write_parquet(run.balanced / "more.parquet")
    with pytest.raises(BadInput, match=r"selects questions that .*/00000 does not have"):
        made.exported(run, tmp_path / "out", csv=False)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["run"]  # nothing half-written


def test_a_video_without_frames_has_no_questions_and_an_empty_graph(tmp_path: Path) -> None:
    known = facts("video A test\nvideo B\nframes 0 1\nbag 0: holding\nvideo C")
    run = made.run_of(known, tmp_path / "run", shard=1)  # two shards are empty
    out = made.exported(run, tmp_path / "out", unbalanced=True)
    assert made.records(out, "unbalanced", "train") == {}
    assert {record["video_id"] for record in made.records(out, "unbalanced", "test").values()} == {"B"}
    graphs = pickle.loads((out / "AGQA_scene_graphs" / "AGQA_test_stsgs.pkl").read_bytes())
    assert (graphs["A"], graphs["C"]) == ({}, {})
    assert (out / "csvs" / "Valid_frameqa_question-compo.csv").read_text() == HEADER


def test_a_folder_with_other_things_is_not_overwritten(random_run: Run, tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").touch()
    with pytest.raises(BadInput, match=r"not an earlier export \(it has thesis.tex\)"):
        export(random_run, tmp_path, ExportOptions())


@pytest.mark.processes
def test_neither_shards_nor_processes_change_a_byte(random_run: Run, release: Path, tmp_path: Path) -> None:
    run = copy(random_run, tmp_path)
    generate(run, GenerateOptions(shard=4, rare_below=0), pool=ThreadPoolExecutor(1))
    agqa(run.folder, out=tmp_path / "out", unbalanced=True, workers=2, json=tmp_path / "told.json", quiet=True)
    assert not active_children(), "a command that ends meanwhile may wait for them for ever"
    assert made.content(tmp_path / "out") == made.content(release)
    told = json.loads((tmp_path / "told.json").read_text())
    assert told["questions"]["train_unbalanced.txt"] == len(made.records(release, "unbalanced", "train"))
