"""`questree export traces`: questions with their steps, for supervised fine-tuning."""

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from questree.api.exporting import counted
from questree.cli.formats import OutOption
from questree.cli.terminal import output, print_table, say, watching, write_json


@output
def export_traces(
    run: Path,
    /,
    *,
    out: OutOption,
    style: Annotated[
        Literal["chat", "turns", "lines", "prose", "think"],
        Parameter(help="Messages (chat, turns), or a prompt and a completion (lines, prose, think)."),
    ] = "chat",
    split: Annotated[str | None, Parameter(help="Only questions of this split. [default: all, a file each]")] = None,
    evidence: Annotated[bool, Parameter(help="Say the seconds or boxes that answers rest on.")] = True,
    executed: Annotated[bool, Parameter(help="Also tell answers that are not published (open world).")] = False,
    seed: Annotated[int | None, Parameter(help="Seed of the order. [default: as the run has them]")] = None,
    benchmark: Annotated[str, Parameter(help="Benchmark, of a run with several.")] = "",
) -> None:
    """Write decomposed questions as reasoning traces, a JSON line each: `<split>.jsonl`.

    Parameters
    ----------
    run
        Run folder with DAGs (`questree decompose`).
    """
    from questree.api.epochs import Epoch
    from questree.api.traces import write_traces

    with watching():
        epoch = Epoch(run, split, seed, evidence=evidence, executed=executed, benchmark=benchmark)
        counts = write_traces(epoch, out, style)
    print_table("Traces per file", counted("file", counts, "traces"))
    say(f"wrote {out}")
    write_json({"out": str(out), "style": style, "traces": counts})
