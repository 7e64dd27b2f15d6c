"""The report of image sets is counted by shards and chunks: the same as if all questions were read at once."""

from collections import Counter
from pathlib import Path
from typing import Any
from unittest.mock import patch

import polars as pl
import pytest

from conftest import copy
from questree.cli.answer import answer as answer_command
from questree.faults import BadInput
from questree.models.bot_runs import answer_run
from questree.models.bots import BotOptions
from questree.scoring.run_scores import How
from questree.search.word_tables import default_words
from questree.show.image_view import ImageView
from questree.show.report.corpus import numbers
from questree.show.report.failures import failures
from questree.show.report.made_from import ReportRequest
from questree.show.report.sections import report
from questree.show.report.written import page
from questree.show.video_view import VideoView
from questree.show.views import View
from questree.stages.decompose.hierarchies import hierarchies_in
from questree.stages.decompose.set_hierarchies import set_shards
from questree.stages.decompose.set_shards import decompose_run
from questree.tables.images import IMAGES
from questree.tables.run import Run
from worlds.image_run import image_run
from worlds.question_shards import put_in_shards
from worlds.served import served_run


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """DAGs with two stored models, one of which says things in free text."""
    place = tmp_path_factory.mktemp("chunks")
    made = image_run(place / "run")
    decompose_run(made, default_words(), every=True, workers=1)
    models(made)
    return made


def models(made: Run) -> None:
    ids, path = pl.Series(sorted(hierarchies_in(made).hierarchies.keys)), made.folder.parent / "theirs.jsonl"
    said = pl.Series(["yes", "I think it is 2.", "the red!", "no"]).gather(pl.int_range(len(ids), eager=True) % 4)
    pl.DataFrame({"id": ids, "prediction": said}).write_ndjson(path)
    answer_command(made.folder, model="perception-noise", quiet=True)
    answer_command(made.folder, model="theirs", predictions=path, quiet=True)


@pytest.fixture(scope="module")
def shards(run: Run, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """The same questions and models in more shards."""
    made = copy(run, tmp_path_factory.mktemp("shards"))
    put_in_shards(made)
    decompose_run(made, default_words(), every=True, workers=1)
    assert len(set_shards(made)) > 3
    models(made)
    return made


@pytest.mark.parametrize(("policy", "split"), [("exact", "test"), ("vqa", "train"), ("lenient", None)])
def test_a_report_is_the_same_however_many_shards_there_are(
    run: Run, shards: Run, policy: Any, split: str | None
) -> None:
    asked = ReportRequest("my-run", ("perception-noise", "theirs"), ("shortcut",), "r.html")
    how, made = How("wrong", 10, policy=policy, split=split), list[str]()
    for own in (run, shards):
        made.append(page(report(own, asked, how, workers=1)))
    assert made[0] == made[1] and made[0].count('class="failure"') > 5


def test_failures_of_bots_are_those_of_their_stored_answers(run: Run, shards: Run) -> None:
    now = list(failures(shards, ("shortcut",), of=ImageView))
    answer_run(run, BotOptions("shortcut"), "learnt", images=True)
    stored = list(failures(run, ("learnt",), of=ImageView))
    assert len(now) > 5
    assert [(one.id, one.truth, one.composition) for one in now] == [
        (one.id, one.truth, one.composition) for one in stored
    ]


def test_a_shard_says_its_dags_as_all_do(run: Run, shards: Run) -> None:
    whole = ImageView(run)
    (name,) = whole.shards()
    shard = whole.open(name)
    nodes = dict(shard.tops.select("id", "node").iter_rows())
    few = ImageView.of_some(shards, ())
    for name in few.shards():
        tops = few.open(name).tops
        for id, one in zip(few.named(tops), few.cut_out(name, tops["node"].to_list()), strict=True):
            assert few.dag(one) == whole.dag(shard.only(nodes[id]))


def test_nothing_is_read_of_all_questions(run: Run) -> None:
    asked = ReportRequest("my-run", ("perception-noise",), ("uniform",), "r.html")
    with (
        patch("questree.show.image_view.every_question", side_effect=ZeroDivisionError),
        patch("questree.tables.images.Images.load", side_effect=ZeroDivisionError),
    ):
        made = page(report(run, asked, How("wrong", 0, policy="lenient"), workers=1))
    assert 'class="failure"' in made


@pytest.mark.parametrize("policy", ["exact", "lenient"])
def test_a_split_without_questions_is_named_whoever_answers(run: Run, policy: str) -> None:
    bots = ReportRequest("my-run", (), ("oracle", "most-likely", "blind"), "r.html")
    how = How(split="nothing", resamples=0, policy=policy)  # type: ignore[arg-type]
    assert "No question is of the split nothing" in page(report(run, bots, how, workers=1))


def test_questions_about_images_that_are_not_there_are_refused(tmp_path: Path) -> None:
    other = image_run(tmp_path / "run")
    IMAGES.write(IMAGES.read(other.images).head(2), other.images)
    with pytest.raises(BadInput, match=r"made from other images: a question asks about image \d+, there are 2"):
        report(other, ReportRequest("my-run", (), (), "r.html"), How(), workers=1)


def counted(view: View) -> dict[str, dict[str, int]]:
    """Sub-questions of all shards, each opened whole."""
    found: dict[str, Counter[str]] = {"type": Counter(), "known": Counter(), "composition": Counter()}
    for shard in map(view.open, view.shards()):
        found["type"].update(shard.types)
        found["known"].update(shard.known)
        composed = set(shard.edges.select("parent", "label").iter_rows())
        found["composition"].update(shard.compositions[label] for _, label in composed)
    return {what: dict(own) for what, own in found.items()}


def test_sub_questions_are_counted_by_shards(run: Run, shards: Run, tmp_path: Path) -> None:
    assert numbers(ImageView, shards) == counted(ImageView(shards)) == numbers(ImageView, run)
    videos = served_run(tmp_path / "videos")
    assert numbers(VideoView, videos) == counted(VideoView(videos))
