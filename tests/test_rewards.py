"""What a reward must read for models whose mistakes are known."""

from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from conftest import copy
from questree.api.read_traces import read_trace
from questree.api.rewards import Rewards, RewardWeights
from questree.faults import BadInput
from questree.metrics.dags import score_decomp
from questree.models.bot_runs import answer_run
from questree.models.bots import BotOptions
from questree.models.stored import said
from questree.tables.hierarchies import NOTHING
from questree.tables.predictions import Stored
from questree.tables.run import Run

PARTS = ("reward", "correct", "steps", "rules")


@pytest.fixture(scope="module")
def apart_videos(notebook: Path) -> Run:
    return Run(notebook / "run")


@pytest.fixture(scope="module", params=["apart_videos", "apart_images"])
def run(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Run:
    return copy(request.getfixturevalue(request.param), tmp_path_factory.mktemp("rewards"))


@pytest.fixture(scope="module")
def reward(run: Run) -> Rewards:
    return Rewards(run.folder)


Bot = Callable[[str], pl.DataFrame]


@pytest.fixture(scope="module")
def bot(run: Run, reward: Rewards) -> Bot:
    return cache(lambda name: answers(run, reward, name))


def answers(run: Run, reward: Rewards, name: str) -> pl.DataFrame:
    """All that a bot says, to every question and its sub-questions."""
    answer_run(run, BotOptions(name, 0, 0.2), images=not run.questions.is_dir())
    given = said(reward.dags.asked, Stored.of(run, name))
    return reward.dags.answers(given)


def test_the_oracle_gets_everything(reward: Rewards, bot: Bot) -> None:
    found = reward(bot("oracle"))
    assert len(found) == len(reward) > 50
    for part in PARTS:
        assert set(found[part].drop_nulls()) == {1.0}, part
    assert set(found["wrong_reasons"].drop_nulls()) == {0.0}
    assert found["rules"].is_not_null().mean() > 0.5  # type: ignore[operator]
    assert found["broken"].list.len().sum() == 0


def alone(reward: Rewards, model: str, run: Run) -> Iterator[tuple[str, dict[tuple[Any, ...], tuple[float, float]]]]:
    """Many a question's DAG scored by itself: what is counted for each cell of the official tables."""
    given = said(reward.dags.asked, Stored.of(run, model))
    for id, dag in list(zip(reward.dags.ids, reward.dags.dag.tolist(), strict=True))[::3]:
        scored = score_decomp(reward.dags.hierarchies.taken(np.array([dag])), given).tallies
        passed, total = scored.summed()
        yield id, dict(zip(scored.columns, zip(passed.tolist(), total.tolist(), strict=True), strict=True))


def test_shares_are_what_the_tables_count_for_the_same_dag(run: Run, reward: Rewards, bot: Bot) -> None:
    found = reward(bot("composition-noise")).rows_by_key("id", named=True, unique=True)
    for id, cells in alone(reward, "composition-noise", run):
        own, checks = found[id], [cell for column, cell in cells.items() if column[0] == "IC"]
        assert (own["rules_kept"], own["rules_checked"]) == tuple(
            map(sum, zip(*checks, strict=True)) if checks else (0, 0)
        )
        right = dict.fromkeys(range(99), 0.0)
        for column, (passed, _) in cells.items():
            if column[:2] == ("CA", "type"):
                right[int(str(column[3]))] += passed
        assert own["right"] == sum(right.values())
        assert own["wrongly_right"] == sum(right.values()) - right[0]
    assert 0 < sum(own["rules_kept"] for own in found.values()) < sum(own["rules_checked"] for own in found.values())


def test_one_question_per_scope_reads_what_the_whole_run_reads(run: Run, reward: Rewards, bot: Bot) -> None:
    """Tables count a text once per video, so with one question of each nothing is left out."""
    given = bot("composition-noise").with_columns(dag=pl.Series(reward.dags.dag))
    scope = reward.dags.hierarchies.dags["video"].gather(given["dag"])
    few = given.with_columns(scope=scope).unique("scope", keep="first", maintain_order=True)
    dags = reward.dags.hierarchies.taken(few["dag"].to_numpy())
    rows = score_decomp(dags, said(reward.dags.asked, Stored.of(run, "composition-noise"))).tallies
    checks = [at for at, column in enumerate(rows.columns) if column[0] == "IC"]
    kept, applied = (own[checks].sum() for own in rows.summed())
    found = reward(few)
    assert (found["rules_kept"].sum(), found["rules_checked"].sum()) == (kept, applied)


def with_wrong_parts(reward: Rewards, truth: pl.DataFrame) -> tuple[pl.DataFrame, list[bool]]:
    """The oracle, but for the sub-questions right below each question; and whether a truth is missed there."""
    found, rows, missed = reward.dags.hierarchies, [], []
    scored = [name not in reward.scheme.unscored for name in found.types]
    for row, dag in zip(truth.iter_rows(named=True), reward.dags.dag.tolist(), strict=True):
        begin, end = found.begins["nodes"][dag : dag + 2].tolist()
        own = found.composed.filter(pl.col("parent") == end - 1)
        below = {
            int(found.edges["child"][at]) for f, n in own.select("first", "edges").rows() for at in range(f, f + n)
        }
        steps = list(row["steps"])
        for node in below:
            steps[node - begin] = "something else"
        known = [found.nodes["answer"][node] != NOTHING and scored[found.nodes["type"][node]] for node in below]
        usable = found.nodes["answer"][end - 1] != NOTHING and scored[found.nodes["type"][end - 1]]
        rows.append(row | {"steps": steps})
        missed.append(usable and any(known))
    return pl.DataFrame(rows, schema=truth.schema), missed


def test_who_is_right_for_the_wrong_reasons_is_caught(reward: Rewards, bot: Bot) -> None:
    answers, missed = with_wrong_parts(reward, bot("oracle"))
    found = reward(answers)
    assert set(found["correct"].drop_nulls()) == {1.0}
    caught = (found["wrongly_right"] > 0).to_list()
    assert caught == missed and sum(caught) > len(caught) / 2
    assert (found.filter(pl.Series(caught))["reward"] < 1).all()
    assert (found.filter(pl.Series(caught))["wrong_reasons"] > 0).all()


def test_answers_in_a_batch_do_not_know_of_each_other(reward: Rewards, bot: Bot) -> None:
    """Several answers to one question are rewarded each by itself, in the order they come."""
    few = pl.concat([bot("oracle").head(4), bot("uniform").head(4), bot("oracle").head(4)])
    assert reward(few).equals(pl.concat([reward(few[[at]]) for at in range(len(few))]))
    assert reward(few.head(0)).columns == reward(few).columns


def test_whole_answers_alone_are_right_or_wrong(reward: Rewards, bot: Bot) -> None:
    truth = bot("oracle").select("id", "answer")
    found = reward(truth)
    assert found["reward"].equals(found["correct"].rename("reward")) and set(found["correct"].drop_nulls()) == {1.0}
    for part in ("steps", "rules", "wrong_reasons"):
        assert found[part].null_count() == len(found)
    wrong = reward(truth.with_columns(answer=pl.lit(None, pl.String)))
    assert set(wrong["correct"].drop_nulls()) == {0.0}


def test_steps_without_an_answer_are_left_out_or_wrong(run: Run, reward: Rewards, bot: Bot) -> None:
    half = pl.col("steps").list.eval(pl.when(pl.int_range(pl.len()) % 2 == 0).then(pl.element()))
    given = bot("oracle").with_columns(half)
    assert set(reward(given)["steps"].drop_nulls()) == {1.0}
    strict = Rewards(run.folder, missing="wrong")(given)
    whole = reward(bot("oracle"))
    assert strict["steps_counted"].equals(whole["steps_counted"])
    assert (strict["steps_right"].sum() or 0) < (whole["steps_right"].sum() or 0)


def test_sub_questions_are_named_by_id_by_text_or_are_in_order(reward: Rewards, bot: Bot) -> None:
    few = bot("composition-noise").filter(pl.col("steps").list.len() > 2).head(5)
    by_id, by_text = list[dict[str, Any]](), list[dict[str, Any]]()
    for row in few.iter_rows(named=True):
        keys = reward.dags.parts(int(reward.dags.at(pl.Series([row["id"]]))[0]))
        for rows, names in ((by_id, reward.dags.hierarchies.keys.gather(keys)), (by_text, reward.dags.texts(keys))):
            rows.append(row | {"steps": dict(zip(names, row["steps"], strict=True)) | {"Is this a question?": "no"}})
    shouted = [row | {"steps": {name.upper() + " ": own for name, own in row["steps"].items()}} for row in by_text]
    for given in (by_id, by_text, shouted):
        assert reward(given).equals(reward(few))


def test_free_text_is_read_by_a_policy(run: Run, reward: Rewards, bot: Bot) -> None:
    yes = bot("oracle").filter(pl.col("answer") == "yes").head(5).with_columns(answer=pl.lit("Yes, that is right."))
    assert set(reward(yes)["correct"]) == {0.0}
    assert set(Rewards(run.folder, policy="lenient")(yes)["correct"]) == {1.0}


def test_weights_say_what_counts(run: Run, bot: Bot) -> None:
    found = Rewards(run.folder, weights=RewardWeights(1, 0, 3, 0))(bot("composition-noise"))
    both = found.drop_nulls(["correct", "rules"])
    assert np.allclose(both["reward"], (both["correct"] + 3 * both["rules"]) / 4)
    assert found["reward"].drop_nulls().is_between(0, 1).all()


def test_bad_answers_are_refused(reward: Rewards, bot: Bot) -> None:
    few = bot("oracle").filter(pl.col("steps").list.len() > 2).head(2)
    with pytest.raises(BadInput, match=r"expected ids of decomposed questions like .*, got 'nobody'"):
        reward([{"id": "nobody", "answer": "yes"}])
    with pytest.raises(BadInput, match=r"expected \d+ steps, got 1"):
        reward(few.with_columns(steps=pl.Series([["yes"], ["no"]])))
    with pytest.raises(BadInput, match="answers: expected a column answer, got id"):
        reward(few.select("id"))
    with pytest.raises(BadInput, match="rules: expected at least 0, got -1"):
        RewardWeights(rules=-1)
    with pytest.raises(BadInput, match="answer 1: expected id and answer or completion, got id, prediction"):
        reward([few.row(0, named=True), {"id": few["id"][0], "prediction": "yes"}])
    with pytest.raises(BadInput, match="policy: expected a known one, got 'kind'; choose from exact, vqa, lenient"):
        Rewards(reward.dags.asked.run.folder, policy="kind")  # type: ignore[arg-type]


def test_answers_come_as_they_are(reward: Rewards, bot: Bot) -> None:
    """By id alone, as numbers, as truth values, or not at all."""
    few = bot("oracle").filter(pl.col("answer").is_in(["yes", "no", "2"])).head(30)
    raw = {"yes": True, "no": False, "2": 2}
    given = {id: raw[answer] for id, answer in few.select("id", "answer").rows()}
    assert set(reward(given)["correct"]) == {1.0}
    silent = [
        {"id": id, "completion": text} for id, text in zip(few["id"], ["", " ", None, "?", "Answer:"], strict=False)
    ]
    assert set(reward(silent)["reward"]) == {0.0}


def test_reasoning_is_read_as_an_answer_and_its_steps() -> None:
    steps = {"Does a phone exist?": "yes", "Which came first?": "holding a phone"}
    for text in (
        "1. Does a phone exist? yes (1.0-2.5 s)\n2. From 1: Which came first? holding a phone\nAnswer: no",
        "<think>\n1. Does a phone exist? yes\n2) Which came first? holding a phone\n</think>\n<answer>no</answer>",
        "Does a phone exist? yes (1.0-2.5 s). Which came first? holding a phone. So the answer is no.",
        "- Does a phone exist? yes.\n- Which came first? holding a phone.\nFinal answer: no.",
        "**1.** Does a phone exist? **yes**\n**2.** Which came first? `holding a phone`\n\n**Answer:** no<|im_end|>",
        "1. Does a phone exist? yes\n2. Which came first? holding a phone\n$\\boxed{no}$",
    ):
        assert read_trace(text) == {"answer": "no", "steps": steps}, text
    assert read_trace("no") == {"answer": "no", "steps": None}
    assert read_trace("Was it there? Yes.") == {"answer": "Yes", "steps": {"Was it there?": "Yes"}}
    assert read_trace('{"answer": "no"}') == {"answer": "no", "steps": None}
    assert read_trace("They sat down first. Then, no.")["answer"] == "They sat down first. Then, no"
    assert read_trace("Answer: 1.5") == {"answer": "1.5", "steps": None}


def test_a_completion_is_read_and_rewarded(reward: Rewards, bot: Bot) -> None:
    row = bot("oracle").filter(pl.col("steps").list.len() > 2).row(0, named=True)
    keys = reward.dags.parts(int(reward.dags.at(pl.Series([row["id"]]))[0]))
    told = zip(reward.dags.texts(keys), row["steps"], strict=True)
    lines = "\n".join(f"{at}. {text} {own}" for at, (text, own) in enumerate(told, 1))
    (found,) = reward([{"id": row["id"], "completion": f"{lines}\nAnswer: {row['answer']}"}]).to_dicts()
    assert found["reward"] == found["correct"] == found["steps"] == 1.0 and found["steps_counted"] > 1
