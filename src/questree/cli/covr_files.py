"""`questree export covr` and `questree import covr`: COVR's question records."""

from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from questree.benchmarks import chosen
from questree.cli.terminal import output, print_table, say, watching, write_json
from questree.tables.lock import lock
from questree.tables.run import Run

SHOWN = 20  # irregularities and differing answers in the tables; the JSON file has all
OutOption = Annotated[Path, Parameter(name="--out", help="Folder to write; an earlier export there is replaced.")]


@output
def export_command(
    run: Path,
    /,
    *,
    out: OutOption,
    every: Annotated[
        bool, Parameter(name="--all", help="Write every question, not only the balanced selection.")
    ] = False,
) -> None:
    """Write the image questions of a run as COVR's records, one JSON line each: train.jsonl, dev.jsonl, test.jsonl.

    Parameters
    ----------
    run
        Run folder with image questions (`questree generate` or `questree import covr`).
    """
    from questree.formats.covr import export

    chosen(Run(run), "covr")
    with watching():
        counts = export(Run(run), out, every)
    print_table("Questions per file", [{"file": name, "questions": count} for name, count in counts.items()])
    say(f"wrote {out}")
    write_json({"out": str(out), "questions": counts})


@output
def import_command(
    folder: Annotated[Path, Parameter(help="Folder with train, dev (or val) and test files, .jsonl or .json.")],
    /,
    *,
    out: Annotated[Path, Parameter(name="--out", help="Run folder with the images; covr/ is written into it.")],
    words: Annotated[
        Path | None, Parameter(name="--words", help="Folder of word tables. [default: the shipped ones]")
    ] = None,
    replace: Annotated[
        bool,
        Parameter(
            name="--replace", negative="", help="Replace the run's questions; what was made from them is removed."
        ),
    ] = False,
) -> None:
    """Read COVR's question records; programs are read and answered again, odd records listed and left out."""
    from questree.formats.covr_import import import_covr
    from questree.search.word_tables import words_of
    from questree.tables.image_questions import made_from_questions

    with watching():
        known = words_of(words)
        gone = made_from_questions(Run(out))
        told = import_covr(folder, Run(out), known.attribute_group, replace)
        lock(Run(out), "covr/questions", "covr/balanced")
    print_table("Questions per file", [{"file": name, "questions": n} for name, n in told.questions.items()])
    odd = [
        {"records": count, "what": fault, "for example": ", ".join(told.examples[fault])}
        for fault, count in told.faults.most_common()
    ]
    print_table("Left out", odd[:SHOWN])
    again = answered(told.answered)
    print_table("Answered again by their programs", again)
    other = [{"id": id, "answer": given, "program": found} for id, given, found in told.differing]
    print_table("Other answers", other[:SHOWN])
    same = sum(counts["same"] for counts in told.answered.values())
    say(f"{same:,} of {sum(told.questions.values()):,} answers are what the program says")
    if gone is not None:
        say(f"replaced earlier questions{gone}")
    say(f"wrote {out / 'covr'}")
    result = {"out": str(out), "questions": told.questions, "left out": odd, "answered": again, "other": other}
    write_json(result)


def answered(counts: dict[str, Any]) -> list[dict[str, Any]]:
    """Templates down; same, other and the reasons for no answer across."""
    columns = ["same", "other", *sorted({how for own in counts.values() for how in own} - {"same", "other"})]
    return [{"template": name} | {how: own[how] for how in columns} for name, own in sorted(counts.items())]
