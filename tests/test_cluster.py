"""Stages on a Dask cluster: the same bytes as without, whatever the cluster."""

import json
import pickle
import zlib
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import patch

import numpy as np
import polars as pl
import pytest

from chaos.kills import content
from conftest import copy
from questree.clusters.task import on_worker, versions
from questree.formats.json_records import JsonSpan, spans
from questree.models.asked import AskedNodes
from questree.models.bots import BOTS, Bot, BotCorpus
from questree.models.stored import said, write_lines
from questree.stages.decompose.hierarchies import hierarchies_in
from questree.tables.image_questions import answered
from questree.tables.predictions import WORDS, Stored
from questree.tables.run import Run
from questree.tables.store import USUAL_TIMES, unpack_times
from questree.terms import Array
from worlds import exported_worlds
from worlds.commands import questree, run
from worlds.decomp_files import table
from worlds.image_run import image_run
from worlds.question_shards import put_in_shards

distributed = pytest.importorskip("distributed")


@pytest.fixture(scope="module")
def scheduler() -> Iterator[str]:
    """A cluster inside this process: a scheduler, and two workers that are threads."""
    with distributed.LocalCluster(2, processes=False, threads_per_worker=1, dashboard_address=":0") as found:
        yield found.scheduler_address


def cut(path: Path) -> Iterator[JsonSpan]:
    """Small parts of a file."""
    return spans(path, 1 << 16)


def done(folder: Path, *words: object) -> str:
    found = questree(*words, folder=folder)
    assert found.returncode == 0, found.stderr
    return found.stdout


def test_stages_of_videos_give_the_same_bytes(cleaned_run: Run, scheduler: str, tmp_path: Path) -> None:
    folders = [tmp_path / name for name in ("plain", "cluster")]
    options: list[list[object]] = [["--workers", 1], ["--cluster", scheduler]]
    for folder, more in zip(folders, options, strict=True):
        copy(cleaned_run, folder)
        own = more if "--cluster" in more else []
        with patch("questree.sources.shared_action_genome.FRAMES", 40 if own else 1 << 14):
            world = cleaned_run.folder.parent / "world"
            done(folder, "ingest", "action-genome", world, "--out", "ingested", "--quiet", *more)
        with patch("questree.stages.augmented.VIDEOS", 3 if own else 100):
            done(folder, "augment", "run", "--quiet", *more)
        done(folder, "generate", "run", "--shard", 3, "--rare-below", 3, "--phrases", 9, "--quiet", *more)
        done(folder, "balance", "run", "--quiet", *more)
        done(folder, "decompose", "run", "--invalid-actions", 1, "--quiet", *more)
        done(folder, "answer", "run", "--model", "composition-noise", "--quiet", *more)
        done(folder, "answer", "run", "--model", "shortcut", "--quiet", *more)
        done(folder, "split", "run", "--quiet", *more)
        done(folder, "audit", "run", "--most", 500, "--quiet", *more)
        done(folder, "export", "decomp", "run", "--out", "decomp", "--quiet", *more)
        done(folder, "export", "agqa", "run", "--out", "agqa", "--quiet", *more)
        with patch("questree.formats.agqa_import.ROWS", 200), patch("questree.formats.agqa_import.spans", cut):
            done(folder, "import", "agqa", "agqa", "--out", "imported", "--quiet", *more)
        with patch("questree.formats.decomp_chunks.VIDEOS", 2):
            done(folder, "import", "decomp", "decomp", "--out", "imported", "--quiet", *more)
            done(folder, "import", "decomp", "decomp", "--out", "dags", "--quiet", *more)
        done(folder, "score", "run", "--errors", "--resamples", 20, "--json", "scores.json", "--quiet", *own)
        done(folder, "score", "agqa", "run", "--resamples", 20, "--json", "alone.json", "--quiet", *own)
        done(folder, "report", "run", "--resamples", 20, "--out", "report.html", "--quiet", *own)
        asked = hierarchies_in(Run(folder / "run"))
        write_lines(folder / "mine.jsonl", asked, said(asked, Stored.of(asked.run, "composition-noise")))
        done(
            folder,
            *("score", "run", "--predictions", "mine.jsonl", "--model", "shortcut", "--policy", "lenient"),
            *("--missing", "wrong", "--resamples", 20, "--json", "read.json", "--quiet", *own),
        )
    plain, cluster = map(content, folders)
    assert plain.keys() == cluster.keys()
    assert [name for name in plain if plain[name] != cluster[name]] == []


def test_made_up_worlds_and_their_image_sets_give_the_same_bytes(
    pictured_run: Run, scheduler: str, tmp_path: Path
) -> None:
    folders = [tmp_path / name for name in ("plain", "cluster")]
    options: list[list[object]] = [["--workers", 1], ["--cluster", scheduler]]
    for folder, more in zip(folders, options, strict=True):
        copy(pictured_run, folder)
        done(folder, "ingest", "gqa", pictured_run.folder.parent / "world", "--out", "ingested", "--quiet", *more)
        done(folder, "synth", "--out", "world", "--videos", 30, "--quiet", *more)
        done(folder, "generate", "run", "--questions", 12, "--quiet", *more)
        put_in_shards(Run(folder / "run"), 3)
        done(folder, "balance", "run", "--quiet", *more)
        done(folder, "split", "run", "--name", "HAS-QUANT", "--curve", "0,2", "--quiet", *more)
        done(folder, "audit", "run", "--quiet", *more)
        done(folder, "decompose", "run", "--quiet", *more)
        done(folder, "export", "covr", "run", "--all", "--out", "covr", "--quiet", *more)
        done(folder, "export", "covr", "run", "--split", "HAS-QUANT", "--out", "parts", "--quiet", *more)
        with patch("questree.formats.covr_parts.BYTES", 2000 if "--cluster" in more else 1 << 20):
            done(folder, "import", "covr", "covr", "--out", "ingested", "--quiet", *more)
        for model in ("perception-noise", "shortcut", "blind"):
            done(folder, "answer", "run", "--model", model, "--quiet", *more)
    plain, cluster = map(content, folders)
    assert plain.keys() == cluster.keys()
    assert [name for name in plain if plain[name] != cluster[name]] == []


def test_files_of_questions_are_scored_alike(scheduler: str, tmp_path: Path) -> None:
    exported_worlds.random_run(tmp_path / "run")
    image_run(tmp_path / "images")
    for kind, made, all_of in (("agqa", "run", ["--unbalanced", "--no-csv"]), ("covr", "images", ["--all"])):
        done(tmp_path, "export", kind, made, "--out", kind, *all_of, "--quiet", "--workers", 1)
    videos = exported_worlds.records(tmp_path / "agqa", "unbalanced", "test")
    sets = [json.loads(line) for line in (tmp_path / "covr" / "train.jsonl").read_text().splitlines()]
    said = {
        "agqa": {id: own["answer"] for id, own in videos.items()},
        "covr": {r["qid"]: str(r["answer"]) for r in sets},
    }
    (tmp_path / "agqa.txt").write_text(json.dumps(videos))
    files = {"agqa": ["agqa.txt"], "covr": ["covr/train.jsonl", "--train", "covr/test.jsonl"]}
    how, small = ("--missing", "wrong", "--policy", "all", "--resamples", 20), {"agqa": 1 << 20, "covr": 3000}
    ways: list[list[object]] = [["--workers", 1], ["--cluster", scheduler]]
    for kind, own in said.items():
        mine = table(own).gather_every(2).with_columns(pl.format("It is {}.", "prediction"))
        mine.write_ndjson(tmp_path / "mine.jsonl")
        told = ("--questions", *files[kind], "--predictions", "mine.jsonl", *how, "--quiet")
        shard, printed = patch("questree.scoring.file_questions.SHARD", 1 << 21), list[str]()
        with patch(f"questree.formats.{kind}_parts.BYTES", small[kind]), shard:
            for name, more in zip(("plain", "cluster"), ways, strict=True):
                printed.append(done(tmp_path, "score", kind, *told, "--json", name, *more))
            path = tmp_path / files[kind][0]
            path.write_text(path.read_text().replace('"answer"', '"reply"'))
            wrong = [questree("score", kind, *told, *more, folder=tmp_path).stderr.splitlines() for more in ways]
        assert printed[0] == printed[1] and wrong[0] == wrong[1][-len(wrong[0]) :] and wrong[0]
        assert (tmp_path / "plain").read_bytes() == (tmp_path / "cluster").read_bytes()
    assert not [path for folder in (tmp_path, tmp_path / "covr") for path in folder.glob(".*")]


def test_a_file_that_nothing_may_be_written_beside_is_said_so(scheduler: str, tmp_path: Path) -> None:
    (tmp_path / "asked.json").write_text('{"A-1": {}}')
    (tmp_path / "mine.jsonl").write_text('{"id": "A-1", "prediction": "yes"}')
    refused = patch("questree.tables.owners.tempfile.mkdtemp", side_effect=PermissionError(13, "Permission denied"))
    with patch("questree.formats.agqa_parts.BYTES", 1), refused:
        told = ("--questions", "asked.json", "--predictions", "mine.jsonl", "--cluster", scheduler, "--quiet")
        found = questree("score", "agqa", *told, folder=tmp_path)
    wanted = "error: asked.json: expected to write a folder beside it for workers elsewhere, which cannot be written "
    assert found.stderr.endswith(f"{wanted}(Permission denied); choose a copy, or --cluster none\n")


def test_image_sets_are_scored_alike(scheduler: str, tmp_path: Path) -> None:
    image_run(tmp_path / "run")
    put_in_shards(Run(tmp_path / "run"))
    done(tmp_path, "decompose", "run", "--all", "--quiet", "--workers", 1)
    done(tmp_path, "answer", "run", "--model", "perception-noise", "--quiet", "--workers", 1)
    table = answered(Run(tmp_path / "run")).gather_every(2)
    table.select("id", prediction=pl.format("It is {}.", "answer")).write_ndjson(tmp_path / "mine.jsonl")
    told = ("--model", "perception-noise", "--predictions", "mine.jsonl", "--missing", "wrong", "--policy", "all")
    ways: list[tuple[str, list[object]]] = [("plain", ["--workers", 1]), ("cluster", ["--cluster", scheduler])]
    for name, more in ways:
        done(tmp_path, "score", "covr", "run", *told, "--resamples", 20, "--json", name, "--quiet", *more)
        done(tmp_path, "score", "run", *told, "--resamples", 20, "--json", f"{name} dags", "--quiet", *more)
        done(tmp_path, "report", "run", "--resamples", 20, "--out", "report.html", "--quiet", *more)
        (tmp_path / "report.html").rename(tmp_path / f"{name} report")  # it names itself
    for made in ("", " dags", " report"):
        assert (tmp_path / f"plain{made}").read_bytes() == (tmp_path / f"cluster{made}").read_bytes()
    assert not list((tmp_path / "run").rglob(".*"))


def test_workers_unpack_as_much_as_the_client_allows() -> None:
    packed = pickle.dumps((unpack_times, (), {}))
    done = [on_worker(packed, versions(), {}, times) for times in ("", "7", "")]
    assert [pickle.loads(zlib.decompress(one.packed)) for one in done] == [USUAL_TIMES, 7, USUAL_TIMES]


class Talker:
    """A bot that says words of its own, other ones in every shard."""

    def __call__(self, corpus: BotCorpus, asked: AskedNodes) -> Array:
        word = f"word {len(asked) % 7}"
        corpus.number.setdefault("hm", len(corpus.number))
        return np.full(len(asked), corpus.number.setdefault(word, len(corpus.number)))


def test_words_of_a_bots_own_have_the_numbers_of_one_process(asked_run: Run, scheduler: str, tmp_path: Path) -> None:
    stored = list[dict[str, bytes]]()
    with patch.dict(BOTS, {"talker": Bot("talks", Talker())}):
        for name, more in (("plain", []), ("cluster", ["--cluster", scheduler])):
            made = copy(asked_run, tmp_path / name)
            exported_worlds.select_every(made, 400)
            done(tmp_path / name, "decompose", "run", "--quiet", "--workers", 1)
            done(tmp_path / name, "answer", "run", "--model", "talker", "--quiet", *more)
            stored.append(content(made.predictions))
    assert stored[0] == stored[1]
    words = WORDS.read(tmp_path / "plain" / "run" / "predictions" / "talker")["word"].to_list()
    assert "hm" in words and len([word for word in words if word.startswith("word ")]) > 1


def test_the_page_works(scheduler: str, tmp_path: Path) -> None:
    """What a laptop does; the other blocks need machines."""
    laptop = (Path(__file__).parents[1] / "docs" / "cluster.md").read_text("utf-8").split("```sh\n")[1].split("```")[0]
    lines = [line for line in laptop.splitlines() if line.startswith("questree ")]
    assert [line.split()[1] for line in lines] == [
        *("synth", "ingest", "augment", "generate", "decompose", "answer", "score")
    ]
    for line in lines:
        run(f"{line.replace('local:2', scheduler)} --quiet", tmp_path)
