"""What kind of question it is: reasoning labels, structure, semantic class, and whether the answer is open."""

from dataclasses import replace

from questree.program import ACTION, OBJECT, Categories, Node, Slot, Word, fold


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
