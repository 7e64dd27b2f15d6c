"""Predicates over programs: evaluated by columns, they say what a walk over each program says."""

import numpy as np
import pytest

from questree.benchmarks.agqa.held_out import INDIRECT, NOVEL
from questree.domains.video import VIDEO
from questree.stages.questions import Bank, Question, Shard
from questree.stages.split.grammar import Wrong, read
from questree.stages.split.language import of_videos
from questree.stages.split.rows import QuestionRows, Truth, video_rows
from questree.tables.run import Run
from questree.terms import Node, Word, walk
from questree.vocabulary.load import default

WORDS = default()


@pytest.fixture(scope="module")
def shard(asked_run: Run) -> Shard:
    bank = Bank(asked_run)
    return bank.shard(bank.folders()[0])


@pytest.fixture(scope="module")
def rows(shard: Shard) -> QuestionRows:
    return video_rows(shard)


@pytest.fixture(scope="module")
def sample(shard: Shard, rows: QuestionRows) -> dict[int, Question]:
    """A question of every shape, and some more."""
    firsts = np.unique(rows.code, return_index=True)[1]
    more = np.random.default_rng(1).choice(len(rows), 100)
    return {int(at): shard.question(int(at)) for at in np.append(firsts, more)}


def holds(text: str, rows: QuestionRows) -> Truth:
    return read(text, of_videos(WORDS, (2,) * 27)).holds(rows)


def nodes(question: Question, op: str) -> list[Node]:
    return [node for node in walk(question.program) if isinstance(node, Node) and node.op.name == op]


def test_has_finds_the_operators_of_the_program(rows: QuestionRows, sample: dict[int, Question]) -> None:
    seen = set()
    for op in VIDEO.ops:
        found = holds(f"has({op})", rows)
        for at, question in sample.items():
            assert found[at] == bool(nodes(question, op)), (op, question.text)
        seen |= {op} if found.any() else set()
    assert {"before", "between", "first", "to_action", "longest", "within", "whole"} <= seen


def test_over_and_last_say_what_an_operator_is_applied_to_and_which_gives_the_answer(
    rows: QuestionRows, sample: dict[int, Question]
) -> None:
    before, other, last = (
        holds(text, rows) for text in ("over(within, before)", "over(first, ~whole)", "last(within)")
    )
    assert before.any() and last.any() and not last.all()

    def below(question: Question, op: str) -> list[set[str]]:
        return [{arg.op.name for arg in node.args if isinstance(arg, Node)} for node in nodes(question, op)]

    for at, question in sample.items():
        assert before[at] == any("before" in own for own in below(question, "within"))
        assert other[at] == any(own - {"whole"} for own in below(question, "first"))
        assert last[at] == (question.program.op.name == "within")


@pytest.mark.parametrize("word", ["holding", "touching", "behind"])
def test_has_finds_the_words_an_operator_is_given(rows: QuestionRows, sample: dict[int, Question], word: str) -> None:
    for op in ("interaction", "first", "objects"):
        found = holds(f'has({op}, relation="{word}")', rows)
        for at, question in sample.items():
            named = [arg for node in nodes(question, op) for arg in node.args if isinstance(arg, Word)]
            assert found[at] == any(arg.name == word for arg in named), (op, question.text)


def test_a_reference_stands_for_what_it_refers_to(rows: QuestionRows, sample: dict[int, Question]) -> None:
    """ "Before the longest action" is before standing up, if that is the longest."""
    for at, question in sample.items():
        for node in nodes(question, "before"):
            meant = WORDS.actions[(question.row["time"] >> 8 & 255) - 1].id
            assert holds(f'has(before, action="{meant}")', rows)[at]
            other = "c000" if meant != "c000" else "c001"
            assert not holds(f'has(before, action="{other}")', rows)[at]
            if not isinstance(node.args[0], Word):
                return
    pytest.fail("no reference in the sample")


def test_and_or_not_bind_as_in_python(rows: QuestionRows) -> None:
    a, b, c = (holds(text, rows) for text in ("novel", "indirect", "has(first)"))
    assert (holds("novel | indirect & ~has(first)", rows) == (a | (b & ~c))).all()
    assert (holds("(novel | indirect) & ~has(first)", rows) == ((a | b) & ~c)).all()
    assert (holds("~novel & indirect", rows) == (~a & b)).all()


def test_columns_can_be_asked_for(rows: QuestionRows) -> None:
    table = rows.questions
    assert (holds("novel", rows) == ((table["flags"].to_numpy() & NOVEL) > 0)).all()
    assert (holds("indirect", rows) == ((table["flags"].to_numpy() & INDIRECT) > 0)).all()
    assert (holds("steps >= 4", rows) == (table["steps"].to_numpy() >= 4)).all()
    assert (holds("template(objWhat, objExists)", rows) == np.isin(table["template"].to_numpy(), [0, 6])).all()
    assert (holds("structure(logic)", rows) == np.isin(table["template"].to_numpy(), [3, 4])).all()
    assert (holds("time(while)", rows) == (table["time"].to_numpy() % 256 == 3)).all()
    assert (holds("more_steps", rows) == (table["steps"].to_numpy() > 2)).all()
    yes = holds("answer(yes)", rows)
    assert yes.any() and (table.filter(yes)["answer"] == 1).all()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("has(befor)", "no operator 'befor'; choose from before"),
        ('has(before, action="standing")', "no action 'standing'; choose from standing up"),
        ('has(before, verb="standing")', "no kind of word 'verb'; choose from action, object, relation"),
        ("template(objWhy)", "no template 'objWhy'; choose from objExists"),
        ("has(before", "at 10: expected ')', got 'the end'"),
        ("novel novel", "at 6: expected & or |"),
        ("nowel", "unknown 'nowel'; choose from has, uses"),
        ("steps > many", "steps are compared with a number"),
        ("uses()", "expected a word in uses"),
        ("", "unknown 'the end'"),
    ],
)
def test_a_wrong_predicate_says_what_was_wanted(text: str, said: str) -> None:
    with pytest.raises(Wrong) as wrong:
        read(text, of_videos(WORDS))
    assert said in str(wrong.value)


def test_a_predicate_is_spelled_as_it_is_read() -> None:
    text = '((has(before, action="standing up") & ~has(first)) | (steps > 4))'
    assert str(read(text, of_videos(WORDS))) == text
