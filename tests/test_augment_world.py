"""All rules on a small synthetic world with the usual noise, judged by its clean truth."""

from pathlib import Path

import pytest

from questree.stages.agreement import AgreementScore, agreement
from questree.stages.augment import RULES, AugmentOptions, Graphs, augment, guarantees
from questree.synth.video import Rates
from questree.synth.world import write_world
from questree.tables.facts import Facts
from questree.vocabulary import default
from worlds.whole_sources import read_action_genome

WORDS = default()


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> tuple[Facts, Facts]:
    """Raw facts and truth."""
    folder: Path = tmp_path_factory.mktemp("synth") / "world"
    write_world(folder, 80, 7, Rates(unasked_objects=0), 1)
    raw, truth = (read_action_genome(place, WORDS, None).facts for place in (folder, folder / "truth"))
    return raw, truth


def whole(facts: Facts, truth: Facts, given: bool) -> tuple[float, float]:
    found: AgreementScore = next(
        score
        for score in agreement(facts, truth, WORDS)
        if score.group == "spatial and contact" and score.given_by_actions == given
    )
    assert found.precision is not None and found.recall is not None
    return found.precision, found.recall


@pytest.mark.parametrize("given", [True, False])
def test_recall_rises_by_ten_points_and_precision_does_not_fall(world: tuple[Facts, Facts], given: bool) -> None:
    raw, truth = world
    after, _ = augment(raw, WORDS)
    (precision, recall), (new_precision, new_recall) = whole(raw, truth, given), whole(after, truth, given)
    assert new_recall >= recall + 0.10
    assert new_precision >= precision - 0.01


def test_every_promise_is_kept(world: tuple[Facts, Facts]) -> None:
    assert guarantees(augment(world[0], WORDS)[0], WORDS) == []


def test_other_relationship_is_touched_by_no_rule_but_naming(world: tuple[Facts, Facts]) -> None:
    other = WORDS.relation_at["other relationship"]
    named = Graphs.of(world[0])
    for rule in RULES.values():
        if rule.number in (2, 3):
            named, _ = rule.apply(named, WORDS, AugmentOptions())
    after = augment(world[0], WORDS)[0].relations.filter(relation=other)
    assert len(after) > 0
    assert after.equals(named.relations.filter(relation=other))


def test_counts_of_every_rule_add_up(world: tuple[Facts, Facts]) -> None:
    graphs = Graphs.of(world[0])
    for rule in RULES.values():
        before = graphs
        graphs, changes = rule.apply(graphs, WORDS, AugmentOptions())
        grown = {change.what: change.added - change.removed for change in changes}
        assert len(graphs.relations) - len(before.relations) == grown.get("relation facts", 0), rule.name
        assert len(graphs.objects) - len(before.objects) == grown.get("object annotations", 0), rule.name
        assert len(graphs.actions) - len(before.actions) == grown.get("actions", 0), rule.name
        assert graphs.relations.equals(graphs.relations.unique().sort(graphs.relations.columns)), rule.name
