"""FPVG's scores: whether models rely on the objects a question is about, from their answers to three inputs."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from questree.api.files import write_json
from questree.api.fpvg_tables import fpvg_tables
from questree.api.score_sets import given_files
from questree.api.score_tables import Telling
from questree.faults import BadInput
from questree.metrics.scores import Score, Scored
from questree.scoring import grounded
from questree.scoring.compared import OnePolicy, Tell, silent
from questree.scoring.grounded import Judged
from questree.tables.run import Run


@dataclass(frozen=True)
class ThreeAnswers:
    """Files of predictions, one per training run: with all objects, with the relevant and with the irrelevant ones."""

    all: Sequence[Path]
    rel: Sequence[Path]
    irrel: Sequence[Path]
    model: Sequence[str] = ()  # of each training run
    importance: Sequence[Path] = ()


@dataclass(frozen=True)
class GroundingScores:
    """Rows for tables, all rows, and what they are computed from."""

    main: list[Score]
    rows: list[Score]
    seen_by: dict[str, str]  # model -> its detector
    scored: dict[str, list[Scored]]
    judged: Judged

    def told(self) -> Telling:
        """The tables of the paper."""
        return fpvg_tables(self.main, self.seen_by)

    def evaluated(self) -> Telling:
        """What was evaluated, and why the rest was not."""
        found_by = self.judged.found
        yield self.judged.said
        for detector, found in found_by.items():
            reasons = dict(found["left_out"].value_counts(sort=True).rows())
            evaluated = reasons.pop("", 0)
            left = ", ".join(f"{reason} {count:,}" for reason, count in reasons.items()) or "none"
            called = f"{detector}: " if len(found_by) > 1 else ""
            yield f"{called}{evaluated:,} of {len(found):,} questions evaluated; left out: {left}"


def score_grounding(
    answers: ThreeAnswers,
    run: Path | None,
    *,
    questions: Sequence[Path] = (),
    scene_graphs: Path | None = None,
    detections: Sequence[Path] = (),
    annotations: Literal["path", "final"] = "path",
    irrelevant: Literal["detected", "annotated"] = "detected",
    split: str = "test",
    every: bool = False,
    sample: int = 0,
    benchmark: str = "",
    words: Path | None = None,
    ood: Path | None = None,
    write_relevance: Path | None = None,
    how: OnePolicy,
    say: Tell = silent,
) -> GroundingScores:
    """Of questions of a run or of files."""
    given_files([*answers.all, *answers.rel, *answers.irrel])
    if run is not None and (questions or scene_graphs):
        raise BadInput.at("", "expected a run folder or --questions, --scene-graphs and --detections, got both")
    conditions = {"--all": answers.all, "--rel": answers.rel, "--irrel": answers.irrel}
    runs = grounded.training_runs(conditions, answers.model, detections, answers.importance)
    if run is None:
        judged = grounded.of_files(questions, scene_graphs, detections, annotations, irrelevant)
    else:
        from questree.stages.ground.grounding import GroundOptions  # with all that is known of questions

        options = GroundOptions(split, every, sample, benchmark=benchmark)
        judged = grounded.of_run(Run.at(run), options, words, detections, irrelevant)
    if write_relevance is not None:
        write_json(write_relevance, judged.as_released())
    return GroundingScores(*grounded.score(judged, runs, how, ood, say), judged)
