"""`questree export` and `questree import`: runs in the formats of released benchmarks, and their files into runs."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from questree.benchmarks import chosen
from questree.cli.shared_options import WorkersOption
from questree.cli.terminal import output, print_table, say, watching, write_json
from questree.faults import BadInput
from questree.formats.catalogue import Exporter
from questree.tables.lock import lock
from questree.tables.run import Run
from questree.tables.store import new_folder, only_earlier

SHOWN = 20  # irregularities and differing answers in the tables; the JSON file has all
OutOption = Annotated[Path, Parameter(help="Folder to write; an earlier export there is replaced.")]


def counted(what: str, counts: Mapping[str, int], unit: str = "questions") -> list[dict[str, Any]]:
    return [{what: name, unit: count} for name, count in counts.items()]


def odd_rows(unit: str, odd: Counter[str], examples: Mapping[str, Sequence[str]]) -> list[dict[str, Any]]:
    """What was irregular, the commonest first."""
    return [{unit: n, "what": what, "for example": ", ".join(examples[what])} for what, n in odd.most_common()]


@output
def export_agqa(
    run: Path,
    /,
    *,
    out: OutOption,
    unbalanced: Annotated[bool, Parameter(help="Also write every question, not only the balanced selection.")] = False,
    sample: Annotated[
        int | None,
        Parameter(help="With --unbalanced: number of questions to write, the balanced ones among them. [default: all]"),
    ] = None,
    csv: Annotated[bool, Parameter(help="Write CSV files for the published baselines.")] = True,
    graphs: Annotated[bool, Parameter(help="Write scene graphs.")] = True,
    workers: WorkersOption = 2,
) -> None:
    """Write a run as AGQA's release: question files with every field, CSVs, id tables, scene graphs.

    Parameters
    ----------
    run
        Run folder with questions (`questree generate` or `questree import`).
    """
    from questree.formats.agqa import ExportOptions, export

    chosen(Run(run), "agqa")
    with watching():
        counts = export(Run(run), out, ExportOptions(unbalanced, csv, graphs, sample), workers)
    print_table("Questions per file", counted("file", counts))
    if sample is not None:
        drawn = sum(number for file, number in counts.items() if "unbalanced" in file)
        say(f"the unbalanced files are a sample of {drawn:,} questions; the balanced ones are all in it")
    say(f"wrote {out}")
    write_json({"out": str(out), "questions": counts, "sample": sample})


@output
def export_decomp(run: Path, /, *, out: OutOption, workers: WorkersOption = 2) -> None:
    """Write the DAGs of a run as AGQA-Decomp's release: `<set>_<split>_hierarchies/<video>.json`, `isolated.json`.

    Parameters
    ----------
    run
        Run folder with DAGs (`questree decompose`).
    """
    from questree.formats.decomp import export_decomp as export

    if not Run(run).hierarchies.is_dir():
        chosen(Run(run), "agqa")
    with watching():
        counts = export(Run(run), out, workers)
    print_table("DAGs per folder", [{"folder": name, **found} for name, found in counts.items()])
    say(f"wrote {out}")
    write_json({"out": str(out), "folders": counts})


@output
def export_covr(
    run: Path,
    /,
    *,
    out: OutOption,
    every: Annotated[
        bool, Parameter(name="--all", help="Write every question, not only the balanced selection.")
    ] = False,
    split: Annotated[
        str, Parameter(help="Split whose parts and training lists to write instead of train, dev and test.")
    ] = "",
) -> None:
    """Write the image questions of a run as COVR's records, one JSON line each: train.jsonl, val.jsonl, test.jsonl.

    Parameters
    ----------
    run
        Run folder with image questions (`questree generate` or `questree import covr`).
    """
    from questree.formats.covr import export, export_split

    chosen(Run(run), "covr")
    if split and every:
        raise BadInput.at("--all", "expected without --split, which says itself which questions it has")
    with watching():
        counts = export_split(Run(run), out, split) if split else export(Run(run), out, every)
    print_table("Questions per file", counted("file", counts))
    say(f"wrote {out}")
    write_json({"out": str(out), "questions": counts})


def written_by(exporter: Exporter) -> Callable[..., None]:
    """The command of a plugin's exporter."""

    @output
    def command(
        run: Annotated[Path, Parameter(help="Run folder.")],
        /,
        *,
        out: Annotated[Path, Parameter(help="Folder to write, new or empty.")],
    ) -> None:
        only_earlier(out, lambda name: False)
        with watching(), new_folder(out) as folder:
            counts = dict(exporter.write(Run(run), folder) or {})
        print_table("Written", counted("what", counts, "count"))
        say(f"wrote {out}")
        write_json({"out": str(out), "written": counts})

    return command


@output
def import_agqa(
    folder: Annotated[Path, Parameter(help="Folder with AGQA_balanced/, AGQA_unbalanced/ or the question files.")],
    /,
    *,
    out: Annotated[Path, Parameter(help="Run folder, new or not.")],
    facts: Annotated[Path | None, Parameter(help="Facts to answer from: a run, or a folder of scene graphs.")] = None,
    vocabulary: Annotated[Path | None, Parameter(help="Vocabulary file of the words. [default: AGQA's]")] = None,
) -> None:
    """Read AGQA's question files, released or exported by us, into a run; odd records are listed and kept."""
    from questree.formats.agqa_run import MADE, MADE_FROM
    from questree.formats.agqa_run import import_agqa as read

    gone = [name for name in MADE_FROM if (out / name).is_dir()]
    with watching():
        told = read(folder, out, facts, vocabulary)
        lock(Run(out), *MADE)
    odd = odd_rows("records", told.faults, told.examples)
    left = odd_rows("records", *told.without_question())
    print_table("Questions per file", counted("file", told.questions))
    print_table("Irregular records", odd[:SHOWN])
    print_table("Records that are no questions of the run", left[:SHOWN])
    say(f"{len(told.shapes):,} shapes of programs, {told.faults.total():,} irregular records")
    if not told.facts:
        say(f"{told.videos:,} videos without facts: nothing can be executed, and `show` has no timelines; see --facts")
    if gone:
        say(f"removed, as made from earlier questions: {', '.join(gone)}; stored predictions are kept")
    say(f"wrote {out}")
    result = {"out": str(out), "questions": told.questions, "shapes": len(told.shapes), "no questions": left}
    write_json(result | {"kept as they are": told.kept_as_is, "irregular": odd, "facts": told.facts})


@output
def import_decomp(
    folder: Annotated[
        Path, Parameter(help="Folder with <video>.json files, or with folders of them (.._hierarchies).")
    ],
    /,
    *,
    out: Annotated[Path, Parameter(help="Run folder, new or not; best after `import agqa` into the same run.")],
    vocabulary: Annotated[Path | None, Parameter(help="Vocabulary file of the words. [default: AGQA's]")] = None,
) -> None:
    """Read DAGs in the layout of AGQA-Decomp's release into a run; what is irregular is listed and kept."""
    from questree.formats.agqa_run import MADE
    from questree.formats.decomp_run import import_dags

    with watching():
        told, packed = import_dags(folder, out, vocabulary)
        lock(Run(out), *MADE, "hierarchies", "decomposed")
    left = odd_rows("DAGs", packed.left_out, packed.examples) if packed else []
    rows = [{"folder": name, "DAGs": told.dags.get(name, 0), "isolated": n} for name, n in told.isolated.items()]
    odd = odd_rows("times", told.odd, told.examples)
    print_table("DAGs per folder", rows)
    print_table("Irregularities", odd)
    print_table("DAGs that are none of the run", left[:SHOWN])
    say(f"{told.kept_as_is:,} DAGs kept as they are, {told.odd.total():,} irregularities")
    if packed is None:
        say("the run has questions of its own: the DAGs are only kept, in hierarchies/")
    say(f"wrote {out}")
    result = {"out": str(out), "folders": rows, "kept as they are": told.kept_as_is, "irregular": odd}
    write_json(result | {"left out": left})


@output
def import_covr(
    folder: Annotated[Path, Parameter(help="Folder with train, val (or dev) and test files, .jsonl or .json.")],
    /,
    *,
    out: Annotated[Path, Parameter(help="Run folder with the images; covr/ is written into it.")],
    words: Annotated[Path | None, Parameter(help="Folder of word tables. [default: the shipped ones]")] = None,
    replace: Annotated[
        bool, Parameter(negative="", help="Replace the run's questions; what was made from them is removed.")
    ] = False,
) -> None:
    """Read COVR's question records; programs are read and answered again, odd records listed and left out."""
    from questree.formats.covr import import_covr as read
    from questree.search.word_tables import words_of
    from questree.tables.image_questions import made_from_questions

    with watching():
        known = words_of(words)
        gone = made_from_questions(Run(out))
        told = read(folder, Run(out), known.attribute_group, replace)
        lock(Run(out), "covr/questions", "covr/balanced")
    odd, again = odd_rows("records", told.faults, told.examples), answered(told.answered)
    other = [{"id": id, "answer": given, "program": found} for id, given, found in told.differing]
    print_table("Questions per file", counted("file", told.questions))
    print_table("Left out", odd[:SHOWN])
    print_table("Answered again by their programs", again)
    print_table("Other answers", other[:SHOWN])
    same = sum(counts["same"] for counts in told.answered.values())
    say(f"{same:,} of {sum(told.questions.values()):,} answers are what the program says")
    if gone is not None:
        say(f"replaced earlier questions{gone}")
    say(f"wrote {out / 'covr'}")
    write_json({"out": str(out), "questions": told.questions, "left out": odd, "answered": again, "other": other})


def answered(counts: Mapping[str, Counter[str]]) -> list[dict[str, Any]]:
    """Templates down; same, other and the reasons for no answer across."""
    columns = ["same", "other", *sorted({how for own in counts.values() for how in own} - {"same", "other"})]
    return [{"template": name} | {how: own[how] for how in columns} for name, own in sorted(counts.items())]
