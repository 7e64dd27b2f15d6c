"""COVR's references and templates: number, articles, agreement, the published programs, frames that fit."""

import gzip
import json
import pickle
from itertools import combinations, product
from pathlib import Path

import polars as pl
import pytest

from questree.benchmarks.covr import forms
from questree.benchmarks.covr.forms import ImageTemplate, TemplateForm, pieces, shape, things, those
from questree.benchmarks.covr.templates import TEMPLATES
from questree.domains.images import IMAGES
from questree.domains.images.english import (
    after_is,
    article,
    can_follow_is,
    countable,
    inverse,
    is_person,
    number,
    plural,
    pronoun,
    reads_well,
    reference,
    with_attribute,
)
from questree.domains.images.graph import Graph, GraphRelation, Preposition, from_json, to_json
from questree.domains.images.kinds import COUNT
from questree.domains.images.links import auxiliary, relation, said_of
from questree.notation import covr, own
from questree.readings.english import english
from questree.tables.questions import with_forms, with_programs
from questree.terms import BOOL, ProgramError, Word, walk

SHARED = Path(__file__).parents[2] / "shared" / "oracles" / "covr" / "subgraphs_expected.json.gz"

TABLE, CHAIR = Graph("table"), Graph("chair")
CUP = Graph("cup", "red", (GraphRelation("on", TABLE),))
TWO = Graph("cup", None, (GraphRelation("near", CHAIR), GraphRelation("on", TABLE)))
CHAIN = Graph("cup", None, (GraphRelation("on", Graph("table", None, (GraphRelation("near", CHAIR),))),))
BRANCH = Graph(
    "cup",
    None,
    (GraphRelation("on", Graph("table", None, (GraphRelation("near", CHAIR), GraphRelation("under", Graph("lamp"))))),),
)
WEARING_TIE, WEARING_HAT = GraphRelation("wearing", Graph("tie")), GraphRelation("wearing", Graph("hat"))
LINK = "choose_relation(query_link(unique_link(relation_between_nouns(unique(find(%s)), find(horse))))"
POUR = Graph("man", None, (GraphRelation("pouring", Graph("water"), (Preposition("pouring:_into", Graph("glass")),)),))


@pytest.mark.parametrize(
    ("name", "plural_name"),
    [
        ("cup", "cups"),
        ("box", "boxes"),
        ("bus", "buses"),
        ("bench", "benches"),
        ("baby", "babies"),
        ("boy", "boys"),
        ("wine glass", "wine glasses"),
        ("woman", "women"),
        ("policeman", "policemen"),
        ("ottoman", "ottomans"),
        ("person", "people"),
        ("child", "children"),
        ("tooth", "teeth"),
        ("computer mouse", "computer mice"),
        ("knife", "knives"),
        ("shelf", "shelves"),
        ("roof", "roofs"),
        ("leaf", "leaves"),
        ("potato", "potatoes"),
        ("photo", "photos"),
        ("sheep", "sheep"),
        ("fish", "fish"),
        ("chest of drawers", "chests of drawers"),
        ("loaf of bread", "loaves of bread"),
        ("canvas", "canvases"),
        ("octopus", "octopuses"),
        ("prosthesis", "prostheses"),
        ("trash can", "trash cans"),
        ("sign (stop)", "signs (stop)"),
        ("pole, metal", "poles, metal"),
    ],
)
def test_a_countable_name_has_its_plural(name: str, plural_name: str) -> None:
    assert number(name) == "singular"
    assert plural(name) == plural_name


@pytest.mark.parametrize(
    "name", ["pants", "glasses", "shoes", "people", "men", "clothes", "french fries", "mice", "police", "skis"]
)
def test_names_of_several_things_stay_as_they_are(name: str) -> None:
    assert (number(name), plural(name)) == ("plural", name)


@pytest.mark.parametrize("name", ["water", "grass", "orange juice", "bread", "luggage", "tennis", "debris", "hair"])
def test_names_of_what_is_not_counted_stay_as_they_are(name: str) -> None:
    assert (number(name), plural(name)) == ("mass", name)
    assert not countable(Graph(name))


@pytest.mark.parametrize(
    "phrase", ["umbrella", "apple", "hour", "honest man", "unlit lamp", "old man", "suv", "8 ball"]
)
def test_an_before_a_vowel_sound(phrase: str) -> None:
    assert article(phrase) == "an"


@pytest.mark.parametrize(
    "phrase",
    ["cup", "uniform", "used car", "university", "one-way sign", "utensil", "European man", "hot dog", "urinal"],
)
def test_a_before_a_consonant_sound(phrase: str) -> None:
    assert article(phrase) == "a"


def test_people_are_who_and_things_are_that() -> None:
    assert all(map(is_person, ["man", "woman", "tennis player", "snowboarder", "police", "fireman", "children"]))
    assert not any(map(is_person, ["ottoman", "dog", "batter bowl", "fan", "snowman statue"]))


def test_attributes_before_and_after() -> None:
    assert with_attribute("wood", "table") == "wooden table"
    assert with_attribute("off", "lamp") == "turned-off lamp"
    assert with_attribute("looking up", "man") == "man looking up"
    assert after_is("wood") == "made of wood"
    assert after_is("on") == "turned on"
    assert after_is("striped") == "striped"
    assert not can_follow_is("birthday")


def test_relations_as_they_follow_is() -> None:
    assert relation("on") == "on"
    assert relation("contain") == "containing"
    assert relation("pouring:_into") == "into"


@pytest.mark.parametrize(
    ("graph", "form", "text"),
    [
        (Graph("cup"), "a", "a cup"),
        (Graph("cup", "orange"), "a", "an orange cup"),
        (CUP, "a", "a red cup that is on a table"),
        (CUP, "the", "the red cup that is on a table"),
        (CUP, "many", "red cups that are on a table"),
        (CUP, "head", "red cups"),
        (CUP, "there", "on a table"),
        (Graph("cup"), "there", "there"),
        (TWO, "a", "a cup that is near a chair and on a table"),
        (CHAIN, "a", "a cup that is on a table that is near a chair"),
        (BRANCH, "a", "a cup that is on a table that is both near a chair and under a lamp"),
        (Graph("man", None, (WEARING_TIE, WEARING_HAT)), "a", "a man who is wearing a tie and a hat"),
        (
            Graph("dog", None, (GraphRelation("near", Graph("man", None, (WEARING_TIE, WEARING_HAT))),)),
            "a",
            "a dog that is near a man who is wearing both a tie and a hat",
        ),
        (POUR, "a", "a man who is pouring water into a glass"),
        (POUR, "many", "men who are pouring water into a glass"),
        (Graph("glasses", None, (GraphRelation("on", TABLE),)), "a", "glasses that are on a table"),
        (Graph("glasses"), "Is", "Are"),
        (Graph("grass", "green", (GraphRelation("near", TABLE),)), "the", "the green grass that is near a table"),
        (Graph("bird", None, (GraphRelation("in", Graph("sky")),)), "a", "a bird that is in the sky"),
        (Graph("bird", None, (GraphRelation("in", Graph("sky", "blue")),)), "a", "a bird that is in a blue sky"),
        (Graph("man", None, (GraphRelation("wearing", Graph("jeans")),)), "a", "a man who is wearing jeans"),
        (
            Graph("man", None, (GraphRelation("caressing on the", Graph("head")),)),
            "a",
            "a man who is caressing on the head",
        ),
        (Graph("cup", None, (GraphRelation("near", Graph("cup")),)), "many", "cups that are near another cup"),
        (Graph("cup", "red", (GraphRelation("near", Graph("cup", "blue")),)), "a", "a red cup that is near a blue cup"),
        (Graph("lamp", "off", (GraphRelation("near", Graph("bed")),)), "a", "a turned-off lamp that is near a bed"),
    ],
)
def test_a_reference_in_english(graph: Graph, form: str, text: str) -> None:
    assert reference(graph)[form] == text


def test_the_end_of_a_relation_described_by_its_beginning() -> None:
    riding = Graph("man", None, (GraphRelation("riding", Graph("horse", "brown")),))
    assert inverse(riding)["a"] == "a brown horse that a man is riding"
    assert inverse(riding)["this"] == "this horse"
    assert inverse(Graph("man", None, (GraphRelation("holding", Graph("scissors")),)))["this"] == "these scissors"
    assert (pronoun("scissors"), pronoun("mark")) == ("them", "it")


IS = """on, near, to the left of, in front of, inside of, wearing, sitting on, swinging, parked on, covered in, tied to,
worn by, held by, made of, cut into, hung on, adjacent to, next to, close to, taller than, larger than, full of, with,
of, about to hit, partially covering, not touching, visible through, strung on"""


@pytest.mark.parametrize("name", [" ".join(name.split()) for name in IS.split(",")])
def test_relations_that_follow_is(name: str) -> None:
    assert relation(name) == name
    assert (said_of(name, "is"), auxiliary(name, "are")) == (f"is {name}", "are")


@pytest.mark.parametrize(
    ("name", "base", "third"),
    [
        ("has", "have", "has"),
        ("have", "have", "has"),
        ("wears", "wear", "wears"),
        ("wear", "wear", "wears"),
        ("sit on", "sit on", "sits on"),
        ("carries", "carry", "carries"),
        ("play with", "play with", "plays with"),
        ("watches", "watch", "watches"),
        ("touch", "touch", "touches"),
        ("feed", "feed", "feeds"),
        ("swing", "swing", "swings"),
        ("cut", "cut", "cuts"),
        ("goes through", "go through", "goes through"),
        ("crosses", "cross", "crosses"),
        ("cross", "cross", "crosses"),
        ("uses", "use", "uses"),
        ("faces", "face", "faces"),
        ("consists of", "consist of", "consists of"),
        ("partially covers", "partially cover", "partially covers"),
        ("fly over", "fly over", "flies over"),
        ("lies on", "lie on", "lies on"),
        ("stand next", "stand next to", "stands next to"),
        ("look", "look at", "looks at"),
        ("rest on the top of", "rest on the top of", "rests on the top of"),
    ],
)
def test_relations_that_are_verbs_of_their_own(name: str, base: str, third: str) -> None:
    assert relation(name) == base
    assert (said_of(name, "is"), said_of(name, "are")) == (third, base)
    assert (auxiliary(name, "is"), auxiliary(name, "are")) == ("does", "do")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("edge of", "the edge of"),
        ("left side of", "the left side of"),
        ("part of", "part of"),
        ("is looking at", "looking at"),
    ],
)
def test_relations_that_are_nouns(name: str, said: str) -> None:
    assert said_of(name, "is") == f"is {said}"


HAT, HORSE = GraphRelation("wears", Graph("hat")), GraphRelation("near", Graph("horse"))
VERBS = Graph("man", None, (HAT, GraphRelation("ride", Graph("horse"))))
MIXED = Graph("man", None, (HAT, HORSE))


@pytest.mark.parametrize(
    ("graph", "form", "text"),
    [
        (Graph("table", None, (GraphRelation("has", Graph("vase")),)), "a", "a table that has a vase"),
        (Graph("man", None, (HAT,)), "many", "men who wear a hat"),
        (Graph("man", None, (HAT,)), "there", "there who wear a hat"),
        (Graph("jeans", None, (GraphRelation("has", Graph("pocket")),)), "the", "the jeans that have a pocket"),
        (Graph("water", None, (GraphRelation("fill", Graph("glass")),)), "many", "water that fills a glass"),
        (VERBS, "a", "a man who wears a hat and rides a horse"),
        (MIXED, "a", "a man who wears a hat and is near a horse"),
        (MIXED, "there", "there who wear a hat and are near a horse"),
        (
            Graph("dog", None, (GraphRelation("see", VERBS),)),
            "a",
            "a dog that sees a man who both wears a hat and rides a horse",
        ),
        (Graph("man", None, (HAT, GraphRelation("wears", Graph("tie")))), "many", "men who wear a hat and a tie"),
        (Graph("girl"), "it", "her"),
        (Graph("cup"), "Do", "Does"),
        (Graph("scissors"), "do", "do"),
    ],
)
def test_verbs_agree_with_who_does_it(graph: Graph, form: str, text: str) -> None:
    assert reference(graph)[form] == text


def test_references_that_say_something_twice_do_not_read_well() -> None:
    def near(name: str, *relations: tuple[str, Graph], attribute: str | None = None) -> Graph:
        return Graph(name, attribute, tuple(GraphRelation(link, end) for link, end in relations))

    rug, bus = Graph("rug"), Graph("bus")
    for twice in (
        near("girl", ("standing on", rug), attribute="standing"),
        near("man", ("near", bus), ("behind", bus)),
        near("cup", ("on", near("table", ("below", Graph("cup"))))),
        near("man", ("near", near("girl", ("sitting on", rug), attribute="sitting"))),
    ):
        assert not reads_well(twice), reference(twice)["a"]
    for well in (
        near("girl", ("sitting on", rug), attribute="tall"),
        near("man", ("near", bus), ("behind", Graph("bus", "red"))),
        near("cup", ("near", Graph("cup"))),
        near("cup", ("on", near("table", ("below", Graph("lamp"))))),
    ):
        assert reads_well(well), reference(well)["a"]


def test_who_is_talked_to() -> None:
    asked = "query_name(unique(with_relation_object(assert_unique(find(man)), scene(), %s)))"
    assert english(own.parse(asked % "talking to", IMAGES)) == "Who is the man talking to?"
    assert english(own.parse(asked % "talk", IMAGES)) == "Who does the man talk to?"
    assert english(own.parse(asked % "looking at", IMAGES)) == "What is the man looking at?"


def test_pronouns_fit() -> None:
    people = {"waiter": "him", "waitress": "her", "policeman": "him", "old woman": "her", "chef": "them", "men": "them"}
    others = {"horse": "it", "ottoman": "it", "shoes": "them", "water": "it"}
    assert {name: pronoun(name) for name in people | others} == people | others
    assert inverse(Graph("man", None, (HAT,)))["a"] == "a hat that a man wears"


@pytest.mark.parametrize(
    ("program", "text"),
    [
        ("all(find(man), with_relation(scene(), find(hat), wears))", "Do all of the men wear a hat?"),
        ("some(find(man), with_relation(scene(), find(hat), wears))", "Does at least one of the men wear a hat?"),
        ("none(find(man), with_relation(scene(), find(dog), near))", "Are none of the men near a dog?"),
        (
            "some(find(man), with_relation(with_relation(scene(), find(hat), wears), find(dog), near))",
            "Is it true that at least one of the men wears a hat and is near a dog?",
        ),
        (
            "all(find(man), with_relation(filter(scene(), old), find(hat), wears))",
            "Is it true that all of the men are old and wear a hat?",
        ),
        ("exists(with_relation(find(men), find(hat), wears))", "Are there men who wear a hat?"),
        ("count(with_relation(find(man), find(hat), wears))", "How many men are there who wear a hat?"),
        (
            "query_name(unique(with_relation_object(assert_unique(find(man)), scene(), wears)))",
            "What does the man wear?",
        ),
        (
            "choose_name(unique(with_relation_object(assert_unique(find(men)), scene(), wears)), hat, tie)",
            "Do the men wear a hat or a tie?",
        ),
        (
            "query_name(unique(with_relation_object(assert_unique(with_relation(find(man), find(water), pouring)), "
            "scene(), pouring:_into)))",
            "What is the man pouring water into?",
        ),
        (
            "query_name(unique(with_relation_object(assert_unique(with_relation(find(man), find(water), pour)), "
            "scene(), pour:_into)))",
            "What does the man pour water into?",
        ),
        (LINK % "man" + ", rides, feeds)", "Does the man ride or feed a horse?"),
        (LINK % "man" + ", near, behind)", "Is the man near or behind a horse?"),
        (LINK % "man" + ", near, riding)", "Which is true: the man is near a horse or is riding it?"),
        (LINK % "woman" + ", riding, feeding)", "Is the woman riding or feeding a horse?"),
        (
            "count_images(keys(keep_if_values_count_leq(group_by_images(find(cup)), 2)))",
            "How many images show 1 or 2 cups?",
        ),
        (
            "count_images(keys(keep_if_values_count_leq(group_by_images(find(cup)), 3)))",
            "How many images show between 1 and 3 cups?",
        ),
        (LINK % "men" + ", near, rides)", "Which is true: the men are near a horse or ride it?"),
    ],
)
def test_questions_with_verbs(program: str, text: str) -> None:
    assert english(own.parse(program, IMAGES)) == text


def some_graphs() -> list[Graph]:
    """All shapes over few words, relations in the order of their names."""
    leaves = [Graph(name, attribute) for name, attribute in product(("lamp", "chair"), (None, "red"))]
    edges = [GraphRelation(name, leaf) for name, leaf in product(("near", "on"), leaves)]
    pairs = [(a, b) for a, b in combinations(edges, 2) if a.target.name != b.target.name]
    middles = [Graph("table", a, below) for a in (None, "red") for below in [(), *((e,) for e in edges), *pairs]]
    deep = [(GraphRelation(name, middle),) for name in ("near", "on") for middle in middles]
    return [Graph("cup", a, below) for a in (None, "red") for below in [(), *((e,) for e in edges), *pairs, *deep]]


@pytest.mark.parametrize("form", ["a", "the", "many"])
def test_different_references_are_said_differently(form: str) -> None:
    graphs = some_graphs()
    assert len(graphs) == 250
    assert len({reference(graph)[form] for graph in graphs}) == len(graphs)


def test_a_reference_as_a_program() -> None:
    assert things(CUP).text == "with_relation(filter(find(cup), red), find(table), on)"
    assert things(POUR).text == (
        "with_relation(with_relation(find(man), find(water), pouring), find(glass), pouring:_into)"
    )
    assert those(Graph("", None, CUP.relations)).text == "with_relation(scene(), find(table), on)"
    assert forms.inverse(CUP).text == "with_relation_object(filter(find(cup), red), find(table), on)"
    assert things(CUP).pattern == things(Graph("dog", "wet", (GraphRelation("in", Graph("car")),))).pattern


HOSTILE = [
    "table (round)",
    "salt, pepper",
    '5" pipe',
    "a\\b",
    "[logo]",
    "$1",
    '"',
    "\\",
    " padded",
    "",
    "find(cup)",
    "{x}",
]


@pytest.mark.parametrize("word", HOSTILE)
def test_any_word_can_be_written_and_read_again(word: str) -> None:
    text = things(Graph(word, None, (GraphRelation(word, Graph("table", word)),))).text
    node = own.parse(text, IMAGES)
    assert [term.name for term in walk(node) if isinstance(term, Word)] == [word, "table", word, word]
    assert own.show(node) == text
    stored = with_forms(pl.DataFrame({"program": [text, "find(cup)"]}))
    assert stored["words"].to_list() == [[word, "table", word, word], ["cup"]]
    assert with_programs(stored)["program"].to_list() == [text, "find(cup)"]


def test_a_quote_must_be_closed() -> None:
    with pytest.raises(ProgramError, match="at 5: expected a quote that ends the word, got the end"):
        own.parse('find("cup', IMAGES)


@pytest.mark.skipif(not SHARED.is_file(), reason="published subgraphs are not here")
def test_programs_of_references_are_those_of_the_release() -> None:
    rows = json.loads(gzip.decompress(SHARED.read_bytes()))["subgraphs"]
    assert len(rows) > 1000
    for row in rows:
        graph = from_json(row["graph"])
        assert covr.write(own.parse(things(graph).text, IMAGES)) == row["program"]
        assert (graph.length, graph.depth) == (row["len"], row["depth"])
        assert from_json(to_json(graph)) == graph


def test_elements_are_numbered_depth_first() -> None:
    graph = Graph("cup", None, (*BRANCH.relations, GraphRelation("near", CHAIR)))
    assert [(number, edge.name) for number, edge in graph.elements] == [(1, "on"), (7, "near")]
    assert [node.name for node in graph.nodes] == ["cup", "table", "chair", "lamp", "chair"]


def test_a_graph_does_not_take_its_hash_to_another_process() -> None:
    assert hash(BRANCH) == hash(pickle.loads(pickle.dumps(BRANCH)))
    assert b"_hash" not in pickle.dumps(BRANCH)


def test_there_are_fifteen_templates_in_more_than_nineteen_forms() -> None:
    assert len({template.name for template in TEMPLATES}) == 15
    assert sum(len(template.forms) for template in TEMPLATES) >= 19
    for template in TEMPLATES:
        assert len({form.name for form in template.forms}) == len(template.forms)


WORDS = {"attribute", "noun", "link name"}
ANSWERS = {name: {COUNT.name} for name in ("COUNT", "COUNTGROUPBY")}
ANSWERS |= dict.fromkeys(("CHOOSEATTR", "QUERYATTR", "QUERYOBJECT", "CHOOSEOBJECT", "CHOOSEREL"), WORDS)
ANSWERS |= {name: {BOOL.name} for template in TEMPLATES if (name := template.name).startswith("VERIFY")}
ANSWERS |= {"COMPARECOUNT": {BOOL.name}}
FORMS = [(template, form) for template in TEMPLATES for form in template.forms]


@pytest.mark.parametrize(("template", "form"), FORMS, ids=lambda each: each.name)
def test_a_form_has_a_program_of_its_kind_of_answer(template: ImageTemplate, form: TemplateForm) -> None:
    slots = {name: things(CUP) if name in "ABRC" else "3" if name in ("number", "size") else "x" for name in form.slots}
    node = shape(form.filled(slots).pattern)
    assert node.kind.name in ANSWERS[template.name]


@pytest.mark.parametrize(("template", "form"), FORMS, ids=lambda each: each.name)
def test_a_frame_says_every_slot_and_ends_in_a_question_mark(template: ImageTemplate, form: TemplateForm) -> None:
    for frame in form.frames:
        said = {piece[0] for piece in pieces(frame) if isinstance(piece, tuple)}
        counted = "{number:things}" in frame  # which says the reference in the number's number
        hidden = {"group"} if template.name == "QUERYATTR" else {"R"} if counted else set()
        assert said | hidden == set(form.slots) | hidden
        assert frame.endswith("?")
        assert "  " not in frame
