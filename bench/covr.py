"""`make bench NAME=covr` and `covr-index`: programs over sets of synthetic images, and searches of their index."""

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import numpy as np
from cyclopts import Parameter

from bench.measured import Measurement, measure
from bench.runs import aside, made_images
from questree.api.covr_programs import results_of
from questree.benchmarks.covr.forms import Program, TemplateForm, shape, things, those
from questree.benchmarks.covr.templates import TEMPLATES
from questree.cli.shared_options import Whole
from questree.cli.terminal import output, say, watching, write_json
from questree.domains.images import Corpus, corpus
from questree.domains.images.batches import ProgramBatch, answers
from questree.domains.images.corpus import Ints
from questree.domains.images.graph import Graph, GraphRelation
from questree.domains.images.kinds import ATTRIBUTE, COUNT, GROUP, LINK_NAME, NOUN
from questree.notation import covr as rows_of
from questree.readings.answer import WELL
from questree.search.drawn import sampled
from questree.search.index import Index
from questree.search.related import Related
from questree.search.word_tables import default_words
from questree.sources.covr_programs import ProgramRecord
from questree.stages.drafts.whole_run import DraftOptions, generate
from questree.synth.images import VALUE_GROUPS
from questree.synth.images import world as made_up
from questree.tables.images import Images
from questree.terms import Kind, Word, fill, slots

BY_ROWS = 50_000  # programs that are also read from rows: fewer, because they must be written out
FEW = 500  # questions made beforehand
MOST_IMAGES = 5
# references of every form; a word of theirs is the name of the column it is drawn from
NEAR = GraphRelation("link", Graph("target"))
REFERENCES = {
    "a thing": Graph("name"),
    "with an attribute": Graph("name", "attribute"),
    "related": Graph("name", None, (NEAR,)),
    "with both": Graph("name", "attribute", (NEAR,)),
    "chain": Graph(
        "name", None, (GraphRelation("link", Graph("target", None, (GraphRelation("onward", Graph("last")),))),)
    ),
}
OTHER = Graph("target", None, (GraphRelation("onward", Graph("last")),))


@output
def covr(
    *,
    images: Annotated[Whole, Parameter(help="Number of synthetic images.")] = 10_000,
    programs: Annotated[Whole, Parameter(help="Number of programs, over all templates.")] = 2_000_000,
    questions: Annotated[Whole, Parameter(help="Number of questions to generate.")] = 100_000,
    seed: Annotated[Whole, Parameter(help="Seed of the synthetic world.")] = 1,
    workers: Annotated[Whole, Parameter(help="Number of processes, and of threads of the executor.")] = 2,
) -> None:
    """Questions made; then the executor: programs of all templates about sets of up to five images."""
    with watching(), TemporaryDirectory(prefix="questree-bench-") as place:
        run = aside(made_images, Path(place), images, seed)
        generate(run, DraftOptions(questions=min(questions, FEW), seed=seed), workers)  # compiles the loops
        # the way from images to questions: the index, references, distractors, text, execution, the table
        asking = measure(
            "index and questions", images, lambda: generate(run, DraftOptions(questions, seed), workers).total
        )
        loaded: list[Corpus] = []
        kinds = made_up().things.values()
        groups = {value: group for group in VALUE_GROUPS for kind in kinds for value in getattr(kind, group)}

        def load() -> int:
            loaded.append(corpus(Images.load(run.images), groups))
            return len(loaded[0].thing_ids)

        facts = measure("image facts (rows are things)", images, load)
        world = loaded[0]
        made = list(batches(world, programs, seed))
        list(answers([_first(batch, 2) for batch in made], world))  # compiles the loops, or fetches them compiled
        without = [0]

        def execute() -> int:
            without[0] = sum(int((found.reason != WELL).sum()) for found in answers(made, world, workers))
            return sum(map(len, made))

        executor = measure("executor in batches", images, execute)
        asked = list(written(made, world, min(programs, BY_ROWS)))
        by_rows = measure("executor from rows", images, lambda: len(results_of(asked, world, workers)[0]))
    say(f"{asking}\n{facts}\n{executor}\n{by_rows}")
    say(f"{len(made)} shapes of programs; {without[0]:,} programs have no answer (none or several such things, ...)")
    write_json({"questions": asking, "facts": facts, "executor": executor, "from rows": by_rows})


def batches(world: Corpus, programs: int, seed: int) -> Iterator[ProgramBatch]:
    """Equally many programs of every form of every template with every form of reference."""
    draw = np.random.default_rng(seed)
    shapes = list(dict.fromkeys(filled.pattern for filled in fillings()))
    words = {filled.pattern: filled.words for filled in fillings()}
    for pattern in shapes:
        size = -(-programs // len(shapes))
        drawn, images = _drawn(world, size, draw)
        program = shape(pattern)
        columns = {
            name: drawn.get(words[pattern][int(name)], _any(world, slot.kind, size, draw))
            for name, slot in slots(program).items()
        }
        yield ProgramBatch((program,), columns, images)


def fillings() -> Iterator[Program]:
    for form in (form for template in TEMPLATES for form in template.forms):
        for graph in REFERENCES.values():
            yield form.filled({slot: _filling(form, slot, graph) for slot in form.slots})


def _filling(form: TemplateForm, slot: str, graph: Graph) -> Program | str:
    """A reference, the condition of a quantifier, or the column of a word."""
    if slot in ("R", "A"):
        return things(graph)
    if slot == "B":
        return things(OTHER)
    if slot == "C":
        asks = Graph("", "attribute") if "attribute" in form.name else Graph("", None, (NEAR,))
        return those(asks)
    return {"relation": "link", "first": "first", "second": "attribute"}.get(slot, slot)


def _drawn(world: Corpus, size: int, draw: np.random.Generator) -> tuple[dict[str, Ints], Ints]:
    """Words that are true of a thing somewhere, so that programs find something; its image among up to five."""
    facts = world.facts
    source = np.repeat(np.arange(len(facts.name)), np.diff(facts.first_edge))  # [edge] thing
    edge = draw.integers(0, len(source), size)
    thing, target = source[edge], facts.target[edge]
    onward = np.minimum(facts.first_edge[target], len(source) - 1)
    attribute = facts.attribute[np.minimum(facts.first_attribute[thing], len(facts.attribute) - 1)]
    columns = {
        "name": facts.name[thing],
        "attribute": attribute,
        "link": facts.link[edge],
        "target": facts.name[target],
        "onward": facts.link[onward],
        "last": facts.name[facts.target[onward]],
    }
    own = world.image_of[np.searchsorted(facts.first_thing, thing, "right") - 1]
    apart = np.arange(MOST_IMAGES) * (1 + draw.integers(0, max(1, len(world.image_ids) // MOST_IMAGES), size))[:, None]
    images = (own[:, None] + apart) % len(world.image_ids)  # different ones, as far as there are five
    return {name: column.astype(np.int64) for name, column in columns.items()}, images


def _any(world: Corpus, kind: Kind, size: int, draw: np.random.Generator) -> Ints:
    facts = world.facts
    if kind == COUNT:
        return draw.integers(1, 4, size)
    if kind == GROUP:
        return draw.integers(0, len(world.groups), size)
    said = {NOUN: facts.name[:-1], LINK_NAME: facts.link[:-1], ATTRIBUTE: facts.attribute}[kind]
    return draw.choice(said, size).astype(np.int64)


def _first(batch: ProgramBatch, rows: int) -> ProgramBatch:
    return ProgramBatch(
        batch.parts, {name: column[:rows] for name, column in batch.columns.items()}, batch.images[:rows]
    )


def written(made: list[ProgramBatch], world: Corpus, programs: int) -> Iterator[ProgramRecord]:
    """The first programs of every batch as rows, as they come from a file."""
    for batch in made:
        part = _first(batch, -(-programs // len(made)))
        kinds = {name: slot.kind for name, slot in slots(batch.parts[-1]).items()}
        for row, images in enumerate(part.images.tolist()):
            words = {name: _word(world, int(part.columns[name][row]), kind) for name, kind in kinds.items()}
            program = fill(batch.parts[-1], words)
            yield ProgramRecord(row, [world.image_ids[image] for image in images], rows_of.write(program))  # type: ignore[arg-type]


def _word(world: Corpus, position: int, kind: Kind) -> Word:
    if kind == COUNT:
        return Word(str(position), kind)
    return Word(world.groups[position] if kind == GROUP else world.words[position], kind)


PER_IMAGE = 20  # subgraphs drawn
SIMPLE = 3  # length of a thing with one relation
DRAWN = 10  # images of a kind, as the generator takes them
WARM = 20  # graphs that are searched before, so that nothing is compiled while it is measured


@output
def covr_index(
    *,
    images: Annotated[Whole, Parameter(help="Number of synthetic images.")] = 10_000,
    graphs: Annotated[Whole, Parameter(help="Largest number of subgraphs to search for.")] = 50_000,
    seed: Annotated[Whole, Parameter(help="Seed of the synthetic world.")] = 1,
) -> None:
    """Build the index of made-up images and search it, on one core."""
    with watching(), TemporaryDirectory(prefix="questree-bench-") as place:
        found = measurements(Images.load(made_images(Path(place), images, seed).images), graphs, seed)
    say("\n".join(map(str, found)))
    write_json(found)


def measurements(images: Images, graphs: int, seed: int) -> list[Measurement]:
    """Of the index, of drawing subgraphs, of simple patterns and of all kinds of distractors."""
    size, words = len(images.images), default_words()
    made: list[Index] = []
    drawn: dict[Graph, None] = {}

    def build() -> int:
        made.append(Index.of(images))
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
