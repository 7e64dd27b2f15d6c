"""FPVG's scores: whether models look at what questions are about, from their answers to three inputs."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from questree.faults import BadInput
from questree.metrics.comparison import over_runs
from questree.metrics.fpvg import CONDITIONS, score_fpvg
from questree.metrics.relevance import Irrelevant, as_released, box_rows, relevance
from questree.metrics.scores import Score, Scored
from questree.models.policies import QuestionTexts
from questree.models.predictions import model_name
from questree.scoring.compared import OnePolicy, PredictionReader, Tell, looked_up, names, silent
from questree.sources.detections import read_detections
from questree.sources.grounded import Annotations, read_annotated, read_ids, read_importance, read_texts
from questree.tables.image_questions import answered
from questree.tables.run import Run

if TYPE_CHECKING:
    from questree.stages.ground.grounding import GroundOptions

NO_DETECTOR = "annotated boxes"  # what stands for a detector where programs tell what is relevant


@dataclass(frozen=True)
class Judged:
    """Questions, and what is relevant to them."""

    questions: pl.DataFrame  # of GROUNDED
    found: dict[str, pl.DataFrame]  # detector -> RELEVANCE
    said: str  # how it was found
    texts: QuestionTexts | None = None

    def as_released(self) -> dict[str, Any]:
        if len(self.found) > 1:
            raise BadInput.at("--write-relevance", f"expected one file of --detections, got {len(self.found)}")
        return as_released(self.questions, *self.found.values())


@dataclass(frozen=True)
class ThreeInputs:
    """A training run of a model: its answers with all, the relevant and the irrelevant objects."""

    files: tuple[Path, ...]  # by CONDITIONS
    detector: str
    importance: Path | None = None


def of_files(
    questions: Sequence[Path],
    scene_graphs: Path | None,
    detections: Sequence[Path],
    annotations: Annotations,
    irrelevant: Irrelevant,
) -> Judged:
    """Questions in GQA's formats."""
    if not questions or scene_graphs is None or not detections:
        raise BadInput.at("", "expected a run folder, or --questions, --scene-graphs and --detections")
    asked = read_annotated(questions, scene_graphs, annotations)
    found = {name: relevance(asked, read_detections(path), irrelevant) for path, name in detectors(detections).items()}
    said = f"annotations: {annotations}; irrelevant: overlap by the {irrelevant} box's area"
    return Judged(asked.questions, found, said, looked_up(partial(read_texts, questions)))


def of_run(
    run: Run,
    options: "GroundOptions",
    words: Path | None,
    detections: Sequence[Path] = (),
    irrelevant: Irrelevant = "detected",
) -> Judged:
    """The questions of a run, and what their programs visit, among annotated boxes or those of detectors."""
    from questree.stages.ground.detected import relevant_detections
    from questree.stages.ground.grounding import relevant

    groups = attribute_groups(run, options, words)
    texts = looked_up(partial(texts_of_run, run, options))
    asked, found = relevant(run, options, groups)
    if not detections:
        said = "relevance: the evidence of the programs, on annotated boxes; no detector"
        return Judged(asked, {NO_DETECTOR: found}, said, texts)
    by_detector = {
        name: relevant_detections(run, options, groups, read_detections(path), irrelevant)
        for path, name in detectors(detections).items()
    }
    said = f"relevance: IoU with the evidence of the programs; irrelevant: overlap by the {irrelevant} box's area"
    return Judged(asked, by_detector, said, texts)


def texts_of_run(run: Run, options: "GroundOptions") -> pl.DataFrame:
    """id, question of the questions of a run."""
    from questree.scoring import agqa_questions
    from questree.stages.ground.grounding import about_videos

    if about_videos(run, options):
        return agqa_questions.texts_of_run(run)
    return answered(run).select("id", "question")


def attribute_groups(run: Run, options: "GroundOptions", words: Path | None) -> dict[str, str]:
    """What attributes are about, for programs over images."""
    from questree.search.word_tables import words_of
    from questree.stages.ground.grounding import about_videos

    return {} if about_videos(run, options) else dict(words_of(words).attribute_group)


def training_runs(
    conditions: Mapping[str, Sequence[Path]],
    models: Sequence[str],
    detections: Sequence[Path],
    importance: Sequence[Path],
) -> dict[str, list[ThreeInputs]]:
    """Model -> its runs. Options that are given again belong together by their order; one detector may serve all."""
    count = len(conditions["--all"])
    wanted = {name: {count} for name in conditions} | {name: {0, count} for name in ("--model", "--importance")}
    given = {**conditions, "--model": models, "--importance": importance, "--detections": detections}
    for option, files in given.items():
        if len(files) not in wanted.get(option, {0, 1, count}):
            raise BadInput.at(option, f"expected it as often as --all ({count} times), got {len(files)}")
    called, runs = detectors(detections), dict[str, list[ThreeInputs]]()
    for at, files in enumerate(zip(*conditions.values(), strict=True)):
        detector = called[detections[at % len(detections)]] if detections else NO_DETECTOR
        run = ThreeInputs(files, detector, importance[at] if importance else None)
        runs.setdefault(models[at] if models else "", []).append(run)
    return runs


def detectors(detections: Sequence[Path]) -> dict[Path, str]:
    """File -> what its detector is called."""
    files = list(dict.fromkeys(detections))
    return dict(zip(files, names(files), strict=True))


def score(
    judged: Judged, runs: dict[str, list[ThreeInputs]], how: OnePolicy, ood: Path | None, say: Tell = silent
) -> tuple[list[Score], list[Score], dict[str, str], dict[str, list[Scored]]]:
    """The rows of every model, over its runs if there are several; all rows, also about coverage; detectors; runs."""
    reader = PredictionReader.of(judged.questions, how, say, judged.texts)
    outside = None if ood is None else set(read_ids(ood))
    main, rows, about, seen_by = list[Score](), list[Score](), list[Score](), dict[str, str]()
    models = dict[str, list[Scored]]()
    for model, several in runs.items():
        scored, trained = list[list[Score]](), list[Scored]()
        for at, run in enumerate(several, 1):
            name = f"{model}, run {at}" if model and len(several) > 1 else model
            readings = [
                reader.read(file, f"{name}, {condition}" if name else model_name(file))[0]
                for condition, file in zip(CONDITIONS, run.files, strict=True)
            ]
            said = {condition: table for condition, (_, table, _) in zip(CONDITIONS, readings, strict=True)}
            ranks = None if run.importance is None else read_importance(run.importance)
            found = score_fpvg(
                judged.questions, judged.found[run.detector], said, how.missing == "skip", outside, ranks
            )
            trained.append(found)
            scored.append(found.rows(name or readings[0][0], how.resampling))
            about += [row for _, _, own in readings for row in own]
        if len(scored) > 1:
            scored.append(over_runs(scored, model))
        main += scored[-1]
        models[scored[-1][0].model] = trained
        seen_by[scored[-1][0].model] = ", ".join(dict.fromkeys(run.detector for run in several))
        rows += [row for own in scored for row in own]
    boxes = [row for detector, found in judged.found.items() for row in box_rows(found, detector)]
    return main + boxes, rows + boxes + about, seen_by, models
