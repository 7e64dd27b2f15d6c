"""FPVG's scores: whether a model looks at what questions are about, from its answers to three inputs."""

from collections.abc import Sequence
from pathlib import Path

from questree.api.scoring import PredictionReader, Resampled, Scoring, Tell, silent
from questree.faults import BadInput
from questree.metrics.comparison import over_runs
from questree.metrics.fpvg import CONDITIONS, score_fpvg
from questree.metrics.relevance import Irrelevant, relevance
from questree.metrics.scores import Score
from questree.models.predictions import model_name
from questree.search.word_tables import words_of
from questree.sources.grounded import Annotations, read_grounded, read_ids, read_importance
from questree.stages.ground.grounding import GroundOptions, about_videos, relevant
from questree.tables.run import Run
from questree.tables.scored import Grounded, Relevance

Judged = tuple[Grounded, list[Relevance], str]  # questions, what is relevant to them, and how that was found


def of_files(
    questions: Path | None,
    scene_graphs: Path | None,
    detections: Path | None,
    annotations: Annotations,
    irrelevant: Irrelevant,
) -> Judged:
    """Questions in GQA's formats."""
    if questions is None or scene_graphs is None or detections is None:
        raise BadInput.at("", "expected a run folder, or --questions, --scene-graphs and --detections")
    read = read_grounded(questions, scene_graphs, detections, annotations)
    said = f"annotations: {annotations}; irrelevant: overlap by the {irrelevant} box's area"
    return read, relevance(read, irrelevant), said


def of_run(run: Run, options: GroundOptions, words: Path | None) -> Judged:
    """The questions of a run, and what their programs visit."""
    read, found = relevant(run, options, attribute_groups(run, options, words))
    return read, found, "relevance: the evidence of the programs, on annotated boxes; no detector"


def attribute_groups(run: Run, options: GroundOptions, words: Path | None) -> dict[str, str]:
    """What attributes are about, for programs over images."""
    return {} if about_videos(run, options) else dict(words_of(words).attribute_group)


def score(
    judged: Judged,
    runs: Sequence[tuple[Path, ...]],
    how: Resampled,
    ood: Path | None,
    importance: Path | None,
    say: Tell = silent,
) -> tuple[list[Score], list[Score]]:
    """The rows of a model, over several runs of it if there are several; then all rows, those about coverage too."""
    read, found, _ = judged
    reader = PredictionReader.of(read.questions, Scoring(how.missing), say)
    outside = None if ood is None else set(read_ids(ood))
    ranks = None if importance is None else read_importance(importance)
    scored, about = list[list[Score]](), list[Score]()
    for files in runs:
        readings = [reader.read(file, model_name(file))[0] for file in files]
        said = {name: table for name, (_, table, _) in zip(CONDITIONS, readings, strict=True)}
        rows = score_fpvg(read, found, said, how.missing == "skip", outside, ranks)
        scored.append(rows.rows(readings[0][0], how.resampling))
        about += [row for _, _, rows in readings for row in rows]
    main = scored[0] if len(scored) == 1 else over_runs(scored)
    return main, [row for rows in scored for row in rows] + (main if len(scored) > 1 else []) + about
