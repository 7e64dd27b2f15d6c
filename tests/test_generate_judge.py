"""The columnar generator yields what the naive one does: questions, answers, steps, flags, effects and rejections."""

from collections import Counter
from functools import cache
from random import Random

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from judges import naive_generator as naive
from judges.facts import WORDS, Video, read
from judges.naive_references import Deed, replaceable
from questree.benchmarks.agqa import templates as t
from questree.benchmarks.agqa.editions import EDITIONS
from questree.benchmarks.agqa.held_out import FLAGS
from questree.domains.video import videos
from questree.notation import agqa
from questree.readings.answer import answer, position
from questree.readings.categories import steps
from questree.stages.generate.word_columns import may_be_indirect
from questree.tables.facts import Facts
from questree.terms import Node, Slot, Term, Word
from worlds import generator_rows as rows
from worlds import generator_worlds as chance
from worlds.small import facts

NEVER_FIRES = {(name, t.STEPS) for name in naive.TEMPLATES["2.0"] if naive.most_steps(name) <= 8} | {
    # the window's first (last) object is the choice between two of its objects
    ("objFirstChoose", t.NO_ANSWER),
    ("objLastChoose", t.NO_ANSWER),
    # nothing that ends before the first time an action is done is this action
    ("actWhatBefore", t.TIME_ANSWER),
    # what is done after the first time of an action is, if nothing else, this action
    ("actWhatAfterAll", t.READINGS),
    # AGQA has no class for everything else
    ("objExists", t.UNNAMED),
    ("objTime", t.UNNAMED),
}

UNSHOWN = {
    *("objExists", "objRelExists", "relExists", "andObjRelExists", "xorObjRelExists", "objWhat", "objWhatChoose"),
    *("objWhatGeneral", "relTime", "objTime"),
    *(f"obj{end}{form}" for end in ("First", "Last") for form in ("", "Choose", "Verify")),
}


@cache
def world() -> tuple[Facts, list[Video]]:
    drawn = [*chance.world(seed=2, videos=36), *chance.repeating(seed=2, videos=16), *chance.ragged(seed=2, videos=24)]
    found = facts("\n".join([*drawn, *chance.RARE_CASES]))
    return found, read(found)


@cache
def judged(rare_below: int) -> tuple[list[Counter[naive.Question]], Counter[tuple[str, str]]]:
    return naive.generate(world()[1], rare_below)


@cache
def ours(rare_below: int) -> tuple[rows.Generated, list[list[naive.Question]]]:
    found = rows.generated(world()[0], rare_below)
    return found, rows.plain(found, len(world()[1]))


@cache
def programs() -> list[list[Node]]:
    return [list(map(rows.program, asked)) for asked in ours(0)[1]]


def difference(wanted: list[Counter[naive.Question]], got: list[list[naive.Question]]) -> list[str]:
    """The first question per template that one of them lacks, to be read by a person."""
    found: dict[tuple[str, str], str] = {}
    for video, (want, have) in enumerate(zip(wanted, got, strict=True)):
        for word, only in (("missing", want - Counter(have)), ("extra", Counter(have) - want)):
            for question in only:
                found.setdefault((word, question.template), f"{word} in video {video}: {question}")
    return list(found.values())


def test_every_template_has_the_rules_the_description_gives_it() -> None:
    assert [template.name for template in t.TEMPLATES] == naive.TEMPLATES["2.0"]
    for template in t.TEMPLATES:
        assert {*template.rules, t.STEPS} == {*naive.RULES_OF[template.name], t.STEPS}, template.name
        assert len(set(template.rules)) == len(template.rules), template.name


@pytest.mark.parametrize("rare_below", [0, 3])
def test_the_questions_are_those_of_the_naive_generator(rare_below: int) -> None:
    assert difference(judged(rare_below)[0], ours(rare_below)[1]) == []


@pytest.mark.parametrize("rare_below", [0, 3])
def test_candidates_are_rejected_for_the_first_rule_they_fail(rare_below: int) -> None:
    assert ours(rare_below)[0].rejected == judged(rare_below)[1]


def test_kept_questions_are_counted() -> None:
    asked = Counter(question.template for video in ours(0)[1] for question in video)
    assert {name: tally.kept for name, tally in ours(0)[0].counts.items()} == asked


def test_the_worlds_are_rich_no_template_is_empty_and_every_rule_fires() -> None:
    asked = {question for video in judged(0)[0] for question in video}
    assert {question.template for question in asked} == set(naive.TEMPLATES["2.0"])
    fired = judged(0)[1] + judged(3)[1]
    every = {(name, rule) for name in naive.TEMPLATES["2.0"] for rule in {*naive.RULES_OF[name], t.STEPS}}
    every |= {(name, t.READINGS) for name in naive.TEMPLATES["2.0"] if naive.SHAPES[name].times}
    every |= {(name, t.UNSHOWN) for name in UNSHOWN}
    every |= {(name, t.READINGS) for name in ("actLongest", "actShortest")}
    assert every - set(fired) == NEVER_FIRES
    for name in naive.TEMPLATES["2.0"]:
        shape = naive.SHAPES[name]
        own = [question for question in asked if question.template == name]
        assert {question.time.kind for question in own} == set(shape.times or [t.ALL])
        assert {thing.kind for question in own for thing in question.things} == set(
            shape.objects or [t.DIRECT][: shape.slots]
        )
        deeds = {deed.kind for question in own for deed in (*question.deeds, *question.time.deeds)}
        assert (t.INDIRECT in deeds) == shape.second_pass


def test_the_worlds_are_rich_in_flags_and_effects() -> None:
    asked = {question for video in judged(0)[0] for question in video}
    assert {flag for question in asked for flag in question.flags} == set(FLAGS) - {"i_rel"}  # none in edition 2.0
    second_pass = [q for q in asked if any(deed.kind == t.INDIRECT for deed in (*q.deeds, *q.time.deeds))]
    assert {flag for question in second_pass for flag in question.flags} == set(FLAGS) - {"i_rel", "i_act"}
    for name in ("objFirstChoose", "objLastChoose"):
        effects = {question.effect for question in second_pass if question.template == name}
        assert effects == {"same_ans", "diff_ans", "no_direct"}


def test_what_supports_an_order_counts_as_a_held_out_action() -> None:
    """A released question: walking (through a doorway) before or after taking food has the sequencing flag."""
    asked = {question for video in ours(0)[1] for question in video if question.template == "relTime"}
    walking = [q for q in asked if (q.relation, q.deeds[0]) == ("v029", Deed(t.DIRECT, "c063"))]
    assert [(q.answer, q.steps, q.flags) for q in walking] == [("after", 5, ("nc_seq",))]


@settings(max_examples=50, derandomize=True, deadline=None, database=None)
@given(st.randoms(use_true_random=False), st.sampled_from([0, 2]))
def test_any_video_gives_the_questions_of_the_naive_generator(random: Random, rare_below: int) -> None:
    text = chance.video(random, 0, sizes=(6, 7, 5, 8))
    tables = facts(text)
    wanted, rejected = naive.generate(read(tables), rare_below)
    found = rows.generated(tables, rare_below)
    assert (text, difference(wanted, rows.plain(found, 1))) == (text, [])
    assert (text, found.rejected) == (text, rejected)


def test_nothing_depends_on_the_chunk() -> None:
    few = world()[0].between(30, 45)
    whole, *others = (rows.generated(few, 3, per_chunk, cap=2) for per_chunk in (100, 7, 2, 1))
    for other in others:
        assert other.questions.sort("video", "number").equals(whole.questions.sort("video", "number"))
        assert all(other.sides[name].equals(side) for name, side in whole.sides.items())
        assert other.counts == whole.counts


def test_the_cap_keeps_so_many_references_of_an_object_and_kind() -> None:
    group = ["video", "kind", "object"]
    every = ours(3)[0].sides["references"]
    assert every.group_by(group).len()["len"].max() == 5
    kept = [rows.generated(world()[0], 3, cap=cap).sides["references"] for cap in (1, 2, 3, 4, 5)]
    for cap, capped in enumerate(kept, start=1):
        sizes = every.group_by(group).len().with_columns(pl.col("len").clip(upper_bound=cap))
        assert capped.group_by(group).len().sort(group).equals(sizes.sort(group))
        assert capped.join(every, on=every.columns, how="anti").is_empty()
    assert kept[4].equals(every)
    assert kept[0].join(kept[1], on=every.columns, how="anti").is_empty()  # a larger cap only adds


def test_a_capped_question_is_one_of_all() -> None:
    capped = rows.plain(rows.generated(world()[0], 3, cap=1), len(world()[1]))
    for few, every in zip(capped, ours(3)[1], strict=True):
        assert not Counter(few) - Counter(every)
    assert sum(map(len, capped)) < sum(map(len, ours(3)[1]))


def test_no_program_occurs_twice_in_a_video() -> None:
    for nodes in programs():
        assert [node for node, count in Counter(nodes).items() if count > 1] == []


def test_no_released_program_string_occurs_twice_in_a_video() -> None:
    for asked in ours(3)[1][-15:]:
        strings = Counter(agqa.write(rows.program(question), WORDS) for question in asked)
        assert [text for text, count in strings.items() if count > 1] == []


def lifted(node: Node) -> tuple[Node, list[Word]]:
    """The program with a slot for every word, so that many of one shape are answered together."""
    words: list[Word] = []

    def lift(term: Term) -> Term:
        if isinstance(term, Node):
            return Node(term.op, tuple(lift(arg) for arg in term.args))
        assert isinstance(term, Word)
        words.append(term)
        return Slot(f"w{len(words)}", term.kind)

    shape = lift(node)
    assert isinstance(shape, Node)
    return shape, words


def test_the_plain_operators_give_the_same_answer_and_the_same_steps() -> None:
    columnar = videos(world()[0], WORDS)
    shapes: dict[Node, list[tuple[int, naive.Question, list[Word]]]] = {}
    for video, asked in enumerate(ours(0)[1]):
        for question, node in zip(asked, programs()[video], strict=True):
            assert steps(node) == question.steps, (video, question)
            shape, words = lifted(node)
            shapes.setdefault(shape, []).append((video, question, words))
    for shape, members in shapes.items():
        lists = zip(*([position(word, WORDS) for word in words] for _, _, words in members), strict=True)
        columns = {f"w{at}": np.array(column) for at, column in enumerate(lists, start=1)}
        found = answer(shape, columnar.ask([video for video, _, _ in members]), columns)
        for value, (video, question, _) in zip(found, members, strict=True):
            assert value >= 0 and rows.answer(shape, value) == question.answer, (video, question)


def test_a_reference_may_stand_for_the_noun_of_these_actions() -> None:
    for edition in EDITIONS.values():
        mine = [action.id for action in WORDS.actions if not action.merged and replaceable(action.id, edition.name)]
        known = np.flatnonzero(may_be_indirect(WORDS, edition))
        assert mine == [WORDS.actions[at].id for at in known if not WORDS.actions[at].merged]
        assert "c076" in mine and "c044" not in mine
        assert ("c102" in mine) == edition.places_named, "tidied up with the first thing they went behind"
