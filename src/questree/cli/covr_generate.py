"""`questree covr generate`: questions about sets of images, with programs, answers and twins."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from questree.cli.terminal import Json, Quiet, print_table, say, watching, write_json
from questree.stages.drafts.work import Options, Report, generate
from questree.tables.image_questions import made_from_questions
from questree.tables.run import Run


def generate_command(
    run: Path,
    /,
    *,
    words: Annotated[
        Path | None, Parameter(help="Folder of word tables: what excludes what. [default: the shipped ones]")
    ] = None,
    questions: Annotated[int, Parameter(help="How many at most; train, dev and test by their images.")] = 100_000,
    seed: int = 1,
    verify: Annotated[
        str | None, Parameter(help="Scores of distractors: module:function, or a file [{image, graph, score}].")
    ] = None,
    workers: int = 2,
    json: Json = None,
    quiet: Quiet = False,
) -> None:
    """Make questions about sets of up to five images; train, dev and test share no image.

    Parameters
    ----------
    run
        Run folder with images (`questree ingest gqa` writes them); the questions go to its folder `covr`.
    """
    with watching(quiet):
        gone = made_from_questions(Run(run))
        report = generate(Run(run), Options(questions, seed, words, verify or ""), workers)
    print_table("Questions per template", table(report), quiet)
    for template, reasons in report.dropped.items():
        said = ", ".join(f"{count:,} {reason}" for reason, count in sorted(reasons.items(), key=lambda each: -each[1]))
        say(f"{template or 'references'}: dropped {said}", quiet)
    for split, missing in report.short.items():
        say(f"{split}: {missing:,} fewer than wanted; its {report.images[split]:,} images give no more", quiet)
    if gone is not None:
        say(f"replaced earlier questions{gone}", quiet)
    say(f"wrote {report.total:,} questions to {run / 'covr'}", quiet)
    write_json(json, report)


def table(report: Report) -> list[dict[str, object]]:
    rows = []
    for template in report.questions["train"]:
        own = {split: counts[template] for split, counts in report.questions.items()}
        twins = sum(counts[template] for counts in report.paired.values())
        share = f"{100 * twins / sum(own.values()):.1f} %" if any(own.values()) else "N/A"
        rows.append({"template": template, **own, "with a twin": share, "dropped": _dropped(report, template)})
    return rows


def _dropped(report: Report, template: str) -> int:
    return sum(report.dropped.get(template, {}).values())
