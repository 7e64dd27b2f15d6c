"""How many reasoning steps a question takes: its own, plus those of every reference and of its one time phrase."""

from questree.program import ACTION, OBJECT, Node, Term


def steps(node: Node) -> int:
    windows: set[Node] = set()  # one question has one time phrase, however often its program mentions it
    total = 0

    def visit(term: Term, reference: bool) -> None:
        nonlocal total
        if not isinstance(term, Node) or term in windows:
            return
        if term.kind.name == "window":
            windows.add(term)
        total += term.op.reference_steps if reference else term.op.steps
        for name, arg in term.named():
            visit(arg, arg.kind in (OBJECT, ACTION) and name != term.op.target)

    visit(node, reference=False)
    return total
