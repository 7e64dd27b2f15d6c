"""The loss for broken rules: probabilities by hand, the rules that scores use, and what it does to a network."""

from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import polars as pl
import pytest

import questree
from questree.api.training_questions import dags_of, nodes
from questree.benchmarks import AGQA
from questree.metrics.answered import ModelAnswers, answered, node_columns
from questree.metrics.dags import checked
from questree.rules import IMAGE_DAGS, VIDEO_DAGS, NodeColumns, WordNumbers
from questree.stages.decompose.hierarchies import hierarchies_in
from questree.tables.hierarchies import NOTHING
from questree.tables.run import Run

torch = pytest.importorskip("torch", reason="PyTorch is not installed; `make test-models` installs it")
NO, YES, CUP, DOG = 0, 1, 2, 3
WORDS = np.array([NO, YES, CUP, DOG])


def columns(about: tuple[int, ...]) -> NodeColumns:
    """A question and its parts, all of them scored; what each asks about."""
    every, none = np.ones(len(about), bool), np.zeros(len(about), bool)
    words = WordNumbers({"no": NO, "yes": YES, "cup": CUP, "dog": DOG})
    own = np.array(about)
    return NodeColumns(words, np.full(len(about), NOTHING), own, every, every, none, lambda: own)


def chances(*yes: float) -> Any:
    """[1, member, answer]: yes, and no otherwise."""
    found = torch.tensor([[[1 - each, each, 0.0, 0.0] for each in yes]], dtype=torch.float64)
    return found.requires_grad_()


def test_a_conjunction_by_hand() -> None:
    """A yes without both parts, or a no with both: q (1 - ab) + (1 - q) ab; its slope in q is 1 - 2ab."""
    from questree.training.consistency import chance_broken

    q, a, b = 0.7, 0.9, 0.6
    given = chances(q, a, b)
    found = chance_broken(VIDEO_DAGS.rules["And"], columns((NOTHING,) * 3), np.array([[0, 1, 2]]), given, WORDS)
    assert found.item() == pytest.approx(q * (1 - a * b) + (1 - q) * a * b)
    found.sum().backward()
    assert given.grad[0, 0, YES].item() == pytest.approx(1 - a * b)
    assert given.grad[0, 0, NO].item() == pytest.approx(a * b)
    assert given.grad[0, 1, YES].item() == pytest.approx((1 - q) * b + q * (1 - b))


def test_a_rule_of_one_way_by_hand() -> None:
    """Interaction: a yes needs its part, and a no of the part makes a no: broken is yes above no."""
    from questree.training.consistency import chance_broken

    given = chances(0.8, 0.3)
    found = chance_broken(VIDEO_DAGS.rules["Interaction"], columns((NOTHING,) * 2), np.array([[0, 1]]), given, WORDS)
    assert found.item() == pytest.approx(0.8 * 0.7)


def test_a_comparison_of_words_by_hand() -> None:
    """Same Attribute: yes exactly when both parts say one thing."""
    from questree.training.consistency import chance_broken

    given = torch.zeros(1, 3, 4, dtype=torch.float64)
    given[0, 0, YES], given[0, 0, NO] = 0.9, 0.1
    given[0, 1, CUP], given[0, 1, DOG] = 0.75, 0.25
    given[0, 2, CUP], given[0, 2, DOG] = 0.5, 0.5
    rule = IMAGE_DAGS.rules["Same Attribute"]
    same = 0.75 * 0.5 + 0.25 * 0.5
    found = chance_broken(rule, columns((NOTHING,) * 3), np.array([[0, 1, 2]]), given, WORDS)
    assert found.item() == pytest.approx(0.9 * (1 - same) + 0.1 * same)


@pytest.mark.parametrize("composition", sorted(VIDEO_DAGS.rules))
def test_certain_answers_break_what_scores_say(composition: str) -> None:
    """Of answers that are certain the probability is 0 or 1, as the rule's own checks tell."""
    from questree.training.consistency import broken, chance_broken

    rule, own, nodes = VIDEO_DAGS.rules[composition], columns((NOTHING, CUP, DOG)), np.array([[0, 1, 2]])
    for said in product(range(4), repeat=3):
        given = torch.nn.functional.one_hot(torch.tensor([said]), 4).double()
        wrong = broken(rule, own, nodes, np.array(said)[None, None])
        assert chance_broken(rule, own, nodes, given, WORDS).item() == wrong.item()


def test_the_compositions_are_those_that_are_scored(taught_run: Run) -> None:
    """Given any answers, the questions that break a rule are those that consistency counts."""
    from questree.training.consistency import broken, groups

    dags = hierarchies_in(taught_run).hierarchies
    draw = np.random.default_rng(0)
    said = ModelAnswers(dags.words, draw.choice([0, 1], len(dags.keys)).astype(np.int32))
    model = answered(dags, said)
    model = replace(
        model, hierarchies=replace(dags, nodes=dags.nodes.with_columns(text=pl.int_range(pl.len()).cast(pl.UInt32)))
    )
    node, _, passed = checked(model)
    failed = set(node[~passed].tolist())
    found = set[int]()
    for group in groups(model):
        wrong = broken(group.rule, node_columns(model), group.nodes, model.prediction[group.nodes][:, None])[:, 0]
        found |= set(group.nodes[wrong, 0].tolist())
    assert found == failed
    assert len(found) > 20


def test_a_network_learns_to_keep_rules(taught_run: Run) -> None:
    """From the loss alone, on DAGs of a run: what it says breaks hardly any rule after a few steps."""
    from questree.networks.catalogue import Inputs, network
    from questree.training.consistency import rule_loss
    from questree.training.examples import Examples
    from questree.training.eyes import Eyes
    from questree.training.words import KnownWords

    dags = dags_of(taught_run, AGQA, "train")
    table = nodes(dags)
    known = KnownWords.of(table["question"], table["answer"])
    found = rule_loss(dags.hierarchies, Examples.of(table, known, Eyes({})), known.answers, 1.0, 0)
    assert found is not None and len(found) > 100
    torch.manual_seed(0)
    own = network("lstm")
    module = own.build(Inputs(known.words, len(known.answers), {}), **own.sizes["small"].widths)
    optimizer = torch.optim.Adam(module.parameters(), 3e-3)
    only_yes_no = torch.tensor([0.0 if word in ("yes", "no") else -8.0 for word in known.answers])
    module.answer[-1].bias.data += only_yes_no  # so that rules have something to say
    losses = []
    for step in range(60):
        loss = found(module, 0, step)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert np.mean(losses[-10:]) < 0.4 * np.mean(losses[:5])


def test_training_with_the_loss_is_another_one(taught: Run) -> None:
    plain, held = (questree.train(taught.folder, model="lstm", epochs=1, consistency=each).record for each in (0, 0.5))
    assert (plain["name"], held["name"]) == ("lstm", "lstm-consistent")
    assert held["epochs"][0].loss > plain["epochs"][0].loss
