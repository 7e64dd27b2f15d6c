"""Questions about image sets -> the tables of their DAGs, each node answered by execution; and those tables as text."""

import re
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import polars as pl

from questree.columns.joins import Ints
from questree.domains.images import IMAGES, Corpus, ImageSets, corpus
from questree.domains.images.corpus import padded
from questree.domains.images.english import countable
from questree.domains.images.graph import Graph
from questree.domains.images.kinds import COUNT, GROUP, NOUN
from questree.faults import BadInput
from questree.notation.own import show
from questree.notation.own_shapes import ProgramShapes, program_shapes
from questree.program import BOOL, UNKNOWN, Array, Kind, Node, Slot, Term, Word, fill, slots
from questree.progress import report
from questree.readings.answer import answer
from questree.readings.english import english
from questree.readings.parts import given, node_type
from questree.rules import IMAGE_DAGS
from questree.search.word_tables import WordTables
from questree.stages.decompose.columns import EXECUTED, ROWS, UNDEFINED, edge_table, form_table, node_table
from questree.stages.decompose.expand import Batch, Block, expand
from questree.stages.decompose.forms import NodeForms, Variant
from questree.stages.decompose.spoken import Values, by_form
from questree.stages.split.image_sets import selected
from questree.tables.images import Images
from questree.tables.nodes import ASKED_TOPS, EDGES, FORMS, SETS, WORDS, nodes_about, slots_of
from questree.tables.run import Run
from questree.tables.store import new_folder

STEPS = 3
HOLE = re.compile(r"\$(s\d+)[!?]*")  # a slot of a form


@dataclass(frozen=True)
class ImageDecomposeSummary:
    questions: int
    unknown: int  # questions that no template asks: left out
    without_parts: int
    nodes: int
    edges: int
    types: dict[str, int]
    undefined: dict[str, int]  # nodes without an answer, by type
    different: list[str]  # ids of questions whose stored answer is not the executed one


@dataclass(frozen=True)
class SetWords:
    """The words of programs and answers about image sets, and how many sets there are."""

    words: list[str]
    sets: int

    @cached_property
    def at(self) -> dict[str, int]:
        return {word: at for at, word in enumerate(self.words)}

    @cached_property
    def uncounted(self) -> Array:
        """[word] a noun of what one does not count has other sub-questions."""
        return np.array([not countable(Graph(word)) for word in self.words], bool)


class ImageForms(NodeForms):
    """Forms of programs about image sets."""

    vocabulary: SetWords

    @property
    def width(self) -> int:
        return len(self.vocabulary.words).bit_length()

    def layout(self, words: int) -> list[int]:
        first = min(words, (63 - self.vocabulary.sets.bit_length()) // self.width)
        return [first, *(min(63 // self.width, words - at) for at in range(first, words, 63 // self.width))]

    def _forms(self, node: Node, option: Term | None) -> Iterator[Variant]:
        yield Variant(*self.canonical(node, option))

    def alone(self, term: Term) -> bool:
        return isinstance(term, Slot) and term.alone


def decompose_run(
    run: Run, words: WordTables, every: bool = False, workers: int = 1, words_from: Path | None = None
) -> ImageDecomposeSummary:
    """Write RUN/covr/decomposed/, whole or not at all; the balanced questions, or every one."""
    questions = selected(run, every)
    tables, summary = decompose(questions, corpus(Images.load(run.images), words.attribute_group), workers)
    with new_folder(run.covr / "decomposed") as folder:
        for name, table in tables.items():
            table.write_parquet(folder / f"{name}.parquet", compression="zstd", compression_level=1)
        options = {"all": every, "words": str(words_from or "")}
        (folder / "plan.json").write_bytes(msgspec.json.encode({"options": options}))
    return summary


def decompose(
    questions: pl.DataFrame, corpus: Corpus, workers: int = 1
) -> tuple[dict[str, pl.DataFrame], ImageDecomposeSummary]:
    """Columns of tables/image_questions.ANSWERED -> the tables of tables/nodes.py about sets."""
    report("decompose", 0, STEPS)
    programs = program_shapes(questions)
    known = np.array([node_type(shape) in IMAGE_DAGS.types for shape in programs.shapes], bool)[programs.code]
    asked, rows = questions.filter(pl.Series(known)), np.flatnonzero(known)
    numbers: dict[tuple[int, ...], int] = {}
    scope = [numbers.setdefault(tuple(sorted(images)), len(numbers)) for images in asked["images"].to_list()]
    said = SetWords(list(dict.fromkeys([*programs.words, *corpus.words, *corpus.groups])), len(numbers))
    place = np.full(len(questions), UNKNOWN, np.int64)  # [question] its number among those asked
    place[rows] = np.arange(len(rows))
    forms = ImageForms(said)
    blocks, tops = expand(forms, batches(programs, forms, place, np.array(scope, np.int64)), len(rows))
    report("decompose", 1, STEPS)
    answers = executed(blocks, said, corpus, padded(list(numbers)), workers)
    report("decompose", 2, STEPS)
    how = np.where(answers == UNKNOWN, UNDEFINED, EXECUTED).astype(np.uint8)
    widest = max((len(block.form.slots) for block in blocks), default=0)
    tables = {
        SETS.name: pl.DataFrame({"images": list(map(list, numbers))}, schema=dict(SETS.columns)),
        WORDS.name: pl.DataFrame({"word": said.words}, schema=dict(WORDS.columns)),
        FORMS.name: form_table(blocks),
        "nodes": node_table(blocks, answers, how, 0, nodes_about("set", widest, pl.UInt32), np.uint32),
        EDGES.name: edge_table(blocks, answers, IMAGE_DAGS.compositions)[0],
        ASKED_TOPS.name: ASKED_TOPS.frame({"id": asked["id"], "node": tops, "question": asked["question"]}),
    }
    report("decompose", STEPS, STEPS)
    return tables, summary_of(asked, tables, len(questions) - len(asked))


def batches(programs: ProgramShapes, forms: ImageForms, place: Ints, scope: Ints) -> Iterator[Batch]:
    """The questions that are asked, by form; `place`: [question] its number among them, `scope`: [number] its set."""
    for shape, every in programs.by_shape:
        every = every[place[every] != UNKNOWN]
        nouns = [name for name, slot in slots(shape).items() if slot.kind == NOUN]
        code = np.zeros(len(every), np.int64)
        for name in nouns:
            code = code << 1 | forms.vocabulary.uncounted[programs.filled[every, int(name)]]
        for one in np.unique(code).tolist():
            at = every[code == one]
            flags = {name: bool(one >> shift & 1) for shift, name in enumerate(reversed(nouns))}
            flagged = fill(shape, {name: Slot(name, NOUN, alone=flag) for name, flag in flags.items()})
            assert isinstance(flagged, Node)
            form, origins = forms.canonical(flagged)
            words = tuple(programs.filled[at, int(origin.name)] for origin in origins if isinstance(origin, Slot))
            yield Batch(form, scope[place[at]], words, place[at])


def executed(blocks: list[Block], said: SetWords, corpus: Corpus, images: Ints, workers: int) -> Array:
    """[node] the answer: yes or no, a count, a word; UNKNOWN where there is none. images: [set, image]."""
    found = np.full(sum(map(len, blocks)), UNKNOWN, np.int64)
    position: dict[Kind, Ints] = {}  # of every word in the facts
    # the word of every position in the facts; the last is that of none
    word_of, group_of = (np.array([*map(said.at.get, own), UNKNOWN]) for own in (corpus.words, corpus.groups))

    def run(block: Block, begin: int) -> None:
        rows = slice(begin, min(begin + ROWS, len(block)))
        columns = {slot.name: position[slot.kind][block.values[slot.name][rows]] for slot in block.form.slots}
        own = answer(block.form.node, ImageSets(corpus, images[block.video[rows]]), columns)
        kind = block.form.node.kind
        own = own if kind in (BOOL, COUNT) else (group_of if kind == GROUP else word_of)[own]
        found[block.first + rows.start : block.first + rows.stop] = own

    for slot in {slot for block in blocks for slot in block.form.slots}:
        if slot.kind not in position:
            numbers = slot.kind == COUNT
            words = [word if not numbers or word.lstrip("-").isdigit() else "0" for word in said.words]
            position[slot.kind] = corpus.positions(words, slot.kind)
    todo = [(block, begin) for block in blocks for begin in range(0, len(block), ROWS)]
    with ThreadPoolExecutor(workers) as pool:
        for _ in pool.map(lambda each: run(*each), todo):
            pass
    return found


def summary_of(questions: pl.DataFrame, tables: dict[str, pl.DataFrame], unknown: int) -> ImageDecomposeSummary:
    nodes, edges, tops = spoken_sets(tables, asked=False), tables[EDGES.name], tables[ASKED_TOPS.name]
    answered = nodes["answer"].gather(tops["node"])
    different = questions["id"].filter(answered.ne_missing(questions["answer"])).to_list()
    types = Counter(IMAGE_DAGS.types[at] for at in nodes["type"])
    undefined = Counter(IMAGE_DAGS.types[at] for at in nodes.filter(pl.col("answer").is_null())["type"])
    leaves = int((~tops["node"].is_in(edges["parent"].unique().implode())).sum())
    return ImageDecomposeSummary(
        len(tops), unknown, leaves, len(nodes), len(edges), dict(types), dict(undefined), different
    )


def read_sets(folder: Path) -> dict[str, pl.DataFrame]:
    """The tables of RUN/covr/decomposed by name."""
    if (folder / f"{SETS.name}.parquet").is_file() and not (folder / f"{WORDS.name}.parquet").is_file():
        raise BadInput.at(folder, "expected DAGs of this version, got older ones; run `questree decompose` again")
    tables = {table.name: table.read(folder) for table in (SETS, WORDS, FORMS, EDGES, ASKED_TOPS)}
    path = folder / "nodes.parquet"
    widest = len(slots_of(pl.read_parquet(path, n_rows=0))) if path.is_file() else 0
    return tables | {"nodes": nodes_about("set", widest, pl.UInt32).read(folder)}


def spoken_sets(tables: dict[str, pl.DataFrame], asked: bool = True) -> pl.DataFrame:
    """[node] its set, program, type (its number in the scheme), answer and the word a rule compares with; with `asked`
    also the question in English."""
    words, nodes = tables[WORDS.name]["word"], tables["nodes"]
    own = dict(own_words(tables)) if asked else {}
    value = nodes["answer"].cast(pl.Int64).fill_null(UNKNOWN).to_numpy()
    type_of, about, form_of = (np.full(len(nodes), UNKNOWN, np.int64) for _ in range(3))
    kinds: list[Kind] = []  # [form]
    programs: list[list[str]] = []  # [form] text and slots in turn
    questions: list[str] = []
    for rows, type, node, values in by_form(tables[FORMS.name], nodes, IMAGES):
        option = next((slot for slot in slots(node).values() if slot.option), None) or given(node)
        type_of[rows], form_of[rows] = IMAGE_DAGS.types.index(type), len(kinds)
        if option:
            about[rows] = values[option.name]
        kinds.append(node.kind)
        programs.append(HOLE.split(show(node)))
        if asked:
            size = rows.stop - rows.start
            parts_of_others = np.array([at for at in range(size) if rows.start + at not in own], np.int64)
            said = dict(zip(parts_of_others.tolist(), _questions(node, values, words, parts_of_others), strict=True))
            questions += [said[at] if at in said else own[rows.start + at] for at in range(size)]
    columns: dict[str, Any] = {
        "set": nodes["set"],
        "program": _programs(programs, form_of, nodes, words),
        "type": pl.Series(type_of, dtype=pl.UInt8),
        "answer": _spelled(kinds, form_of, value, words),
        "word": words.gather(pl.Series(about).replace(UNKNOWN, None)),
    }
    return pl.DataFrame(columns | ({"question": pl.Series(questions, dtype=pl.String)} if asked else {}))


def _programs(forms: list[list[str]], form_of: Ints, nodes: pl.DataFrame, words: pl.Series) -> pl.Series:
    """[node] its form with its words; one column per place in a form, as there are many forms of few nodes."""
    slot_names, spelled = list(slots_of(nodes)), pl.concat([words, pl.Series([""])])
    filled = [nodes[name].cast(pl.Int64).fill_null(0).to_numpy() for name in slot_names]
    pieces: list[pl.Series] = []
    for at in range(max(map(len, forms), default=0)):
        own = [form[at] if at < len(form) else "" for form in forms]
        if at % 2 == 0:
            pieces.append(pl.Series(own).gather(form_of))
            continue
        slot_of = np.array([slot_names.index(name) if name else UNKNOWN for name in own])[form_of]
        pieces.append(spelled.gather(np.select([slot_of == slot for slot in range(len(filled))], filled, len(words))))
    return pl.select(pl.concat_str(pieces)).to_series() if pieces else pl.Series(dtype=pl.String)


def _spelled(kinds: list[Kind], form_of: Ints, value: Array, words: pl.Series) -> pl.Series:
    """[node] answers as they are printed; null where there is none."""
    yes_no, count = (np.array([kind == one for kind in kinds], bool)[form_of] for one in (BOOL, COUNT))
    known = np.maximum(value, 0)
    said = pl.concat([words, pl.Series(BOOL.answers)]).gather(np.where(count, 0, known + yes_no * len(words)))
    return pl.Series(known).cast(pl.String).zip_with(pl.Series(count), said).set(pl.Series(value == UNKNOWN), None)


def _questions(node: Node, values: Values, words: pl.Series, rows: Ints) -> list[str]:
    """[row] the sub-questions of one form; equal words are said once."""
    said: dict[tuple[int, ...], str] = {}
    kinds = {name: slot.kind for name, slot in slots(node).items()}
    keys = list(zip(*(column[rows].tolist() for column in values.values()), strict=True))
    for key in keys:
        if key not in said:
            filled = fill(node, {name: Word(words[at], kinds[name]) for name, at in zip(values, key, strict=True)})
            assert isinstance(filled, Node)
            said[key] = english(filled)
    return [said[key] for key in keys]


def own_words(tables: dict[str, pl.DataFrame]) -> Iterator[tuple[int, str]]:
    """(node, question) of those that were asked before they were part of another: they keep their own words."""
    tops, edges = tables[ASKED_TOPS.name], tables[EDGES.name]
    asked = np.full(len(tables["nodes"]), len(tops), np.int64)  # [node] the first question that it is
    np.minimum.at(asked, tops["node"].to_numpy(), np.arange(len(tops)))
    below = np.full_like(asked, len(tops))  # [node] the first question that it is below
    parent, child = edges["parent"].to_numpy(), edges["child"].to_numpy()
    before = None
    while before is None or (below != before).any():
        before = below.copy()
        np.minimum.at(below, child, np.minimum(asked, below)[parent])
    text = tops["question"].to_list()
    for node in np.flatnonzero(asked < below).tolist():
        yield node, text[asked[node]]
