"""IC of a rule = checks passed / checks applied; of a composition the mean of its rules; Overall the mean of all 18.

AGQA-Decomp, section 4 "Internal Consistency", Tables 3, 4 and 8 of the corrected text. A parent has a scored type and
counts once per text and video, whether or not it has a truth. One rule that never applied makes a mean N/A. By type:
the mean over the rules of that type's compositions, within the type; its Overall repeats that of the compositions.
"""

from collections.abc import Iterator

import numpy as np

from questree.metrics.cells import Cell, Part
from questree.metrics.dags.answered import Answered, first
from questree.metrics.dags.checks import families
from questree.metrics.dags.families import Check, Family
from questree.metrics.dags.names import OVERALL, Scheme
from questree.metrics.tallies import Column, Tallies, tally


def count_consistency(model: Answered) -> Tallies:
    """Columns ("IC", type group, rule)."""
    found = model.hierarchies
    chosen = np.zeros(len(model.scored), bool)
    chosen[first(model.column("text"), np.flatnonzero(model.column("parent") & model.scored))] = True
    parent = found.composed["parent"].to_numpy()
    checks = [check for family in families(model, chosen) for check in rule_checks(family, model.scheme)]
    rules = model.scheme.all_rules
    columns = [model.group(parent[c.rows]) * len(rules) + rules.index(c.rule) for c in checks]
    none = [np.zeros(0, np.int64)]
    rows = np.concatenate([check.rows for check in checks] or none)
    passes = np.concatenate([check.passes for check in checks] or [np.zeros(0, bool)])
    names: list[Column] = [("IC", group, rule) for group in model.groups for rule in rules]
    video = model.video[parent[rows]].astype(np.int64)
    return tally(video, np.concatenate(columns or none), passes, len(found.videos), names)


def rule_checks(family: Family, scheme: Scheme) -> Iterator[Check]:
    """Both rules of a composition: a parent can be checked by either, by both, or by none."""
    if family.kind == "choose":
        for rule, name in enumerate(scheme.rules[family.name]):
            here = family.rule == rule
            yield Check(name, family.rows[here], family.holds[here])
        return
    yes_rule, no_rule = scheme.rules[family.name]
    if family.kind == "one way":
        for_yes, for_no, no_passes = family.yes, ~family.near, family.no
    elif family.kind == "both ways":
        for_yes, for_no, no_passes = family.yes | family.holds, family.no | ~family.near, family.no & ~family.near
    else:
        for_yes, for_no, no_passes = family.yes | family.near, family.no | ~family.holds, family.no & ~family.near
    yield Check(yes_rule, family.rows[for_yes], (family.yes & family.holds)[for_yes])
    yield Check(no_rule, family.rows[for_no], no_passes[for_no])


def consistency_cells(tallies: Tallies, groups: list[str], compositions: list[str], scheme: Scheme) -> list[Cell]:
    at = {column[1:]: (number,) for number, column in enumerate(tallies.columns) if column[0] == "IC"}
    pooled: dict[str, Part] = {
        rule: tuple(n for (_, name), (n,) in at.items() if name == rule) for rule in scheme.all_rules
    }
    overall = tuple(pooled.values())
    by_rule = [Cell("IC", "rule", rule, (part,)) for rule, part in pooled.items()]
    by_composition = [
        Cell(
            "IC",
            "composition",
            name,
            tuple(pooled[rule] for rule in scheme.rules.get(name, ())),
            scheme.mean,
            counted=False,
        )
        for name in compositions
    ]
    by_type = [
        Cell(
            "IC",
            "type",
            group,
            tuple(at.get((group, rule), ()) for name in scheme.checked.get(group, ()) for rule in scheme.rules[name]),
            scheme.mean,
            counted=False,
        )
        for group in groups
    ]
    last = {
        by: [Cell("IC", by, OVERALL, overall, scheme.mean, counted=False)] for by in ("rule", "composition", "type")
    }
    return by_rule + last["rule"] + by_composition + last["composition"] + by_type + last["type"]
