"""What every metric must read on image sets for models whose mistakes are known, as `test_bots` has it for videos."""

import math
import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest

from conftest import copy
from questree.benchmarks import COVR
from questree.metrics.dags import score_decomp
from questree.metrics.scores import Score
from questree.models.asked import NOT_SEEN, AskedNodes
from questree.models.bot_runs import answer_run
from questree.models.bots import BOTS, Bot, BotCorpus, BotOptions, asked_by
from questree.models.composed import Composer
from questree.models.stored import said
from questree.rules import IMAGE_DAGS
from questree.scoring.run_answers import answers_to
from questree.scoring.run_scores import How, RunScores
from questree.search.word_tables import default_words
from questree.stages.decompose.hierarchies import RunHierarchies
from questree.stages.decompose.set_hierarchies import image_hierarchies, set_shards
from questree.stages.decompose.set_shards import decompose_run
from questree.stages.drafts.whole_run import DraftOptions, generate
from questree.synth.images import write_images
from questree.tables.hierarchies import NOTHING
from questree.tables.nodes import KEYS
from questree.tables.predictions import Stored, shard_name
from questree.tables.run import Run
from questree.terms import Array
from worlds.exported_worlds import content
from worlds.question_shards import put_in_shards
from worlds.whole_sources import ingest

Cells = dict[tuple[str, str, str], Score]
Scores = Callable[..., Cells]
NOISE = 0.2
MOST = 4.5  # standard deviations
YES_NO_TYPES = ("Exists", "Verify Count", "Compare Count", "Logic", "Quantifier", "All Same")


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> RunHierarchies:
    folder = tmp_path_factory.mktemp("images")
    write_images(folder / "raw", 300, 3)
    run = Run(folder / "run")
    ingest(folder / "raw", run.folder)
    generate(run, DraftOptions(questions=2000, seed=5), workers=1)
    decompose_run(run, default_words(), every=True, workers=1)
    return image_hierarchies(run)


@pytest.fixture(scope="module")
def nodes(asked: RunHierarchies) -> AskedNodes:
    with asked_by(asked.run, [], images=True) as every:
        return every.shards.asked(shard_name(0))


def cells(asked: RunHierarchies, bot: str, noise: float = NOISE) -> Cells:
    answer_run(asked.run, BotOptions(bot, 0, noise), images=True)
    scored = score_decomp(asked.hierarchies, said(asked, Stored.of(asked.run, bot)))
    return {(row.metric, row.by, row.group): row for row in scored.rows(bot)}


@pytest.fixture(scope="module")
def scores(asked: RunHierarchies) -> Scores:
    return cache(lambda bot: cells(asked, bot))


def defined(found: Cells, metric: str, *kinds: str) -> dict[tuple[str, str], float]:
    return {
        (by, group): row.value
        for (name, by, group), row in found.items()
        if name == metric and row.value is not None and (not kinds or by in kinds)
    }


def fits(passed: float, n: int, share: float) -> bool:
    """May so many of n independent trials have come out right?"""
    return abs(passed - share * n) <= MOST * math.sqrt(n * share * (1 - share)) + 1


def row_fits(row: Score, share: float) -> bool:
    assert row.value is not None and row.n
    return fits(row.value * row.n, row.n, share)


def leaves(nodes: AskedNodes) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return np.concatenate([np.arange(len(nodes))[group.rows] for group in nodes.groups if not group.labels])


def test_the_oracle_is_right_everywhere_and_for_the_right_reasons(scores: Scores) -> None:
    found = scores("oracle")
    for metric in ("accuracy", "CA", "IC"):
        assert set(defined(found, metric).values()) == {1.0}
    assert not defined(found, "RWR") and not defined(found, "Delta")
    assert [rule for rule in IMAGE_DAGS.all_rules if not found["IC", "rule", rule].n] == []


def test_composing_true_leaves_gives_the_truth(nodes: AskedNodes) -> None:
    assert np.array_equal(Composer(nodes, nodes.drawn(0, "noise"), 0.0, 0.0).run(), nodes.truth)


def test_who_sees_badly_but_composes_well_has_CA_by_type_and_IC_of_one(scores: Scores) -> None:
    found = scores("perception-noise")
    assert set(defined(found, "CA", "type").values()) == {1.0}
    assert set(defined(found, "IC").values()) == {1.0}
    assert all(found["IC", "rule", rule].n for rule in IMAGE_DAGS.all_rules), "every rule was put to the test"
    assert max(defined(found, "RWR", "type").values()) < 1, "what follows from something wrong is right by luck only"
    assert defined(found, "accuracy")["type", "Count"] < 0.9
    assert found["IC-accuracy correlation", "dag", "Overall"].value is None, "all are consistent, right or wrong"


def test_mistakes_about_leaves_are_as_frequent_as_said_but_for_what_is_taken_for_granted(nodes: AskedNodes) -> None:
    bot = Composer(nodes, nodes.drawn(0, "noise"), NOISE, 0.0)
    wrong, granted, leaf = bot.run() != nodes.truth, bot.granted(), leaves(nodes)
    assert granted[leaf].any() and not wrong[granted].any()
    tested = leaf[~granted[leaf]]
    assert len(tested) > 1000 and fits(wrong[tested].sum(), len(tested), NOISE)


def test_who_sees_well_but_composes_badly_has_a_CA_that_is_lower_by_the_noise(
    scores: Scores, nodes: AskedNodes
) -> None:
    found = scores("composition-noise")
    tested = [row for row in found.values() if (row.metric, row.by) == ("CA", "type") and row.n]
    assert len(tested) > 14 and all(row_fits(row, 1 - NOISE) for row in tested)
    bot, leaf = Composer(nodes, nodes.drawn(0, "noise"), 0.0, NOISE), leaves(nodes)
    assert np.array_equal(bot.run()[leaf], nodes.truth[leaf])
    assert defined(found, "IC")["rule", "Overall"] < 0.9


def test_more_noise_is_worse(asked: RunHierarchies) -> None:
    for bot, name in (
        ("perception-noise", ("accuracy", "type", "Overall")),
        ("composition-noise", ("CA", "type", "Overall")),
        ("composition-noise", ("IC", "rule", "Overall")),
    ):
        line = [cells(asked, bot, noise)[name].value or 0 for noise in (0.0, 0.1, 0.4)]
        assert line[0] == 1 > line[1] > line[2]


def test_always_yes_is_right_about_every_yes_and_keeps_what_needs_no_no(scores: Scores) -> None:
    found = scores("always-yes")
    for name in YES_NO_TYPES:
        assert found["accuracy", "answer", f"{name}-yes"].value == 1
        assert found["accuracy", "answer", f"{name}-no"].value == 0
        assert found["accuracy", "type", name].value == 0.5
    kept = ("Modifier", "And", "Or", "Some", "Verify")
    assert [found["IC", "rule", f"{rule} Yes"].value for rule in kept] == [1.0] * 5
    assert [found["IC", "rule", f"{rule} No"].value for rule in kept] == [None] * 5
    assert [found["IC", "rule", f"No {side}"].value for side in ("Yes", "No")] == [0.0, 0.0]
    assert [found["IC", "rule", rule].value for rule in ("Subset", "Unique", "Choose")] == [None] * 3


def test_guesses_are_right_by_chance_whatever_their_parts(scores: Scores) -> None:
    found = scores("uniform")
    for name in YES_NO_TYPES:
        for truth in ("yes", "no"):
            assert row_fits(found["accuracy", "answer", f"{name}-{truth}"], 0.5)
    assert row_fits(found["CA", "type", "Exists"], 0.5) and row_fits(found["RWR", "type", "Exists"], 0.5)
    assert row_fits(found["IC", "rule", "Modifier No"], 0.5), "a coin is as often no as not"


def test_the_commonest_answer_of_a_type_is_right_about_one_answer(scores: Scores, nodes: AskedNodes) -> None:
    found, answers = scores("most-likely"), dict[str, set[int]]()
    for type, word in zip(nodes.types, nodes.truth.tolist(), strict=True):
        answers.setdefault(type, set()).add(word)
    for type, words in answers.items():
        assert found["accuracy", "type", type].value == pytest.approx(1 / len(words))


def test_a_shortcut_says_what_is_commonest(asked: RunHierarchies, nodes: AskedNodes) -> None:
    answer_run(asked.run, BotOptions("shortcut"), images=True)
    stored = Stored.of(asked.run, "shortcut")
    words = [stored.words[at] for at in stored.shard(shard_name(0), len(nodes))]
    truth, names = dict[str, Counter[str]](), list(nodes.number)
    for text, word in zip(nodes.texts["question"], nodes.truth.tolist(), strict=True):
        truth.setdefault(text, Counter())[names[word]] += 1
    for text, word in zip(nodes.texts["question"], words, strict=True):
        assert truth[text][word] == max(truth[text].values())


@pytest.mark.parametrize("bot", BOTS)
def test_the_same_seed_gives_the_same_bytes_and_another_one_others(bot: str, asked: RunHierarchies) -> None:
    stored = [written(asked.run, bot, seed) for seed in (0, 0, 1)]
    assert stored[0] == stored[1]
    drawn = ("uniform", "perception-noise", "composition-noise")
    assert bot == "blind" or (stored[0] != stored[2]) == (bot in drawn)  # what is learnt first hardly matters


def written(run: Run, bot: str, seed: int) -> dict[str, bytes]:
    answer_run(run, BotOptions(bot, seed), "again", images=True)
    return {path: text for path, text in content(run.predictions / "again").items() if not path.endswith(".json")}


@pytest.fixture(scope="module")
def shards(asked: RunHierarchies, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """The same questions in more shards."""
    run = copy(asked.run, tmp_path_factory.mktemp("shards"))
    put_in_shards(run, 300)
    decompose_run(run, default_words(), every=True, workers=1)
    assert len(set_shards(run)) > 4
    return run


def said_by_id(run: Run, bot: str) -> dict[str, str]:
    answer_run(run, BotOptions(bot, 3), "again", images=True)
    stored, found = Stored.of(run, "again"), dict[str, str]()
    for folder in set_shards(run):
        keys = KEYS.read(folder)["key"].to_list()
        words = stored.shard(folder.name, len(keys)).tolist()
        found |= {key: stored.words[at] for key, at in zip(keys, words, strict=True) if at != NOTHING}
    return found


@pytest.mark.parametrize("bot", [*BOTS, "talker"])
def test_shards_are_answered_as_all_at_once(bot: str, asked: RunHierarchies, shards: Run) -> None:
    with patch.dict(BOTS, {"talker": Bot("talks", talk)}):
        assert said_by_id(shards, bot) == said_by_id(asked.run, bot)


@pytest.mark.processes
def test_processes_answer_shards_of_image_sets(shards: Run) -> None:
    told = [answer_run(shards, BotOptions("shortcut"), f"by {n}", images=True, workers=n) for n in (1, 2)]
    assert told[0] == told[1] and content(shards.predictions / "by 1") == content(shards.predictions / "by 2")
    assert not list(shards.folder.rglob(".*"))


def test_what_workers_write_is_removed_once_they_have_stopped(
    asked: RunHierarchies, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    there = list[bool]()

    @contextmanager
    def stopping(*_: int) -> Iterator[None]:
        yield
        there.append(any(tmp_path.iterdir()))

    for module in ("questree.models.bot_runs", "questree.scoring.dag_scores"):
        monkeypatch.setattr(f"{module}.shared_out", stopping)
    answer_run(asked.run, BotOptions("shortcut"), images=True)
    shutil.rmtree(asked.run.predictions / "most-likely", ignore_errors=True)
    RunScores.of(asked.run, COVR, How("wrong", 0, split=None), ["shortcut", "most-likely"])
    assert there == [True, True] and not any(tmp_path.iterdir())


def test_words_of_a_bots_own_are_among_its_words(asked: RunHierarchies) -> None:
    with patch.dict(BOTS, {"talker": Bot("talks", talk)}):
        said = answers_to(asked.run, COVR, "talker")
    assert {f"word {at}" for at in range(50)} <= set(said.words)
    assert int(said.shard(shard_name(0), 0).max()) == len(said.words) - 1


def talk(corpus: BotCorpus, asked: AskedNodes) -> Array:
    """Words of its own, some of them in some shards alone, and nothing about every seventh set."""
    words = [corpus.number.setdefault(f"word {at}", len(corpus.number)) for at in np.unique(asked.scope % 50).tolist()]
    said = np.array(words)[np.unique(asked.scope % 50, return_inverse=True)[1]]
    return np.where(asked.scope % 7 == 0, NOTHING, said)


def test_who_sees_nothing_of_the_kind_says_so(asked: RunHierarchies, nodes: AskedNodes) -> None:
    answer_run(asked.run, BotOptions("composition-noise", noise=0.5), "clumsy", images=True)
    stored = Stored.of(asked.run, "clumsy")
    assert stored.words[-1] == NOT_SEEN
    assert (stored.shard(shard_name(0), len(nodes)) == len(stored.words) - 1).any()
