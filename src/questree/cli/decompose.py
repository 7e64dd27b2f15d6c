"""`questree decompose`: every question of a run into its DAG of sub-questions, with answers."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from questree.cli.shared_options import BenchmarkOption, Whole, WordsOption, WorkersOption, carry_out, tell
from questree.cli.terminal import output, say, watching, write_json
from questree.faults import BadInput


@output
def decompose_command(
    run: Path | None = None,
    /,
    *,
    benchmark: BenchmarkOption = "",
    balanced: Annotated[
        bool | None,
        Parameter(negative="--all", help="Take the balanced selection (if there is one), or all questions."),
    ] = None,
    closed: Annotated[
        bool | None,
        Parameter(
            negative="--open",
            help="Videos, closed world: what nobody annotated is not there. Open: it is not said. "
            "Synthetic runs are closed.",
        ),
    ] = None,
    rules_only: Annotated[
        bool,
        Parameter(negative="", help="Videos: do not run programs; keep what rules make of the questions' answers."),
    ] = False,
    absent: Annotated[
        Path | None,
        Parameter(help="Videos: file of objects labelled absent, CSV video,object or JSON {video: [object]}."),
    ] = None,
    invalid_actions: Annotated[
        Whole,
        Parameter(help="Videos: number of actions per video that do not occur, for questions with the answer no."),
    ] = 0,
    train_set: Annotated[
        bool, Parameter(negative="", help="Videos: also choose sub-questions to train on, with balanced answers.")
    ] = False,
    words: WordsOption = None,
    from_agqa: Annotated[
        Path | None, Parameter(help="A released AGQA question file instead of a run; no scene graphs needed.")
    ] = None,
    out: Annotated[Path | None, Parameter(name="--out", help="With --from-agqa: folder for the hierarchies.")] = None,
    workers: WorkersOption = 2,
) -> None:
    """Take every question of a run apart into its DAG of sub-questions, and answer each of them by execution.

    Parameters
    ----------
    run
        Run folder with questions (`questree generate` writes them); left out with --from-agqa.
    """
    if from_agqa:
        used = balanced is not None or closed is not None or rules_only or invalid_actions or train_set
        if run or out is None or used:
            wanted = "--from-agqa FILE goes with --out DIR, --absent FILE, --workers N and no run folder; a file of"
            raise BadInput.at("decompose", f"{wanted} questions is taken apart whole, by rules only")
        released(from_agqa, out, absent, workers)
        return
    if run is None or out:
        raise BadInput.at("decompose", "expected a run folder, or --from-agqa FILE --out DIR")
    given = {
        "balanced": balanced,
        "all": balanced is False,
        "closed": closed,
        "open": closed is False,
        "rules_only": rules_only,
        "absent": absent,
        "invalid_actions": invalid_actions or None,
        "train_set": train_set,
        "words": words,
    }
    carry_out("decompose", run, benchmark, given, workers)


def released(path: Path, out: Path, absent: Path | None, workers: int) -> None:
    """Take apart a question file; its own answers and the rules are all there is."""
    from questree.formats.decomp_released import decompose_released
    from questree.stages.decompose.recipes import record, told_contradictions, told_rules, told_types
    from questree.vocabulary.load import default

    with watching():
        told = decompose_released(path, out, default(), workers, absent)
    tell(told_types(told.summary))
    for why, count in told.unread.most_common():
        say(f"no DAG for {count:,}: {why}")
    say(f"{told.strange_answers:,} answers not of the question's kind, not used")
    tell(told_rules(told.summary))
    tell(told_contradictions(told.summary))
    say(f"wrote {out}")
    write_json(record(told.summary) | {"unread": told.unread})
