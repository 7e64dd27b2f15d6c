"""How many reasoning steps a question takes: its own, plus those of every reference and of its one time phrase."""

from questree.program import ACTION, OBJECT, RELATION, Node, Term


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
