"""People: what they are asked is drawn by seed, answers count once, and figures are what hands compute."""

import json
import sqlite3
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import Random
from typing import Any

import polars as pl
import pytest

from questree.api import people, people_export, people_results
from questree.faults import BadInput
from questree.people import turns
from questree.people.book import Book, Item
from questree.people.power import found_right, items_needed, majority_right
from questree.people.results import Answered, Rule
from questree.people.sample import among, drawn
from questree.people.task import Reply, read_task, shipped, understood
from questree.tables.run import Run
from worlds.asked_people import answer_all, asked, copied
from worlds.commands import questree


@pytest.fixture
def book(notebook: Path, tmp_path: Path) -> Book:
    return asked(copied(notebook, "run", tmp_path), "--per-type 3 --gold 0.2 --qualify 2 --seed 4")


def right(_: str, item: Item) -> Reply:
    return Reply(value=item.truth or "")


def test_every_task_that_is_shipped_can_be_read() -> None:
    assert shipped() == ["absent", "choose", "compare", "free", "paraphrase", "verify"]
    for name in shipped():
        called, task = read_task(name)
        assert called == name
        assert task.instructions
        assert task.examples


def test_a_task_of_ones_own_is_a_file_and_what_is_wrong_with_it_is_told(tmp_path: Path) -> None:
    path = tmp_path / "clear.toml"
    path.write_text(
        'title = "t"\nprompt = "p"\ninstructions = "i"\n'
        'choices = [{value = "a", label = "A"}, {value = "b", label = "B"}]\n'
    )
    assert read_task(str(path))[0] == "clear"
    with pytest.raises(BadInput, match="at least 2 choices, got 0") as bad:
        understood("mine", 'title = "t"\nprompt = "p"\ninstructions = "i"\nvotes = 0\n')
    assert [str(fault) for fault in bad.value.faults][1] == "mine: votes: expected at least 1, got 0"
    with pytest.raises(BadInput, match="unknown field `colour`"):
        understood("mine", 'title = "t"\nprompt = "p"\ninstructions = "i"\ncolour = "red"\n')
    with pytest.raises(BadInput, match="expected a task, got 'vrify'; choose from absent"):
        read_task("vrify")


def candidates(count: int) -> pl.DataFrame:
    rows = [
        (f"q{at}", ["v"], "?", str(at % 3), "AB"[at % 2], f"t{at % 5}", "test", ["x", "y"][: 1 + at % 2])
        for at in range(count)
    ]
    names = ("id", "scope", "question", "answer", "type", "template", "split", "category")
    return pl.DataFrame(rows, schema=names, orient="row")


def test_a_sample_has_the_least_number_of_every_label_and_no_more_than_it_needs() -> None:
    table = candidates(300)
    found = drawn(table, {"type": 6}, 1)
    assert Counter(found["type"]) == {"A": 6, "B": 6}
    assert Counter(zip(found["type"], found["answer"], strict=True)) == {(t, a): 2 for t in "AB" for a in "012"}
    assert drawn(table.reverse(), {"type": 6}, 1)["id"].to_list() == found["id"].to_list()
    assert drawn(table, {"type": 6}, 2)["id"].to_list() != found["id"].to_list()
    both = drawn(table, {"type": 6, "template": 4}, 1)
    assert all(count >= 4 for count in Counter(both["template"]).values())
    assert set(found["id"]) <= set(both["id"])
    labelled = Counter(label for labels in drawn(table, {"category": 5}, 1)["category"] for label in labels)
    assert labelled["y"] == 5
    assert labelled["x"] >= 5
    assert len(drawn(table, {"all": 17}, 1)) == 17


def test_gold_is_spread_evenly() -> None:
    ranks = among(90, 10, 3)
    assert [rank // 10 for rank in ranks] == list(range(10))
    assert among(5, 0, 3) == []


def test_items_are_a_balanced_sample_with_gold_and_qualification(book: Book) -> None:
    items = book.items("verify")
    roles = Counter(one.role for one in items)
    types = Counter(one.type for one in items if one.role == "asked")
    assert roles["qualification"] == 2
    assert roles["gold"] == round(0.2 * roles["asked"])
    assert max(types.values()) == 3
    assert [one.role for one in items[:2]] == ["qualification"] * 2
    assert len({one.id for one in items}) == len(items)
    assert {one.split for one in items} == {"test"}
    for one in items:
        wrong = one.shown["answer"] != one.answer
        assert one.truth == ("no" if wrong else "yes")
        assert not (wrong and one.role == "asked")
    assert 0 < sum(one.truth == "no" for one in items) < roles["gold"] + roles["qualification"]


def test_every_item_gets_its_votes_from_different_people_and_gold_from_everybody(book: Book) -> None:
    count = answer_all(book, "verify", ["a", "b", "c", "d"], right)
    items = {one.item: one for one in book.items("verify")}
    with sqlite3.connect(book.path) as made:
        given = Counter(item for (item,) in made.execute("SELECT item FROM answer"))
    assert count == sum(given.values())
    for number, one in items.items():
        assert given[number] == (3 if one.role == "asked" else 4), one.role


def test_what_is_in_hand_stays_there_and_is_not_given_to_too_many(notebook: Path, tmp_path: Path) -> None:
    book = asked(copied(notebook, "run", tmp_path), "--sample 6 --gold 0")
    people = [one.annotator for one in book.add_annotators("abcd")]

    def hand(who: int, now: float | None = None) -> Item:
        found = turns.give(book, "verify", who, now)
        assert found
        return found.item

    held = [hand(who) for who in people]
    assert [one.item for one in held] == [hand(who).item for who in people]
    assert [one.rank for one in held] == [0, 0, 0, 1]
    assert hand(people[3], now=1e12).item == held[3].item  # the others have gone away: there is room again
    turns.answer(book, "verify", people[3], held[3], right("", held[3]), 1)
    assert hand(people[3], now=1e12).rank == 0
    turns.answer(book, "verify", people[0], held[0], right("", held[0]), 1)  # who comes back after all is not refused


def test_a_reply_counts_once_however_often_it_is_sent_and_the_last_one_counts(book: Book) -> None:
    (who,) = (one.annotator for one in book.add_annotators(["a"]))
    hand = turns.give(book, "verify", who)
    assert hand
    for value in ("yes", "yes", "no"):
        turns.answer(book, "verify", who, hand.item, Reply(value=value), 2)
    with sqlite3.connect(book.path) as made:
        rows = made.execute("SELECT reply, first, tries FROM answer").fetchall()
        assert made.execute("SELECT answered FROM place").fetchall() == [(1,)]
    assert rows == [('{"value":"no"}', "yes", 2)]
    with pytest.raises(turns.NotYours):
        turns.answer(book, "verify", who, book.items("verify")[9], Reply(value="yes"), 2)


def test_undo_goes_back_step_by_step_and_loses_nothing(book: Book) -> None:
    (who,) = (one.annotator for one in book.add_annotators(["a"]))
    seen = []
    for _ in range(5):
        hand = turns.give(book, "verify", who)
        assert hand
        seen.append(hand.item)
        turns.answer(book, "verify", who, hand.item, Reply(value="yes"), 2)
    fresh = turns.give(book, "verify", who)
    assert fresh
    assert fresh.undoable
    for back in (4, 3, 2):
        assert turns.undo(book, "verify", who)
        hand = turns.give(book, "verify", who)
        assert hand
        assert (hand.item, hand.before) == (seen[back], Reply(value="yes"))
    assert hand
    assert not hand.undoable
    assert not turns.undo(book, "verify", who)  # the two before are the qualification
    turns.answer(book, "verify", who, seen[2], Reply(value="no"), 2)
    now = turns.give(book, "verify", who)
    assert now
    assert now.item == fresh.item
    said = Answered.read(book, "verify").every.filter(item=seen[2].item)["value"].to_list()
    assert said == ["no"]


def test_nobody_judges_their_own_paraphrase_and_a_new_one_is_judged_anew(notebook: Path, tmp_path: Path) -> None:
    book = asked(copied(notebook, "run", tmp_path), "--task paraphrase --sample 1")
    one, two = (each.annotator for each in book.add_annotators(["a", "b"]))
    hand = turns.give(book, "paraphrase", one)
    assert hand
    turns.answer(book, "paraphrase", one, hand.item, Reply(text="Or so?"), 3)
    assert turns.give(book, "paraphrase", one) is None
    other = turns.give(book, "paraphrase", two)
    assert other
    assert (other.item.role, other.item.shown, other.item.author) == ("confirm", {"paraphrase": "Or so?"}, one)
    turns.answer(book, "paraphrase", two, other.item, Reply(value="same"), 3)
    found = Answered.read(book, "paraphrase").paraphrases()
    assert found.rows() == [(hand.item.id, "Or so?", hand.item.text, hand.item.answer)]
    turns.undo(book, "paraphrase", one)
    turns.answer(book, "paraphrase", one, hand.item, Reply(text="Or not?"), 3)
    assert Answered.read(book, "paraphrase").paraphrases().is_empty()
    again = turns.give(book, "paraphrase", two)
    assert again
    assert again.item.shown == {"paraphrase": "Or not?"}
    turns.answer(book, "paraphrase", two, again.item, Reply(value="different"), 3)
    assert Answered.read(book, "paraphrase").paraphrases().is_empty()


@pytest.mark.parametrize("name", ["run", "images"])
def test_gold_of_paraphrases_is_the_same_or_another_question_and_leaves_out_who_cannot_tell(
    notebook: Path, tmp_path: Path, name: str
) -> None:
    options = "--task paraphrase --sample 20 --parts --split all --gold 0.5 --qualify 2 --seed 1"
    book = asked(copied(notebook, name, tmp_path), options)
    items = book.items("paraphrase")
    roles = Counter(one.role for one in items)
    assert (roles["asked"], roles["gold"], roles["qualification"]) == (20, 10, 2)
    known = [one for one in items if one.role != "asked"]
    assert {one.truth for one in known} == {"same", "different"}
    for one in known:
        assert (one.text in one.shown["paraphrase"]) == (one.truth == "same")
        assert one.text != one.shown["paraphrase"]

    def says(who: str, item: Item) -> Reply:
        if item.role == "asked":
            return Reply(text=f"{who} asks: {item.text}")
        right = item.truth or "same"
        return Reply("cannot tell" if who == "c" and item.role == "gold" else right)

    answer_all(book, "paraphrase", ["a", "b", "c"], says)
    found = Answered.read(book, "paraphrase")
    assert found.gold["share"].to_list() == [1.0, 1.0, 0.0]
    assert found.gold["out"].to_list() == [False, False, True]
    written = found.paraphrases()["question"].to_list()
    everybody = Answered.read(book, "paraphrase", Rule(0)).paraphrases()["question"].to_list()
    assert 0 < len(written) < len(everybody) == 20
    assert not any(text.startswith("c asks") for text in written)
    assert people.simulate(book.path.parent, "paraphrase", annotators=1).record["answers"] >= 12  # gold to everybody


def test_figures_are_those_that_hands_compute(book: Book) -> None:
    """Two are always right; the third says "cannot tell" to every other thing asked, and gold is beyond them."""
    asked_items = [one for one in book.items("verify") if one.role == "asked"]
    odd = {one.item for one in asked_items[::2]}

    def says(name: str, item: Item) -> Reply:
        if name == "c" and item.role == "gold":
            return Reply(value="makes no sense", faults=("bad grammar",))
        return Reply(value="cannot tell") if name == "c" and item.item in odd else right(name, item)

    answer_all(book, "verify", ["a", "b", "c"], says)
    everybody = Answered.read(book, "verify", Rule(0))
    n, gold = len(asked_items), sum(one.role == "gold" for one in book.items("verify"))
    record = people_results.agreement(book.path.parent, "verify", least_gold=0, resamples=50).record
    values = {row.metric: row.value for row in record["agreement"]}
    share = len(odd) / n
    assert values["agreement"] == pytest.approx(share / 3 + (1 - share))
    assert values["unanimous"] == pytest.approx(1 - share)
    assert values["majority"] == 1.0
    judged = 3 * n  # judgements, of which len(odd) say "cannot tell"
    expected = 2 * len(odd) * (judged - len(odd)) / (judged * (judged - 1))
    assert values["alpha"] == pytest.approx(1 - (2 * share / 3) / expected)
    assert [row["right"] for row in record["types"]] == [1.0] * len(record["types"])
    assert [row["right"] for row in everybody.gold.to_dicts()] == [gold, gold, 0]
    kept = Answered.read(book, "verify", Rule(0.7, enough=gold))
    assert kept.gold["out"].to_list() == [False, False, True]
    assert kept.decided().is_empty()  # two votes are not three
    named = {row["fault"]: row for row in everybody.faults()}
    assert named["cannot tell"] == {"fault": "cannot tell", "answers": len(odd), "items": len(odd), "by most": 0}


def test_the_answer_of_the_majority_becomes_a_prediction(book: Book) -> None:
    wrong = {one.item: at for at, one in enumerate([one for one in book.items("verify") if one.role == "asked"][:4])}

    def says(name: str, item: Item) -> Reply:
        at = wrong.get(item.item)
        if at == 0:
            return Reply(value="no", text="Towel." if name != "b" else "rag")
        if at == 1:
            return Reply(value={"a": "yes", "b": "no", "c": "cannot tell"}[name])
        return Reply(value="makes no sense") if at == 2 and name != "a" else right(name, item)

    answer_all(book, "verify", ["a", "b", "c"], says)
    found = Answered.read(book, "verify")
    items = {one.item: one for one in book.items("verify")}
    said = dict(found.human().iter_rows())
    first, second, third, fourth = (items[number] for number in wrong)
    assert said[first.id] == {"yes": "no", "no": "yes"}.get(str(first.answer), "towel")
    assert (said[second.id], said[third.id], said[fourth.id]) == ("no majority", "another answer", fourth.answer)
    assert dict(found.rejected().iter_rows()) == {
        first.id: "no", second.id: "no majority", third.id: "makes no sense"
    }  # fmt: skip


def test_what_is_absent_is_what_most_mark_and_marking_what_is_there_counts_against_people(
    notebook: Path, tmp_path: Path
) -> None:
    book = asked(copied(notebook, "run", tmp_path), "--task absent --sample 2 --votes 3")
    items = book.items("absent")
    words = items[0].shown["objects"]
    there, nowhere = items[0].shown["there"], [word for word in words if word not in items[0].shown["there"]]
    assert there
    assert {"floor", "person"}.isdisjoint(words)

    def says(name: str, item: Item) -> Reply:
        if item.item:
            return Reply()
        return Reply(marked=tuple({"a": nowhere[:2], "b": nowhere[1:3], "c": [*there, *nowhere]}[name]))

    answer_all(book, "absent", ["a", "b", "c"], says)
    found = Answered.read(book, "absent", Rule(0))
    assert found.absent() == {items[0].id: sorted(nowhere[:3]), items[1].id: []}
    assert found.gold["right"].to_list() == [len(there) + len(items[1].shown["there"])] * 2 + [
        len(items[1].shown["there"])
    ]
    out = tmp_path / "absent.json"
    people_export.export(book.path.parent, "absent", absent=out, least_gold=0)
    assert json.loads(out.read_text()) == found.absent()


def test_bots_err_as_often_as_they_say(notebook: Path, tmp_path: Path) -> None:
    book = asked(copied(notebook, "images", tmp_path), "--per-type 40 --split all --votes 5")
    made = people.simulate(tmp_path / "images", "verify", annotators=5, error=0.2, seed=3)
    found = Answered.read(book, "verify", Rule(0))
    assert made.record["answers"] == len(found.every)
    truth = {one.item: one.truth for one in book.items("verify")}
    wrong = sum(value != truth[item] for item, value in found.every.select("item", "value").iter_rows())
    share = wrong / len(found.every)
    assert abs(share - 0.2) < 3 * (0.2 * 0.8 / len(found.every)) ** 0.5
    by_kind = found.every.group_by("annotator").len()
    assert len(by_kind) == 5


def test_a_damaged_book_is_one_line_whatever_is_asked(book: Book) -> None:
    answer_all(book, "verify", ["a", "b", "c"], right)
    with sqlite3.connect(book.path) as made:
        made.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    whole, run = book.path.read_bytes(), book.path.parent
    chance = Random(5)
    for command in ("status", "agreement", "links"):
        for damage in range(4):
            data = bytearray(whole[: chance.randrange(len(whole))] if damage == 0 else whole)
            for _ in range(1 if damage < 3 else 300):
                data[chance.randrange(len(data))] = chance.randrange(256)
            for ending in ("-wal", "-shm"):
                book.path.with_name(book.path.name + ending).unlink(missing_ok=True)
            book.path.write_bytes(data)
            done = questree("people", command, run, *(("--resamples", 0) if command == "agreement" else ()))
            assert done.returncode in (0, 1)
            assert len(done.stderr.splitlines()) == done.returncode, done.stderr


def test_people_who_answer_at_once_get_every_item_as_often_as_it_is_wanted(notebook: Path, tmp_path: Path) -> None:
    book = asked(copied(notebook, "run", tmp_path), "--sample 8 --gold 0.25")
    people = book.add_annotators("abcde")

    def work(who: int) -> int:
        count = 0
        while hand := turns.give(book, "verify", who):
            for _ in range(2):  # a double click
                turns.answer(book, "verify", who, hand.item, right("", hand.item), 1.0)
            count += 1
        return count

    with ThreadPoolExecutor(5) as pool:
        counts = list(pool.map(work, [one.annotator for one in people]))
    with sqlite3.connect(book.path) as made:
        given = Counter(item for (item,) in made.execute("SELECT item FROM answer"))
        assert [count for (count,) in made.execute("SELECT answered FROM place ORDER BY annotator")] == counts
    assert {given[one.item] for one in book.items("verify") if one.role == "asked"} == {3}
    assert {given[one.item] for one in book.items("verify") if one.role == "gold"} == {5}


def test_the_status_counts_what_is_given_and_what_is_still_wanted(notebook: Path, tmp_path: Path) -> None:
    book = asked(copied(notebook, "run", tmp_path), "--sample 4 --gold 0")
    assert people.status(book.path.parent).record[0]["still to be given"] == 12
    answer_all(book, "verify", ["a", "b"], right)
    (row,) = people.status(book.path.parent).record
    assert (row["items"], row["answers"], row["still to be given"], row["people"]) == (4, 8, 4, 2)


def test_power_is_a_binomial_tail_and_the_usual_formula() -> None:
    assert majority_right(0.1, 1) == pytest.approx(0.9)
    assert majority_right(0.1, 3) == pytest.approx(0.9**3 + 3 * 0.9**2 * 0.1)
    assert found_right(1.0, 0.1, 3) == pytest.approx(0.972)
    assert items_needed(0.5, 0.05) == 385  # 1.96^2 / 4 / 0.05^2 = 384.1
    rows = people.power(accuracy=0.86, error=0.1, half_width=0.1, groups=4).record
    assert [row["votes"] for row in rows] == [1, 3, 5, 7]
    assert all(row["answers"] == row["items per group"] * row["votes"] * 4 for row in rows)


def test_a_full_disk_leaves_no_empty_book(book: Book, monkeypatch: pytest.MonkeyPatch) -> None:
    """A book that cannot have a second page; one that has tasks keeps them."""
    known, connect = book.tasks(), sqlite3.connect

    def small(*given: Any, **more: Any) -> sqlite3.Connection:
        made: sqlite3.Connection = connect(*given, **more)
        made.execute("PRAGMA max_page_count = 1")
        return made

    task, options = next(iter(known.values()))
    new = Book(Run(book.path.parent / "new"))
    new.path.parent.mkdir()
    monkeypatch.setattr(sqlite3, "connect", small)
    for each, name in ((new, "first"), (book, "x" * 100_000)):
        with pytest.raises(BadInput, match=r"people.sqlite: cannot be used \(database or disk is full\)"):
            each.add_task(name, task, options, [])
    assert list(new.path.parent.iterdir()) == []
    assert book.tasks() == known


def test_commands_say_what_is_wrong_in_one_line(notebook: Path, tmp_path: Path) -> None:
    folder = copied(notebook, "run", tmp_path).folder
    copied(notebook, "images", tmp_path)
    cases = {
        ("agreement", folder): "nobody is asked anything here yet",
        ("new", folder, "--task", "nothing"): "expected a task, got 'nothing'",
        ("new", folder, "--per-type", "-1"): "--per-type: expected at least 0, got -1",
        ("new", folder, "--annotators", "a<b"): "--annotators: expected letters",
        ("new", folder, "--task", "compare"): "--models: expected two stored models, as in A,B, got 0",
        ("new", tmp_path / "images", "--task", "absent"): "expected a task about questions",
        ("new", tmp_path / "images", "--per-category", "3"): "--per-category: expected questions about",
        ("power", "--error", "1.5"): "--error: expected a share between 0 and 1, got 1.5",
    }
    for words, message in cases.items():
        done = questree("people", *words)
        assert done.returncode == 1, words
        assert message in done.stderr
    assert not (folder / "people.sqlite").exists()
    assert questree("people", "new", folder, "--sample", 3, "--quiet").returncode == 0
    assert "there is a task 'verify' already" in questree("people", "new", folder, "--sample", 3).stderr
    assert "choose from verify" in questree("people", "simulate", folder, "--task", "choose").stderr
    assert "has nothing for it" in questree("people", "export", folder, "--absent", tmp_path / "x.json").stderr
    assert questree("people", "remove", folder, "--task", "verify").stdout == "verify: removed with 0 answers\n"
