"""What the answers to decomposed questions rest on: seconds of videos, boxes in images."""

from functools import reduce

import numpy as np
import polars as pl

from questree.columns.joins import Ints, listed, starts
from questree.domains.images import IMAGES
from questree.domains.images.batches import CHUNK
from questree.domains.images.corpus import Corpus, ImageSets, padded
from questree.domains.images.kinds import THINGS
from questree.domains.video import Videos
from questree.readings.answer import evaluate
from questree.readings.evidence import DECIDES, evidence, roles
from questree.stages.decompose.spoken import by_form
from questree.stages.ground.boxes import image_boxes
from questree.stages.ground.evidence import unpacked
from questree.tables.facts import BOX
from questree.tables.images import Images
from questree.tables.nodes import FORMS, SETS, WORDS
from questree.terms import Array, Kind, Node, slots

SECONDS = pl.List(pl.List(pl.Float64))  # stretches: the seconds of their first and of their last frame
BOXES = pl.List(pl.Struct({"image": pl.String, "name": pl.String, **dict.fromkeys(BOX, pl.Float64)}))


def seen_seconds(forms: pl.DataFrame, nodes: pl.DataFrame, world: Videos, first: int) -> pl.Series:
    """[node] of SECONDS: where what the answer rests on is seen; if nothing is seen, where it was looked for.

    `first`: the video that the world numbers 0.
    """
    video = nodes["video"].to_numpy().astype(np.int64) - first
    bits = np.zeros((len(nodes), world.words), np.uint64)
    for rows, _, form, values in by_form(forms, nodes):
        asked = world.ask(video[rows])
        found = evidence(form, asked, values)
        none = asked.everything * np.uint64(0)
        # what is localised rests on the frames of its event, which are there already
        seen = _united([own for node, own in found.items() if node.op.focus is None and not node.kind.opens], none)
        looked = _united([own for node, own in found.items() if node.kind.opens], none)
        bits[rows] = np.where(seen.any(axis=1, keepdims=True), seen, looked)
    return stretches(bits, video, world)


def _united(parts: list[Array], none: Array) -> Array:
    return reduce(np.bitwise_or, parts, none)


def stretches(bits: Array, video: Ints, world: Videos) -> pl.Series:
    """[row] of SECONDS: neighbouring frames are one stretch; bits: [row, word]."""
    shown = unpacked(bits).astype(bool)
    shown &= np.arange(shown.shape[1]) < world.length[video][:, None]
    edge = np.zeros((len(shown), 1), bool)
    row, begin = np.nonzero(shown & ~np.hstack([edge, shown[:, :-1]]))
    _, end = np.nonzero(shown & ~np.hstack([shown[:, 1:], edge]))
    at = world.frame_start[video[row]]
    both = np.stack([world.seconds[at + begin], world.seconds[at + end]], axis=1).astype(np.float64)
    pairs = listed(both.ravel(), np.arange(0, 2 * len(both) + 1, 2))
    return listed(pairs, starts(row, len(bits))).cast(SECONDS)


def found_boxes(tables: dict[str, pl.DataFrame], images: Images, corpus: Corpus) -> pl.Series:
    """[node] of BOXES: the things that the outermost parts of its program find, as far as they have a box."""
    return _boxes(*found_things(tables, corpus), len(tables["nodes"]), images)


def found_numbers(tables: dict[str, pl.DataFrame], images: Images, corpus: Corpus) -> pl.Series:
    """[node] the same as numbers among the boxes of its images, one image after the other."""
    node, thing = found_things(tables, corpus)
    boxes, box_of = image_boxes(images)
    node, box = node[box_of[thing] >= 0], box_of[thing][box_of[thing] >= 0]
    place = _places(tables).T
    both = np.unique(np.stack([node, boxes.number(node, box, place, boxes.before(place))]), axis=1)
    return listed(both[1].astype(np.uint32), starts(both[0], len(tables["nodes"])))


def _places(tables: dict[str, pl.DataFrame]) -> Ints:
    """[node, image] the images it is about, padded."""
    return np.asarray(padded(tables[SETS.name]["images"].to_list())[tables["nodes"]["set"].to_numpy()])


def found_things(tables: dict[str, pl.DataFrame], corpus: Corpus) -> tuple[Ints, Ints]:
    """(node, thing): what the outermost parts of its program find."""
    nodes, words = tables["nodes"], tables[WORDS.name]["word"].to_list()
    places = _places(tables)
    node, thing = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for rows, _, form, values in by_form(tables[FORMS.name], nodes, IMAGES):
        kinds = {name: slot.kind for name, slot in slots(form).items()}
        for begin in range(rows.start, rows.stop, CHUNK):
            few = slice(begin, min(begin + CHUNK, rows.stop))
            own = {name: column[begin - rows.start : few.stop - rows.start] for name, column in values.items()}
            world = ImageSets(corpus, places[few])
            columns = {name: _positions(column, words, corpus, kinds[name]) for name, column in own.items()}
            known = evaluate(form, world, columns).values
            at, found = world.members(_united([known[node] for node in outermost(form)], world.everything * 0))
            node.append(begin + at)
            thing.append(found)
    return np.concatenate(node), np.concatenate(thing)


def _positions(column: Ints, words: list[str], corpus: Corpus, kind: Kind) -> Ints:
    different, place = np.unique(column, return_inverse=True)
    return corpus.positions([words[at] for at in different.tolist()], kind)[place]


def outermost(program: Node) -> list[Node]:
    """The parts of a program that stand for things and are in no other such part."""
    return [node for node, role in roles(program).items() if role == DECIDES and node.kind == THINGS]


def _boxes(node: Ints, thing: Ints, nodes: int, images: Images) -> pl.Series:
    order = np.lexsort((thing, node))
    rows = pl.DataFrame({"node": node[order], "thing": thing[order]}).unique(maintain_order=True)
    found = images.things[rows["thing"].to_numpy()]
    named = found.select(
        images.images["id"].gather(found["image"]).alias("image"),
        images.words["word"].gather(found["name"]).alias("name"),
        pl.col(*BOX).cast(pl.Float64),
    )
    boxed = named["x1"].is_not_null()
    return listed(named.filter(boxed).to_struct(), starts(rows["node"].filter(boxed).to_numpy(), nodes)).cast(BOXES)
