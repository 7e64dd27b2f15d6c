"""The judge of held-out compositions (10): what a question says, read off its program alone, operator by operator."""

from collections.abc import Iterator

from judges.facts import ACTIONS, Video, counted, folded, merged, pair
from judges.naive_rules import HELD_OUT_ACTIONS, HELD_OUT_FIRSTS, HELD_OUT_PAIRS
from judges.operators import meaning
from questree.terms import Node, Term

AS_COUNTED = {"action": counted, "relation": folded, "object": merged}
CHOICES = {"choose", "choose_first", "choose_last"}


def said(program: Node, video: Video) -> set[str]:
    """Lists that hold something of the question out; a reference is what it stands for, an open question its answer."""
    found = set()
    for op, *words in compositions(program, video):
        if op == "before" and words[0] in HELD_OUT_ACTIONS:
            found.add("sequencing")
        if op == "first" and words[0] in HELD_OUT_FIRSTS:
            found.add("superlative")
        if op == "length" and words[0] in HELD_OUT_ACTIONS:
            found.add("duration")
        if op == "pair" and tuple(words) in HELD_OUT_PAIRS:
            found.add("object-relationship")
    return found


def compositions(node: Node, video: Video, compared: bool = False) -> Iterator[tuple[str, ...]]:
    """What each operator says; compared: its value is only compared with something."""

    def word(term: Term) -> str:
        return AS_COUNTED[term.kind.name](meaning(term, video, {}))

    op, args = node.op.name, node.args
    inside = [arg for arg in args if isinstance(arg, Node)]
    if op in ("before", "between", "action_order", "instance_order"):
        yield from (("before", word(arg)) for arg in args)
    if op in ("relation_order", "object_order"):
        yield "before", word(args[1])
    if op in ("first", "choose_first"):
        yield "first", word(args[0])
    if op == "first_done_to":
        yield "first", word(node)
        yield "pair", word(node), word(args[0])
    if op in ("longer", "shorter"):
        yield from (("length", word(arg)) for arg in args)
    if op in ("longest", "shortest"):
        yield "length", word(node)
    if op in ("interaction", "to_action"):
        yield "pair", word(args[0]), word(args[1])
    if op in ("first", "last") and not compared:
        yield "pair", word(args[0]), word(node)
    if op == "only" and inside[0].op.name == "objects":
        yield "pair", word(inside[0].args[0]), word(node)
    if op in CHOICES:
        yield from (("pair", word(args[0]), word(thing)) for thing in args[2:])
    if op == "equals" and isinstance(args[1], Node):
        yield "pair", word(args[1].args[0]), word(args[0])
    deeds = [term for term in (*args, node) if term.kind.name == "action" and word(term) in ACTIONS]
    yield from (("pair", *done) for done in map(pair, map(word, deeds)) if done)
    for arg in inside:
        yield from compositions(arg, video, op == "equals" and arg is args[1])
