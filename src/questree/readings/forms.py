"""The form of a program: slots in place of its words. Programs of one form differ only in their words, which become
columns, so a form is read, answered and taken apart once for all of them."""

from collections.abc import Callable

from questree.program import Node, Slot, Term


def is_leaf(term: Term) -> bool:
    return not isinstance(term, Node)


def lifted(
    program: Node,
    called: str = "s",
    once: bool = False,
    leaf: Callable[[Term], bool] = is_leaf,
    slot: Callable[[str, Term], Slot] = lambda name, term: Slot(name, term.kind),
) -> tuple[Node, tuple[Term, ...]]:
    """The form of a program, and its words from left to right: the word of slot s3 is the fourth.

    With `once` a word that is said twice is one slot. `leaf` says what counts as a word, `slot` what stands for it.
    """
    words: list[Term] = []

    def visit(term: Term) -> Term:
        if isinstance(term, Node) and not leaf(term):
            return Node(term.op, tuple(map(visit, term.args)))
        if not once or term not in words:
            words.append(term)
        return slot(f"{called}{words.index(term) if once else len(words) - 1}", term)

    form = visit(program)
    assert isinstance(form, Node)
    return form, tuple(words)
