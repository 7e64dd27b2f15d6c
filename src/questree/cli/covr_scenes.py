"""`questree covr subgraphs`, `related` and `exclusion`: what scenes contain, and which words exclude each other."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
from cyclopts import Parameter

from questree.cli.terminal import output, print_table, say, watching, write_json
from questree.faults import BadInput, Fault, refuse

if TYPE_CHECKING:
    from questree.search.related import RelatedImages

Scenes = Annotated[Path, Parameter(help='{"gqa", "imsitu"}: scene graphs.')]
Tables = Annotated[Path | None, Parameter(help="Folder of word tables. [default: the shipped ones]")]


@output
def subgraphs_command(*, scenes: Scenes, words: Tables = None) -> None:
    """Write every subgraph of every scene: {scene, start, graph, len, depth}."""
    from questree.domains.images.graph import to_json
    from questree.progress import watch
    from questree.search.index import Index
    from questree.search.subgraphs import subgraphs
    from questree.search.word_tables import words_of
    from questree.sources.covr import read_scenes

    with watching():
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
    print_table("Subgraphs", table)
    say(f"{len(rows):,} subgraphs of {len(image_ids):,} scenes")
    write_json(rows)


TOGETHER = 2000  # graphs whose scenes are in memory at once


class NodeRecord(msgspec.Struct):
    name: str
    attributes: list[str] | None = None
    relations: list["LinkRecord"] | None = None


class PrepositionRecord(msgspec.Struct):
    name: str
    target: NodeRecord


class LinkRecord(msgspec.Struct):
    name: str
    target: NodeRecord
    prepositions: list[PrepositionRecord] | None = None


class GraphRecord(msgspec.Struct):
    """One graph; its own scene is only passed on."""

    scene: str
    graph: msgspec.Raw
    multi_count: Annotated[int, msgspec.Meta(ge=1)] = 1


@output
def related_command(
    *,
    scenes: Scenes,
    graphs: Annotated[Path, Parameter(help="[{scene, graph}]; with a multi_count, 0_no_mult is searched for too.")],
    words: Tables = None,
    verify: Annotated[
        str | None, Parameter(help="Scores of distractors: module:function, or a file [{image, graph, score}].")
    ] = None,
) -> None:
    """Write the scenes that contain each graph, and by kind those that distract from it."""
    from questree.domains.images.graph import from_json
    from questree.progress import watch
    from questree.search.index import Index
    from questree.search.related import Related
    from questree.search.verification import scorer_of
    from questree.search.word_tables import words_of
    from questree.sources.covr import read_scenes

    with watching():
        asked = read_graphs(graphs)
        index = Index(read_scenes(scenes).images)
        related = Related(index, words_of(words), scorer_of(verify) if verify else None)
        ids, rows = index.image_ids.to_list(), list[dict[str, Any]]()
        starts = range(0, len(asked), TOGETHER)
        for first in watch(starts, "related scenes", len(starts)):
            few = asked[first : first + TOGETHER]
            found = related.find(
                [from_json(msgspec.json.decode(row.graph)) for row in few], [r.multi_count for r in few]
            )
            rows += [_written(row, found, at, ids) for at, row in enumerate(few)]
    print_table("Related scenes", _counts(rows))
    say(f"{len(rows):,} graphs, {len(ids):,} scenes")
    write_json(rows)


def _written(row: GraphRecord, found: "RelatedImages", at: int, ids: list[str]) -> dict[str, Any]:
    scenes = {
        kind: [ids[image] for image in found.image[hits.start : hits.stop]] for kind, hits in found.of(at).items()
    }
    return {"scene": row.scene, "graph": row.graph, "positive": scenes.pop("positive", []), "negative": scenes}


def _counts(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Per kind: how many graphs have it, and how many scenes."""
    kinds: dict[str, list[int]] = {"positive": [len(row["positive"]) for row in rows if row["positive"]]}
    for row in rows:
        for kind, scenes in row["negative"].items():
            kinds.setdefault(kind, []).append(len(scenes))
    return [{"kind": kind, "graphs": len(sizes), "scenes": sum(sizes)} for kind, sizes in kinds.items()]


def read_graphs(path: Path) -> list[GraphRecord]:
    """The rows of a file; everything that is wrong with it in one go."""
    from questree.search.verification import records

    rows = records(path, GraphRecord)
    faults = []
    for at, row in enumerate(rows):
        try:
            node = msgspec.json.decode(row.graph, type=NodeRecord)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            faults.append(Fault(f"{path}, record {at}, graph", str(error)))
        else:
            faults += [Fault(f"{path}, record {at}, graph", message) for message in _wrong(node)]
    refuse(faults)
    return rows


def _wrong(node: NodeRecord) -> Iterator[str]:
    if not node.name.strip():
        yield "the name of a node is empty"
    if len(node.attributes or ()) > 1:
        yield f"{node.name!r} has {len(node.attributes or ())} attributes; a node has none or one"
    for link in node.relations or ():
        for each in (link, *(link.prepositions or ())):
            if not each.name.strip():
                yield f"the name of a relation of {node.name!r} is empty"
            yield from _wrong(each.target)


@output
def exclusion_command(
    run: Annotated[Path | None, Parameter(help="Run folder with images.")] = None,
    /,
    *,
    out: Annotated[Path, Parameter(help="Folder to write the tables to.")],
    scenes: Annotated[Path | None, Parameter(help='Scene graphs {"gqa", "imsitu"} instead of a run.')] = None,
    words: Tables = None,
    scorer: Annotated[
        str | None, Parameter(help="Judge of pairs: module:function, or a file [{kind, a, b, score}].")
    ] = None,
) -> None:
    """Which words exclude each other: annotated pairs and an ontology (--words), and what the images say."""
    from questree.search.exclusion import scorer_of, write_tables
    from questree.search.word_tables import folder_of_words
    from questree.sources.covr import read_scenes
    from questree.tables.images import Images

    if (run is None) == (scenes is None):
        raise BadInput.at("", "expected either a run folder or --scenes FILE")
    with watching(), folder_of_words(words) as folder:
        images = Images.load(run / "images") if run is not None else read_scenes(scenes).images  # type: ignore[arg-type]
        counts = write_tables(images, folder, out, scorer_of(scorer) if scorer else None)
    print_table("Pairs", [{"list": name, "pairs": count} for name, count in sorted(counts.items())])
    say(f"wrote {out}")
    write_json(counts)
