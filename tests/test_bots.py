"""What every metric must read for models whose mistakes are known: the proof that the metrics measure what they say."""

import json
import math
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from conftest import copy
from questree.api.locks import changed_among
from questree.cli.answer import answer
from questree.faults import BadInput
from questree.formats.decomp import export_decomp
from questree.metrics.dags import score_decomp
from questree.metrics.scores import Resampling, Score
from questree.models.asked import NOT_SEEN
from questree.models.bot_runs import answer_run
from questree.models.bots import BOTS, BotOptions, asked_by
from questree.models.composed import Composer
from questree.models.stored import said
from questree.rules import VIDEO_DAGS
from questree.stages.decompose.dag_shards import DecomposeOptions, decompose
from questree.stages.decompose.hierarchies import RunHierarchies, run_hierarchies
from questree.tables.hierarchies import NOTHING
from questree.tables.predictions import Stored
from questree.tables.run import Run
from questree.tables.store import new_folder
from worlds import random_worlds
from worlds.commands import questree as command
from worlds.decomposed import Stored as Tables
from worlds.decomposed import shards
from worlds.exported_worlds import content, run_of
from worlds.small import facts

Cells = dict[tuple[str, str, str], Score]
Scores = Callable[..., Cells]
VIDEOS = 30
SOME, ALL = DecomposeOptions(balanced=True), DecomposeOptions(balanced=False)
NOISE = 0.2
MOST = 4.5  # standard deviations; of a thousand cells not one is expected further off
GROUPS = ("Object Exists", "Relation Exists", "Interaction", "Interaction Temporal Localization")
YES_NO_GROUPS = (*GROUPS, "Exists Temporal Localization", "Conjunction")


def apart(run: Run, how: DecomposeOptions = SOME) -> Run:
    decompose(run, how, pool=ThreadPoolExecutor(1))
    return run


@pytest.fixture(scope="module")
def questions(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Random worlds in which everything holds that cleaning makes hold, and some of their questions."""
    known = facts("\n".join(random_worlds.world(seed=13, videos=VIDEOS, whole=True)))
    known = replace(known, videos=known.videos.with_columns(split=pl.lit("train")))  # something to learn from
    run = run_of(known, tmp_path_factory.mktemp("questions") / "run", shard=16)
    return select(run)


def select(run: Run) -> Run:
    """Every sixth question, however videos are cut into shards."""
    with new_folder(run.balanced) as work:
        for folder in sorted(path for path in run.questions.iterdir() if path.is_dir()):
            table = pl.read_parquet(folder / "questions.parquet", columns=["video", "number"])
            table.filter(pl.col("number") % 6 == 0).write_parquet(work / f"{folder.name}.parquet")
    return run


@pytest.fixture(scope="module")
def run(questions: Run, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """The same taken apart; what is not annotated is not there."""
    return apart(copy(questions, tmp_path_factory.mktemp("bots")))


@pytest.fixture(scope="module")
def asked(run: Run) -> RunHierarchies:
    return run_hierarchies(run, workers=1)


@pytest.fixture(scope="module")
def files(run: Run, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The same as files, to count in loops: {video: {id: DAG}}."""
    out = tmp_path_factory.mktemp("files") / "out"
    export_decomp(run, out, pool=ThreadPoolExecutor(1))
    found = [path for path in sorted(out.glob("*_hierarchies/*.json")) if path.stem != "isolated"]
    return {path.stem: json.loads(path.read_text()) for path in found}


def cells(asked: RunHierarchies, bot: str, seed: int = 0, noise: float = NOISE) -> Cells:
    answer_run(asked.run, BotOptions(bot, seed, noise))
    scored = score_decomp(asked.hierarchies, said(asked, Stored.of(asked.run, bot)))
    return {(row.metric, row.by, row.group): row for row in scored.rows(bot)}


@pytest.fixture(scope="module")
def scores(asked: RunHierarchies) -> Scores:
    return cache(lambda bot: cells(asked, bot))


def value(found: Cells, metric: str, by: str, group: str) -> float | None:
    return found[metric, by, group].value


def known(found: Cells, metric: str, by: str = "composition", group: str = "Overall") -> float:
    number = value(found, metric, by, group)
    assert number is not None
    return number


def defined(found: Cells, metric: str) -> dict[tuple[str, str], float]:
    return {
        (by, group): row.value for (name, by, group), row in found.items() if name == metric and row.value is not None
    }


def fits(row: Score, share: float) -> bool:
    """May so many of n independent trials have come out right?"""
    assert row.value is not None and row.n
    return abs(row.value - share) * row.n <= MOST * math.sqrt(row.n * share * (1 - share)) + 1


def test_the_oracle_is_right_everywhere_and_for_the_right_reasons(scores: Scores) -> None:
    found = scores("oracle")
    for metric in ("accuracy", "CA", "IC"):
        assert set(defined(found, metric).values()) == {1.0}
    assert all(row.value is not None for row in found.values() if row.metric == "accuracy")
    assert not defined(found, "RWR") and not defined(found, "Delta")
    rules = [found["IC", "rule", rule] for rule in VIDEO_DAGS.all_rules]
    assert len(rules) == 18 and all(row.value == 1 and row.n for row in rules)
    assert value(found, "IC-accuracy correlation", "dag", "Overall") is None, "nothing varies"


def test_the_oracle_answers_what_is_not_published(questions: Run, tmp_path: Path) -> None:
    """In an open world a missing annotation is not said to be missing; the oracle knows all the same (13.8)."""
    asked = run_hierarchies(apart(copy(questions, tmp_path), replace(SOME, closed=False)), workers=1)
    found, scored = cells(asked, "oracle"), [name not in VIDEO_DAGS.unscored for name in asked.hierarchies.types]
    nodes = asked.hierarchies.nodes
    assert ((nodes["answer"] == NOTHING).to_numpy() & np.array(scored)[nodes["type"].to_numpy()]).sum() > 1000
    assert value(found, "IC", "rule", "Overall") == 1
    for metric in ("accuracy", "CA", "IC"):
        assert set(defined(found, metric).values()) == {1.0}


def test_where_rules_alone_answered_the_oracle_executes(tmp_path: Path) -> None:
    run = run_of(facts("\n".join(random_worlds.world(seed=13, videos=4, whole=True))), tmp_path / "one")
    other = apart(copy(run, tmp_path / "other"), replace(ALL, rules_only=True))
    executed = answers_by_text(apart(run, ALL), "oracle")
    assert len(executed) > 500 and executed == answers_by_text(other, "oracle")


def answers_by_text(run: Run, bot: str) -> dict[tuple[int, str], str | None]:
    """(video, text) -> answer."""
    answer_run(run, BotOptions(bot))
    stored, answers = Stored.of(run, bot), dict[tuple[int, str], str | None]()
    for name, nodes in said_nodes(run.folder).items():
        words = [stored.words[at] if at != NOTHING else None for at in stored.shard(name, len(nodes))]
        answers |= dict(zip(nodes.select("video", "text").iter_rows(), words, strict=True))
    return answers


@cache
def said_nodes(folder: Path) -> dict[str, pl.DataFrame]:
    """Shard -> its nodes in words, with all that execution gives."""
    return {path.name: Tables.read(path).nodes for path in shards(Run(folder))}


def test_composing_true_leaves_gives_the_truth(run: Run) -> None:
    """Sub-questions determine their question through the rules, or do not speak against it: node by node."""
    with asked_by(run, []) as asked:
        for shard in map(asked.shards.asked, asked.shards.names):
            made = Composer(shard, shard.drawn(0, "noise"), 0.0, 0.0).run()
            assert np.array_equal(made, shard.truth)


def test_who_sees_badly_but_composes_well_has_CA_and_IC_of_one(scores: Scores) -> None:
    found = scores("perception-noise")
    assert set(defined(found, "CA").values()) == {1.0}
    assert set(defined(found, "IC").values()) == {1.0}
    rules = {rule: found["IC", "rule", rule] for rule in VIDEO_DAGS.all_rules}
    assert all(row.n for row in rules.values()), "every rule was put to the test"
    assert known(found, "RWR") < 1, "what follows from something wrong is right by luck only"
    assert known(found, "accuracy", "type") < 0.9
    assert value(found, "IC-accuracy correlation", "dag", "Overall") is None, "all are consistent, right or wrong"


def test_mistakes_about_leaves_are_as_frequent_as_said(scores: Scores) -> None:
    found = scores("perception-noise")
    for group in ("Object Exists-yes", "Object Exists-no", "Relation Exists-no"):  # all of them leaves
        assert fits(found["accuracy", "answer", group], 1 - NOISE)


def test_who_sees_well_but_composes_badly_has_a_CA_that_is_lower_by_the_noise(scores: Scores) -> None:
    found = scores("composition-noise")
    tested = [row for row in found.values() if (row.metric, row.by) == ("CA", "type") and row.n]
    tested += [found["CA", "composition", name] for name in ("And", "Xor", "Equals", "Choose")]
    assert len(tested) > 10 and all(fits(row, 1 - NOISE) for row in tested)
    assert value(found, "accuracy", "type", "Object Exists") == 1
    assert known(found, "IC", "rule") < 0.9


def test_intervals_of_CA_cover_what_composing_well_is_worth(asked: RunHierarchies) -> None:
    """Of 95 % intervals from 30 videos nine in ten have 1 - noise inside, over many seeds."""
    inside = list[bool]()
    for seed in range(10):
        answer_run(asked.run, BotOptions("composition-noise", seed, NOISE))
        scored = score_decomp(asked.hierarchies, said(asked, Stored.of(asked.run, "composition-noise")))
        rows = [row for row in scored.rows("", Resampling(200)) if (row.metric, row.by) == ("CA", "type")]
        inside += [row.low <= 1 - NOISE <= row.high for row in rows if row.low is not None and row.high is not None]
    assert len(inside) > 70 and sum(inside) / len(inside) > 0.85


def test_more_noise_is_worse(asked: RunHierarchies) -> None:
    for bot, metric in (("perception-noise", "accuracy"), ("composition-noise", "CA"), ("composition-noise", "IC")):
        by = {"accuracy": "type", "CA": "composition", "IC": "rule"}[metric]
        line = [known(cells(asked, bot, noise=noise), metric, by) for noise in (0.0, 0.1, 0.4)]
        assert line[0] == 1 > line[1] > line[2]


def test_always_yes_reads_as_the_papers_say(scores: Scores) -> None:
    """Every yes rule it can meet it keeps, every no rule it never meets, and it contradicts itself about Xor."""
    found = scores("always-yes")
    for name in YES_NO_GROUPS:
        assert value(found, "accuracy", "answer", f"{name}-yes") == 1
        assert value(found, "accuracy", "answer", f"{name}-no") == 0
        assert value(found, "accuracy", "type", name) == 0.5
    one_way = ("Interaction", "After", "Before", "While", "And", "Between")
    assert [value(found, "IC", "rule", f"{rule} Yes") for rule in one_way] == [1.0] * 6
    assert [value(found, "IC", "rule", f"{rule} No") for rule in one_way] == [None] * 6
    assert [value(found, "IC", "rule", f"Xor {side}") for side in ("Yes", "No")] == [0.0, 0.0]
    assert [value(found, "IC", "rule", f"Choose {kind}") for kind in ("Temporal", "Object")] == [None, None]
    assert value(found, "IC", "rule", "Overall") is None


def yes_parents(files: dict[str, Any]) -> dict[str, tuple[int, int]]:
    """Per composition, of yes/no questions whose scored parts are all yes: how many are yes, how many there are."""
    counts: dict[str, Counter[bool]] = {}
    for dags in files.values():
        texts = {text: (dag, node) for dag in reversed(dags.values()) for text, node in dag["subquestion"].items()}
        for text, (dag, node) in texts.items():
            for label, children in dag["hierarchy"].get(text, {}).items():
                parts = [dag["subquestion"][child] for child in children]
                usable = {part["answer"] for part in parts if part["type"] not in VIDEO_DAGS.unscored}
                if node["type"] in VIDEO_DAGS.yes_no and usable == {"yes"}:
                    counts.setdefault(label, Counter())[node["answer"] == "yes"] += 1
    return {label: (own[True], own.total()) for label, own in counts.items()}


def test_always_yes_has_the_share_of_yes_as_CA(scores: Scores, files: dict[str, Any]) -> None:
    wanted = yes_parents(files)
    assert wanted.keys() == {"Interaction", "After", "Before", "While", "Between", "And", "Xor"}
    for label, (right, parents) in wanted.items():
        row = scores("always-yes")["CA", "composition", label]
        assert (row.n, row.value) == (parents, right / parents)
    assert wanted["And"][0] == wanted["And"][1] and wanted["Xor"][0] == 0, "what rules say in full"


def test_the_commonest_answer_of_a_type_is_right_about_one_answer(scores: Scores, files: dict[str, Any]) -> None:
    """Accuracy weighs all true answers alike, so a type with n of them reads 1 / n."""
    found, answers = scores("most-likely"), dict[str, Counter[str]]()
    for node in {(video, text): node for video, text, node in all_nodes(files)}.values():
        answers.setdefault(node["type"], Counter())[node["answer"]] += 1
    for name in ("Object Exists", "Relation Exists", "Interaction", "Longest Action", "Shortest Action"):
        top = max(answers[name].values())
        (commonest, *_) = sorted(word for word, times in answers[name].items() if times == top)
        if name in GROUPS:
            assert value(found, "accuracy", "type", name) == 1 / len(answers[name])
            assert value(found, "accuracy", "answer", f"{name}-{commonest}") == 1


def all_nodes(files: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    for video, dags in files.items():
        for dag in dags.values():
            for text, node in dag["subquestion"].items():
                yield video, text, node


def test_guesses_are_right_by_chance_whatever_their_parts(scores: Scores) -> None:
    found = scores("uniform")
    for group in YES_NO_GROUPS:
        for truth in ("yes", "no"):
            assert fits(found["accuracy", "answer", f"{group}-{truth}"], 0.5)
        for metric in ("CA", "RWR"):
            row = found.get((metric, "type", group))
            assert row is None or not row.n or fits(row, 0.5)
    assert fits(found["IC", "rule", "Interaction No"], 0.5), "a coin is as often no as not"
    for before_or_after in ("before", "after"):
        assert fits(found["accuracy", "answer", f"Choose-{before_or_after}"], 0.5)


def test_a_shortcut_is_right_for_the_wrong_reasons(tmp_path: Path) -> None:
    """In three videos a phone is held and a dish touched, in the fourth it is the other way round.

    What is held in the fourth is answered as for the others, so both parts are wrong; that both are held is answered
    no everywhere, which is right.
    """
    three, one = (f"phone 0-2: {a}\ndish 0-2: {b}" for a, b in (("holding", "touching"), ("touching", "holding")))
    videos = [f"video {name}\nframes 0 1 2 3\n{one if name == 'D' else three}" for name in "ABCD"]
    run = run_of(facts("\n".join(videos)), tmp_path / "run")
    found = cells(run_hierarchies(apart(run, ALL), workers=1), "shortcut")
    said = answers_by_text(run, "shortcut")
    assert [said[video, "Is the person holding a phone?"] for video in range(4)] == ["yes"] * 4
    assert [said[video, "Is the person holding a dish?"] for video in range(4)] == ["no"] * 4
    assert [said[video, "Is the person holding a dish and holding a phone?"] for video in range(4)] == ["no"] * 4
    right, wrong = (found[metric, "composition", "And"] for metric in ("CA", "RWR-2"))
    assert (right.value, wrong.value, wrong.n) == (1, 1, 2), "two: that both are held, that both are touched"


def test_a_shortcut_says_what_is_commonest(run: Run) -> None:
    """Counted in loops: the published answers to the same text."""
    answers, truth = answers_by_text(run, "shortcut"), dict[str, Counter[str]]()
    for nodes in said_nodes(run.folder).values():
        for text, word in nodes.select("text", "answer").drop_nulls().iter_rows():
            truth.setdefault(text, Counter())[word] += 1
    for (_, text), word in answers.items():
        assert text not in truth or (word and truth[text][word] == max(truth[text].values()))
    assert sum(counts.total() > 1 for counts in truth.values()) > 100


@pytest.mark.parametrize("bot", BOTS)
def test_the_same_seed_gives_the_same_bytes_and_another_one_others(bot: str, run: Run) -> None:
    stored = [written(run, bot, seed) for seed in (0, 0, 1)]
    assert stored[0] == stored[1]
    drawn = ("uniform", "perception-noise", "composition-noise")
    assert bot == "blind" or (stored[0] != stored[2]) == (bot in drawn)  # what is learnt first hardly matters


def written(run: Run, bot: str, seed: int) -> dict[str, bytes]:
    answer_run(run, BotOptions(bot, seed), "again")
    return {path: text for path, text in content(run.predictions / "again").items() if not path.endswith(".json")}


def test_answers_do_not_depend_on_how_videos_are_cut_into_shards(run: Run, questions: Run, tmp_path: Path) -> None:
    other = apart(select(run_of(questions.load("facts"), tmp_path / "run", shard=7)))
    for bot in ("uniform", "perception-noise", "composition-noise", "shortcut", "most-likely", "blind"):
        assert answers_by_text(run, bot) == answers_by_text(other, bot)


def test_who_sees_nothing_of_the_kind_says_so(run: Run) -> None:
    answer_run(run, BotOptions("perception-noise", noise=1.0), "blind")
    stored = Stored.of(run, "blind")
    answers = np.concatenate([stored.shard(name, len(nodes)) for name, nodes in said_nodes(run.folder).items()])
    assert stored.words[-1] == NOT_SEEN and (answers == len(stored.words) - 1).sum() > 0


def test_all_that_is_wrong_with_a_bot_is_said_at_once(run: Run) -> None:
    with pytest.raises(BadInput) as wrong:
        answer(run.folder, model="oracel", noise=1.5, name="../x", quiet=True)
    assert [str(fault) for fault in wrong.value.faults] == [
        f"--model: expected a bot, got 'oracel'; choose from {', '.join(BOTS)}",
        "--noise: expected 0 to 1, got 1.5",
        "--name: '../x' cannot be the name of a model; expected letters, digits, spaces and . _ + - : @ =, "
        "no dot at the beginning and at most 120 bytes",
    ]
    assert not (run.folder.parent / "x").exists()
    with pytest.raises(BadInput, match="cannot be the name of a model"):
        answer(run.folder, model="oracle", name="x" * 300, quiet=True)
    assert changed_among(["x" * 300, "a\0b"]) == []  # as words of a command that failed
    done = command("answer", run.folder, "--model", "oracle", "--name", "x" * 300)
    assert done.returncode == 1
    assert "cannot be the name of a model" in done.stderr
