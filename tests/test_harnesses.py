"""Folders for lmms-eval, VLMEvalKit, inspect_ai and datasets, and what is read back of their logs."""

import importlib.util
import io
import json
import re
import shlex
import zipfile
from pathlib import Path
from types import ModuleType
from typing import Any

import polars as pl
import pyarrow.parquet as pq
import pytest
import yaml  # type: ignore[import-untyped]

from conftest import copy
from questree.api.bot_answers import BotAnswers
from questree.api.dag_tables import edge_table, node_table
from questree.api.harnesses.folders import HARNESSES
from questree.api.judging import RunJudge
from questree.api.runs import open as open_run
from questree.cli.app import COMMANDS
from questree.faults import BadInput
from questree.models.asked import NOT_SEEN
from questree.models.chatty import chatty
from questree.models.predictions import read_predictions
from questree.stages.decompose.hierarchies import hierarchies_in
from questree.tables.run import Run
from worlds.commands import Done, questree

MEDIA = ("run", "images")
EXPORTS = ("inspect", "lmms-eval", "vlmevalkit", "hf")
FRAMES = 3


@pytest.fixture(scope="module")
def media(notebook: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Files that are named like frames and images; nobody looks into them here."""
    folder = tmp_path_factory.mktemp("media")
    for name in BotAnswers.of(notebook / "run", ("always-yes",)).prompts.ids:
        (folder / name).mkdir()
        for number in range(10):
            (folder / name / f"{number:06}.jpg").write_bytes(f"{name} {number}".encode())
        (folder / f"{name}.mp4").write_bytes(b"film")
    for name in BotAnswers.of(notebook / "images", ("always-yes",)).prompts.ids:
        (folder / f"{name}.png").write_bytes(f"image {name} ".encode() * 20)
    return folder


def nodes(run: Path, split: str | None = None) -> pl.DataFrame:
    return node_table(hierarchies_in(Run(run), split), programs=False)


def export(harness: str, run: Path, out: Path, *more: object) -> Done:
    return questree("export", harness, run, "--out", out, *more)


def exported(harness: str, run: Path, out: Path, media: Path, *more: object) -> Path:
    done = export(harness, run, out, "--media", media, "--frames", FRAMES, "--split", "all", *more)
    assert done.returncode == 0, done.stderr
    return out


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


@pytest.mark.parametrize("name", MEDIA)
@pytest.mark.parametrize("harness", ["inspect", "lmms-eval"])
def test_every_question_and_sub_question_is_asked_once(
    harness: str, name: str, notebook: Path, media: Path, tmp_path: Path
) -> None:
    rows = lines(exported(harness, notebook / name, tmp_path / "out", media) / "questions.jsonl")
    known = {row["id"]: row for row in nodes(notebook / name).iter_rows(named=True)}
    assert {row["id"] for row in rows} == {*known} and len(rows) == len(known)
    assert any(row["answer"] is None for row in rows) == any(row["answer"] is None for row in known.values())
    for row in rows:
        own = known[row["id"]]
        assert all(row[field] == own[field] for field in ("question", "answer", "type", "asked"))
        assert row["prompt"].startswith(f"{own['question']}\n")
        ids = [own["scope"]] if isinstance(own["scope"], str) else own["scope"]
        assert row["cluster"] == ids[0] and row["scope"] == ",".join(ids)
        wanted = [f"{ids[0]}/{n:06}.jpg" for n in (1, 5, 8)] if name == "run" else [f"{id}.png" for id in ids]
        assert row["media"] == wanted


def test_one_split_or_all_of_them(notebook: Path, tmp_path: Path) -> None:
    for split in ("test", "train", "all"):
        assert export("inspect", notebook / "run", tmp_path / split, "--split", split).returncode == 0
        rows = lines(tmp_path / split / "questions.jsonl")
        assert {row["id"] for row in rows} == {*nodes(notebook / "run", None if split == "all" else split)["id"]}
        assert all(row["media"] == [] for row in rows)  # without --media only words
    done = export("inspect", notebook / "run", tmp_path / "dev", "--split", "dev")
    assert done.returncode == 1 and "no questions of the split dev" in done.stderr
    assert not (tmp_path / "dev").exists()


def test_a_few_questions_come_with_their_whole_dags(notebook: Path, tmp_path: Path) -> None:
    assert (
        export("lmms-eval", notebook / "run", tmp_path / "out", "--questions", 5, "--prompt", "scoped").returncode == 0
    )
    rows = lines(tmp_path / "out" / "questions.jsonl")
    ids, asked = {row["id"] for row in rows}, {row["id"] for row in rows if row["asked"]}
    edges = edge_table(hierarchies_in(Run(notebook / "run"), "test"))
    below = {*asked}
    while more := {*edges.filter(pl.col("parent").is_in(list(below)))["child"]} - below:
        below |= more
    assert ids == below and len(asked) >= 5 < len(ids)  # a sub-question may be asked by itself, too
    assert all(row["prompt"].startswith(f"Scope: {row['scope']}\n{row['question']}") for row in rows)
    page = (tmp_path / "out" / "README.md").read_text("utf-8")
    assert "--policy lenient --split test --missing skip\n" in page


@pytest.mark.parametrize("name", MEDIA)
@pytest.mark.parametrize("harness", [*HARNESSES, "vlmevalkit"])
def test_the_readme_names_files_that_are_there_and_commands_that_exist(
    harness: str, name: str, notebook: Path, media: Path, tmp_path: Path
) -> None:
    out = exported(harness, notebook / name, tmp_path / "o u t", media)
    page = (out / "README.md").read_text("utf-8")
    assert "{" not in page.replace("${", "")  # nothing is left blank
    for file in re.findall(r"^\| `([\w.]+)`", page, re.M):
        assert (out / file).is_file()
    said = [line for block in re.findall(r"```sh\n(.*?)```", page, re.S) for line in block.splitlines()]
    own = [shlex.split(line.removesuffix(" &")) for line in said if line.startswith("questree ")]
    assert [words[1] for words in own] == ["serve-bot", "answer", "score"] and {words[1] for words in own} - {
        "score"
    } <= {*COMMANDS}
    assert all(words[2] == str((notebook / name).resolve()) for words in own)
    for file in out.glob("*.py"):
        compile(file.read_text("utf-8"), str(file), "exec")


def module(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("written", path)
    assert spec is not None and spec.loader is not None
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


def test_lmms_eval_counts_what_has_an_answer_and_keeps_ids(notebook: Path, media: Path, tmp_path: Path) -> None:
    out = exported("lmms-eval", notebook / "run", tmp_path / "out", media, "--video")
    utils, rows = module(out / "utils.py"), lines(out / "questions.jsonl")
    assert utils.doc_to_visual(rows[0]) == [str(media / f"{rows[0]['scope']}.mp4")]
    assert utils.doc_to_text(rows[0]) == rows[0]["prompt"]
    doc = {"id": "A-1", "cluster": "A", "type": "Choose", "answer": "the bed"}
    right, wrong = (utils.process_results(doc, [said])["accuracy"] for said in ("Bed.", "no bed"))
    assert right == {"id": "A-1", "cluster": "A", "type": "Choose", "score": 1.0} and wrong["score"] == 0.0
    open_ended = utils.process_results(doc | {"answer": None}, ["bed"])["accuracy"]
    assert "score" not in open_ended and utils.accuracy([right, wrong, right, open_ended]) == 2 / 3
    task = yaml.load((out / "questree.yaml").read_text(), _Functions)
    assert task["cluster_key"] == "cluster" and task["dataset_kwargs"]["data_files"]["test"] == "questions.jsonl"
    named = {task[name] for name in ("doc_to_visual", "doc_to_text", "process_results")}
    named |= {task["metric_list"][0]["aggregation"]}
    assert all(hasattr(utils, name.removeprefix("utils.")) for name in named)


class _Functions(yaml.SafeLoader):  # type: ignore[misc]
    """Names of functions as they stand."""


_Functions.add_constructor("!function", lambda loader, node: str(node.value))


@pytest.mark.parametrize("inline", [False, True])
def test_vlmevalkit_has_pictures_by_path_or_inside(inline: bool, notebook: Path, media: Path, tmp_path: Path) -> None:
    out = exported("vlmevalkit", notebook / "images", tmp_path / "out", media, *(["--inline"] if inline else []))
    table = pl.read_csv(out / "questree.tsv", separator="\t", infer_schema=False)
    every = nodes(notebook / "images")
    known = table.select("id").join(every, on="id", how="left", maintain_order="left")
    assert len(table) == len(every) and table["answer"].to_list() == known["answer"].to_list()
    scopes, seen = known["scope"].to_list(), table["image" if inline else "image_path"].to_list()
    for row, (scope, told) in enumerate(zip(scopes, seen, strict=True)):
        if not inline:
            files = [str(media / f"{id}.png") for id in scope]
            assert told == (files[0] if len(files) == 1 else str(files))
        elif told.isdigit():
            assert int(told) < row and scopes[int(told)] == scope and not seen[int(told)].isdigit()
    assert not inline or sum(not told.isdigit() for told in seen) == len({*map(tuple, scopes)})


def test_vlmevalkit_has_videos_by_class(notebook: Path, media: Path, tmp_path: Path) -> None:
    out = exported("vlmevalkit", notebook / "run", tmp_path / "out", media)
    table = pl.read_csv(out / "questree.tsv", separator="\t", infer_schema=False)
    known = dict(nodes(notebook / "run").select("id", "scope").iter_rows())
    assert dict(table.select("id", "video").iter_rows()) == known
    assert json.loads(table["frames"][0]) == [f"{table['video'][0]}/{n:06}.jpg" for n in (1, 5, 8)]
    assert json.loads((out / "settings.json").read_text())["media"] == str(media)


@pytest.mark.parametrize("name", MEDIA)
def test_scores_inside_inspect_are_those_of_score(name: str, notebook: Path) -> None:
    """Sentences of a bot, judged one by one and together, against `questree score` of the same file."""
    bot = BotAnswers.of(notebook / name, ("composition-noise",), noise=0.4).answers["composition-noise"]
    said = {id: chatty(answer, id) for id, answer in bot.items()}
    judge, run = RunJudge(notebook / name), open_run(notebook / name)
    found = judge.scores(said, resamples=50)
    rows = {(row.metric, row.by, row.group): row for row in run.score(said, policy="lenient", resamples=50).rows}
    for metric in ("accuracy", "CA", "RWR", "Delta"):
        own = rows[metric, "type", "Overall"]
        assert found[metric] == own.value
        assert own.low is not None and own.high is not None and 0 < found[f"{metric}_stderr"] < own.high - own.low
    applied = {group: row.value for (metric, by, group), row in rows.items() if (metric, by) == ("IC", "rule")}
    told = {name.removeprefix("IC ") for name in found if name.startswith("IC") and not name.endswith("_stderr")}
    assert told == {"IC" if group == "Overall" else group for group, value in applied.items() if value is not None}
    truth = dict(nodes(notebook / name).select("id", "answer").iter_rows())
    some = [*said][::7]
    judged = {id: judge.judged(id, said[id]) for id in some}
    meant = [id for id in some if bot[id] != NOT_SEEN]  # "nothing" is no answer
    assert {id: judged[id].answer for id in meant} == {id: bot[id] for id in meant}
    assert all(each.right == (None if truth[id] is None else truth[id] == bot[id]) for id, each in judged.items())
    assert judge.scores({some[0]: said[some[0]]}, resamples=0) != {}  # while others are still asked


def inspect_log(said: dict[str, str]) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", "{}")
        for id, text in said.items():
            output = {"choices": [{"message": {"content": text}}]}
            archive.writestr(f"samples/{id}_epoch_1.json", json.dumps({"id": id, "epoch": 1, "output": output}))
    return file.getvalue()


def lmms_log(said: dict[str, str]) -> bytes:
    rows = [
        {"doc_id": at, "filtered_resps": [text], "accuracy": {"id": id, "score": 0.0}, "input": "?"}
        for at, (id, text) in enumerate(said.items())
    ]
    return "\n".join(map(json.dumps, rows)).encode()


def vlmeval_log(said: dict[str, str]) -> bytes:
    table = pl.DataFrame({"index": range(len(said)), "id": [*said], "prediction": [*said.values()]})
    return table.write_csv(separator="\t").encode()


LOGS = {
    "2026-11-17T06-56-23_questree_ZGo.eval": inspect_log,
    "bot/20261117_145312_samples_questree.jsonl": lmms_log,
    "bot/T20261117_G0/bot_questree.tsv": vlmeval_log,
}


@pytest.mark.parametrize("log", LOGS)
@pytest.mark.parametrize("name", MEDIA)
def test_logs_of_a_folder_are_read_back_with_the_scores_of_the_bot(
    log: str, name: str, notebook: Path, tmp_path: Path
) -> None:
    run = copy(Run(notebook / name), tmp_path).folder
    bot = BotAnswers.of(run, ("composition-noise",), noise=0.4).answers["composition-noise"]
    path = tmp_path / "logs" / log
    path.parent.mkdir(parents=True)
    path.write_bytes(LOGS[log]({id: chatty(answer, id) for id, answer in bot.items()}))
    (tmp_path / "logs" / "results.json").write_text("{}")
    assert questree("answer", run, "--model", "harness", "--predictions", tmp_path / "logs").returncode == 0
    assert questree("answer", run, "--model", "composition-noise", "--noise", 0.4, "--name", "bot").returncode == 0
    scored = open_run(run)
    own = scored.score("bot", resamples=0).frame().drop("model")
    back = scored.score("harness", policy="lenient", resamples=0).frame().drop("model")
    own, back = (table.filter(pl.col("by") != "policy") for table in (own, back))
    assert own.equals(back) and own["n"].sum() > 100


def test_of_several_logs_one_must_be_named(tmp_path: Path) -> None:
    for at in range(7):
        (tmp_path / f"{at}.eval").write_bytes(b"")
    with pytest.raises(BadInput, match=r"expected one log of a harness, got 7; choose from .*0.eval, .* \.\.\.$"):
        read_predictions(tmp_path)
    (tmp_path / "empty").mkdir()
    with pytest.raises(BadInput, match="no such file of predictions"):
        read_predictions(tmp_path / "empty")


@pytest.mark.parametrize("name", MEDIA)
@pytest.mark.parametrize("pictures", [False, True])
def test_datasets_has_tables_of_every_split_and_a_card(
    pictures: bool, name: str, notebook: Path, media: Path, tmp_path: Path
) -> None:
    out, run = tmp_path / "hub", notebook / name
    more = ("--media", media, "--frames", FRAMES) if pictures else ()
    assert export("hf", run, out, "--licence", "cc-by-4.0", "--source", "a world", *more).returncode == 0
    head, page = (out / "README.md").read_text("utf-8").split("---\n", 2)[1:]
    card = yaml.safe_load(head)
    assert card["license"] == "cc-by-4.0" and "from a world." in page and "{" not in page.split("```python")[0]
    configs = {each["config_name"]: each["data_files"] for each in card["configs"]}
    info = {each["config_name"]: each for each in card["dataset_info"]}
    for config, files in configs.items():
        for file, told in zip(files, info[config]["splits"], strict=True):
            table = pq.read_table(out / file["path"])
            dags = hierarchies_in(Run(run), file["split"])
            known = node_table(dags) if config == "questions" else edge_table(dags)
            assert len(table) == len(known) == told["num_examples"] and told["name"] == file["split"]
            assert [each["name"] for each in info[config]["features"]] == table.column_names
            same = pl.DataFrame(pl.from_arrow(table.select(known.columns)))
            assert sorted(map(repr, same.rows())) == sorted(map(repr, known.rows()))
            features = json.loads(table.schema.metadata[b"huggingface"])["info"]["features"]
            assert [*features] == table.column_names
            if config == "questions" and pictures:
                row = table.slice(0, 1).to_pylist()[0]
                paths = [each["path"] for each in row["images"]]
                assert all(each["bytes"] == (media / each["path"]).read_bytes() for each in row["images"])
                scope = row["scope"]
                assert paths == (
                    [f"{scope}/{n:06}.jpg" for n in (1, 5, 8)] if name == "run" else [f"{i}.png" for i in scope]
                )
                assert features["images"] == {"feature": {"_type": "Image"}, "_type": "List"}
    ids = {id for file in configs["questions"] for id in pq.read_table(out / file["path"])["id"].to_pylist()}
    edges = [pq.read_table(out / file["path"]) for file in configs["edges"]]
    assert {id for table in edges for side in ("parent", "child") for id in table[side].to_pylist()} <= ids


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("vlmevalkit", "run"), "--media: expected a folder of frames or images"),
        (("vlmevalkit", "run", "--media", "MEDIA", "--inline"), "--inline: expected questions about images"),
        (
            ("lmms-eval", "images", "--media", "MEDIA", "--video"),
            "--video: expected questions about videos and --media",
        ),
        (("lmms-eval", "run", "--video"), "--video: expected questions about videos and --media"),
        (("inspect", "run", "--media", "nowhere"), "nowhere: no such folder of frames"),
        (("inspect", "run", "--media", "EMPTY"), "got none (3 are missing)"),
        (("inspect", "run", "--frames", "0"), "--frames: expected at least 1, got 0"),
        (("inspect", "nowhere"), "nowhere: expected a run folder, got nothing there"),
        (("hf", "run", "--licence", "mine: all"), "--licence: expected a name as mit, cc-by-4.0, other or unknown"),
    ],
)
def test_what_cannot_be_exported_is_refused_in_a_line(
    words: tuple[str, ...], says: str, notebook: Path, media: Path, tmp_path: Path
) -> None:
    (tmp_path / "empty").mkdir()
    places = {"MEDIA": media, "EMPTY": tmp_path / "empty", "run": notebook / "run", "images": notebook / "images"}
    done = questree("export", *(places.get(word, word) for word in words), "--out", tmp_path / "out")
    assert done.returncode == 1 and says in done.stderr and done.stderr.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_an_earlier_export_is_replaced_and_nothing_else(notebook: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    for harness in ("inspect", "lmms-eval", "lmms-eval"):
        assert export(harness, notebook / "images", out).returncode == 0
    (out / "logs").mkdir()
    done = export("lmms-eval", notebook / "images", out)
    assert done.returncode == 1 and "not an earlier export (it has logs)" in done.stderr


def test_the_commands_of_the_page_work(notebook: Path, media: Path, tmp_path: Path) -> None:
    run = copy(Run(notebook / "run"), tmp_path).folder
    (tmp_path / "logs").mkdir()
    bot = BotAnswers.of(run, ("uniform",)).answers["uniform"]
    (tmp_path / "logs" / "x_samples_questree.jsonl").write_bytes(lmms_log(bot))
    page = (Path(__file__).parents[1] / "docs" / "harnesses.md").read_text("utf-8")
    said = [line for block in re.findall(r"```sh\n(.*?)```", page, re.S) for line in block.splitlines()]
    assert [line.split()[1:3] for line in said[:4]] == [["export", name] for name in EXPORTS] and len(said) == 6
    for line in said:
        words = shlex.split(line.replace("RUN", str(run)).replace("FRAMES", str(media)))
        assert questree(*words[1:], "--quiet", folder=tmp_path).returncode == 0, line
