"""Every question that the four papers print with an answer: a small world as somebody would annotate the film, cleaned
and asked with default options, yields the question with the printed answer.

They are the 31 of AGQA and AGQA-Decomp (24 in Figures 6 and 7, one in Section 1, two in Figure 3, four in Figures 1 and
11 of the second paper), one more in AGQA's Section 6.6, the two that Figure 3 words by references, the ten of
AGQA-Decomp's Table 5, which illustrate rules and are no questions of AGQA: they are executed; and the nine of COVR. The
pictures of FPVG's examples have no text.
"""

import json
import tomllib
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from judges.facts import WORDS
from questree.benchmarks.agqa.editions import EDITIONS
from questree.benchmarks.agqa.templates import Template
from questree.domains.images import IMAGES, corpus
from questree.domains.images.batches import execute
from questree.domains.video import VIDEO, Videos, videos
from questree.notation.own import parse, show
from questree.readings.answer import answer, spell
from questree.readings.english import english
from questree.readings.parts import decompose
from questree.stages.augment.graphs import AugmentOptions
from questree.stages.augment.rules import augment
from questree.stages.generate.programs import programs
from questree.stages.questions import Shard
from questree.tables.facts import Facts
from questree.terms import Node
from test_dags import normal
from worlds import generator_rows as rows
from worlds import whole_sources
from worlds.small import facts

PAPER = tomllib.loads((Path(__file__).parent / "data" / "printed_answers.toml").read_text())
PRINTED: list[dict[str, Any]] = PAPER["printed"]
ASKED = [entry for entry in PRINTED if "template" in entry]
ANSWERED = [entry for entry in PRINTED if "answer" in entry]
RARE_BELOW = 0  # one film does not tell what is rare


@cache
def cleaned() -> Facts:
    raw = facts("\n".join(f"video {name}\n{lines}" for name, lines in PAPER["worlds"].items()))
    return augment(raw, WORDS)[0]


def film(name: str) -> Facts:
    at = cleaned().videos["id"].to_list().index(name)
    return cleaned().between(at, at + 1)


def place(entry: dict[str, Any]) -> str:
    return str(entry.get("place", entry["says"]))


@cache
def asked(name: str, world: str, times: tuple[str, ...], timed: bool, edition: str) -> tuple[Shard, pl.Series]:
    """All that an edition asks of a template in some kinds of time, and its programs. References to relations would be
    most of it, and those with a time of their own, unless the question has one."""
    template = replace(template_of(edition, name), times=times)
    few = replace(EDITIONS[edition], shipped=(template,), relation_references=False, timed_references=timed)
    generated = rows.generated(film(world), RARE_BELOW, edition=few)
    shard = Shard.of(WORDS, [world], 1, generated.questions, generated.sides, few)
    return shard, programs(shard)


def template_of(edition: str, name: str) -> Template:
    return next(template for template in EDITIONS[edition].templates if template.name == name)


def rows_of(entry: dict[str, Any]) -> list[dict[str, int]]:
    """The questions with its program."""
    name, edition = entry["template"], entry.get("edition", "1.0")
    every = template_of(edition, name).times
    times = tuple(kind for kind in every if kind == "all" or f"{kind}(" in entry["program"])
    shard, texts = asked(name, entry["world"], times, entry.get("timed", False), edition)
    return shard.questions.filter(texts == show(program(entry))).to_dicts()


def program(entry: dict[str, Any]) -> Node:
    return parse(entry["program"], VIDEO)


def world(name: str) -> Videos:
    return videos(film(name), WORDS)


def executed(node: Node, name: str) -> str | None:
    return spell(node.kind, int(answer(node, world(name).ask([0]), {})[0]), WORDS)


@pytest.mark.parametrize("entry", ASKED, ids=place)
def test_a_printed_question_is_asked_and_has_the_printed_answer(entry: dict[str, Any]) -> None:
    (row,) = rows_of(entry)
    if "answer" in entry:
        assert spell(program(entry).kind, row["answer"], WORDS) == entry["answer"]


@pytest.mark.parametrize("entry", ANSWERED, ids=place)
def test_a_printed_question_and_its_printed_sub_questions_are_executed_to_the_printed_answers(
    entry: dict[str, Any],
) -> None:
    node = program(entry)
    assert executed(node, entry["world"]) == entry["answer"]
    parts = {normal(english(part, WORDS)): part for _, _, part in decompose(node, WORDS)} if "parts" in entry else {}
    for line in entry.get("parts", "").strip().splitlines():
        text, wanted = line.rsplit(" ", 1)
        assert executed(parts[normal(text)], entry["world"]) == wanted


def test_all_that_is_printed_is_here() -> None:
    """31 in AGQA and AGQA-Decomp, as the head of this file counts them."""
    places = [place(entry) for entry in ANSWERED]
    figures = [name for name in places if ", Figure 6" in name or ", Figure 7" in name]
    others = ("AGQA, Section 1", "AGQA, Figure 3, #1", "AGQA, Figure 3, #2")
    of_parts = [name for name in places if name.startswith("AGQA-Decomp, Figure")]
    assert (len(figures), len(of_parts), len({*others} & {*places})) == (24, 4, 3)
    assert len(PAPER["covr"]) == 9 and len([name for name in places if "Table 5" in name]) == 10


def test_what_nobody_annotated_is_no_action() -> None:
    """Figure 3 as released: rule 9 inserts that the food is put somewhere, as short as putting something on a table."""
    raw = facts(f"video food\n{PAPER['worlds']['food']}")
    node = parse("only(objects(carrying, before(shortest())))", VIDEO)
    answers = []
    for options in (AugmentOptions(), AugmentOptions(as_released=True)):
        columns = videos(augment(raw, WORDS, options)[0], options.words(WORDS))
        answers.append(spell(node.kind, int(answer(node, columns.ask([0]), {})[0]), WORDS))
    assert answers == ["food", None]


def scene(things: list[str]) -> dict[str, Any]:
    objects = {}
    for thing in things:
        (name, *attributes, noun), _, done = (thing.partition(" -> ")[0].split(), *thing.partition(" -> ")[1:])
        links = [link.split() for link in done.split(", ") if link]
        relations = [{"name": relation, "object": other} for relation, other in links]
        objects[name] = {"name": noun, "attributes": attributes, "relations": relations}
    return {"objects": objects}


@pytest.mark.parametrize("entry", PAPER["covr"], ids=place)
def test_a_question_printed_for_images_has_the_printed_answer(entry: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "scenes.json").write_text(json.dumps({name: scene(PAPER["images"][name]) for name in entry["images"]}))
    read = whole_sources.read_files([tmp_path / "scenes.json"])
    node = parse(entry["program"], IMAGES)
    (value,) = execute(
        [node], [range(len(entry["images"]))], corpus(read, dict.fromkeys(("white", "brown"), "color"))
    ).value
    assert value == entry["answer"]
