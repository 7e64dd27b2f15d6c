"""`questree ground`: inputs of a grounding test with all boxes, only the relevant, only the irrelevant ones."""

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from questree.cli.shared_options import BenchmarkOption, WordsOption
from questree.cli.terminal import output, print_table, say, watching, write_json
from questree.tables.run import Run

SplitOption = Annotated[str, Parameter(name="--split", help="Split to take: train, dev (image sets), test, or all.")]
EveryOption = Annotated[bool, Parameter(name="--all", help="Take every question, not only the balanced selection.")]
SampleOption = Annotated[int, Parameter(name="--sample", help="Number of questions to draw; 0 for all.")]


@output
def ground(
    run: Path,
    /,
    *,
    out: Annotated[Path, Parameter(name="--out", help="Folder to write; an earlier grounding there is replaced.")],
    format: Annotated[Literal["jsonl", "parquet"], Parameter(name="--format")] = "jsonl",
    split: SplitOption = "test",
    every: EveryOption = False,
    sample: SampleOption = 0,
    seed: Annotated[int, Parameter(name="--seed", help="Seed of the sample.")] = 0,
    benchmark: BenchmarkOption = "",
    words: WordsOption = None,
) -> None:
    """What each question is about, from the evidence of its program: boxes to keep or to remove, frames to show.

    Parameters
    ----------
    run
        Run folder with questions about videos or about images.
    """
    from questree.api.grounded import attribute_groups
    from questree.faults import Fault, refuse
    from questree.stages.ground.files import write
    from questree.stages.ground.grounding import GroundOptions

    refuse([Fault("--sample", f"expected at least 0, got {sample}")] if sample < 0 else [])
    with watching():
        options = GroundOptions(split, every, sample, seed, benchmark)
        made = write(Run(run), options, attribute_groups(Run(run), options, words), out, format)
    per = made.questions or 1
    lines = [
        {"condition": "relevant", "boxes per question": f"{made.relevant / per:.1f}"},
        {"condition": "irrelevant", "boxes per question": f"{made.irrelevant / per:.1f}"},
    ]
    print_table("Boxes kept", lines)
    left = ", ".join(f"{reason} {count:,}" for reason, count in sorted(made.left_out.items())) or "none"
    say(f"{made.questions:,} questions, {made.boxes:,} boxes; nothing to compare: {left}")
    say(f"wrote {out}")
    write_json({"out": str(out), "questions": made.questions, "boxes": made.boxes, "left out": made.left_out})
