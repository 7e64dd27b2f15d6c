"""The report of image sets is counted by chunks: the same as if all questions were read at once."""

from collections import Counter
from pathlib import Path
from unittest.mock import patch

import pytest

from questree.faults import BadInput
from questree.scoring.run_scores import How
from questree.search.word_tables import default_words
from questree.show.image_view import ImageView
from questree.show.report.corpus import numbers
from questree.show.report.made_from import ReportRequest
from questree.show.report.sections import report
from questree.show.report.written import page
from questree.show.video_view import VideoView
from questree.show.views import View
from questree.stages.decompose import dealt_dags
from questree.stages.decompose.set_chunks import decompose_run
from questree.tables.images import IMAGES
from questree.tables.run import Run
from worlds.image_run import image_run
from worlds.served import served_run


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    made = image_run(tmp_path_factory.mktemp("chunks") / "run")
    decompose_run(made, default_words(), every=True, workers=1)
    return made


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


def test_sub_questions_are_counted_by_pieces(run: Run, tmp_path: Path) -> None:
    with patch.object(dealt_dags, "NODES", 3):
        assert len(ImageView.pieces(run)) > 20
        assert numbers(ImageView, run) == counted(ImageView(run))
    videos = served_run(tmp_path / "videos")
    assert numbers(VideoView, videos) == counted(VideoView(videos))
