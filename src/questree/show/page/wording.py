"""The text of a question in pieces, by what its words name."""

from questree.program import slots
from questree.show.dag import Piece
from questree.stages.questions import Question

INSIDE = {"a": "action", "b": "action", "object": "object", "relation": "relation"}  # slots of slots: time.a


def pieces(question: Question) -> list[Piece]:
    """Every character belongs to the shortest slot around it."""
    own = {name: slot.kind.name for name, slot in slots(question.template.node).items()}
    kind = [""] * len(question.text)
    for name, (begin, end) in sorted(question.spans.items(), key=lambda span: span[1][0] - span[1][1]):
        last = name.rpartition(".")[2]
        named = own.get(name) or INSIDE.get(last, "")
        kind[begin:end] = ["time" if named == "window" else named] * (end - begin)
    found: list[Piece] = []
    for what, letter in zip(kind, question.text, strict=True):
        if found and found[-1][0] == what:
            found[-1] = (what, found[-1][1] + letter)
        else:
            found.append((what, letter))
    return found
