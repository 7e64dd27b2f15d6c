"""COVR's splits: the released vectors, properties in a language of predicates, draws by seed, proofs that can fail."""

import gzip
import json
import re
import shlex
from collections import Counter
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from cyclopts import CycloptsError

from questree.benchmarks.covr.splits import FEW_SHOT, PROPERTIES, RELEASED, ZERO_SHOT
from questree.cli.app import app
from questree.cli.covr import released_command as command
from questree.cli.stages import split as split_command
from questree.columns.hashing import seeds_of
from questree.faults import BadInput
from questree.notation import covr
from questree.notation.own import show
from questree.sources.covr import read_sides
from questree.stages.split import properties as splits
from questree.stages.split.declared import Split
from questree.stages.split.engine import SplitOptions
from questree.stages.split.grammar import Wrong, read
from questree.stages.split.image_sets import read_split, slug, split_run
from questree.stages.split.language import of_image_rows
from questree.stages.split.lexical import Lexical, count_pairs, drawn_pairs, term_pairs, terms, together
from questree.stages.split.properties import Drawing, of_records, of_shapes
from questree.stages.split.rows import QuestionRows, image_rows
from questree.tables.image_questions import answered
from questree.tables.questions import with_forms, with_programs
from questree.tables.run import Run
from test_pages import commands
from worlds.image_run import image_run, words_folder, write_images
from worlds.splits import proved

PAGE = Path(__file__).parents[1] / "docs" / "covr-splits.md"
DATA = Path(__file__).parent / "data" / "covr"
QUESTIONS = DATA / "splitter_questions.json.gz"
EXPECTED: dict[str, Any] = json.loads(gzip.decompress((DATA / "splitter_expected.json.gz").read_bytes()))
VECTORS = {  # name in the vectors -> ours
    "answer_number": "ANS-NUM",
    "has_compare": "HAS-COMPAR",
    "has_complex_quantifier_scope": "HAS-QUANT-COMPSCOPE",
    "has_group_by": "HAS-GROUPBY",
    "has_logic_and": "HAS-LOGIC-AND",
    "has_num_3": "HAS-NUM-3",
    "has_number": "HAS-NUM",
    "has_quantifier_all": "HAS-QUANT-ALL",
    "rm_v_c": "RM/V/C",
    "tpl_choose_attr": "TPL-CHOOSEATTR",
    "tpl_verify_attribute": "TPL-VERIFYATTR",
    "tpl_verify_count_union_tpl_verify_count_group_by": "TPL-VERIFYCOUNT | TPL-VERIFYCOUNTGROUPBY",
}
QUIRK = {"RM/V/C": {"train": {"train_edge2"}, "val": {"val_edge2"}}}  # rows of a sub-program read in the outer one
SMALL = Lexical(pairs=20, alone=20, together=5)


@pytest.fixture(scope="module")
def released() -> QuestionRows:
    return of_records(read_sides(QUESTIONS))


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return image_run(tmp_path_factory.mktemp("splits") / "run")


def ids(rows: QuestionRows, held: Any, side: str = "") -> set[str]:
    inside = held if not side else held & (rows.questions["side"] == side).to_numpy()
    return set(rows.questions["id"].filter(pl.Series(inside)).to_list())


def holds(text: str, rows: QuestionRows) -> set[str]:
    return ids(rows, read(text, of_image_rows(rows)).holds(rows))


@pytest.mark.parametrize("vector", VECTORS)
def test_a_property_holds_out_the_questions_of_the_vectors(released: QuestionRows, vector: str) -> None:
    name = VECTORS[vector]
    held = splits.named(name, released.position).predicate.holds(released)
    for side in ("train", "val"):
        wanted = set(EXPECTED["splits"][vector][side]["comp"]) - QUIRK.get(name, {}).get(side, set())
        assert ids(released, held, side) == wanted


def test_released_names_are_those_of_the_vectors() -> None:
    assert {vector: RELEASED[name] for vector, name in VECTORS.items()} == {vector: vector for vector in VECTORS}
    assert {*PROPERTIES} < {*RELEASED} and len({*RELEASED.values()}) == len(RELEASED)


def test_shapes_and_terms_are_those_of_the_vectors(released: QuestionRows) -> None:
    at = {name: row for row, name in enumerate(released.questions["id"].to_list())}
    for name, (_, shape) in EXPECTED["program_to_string"].items():
        assert released.shape(released.code[at[name]]).text == shape
    names, question, term = terms(released)
    for name, own in EXPECTED["lexical_terms"].items():
        assert sorted(names[each] for each in term[question == at[name]]) == sorted(own)


def test_drawn_shapes_hold_out_the_questions_of_the_vectors(released: QuestionRows) -> None:
    drawn = set(EXPECTED["state"]["program_2"]["test"])
    held = of_shapes(drawn).holds(released)
    for side in ("train", "val"):
        assert ids(released, held, side) == set(EXPECTED["splits"]["program_2"][side]["comp"])


def test_unordered_pairs_hold_out_the_questions_of_the_vectors_and_the_leaked_ones(released: QuestionRows) -> None:
    state = EXPECTED["state"]["lexical_1_small"]
    held = together([(one, two) for one, two in state["unseen_pairs_ordered"]]).holds(released)
    for side in ("train", "val"):
        assert ids(released, held, side) >= set(EXPECTED["splits"]["lexical_1_small"][side]["comp"])
    extra = ids(released, held, "train") - set(EXPECTED["splits"]["lexical_1_small"]["train"]["comp"])
    assert len(extra) == state["train_leaks_because_of_pair_order"]


def naive_terms(record: Any) -> set[str]:
    """From the sheet, by loops."""
    found: set[str] = set()

    def rows(program: list[Any]) -> None:
        for row in program:
            for argument in row.get("arguments") or []:
                if isinstance(argument, list):
                    rows(argument)
                elif isinstance(argument, str) and row["operation"] in (
                    *("find", "filter", "with_relation", "verify_attr"),
                    *("choose_attr", "choose_relation", "choose_name"),
                ):
                    found.update(argument.split(":_"))

    rows(record.program)
    if record.program[-1]["operation"] in ("query_name", "query_attr") and isinstance(record.answer, str):
        found.add(record.answer)
    return found


def test_the_drawn_pairs_keep_their_thresholds(released: QuestionRows) -> None:
    sides = read_sides(QUESTIONS)
    terms = {side: [naive_terms(record) for record in records] for side, records in sides.items()}
    at = {side: (released.questions["side"] == side).to_numpy() for side in sides}
    half = np.arange(len(released)) < len(released) // 2  # what is counted in parts is added up
    parts = [count_pairs(released, at["train"] & own, at["val"] & own) for own in (half, ~half)]
    counted = term_pairs(pl.concat(parts).lazy())
    pairs = drawn_pairs(counted, SMALL, 1)
    assert len(pairs) == len({frozenset(pair) for pair in pairs}) == SMALL.pairs
    fitting = 0
    for pair in combinations(sorted({term for own in terms["val"] for term in own}), 2):
        apart = [sum(one in own and two not in own for own in terms["train"]) for one, two in (pair, pair[::-1])]
        together = sum(set(pair) <= own for own in terms["val"])
        fits = min(apart) >= SMALL.alone and together >= SMALL.together
        fitting += fits
        assert fits or pair not in pairs
    all_of_them = drawn_pairs(counted, Lexical(10_000, SMALL.alone, SMALL.together), 1)
    assert len(all_of_them) == fitting


def test_the_command_writes_every_property_and_says_what_it_lacks(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("a", "b"):
        command(questions=QUESTIONS, seed=3, json=tmp_path / f"{name}.json", quiet=name == "b")
    assert (tmp_path / "a.json").read_bytes() == (tmp_path / "b.json").read_bytes()
    assert "LEXICAL: 3 pairs instead of 65" in capsys.readouterr().err
    found = json.loads((tmp_path / "a.json").read_text())
    further = ["HAS-NUM", "HAS-COUNT", "HAS-ATTR", "RM/V/C", "ANS-ATTR", "TPL-CHOOSEATTR", "TPL-VERIFYCOUNT"]
    assert {*FEW_SHOT, *ZERO_SHOT, "PROGRAM", "LEXICAL", *further} <= set(found)
    shapes, everything = set(found["PROGRAM"]["held_out"]), of_records(read_sides(QUESTIONS))
    assert len(shapes) == -(-len({everything.shape(code).text for code in everything.code.tolist()}) // 5) == 121
    texts = [everything.shape(code).text for code in everything.code]
    wanted = {id for id, text in zip(everything.questions["id"], texts, strict=True) if text in shapes}
    assert {*found["PROGRAM"]["train"], *found["PROGRAM"]["val"]} == wanted
    sides = read_sides(QUESTIONS)
    pairs = [set(pair) for pair in found["LEXICAL"]["held_out"]]
    for side, records in sides.items():
        both = [record.id for record in records if any(pair <= naive_terms(record) for pair in pairs)]
        assert found["LEXICAL"][side] == both
    command(questions=QUESTIONS, seed=4, json=tmp_path / "c.json", quiet=True)
    assert set(json.loads((tmp_path / "c.json").read_text())["PROGRAM"]["held_out"]) != shapes


def test_programs_in_our_notation_have_the_same_properties(released: QuestionRows) -> None:
    sides = read_sides(QUESTIONS)
    texts, kept = [], []
    for at, record in enumerate([*sides["train"], *sides["val"]]):
        program = covr.read(record.program)
        if len(covr.write(program)) == len(record.program):  # no row that the answer does not need
            texts.append(show(program))
            kept.append(at)
    assert len(kept) > 2400
    table = released.questions[kept]
    stored = image_rows(with_forms(table.with_columns(program=pl.Series(texts))))
    for name in PROPERTIES:
        predicate = splits.named(name, released.position).predicate.holds(released)[kept]
        assert (splits.named(name, stored.position).predicate.holds(stored) == predicate).all(), name
    assert [stored.shape(code).text for code in stored.code] == [released.shape(released.code[at]).text for at in kept]


def test_the_language_speaks_of_rows_dependencies_words_and_answers(run: Run) -> None:
    table = with_programs(answered(run))
    rows = image_rows(table)

    def programs(text: str) -> set[str]:
        return set(table.filter(pl.col("id").is_in(list(holds(text, rows))))["program"].to_list())

    assert programs("has(all) & ~has(filter)") == {"all(find(cup), with_relation(scene(), find(table), on))"}
    inner = "some(with_relation(find(cup), find(table), on), filter(scene(), red))"
    assert inner in programs("has(filter)") and inner not in programs("row(filter)")
    assert programs("over(all, find)") == programs("has(all)") and not programs("over(all, ~find)")
    assert programs("over(some, ~find)") == {inner}
    assert programs("template(VERIFYCOUNT) & number(3)") == {"geq(count(find(cup)), 3)"}
    assert programs('has(filter, attribute="red") & has(find, noun=dog)') == {
        "eq(count(filter(find(cup), red)), count(find(dog)))"
    }
    assert programs("last(query_attr)") == {"query_attr(unique(with_relation(find(cup), find(table), on)), color)"}
    assert holds("numeric", rows) == set(table.filter(pl.col("template").str.starts_with("COUNT"))["id"].to_list())
    assert holds("answer(3)", rows) == set(table.filter(answer="3")["id"].to_list()) != set()
    assert holds("HAS-COUNT & ~HAS-NUM", rows) == holds("row(count) & ~number", rows)
    assert holds("uses(relation=near)", rows) == set(table.filter(pl.col("program").str.contains("near"))["id"])


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("has(al)", "no operation 'al'"),
        ("has(find, noun=cup, word=x)", "no kind of word 'word'"),
        ("has(find, noun=cap)", "no noun 'cap'"),
        ("template(COUNTS)", "no template 'COUNTS'"),
        ("over(all)", "over: expected over"),
        ("number(three)", "takes one number"),
        ("has-quant", "unknown 'has-quant'"),
        ("row(all) row(some)", "expected & or |"),
    ],
)
def test_a_predicate_that_cannot_be_read_says_what_it_wanted(run: Run, text: str, complaint: str) -> None:
    with pytest.raises(Wrong, match=complaint):
        read(text, of_image_rows(image_rows(answered(run))))


OWN = """
splits:
  quantified:
    held out: has(all) & ~has(filter)
  threes:
    held out: [number(3), answer(3)]
"""


@pytest.fixture(scope="module")
def split(tmp_path_factory: pytest.TempPathFactory) -> Run:
    folder = tmp_path_factory.mktemp("split")
    run = image_run(folder / "run")
    (folder / "own.yaml").write_text(OWN)
    drawing = Drawing(1, Lexical(2, 2, 2), few_shot=4)
    split_run(run, SplitOptions(drawing=drawing, draws=2, file=folder / "own.yaml"))
    return run


def test_every_split_of_a_run_keeps_what_it_holds_out_for_testing(split: Run) -> None:
    table = answered(split)
    rows = image_rows(table)
    side = {name: set(table.filter(split=name)["id"].to_list()) for name in ("train", "dev", "test")}
    names = [path.stem for path in sorted((split.covr / "splits").glob("*.parquet"))]
    assert len(names) == len(FEW_SHOT) + len(ZERO_SHOT) + 2 * 2 + 2
    for name in (*FEW_SHOT, *ZERO_SHOT):
        held = ids(rows, splits.named(name, rows.position).predicate.holds(rows))
        found = {part: set(ids.to_list()) for part, ids in read_split(split, name).items()}
        kept = 4 if name in FEW_SHOT else 0
        assert len(found["train"] & held) == min(kept, len(side["train"] & held))
        assert found["train"] - held == side["train"] - held
        assert found["dev"] == side["dev"] - held and found["dev held out"] == side["dev"] & held
        assert found["test"] == side["test"] & held
    own = read_split(split, "threes")
    assert set(own["test"].to_list()) == side["test"] & (holds("number(3)", rows) | holds("answer(3)", rows))


def test_the_report_counts_and_the_plan_feeds_the_generalization_score(split: Run) -> None:
    report = json.loads((split.covr / "splits" / "report.json").read_text())
    made = {each["name"]: each for each in report["splits"]}
    quant, plan = made["HAS-QUANT"], json.loads((split.covr / "splits" / "plan.json").read_text())
    train = answered(split).filter(split="train")
    assert quant["kept"] == 4 and quant["filtered"] == len(train) - quant["counts"]["train"]
    assert plan["HAS-QUANT"]["questions"] == read_split(split, "HAS-QUANT")["test"].to_list()
    assert plan["HAS-QUANT"]["filtered"] == quant["filtered"]
    assert set(made["LEXICAL 1"]) >= {"held_out"} and len(made["PROGRAM 2"]["held_out"])


def kept(table: pl.DataFrame, seed: int) -> Any:
    rows, train = image_rows(table), (table["split"] == "train").to_numpy()
    held, hashed = splits.named("HAS-QUANT", rows.position), seeds_of(seed, table["id"])
    examples = splits.examples(held, rows, hashed, train, Drawing(seed, few_shot=3))
    return splits.few_shot(held, examples["id"]).train


def test_examples_that_stay_depend_on_the_seed_and_not_on_the_order(run: Run) -> None:
    table = answered(run)
    assert kept(table, 1) == kept(table.reverse(), 1) != kept(table, 2)


def test_a_question_that_stays_in_train_is_an_error_with_its_id(run: Run, tmp_path: Path) -> None:
    (tmp_path / "own.yaml").write_text("splits: {leaky: {held out: has(all), train: template(VERIFYQUANT)}}")
    with pytest.raises(BadInput) as bad:
        split_run(run, SplitOptions(file=tmp_path / "own.yaml", names=("leaky",)))
    leaked = holds("has(all)", image_rows(answered(run)))
    assert "questions of train have has(all): q" in str(bad.value)
    assert str(bad.value).split("has(all): ")[1].split(",")[0] in leaked
    assert not (run.covr / "splits").exists()


def test_an_image_on_both_sides_is_an_error(run: Run, tmp_path: Path) -> None:
    rows = image_rows(answered(run))
    rest = ~splits.named("TPL-VERIFYATTR", rows.position).predicate.holds(rows)
    (proof,) = proved([Split("leaky")], rows, {"train": rest, "dev": rest & False, "test": rest}, tmp_path)
    (fault,) = proof.faults("images", [f"image{at}" for at in range(8)])
    assert "8 images are in train and in test: image0, image1, image2" in fault.message


def test_of_two_properties_held_out_together_train_must_have_each(split: Run) -> None:
    report = json.loads((split.covr / "splits" / "report.json").read_text())
    warnings = {each["name"]: each["warnings"] for each in report["splits"]}
    assert warnings["HAS-COUNT & HAS-ATTR"] == []
    assert "HAS-COUNT & RM/V/C: nothing in train has RM/V/C" in warnings["HAS-COUNT & RM/V/C"]


def test_an_unknown_split_is_refused_with_the_names_there_are(run: Run) -> None:
    with pytest.raises(BadInput, match="expected a split, got 'HAS-QUANTS'; choose from HAS-QUANT, "):
        split_run(run, SplitOptions(names=("HAS-QUANTS",)))
    with pytest.raises(BadInput, match="there are none: run `questree split`"):
        read_split(run, "HAS-QUANT")


def test_names_of_files_are_words_of_the_split() -> None:
    names = [slug(name) for name in (*FEW_SHOT, *ZERO_SHOT)]
    assert "has-count-and-rm-v-c" in names and "tpl-verifycount-or-tpl-verifycountgroupby" in names
    assert max(Counter(names).values()) == 1


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ("[]", "expected"),
        ('{"train": []}', "expected the keys train and val, got train"),
        (
            '{"val": [], "train": [{"qid": "a", "answer":1, "program": [{"operation": "count", "dependencies":[0]}]}]}',
            "train, question a: row 0, count: expected dependencies on the rows before it, got 0",
        ),
    ],
)
def test_a_file_that_cannot_be_split_is_refused(tmp_path: Path, content: str, complaint: str) -> None:
    (tmp_path / "questions.json").write_text(content)
    with pytest.raises(BadInput) as bad:
        command(questions=tmp_path / "questions.json")
    assert complaint in str(bad.value)


def test_released_questions_are_a_file_and_every_property_is_written(run: Run) -> None:
    with pytest.raises(CycloptsError, match="--questions"):
        app(["covr", "splits"], exit_on_error=False, print_error=False)
    with pytest.raises(CycloptsError, match="--name"):
        app(["covr", "splits", "--questions", str(QUESTIONS), "--name", "HAS-QUANT"], exit_on_error=False)
    with pytest.raises(BadInput, match="--few-shot: expected at least 0, got -1"):
        command(questions=QUESTIONS, few_shot=-1)
    with pytest.raises(BadInput, match="--few-shot: expected at least 0, got -1"):
        split_command(run.folder, few_shot=-1)
    with pytest.raises(BadInput, match="--more-steps: expected a run of videos, got image sets"):
        split_command(run.folder, more_steps="relTime=5")


def test_the_page_on_splits_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run, other = image_run(tmp_path / "RUN"), Run(tmp_path / "OTHER")
    write_images(other)
    (tmp_path / "mine.yaml").write_text(re.findall(r"```yaml\n(.*?)```", PAGE.read_text(), re.S)[0])
    (tmp_path / "questions.json").write_bytes(gzip.decompress(QUESTIONS.read_bytes()))
    monkeypatch.chdir(tmp_path)
    lines = commands("docs/covr-splits.md")
    assert len(lines) == 10 and run.folder.name == "RUN"
    for line in lines:
        if line.startswith("questree import"):
            line += f" --words {words_folder(tmp_path)}"
        with pytest.raises(SystemExit) as done:
            app([*shlex.split(line)[1:], "--quiet"], exit_on_error=False)
        assert done.value.code == 0
    assert answered(other).equals(answered(run))
