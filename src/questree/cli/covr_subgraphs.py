"""`questree covr subgraphs`: every way to refer to an object of some scenes."""

from collections import Counter
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from questree.cli.terminal import Json, Quiet, print_table, say, watching, write_json

Scenes = Annotated[Path, Parameter(help='{"gqa", "imsitu"}: scene graphs.')]
Tables = Annotated[Path | None, Parameter(help="Folder of word tables. [default: the shipped ones]")]


def subgraphs_command(*, scenes: Scenes, words: Tables = None, json: Json = None, quiet: Quiet = False) -> None:
    """Write every subgraph of every scene: {scene, start, graph, len, depth}."""
    from questree.domains.images.graph import to_json
    from questree.progress import watch
    from questree.search.index import Index
    from questree.search.subgraphs import subgraphs
    from questree.search.word_tables import words_of
    from questree.sources.covr_scenes import read_scenes

    with watching(quiet):
        tables, index = words_of(words), Index(read_scenes(scenes).images)
        image_ids, thing_ids = index.image_ids.to_list(), index.thing_ids.to_list()
        rows = [
            {
                "scene": image_ids[image],
                "start": thing_ids[thing],
                "graph": to_json(graph),
                "len": graph.length,
                "depth": graph.depth,
            }
            for each in watch(range(len(image_ids)), "subgraphs", len(image_ids))
            for image, thing, graph in subgraphs(index, tables, [each])
        ]
    counts = sorted(Counter((row["len"], row["depth"]) for row in rows).items())
    table = [{"length": length, "depth": depth, "subgraphs": count} for (length, depth), count in counts]
    quiet = quiet or str(json) == "-"
    print_table("Subgraphs", table, quiet)
    say(f"{len(rows):,} subgraphs of {len(image_ids):,} scenes", quiet)
    write_json(json, rows)
