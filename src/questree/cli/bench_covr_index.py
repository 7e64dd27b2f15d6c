"""`questree bench covr-index`: the embedded index of images, simple patterns, and all kinds of distractors."""

from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

from cyclopts import Parameter

from questree.bench import Measurement, measure
from questree.cli.options import Whole
from questree.cli.terminal import Json, Quiet, say, watching, write_json
from questree.domains.images.graph import Graph
from questree.search.drawn import sampled
from questree.search.index import Index
from questree.search.related import Related
from questree.search.word_tables import default_words
from questree.tables.images import Images

PER_IMAGE = 20  # subgraphs drawn
SIMPLE = 3  # length of a thing with one relation
DRAWN = 10  # images of a kind, as the generator takes them
WARM = 20  # graphs that are searched before, so that nothing is compiled while it is measured


def covr_index(
    *,
    images: Annotated[Whole, Parameter(help="How many made-up images.")] = 10_000,
    graphs: Annotated[Whole, Parameter(help="How many subgraphs are searched for, at most.")] = 50_000,
    seed: Annotated[Whole, Parameter(help="Another seed, another world.")] = 1,
    quiet: Quiet = False,
    json: Json = None,
) -> None:
    """Build the index of made-up images and search it, on one core."""
    from questree.sources.gqa import ingest
    from questree.synth.images import write_images

    with watching(quiet), TemporaryDirectory(prefix="questree-bench-") as place:
        write_images(Path(place) / "world", images, seed)
        ingest(Path(place) / "world", Path(place) / "run")
        found = measurements(Images.load(Path(place) / "run" / "images"), graphs, seed)
    say("\n".join(map(str, found)), quiet)
    write_json(json, [asdict(each) for each in found])


def measurements(images: Images, graphs: int, seed: int) -> list[Measurement]:
    """Of the index, of drawing subgraphs, of simple patterns and of all kinds of distractors."""
    size, words = len(images.images), default_words()
    made: list[Index] = []
    drawn: dict[Graph, None] = {}

    def build() -> int:
        made.append(Index(images))
        return size

    def draw() -> int:
        for count, (_, _, graph, _) in enumerate(sampled(made[0], words, None, PER_IMAGE, seed)):
            if len(drawn) >= graphs:
                return count
            drawn[graph] = None
        return size * PER_IMAGE

    indexed = measure("index (rows are images)", size, build)
    related = Related(made[0], words)
    warm = [graph for _, _, graph, _ in sampled(made[0], words, range(min(size, WARM)), PER_IMAGE, seed)]
    related.find(warm, limit=1, seed=seed, instances=True)

    def kinds() -> int:
        related.find(list(drawn), limit=DRAWN, seed=seed, instances=True)
        return len(drawn)

    def edges() -> int:
        simple = [graph for graph in drawn if graph.length <= SIMPLE]
        related.find(simple, limit=0, positives=size)
        return len(simple)

    taken = measure("subgraphs drawn", size, draw)
    positives = measure("simple patterns, all their images", size, edges)
    return [indexed, taken, positives, measure("graphs with all their kinds", size, kinds)]
