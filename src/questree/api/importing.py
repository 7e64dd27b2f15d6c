"""Questions of released benchmarks, read into a run."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from questree.api.choices import StrPath
from questree.api.exporting import counted
from questree.api.made import Made
from questree.places import path_of
from questree.tables.lock import lock
from questree.tables.owners import writing
from questree.tables.run import Run

SHOWN = 20  # irregularities and differing answers in the tables; the record has all


def odd_rows(unit: str, odd: Counter[str], examples: Mapping[str, Sequence[str]]) -> list[dict[str, Any]]:
    """What was irregular, the commonest first."""
    return [{unit: n, "what": what, "for example": ", ".join(examples[what])} for what, n in odd.most_common()]


def import_agqa(
    folder: StrPath,
    *,
    out: StrPath,
    facts: StrPath | None = None,
    vocabulary: StrPath | None = None,
    workers: int = 2,
) -> Made:
    """Read AGQA's question files, released or exported by us, into a run; odd records are listed and kept.

    Parameters
    ----------
    folder
        Folder with AGQA_balanced/, AGQA_unbalanced/ or the question files.
    out
        Run folder, new or not.
    facts
        Facts to answer from: a run, or a folder of scene graphs.
    vocabulary
        Vocabulary file of the words. AGQA's if left out.
    workers
        Number of processes.

    >>> _ = questree.export("run", "agqa", out="agqa", workers=1)
    >>> questree.import_agqa("agqa", out="imported")
    <Made by import agqa: wrote imported>
    """
    from questree.formats.agqa_run import MADE, MADE_FROM
    from questree.formats.agqa_run import import_agqa as read

    place = path_of(out)
    gone = [name for name in MADE_FROM if (place / name).is_dir()]
    known, words = (None if path is None else path_of(path) for path in (facts, vocabulary))
    with writing(place, "import agqa"):
        told = read(path_of(folder), place, known, words, workers)
        lock(Run(place), *MADE)
    odd = odd_rows("records", told.faults, told.examples)
    left = odd_rows("records", *told.without_question())
    said: list[Any] = [
        ("Questions per file", counted("file", told.questions)),
        ("Irregular records", odd[:SHOWN]),
        ("Records that are no questions of the run", left[:SHOWN]),
        f"{len(told.shapes):,} shapes of programs, {told.faults.total():,} irregular records",
    ]
    if not told.facts:
        without = f"{told.videos:,} videos without facts"
        said += [f"{without}: nothing can be executed, and `show` has no timelines; see --facts"]
    if gone:
        said += [f"removed, as made from earlier questions: {', '.join(gone)}; stored predictions are kept"]
    record = {"out": str(out), "questions": told.questions, "shapes": len(told.shapes), "no questions": left}
    record |= {"kept as they are": told.kept_as_is, "irregular": odd, "facts": told.facts}
    return Made("import agqa", [*said, f"wrote {out}"], record)


def import_decomp(folder: StrPath, *, out: StrPath, vocabulary: StrPath | None = None, workers: int = 2) -> Made:
    """Read DAGs in the layout of AGQA-Decomp's release into a run; what is irregular is listed and kept.

    Parameters
    ----------
    folder
        Folder with <video>.json files, or with folders of them (.._hierarchies).
    out
        Run folder, new or not; best after `import agqa` into the same run.
    vocabulary
        Vocabulary file of the words. AGQA's if left out.
    workers
        Number of processes.

    >>> questree.import_decomp("released", out="taken-apart").tables["DAGs per folder"].columns
    ['folder', 'DAGs', 'isolated']
    """
    from questree.formats.agqa_run import MADE
    from questree.formats.decomp_run import import_dags

    words = None if vocabulary is None else path_of(vocabulary)
    with writing(path_of(out), "import decomp"):
        told, packed = import_dags(path_of(folder), path_of(out), words, workers)
        lock(Run(path_of(out)), *MADE, "hierarchies", "decomposed")
    left = odd_rows("DAGs", *packed.in_order()) if packed else []
    rows = [{"folder": name, "DAGs": told.dags.get(name, 0), "isolated": n} for name, n in told.isolated.items()]
    odd = odd_rows("times", *told.odd.in_order())
    said: list[Any] = [
        ("DAGs per folder", rows),
        ("Irregularities", odd),
        ("DAGs that are none of the run", left[:SHOWN]),
        f"{told.kept_as_is:,} DAGs kept as they are, {told.odd.counts.total():,} irregularities",
    ]
    if packed is None:
        said += ["the run has questions of its own: the DAGs are only kept, in hierarchies/"]
    record = {"out": str(out), "folders": rows, "kept as they are": told.kept_as_is, "irregular": odd}
    return Made("import decomp", [*said, f"wrote {out}"], record | {"left out": left})


def import_covr(
    folder: StrPath, *, out: StrPath, words: StrPath | None = None, replace: bool = False, workers: int = 2
) -> Made:
    """Read COVR's question records; programs are read and answered again, odd records listed and left out.

    Parameters
    ----------
    folder
        Folder with train, val (or dev) and test files, .jsonl or .json.
    out
        Run folder with the images; covr/ is written into it.
    words
        Folder of word tables. The shipped ones if left out.
    replace
        Replace the run's questions; what was made from them is removed.
    workers
        Number of processes.

    >>> _ = questree.export("images", "covr", out="covr")
    >>> questree.import_covr("covr", out="images", replace=True)
    <Made by import covr: wrote images/covr>
    """
    from questree.formats.covr_import import import_covr as read
    from questree.search.word_tables import words_of
    from questree.tables.image_questions import made_from_questions

    place = Run(path_of(out))
    known = words_of(None if words is None else path_of(words))
    gone = made_from_questions(place)
    with writing(place.folder, "import covr"):
        told = read(path_of(folder), place, known.attribute_group, replace, workers)
        lock(place, "covr/questions", "covr/balanced")
    odd, again = odd_rows("records", told.faults, told.examples), answered(told.answered)
    other = [{"id": id, "answer": given, "program": found} for id, given, found in told.differing]
    same = sum(counts["same"] for counts in told.answered.values())
    said: list[Any] = [
        ("Questions per file", counted("file", told.questions)),
        ("Left out", odd[:SHOWN]),
        ("Answered again by their programs", again),
        ("Other answers", other[:SHOWN]),
        f"{same:,} of {sum(told.questions.values()):,} answers are what the program says",
    ]
    said += [] if gone is None else [f"replaced earlier questions{gone}"]
    record = {"out": str(out), "questions": told.questions, "left out": odd, "answered": again, "other": other}
    return Made("import covr", [*said, f"wrote {place.covr}"], record)


def answered(counts: Mapping[str, Counter[str]]) -> list[dict[str, Any]]:
    """Templates down; same, other and the reasons for no answer across."""
    columns = ["same", "other", *sorted({how for own in counts.values() for how in own} - {"same", "other"})]
    return [{"template": name} | {how: own[how] for how in columns} for name, own in sorted(counts.items())]
