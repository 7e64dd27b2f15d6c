"""IC of a rule = checks passed / checks applied; of a composition the mean of its rules; Overall the mean of all 18.

AGQA-Decomp, section 4 "Internal Consistency", Tables 3, 4 and 8 of the corrected text. A parent has a scored type and
counts once per text and video, whether or not it has a truth. One rule that never applied makes a mean N/A. By type:
the mean over the rules of that type's compositions, within the type; its Overall repeats that of the compositions.
"""

from collections.abc import Iterable

import numpy as np

from questree.metrics.cells import Cell, Part
from questree.metrics.dags.answered import OVERALL, Answered, first
from questree.metrics.tallies import Column, Tallies, tally


def count_consistency(model: Answered) -> Tallies:
    """Columns ("IC", type group, rule)."""
    parent, rules = model.hierarchies.composed["parent"].to_numpy(), model.rules
    chosen = np.zeros(len(model.scored), bool)
    chosen[first(model.column("text"), np.flatnonzero(model.column("parent") & model.scored))] = True
    nodes, columns, passed = [np.zeros(0, parent.dtype)], [np.zeros(0, np.int64)], [np.zeros(0, bool)]
    for rule, rows, case in model.read:
        own = chosen[parent[rows]]
        for name, (applies, passes) in rule.checks(case).items():
            here = np.flatnonzero(applies & own)
            nodes.append(parent[rows[here]])
            columns.append(model.group(nodes[-1]) * len(rules) + rules.index(name))
            passed.append(passes[here])
    node = np.concatenate(nodes)
    names: list[Column] = [("IC", group, rule) for group in model.groups for rule in rules]
    videos = len(model.hierarchies.videos)
    return tally(model.video[node].astype(np.int64), np.concatenate(columns), np.concatenate(passed), videos, names)


def consistency_cells(tallies: Tallies, model: Answered) -> list[Cell]:
    scheme = model.scheme
    at = {column[1:]: (number,) for number, column in enumerate(tallies.columns) if column[0] == "IC"}
    pooled: dict[str, Part] = {rule: tuple(n for (_, name), (n,) in at.items() if name == rule) for rule in model.rules}
    overall = tuple(pooled.values())

    def reported(names: Iterable[str]) -> list[str]:
        return [rule for rule in scheme.names(names) if rule in pooled]

    def mean(by: str, group: str, parts: tuple[Part, ...]) -> Cell:
        return Cell("IC", by, group, parts, scheme.mean, counted=False)

    def of_type(group: str) -> tuple[Part, ...]:
        return tuple(at.get((group, rule), ()) for rule in reported(scheme.checked.get(group, ())))

    return [
        *(Cell("IC", "rule", rule, (part,)) for rule, part in pooled.items()),
        mean("rule", OVERALL, overall),
        *(mean("composition", name, tuple(pooled[rule] for rule in reported([name]))) for name in model.compositions),
        mean("composition", OVERALL, overall),
        *(mean("type", group, of_type(group)) for group in model.own_groups),
        mean("type", OVERALL, overall),
    ]
