"""`questree generate`: every question of a run's facts."""

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from questree.cli.terminal import Json, Quiet, print_table, say, watching, write_json
from questree.stages.generate.rules import Tally
from questree.stages.generate.work import Options, generate
from questree.tables.lock import lock
from questree.tables.run import Run


def generate_command(
    run: Path,
    /,
    *,
    seed: int = 1,
    references: Annotated[int, Parameter(help="References kept per object and kind.")] = 3,
    rare_below: Annotated[int, Parameter(help="A pair seen on fewer frames of the corpus is not asked.")] = 10,
    shard: Annotated[int, Parameter(help="Videos per file.")] = 128,
    edition: Annotated[Literal["2.0", "1.0"], Parameter(help="Edition of AGQA.")] = "2.0",
    text: Annotated[bool, Parameter(help="Also write every question's text.")] = False,
    workers: int = 2,
    json: Json = None,
    quiet: Quiet = False,
) -> None:
    """Generate every question of a run's facts, with its answer; an interrupted run goes on where it stopped.

    Parameters
    ----------
    run
        Run folder with facts (`questree augment` writes them).
    """
    with watching(quiet):
        counts = generate(Run(run), Options(seed, references, rare_below, shard, text, edition), workers)
        lock(Run(run), "questions")
    print_table("Questions per template", table(counts), quiet)
    for template, tally in counts.items():
        said = ", ".join(f"{count:,} {rule}" for rule, count in reasons(tally)) or "nothing rejected"
        say(f"{template}: {said}", quiet)
    say(f"wrote {sum(tally.kept for tally in counts.values()):,} questions to {run / 'questions'}", quiet)
    write_json(json, counts)


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
