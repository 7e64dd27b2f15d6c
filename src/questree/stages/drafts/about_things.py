"""Questions about whether things are there, and what holds of all of them: VERIFYLOGIC, VERIFYQUANT."""

from questree.benchmarks.covr.forms import Template
from questree.benchmarks.covr.programs import those
from questree.benchmarks.covr.templates import QUANTIFIERS
from questree.domains.images.english import after_is, can_follow_is, countable, predicate
from questree.domains.images.graph import Graph
from questree.stages.drafts.drafts import Draft, Images, Slot, draft, refer
from questree.stages.drafts.sources import DraftSource

HOW = tuple(QUANTIFIERS)
Condition = tuple[str, Graph, Slot, list[str]]  # (form, what is spoken of, what is said of it, kinds that break it)


def verify_logic(source: DraftSource, template: Template) -> Draft | None:
    draws, second = source.draws, source.second
    if second is None:
        return None
    other, with_other = second
    form = draws.choice(("both", "either"))
    own, others = [source.image, *source.others(draws.below(2))], with_other[: 1 + draws.below(2)]
    one = draws.choice((own, others))
    yes, no = ([*own, *others], one) if form == "both" else (draws.choice((one, [*own, *others])), [])
    sets = [source.filled_up(chosen, source.kinds, with_other) for chosen in (yes, no)]
    graphs = (source.graph, other) if draws.below(2) else (other, source.graph)
    slots = {"A": refer(graphs[0]), "B": refer(graphs[1])}
    return draft(template, form, slots, graphs, sets, draws.below(2))


def verify_quantifier(source: DraftSource, template: Template) -> Draft | None:
    if not countable(source.graph):
        return None
    choices = [*_attribute(source.graph), *_relations(source.graph)]
    if not choices:
        return None
    what, about, condition, broken = source.draws.choice(choices)
    how = source.draws.choice(HOW)
    slots = {"R": refer(about), "C": condition}
    sets = _held_and_broken(source, how, broken)
    return draft(template, f"{how}, {what}", slots, (source.graph,), sets, bool(about.relations))


def _held_and_broken(source: DraftSource, how: str, broken: list[str]) -> list[Images]:
    """Sets in which the condition holds of some of the things, and of all or none, as the quantifier needs them."""
    draws, with_it = source.draws, [source.image, *source.others(2)]
    without = draws.shuffled(dict.fromkeys(image for kind in broken for image in source.images(kind)))
    rest = [kind for kind in source.kinds if kind not in broken]
    mixed = [*with_it[: 1 + draws.below(2)], *without[: 1 + draws.below(2)]] if without else []
    pure = with_it[: 2 + draws.below(2)] if how == "all" else without[: 2 + draws.below(2)]
    return [source.filled_up(chosen, rest, without) for chosen in (mixed, pure) if chosen]


def _attribute(graph: Graph) -> list[Condition]:
    if graph.attribute is None or not can_follow_is(graph.attribute):
        return []
    condition = those(Graph("", graph.attribute)), {"": after_is(graph.attribute)}
    return [("attribute", graph.without_attribute(), condition, ["0_attr"])]


def _relations(graph: Graph) -> list[Condition]:
    """Each relation of the root, and both together."""
    found, each = list[Condition](), list(graph.elements)
    for chosen in [[one] for one in each] + ([each] if len(each) == 2 else []):
        gone = Graph("", None, tuple(relation for _, relation in chosen))
        left = Graph(graph.name, graph.attribute, tuple(r for r in graph.relations if r not in gone.relations))
        broken = [kind for n, _ in chosen for kind in (f"{n}_relation", f"{n + 1}_name", f"{n + 1}_attr")]
        found.append(("relation", left, (those(gone), {"": predicate(gone)}), broken))
    return found
