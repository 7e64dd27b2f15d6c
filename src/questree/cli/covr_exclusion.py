"""`questree covr exclusion`: word tables from the images of a run."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from questree.cli.covr_subgraphs import Tables
from questree.cli.terminal import Json, Quiet, print_table, say, watching, write_json
from questree.faults import BadInput


def exclusion_command(
    run: Annotated[Path | None, Parameter(help="Run folder with images.")] = None,
    /,
    *,
    out: Annotated[Path, Parameter(help="Folder to write the tables to.")],
    scenes: Annotated[Path | None, Parameter(help='Scene graphs {"gqa", "imsitu"} instead of a run.')] = None,
    words: Tables = None,
    scorer: Annotated[
        str | None, Parameter(help="Who judges pairs: module:function, or a file [{kind, a, b, score}].")
    ] = None,
    json: Json = None,
    quiet: Quiet = False,
) -> None:
    """Which words exclude each other: annotated pairs and an ontology (--words), and what the images say."""
    from questree.search.exclusion import scorer_of, write_tables
    from questree.search.word_tables import folder_of_words
    from questree.sources.covr_scenes import read_scenes
    from questree.tables.images import Images

    if (run is None) == (scenes is None):
        raise BadInput.at("", "wanted either a run folder or --scenes FILE")
    with watching(quiet), folder_of_words(words) as folder:
        images = Images.load(run / "images") if run is not None else read_scenes(scenes).images  # type: ignore[arg-type]
        counts = write_tables(images, folder, out, scorer_of(scorer) if scorer else None)
    quiet = quiet or str(json) == "-"
    print_table("Pairs", [{"list": name, "pairs": count} for name, count in sorted(counts.items())], quiet)
    say(f"wrote {out}", quiet)
    write_json(json, counts)
