"""Small corpora of steps in words of their own: what balancing keeps, and the recipe by which it keeps more."""

import json
import re
from collections import Counter
from random import Random

import polars as pl
import pytest

from judges.naive_balance import top_share
from questree.stages.balance.levelling import BalanceOptions, read_shares
from questree.stages.balance.rounds import balance
from questree.stages.balance.structure import Target, targets
from questree.stages.balance.told import BalanceReport, deletions, shares_there
from questree.stages.questions import Bank
from questree.tables.questions import QUESTIONS, read_balanced
from questree.tables.run import Run
from worlds.commands import questree

VERBS = ("peel", "slice", "wash", "stir", "pour", "chop", "grate", "heat", "drain", "mix")
THINGS = ("carrot", "onion", "pan", "pot", "bowl", "dough", "egg", "jar", "lid", "board", "oven", "plate")


@pytest.fixture(scope="module")
def steps(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """30 videos of steps: many actions, few of them twice."""
    random, folder, videos = Random(3), tmp_path_factory.mktemp("steps"), []
    names = [f"{verb} the {thing}" for verb in VERBS for thing in THINGS]
    often = [1 / (at + 3) for at in range(len(names))]
    for video in range(30):
        actions, now = list[dict[str, object]](), 0.0
        for name in random.choices(random.sample(names, len(names)) if video == 0 else names, often, k=9):
            end = now + random.uniform(4, 40)
            actions.append({"class": name, "start": round(now, 1), "end": round(end, 1)})
            now = end + random.choice((0, 3))
        split = "train" if video % 5 else "test"
        videos.append({"id": f"S{video}", "length": now + 1, "split": split, "actions": actions})
    (folder / "steps.json").write_text(json.dumps({"videos": videos}))
    assert questree("vocabulary", "draft", "steps.json", "--out", "words.toml", folder=folder).returncode == 0
    run = ("--vocabulary", "words.toml", "--out", "run", "--workers", 1, "--no-text")
    done = questree("build", "steps.json", *run, folder=folder)
    assert done.returncode == 0, done.stderr
    return Run(folder / "run")


def selected(run: Run) -> pl.DataFrame:
    questions = pl.concat([QUESTIONS.read(folder) for folder in Bank(run).folders()])
    return questions.join(read_balanced(run.balanced), on=["video", "number"])


def test_what_was_deleted_says_which_option_lets_more_stay(steps: Run) -> None:
    done = questree("balance", steps.folder, "--workers", 1)
    last = done.stdout.splitlines()[-2:]
    kept, before = (int(each.replace(",", "")) for each in re.findall(r"([\d,]+) of ([\d,]+)", last[1])[0])
    gone = [int(each.replace(",", "")) for each in re.findall(r" ([\d,]+) \([\d.]+ %", last[0])]
    assert kept + sum(gone) == before
    assert kept < before / 10
    assert "fewer with --untimed-keys" in last[0]
    assert "fewer with --shares query=" in last[0]


def test_the_recipe_keeps_a_tenth_and_the_condition_holds(steps: Run) -> None:
    first = balance(steps, BalanceOptions(untimed_keys=True), workers=1)
    shares = read_shares(shares_there(first))
    report = balance(steps, BalanceOptions(untimed_keys=True, shares=shares), workers=1)
    assert report.total("after_structures") > report.total("before") / 10
    assert "--untimed-keys" not in deletions(report)
    assert "--shares" in deletions(first) and "--shares" not in deletions(report)  # they are the ones it has
    known, found = Bank(steps).edition.by_code, selected(steps)
    assert len(found) == report.total("after_structures")
    test = {at for at, split in enumerate(steps.load("facts").videos["split"]) if split != "train"}
    answers: dict[tuple[bool, int], list[int]] = {}
    for video, template, answer in found.select("video", "template", "answer").rows():
        if known[template].answer_type == "open":
            answers.setdefault((video in test, template), []).append(answer)
    assert len(answers) > 4
    for own in answers.values():
        number, share = top_share(own)
        assert share <= 0.3 or number in (1, 2, 3, 6)


def test_the_shares_that_are_named_lose_little_however_rare_a_structure_is() -> None:
    """Query questions say how many the others may be: a share of theirs that is rounded up costs most of these."""
    there = {"query": 34, "compare": 1_400, "choose": 66_000, "verify": 100_000, "logic": 2_600_000}
    own = [Target("train", name, number, number, number) for name, number in there.items()]
    shares = read_shares(shares_there(BalanceReport(BalanceOptions(), [], own, [])))
    allowed = targets(there, BalanceOptions(shares=shares))
    assert all(allowed[name] >= 0.97 * number for name, number in there.items())


def test_untimed_keys_have_as_many_of_either_answer_whatever_the_time(steps: Run) -> None:
    shares = read_shares("query=2,compare=8,choose=10,verify=60,logic=20")
    balance(steps, BalanceOptions(untimed_keys=True, shares=shares), workers=1)
    known = Bank(steps).templates
    test = {at for at, split in enumerate(steps.load("facts").videos["split"]) if split != "train"}
    counts: dict[tuple[object, ...], Counter[bool]] = {}
    for row in selected(steps).iter_rows(named=True):
        if not known.open[row["template"]]:
            key = (row["video"] in test, *(row[name] for name in ("template", "relation", "x", "y")))
            yes = row["answer"] == (row["y"] if known.asked_two[row["template"]] else 1)
            counts.setdefault(key, Counter())[yes] += 1
    assert len(counts) > 20
    assert all(number[True] == number[False] for number in counts.values())
    assert any(number[True] > 1 for number in counts.values())


def test_without_a_share_for_query_the_rarest_structure_says_how_many_stay(steps: Run) -> None:
    shares = read_shares("query=0,compare=10,choose=20,verify=50,logic=20")
    report = balance(steps, BalanceOptions(untimed_keys=True, shares=shares), workers=1)
    for split in ("train", "test"):
        found = {each.structure: each for each in report.targets if each.split == split and each.before}
        rarest = min(each.before / shares[name] for name, each in found.items() if shares[name])
        assert rarest > 100 and found["query"].before > found["query"].kept == 0
        assert all(-2 < each.kept - shares[name] * rarest < 1 for name, each in found.items())  # yes and no go in pairs
