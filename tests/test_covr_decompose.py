"""DAGs of questions about image sets: their shape, their English, and that the truth breaks no rule."""

from typing import Any

import polars as pl
import pytest

from judges.images import Judge
from questree.domains.images import IMAGES
from questree.metrics.dags import score_decomp
from questree.metrics.scores import Score, find
from questree.notation import own
from questree.readings.english import english
from questree.readings.parts import node_type, parts
from questree.rules import IMAGE_DAGS
from questree.search.word_tables import default_words
from questree.stages.decompose.set_hierarchies import image_hierarchies, read_sets, set_shards
from questree.stages.decompose.set_shards import ImageDecomposeSummary, decompose_run
from questree.stages.drafts.whole_run import DraftOptions, generate
from questree.synth.images import make_image, write_images
from questree.tables.images import IMAGES as IMAGE_TABLE
from questree.tables.run import Run
from worlds.exported_worlds import content
from worlds.image_run import spoken_nodes
from worlds.question_shards import ALL, put_in_shards
from worlds.whole_sources import ingest

SHAPES: dict[str, list[tuple[str, str]]] = {  # program -> its immediate sub-questions
    "exists(find(cup))": [],
    "exists(filter(find(cup), red))": [("Modifier", "Is there a cup?")],
    "exists(with_relation(find(man), find(horse), riding))": [
        ("Modifier", "Is there a man?"),
        ("Modifier", "Is there a horse?"),
    ],
    "count(with_relation(find(cup), find(table), on))": [
        ("Positive", "Is there a cup that is on a table?"),
        ("Subset", "How many cups are there?"),
    ],
    "count_images(unique_images(find(cup)))": [
        ("Positive", "Is there a cup?"),
        ("Subset", "How many cups are there?"),
    ],
    "count_images(keys(keep_if_values_count_geq(group_by_images(find(cup)), 2)))": [
        ("Subset", "How many images show a cup?")
    ],
    "geq(count(find(cup)), 3)": [("At Least", "How many cups are there?")],
    "gt(count(find(cup)), count(find(man)))": [
        ("More", "How many cups are there?"),
        ("More", "How many men are there?"),
    ],
    "logic_or(exists(find(cup)), exists(find(man)))": [("Or", "Is there a cup?"), ("Or", "Is there a man?")],
    "all(find(cup), filter(scene(), red))": [
        ("All", "How many cups are there?"),
        ("All", "How many red cups are there?"),
    ],
    "none(with_relation(find(cup), find(table), on), filter(scene(), red))": [
        ("No", "Is there a red cup that is on a table?")
    ],
    "some(find(man), with_relation(scene(), find(horse), riding))": [("Some", "Is there a man who is riding a horse?")],
    "all_same(find(cup), color)": [("All Same", "Is there a cup?")],
    "same_attr(query_attr(unique(find(cup)), color), query_attr(unique(find(hat)), color))": [
        ("Same Attribute", "What color is the cup?"),
        ("Same Attribute", "What color is the hat?"),
    ],
    "verify_attr(unique(with_relation(find(cup), find(table), on)), red)": [
        ("Verify", "Is there a red cup that is on a table?"),
        ("Unique", "How many cups are on a table?"),
    ],
    "choose_attr(unique(find(cup)), red, blue)": [
        ("Choose", "Is the cup red?"),
        ("Choose", "Is the cup blue?"),
        ("Unique", "How many cups are there?"),
    ],
    "query_attr(unique(find(cup)), color)": [("Unique", "How many cups are there?")],
    "choose_name(unique(with_relation_object(assert_unique(find(man)), scene(), riding)), horse, bike)": [
        ("Choose", "Is there a man who is riding a horse?"),
        ("Choose", "Is there a man who is riding a bike?"),
        ("Unique", "How many men are there?"),
    ],
    "query_name(unique(with_relation_object(assert_unique(find(man)), scene(), riding)))": [
        ("Unique", "How many men are there?")
    ],
    "choose_relation(query_link(unique_link(relation_between_nouns(unique(find(man)), find(horse)))), riding, near)": [
        ("Choose", "Is there a man who is riding a horse?"),
        ("Choose", "Is there a man who is near a horse?"),
        ("Unique", "How many men are there?"),
    ],
}


@pytest.mark.parametrize("program", SHAPES)
def test_the_sub_questions_of_every_form_are_these(program: str) -> None:
    node = own.parse(program, IMAGES)
    assert [(edge.label, english(edge.part)) for edge in parts(node)] == SHAPES[program]
    assert node_type(node) in IMAGE_DAGS.types


def test_things_that_cannot_be_counted_are_not_counted() -> None:
    labels = [edge.label for edge in parts(own.parse("verify_attr(unique(find(grass)), green)", IMAGES))]
    assert labels == ["Verify"]


def test_a_program_that_no_template_makes_has_no_sub_questions() -> None:
    assert parts(own.parse("exists(scene())", IMAGES)) == []
    assert node_type(own.parse("gt_half(count(scene()), count(scene()))", IMAGES)) not in IMAGE_DAGS.types


NUMBER = 400
Made = tuple[Run, ImageDecomposeSummary, dict[str, dict[str, Any]]]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    folder = tmp_path_factory.mktemp("images")
    write_images(folder / "raw", NUMBER, 3)
    run = Run(folder / "run")
    ingest(folder / "raw", run.folder)
    generate(run, DraftOptions(questions=3000, seed=5), workers=1)
    summary = decompose_run(run, default_words(), every=True)
    ids = IMAGE_TABLE.read(run.images)["id"].to_list()
    scenes = {each: make_image(at, 3) for at, each in enumerate(sorted(ids, key=int))}
    return run, summary, scenes


def nodes_of(run: Run) -> pl.DataFrame:
    return spoken_nodes(run)


def scored(run: Run, answers: pl.Series) -> list[Score]:
    asked = image_hierarchies(run).hierarchies
    table = pl.DataFrame({"id": asked.keys, "prediction": answers}).drop_nulls()
    return score_decomp(asked, table, "wrong").rows("model")


def test_every_stored_answer_is_what_execution_gives(made: Made) -> None:
    _, summary, _ = made
    assert summary.questions > 2000
    assert summary.different == []
    assert summary.unknown == 0


def test_the_truth_breaks_no_rule_and_every_rule_is_applied(made: Made) -> None:
    run = made[0]
    rows = scored(run, nodes_of(run)["answer"])
    rules = [row for row in rows if row.metric == "IC" and row.by == "rule" and row.group != "Overall"]
    assert [row.group for row in rules] == list(IMAGE_DAGS.all_rules)
    assert [row.group for row in rules if not row.n] == []
    assert [(row.group, row.value) for row in rules if row.value != 1] == []
    assert find(rows, "CA", "composition", "Overall").value == 1
    assert find(rows, "accuracy", "type", "Overall").value == 1


def test_counts_that_are_one_too_high_are_caught(made: Made) -> None:
    run = made[0]
    nodes = nodes_of(run)
    counts = pl.col("type") == "Count"
    more = (pl.col("answer").cast(pl.Int64, strict=False) + 1).cast(pl.String)
    rows = scored(run, nodes.select(pl.when(counts).then(more).otherwise("answer")).to_series())
    assert find(rows, "IC", "rule", "Unique").value == 0
    assert find(rows, "IC", "rule", "Positive None").value != 1
    assert find(rows, "IC", "rule", "Subset").value == 1  # all counts grew alike


def test_always_yes_contradicts_itself_where_a_no_is_needed(made: Made) -> None:
    run = made[0]
    nodes = nodes_of(run)
    rows = scored(run, pl.Series(["yes"] * len(nodes)))
    values = {row.group: row.value for row in rows if row.metric == "IC" and row.by == "rule"}
    assert values["And Yes"] == values["Or Yes"] == values["Some Yes"] == values["Verify Yes"] == 1
    assert values["No Yes"] == values["No No"] == 0
    assert values["Unique"] is None  # it never gives a number
    assert values["Modifier No"] is None


def test_answers_of_sub_questions_are_those_of_sets_and_loops(made: Made) -> None:
    run, _, scenes = made
    nodes = nodes_of(run)
    ids = IMAGE_TABLE.read(run.images)["id"].to_list()
    groups = dict(default_words().attribute_group)
    for row in range(0, len(nodes), max(1, len(nodes) // 500)):
        images = [ids[at] for at in nodes["images"][row]]
        value = Judge(scenes, groups, images).value(own.parse(nodes["program"][row], IMAGES))
        said = ("yes" if value else "no") if isinstance(value, bool) else str(value)
        assert said == nodes["answer"][row], nodes["program"][row]


def test_parents_stand_before_their_parts(made: Made) -> None:
    (folder,) = set_shards(made[0])
    edges = read_sets(folder)["edges"]
    assert (edges["parent"] < edges["child"]).all()
    assert edges["label"].max() < len(IMAGE_DAGS.compositions)  # type: ignore[operator]


@pytest.mark.processes
def test_any_shards_and_any_workers_give_the_same(made: Made) -> None:
    run, told, _ = made
    put_in_shards(run, 700)
    assert decompose_run(run, default_words(), every=True) == told
    before = content(run.covr / "decomposed")
    assert len(set_shards(run)) > 3
    assert decompose_run(run, default_words(), every=True, workers=2) == told
    assert content(run.covr / "decomposed") == before
    put_in_shards(run, ALL)
    assert decompose_run(run, default_words(), every=True) == told
