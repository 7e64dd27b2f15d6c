"""The DAG of a question as an object: nodes, edges, tables, graphs of other libraries, a drawing; answers judged."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import polars as pl

from questree.api.programs import shortened
from questree.faults import BadInput
from questree.notation.own import show
from questree.show import cards
from questree.show.dag import Dag as Drawn
from questree.show.dag import Opened
from questree.show.trees import lines

if TYPE_CHECKING:
    from networkx import MultiDiGraph

    from questree.show.views import View


class DagNode(NamedTuple):
    """A question or sub-question of a DAG."""

    number: int  # 0 is the question itself
    question: str
    answer: str | None  # None if it is undefined
    type: str
    program: str
    known: str  # how the answer came about


class DagEdge(NamedTuple):
    """A sub-question of a question."""

    parent: int
    child: int
    composition: str


@dataclass(frozen=True, repr=False)
class Dag:
    """A question and all its sub-questions with their answers, parents before their parts.

    >>> dag = run["07QFE-0"].dag
    >>> print(dag)
    0. Is the person interacting with a bag?  no  [Interaction]
    |- Interaction: 1. Does a person exist?  yes  [Object Exists]
    |- Interaction: 2. Is the person interacting with something?  yes  [Relation Exists]
    `- Interaction: 3. Does a bag exist?  no  [Object Exists]
    >>> dag.frame().select("number", "answer", "program", "depth", "parts")
    shape: (4, 5)
    ┌────────┬────────┬─────────────────────────┬───────┬───────────┐
    │ number ┆ answer ┆ program                 ┆ depth ┆ parts     │
    │ ---    ┆ ---    ┆ ---                     ┆ ---   ┆ ---       │
    │ i64    ┆ str    ┆ str                     ┆ u32   ┆ list[u32] │
    ╞════════╪════════╪═════════════════════════╪═══════╪═══════════╡
    │ 0      ┆ no     ┆ interacting(bag)        ┆ 0     ┆ [2, 1, 3] │
    │ 1      ┆ yes    ┆ doing(interacting with) ┆ 1     ┆ []        │
    │ 2      ┆ yes    ┆ exists(person)          ┆ 1     ┆ []        │
    │ 3      ┆ no     ┆ exists(bag)             ┆ 1     ┆ []        │
    └────────┴────────┴─────────────────────────┴───────┴───────────┘
    """

    said: Drawn
    opened: Opened  # as rules read it
    programs: list[str]  # [node] in our notation
    kinds: Mapping[str, str]  # of words that are coloured

    @classmethod
    def _of(cls, view: "View", opened: Opened) -> "Dag":
        """As a view of a run reads it."""
        return cls(view.dag(opened), opened, [show(node) for node in view.programs(opened)], view.kinds)

    @cached_property
    def nodes(self) -> list[DagNode]:
        """The question first."""
        rows = enumerate(zip(self.said.rows, self.programs, strict=True))
        return [DagNode(at, row["text"], row["answer"], row["type"], own, row["known"]) for at, (row, own) in rows]

    @cached_property
    def edges(self) -> list[DagEdge]:
        """In the order in which parts are named."""
        every = ((parent, label, child) for parent, parts in self.said.edges.items() for label, child in parts)
        return [DagEdge(parent, child, label) for parent, label, child in every]

    def parts(self, node: int = 0) -> list[DagNode]:
        """The direct sub-questions of a node, each once.

        >>> run["07QFE-0"].dag.parts()[0].question
        'Does a person exist?'
        """
        return [self.nodes[child] for child in dict.fromkeys(child for _, child in self.said.edges.get(node, ()))]

    def frame(self) -> pl.DataFrame:
        """A row per node; `parts` are the numbers of its sub-questions.

        >>> run["07QFE-0"].dag.frame().columns
        ['number', 'question', 'answer', 'type', 'program', 'known', 'depth', 'parts']
        """
        table = pl.DataFrame(self.nodes, schema=list(DagNode._fields), orient="row", infer_schema_length=None)
        parts = [list(dict.fromkeys(child for _, child in self.said.edges.get(n.number, ()))) for n in self.nodes]
        return table.with_columns(
            pl.col("answer").cast(pl.String),
            depth=pl.Series(self.said.depths(), dtype=pl.UInt32),
            parts=pl.Series(parts, dtype=pl.List(pl.UInt32)),
        )

    def to_networkx(self) -> "MultiDiGraph":
        """A `networkx.MultiDiGraph`; nodes are numbers with the fields of `DagNode`, edges have their composition.

        >>> run["07QFE-0"].dag.to_networkx()
        <networkx.classes.multidigraph.MultiDiGraph object at ...>
        """
        try:
            from networkx import MultiDiGraph
        except ImportError:
            raise BadInput.at("to_networkx", "expected networkx to be installed; `pip install networkx`") from None
        graph = MultiDiGraph()
        for node in self.nodes:
            graph.add_node(node.number, **{name: value for name, value in node._asdict().items() if name != "number"})
        for edge in self.edges:
            graph.add_edge(edge.parent, edge.child, composition=edge.composition)
        return graph

    def to_dot(self) -> str:
        """In the language of Graphviz.

        >>> print(run["07QFE-0"].dag.to_dot())
        digraph {
          0 [shape=box label="Is the person interacting with a bag?\\nno"];
          1 [shape=box label="Is the person interacting with something?\\nyes"];
          2 [shape=box label="Does a person exist?\\nyes"];
          3 [shape=box label="Does a bag exist?\\nno"];
          0 -> 2 [label="Interaction"];
          0 -> 1 [label="Interaction"];
          0 -> 3 [label="Interaction"];
        }
        """
        said = (f"{node.question}\n{node.answer or 'undefined'}" for node in self.nodes)
        boxes = (f"  {at} [shape=box label={_quoted(text)}];" for at, text in enumerate(said))
        arrows = (f"  {edge.parent} -> {edge.child} [label={_quoted(edge.composition)}];" for edge in self.edges)
        return "\n".join(["digraph {", *boxes, *arrows, "}"])

    def data(self) -> list[dict[str, Any]]:
        """As JSON has it: `questree show --dag --json`.

        >>> run["07QFE-0"].dag.data()[3]
        {'text': 'Does a bag exist?', 'type': 'Object Exists', 'program': 'objExists(bag)', 'answer': 'no',
         'known': 'executed', 'number': 3, 'parts': []}
        """
        return self.said.data()

    def __len__(self) -> int:
        return len(self.nodes)

    def __iter__(self) -> Iterator[DagNode]:
        return iter(self.nodes)

    def __getitem__(self, number: int) -> DagNode:
        return self.nodes[number]

    def __str__(self) -> str:
        return "\n".join(lines(self.said))

    def __repr__(self) -> str:
        return f"<Dag {len(self.nodes)} nodes, {len(self.edges)} edges: {shortened(self.nodes[0].question, 50)}>"

    def _repr_html_(self) -> str:
        return cards.notebook(self.said, None, self.kinds)


def _quoted(text: str) -> str:
    plain = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{plain}"'
