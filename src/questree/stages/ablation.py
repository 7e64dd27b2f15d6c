"""What each rule is worth: agreement with the truth when it works alone, and when only it is left out."""

from dataclasses import dataclass

from questree.progress import report
from questree.stages.agreement import AgreementScore, agreement
from questree.stages.augment import RULES, AugmentOptions, Rule, augment
from questree.stages.augment.graphs import FACTS
from questree.tables.facts import Facts
from questree.vocabulary.words import Vocabulary

WHOLE = "spatial and contact"


@dataclass(frozen=True)
class Worth:
    number: int | None  # none: the first line, with no rule at all and with all of them
    name: str
    alone: AgreementScore
    left_out: AgreementScore


def ablation(raw: Facts, truth: Facts, vocabulary: Vocabulary, options: AugmentOptions) -> list[Worth]:
    """First no rule beside all rules, then each rule that changes facts."""
    rules = [rule for rule in RULES.values() if rule.when == FACTS]

    def score(chosen: list[Rule]) -> AgreementScore:
        facts, _ = augment(raw, vocabulary, options, chosen)
        found = agreement(facts, truth, vocabulary)
        return next(s for s in found if s.group == WHOLE and s.given_by_actions)

    worth = [Worth(None, "none, and all", score([]), score(rules))]
    for done, rule in enumerate(rules):
        report("rules one by one", done, len(rules))
        others = [other for other in rules if other is not rule]
        worth.append(Worth(rule.number, rule.name, score([rule]), score(others)))
    report("rules one by one", len(rules), len(rules))
    return worth
