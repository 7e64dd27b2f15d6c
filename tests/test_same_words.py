"""Singular and plural, inflections and synonyms never exclude each other, and no answer depends on which is said."""

import json
from pathlib import Path

import polars as pl
import pytest

from questree.domains.images import IMAGES
from questree.domains.images.batches import execute
from questree.domains.images.corpus import corpus
from questree.domains.images.kinds import LINK_NAME, NOUN
from questree.notation.own import parse
from questree.search.exclusion import word_pairs
from questree.search.same_words import SameWords, classes
from questree.search.word_tables import (
    CONTRADICTING,
    DISJOINT,
    ENTAILING_NOUNS,
    annotations,
    default_words,
    folder_of_words,
)
from questree.sources.own_json import read_own_images
from questree.stages.decompose.set_shards import decompose_run
from questree.stages.drafts.answering import ANOTHER_WORD
from questree.tables.images import Images
from questree.tables.questions import with_forms
from questree.tables.run import Run
from worlds.foreign_images import vrd
from worlds.image_run import spoken_nodes, write_images
from worlds.question_shards import write_questions
from worlds.workshops import workshop_of


def test_lists_with_a_word_in_common_are_one_and_unused_words_do_not_count() -> None:
    found = classes(["b", "c", "a", "z"], [["a", "b"], ["c", "d"], ["x", "z"], ["b", "d", "c"]])
    assert found == {"b": "b", "a": "b", "c": "b"}


@pytest.fixture(scope="module")
def images(tmp_path_factory: pytest.TempPathFactory) -> Images:
    return read_own_images(vrd(tmp_path_factory.mktemp("vrd")))[0]


def test_words_of_a_corpus_that_mean_the_same(images: Images) -> None:
    same = SameWords.of(images)
    assert {frozenset(w for w in same.nouns if same.nouns[w] == f) for f in same.nouns.values()} == {
        frozenset({"tree", "trees"}),
        frozenset({"street", "road"}),
        frozenset({"coat", "jacket"}),
    }
    assert same.one("jacket", NOUN) == same.one("coat", NOUN)
    assert same.one("on the top of", LINK_NAME) == same.one("on", LINK_NAME)


def test_inflections_of_a_verb_and_what_is_no_plural(tmp_path: Path) -> None:
    links = ["wears", "wearing", "wear", "sit on", "sitting on", "rides", "riding", "holds"]
    things = [
        {"id": str(at), "name": name, "relations": [{"name": link, "object": "0"} for link in links]}
        for at, name in enumerate(("glass", "glasses", "person", "people"))
    ]
    (tmp_path / "own.json").write_text(json.dumps({"images": [{"id": "1", "things": things}]}))
    same = SameWords.of(read_own_images(tmp_path / "own.json")[0])
    assert same.nouns == {"person": "person", "people": "person"}
    assert same.links == {
        **dict.fromkeys(("wears", "wearing", "wear"), "wears"),
        **dict.fromkeys(("sit on", "sitting on"), "sit on"),
        **dict.fromkeys(("rides", "riding"), "rides"),
    }


def test_tables_never_let_them_exclude_each_other(images: Images) -> None:
    same = SameWords({"tree": "tree", "trees": "tree"}, {"red": "red", "reddish": "red"}, {"on": "on", "atop": "on"})
    words = default_words()
    tables = same.tables(words)
    assert tables.entailing_nouns["tree"] == words.entailing_nouns["tree"] | {"trees"}
    assert "tree" in tables.entailing_nouns["trees"]
    assert "reddish" not in tables.contradicting["red"]
    assert tables.contradicting["blue"] == words.contradicting["blue"]
    with folder_of_words(None) as folder:
        pairs = word_pairs(images, words, annotations(folder))
    either = pairs[CONTRADICTING] | pairs[DISJOINT]
    own = SameWords.of(images)
    assert not any(own.links.get(a, a) == own.links.get(b, b) for a, b in either)
    assert {("tree", "trees"), ("coat", "jacket")} <= {tuple(sorted(pair)) for pair in pairs[ENTAILING_NOUNS]}


def test_no_answer_changes_if_they_are_one_word(images: Images) -> None:
    shop = workshop_of(images, default_words())
    chunk = shop.questions(range(len(images.images)), 6, 1)
    asked, same = chunk.questions, SameWords.of(images)
    assert len(asked) > 500
    assert sum(n for (_, reason), n in chunk.dropped.items() if reason == ANOTHER_WORD) > 5
    one = {**same.nouns, **same.links}

    def plainly(text: str) -> str:
        words = (word for word in sorted(one, key=len, reverse=True))
        for word in words:
            for end in (")", ","):
                text = text.replace(f"({word}{end}", f"({one[word]}{end}").replace(
                    f", {word}{end}", f", {one[word]}{end}"
                )
        return text

    programs = [parse(plainly(text), IMAGES) for text in asked["program"]]
    found = execute(programs, asked["images"].to_list(), corpus(same.merged(images), {}))
    spelled = [{True: "yes", False: "no"}.get(v, str(v)) if isinstance(v, bool) else str(v) for v in found.value]
    assert [one.get(answer, answer) for answer in asked["answer"]] == spelled
    for text in asked.filter(pl.col("template").str.starts_with("CHOOSE"))["question"]:
        assert not any(f"{a} or {b}" in text.replace("a ", "") for a, b in (("tree", "trees"), ("coat", "jacket")))


def test_sub_questions_whose_answer_another_word_would_change_are_not_answered(tmp_path: Path) -> None:
    rooms = {"train": ["tree, dog, 1 near 0", "trees, dog, 1 near 0", "cup, dog, 1 near 0", "cup, cat"]}
    run = Run(tmp_path / "run")
    write_images(run, rooms)
    near = "with_relation(find(dog), find(%s), near)"
    asked = {  # about all images but the first
        "logic_or(exists(%s), exists(find(cat)))" % (near % "tree"): "yes",
        "logic_or(exists(%s), exists(find(cat)))" % (near % "cup"): "yes",
    }
    rows = [
        {"id": f"q{at}", "split": "train", "template": "VERIFYLOGIC", "question": text, "answer": answer}
        | {"program": text, "images": [1, 2, 3], "length": 3, "depth": 3, "attributes": 0, "pair": at}
        for at, (text, answer) in enumerate(asked.items())
    ]
    run.covr.mkdir()
    write_questions(with_forms(pl.DataFrame(rows)), run)
    decompose_run(run, default_words(), every=True)
    nodes = spoken_nodes(run)
    found = dict(nodes.select("program", "answer").iter_rows())
    assert {text: found[text] for text in asked} == asked
    assert found[f"exists({near % 'tree'})"] is None  # a dog is near trees
    assert found["exists(find(tree))"] is None
    assert found[f"exists({near % 'cup'})"] == found["exists(find(dog))"] == found["exists(find(cat))"] == "yes"
