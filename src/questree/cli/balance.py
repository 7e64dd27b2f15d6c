"""`questree balance`: a selection of a run's questions whose answers cannot be guessed."""

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from questree.benchmarks import chosen
from questree.cli.shared_options import BenchmarkOption, SeedOption, WorkersOption, fitting
from questree.cli.terminal import output, print_table, say, watching, write_json
from questree.stages.balance.options import SPLITS, BalanceOptions, Smoothing, read_shares
from questree.stages.balance.rounds import BalanceReport, TemplateCounts
from questree.stages.balance.rounds import balance as select
from questree.tables.lock import lock
from questree.tables.run import Run

PAPER = Smoothing()
Share = float | None


@output
def balance(
    run: Path,
    /,
    *,
    benchmark: BenchmarkOption = "",
    seed: SeedOption = 1,
    questions: Annotated[
        int | None, Parameter(help="Image sets: N in S = N / T, over all splits. [default: all questions]")
    ] = None,
    shares: Annotated[
        str | None,
        Parameter(
            help="Videos: per cent of each structure. [default: query=50,compare=15,choose=15,verify=15,logic=5]"
        ),
    ] = None,
    tail: Annotated[
        Share, Parameter(help=f"Videos: share of the rarest answers to leave alone. [{PAPER.tail}]")
    ] = None,
    ratio: Annotated[Share, Parameter(help=f"Videos: ratio of head to tail answers at first. [{PAPER.ratio}]")] = None,
    factor: Annotated[
        Share, Parameter(help=f"Videos: factor of the ratio after a failed pass. [{PAPER.factor}]")
    ] = None,
    few: Annotated[int | None, Parameter(help=f"Videos: questions of an answer that end a pass. [{PAPER.few}]")] = None,
    top_answers: Annotated[
        Share, Parameter(help=f"Videos: stop when this share of the answers ... [{PAPER.top_answers}]")
    ] = None,
    top_questions: Annotated[
        Share, Parameter(help=f"Videos: ... has at most this share of the questions. [{PAPER.top_questions}]")
    ] = None,
    least: Annotated[
        Share, Parameter(help=f"Videos: share of a key's questions that must stay. [{PAPER.least}]")
    ] = None,
    workers: WorkersOption = 2,
) -> None:
    """Select questions so that their answers are balanced, each split apart.

    Videos: answers and structures, as AGQA does. Image sets: templates, answers and sizes of references, as COVR does.

    Parameters
    ----------
    run
        Run folder with questions (`questree generate`).
    """
    place = Run(run)
    own = chosen(place, benchmark, "questions")
    smoothing = {"tail": tail, "ratio": ratio, "factor": factor, "few": few, "least": least}
    smoothing |= {"top_answers": top_answers, "top_questions": top_questions}
    given = fitting(own, "video", {"shares": shares, **smoothing})
    of_pairs = fitting(own, "images", {"questions": questions}) | {"seed": seed}
    if own.domain == "images":
        of_images(place, of_pairs)
        return
    named = {"shares": read_shares(given.pop("shares"))} if shares is not None else {}
    of_videos(place, BalanceOptions(seed, Smoothing(**given), **named), workers)


def of_videos(run: Run, options: BalanceOptions, workers: int) -> None:
    with watching():
        report = select(run, options, workers)
        lock(run, "balanced")
    for split in SPLITS:
        own = [row for row in report.rows if row.split == split]
        print_table(f"{split}: questions", [*map(line, own), *sums(own)])
        print_table(f"{split}: structures", structures(report, split))
    for note in shortfalls(report):
        say(note)
    say(f"kept {report.total('after_structures'):,} of {report.total('before'):,} in {run.balanced}")
    write_json(report)


def line(row: TemplateCounts) -> dict[str, object]:
    return {
        "template": row.template,
        "structure": row.structure,
        "before": row.before,
        "deleted: answers per group": row.before - row.after_groups,
        "answers per key": row.after_groups - row.after_keys,
        "structures": row.after_keys - row.after_structures,
        "kept": row.after_structures,
    }


def sums(rows: list[TemplateCounts]) -> Iterable[dict[str, object]]:
    """One line for all templates."""
    if rows:
        yield line(TemplateCounts("", "all", "", *(sum(getattr(row, name) for row in rows) for name in NUMBERS)))


NUMBERS = ("before", "after_groups", "after_keys", "after_structures")


def structures(report: BalanceReport, split: str) -> list[dict[str, object]]:
    own = [target for target in report.targets if target.split == split]
    whole = max(sum(target.kept for target in own), 1)
    return [
        {
            "structure": t.structure,
            "after answers": t.before,
            "target": t.target,
            "kept": t.kept,
            "share": f"{100 * t.kept / whole:.1f} %",
        }
        for t in own
    ]


def shortfalls(report: BalanceReport) -> Iterable[str]:
    """Structures with fewer questions than they may have: their share is smaller than asked for."""
    for t in report.targets:
        if t.short > 1:  # one may be missing, as questions go in pairs
            yield f"{t.split}: {t.structure} falls short of its target by {t.short:,}; there are only {t.before:,}"
    for split in SPLITS:
        if not any(t.kept for t in report.targets if t.split == split):
            yield f"{split}: no open question is left, so nothing can be kept; `split` and `decompose` take --all"


def of_images(run: Run, given: dict[str, Any]) -> None:
    from questree.stages.balance.pairs import PairsOptions, balance

    with watching():
        rows = balance(run, PairsOptions(**given))
        lock(run, "covr/balanced")
    for split in dict.fromkeys(row.split for row in rows):
        own = [
            {
                "template": row.template,
                "before": row.before,
                "text with two answers": row.two_answers,
                "room": row.room,
                "kept": row.kept,
            }
            for row in rows
            if row.split == split
        ]
        print_table(f"{split}: questions", own)
    say(f"kept {sum(row.kept for row in rows):,} of {sum(row.before for row in rows):,} in {run.covr}")
    write_json(rows)
