"""What a template is made of: programs with holes, frames with slots, how they are filled; references as programs."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from string import Formatter

from questree.columns.quoting import quoted
from questree.domains.images import IMAGES
from questree.domains.images.graph import Graph
from questree.notation import own
from questree.terms import Node

HOLE = "{}"
KEPT = 1 << 16  # references whose programs are remembered


@dataclass(frozen=True)
class Program:
    pattern: str  # "filter(find({}), {})"; programs of one shape have one pattern
    words: tuple[str, ...]  # one per hole

    @property
    def text(self) -> str:
        return self.pattern.format(*map(quoted, self.words))


@lru_cache(KEPT)
def things(graph: Graph) -> Program:
    """What a graph describes."""
    return _related(f"find({HOLE})", (graph.name,), graph)


@lru_cache(KEPT)
def those(graph: Graph) -> Program:
    """Everything that has the root's attribute and relations, whatever its name: the condition of a quantifier."""
    return _related("scene()", (), graph)


@lru_cache(KEPT)
def inverse(graph: Graph) -> Program:
    """The target of the root's only relation, described by the root."""
    (edge,) = graph.relations
    subject, target = things(Graph(graph.name, graph.attribute)), things(Graph(edge.target.name, edge.target.attribute))
    pattern = f"with_relation_object({subject.pattern}, {target.pattern}, {HOLE})"
    return Program(pattern, (*subject.words, *target.words, edge.name))


def _related(pattern: str, words: tuple[str, ...], graph: Graph) -> Program:
    if graph.attribute is not None:
        pattern, words = f"filter({pattern}, {HOLE})", (*words, graph.attribute)
    for edge in graph.relations:
        links: list[tuple[str, Graph]] = [(edge.name, edge.target), *((p.name, p.target) for p in edge.prepositions)]
        for name, target in links:
            other = things(target)
            pattern = f"with_relation({pattern}, {other.pattern}, {HOLE})"
            words = (*words, *other.words, name)
    return Program(pattern, words)


@cache
def shape(pattern: str) -> Node:
    """The program of a pattern; its holes are the slots 0, 1, ..."""
    return own.parse(pattern.format(*(f"${at}" for at in range(pattern.count(HOLE)))), IMAGES)


Piece = str | tuple[str, str]  # plain text, or (slot, form)


def pieces(text: str) -> Iterator[Piece]:
    for plain, slot, form, _ in Formatter().parse(text):
        if plain:
            yield plain
        if slot is not None:
            yield slot, form or ""


@dataclass(frozen=True)
class TemplateForm:
    name: str  # "more, objects"; unique within its template
    program: str
    frames: tuple[str, ...]

    @cached_property
    def _program(self) -> tuple[Piece, ...]:
        return tuple(pieces(self.program))

    def __hash__(self) -> int:
        return hash((self.name, self.program))

    def __getstate__(self) -> dict[str, object]:
        """What was read off the program stays behind: operators do not travel between processes."""
        return {"name": self.name, "program": self.program, "frames": self.frames}

    @cached_property
    def node(self) -> Node:
        """The program; references are slots too."""
        return own.parse(self.program.replace("{", "$").replace("}", ""), IMAGES)

    @cached_property
    def _frames(self) -> tuple[tuple[Piece, ...], ...]:
        return tuple(tuple(pieces(frame)) for frame in self.frames)

    @property
    def slots(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(piece[0] for piece in self._program if isinstance(piece, tuple)))

    def filled(self, slots: Mapping[str, Program | str]) -> Program:
        """The program with its references and words."""
        pattern, words = "", list[str]()
        for piece in self._program:
            if isinstance(piece, str):
                pattern += piece
                continue
            value = slots[piece[0]]
            pattern += HOLE if isinstance(value, str) else value.pattern
            words += [value] if isinstance(value, str) else value.words
        return Program(pattern, tuple(words))

    def say(self, slots: Mapping[str, Mapping[str, str]], wording: int = 0) -> str:
        """The question; `wording` chooses among the frames."""
        frame = self._frames[wording % len(self._frames)]
        return "".join([piece if isinstance(piece, str) else slots[piece[0]][piece[1]] for piece in frame])


@dataclass(frozen=True)
class ImageTemplate:
    name: str
    asks: str
    needs: str
    positives: tuple[int, int]  # how many images of the set contain the reference, when there are enough
    forms: tuple[TemplateForm, ...]
    twin: bool = False  # is it asked only together with a twin of another answer?
    builder: str = "references"  # of stages/drafts: how its slots are filled and its sets of images chosen
    by_image: bool = False  # is it about references that one image contains several times?
    verifies: str = ""  # the template whose number it asks about, which is computed first
    verified_form: str = ""  # its form, by {how} the number is compared and the {form} that gave it

    def form(self, name: str) -> TemplateForm:
        return self._by_name[name]

    @cached_property
    def _by_name(self) -> dict[str, TemplateForm]:
        return {form.name: form for form in self.forms}
