"""One question's DAG of sub-questions as a tree of lines."""

from collections.abc import Iterator

from questree.show.dag import Dag


def lines(dag: Dag) -> Iterator[str]:
    """A tree; a sub-question that was printed before is only pointed at."""
    seen: dict[int, int] = {}
    number = {node: at for at, node in enumerate(order(dag))}

    def visit(node: int, head: str, rest: str, label: str) -> Iterator[str]:
        row = dag.rows[node]
        again = node in seen
        seen[node] = 1
        mark = f"  ^{number[node]}" if again and dag.edges.get(node) else ""
        yield f"{head}{label}{number[node]}. {row['text']}  {row['answer'] or 'undefined'}  [{row['type']}]{mark}"
        edges = dag.edges.get(node, []) if not again else []
        for at, (composition, child) in enumerate(edges):
            last = at == len(edges) - 1
            yield from visit(
                child, rest + ("`- " if last else "|- "), rest + ("   " if last else "|  "), composition + ": "
            )

    yield from visit(0, "", "", "")


def order(dag: Dag) -> list[int]:
    """Nodes in the order the tree prints them."""
    found: dict[int, None] = {}

    def visit(node: int) -> None:
        if node not in found:
            found[node] = None
            for _, child in dag.edges.get(node, ()):
                visit(child)

    visit(0)
    return list(found)
