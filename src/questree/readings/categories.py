"""What kind of question it is (reasoning, structure, semantic class, open or binary), and how many steps it takes."""

from dataclasses import replace

from questree.terms import ACTION, OBJECT, RELATION, Categories, Node, Slot, Term, Word, fold


def categories(node: Node) -> Categories:
    """Labels of the operators of the question itself; references (objects and actions spelled out) do not count."""

    def combine(node: Node, kids: dict[str, Categories]) -> Categories:
        own = node.op.categories
        inner = [kids[name] for name, arg in node.named() if name == node.op.target or arg.kind not in (OBJECT, ACTION)]
        reasoning = own.reasoning or tuple(dict.fromkeys(label for kid in inner for label in kid.reasoning))
        return replace(
            own,
            reasoning=reasoning,
            structural=own.structural or next((kid.structural for kid in inner if kid.structural), ""),
            semantic=own.semantic or next((kid.semantic for kid in inner if kid.semantic), ""),
        )

    def leaf(term: Slot | Word) -> Categories:
        return Categories()

    return fold(node, leaf, combine)


def answer_type(node: Node) -> str:
    return "open" if categories(node).structural == "query" else "binary"


def steps(node: Node) -> int:
    total = 0

    def visit(term: Term, reference: bool, once: set[Node]) -> None:
        """once: what the question (or the reference we are in) says once, however often its program mentions it."""
        nonlocal total
        if not isinstance(term, Node) or term in once:
            return
        if term.kind.name == "window" or (term.kind == RELATION and term.op.steps):
            once.add(term)
        total += term.op.reference_steps if reference else term.op.steps
        inside = set[Node]() if reference else once
        for name, arg in term.named():
            visit(arg, arg.kind in (OBJECT, ACTION) and name != term.op.target, inside)

    visit(node, False, set())
    return total
