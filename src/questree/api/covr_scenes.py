"""What scenes contain: every way to refer to an object, scenes with a graph, words that exclude each other."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import msgspec

from questree.domains.images.graph import from_json, to_json
from questree.faults import UNREADABLE, BadInput, Fault, refuse
from questree.progress import watch
from questree.search.index import Index, boxes_of
from questree.search.word_tables import folder_of_words, words_of
from questree.sources.covr import read_scenes

if TYPE_CHECKING:
    from questree.search.related import RelatedImages

TOGETHER = 2000  # graphs whose scenes are in memory at once


def scene_subgraphs(scenes: Path, words: Path | None = None) -> tuple[list[dict[str, Any]], int]:
    """Every subgraph of every scene, as {scene, start, graph, len, depth}; and how many scenes there are."""
    from questree.search.subgraphs import subgraphs

    tables, index = words_of(words), Index.of(read_scenes(scenes).images)
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
    return rows, len(image_ids)


def related_scenes(
    scenes: Path, graphs: Path, words: Path | None = None, verify: str | None = None, verify_others: str | None = None
) -> tuple[list[dict[str, Any]], int]:
    """The scenes that contain each graph, and by kind those that distract from it; and how many scenes there are.

    `verify` scores distractors, `verify_others` instances that are not annotated: module:function, or a file.
    """
    from questree.search.other_instances import OtherInstances, others_of
    from questree.search.related import Related
    from questree.search.verification import scorer_of

    asked = read_graphs(graphs)
    images = read_scenes(scenes).images
    index = Index.of(images)
    others = OtherInstances(boxes_of(images), index, others_of(verify_others)) if verify_others else None
    related = Related(index, words_of(words), scorer_of(verify) if verify else None, others)
    ids, rows = index.image_ids.to_list(), list[dict[str, Any]]()
    starts = range(0, len(asked), TOGETHER)
    for first in watch(starts, "related scenes", len(starts)):
        few = asked[first : first + TOGETHER]
        found = related.find([from_json(msgspec.json.decode(row.graph)) for row in few], [r.multi_count for r in few])
        rows += [_written(row, found, at, ids) for at, row in enumerate(few)]
    return rows, len(ids)


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


def _written(row: GraphRecord, found: "RelatedImages", at: int, ids: list[str]) -> dict[str, Any]:
    scenes = {
        kind: [ids[image] for image in found.image[hits.start : hits.stop]] for kind, hits in found.of(at).items()
    }
    return {"scene": row.scene, "graph": row.graph, "positive": scenes.pop("positive", []), "negative": scenes}


def kinds_of(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
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
        except UNREADABLE as error:
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


def exclusion_tables(
    run: Path | None, *, out: Path, scenes: Path | None = None, words: Path | None = None, scorer: str | None = None
) -> dict[str, int]:
    """Write which words exclude each other; list -> number of pairs."""
    from questree.search.exclusion import scorer_of, write_tables
    from questree.tables.images import Images
    from questree.tables.run import Run

    if (run is None) == (scenes is None):
        raise BadInput.at("", "expected either a run folder or --scenes FILE")
    with folder_of_words(words) as folder:
        images = Images.load(Run.at(run).images) if run is not None else read_scenes(scenes).images  # type: ignore[arg-type]
        return dict(write_tables(images, folder, out, scorer_of(scorer) if scorer else None))
