"""`questree wordings`: one example of every wording in a file, for a person who checks the English."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Parameter

from questree.benchmarks.agqa.editions import EDITIONS
from questree.benchmarks.agqa.examples import Example, examples
from questree.benchmarks.agqa.templates import ADDED
from questree.cli.terminal import output, print_table, say, write_json
from questree.stages.generate.given import read
from questree.tables.store import new_file
from questree.vocabulary import default, load


@output
def wordings(
    *,
    out: Annotated[Path, Parameter(help="Text file to write.")],
    vocabulary: Annotated[Path | None, Parameter(help="Vocabulary file in TOML. [default: AGQA's words]")] = None,
    edition: Annotated[Literal["2.0", "1.0"], Parameter(help="Edition of AGQA.")] = "2.0",
    templates: Annotated[
        list[Path] | None, Parameter(help="TOML file of templates to show instead; may be given several times.")
    ] = None,
) -> None:
    """Write an example of every template of videos, frame, kind of time phrase and kind of reference, with its program.

    Templates of plugins come after the shipped ones.
    """
    words = default() if vocabulary is None else load(vocabulary)
    known = EDITIONS[edition]
    if templates or ADDED:
        known = replace(known, added=(*ADDED.values(), *read(templates or ())), only_added=bool(templates))
    found = list(examples(words, known))
    with new_file(out) as work:
        work.write_text("".join(f"{line}\n" for line in lines(found)), "utf-8")
    rows = counts(found)
    print_table(f"edition {edition}, words of {words.name}", rows)
    frames, texts = sum(row["frames"] for row in rows), sum(row["examples"] for row in rows)
    say(f"{out}: {len(rows)} templates, {frames} frames, {texts:,} examples")
    write_json({"edition": edition, "templates": rows, "examples": [record(example) for example in found]})


def lines(found: Iterable[Example]) -> Iterator[str]:
    """Template, frame, then per example the question and under it its program."""
    for template, per_template in groupby(found, lambda example: example.template):
        yield from (f"{template.name}  {template.program}", "")
        for frame, per_frame in groupby(per_template, lambda example: example.frame):
            yield f"  {frame.text}"
            for example in per_frame:
                kind = ", ".join(filter(None, (example.time, example.reference)))
                yield from (f"    {kind + ':':<26} {example.text}", f"    {'':26} {example.program}")
            yield ""


def counts(found: Iterable[Example]) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for template, group in groupby(found, lambda example: example.template):
        own = list(group)
        rows.append(
            {"template": template.name, "frames": len({example.frame for example in own}), "examples": len(own)}
        )
    return rows


def record(example: Example) -> dict[str, str]:
    return {**example._asdict(), "template": example.template.name, "frame": example.frame.text}
