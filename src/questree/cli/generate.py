"""`questree generate`: the questions of a run, with their answers."""

from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Parameter

from questree.benchmarks import chosen
from questree.cli.shared_options import BenchmarkOption, SeedOption, WordsOption, WorkersOption, fitting
from questree.cli.terminal import output, print_table, say, watching, write_json
from questree.stages.drafts.given import read as read_image_templates
from questree.stages.generate.given import read as read_templates
from questree.stages.generate.rules import Tally
from questree.stages.generate.shards import GenerateOptions, generate
from questree.tables.lock import lock
from questree.tables.run import Run


@output
def generate_command(
    run: Path,
    /,
    *,
    benchmark: BenchmarkOption = "",
    seed: SeedOption = 1,
    references: Annotated[
        int | None, Parameter(help="Videos: number of references kept per object and kind. [3]")
    ] = None,
    rare_below: Annotated[
        int | None, Parameter(help="Videos: fewest frames of the corpus on which a pair must be seen. [10]")
    ] = None,
    shard: Annotated[int | None, Parameter(help="Videos: number of videos per file. [128]")] = None,
    edition: Annotated[Literal["2.0", "1.0"] | None, Parameter(help="Videos: edition of AGQA. [2.0]")] = None,
    text: Annotated[bool, Parameter(help="Videos: also write every question's text.")] = False,
    questions: Annotated[
        int | None, Parameter(help="Image sets: largest number of questions of train, dev and test together. [100,000]")
    ] = None,
    words: WordsOption = None,
    verify: Annotated[
        str | None,
        Parameter(help="Image sets: scores of distractors, module:function or a file [{image, graph, score}]."),
    ] = None,
    templates: Annotated[
        list[Path] | None, Parameter(help="TOML file of further templates; may be given several times.")
    ] = None,
    only_templates: Annotated[bool, Parameter(help="Ask only the further templates.", negative=())] = False,
    workers: WorkersOption = 2,
) -> None:
    """Generate the questions of a run: all that its facts about videos give, or some about sets of its images.

    An interrupted run about videos goes on where it stopped. Image sets of train, dev and test share no image.

    Parameters
    ----------
    run
        Run folder with facts (`questree augment`, or `questree ingest gqa` and the like for images).
    """
    place = Run(run)
    own = chosen(place, benchmark)
    videos = {"references": references, "rare_below": rare_below, "shard": shard, "edition": edition, "text": text}
    read = read_image_templates if own.domain == "images" else read_templates
    further = {"seed": seed, "templates": read(templates or ()), "only_templates": only_templates}
    used = fitting(own, "video", videos) | further
    images = fitting(own, "images", {"questions": questions, "words": words, "verify": verify}) | further
    if own.domain == "images":
        of_images(place, images, workers)
    else:
        of_videos(place, used, workers)


def of_videos(run: Run, given: dict[str, Any], workers: int) -> None:
    with watching():
        counts = generate(run, GenerateOptions(**given), workers)
        lock(run, "questions")
    print_table("Questions per template", table(counts))
    for template, tally in counts.items():
        said = ", ".join(f"{count:,} {rule}" for rule, count in reasons(tally)) or "nothing rejected"
        say(f"{template}: {said}")
    say(f"wrote {sum(tally.kept for tally in counts.values()):,} questions to {run.questions}")
    write_json(counts)


def reasons(tally: Tally) -> list[tuple[str, int]]:
    return sorted(((r, c) for r, c in tally.rejected.items() if c), key=lambda pair: -pair[1])


def table(counts: dict[str, Tally]) -> list[dict[str, object]]:
    whole = max(sum(tally.kept for tally in counts.values()), 1)
    return [
        {
            "template": name,
            "questions": tally.kept,
            "share": f"{100 * tally.kept / whole:.2f} %",
            "rejected": sum(tally.rejected.values()),
            "most often because": next((rule for rule, _ in reasons(tally)), ""),
        }
        for name, tally in counts.items()
    ]


def of_images(run: Run, given: dict[str, Any], workers: int) -> None:
    from questree.stages.drafts.whole_run import DraftOptions, generate
    from questree.tables.image_questions import made_from_questions

    with watching():
        gone = made_from_questions(run)
        report = generate(run, DraftOptions(**given), workers)
        lock(run, "covr/questions")
    rows = []
    for template in report.questions["train"]:
        own = {split: counts[template] for split, counts in report.questions.items()}
        twins = sum(counts[template] for counts in report.paired.values())
        share = f"{100 * twins / sum(own.values()):.1f} %" if any(own.values()) else "N/A"
        dropped = sum(report.dropped.get(template, {}).values())
        rows.append({"template": template, **own, "with a twin": share, "dropped": dropped})
    print_table("Questions per template", rows)
    for template, why in report.dropped.items():
        said = ", ".join(f"{count:,} {reason}" for reason, count in sorted(why.items(), key=lambda each: -each[1]))
        say(f"{template or 'references'}: dropped {said}")
    for split, missing in report.short.items():
        say(f"{split}: {missing:,} fewer than wanted; its {report.images[split]:,} images give no more")
    if gone is not None:
        say(f"replaced earlier questions{gone}")
    say(f"wrote {report.total:,} questions to {run.covr}")
    write_json(report)
