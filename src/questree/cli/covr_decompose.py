"""`questree covr decompose`: every question about image sets into its DAG of sub-questions."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from questree.cli.terminal import Json, Quiet, print_table, say, watching, write_json
from questree.tables.run import Run

SHOWN = 5


def decompose_command(
    run: Path,
    /,
    *,
    words: Annotated[Path | None, Parameter(name="--words", help="Folder of word tables; ours without it.")] = None,
    every: Annotated[
        bool, Parameter(name="--all", negative="", help="All questions, not only the balanced ones.")
    ] = False,
    workers: int = 2,
    json: Json = None,
    quiet: Quiet = False,
) -> None:
    """Take image questions apart; answers of sub-questions are executed.

    Parameters
    ----------
    run
        Run folder with image questions (`questree covr generate` or `questree import covr`).
    """
    from questree.search.word_tables import words_of
    from questree.stages.decompose.drafted import decompose_run

    place = Run(run)
    with watching(quiet):
        summary = decompose_run(place, words_of(words), every, workers)
    rows = [
        {"type": type, "nodes": count, "without an answer": summary.undefined.get(type, 0)}
        for type, count in summary.types.items()
    ]
    print_table("Nodes by type", rows, quiet)
    say(
        f"{summary.questions:,} questions, {summary.nodes:,} nodes, {summary.edges:,} edges; "
        f"{summary.without_parts:,} questions have no sub-questions, {summary.unknown:,} are of no known form",
        quiet,
    )
    if summary.different:
        shown = ", ".join(summary.different[:SHOWN])
        say(f"{len(summary.different):,} stored answers are not what execution gives: {shown}", quiet)
    say(f"wrote {place.covr / 'decomposed'}", quiet)
    write_json(json, summary)
