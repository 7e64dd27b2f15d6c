"""What people say goes on: a Human column, questions that are taken out, types that are not scored, own words."""

import json
from pathlib import Path

import polars as pl
import pytest

from questree.people.book import Item
from questree.people.task import Reply
from questree.rules import VIDEO_DAGS
from questree.stages.balance.rounds import selection
from questree.tables.predictions import samples
from worlds.asked_people import answer_all, asked, copied
from worlds.commands import questree

PEOPLE = ["a", "b", "c"]


@pytest.mark.parametrize("name", ["run", "images"])
def test_people_are_a_column_of_scores_and_of_the_report_beside_models(
    notebook: Path, tmp_path: Path, name: str
) -> None:
    run = copied(notebook, name, tmp_path)
    book = asked(run, "--sample 12 --gold 0 --no-parts --seed 2")
    items = book.items("verify")
    wrong = {one.item for one in items[:1]}

    def says(_: str, item: Item) -> Reply:
        return Reply("no", "something else") if item.item in wrong else Reply("yes")

    answer_all(book, "verify", PEOPLE, says)
    done = questree("people", "export", run.folder, "--store", "Human")
    assert done.stdout == f"Human: answers of the majority to {len(items)} questions, stored as a model\n", done.stderr
    assert samples(run) == {"Human"}
    scored = questree("score", run.folder, "--resamples", 0, "--json", "-")
    assert scored.returncode == 0, scored.stderr
    rows = [row for row in json.loads(scored.stdout) if row["model"] == "Human"]
    assert {row["model"] for row in json.loads(scored.stdout)} == {"Human", "perception-noise"}
    assert any(row["metric"] == "accuracy" and row["n"] for row in rows)
    kind, side = ("agqa", ["--split", "test"]) if name == "run" else ("covr", ["--side", "test"])
    alone = questree("score", kind, run.folder, "--model", "Human", *side, "--resamples", 0, "--json", "-")
    assert alone.returncode == 0, alone.stderr
    overall = [
        row
        for row in json.loads(alone.stdout)
        if (row["model"], row["metric"], row["group"]) == ("Human", "accuracy", "Overall")
    ]
    assert (overall[0]["n"], overall[0]["value"]) == (len(items), pytest.approx(1 - 1 / len(items)))
    file = tmp_path / "Human.jsonl"  # what is stored under this name was asked a sample, and so was the file
    assert questree("people", "export", run.folder, "--human", file).returncode == 0
    given = questree("score", kind, run.folder, "--predictions", file, *side, "--resamples", 0, "--json", "-")
    assert overall[0] in json.loads(given.stdout), given.stderr
    report = tmp_path / "report.html"
    made = questree("report", run.folder, "--out", report, "--resamples", 10, "--workers", 1)
    assert made.returncode == 0, made.stderr
    assert "Human" in report.read_text("utf-8")


def test_tasks_stand_side_by_side_as_in_the_papers_table(notebook: Path, tmp_path: Path) -> None:
    run = copied(notebook, "run", tmp_path)
    wrong: dict[str, set[str]] = {}
    for task, count in (("verify", 1), ("choose", 4)):
        book = asked(run, f"--task {task} --sample 12 --gold 0 --no-parts --seed 2")
        items = book.items(task)
        wrong[task] = {one.id for one in items[:count]}
        no, missed = "no" if task == "verify" else "not sure", wrong[task]

        def says(_: str, item: Item, no: str = no, missed: set[str] = missed) -> Reply:
            return Reply(no if item.id in missed else item.truth or "")

        answer_all(book, task, PEOPLE, says)
    assert wrong["verify"] < wrong["choose"]  # the same questions
    done = questree("people", "accuracy", run.folder, "--tasks", "verify,choose", "--resamples", 20, "--json", "-")
    assert done.returncode == 0, done.stderr
    rows = {(row["model"], row["by"]): row for row in json.loads(done.stdout) if row["group"] == "Overall"}
    for task in wrong:
        whole = rows[task, "reasoning"]
        assert (whole["n"], whole["value"]) == (12, pytest.approx(1 - len(wrong[task]) / 12))
        assert whole["low"] <= whole["value"] <= whole["high"]
        parts = [rows[task, f"reasoning, {kind}"] for kind in ("binary", "open")]
        assert sum(row["n"] for row in parts) == 12
        assert sum(row["n"] * (row["value"] or 0) for row in parts) == pytest.approx(12 - len(wrong[task]))
    shown = questree("people", "accuracy", run.folder, "--tasks", "verify,choose", "--resamples", 0).stdout
    heads = [line.split() for line in shown.splitlines() if line.split()[:1] == ["verify"]]
    assert heads[0] == ["verify", "n", "verify", "choose", "n", "choose"]
    last = next(line.split() for line in shown.splitlines() if line.startswith(" Overall") and " All " in line)
    assert last == ["Overall", "All", "91.67", "12", "66.67", "12"]
    for words, message in {
        ("--tasks", ""): "expected names of tasks",
        ("--tasks", "verify,nothing"): "expected a task, got 'nothing'",
    }.items():
        assert message in questree("people", "accuracy", run.folder, *words).stderr


@pytest.mark.parametrize("name", ["run", "images"])
def test_what_people_reject_is_taken_out_before_balancing_and_counted_by_reason(
    notebook: Path, tmp_path: Path, name: str
) -> None:
    run = copied(notebook, name, tmp_path)
    book = asked(run, "--sample 6 --split all --gold 0 --no-parts")
    items = book.items("verify")
    say = {items[0].item: "no", items[1].item: "no", items[2].item: "makes no sense"}
    answer_all(book, "verify", PEOPLE, lambda _, item: Reply(say.get(item.item, "yes")))
    out = tmp_path / "rejected.csv"
    assert questree("people", "export", run.folder, "--rejected", out).returncode == 0
    with out.open("a") as more:
        more.write("somebody-s3,no\n")
    done = questree("balance", run.folder, "--without", out)
    assert done.returncode == 0, done.stderr
    reasons = "taken out before: 3 questions (no 2, makes no sense 1); 1 ids are no question of this run"
    assert done.stdout.splitlines()[0] == reasons
    gone = {one.id for one in items[:3]}
    if name == "images":
        kept = set(pl.read_parquet(run.covr / "balanced.parquet")["id"])
    else:
        chosen, ids = selection(run), run.load("facts").videos["id"]
        assert chosen is not None
        kept = {f"{ids[video]}-{number}" for video, number in chosen.select("video", "number").iter_rows()}
    assert kept
    assert kept.isdisjoint(gone)
    (tmp_path / "bad.csv").write_text("question\nx\n")
    assert (
        "expected a CSV with the columns id and reason"
        in questree("balance", run.folder, "--without", tmp_path / "bad.csv").stderr
    )


def test_types_that_people_do_not_find_right_are_left_out_of_scores(notebook: Path, tmp_path: Path) -> None:
    run = copied(notebook, "run", tmp_path)
    book = asked(run, "--per-type 5 --gold 0 --split all")
    low = "Interaction"
    answer_all(book, "verify", PEOPLE, lambda _, item: Reply("cannot tell" if item.type == low else "yes"))
    out = tmp_path / "unscored.txt"
    done = questree("people", "export", run.folder, "--unscored", out)
    assert done.stdout == f"wrote {out} (1 types)\n"
    assert out.read_text() == "Interaction\n"
    assert "types under 70%: Interaction" in questree("people", "agreement", run.folder, "--resamples", 0).stdout

    def rows(*more: object) -> set[str]:
        found = questree("score", run.folder, "--resamples", 0, "--missing", "skip", "--json", "-", *more)
        assert found.returncode == 0, found.stderr
        return {row["group"] for row in json.loads(found.stdout) if row["by"] == "type" and row["n"]}

    before = set(VIDEO_DAGS.unscored)
    usual, own = rows(), rows("--unscored", out)
    assert "Interaction" in usual - own
    assert "Object" in own - usual  # which the paper leaves out
    assert before == VIDEO_DAGS.unscored

    def reported(*more: object) -> list[str]:
        page = tmp_path / "report.html"
        words = ("--bots", "none", "--split", "all", "--resamples", 0, "--workers", 1, "--csv", tmp_path / "tables.csv")
        assert questree("report", run.folder, "--out", page, *words, *more).returncode == 0
        rows = pl.read_csv(tmp_path / "tables.csv", infer_schema=False)
        lines = rows.filter(pl.col("table") == "decomp-type", pl.col("value").is_not_null())["row"].unique()
        assert ("types that are not scored" in page.read_text("utf-8")) == bool(more)
        return sorted(lines)

    assert "Interaction" in reported()
    assert "Interaction" not in reported("--unscored", out)
    assert before == VIDEO_DAGS.unscored
    out.write_text("Nothing\n")
    assert "expected a type, got 'Nothing'" in questree("report", run.folder, "--unscored", out).stderr
    assert "expected a type, got 'Nothing'" in questree("score", run.folder, "--unscored", out).stderr


def test_what_people_label_absent_is_decomposed(notebook: Path, tmp_path: Path) -> None:
    run = copied(notebook, "run", tmp_path)
    book = asked(run, "--task absent --sample 2 --split all")

    def says(_: str, item: Item) -> Reply:
        nowhere = [word for word in item.shown["objects"] if word not in item.shown["there"]]
        return Reply(marked=tuple(nowhere[:2]))

    answer_all(book, "absent", PEOPLE, says)
    out = tmp_path / "absent.json"
    assert questree("people", "export", run.folder, "--task", "absent", "--absent", out).returncode == 0
    assert all(len(things) == 2 for things in json.loads(out.read_text()).values())
    done = questree("decompose", run.folder, "--open", "--absent", out, "--workers", 1)
    assert done.returncode == 0, done.stderr
    assert "questions more whose answer is no: labels" in done.stdout


@pytest.mark.parametrize("name", ["run", "images"])
def test_the_same_questions_in_own_words_are_scored_beside_the_original(
    notebook: Path, tmp_path: Path, name: str
) -> None:
    run = copied(notebook, name, tmp_path)
    book = asked(run, "--task paraphrase --sample 8 --split all --no-parts")

    def says(_: str, item: Item) -> Reply:
        return Reply(text=f"Say: {item.text}") if item.role == "asked" else Reply(item.truth or "same")

    answer_all(book, "paraphrase", PEOPLE, says)
    out = tmp_path / "paraphrases.jsonl"
    export = ("people", "export", run.folder, "--task", "paraphrase", "--paraphrased", out)
    assert questree(*export).stdout == f"wrote {out} (8 questions)\n"
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    assert all(row["question"] == f"Say: {row['original']}" for row in rows)
    for file, right in (("first.jsonl", 8), ("second.jsonl", 6)):
        lines = [
            json.dumps({"id": row["id"], "prediction": row["answer"] if at < right else "?"})
            for at, row in enumerate(rows)
        ]
        (tmp_path / file).write_text("\n".join(lines))
    first, second = tmp_path / "first.jsonl", tmp_path / "second.jsonl"
    words = ("score", "paraphrased", run.folder, "--questions", out, "--predictions", second, "--resamples", 50)
    done = questree(*words, "--original", first, "--json", "-")
    assert done.returncode == 0, done.stderr
    (overall,) = [
        row
        for row in json.loads(done.stdout)
        if row["group"] == "Overall" and row["by"] in ("reasoning", "template") and row["metric"] == "accuracy"
    ]
    assert (overall["a"], overall["b"], overall["difference"]) == (1.0, 0.75, -0.25)
    assert overall["low"] <= -0.25 <= overall["high"]
    stored = questree(*words, "--original", "perception-noise")
    assert "8 questions, asked twice" in stored.stdout, stored.stderr
    assert "expected a file of predictions or a stored model" in questree(*words, "--original", "nobody").stderr
    second.write_text(second.read_text().splitlines()[0])
    assert "no prediction for 7 of 8 questions" in questree(*words, "--original", first).stderr
