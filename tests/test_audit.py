"""The audit: guessers on tables small enough to check by eye, and a model that learns what can be learnt."""

from pathlib import Path

import msgspec
import numpy as np
import polars as pl
import pytest

from conftest import copy
from questree.benchmarks.agqa.editions import SECOND
from questree.benchmarks.agqa.templates import TEMPLATES
from questree.cli.stages import audit as command
from questree.faults import BadInput
from questree.stages.audit.audited import AuditOptions
from questree.stages.audit.guesses import (
    KEY,
    MODEL,
    TYPE,
    GuessScore,
    Measure,
    duplicates,
    guess_types,
    key_measures,
)
from questree.stages.audit.ngrams import BUCKETS, grams, train
from questree.stages.audit.plots import first_words, stacked
from questree.stages.audit.videos import audit, content_keys, types_of
from questree.stages.balance.levelling import BalanceOptions
from questree.stages.balance.rounds import balance
from questree.stages.template_columns import TemplateColumns
from questree.tables.questions import QUESTIONS
from questree.tables.run import Run

KNOWN, TYPES = TemplateColumns(SECOND.by_code), types_of(SECOND.by_code)
CODE = {template.name: at for at, template in enumerate(TEMPLATES)}
EXISTS, WHAT = CODE["objExists"], CODE["objWhat"]


def counts(*rows: tuple[int, int, int, bool, int]) -> pl.DataFrame:
    """key, template, answer, test, questions; all of them selected."""
    table = pl.DataFrame(rows, orient="row", schema=["key", "template", "answer", "test", "before"])
    return table.with_columns(after="before")


TABLE = counts(
    (1, EXISTS, 0, False, 6),  # train: key 1 says 0, key 2 says 1; over all 0 leads by 7 to 4
    (1, EXISTS, 1, False, 1),
    (2, EXISTS, 0, False, 1),
    (2, EXISTS, 1, False, 3),
    (1, EXISTS, 0, True, 2),
    (2, EXISTS, 1, True, 5),
    (3, EXISTS, 0, True, 1),  # a key train does not have
)


def found(measures: list[Measure], type: str = "all") -> GuessScore:
    return next(measure.after for measure in measures if measure.type == type)


def test_the_most_likely_answer_of_a_type_is_that_of_train() -> None:
    measures = list(guess_types(TABLE, TYPES))
    assert found(measures) == GuessScore(3 / 8, 8)  # 0 everywhere: right for keys 1 and 3
    assert found(measures, "structure: verify") == GuessScore(3 / 8, 8)
    assert {measure.name for measure in measures} == {TYPE}


def test_the_most_likely_answer_of_a_key_falls_back_to_the_template() -> None:
    measures, _ = key_measures([TABLE], TABLE, TYPES)
    assert found(measures) == GuessScore(1.0, 8)
    assert {measure.name for measure in measures} == {KEY}
    apart = [TABLE.filter(key=key) for key in (1, 2, 3)]
    assert key_measures(apart, TABLE, TYPES) == key_measures([TABLE], TABLE, TYPES)


def test_nothing_is_scored_without_training_questions() -> None:
    assert key_measures([TABLE.filter("test")], TABLE.filter("test"), TYPES)[0] == []


def test_entropy_is_that_of_the_answers_of_a_key() -> None:
    even = counts((1, EXISTS, 0, True, 4), (1, EXISTS, 1, True, 4), (2, EXISTS, 0, True, 8))
    assert found(key_measures([even], even, TYPES)[1]) == GuessScore(0.5, 16)  # one bit for half of the questions


def test_an_open_key_is_the_same_before_and_after_an_action() -> None:
    rows = [dict.fromkeys(QUESTIONS.columns, 0) | {"time": time} for time in (1 + 256 * 7, 2 + 256 * 7)]
    table = QUESTIONS.frame(pl.DataFrame(rows))

    def same(template: str) -> bool:
        keys = content_keys(table.with_columns(template=pl.lit(CODE[template], pl.UInt8)), KNOWN)
        return bool(keys[0] == keys[1])

    assert same("objWhat") and same("actWhatAfterAll") and not same("objExists")


def test_grams_are_words_pairs_and_triples_without_case_and_punctuation() -> None:
    one = grams(pl.Series(["Was it a bed?", "was IT, a bed", "bed"]))
    assert np.diff(one.start).tolist() == [9, 9, 1]  # 4 words, 3 pairs, 2 triples
    assert one.gram[:9].tolist() == one.gram[9:18].tolist()
    assert one.gram[18] in one.gram[:9]
    assert (one.gram >= 0).all() and one.gram.max() < BUCKETS
    assert len(grams(pl.Series([], dtype=pl.String)).gram) == 0


def test_the_model_learns_a_word_that_gives_the_answer_away() -> None:
    rng = np.random.default_rng(0)
    words, answer = rng.choice(["door", "bed", "cup"], 600), rng.integers(0, 2, 600)
    said = [f"Is the {word} {('shut', 'open')[yes]} today?" for word, yes in zip(words, answer, strict=True)]
    texts = pl.Series(said)
    kind = np.zeros(600, np.int64)
    model = train(grams(texts[:400]), answer[:400], kind[:400], np.arange(400))
    assert (model.predict(grams(texts[400:]), kind[400:]) == answer[400:]).all()
    assert model.predict(grams(texts[:1]), np.array([3])).tolist() == [-1]  # a kind it has never seen


def test_the_model_cannot_learn_what_is_balanced() -> None:
    rng = np.random.default_rng(0)
    texts = pl.Series([f"Is the {word} there?" for word in rng.choice(["door", "bed", "cup"], 4000)])
    answer, kind = rng.integers(0, 2, 4000), np.zeros(4000, np.int64)
    model = train(grams(texts[:2000]), answer[:2000], kind[:2000], np.arange(2000))
    right = (model.predict(grams(texts[2000:]), kind[2000:]) == answer[2000:]).mean()
    assert 0.45 < right < 0.55


def test_duplicates_are_texts_of_train_in_test() -> None:
    rows = [("a", 1, False), ("a", 0, False), ("b", 1, False), ("a", 1, True), ("b", 0, True), ("c", 1, True)]
    said = pl.DataFrame(rows, orient="row", schema=["question", "answer", "test"])
    text, both = duplicates({"before": said, "after": said})
    assert text.after == GuessScore(2 / 3, 3) and both.after == GuessScore(1 / 3, 3)


@pytest.fixture(scope="module")
def audited(asked_run: Run, tmp_path_factory: pytest.TempPathFactory) -> Run:
    run = copy(asked_run, tmp_path_factory.mktemp("audited"))
    balance(run, BalanceOptions(), workers=1)
    audit(run, AuditOptions(), workers=1)
    return run


def test_balancing_makes_answers_harder_to_guess(audited: Run) -> None:
    note = msgspec.json.decode((audited.folder / "audit" / "audit.json").read_bytes())
    bits = {m["type"]: m for m in note["measures"] if "entropy" in m["name"]}
    assert bits["answers: binary"]["after"]["value"] == 1.0  # both answers equally often
    assert bits["answers: binary"]["before"]["value"] < 0.5
    assert bits["answers: open"]["after"]["value"] > bits["answers: open"]["before"]["value"]
    assert {m["name"] for m in note["measures"]} >= {TYPE, KEY, MODEL}


@pytest.mark.processes
def test_the_audit_is_the_same_every_time(audited: Run, tmp_path: Path) -> None:
    run = copy(audited, tmp_path)
    before = (audited.folder / "audit" / "audit.json").read_bytes()
    audit(run, AuditOptions(), workers=3)
    assert (run.folder / "audit" / "audit.json").read_bytes() == before


def test_few_questions_are_looked_at_if_asked_for(audited: Run, tmp_path: Path) -> None:
    found = audit(copy(audited, tmp_path), AuditOptions(most=1000), workers=1)
    n = next(m.before.n for m in found.measures if m.name == MODEL and m.type == "all")
    assert 800 < n < 1200


def test_plots_are_drawn_with_their_numbers(audited: Run) -> None:
    for name in ("answers", "structures", "first_words"):
        text = (audited.folder / "audit" / f"{name}.svg").read_text()
        assert text.startswith("<svg") and text.count("<title>") > 5
    bars = stacked("Two", [("one", [("a & b", 0.75)])])
    assert 'width="480.0"' in bars and "a &amp; b: 75.0 %" in bars and "all others" in bars
    rings = first_words({"before": pl.Series(["What is it?", "What was it?", "Did they?", "Did he?"])})
    assert "<title>what: 2</title>" in rings and "<title>is: 1</title>" in rings


def test_the_command_fails_above_a_limit(audited: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = copy(audited, tmp_path)
    command(run.folder, fail_above=100, workers=1)
    out = capsys.readouterr().out
    assert MODEL in out and "n after" in out and "template: objWhat" not in out
    with pytest.raises(BadInput, match="more than 1 %"):
        command(run.folder, fail_above=1, workers=1, quiet=True)


def test_answers_of_one_kind_share_their_numbers() -> None:
    kind = KNOWN.answer_kind
    assert kind[EXISTS] == kind[CODE["andObjRelExists"]] != kind[WHAT]
