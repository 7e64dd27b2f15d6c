"""Questions about sets of images as they are shown: the images side by side, with what each part picks out."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache, partial
from pathlib import Path
from typing import Any, ClassVar, Self

import msgspec
import numpy as np
import polars as pl
from numpy.typing import NDArray

from questree.benchmarks import COVR
from questree.benchmarks.covr.splits import PATTERNS
from questree.columns.hashing import seed_of
from questree.domains.images import IMAGES, Corpus, ImageSets, corpus
from questree.domains.images.corpus import padded
from questree.domains.images.kinds import THINGS
from questree.notation import covr
from questree.notation.own import parse, show
from questree.readings.answer import evaluate
from questree.readings.evidence import Role, roles
from questree.rules import IMAGE_DAGS
from questree.search.word_tables import default_words
from questree.show.dag import Dag, DagColumns, Ints, Opened, Piece
from questree.show.frames import Boxed, image_file, picture, size_of
from questree.show.tags import Box
from questree.show.views import SAID, Evidence, Listed, Mask, Posed, Scene, View
from questree.stages.decompose.answer_words import AnswerWords
from questree.stages.decompose.hierarchies import published
from questree.stages.decompose.image_sets import questions_of
from questree.stages.decompose.set_hierarchies import (
    answer_words,
    image_ids,
    read_sets,
    set_columns,
    set_corpus,
    set_node_table,
    set_shards,
)
from questree.stages.decompose.set_shards import decompose as taken_apart
from questree.stages.decompose.spoken import SetTexts, say
from questree.stages.ground.node_evidence import outermost
from questree.stages.split.grammar import check, read
from questree.stages.split.image_sets import SIDES, selected
from questree.stages.split.language import of_image_rows
from questree.stages.split.rows import QuestionRows, image_rows
from questree.tables.image_questions import ANSWERED, check_images, every_question, question_folders, some_of
from questree.tables.images import Images
from questree.tables.nodes import ANSWERS, ASKED_TOPS, EDGES, FORMS, WORDS
from questree.tables.questions import program_text
from questree.tables.run import Run
from questree.tables.table import Table, rows_in
from questree.terms import Node, ProgramError, Word, walk
from questree.workers import whole

EVERYTHING = ("scene", "anything")  # picks out all there is
Thing = tuple[int, str, Box | None]  # row in `things`, name with its first attributes, place
KINDS = {"noun": "object", "attribute": "attribute", "link name": "relation"}  # kind of a word -> its colour


@dataclass(frozen=True)
class PickedPart:
    """A piece of a program and the things it stands for."""

    program: str
    outer: bool  # is it what the question is about, or only a step on the way?
    things: frozenset[int]  # rows in `things`

    @property
    def told(self) -> str:
        return f"{len(self.things)} thing{'s' if len(self.things) != 1 else ''}"


@dataclass(frozen=True)
class ImageShown:
    """One image of a set; things carry the numbers of the parts that pick them out."""

    id: str
    size: tuple[int, int]
    boxes: list[Boxed]
    unboxed: list[str]
    meant: bool  # is anything here that the question is about?

    def svg(self, address: str = "") -> str:
        """`address` is that of the real image."""
        return picture(self.size, self.boxes, f"image {self.id}", address)


@dataclass(frozen=True)
class ImageScene(Scene):
    template: ClassVar[str] = "images.html"
    script: ClassVar[str] = "images.js"
    parts: list[PickedPart]
    pictures: list[ImageShown]

    def evidence(self, program: Node) -> list[Evidence]:
        own = spelled_roles(program)
        parts = ((at, part) for at, part in enumerate(self.parts) if part.program in own)
        return [Evidence(part.program, [at], part.told, own[part.program]) for at, part in parts]

    def files(self, program: Node | None, folder: Path) -> list[tuple[str, Path]]:
        meant = [one for one in self.pictures if one.meant] or self.pictures
        paths = {one.id: image_file(folder, one.id) for one in meant}
        return [(f"image {id}", path) for id, path in paths.items() if path]


class ImageView(View):
    name, title, scope = "sets of images", "Image sets", "image"
    home, item, compare = "/images", "/images/", "/compare/images"
    words_hint = 'dog "on the table"'
    query_hint = 'has(filter, attribute="red") & ~has(count)'
    language = (
        'has(operation, noun="…", attribute="…")',
        'uses(noun="…")',
        "template(…)",
        'answer("yes")',
        "number(3)",
    )
    twin = "the same words, other images"
    kinds: ClassVar = {"object": "objects", "relation": "relationships", "attribute": "attributes"}
    numbers: ClassVar = {"images": "Images", "depth": "Depth"}
    scheme, benchmark = IMAGE_DAGS, COVR

    def __init__(self, run: Run, some: pl.DataFrame | None = None):
        """Of all questions of a run, or of some."""
        super().__init__(run)
        if some is None:
            self.check(run)
        self.every, self.decomposed = every_question(run) if some is None else some, COVR.has(run, "decomposed")
        self.parsed = lru_cache(SAID)(partial(parse, language=IMAGES))
        self.pictured = lru_cache(SAID)(self.annotated)
        self.row_at = {id: row for row, id in enumerate(self.every["id"])}
        own = self.every["template"].unique(maintain_order=True)
        self.templates = [*PATTERNS, *(name for name in own if name not in PATTERNS)]

    @classmethod
    def of_some(cls, run: Run, ids: Sequence[str]) -> Self:
        return cls(run, some_of(run, ids) if ids else ANSWERED.empty())

    @cached_property
    def facts(self) -> Images:
        return Images.load(self.run.images)

    @cached_property
    def number(self) -> dict[str, int]:  # type: ignore[override]  # words of DAGs first, as their tables have them
        known = set_corpus(self.run.folder).words.number if self.decomposed else ()
        words = dict.fromkeys([*known, *self.every["answer"].unique(maintain_order=True)])
        return {word: at for at, word in enumerate(words)}

    @classmethod
    def check(cls, run: Run) -> None:
        if COVR.has(run, "decomposed"):
            set_shards(run)  # says if they are of another version
        whole(check_images, run)

    @classmethod
    def counted(cls, folder: Path) -> DagColumns:
        nodes = set_node_table(folder).only("form", "answer", "known").read(folder)
        types = FORMS.only("type").read(folder)["type"].gather(nodes["form"])
        return DagColumns(types, known_in(nodes), EDGES.only("parent", "label").read(folder))

    def shards(self) -> list[str]:
        return [path.name for path in question_folders(self.run)]

    def open(self, shard: str) -> Opened:
        return opened(shard, read_sets(self.run.covr / "decomposed" / shard), set_corpus(self.run.folder).words)

    def cut_out(self, name: str, nodes: Sequence[int]) -> list[Opened]:
        shard = self.open(name)
        return [replace(one, nodes=self.said(one), numbers=()) for one in map(shard.only, nodes)]

    def dag(self, one: Opened) -> Dag:
        nodes = self.said(one).select("program", "answer", text="question", type=pl.Series(one.types, dtype=pl.String))
        said = nodes.to_dicts()
        text = [coloured(row["text"], self.parsed(row["program"])) for row in said]
        return Dag.of(said, text, one)

    def said(self, one: Opened) -> pl.DataFrame:
        """[node] program, answer, question; of a shard that is one DAG."""
        if "program" in one.nodes.columns:
            return one.nodes
        assert one.forms is not None
        return spoken(one.forms, one.nodes, set_corpus(self.run.folder).texts)

    def programs(self, one: Opened) -> list[Node]:
        return [self.parsed(text) for text in self.said(one)["program"].to_list()]

    @cached_property
    def begins(self) -> Ints:
        """[shard] its first question."""
        sizes = [rows_in(folder / f"{ANSWERED.name}.parquet") for folder in question_folders(self.run)]
        return np.cumsum([0, *sizes])[:-1]

    @cached_property
    def shown(self) -> dict[str, Ints]:
        """Shard -> the rows of the questions it lists."""
        if self.decomposed:
            return {folder.name: self.keys(ASKED_TOPS.only("id").read(folder)) for folder in set_shards(self.run)}
        chosen = self.every["id"].is_in(selected(self.run)["id"].implode()).arg_true().to_numpy().astype(np.int64)
        return dict(zip(self.shards(), np.split(chosen, np.searchsorted(chosen, self.begins[1:])), strict=True))

    def listed(self, shard: str) -> Listed:
        table = self.every[self.shown[shard]]
        columns = {
            "key": self.shown[shard],
            "template": numbered(table["template"], {name: at for at, name in enumerate(self.templates)}),
            "answer": numbered(table["answer"], self.number),
            "images": table["images"].list.len().to_numpy(),
            "depth": table["depth"].to_numpy(),
        }
        return Listed(columns, self.opened(shard) if self.decomposed else None)

    def pose(self, key: int) -> Posed:
        row = self.every.row(key, named=True)
        row["program"] = program_text(row["form"], row["words"])
        try:
            program: Node | None = self.parsed(row["program"])
        except ProgramError:
            program = None
        text = coloured(row["question"], program)
        return Posed(row["id"], row["question"], text, row["answer"], row["template"], lambda: program, row)

    def alone(self, asked: Posed) -> Opened | None:
        if asked.program is None:
            return None
        words = default_words()
        known = corpus(self.facts, words.attribute_group)
        found = taken_apart(self.every.filter(id=asked.id), known)
        if found[ASKED_TOPS.name].is_empty():
            return None
        texts = SetTexts(found[WORDS.name]["word"])
        one = opened("", found, answer_words(texts, found[ANSWERS.name]))
        return replace(one, nodes=spoken(found[FORMS.name], found["nodes"], texts))

    def scene(self, asked: Posed, one: Opened | None) -> ImageScene:
        """The parts of the question and of its sub-questions; what the question is about comes first."""
        programs = [asked.program] if asked.program else []
        if one:
            programs += self.programs(one)
        nodes = dict.fromkeys(node for program in programs for node in picking(program))
        world = ImageSets(self.corpus, padded([list(dict.fromkeys(asked.stored["images"]))]))
        values = evaluate(list(nodes), world).values
        outer = set(outermost(asked.program)) if asked.program else set()
        parts = [PickedPart(show(node), node in outer, members(world, values[node])) for node in nodes]
        parts.sort(key=lambda part: not part.outer)
        return ImageScene(parts, [self.picture(image, parts) for image in asked.stored["images"]])

    def picture(self, image: int, parts: Sequence[PickedPart] = ()) -> ImageShown:
        (id, width, height), things = self.pictured(image)
        boxes, unboxed, meant = [], [], False
        picked = frozenset().union(*(part.things for part in parts))
        for thing, label, box in things:
            own = tuple(at for at, part in enumerate(parts) if thing in part.things) if thing in picked else ()
            outer = any(parts[at].outer for at in own)
            meant |= outer
            if box is None:
                unboxed.append(label)
            else:
                kind = "mentioned" if outer else "step" if own else "other"
                boxes.append(Boxed(label, kind, box, own))
        return ImageShown(id, size_of(width, height, boxes), boxes, unboxed, meant)

    def annotated(self, image: int) -> tuple[tuple[str, int | None, int | None], list[Thing]]:
        """An image with its size, and its things; `pictured` keeps some."""
        rows = self.things[self.first_thing[image] : self.first_thing[image + 1]]
        names = zip(rows["attributes"].to_list(), rows["name"].to_list(), strict=True)
        labels = [" ".join([*(attributes or [])[:2], name]) for attributes, name in names]
        corners = rows["x1", "y1", "x2", "y2"].rows()
        things = [
            (self.first_thing[image] + at, label, None if box[0] is None else box)
            for at, (label, box) in enumerate(zip(labels, corners, strict=True))
        ]
        return self.facts.images["id", "width", "height"].row(image), things

    @cached_property
    def image_ids(self) -> frozenset[str]:
        return frozenset(self.facts.images["id"])

    @cached_property
    def corpus(self) -> Corpus:
        return corpus(self.facts, {})  # which things are meant does not depend on groups of attributes

    @cached_property
    def things(self) -> pl.DataFrame:
        """With names and attributes as words; `row` is the row in `things`."""
        words = self.facts.words["word"]
        named = self.facts.attributes.select("thing", attributes=words.gather(self.facts.attributes["attribute"]))
        named = named.group_by("thing", maintain_order=True).agg("attributes")
        things = self.facts.things.with_row_index("row").with_columns(name=words.gather(self.facts.things["name"]))
        return things.join(named, left_on="row", right_on="thing", how="left", maintain_order="left")

    @cached_property
    def first_thing(self) -> list[int]:
        """[image + 1] where its things begin."""
        own: list[int] = np.searchsorted(self.things["image"], np.arange(len(self.facts.images) + 1)).tolist()
        return own

    def labels(self, asked: Posed) -> list[tuple[str, str]]:
        return [(name, str(asked.stored[name])) for name in ("split", "length", "depth", "attributes")]

    def notations(self, asked: Posed) -> dict[str, str]:
        try:
            rows = covr.write(asked.program) if asked.program else []
        except ProgramError:
            rows = []
        text = "\n".join(msgspec.json.encode(row).decode() for row in rows)
        return {"in COVR's notation": text} if text else {}

    def twins(self, asked: Posed) -> list[int]:
        """Made together with it."""
        made = np.flatnonzero(self.pairs == asked.stored["pair"])
        texts = self.every["question"][made].to_list()
        same = [row for row, text in zip(made.tolist(), texts, strict=True) if text == asked.text]
        return [row for row in same if row != self.row_at[asked.id]]

    @cached_property
    def pairs(self) -> Ints:
        """[question]"""
        return self.every["pair"].to_numpy()

    def key(self, id: str) -> int | None:
        return self.row_at.get(id)

    def shard_of(self, key: int) -> str:
        return self.shards()[int(np.searchsorted(self.begins, key, side="right")) - 1]

    def keys(self, tops: pl.DataFrame) -> Ints:
        return np.array([self.row_at[id] for id in tops["id"]], np.int64)

    def worded(self, shard: str, rows: Ints) -> pl.Series:
        return self.every["question"].gather(self.shown[shard][rows])

    def ids(self, keys: Ints) -> pl.Series:
        return self.every["id"][keys]

    def scopes(self, keys: Ints) -> pl.Series:
        """The images with spaces between them."""
        sets = image_ids(self.every["images"].gather(keys), self.facts.images["id"])
        return sets.list.join(" ")

    def drawn(self, keys: Ints) -> Ints:
        return self.every["images"].list.first().gather(keys).to_numpy()

    def named(self, tops: pl.DataFrame) -> pl.Series:
        return tops["id"]

    def chances(self, tops: pl.DataFrame, seed: int) -> NDArray[np.uint64]:
        return np.array([seed_of(seed, f"failure {id}") for id in tops["id"]], np.uint64)

    def side(self, keys: Ints) -> pl.Series:
        return self.every["split"].gather(keys)

    def written(self) -> Iterator[tuple[str, Ints]]:
        for path in sorted((self.run.covr / "splits").glob("*.parquet")):
            table = Table(path.stem, SIDES.columns).read(path.parent)
            for (part,), own in table.group_by("part", maintain_order=True):
                yield f"{path.stem} {part}", self.keys(own)

    def within(self, scope: str, keys: Ints) -> Mask:
        ids = self.facts.images["id"].to_list()
        check("image", (scope,), ids)
        return self.every["images"].gather(keys).list.contains(ids.index(scope)).to_numpy()

    def query(self, text: str, shards: Sequence[str]) -> list[Mask]:
        """The language of splits."""
        every = np.asarray(read(text, of_image_rows(self.rows)).holds(self.rows))
        return np.split(every, np.cumsum([len(self.shown[shard]) for shard in shards])[:-1])

    @cached_property
    def rows(self) -> QuestionRows:
        return image_rows(self.every[np.concatenate([*self.shown.values()])])


def opened(name: str, found: dict[str, pl.DataFrame], words: AnswerWords) -> Opened:
    """With nodes as they are stored."""
    forms, nodes, number = found[FORMS.name], found["nodes"], words.number
    columns, known = set_columns(forms, nodes, words), known_in(nodes)
    tops, edges = found[ASKED_TOPS.name], found[EDGES.name]
    return Opened(name, nodes, edges, tops, columns, IMAGE_DAGS.compositions, number, known, forms)


def spoken(forms: pl.DataFrame, nodes: pl.DataFrame, texts: SetTexts) -> pl.DataFrame:
    """[node] program, answer, question."""
    said = say(forms, nodes, texts, columns=("program", "answer"))
    return said.with_columns(question=questions_of(forms, nodes, texts))


def known_in(nodes: pl.DataFrame) -> pl.Series:
    return pl.Series(["undefined", "executed"]).gather(published(nodes).astype(np.uint8))


def numbered(column: pl.Series, number: dict[str, int]) -> Ints:
    return column.replace_strict(number, return_dtype=pl.Int32).to_numpy()


@lru_cache(SAID)
def spelled_roles(program: Node) -> Mapping[str, Role]:
    """Per sub-program what its evidence is needed for."""
    return {show(node): role for node, role in roles(program).items()}


@lru_cache(SAID)
def picking(program: Node) -> tuple[Node, ...]:
    """The pieces of a program that stand for things."""
    found = (node for node in walk(program) if isinstance(node, Node) and node.kind == THINGS)
    return tuple(dict.fromkeys(node for node in found if node.op.name not in EVERYTHING))


def members(world: ImageSets, value: NDArray[Any]) -> frozenset[int]:
    """Rows of the things in the first row's set."""
    return frozenset(world.members(value[:1])[1].tolist())


@lru_cache(SAID)
def coloured(text: str, program: Node | None) -> list[Piece]:
    """A text in pieces by what its words name; a word may stand in the plural."""
    leaves = (term for term in walk(program) if isinstance(term, Word)) if program else ()
    kinds = {word.name.lower(): KINDS[word.kind.name] for word in leaves if word.kind.name in KINDS}
    if not kinds:
        return [("", text)]
    longest = sorted(kinds, key=len, reverse=True)
    parts = re.split(rf"\b((?:{'|'.join(map(re.escape, longest))})(?:s|es)?)\b", text, flags=re.IGNORECASE)
    named = [next(kinds[word] for word in longest if part.lower().startswith(word)) for part in parts[1::2]]
    return [(named[at // 2] if at % 2 else "", part) for at, part in enumerate(parts) if part]
