"""`questree balance`: a selection of a run's questions whose answers cannot be guessed."""

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from questree.cli.terminal import Json, Quiet, print_table, say, watching, write_json
from questree.stages.balance.options import SPLITS, Options, Smoothing, read_shares
from questree.stages.balance.work import Report, Row
from questree.stages.balance.work import balance as select
from questree.tables.lock import lock
from questree.tables.run import Run

PAPER = Smoothing()


def balance(
    run: Path,
    /,
    *,
    seed: int = 1,
    shares: Annotated[
        str, Parameter(help="Structures in per cent of the result.")
    ] = "query=50,compare=15,choose=15,verify=15,logic=5",
    tail: Annotated[float, Parameter(help="Rarest answers with at most this share are left alone.")] = PAPER.tail,
    ratio: Annotated[float, Parameter(help="Head to tail answers, at first.")] = PAPER.ratio,
    factor: Annotated[float, Parameter(help="Times the ratio after each failed pass.")] = PAPER.factor,
    few: Annotated[int, Parameter(help="An answer with fewer questions ends a pass.")] = PAPER.few,
    top_answers: Annotated[float, Parameter(help="Done when this share of the answers ...")] = PAPER.top_answers,
    top_questions: Annotated[float, Parameter(help="... has at most this share of questions.")] = PAPER.top_questions,
    least: Annotated[float, Parameter(help="Share of a key's questions that must stay.")] = PAPER.least,
    workers: int = 2,
    json: Json = None,
    quiet: Quiet = False,
) -> None:
    """Select questions so that answers and structures are balanced, train and test apart.

    Parameters
    ----------
    run
        Run folder with questions (`questree generate` writes them); the selection goes to its folder `balanced`.
    """
    how = Smoothing(tail, ratio, factor, few, top_answers, top_questions, least)
    with watching(quiet):
        report = select(Run(run), Options(seed, how, read_shares(shares)), workers)
        lock(Run(run), "balanced")
    for split in SPLITS:
        own = [row for row in report.rows if row.split == split]
        print_table(f"{split}: questions", [*map(line, own), *sums(own)], quiet)
        print_table(f"{split}: structures", structures(report, split), quiet)
    for note in shortfalls(report):
        say(note, quiet)
    say(f"kept {report.total('after_structures'):,} of {report.total('before'):,} in {run / 'balanced'}", quiet)
    write_json(json, report)


def line(row: Row) -> dict[str, object]:
    return {
        "template": row.template,
        "structure": row.structure,
        "before": row.before,
        "deleted: answers per group": row.before - row.after_groups,
        "answers per key": row.after_groups - row.after_keys,
        "structures": row.after_keys - row.after_structures,
        "kept": row.after_structures,
    }


def sums(rows: list[Row]) -> Iterable[dict[str, object]]:
    """One line for all templates."""
    if rows:
        total = Row("", "all", "", *(sum(getattr(row, name) for row in rows) for name in NUMBERS))
        yield line(total)


NUMBERS = ("before", "after_groups", "after_keys", "after_structures")


def structures(report: Report, split: str) -> list[dict[str, object]]:
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


def shortfalls(report: Report) -> Iterable[str]:
    """Structures with fewer questions than they may have: their share is smaller than asked for."""
    for t in report.targets:
        if t.short > 1:  # one may be missing, as questions go in pairs
            yield f"{t.split}: {t.structure} falls short of its target by {t.short:,}; there are only {t.before:,}"
    for split in SPLITS:
        if not any(t.kept for t in report.targets if t.split == split):
            yield f"{split}: no open question is left, so nothing can be kept"
