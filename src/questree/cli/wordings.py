"""`questree wordings`: one example of every wording in a file, for a person who checks the English."""

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from questree.cli.terminal import output, print_table, say, write_json


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

    Templates of plugins come after the shipped ones, those of image sets last.
    """
    from questree.api.vocabularies import read_vocabulary
    from questree.api.wordings import counts
    from questree.api.wordings import wordings as write

    found = write(out=out, vocabulary=vocabulary, edition=edition, templates=templates)
    rows = counts(found)
    print_table(f"edition {edition}, words of {read_vocabulary(vocabulary).name}", rows)
    frames, texts = sum(row["frames"] for row in rows), sum(row["examples"] for row in rows)
    say(f"{out}: {len(rows)} templates, {frames} frames, {texts:,} examples")
    write_json({"edition": edition, "templates": rows, "examples": found})
