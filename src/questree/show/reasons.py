"""What went wrong with one question, in a sentence or two: where the error begins, which way it takes, what clashes."""

from questree.show.dag import Dag
from questree.show.judged import Broken, Judged


def reason(dag: Dag, found: Judged) -> str:
    return " ".join(filter(None, [error(dag, found), contradiction(dag, found)]))


def error(dag: Dag, found: Judged) -> str:
    parts = [child for _, child in dag.edges.get(0, ())]
    wrong = [child for child in dict.fromkeys(parts) if found.right[child] is False]
    if found.right[0] is None:
        return "There is no prediction for the question."
    if found.right[0]:
        return f"Right for the wrong reasons: {listed(dag, found, wrong)}." if wrong else "The answer is right."
    if not wrong:
        return f"{_all(dag, found)} right and the whole is not: it fails in the last step ({_steps(dag)})."
    way = path(dag, found)
    begin = way[-1][1]
    labels = [label for label, _ in reversed(way)]
    return f"The error begins at {quoted(dag, found, begin)} and reaches the question by {', then '.join(labels)}."


def _all(dag: Dag, found: Judged) -> str:
    """ "Both parts are"; a part without a truth is not said to be right."""
    parts = {child for _, child in dag.edges.get(0, ())}
    known = sum(found.right[part] is True for part in parts)
    if known < len(parts):
        return f"{known} of {len(parts)} parts can be judged and are"
    return {1: "The part is", 2: "Both parts are"}.get(known, f"All {known} parts are")


def _steps(dag: Dag) -> str:
    return ", ".join(dict.fromkeys(label for label, _ in dag.edges.get(0, ())))


def path(dag: Dag, found: Judged) -> list[tuple[str, int]]:
    """The shortest way down from the question to where an error begins: (composition, sub-question)."""
    ways: list[list[tuple[str, int]]] = [[]]
    seen = {0}
    for way in ways:  # grows while it is walked
        node = way[-1][1] if way else 0
        if node in found.origins:
            return way
        for label, child in dag.edges.get(node, ()):
            if (node, child) in found.error_path and child not in seen:
                seen.add(child)
                ways.append([*way, (label, child)])
    return ways[-1]


def contradiction(dag: Dag, found: Judged) -> str:
    """The clash nearest to the question."""
    if not found.broken:
        return ""
    first = min(found.broken, key=lambda each: (each.parent, each.rule))
    return f"The model contradicts itself ({first.composition}: {first.meaning}): {clash(dag, found, first)}."


def clash(dag: Dag, found: Judged, broken: Broken) -> str:
    said = [f"“{found.said[node]}” to {text(dag, node)}" for node in dict.fromkeys([broken.parent, *broken.parts])]
    return f"it says {', '.join(said[:-1])} and {said[-1]}"


def listed(dag: Dag, found: Judged, nodes: list[int]) -> str:
    return ", ".join(quoted(dag, found, node) for node in nodes)


def quoted(dag: Dag, found: Judged, node: int) -> str:
    return f"{text(dag, node)} (“{found.said[node]}” instead of “{dag.rows[node]['answer']}”)"


def text(dag: Dag, node: int) -> str:
    return "the question" if node == 0 else f"“{dag.rows[node]['text']}”"
