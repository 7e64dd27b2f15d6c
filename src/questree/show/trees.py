"""Programs and DAGs as indented lines of text."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from questree.notation import own
from questree.terms import Node, Term

if TYPE_CHECKING:
    from questree.show.dag import Dag


def tree(term: Term, depth: int = 0) -> Iterator[str]:
    indent = "  " * depth
    if not isinstance(term, Node):
        yield f"{indent}{own.show(term)} ({term.kind.name})"
        return
    yield f"{indent}{term.op.name} -> {term.kind.name}"
    for arg in term.args:
        yield from tree(arg, depth + 1)


def lines(dag: "Dag") -> Iterator[str]:
    """A tree; a sub-question that was printed before is only pointed at."""
    number: dict[int, int] = {}  # of the nodes that were printed

    def visit(node: int, head: str, rest: str, label: str) -> Iterator[str]:
        row, edges, again = dag.rows[node], dag.edges.get(node, []), node in number
        own = number.setdefault(node, len(number))
        mark = f"  ^{own}" if again and edges else ""
        yield f"{head}{label}{own}. {row['text']}  {row['answer'] or 'undefined'}  [{row['type']}]{mark}"
        for at, (composition, child) in enumerate([] if again else edges):
            branch, below = ("`- ", "   ") if at == len(edges) - 1 else ("|- ", "|  ")
            yield from visit(child, rest + branch, rest + below, composition + ": ")

    yield from visit(0, "", "", "")
