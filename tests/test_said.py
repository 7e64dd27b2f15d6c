"""Free text read as answers: hand-written cases, half of them by people who never saw the rules."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from questree.said.lexicon import normal, possible_answers, read_synonyms
from questree.said.reading import REASONS, ReadAnswer, Reader
from questree.vocabulary import default
from worlds.commands import questree

CASES = Path(__file__).parent / "data/said"
READER = Reader(possible_answers(default()), default())
MISSED = {"h186", "h231", "k264"}


def cases(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (CASES / name).read_text("utf-8").splitlines()]


def read(case: dict[str, Any]) -> ReadAnswer:
    return READER.read(case["raw"], case["question"], case.get("answer_type") or "", case.get("options") or ())


def test_every_case_the_rules_were_written_from_is_read() -> None:
    found = {case["id"]: (read(case), case) for case in cases("seen.jsonl")}
    wrong = {id for id, (got, case) in found.items() if got.answer != case["answer"]}
    wrong |= {id for id, (got, case) in found.items() if got.answer is None and got.reason != case.get("reason")}
    assert len(found) > 1000 and wrong <= MISSED


def test_cases_the_rules_were_not_written_from() -> None:
    counted = Counter[str]()
    for case in cases("unseen.jsonl"):
        got = read(case).answer
        counted["read" if got is not None else "unread"] += 1
        counted["right"] += got is not None and got == case["answer"]
        counted["readable"] += case["answer"] is not None
    assert counted["right"] >= 0.995 * counted["read"]
    assert counted["right"] >= 0.97 * counted["readable"]


def test_every_case_that_was_unseen_once_is_read() -> None:
    """Written before its author opened the rules; docs/answers.md has what was read of it at first sight."""
    found = [(read(case), case) for case in cases("once_unseen.jsonl")]
    wrong = [case["id"] for got, case in found if (got.answer, got.reason) != (case["answer"], case.get("reason", ""))]
    assert len(found) == 156 and wrong == []


def test_a_word_of_the_vocabulary_that_is_no_answer_of_the_data_is_read() -> None:
    reader = Reader(["yes", "no", "phone", "opening a door"], default())
    doing = "What did they do first?"
    assert reader.read("I think holding a pillow", doing).answer == "holding a pillow"
    assert reader.read("They opened the door, then held a pillow.", doing).answer == "opening a door"
    assert reader.read("It looks like a pillow to me.", "What were they holding?").answer == "pillow"
    assert reader.read("I think they danced", doing) == ReadAnswer(None, "none", "")


HOLD, ORDER = "Did they hold a phone?", "Did they sit down before or after opening a door?"
WHAT, WHICH = "What were they holding?", "Which was it, a cup or a bag?"
EXISTS, FIRST = "Does a blanket exist in the video?", "Which did they do first, throwing a pillow or opening a box?"
PROMISED = [  # question, text, answer or reason: what reading must do at least
    *((HOLD, said, "yes") for said in (
        "<answer>yes</answer>", r"\boxed{yes}", "<think>...</think> Yes", "I think yes", "Based on the video, yes.",
        "True", "Yep", '{"answer": "yes"}', "**Yes**", "YES", "ＹＥＳ", "уes", "sí",
        "<|im_start|>assistant\nYes<|im_end|>",
    )),
    *((HOLD, said, "no") for said in (
        "False", "They didn't.", "The phone is on the table.\nAnswer: no", "nein", "No phone was held.",
        "At first it looks like yes, but it is a cup. So no.",
    )),
    ("Were they holding a phone?", "They were holding the phone.", "yes"),
    (WHAT, "They were holding the phone.", "phone"),
    *((WHAT, said, answer) for said, answer in {
        "phones": "phone", "cell phone": "phone", "TV": "television", "fridge": "refrigerator", "cabinet": "closet",
        "plate": "dish", "shirt": "clothes",
    }.items()),
    (ORDER, "It happened before.", "before"),
    (ORDER, "B. before", "before"),
    *((WHICH, said, "bag") for said in ("B", "(B)", "Option B", "B. bag")),
    (HOLD, "No idea.", "unsure"),
    (HOLD, "I cannot tell", "unsure"),
    (HOLD, "I'm sorry, I can't help with that.", "refused"),
    (HOLD, "", "none"),
    (HOLD, "yes and no", "both"),
    (WHICH, "a cup, a bag", "both"),
    (WHICH, "cup or bag", "both"),
    (WHAT, "手机", "foreign"),
    (EXISTS, "A blanket does exist in the video.", "yes"),
    (EXISTS, "A blanket exists.", "yes"),
    (EXISTS, "No blanket can be seen.", "no"),
    (EXISTS, "The blanket does not exist.", "no"),
    (EXISTS, "A blanket.", "none"),
    (HOLD, "A phone is visible.", "none"),
    (FIRST, "They threw the pillow first.", "throwing a pillow somewhere"),
    ("What were they doing for the longest time?", "They were sitting on a chair.", "sitting in a chair"),
    ("What did the person spend the most time on?", "<answer>holding a bag</answer>", "holding a bag"),
]  # fmt: skip


@pytest.mark.parametrize(("question", "said", "meaning"), PROMISED)
def test_what_reading_promises(question: str, said: str, meaning: str) -> None:
    got = READER.read(said, question)
    assert (got.reason if got.answer is None else got.answer) == meaning


SAID_OTHERWISE = [  # a reader found that these were once read as what they do not say
    ("Did they interact with some food before standing up?", "They did interact with some food after standing up."),
    ("Did they touch a table after holding a phone?", "They touched a chair after holding a phone."),
    ("Did they hold a phone before standing up?", "They held a phone, but after standing up."),
    ("Did they go in front of a mirror before standing up?", "They went behind the mirror before standing up."),
    ("Was the person going from standing to sitting?", "They went from sitting to standing."),
    ("Are there more dogs than cats?", "There are fewer dogs than cats."),
    ("Did they hold a phone?", "Someone else was holding a phone."),
    ("Did they hold a phone?", "They almost held a phone."),
    ("Did they hold a phone?", "The phone was not on the table."),
    ("Did they touch a table after holding a phone?", "A phone was touched."),
    ("Did they touch a dish before opening the refrigerator?", "No dish was touched after opening the refrigerator."),
    ("Does a blanket exist before holding a phone?", "A blanket exists after holding a phone."),
    ("Does a blanket exist in the video?", "A pillow exists in the video."),
    ("Did they hold a phone?", "They refused to hold a phone."),
    ("Did they hold a phone?", "I doubt that they held a phone."),
    ("Did they spend more time holding a bag or watching television?", "They spent less time holding a bag."),
    ("Which did they touch first, a blanket or a pillow?", "The pillow was touched second."),
    ("Was it a phone or a bag?", "Anything but the phone."),
    ("How many cups are there?", "I count 1, 2, 3, 4 cups."),
    ("How many cups are there?", "at least two"),
    ("How many cups are there?", "fewer than 3"),
]


@pytest.mark.parametrize(("question", "said"), SAID_OTHERWISE)
def test_what_a_sentence_does_not_say_is_not_read(question: str, said: str) -> None:
    assert READER.read(said, question).answer is None


def test_short_answers_are_never_read_worse_than_by_the_vqa_evaluation() -> None:
    """Of all cases of at most three words: whatever `vqa` reads right is read right."""
    known = {normal(answer): answer for answer in reversed(READER.answers)}
    short = [case for name in ("seen.jsonl", "unseen.jsonl") for case in cases(name) if len(case["raw"].split()) <= 3]
    by_vqa = [case for case in short if case["answer"] and known.get(normal(case["raw"])) == case["answer"]]
    assert len(short) > 300 and len(by_vqa) > 50
    assert [case["id"] for case in by_vqa if read(case).answer != case["answer"]] == []


def test_a_short_answer_is_read_as_the_vqa_evaluation_compares_it() -> None:
    for answer in READER.answers:
        for said in (answer, answer.upper(), f"A {answer}.", f"the {answer}!"):
            if normal(said) == normal(answer):
                assert READER.read(said).answer in {each for each in READER.answers if normal(each) == normal(answer)}


@pytest.mark.parametrize(
    ("said", "question", "answer"),
    [
        (
            "They opened the door before holding the phone.",
            "Before or after opening a door: when did they hold a phone?",
            "after",
        ),
        ("Holding the phone came after.", "When were they holding a phone, before or after opening a door?", "after"),
        ("A blanket is visible.", "Is there a blanket before standing up?", "yes"),
        ("A blanket exists.", "Is there a blanket before standing up?", "yes"),
        ("They are there.", "Is the person there while cutting the bread?", "yes"),
        ("They are not there.", "Is the person there while cutting the bread?", "no"),
        ("They are there.", "Did they sit down before standing up?", None),
        ("No blanket is visible.", "Is there a blanket before standing up?", "no"),
        ("A blanket is visible.", "Is there a blanket that is near a bed?", None),
    ],
)
def test_answers_to_the_newer_wordings_are_read(said: str, question: str, answer: str | None) -> None:
    assert READER.read(said, question).answer == answer


@given(st.text(max_size=60), st.sampled_from(["", "yes_no", "choice", "object", "action", "time", "count"]))
def test_no_text_is_too_strange(text: str, kind: str) -> None:
    got = READER.read(text, "Did they hold a phone before or after opening a door?", kind)
    assert (got.answer is None) == (got.reason in REASONS) and (got.answer is None) == (got.rule == "")


@pytest.mark.parametrize(("said", "answer"), [("blower", "phone"), ("jo", "yes"), ("phone", "phone")])
def test_own_synonyms_add_to_the_shipped_ones(tmp_path: Path, said: str, answer: str) -> None:
    (tmp_path / "own.toml").write_text('[words]\nphone = ["blower"]\n[yes]\nda = ["jo"]\n')
    reader = Reader(possible_answers(default()), default(), read_synonyms(tmp_path / "own.toml"))
    assert (
        reader.read(said, "Did they hold a phone?" if answer == "yes" else "What were they holding?").answer == answer
    )
    assert reader.read("fridge", "What were they opening?").answer == "refrigerator"


def test_the_command_writes_answers_reasons_and_rules(tmp_path: Path) -> None:
    rows = [
        {"id": 1, "question": "Did they hold a phone?", "raw": "<think>Hm.</think> **Yes**, they did."},
        {"id": "b", "question": "Was it a cup or a bag?", "raw": "B", "options": ["a cup", "a bag"]},
        {"id": "c", "question": "What did they open?", "raw": "No idea."},
    ]
    (tmp_path / "raw.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    questree("read", "raw.jsonl", "--out", "read.jsonl", folder=tmp_path)
    assert [json.loads(line) for line in (tmp_path / "read.jsonl").read_text().splitlines()] == [
        {"id": 1, "answer": "yes", "reason": None, "rule": "yes or no"},
        {"id": "b", "answer": "bag", "reason": None, "rule": "letter"},
        {"id": "c", "answer": None, "reason": "unsure", "rule": None},
    ]


def test_a_line_that_is_no_answer_is_named(tmp_path: Path) -> None:
    (tmp_path / "raw.jsonl").write_text('{"id": 1, "raw": "yes"}\n{"id": 2}\n')
    failed = questree("read", "raw.jsonl", "--out", "read.jsonl", folder=tmp_path)
    assert "raw.jsonl, line 2: expected {id, question, raw}" in failed.stderr
    assert not (tmp_path / "read.jsonl").exists()
