"""Decomposition by columns: nodes, edges and answers are those of every question taken apart by itself."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import Random

import numpy as np
import polars as pl
import pytest

from conftest import copy
from judges.facts import WORDS
from judges.naive_scores import ASKED_YES_NO, IGNORED
from questree.domains.video import VIDEO
from questree.faults import BadInput
from questree.notation import decomp
from questree.notation.own import parse
from questree.readings.english import english
from questree.readings.parts import decompose as take_apart
from questree.readings.parts import node_type, nodes
from questree.rules import VIDEO_DAGS
from questree.stages.decompose.columns import DecomposeSummary, edge_table, form_table, node_table
from questree.stages.decompose.dag_shards import Decomposed, DecomposeOptions, decompose
from questree.stages.decompose.expand import Batch, Block, expand
from questree.stages.decompose.hierarchies import hierarchies_in
from questree.stages.decompose.negatives import about_existence
from questree.stages.decompose.spoken import SetTexts, Texts, say
from questree.stages.questions import Bank
from questree.tables.nodes import DECOMPOSED, NODES, nodes_about
from questree.tables.nodes import FORMS as FORM_TABLE
from questree.tables.run import Run
from questree.terms import UNKNOWN, Node, Slot, Word, walk
from test_dags import PRINTED, WORD_BY_WORD, Dag, normal, normalised
from test_dags import TYPES as PUBLISHED_TYPES
from worlds.decomposed import FORMS, Stored, in_memory, shards


@pytest.fixture(scope="module")
def dags(asked_run: Run) -> list[Decomposed]:
    return in_memory(asked_run)


@pytest.fixture(scope="module")
def run(asked_run: Run, tmp_path_factory: pytest.TempPathFactory) -> tuple[Run, DecomposeSummary]:
    run = copy(asked_run, tmp_path_factory.mktemp("decomposed"))
    return run, decompose(run, DecomposeOptions(), pool=ThreadPoolExecutor(1))


@pytest.fixture(scope="module")
def stored(run: tuple[Run, DecomposeSummary]) -> list[Stored]:
    return [Stored.read(folder) for folder in shards(run[0])]


def test_the_dag_of_a_question_is_that_of_its_program(asked_run: Run, stored: list[Stored]) -> None:
    bank, random = Bank(asked_run), Random(1)
    for folder, found in zip(bank.folders(), stored, strict=True):
        shard = bank.shard(folder)
        assert found.tops.select("video", "number").equals(shard.questions.select("video", "number"))
        for at in random.sample(range(len(found.tops)), 80):
            program, node = shard.question(at).program, found.tops["node"][at]
            wanted = {(english(p, WORDS), label, english(c, WORDS)) for p, label, c in take_apart(program, WORDS)}
            relabelled = {
                (p, "Between" if (p, "Between", c) in wanted else label, c) for p, label, c in found.dag(node)
            }
            assert relabelled == wanted
            said = {english(part, WORDS): part for part in nodes(program, WORDS)}
            for row in found.nodes[found.below(node)].iter_rows(named=True):
                part = said[row["text"]]
                assert row["type"] == node_type(part, WORDS)
                assert row["program"] == decomp.write(part, WORDS)


def test_every_question_has_the_answer_it_was_generated_with(asked_run: Run, run: tuple[Run, DecomposeSummary]) -> None:
    bank = Bank(asked_run)
    for folder, made in zip(bank.folders(), shards(run[0]), strict=True):
        tops, answers = pl.read_parquet(made / "tops.parquet"), NODES.read(made)["answer"]
        assert (answers.gather(tops["node"]) == bank.shard(folder).questions["answer"]).all()


def test_a_text_is_one_node_of_its_video(stored: list[Stored]) -> None:
    for found in stored:
        assert not found.nodes.select("video", "text").is_duplicated().any()
        assert set(found.nodes["type"]) <= set(VIDEO_DAGS.types)


def test_no_node_has_a_part_twice_and_all_parts_are_numbered(dags: list[Decomposed]) -> None:
    for found in dags:
        edges = found.tables["edges"]
        assert (edges["child"] > edges["parent"]).all(), "parents come first"
        assert edges["child"].max() < len(found.tables["nodes"])  # type: ignore[operator]
        assert not edges.select("parent", "label", "child").is_duplicated().any()


def test_every_scored_node_has_an_answer(run: tuple[Run, DecomposeSummary]) -> None:
    types = run[1].types
    assert sum(counts["undefined"] for type, counts in types.items() if type in VIDEO_DAGS.unscored) > 0
    assert {type for type, counts in types.items() if counts["undefined"]} <= VIDEO_DAGS.unscored


def words_in_slots(text: str) -> list[Block]:
    """A program as a form with words, expanded."""
    form, origins = FORMS.canonical(parse(text, VIDEO))
    assert all(isinstance(leaf, Slot) for leaf in walk(form) if not isinstance(leaf, Node))
    assert all(isinstance(origin, Word) for origin in origins)
    values = tuple(FORMS.column(origin, {}, 1) for origin in origins)
    zero = np.zeros(1, np.int64)
    blocks, tops = expand(FORMS, [Batch(form, zero, values, zero)], 1)
    assert tops.tolist() == [0]
    return blocks


@pytest.mark.parametrize("figure", PRINTED)
def test_a_printed_dag_expands_to_as_many_nodes_and_edges(figure: str) -> None:
    program, count, edges = PRINTED[figure]
    blocks = words_in_slots(program)
    assert (sum(map(len, blocks)), sum(block.children.size for block in blocks)) == (count, edges)


@pytest.mark.parametrize("figure", WORD_BY_WORD)
def test_the_tables_of_a_printed_dag_agree_node_by_node_and_edge_by_edge(figure: str) -> None:
    blocks = words_in_slots(PRINTED[figure][0])
    unknown = np.full(PRINTED[figure][1], UNKNOWN)
    nodes = node_table(blocks, unknown, np.zeros(len(unknown), np.uint8), 0)
    text = [normal(text) for text in say(form_table(blocks), nodes, Texts(WORDS))["text"]]
    found: Dag = {}
    for parent, label, _, child in edge_table(blocks, unknown)[0].iter_rows():
        found.setdefault(text[parent], {}).setdefault(VIDEO_DAGS.compositions[label], []).append(text[child])
    assert found == normalised(WORD_BY_WORD[figure])


def test_an_action_that_reads_like_an_interaction_is_that_interaction() -> None:
    """Two ways to one node: "holding a phone" as a condition, and holding, asked of a phone."""
    same = FORMS.said_as_pair
    assert same[WORDS.action_at["holding a phone"]]
    assert not same[WORDS.action_at["sitting at a table"]]
    assert not same[WORDS.action_at["standing up"]], "it has no object"
    text = "within(interaction(holding, phone), before({}))"
    assert sum(map(len, words_in_slots(text.format("holding a phone")))) == 8  # the condition is the question's base
    assert sum(map(len, words_in_slots(text.format("playing with a phone")))) == 10


def test_equal_programs_have_equal_forms_whatever_their_words() -> None:
    one, other = (
        FORMS.canonical(parse(f"interaction(holding, first({relation}, whole()))", VIDEO))[0]
        for relation in ("holding", "touching")
    )
    assert one == other


def test_a_key_too_narrow_for_its_words_is_noticed() -> None:
    form, origins = FORMS.canonical(
        parse("choose_first(touching, between(standing up, holding a dish), phone, dish)", VIDEO)
    )
    values = tuple(FORMS.column(origin, {}, 1) for origin in origins)
    assert len(values) == 5
    for video, fits in ((2**23 - 1, True), (2**24, False)):
        batch = Batch(form, np.array([video]), values, np.zeros(1, np.int64))
        if fits:
            assert (expand(FORMS, [batch], 1)[0][0].video == video).all()
        else:
            with pytest.raises(AssertionError, match="too many"):
                expand(FORMS, [batch], 1)


def test_a_between_that_is_no_with_both_sides_yes_says_after_and_before(dags: list[Decomposed]) -> None:
    seen = set()
    for found in dags:
        edges, answers = found.tables["edges"], found.tables["nodes"]["answer"]
        types = found.tables["forms"]["type"].gather(found.tables["nodes"]["form"])
        between = types.is_in(["Exists Between", "Interaction Between"]).arg_true()
        for (parent,), own in edges.filter(pl.col("parent").is_in(between.implode())).group_by("parent"):
            sides = own.sort("position")[:2]
            all_yes = answers.gather(sides["child"]).to_list() == [1, 1]
            wanted = [9, 10] if answers[parent] == 0 and all_yes else [12, 12]
            assert sides["label"].to_list() == wanted
            seen.add(tuple(wanted))
    assert len(seen) == 2


def test_in_an_open_world_nobody_says_that_an_object_is_not_there(asked_run: Run, dags: list[Decomposed]) -> None:
    withheld, said = 0, 0
    for closed, found in zip(dags, in_memory(asked_run, closed=False), strict=True):
        said += sum(counts["not said"] for counts in found.summary.types.values())
        before, after = closed.tables["nodes"], found.tables["nodes"]
        assert before.drop("known").equals(after.drop("known")), "only what is said differs"
        for number, block in enumerate(found.blocks):
            own = after.filter(pl.col("form") == number)
            hidden = (own["known"] == 1).fill_null(False)
            if about_existence(block.form.node):
                assert hidden.equals((own["answer"] == 0).alias("known"))
                withheld += int(hidden.sum())
            else:
                assert not hidden.any()
    assert withheld == said > 100


def test_only_the_balanced_selection_is_decomposed(asked_run: Run, tmp_path: Path) -> None:
    run = copy(asked_run, tmp_path)
    with pytest.raises(BadInput, match="no balanced selection"):
        decompose(run, DecomposeOptions(balanced=True), pool=ThreadPoolExecutor(1))
    assert not run.decomposed.exists()
    run.balanced.mkdir()
    questions = pl.concat([Bank(run).shard(folder).questions for folder in Bank(run).folders()])
    chosen = questions.select("video", "number").gather_every(97)
    chosen.write_parquet(run.balanced / "balanced.parquet")
    summary = decompose(run, DecomposeOptions(balanced=True), pool=ThreadPoolExecutor(1))
    assert summary.questions == len(chosen)
    tops = pl.concat([pl.read_parquet(folder / "tops.parquet") for folder in shards(run)])
    assert tops.select("video", "number").sort("video", "number").equals(chosen.sort("video", "number"))
    options = '{"balanced":true,"closed":true,"rules_only":false,"invalid_actions":0,"labels":""}'
    made = f'"questions":"{run.questions_digest()}","selection":"{run.selection_digest()}"'
    assert (run.decomposed / "plan.json").read_text() == f'{{"options":{options},{made}}}'
    chosen.head(9).write_parquet(run.balanced / "balanced.parquet")
    with pytest.raises(BadInput, match="made of another selection than there is now; run `questree decompose` again"):
        hierarchies_in(run)


def test_tables_and_tests_agree_on_types(run: tuple[Run, DecomposeSummary]) -> None:
    assert VIDEO_DAGS.unscored == IGNORED and VIDEO_DAGS.yes_no == ASKED_YES_NO
    assert set(VIDEO_DAGS.types) == PUBLISHED_TYPES and len(VIDEO_DAGS.types) == 34
    for folder in shards(run[0]):
        assert {path.stem for path in folder.iterdir()} == {table.name for table in DECOMPOSED}


def test_a_shard_without_nodes_is_said_without_rows() -> None:
    sets = nodes_about("set", 2, pl.UInt32).empty()
    for empty, texts in ((NODES.empty(), Texts(WORDS)), (sets, SetTexts(pl.Series(["cup"])))):
        said = say(FORM_TABLE.empty(), empty, texts, columns=("text", "type", "program", "answer", "word"))
        assert said.is_empty() and set(said.dtypes[1:]) == {pl.String}
