"""Edition 1.0 of AGQA: the columnar generator yields what the naive one does where the description defines it."""

from collections import Counter
from functools import cache
from pathlib import Path
from random import Random

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.runs import cleaned as made_up
from conftest import copy
from judges import naive_generator as naive
from judges.facts import WORDS, Video, read
from judges.naive_references import Deed, Thing, Time
from questree.benchmarks.agqa import templates as t
from questree.benchmarks.agqa.editions import EDITIONS, FIRST, SECOND
from questree.benchmarks.agqa.held_out import FLAGS
from questree.domains.video import videos
from questree.notation import agqa
from questree.notation.own import show
from questree.readings.answer import answer
from questree.readings.categories import steps
from questree.stages.generate.shards import GenerateOptions, generate
from questree.stages.questions import Bank
from questree.tables.facts import Facts
from questree.tables.run import Run
from test_generate import rows as table
from test_generate_judge import difference
from worlds import generator_rows as rows
from worlds import generator_worlds as chance
from worlds.small import facts

THREE = """
video Three
frames 0 1 2 3 4 5 6 7
bag 0: holding
box 2-3: holding
dish 5-6: holding
"""  # the first thing they did to the bag was done to two other things later


@cache
def world() -> tuple[Facts, list[Video]]:
    found = facts(
        "\n".join([*chance.world(seed=3, videos=20), *chance.repeating(seed=3, videos=8), *chance.RARE_CASES, THREE])
    )
    return found, read(found)


@cache
def judged() -> tuple[list[Counter[naive.Question]], Counter[tuple[str, str]]]:
    return naive.generate(world()[1], 2, "1.0")


@cache
def ours() -> tuple[rows.Generated, list[list[naive.Question]]]:
    found = rows.generated(world()[0], 2, edition=FIRST)
    return found, rows.plain(found, len(world()[1]))


def test_every_template_has_the_rules_the_description_gives_it() -> None:
    assert [template.name for template in FIRST.templates] == naive.TEMPLATES["1.0"]
    for template in FIRST.templates:
        assert {*template.rules, t.STEPS} == {*naive.rules_of(template.name, "1.0"), t.STEPS}, template.name


def test_a_template_has_one_code_in_both_editions() -> None:
    for edition in EDITIONS.values():
        assert list(edition.codes) == list(SECOND.codes)
    assert list(SECOND.codes)[:27] == [template.name for template in SECOND.templates]


def test_the_questions_are_those_of_the_naive_generator() -> None:
    assert difference(judged()[0], ours()[1]) == []


def test_candidates_are_rejected_for_the_first_rule_they_fail() -> None:
    assert ours()[0].rejected == judged()[1]


def test_every_template_is_asked_and_some_questions_take_more_than_eight_steps() -> None:
    asked = {question for video in judged()[0] for question in video}
    assert {question.template for question in asked} == set(naive.TEMPLATES["1.0"])
    assert max(question.steps for question in asked) > 8
    assert {q.answer for q in asked if q.template == "actExists"} == {"yes", "no"}
    relations = {q.template for q in asked if q.done_to}
    assert relations == {n for n, shape in naive.SHAPES.items() if shape.relations and n != "relExists"}
    assert {flag for q in asked for flag in q.flags} == set(FLAGS)


def test_references_with_a_time_of_their_own_are_asked_in_every_template_with_references() -> None:
    asked = {question for video in judged()[0] for question in video}
    timed = {(q.template, thing.kind) for q in asked for thing in q.things if thing.time}
    every = {(name, kind) for name, shape in naive.SHAPES.items() for kind in shape.objects if kind != t.DIRECT}
    assert timed == every
    inner = {thing.time.kind for q in asked for thing in q.things if thing.time}
    assert inner == {t.BEFORE, t.AFTER, t.WHILE, t.BETWEEN}


def test_an_action_may_be_named_by_its_object_in_every_time_of_every_template() -> None:
    """So the paper's "Between throwing a blanket somewhere and holding the first thing they washed, did they ...?"."""
    asked = {question for video in judged()[0] for question in video}
    named = [q for q in asked if any(deed.kind == t.INDIRECT for deed in q.time.deeds)]
    assert {q.time.kind for q in named} == {t.BEFORE, t.AFTER, t.WHILE, t.BETWEEN}
    seldom = {"objWhatGeneral", "actFirst", "actLast"}  # whose times few things in this world fit
    assert {q.template for q in named} | seldom >= {name for name, shape in naive.SHAPES.items() if shape.times}
    assert {q.template for q in asked for deed in q.deeds if deed.kind == t.INDIRECT} == {
        "actTime",
        "relTime",
        "objTime",
    }


def test_a_question_of_figure_7_with_such_a_time_is_asked() -> None:
    """Between throwing a blanket somewhere and holding the first thing they washed, did they go in front of a laptop or
    some food?"""
    text = """
    video A
    frames 0 1 2 3 4 5 6 7
    laptop 3: in front of
    food 7: in front of
    dish 0: washing
    clothes 6: washing
    action c121 0 0
    action c074 1 1
    action c118 5 5
    action c005 6 6
    """
    asked = rows.plain(rows.generated(facts(text), 0, edition=FIRST), 1)[0]
    found = {show(rows.program(q, FIRST)): q.answer for q in asked if q.template == "objWhatChoose"}
    time = "between(throwing a blanket somewhere, to_action(holding, first(washing, whole())))"
    assert found[f"choose(in front of, {time}, food, laptop)"] == "o19"


def test_what_is_first_or_last_is_verified_of_a_single_object_too() -> None:
    text = "video A\nframes 0 1 2 3\nbag 1-2: holding\nbox 0: behind"
    for edition, wanted in ((FIRST, {"yes"}), (SECOND, set())):
        asked = rows.plain(rows.generated(facts(text), 0, edition=edition), 1)[0]
        found = {(q.template, q.relation, q.things): q.answer for q in asked if q.template.endswith("Verify")}
        bag = (Thing(t.DIRECT, "o2"),)
        assert {found[key] for key in found if key[1:] == ("r15", bag)} == wanted


def test_a_reference_may_have_a_time_of_its_own() -> None:
    """Before standing up they held a bag, later a box; in all they held the bag first."""
    text = """
    video A
    frames 0 1 2 3 4 5 6 7
    bag 0: holding
    bag 2: behind
    box 5-6: holding
    action c154 3 3
    """
    asked = rows.plain(rows.generated(facts(text), 0, edition=FIRST), 1)[0]
    named = {thing for q in asked for thing in q.things if thing.time}
    before, after = (Time(kind, Deed(t.DIRECT, "c154")) for kind in (t.BEFORE, t.AFTER))
    assert named == {
        *(Thing(kind, "o2", "r15", before) for kind in (t.FIRST, t.WHOLE)),
        *(Thing(kind, "o6", "r15", after) for kind in (t.FIRST, t.LAST, t.WHOLE)),
    }
    one = next(q for q in asked if q.template == "objTime" and q.things[0] == Thing(t.FIRST, "o2", "r15", before))
    assert (one.answer, one.steps, one.flags) == ("before", 5 + 1 + 2, ("i_obj", "i_temp", "nc_seq", "nc_sup"))
    assert show(rows.program(one, FIRST)) == "object_order(first(holding, before(standing up)), standing up)"


def test_timed_references_of_an_object_share_a_cap_and_never_stand_inside_actions() -> None:
    sides = rows.generated(world()[0], 2, cap=1, edition=FIRST).sides
    every = ours()[0].sides["references"].filter(pl.col("time") > 0)
    kept = sides["references"].filter(pl.col("time") > 0)
    assert kept.join(every, on=every.columns, how="anti").is_empty()
    assert len(kept) == len(every.unique(["video", "object"])) < len(every)
    for question in (question for video in ours()[1] for question in video):
        assert not any(deed.thing and deed.thing.time for deed in (*question.deeds, *question.time.deeds))


def test_every_rule_about_relation_references_fires() -> None:
    fired = {(name, rule) for name, rule in judged()[1] if rule in (t.ABOUT_OBJECT, t.ABOUT_ANSWER)}
    every = {(name, rule) for name in naive.TEMPLATES["1.0"] for rule in naive.rules_of(name, "1.0")}
    assert fired == {(name, rule) for name, rule in every if rule in (t.ABOUT_OBJECT, t.ABOUT_ANSWER)}


def test_a_pair_may_have_an_object_of_a_time_unless_its_action_says_the_answer() -> None:
    """Whoever opens a box touches it; what is opened need not be held. What has ended says nothing about a time."""
    text = "video A\nframes 0 1 2 3 4\nbox 2: touching\nbox 4: holding\naction c041 2 2.5"
    asked = rows.plain(rows.generated(facts(text), 0, edition=FIRST), 1)[0]
    box = (Thing(t.DIRECT, "o6"),)
    pairs = [q for q in asked if q.template == "objRelExists" and q.things == box and q.time.kind != t.ALL]
    answers = {(q.relation, q.time.kind): q.answer for q in pairs if not q.done_to}
    held, touched = "r15", "r22"
    assert answers == {
        (held, t.BEFORE): "no",
        (held, t.WHILE): "no",
        (held, t.AFTER): "yes",
        (touched, t.AFTER): "no",
    }
    fired = {name for name, rule in judged()[1] if rule == t.TIME_SAYS}
    choices = {template.name for template in FIRST.templates if template.categories.structural == "choose"}
    assert fired == {"objRelExists", *choices}


def test_a_relation_is_named_by_what_was_done_first_to_an_object() -> None:
    """The bag is only held when it appears; the box is held and touched; held-out firsts and pairs count."""
    text = """
    video A
    frames 0 1 2 3 4
    bag 1-2: holding, behind
    box 2: holding, touching
    """
    asked = rows.plain(rows.generated(facts(text), 0, edition=FIRST), 1)[0]
    named = [q for q in asked if q.done_to]
    assert {(q.done_to, q.relation) for q in named} == {("o2", "r15")}
    one = next(q for q in named if q.template == "objRelExists" and q.things == (Thing(t.DIRECT, "o6"),))
    assert (one.answer, one.steps, one.flags) == ("yes", 2, ("i_rel", "nc_sup"))
    assert show(rows.program(one, FIRST)) == "interaction(first_done_to(bag), box)"
    assert not [q for q in named if any(thing.object == "o2" for thing in q.things)]


def test_released_strings_of_the_edition_are_read_back() -> None:
    for asked in ours()[1]:
        nodes = [rows.program(question, FIRST) for question in asked[:: max(len(asked) // 60, 1)]]
        assert [agqa.read(agqa.write(node, WORDS, "1.0"), WORDS, "1.0") for node in nodes] == nodes


@settings(max_examples=20, derandomize=True, deadline=None, database=None)
@given(st.randoms(use_true_random=False))
def test_any_video_gives_the_questions_of_the_naive_generator(random: Random) -> None:
    text = chance.video(random, 0, sizes=(6, 7, 5))
    tables = facts(text)
    wanted, rejected = naive.generate(read(tables), 0, "1.0")
    found = rows.generated(tables, 0, edition=FIRST)
    assert (text, difference(wanted, rows.plain(found, 1))) == (text, [])
    assert (text, found.rejected) == (text, rejected)


def test_no_program_occurs_twice_in_a_video_and_its_steps_are_those_of_the_row() -> None:
    for asked in ours()[1]:
        nodes = [rows.program(question, FIRST) for question in asked]
        assert [node for node, count in Counter(nodes).items() if count > 1] == []
        assert [steps(node) for node in nodes] == [question.steps for question in asked]


def test_a_decoy_shares_its_verb_or_its_object_with_the_video() -> None:
    """Holding a bag: other things to do with a bag, other things to hold."""
    found = rows.generated(facts("video A\nframes 0 1 2\naction c020 1 1"), 0, edition=FIRST)
    asked = [q for q in rows.plain(found, 1)[0] if q.template == "actExists"]
    whole = {q.deeds[0].action: q.answer for q in asked if q.time.kind == t.ALL}
    assert [action for action, answered in whole.items() if answered == "yes"] == ["c020"]
    assert {"c021", "c022", "c023", "c024", "c015", "c047"} <= whole.keys()
    assert not {"c006", "c154", "c033"} & whole.keys()  # closing a door, standing up, a merged-away action
    assert not [q for q in asked if q.time.kind != t.ALL and q.deeds[0].action == "c020"]


def test_an_action_is_placed_by_its_own_frames() -> None:
    """A bag is held after the broom is: since edition 2.0 that bars the question."""
    text = "video A\nframes 0 1 2 3 4 5\nbag 0,4: holding\naction c020 0 0\naction c098 2 2"
    asked = {
        edition.name: rows.plain(rows.generated(facts(text), 0, edition=edition), 1)[0] for edition in (FIRST, SECOND)
    }
    orders = {name: [q.answer for q in found if q.template == "actTime"] for name, found in asked.items()}
    assert orders == {"1.0": ["before"], "2.0": []}


def test_it_is_asked_whether_a_doorway_is_contacted() -> None:
    text = "video A\nframes 0 1\ndoorway 0: touching"
    for edition, wanted in ((FIRST, ["yes"]), (SECOND, [])):
        asked = rows.plain(rows.generated(facts(text), 0, edition=edition), 1)[0]
        assert [q.answer for q in asked if q.template == "objExists" and q.things[0].object == "o15"] == wanted


@pytest.fixture(scope="module")
def old_run(cleaned_run: Run, tmp_path_factory: pytest.TempPathFactory) -> Run:
    run = copy(cleaned_run, tmp_path_factory.mktemp("old"))
    generate(run, GenerateOptions(shard=5, text=True, rare_below=3, edition="1.0"), workers=1)
    return run


def test_every_row_is_a_program_with_that_answer_and_text(old_run: Run) -> None:
    bank = Bank(old_run)
    columnar = videos(old_run.load("facts"), bank.vocabulary)
    assert bank.edition is FIRST
    seen: Counter[str] = Counter()
    said: list[str] = []
    for folder in bank.folders():
        shard, text = bank.shard(folder), pl.read_parquet(folder / "text.parquet")["question"]
        for _, own in shard.questions.with_row_index().group_by("template", maintain_order=True):
            for row in own["index"].to_list()[:: max(len(own) // 30, 1)]:
                question = shard.question(row)
                assert question.text == text[row]
                assert answer(question.program, columnar.ask([question.video]), {}).tolist() == [question.row["answer"]]
                assert steps(question.program) == question.row["steps"]
                seen[question.template.name] += 1
                said.append(question.text)
    assert seen["actExists"] and seen["actTime"]
    for words in ("before starting to", "contact", "the first thing they did to the", " that, "):
        assert any(words in text for text in said), words
    assert not any("interact" in text for text in said)


def test_the_edition_does_not_depend_on_the_shards(old_run: Run, tmp_path: Path) -> None:
    run = copy(old_run, tmp_path)
    generate(run, GenerateOptions(shard=100, rare_below=3, edition="1.0"), workers=1)
    assert table(run).equals(table(old_run))


def test_the_made_up_world_is_asked_about_as_often_as_the_paper_asks(tmp_path: Path) -> None:
    """Every template with a thousandth of the questions in Table 14 or more has a third to three times its share."""
    run = made_up(tmp_path, 40, 1)
    counts = {
        name: tally.kept for name, tally in generate(run, GenerateOptions(rare_below=1, edition="1.0"), 1).items()
    }
    paper = {template.name: template.published or 0 for template in FIRST.templates}
    scale = sum(paper.values()) / sum(counts.values())
    often = {name: counts[name] * scale / n for name, n in paper.items() if n > sum(paper.values()) / 1000}
    assert len(often) == 15
    assert {name: round(ratio, 2) for name, ratio in often.items() if not 1 / 3 < ratio < 3} == {}


def test_words_are_those_of_the_vocabulary() -> None:
    assert all(name in WORDS.object_at for name in FIRST.unbanned_objects)


@pytest.mark.parametrize(
    ("entry", "asked_first"),
    [
        ("", True),
        ("phone 0-2 unseen", True),
        ("phone 2-3 unseen", False),
        ("phone 5 unseen", False),
        ("phone 5", False),
    ],
)
def test_when_an_object_was_touched_is_asked_where_its_entries_agree(entry: str, asked_first: bool) -> None:
    """The printed program looks for the object among those of a frame, which also lists what is not visible."""
    text = f"video A\nframes 0 1 2 3 4 5\nphone 1: touching\n{entry}\naction c154 3 4"
    for edition, asked in ((FIRST, asked_first), (SECOND, True)):
        found = rows.plain(rows.generated(facts(text), 0, edition=edition), 1)[0]
        direct = [q for q in found if q.template == "objTime" and q.things[0].kind == t.DIRECT]
        assert [q.answer for q in direct if q.deeds[0].kind == t.DIRECT] == ["before"] * asked
