"""Templates from outside: any that is not refused generates what its program says; a file's faults are told at once."""

import json
import pickle
import re
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any

import msgspec
import numpy as np
import polars as pl
import pytest

from conftest import copy
from judges.facts import WORDS
from questree.api.shown_videos import of_question
from questree.benchmarks.agqa.editions import SECOND
from questree.benchmarks.agqa.templates import ACTION_REFERENCES, BANS, REFERENCES, SIDES, TIMES, Template
from questree.cli.wordings import wordings
from questree.columns.draws import Draws
from questree.domains.images.english import reference
from questree.domains.images.graph import Graph
from questree.domains.video import VIDEO, Videos, videos
from questree.faults import BadInput
from questree.formats.agqa import ExportOptions, export
from questree.formats.decomp import export_decomp
from questree.readings.answer import answer
from questree.show.video_view import VideoView
from questree.stages.balance.levelling import BalanceOptions
from questree.stages.balance.told import shortfalls
from questree.stages.decompose.dag_shards import DecomposeOptions, decompose
from questree.stages.drafts import number_questions
from questree.stages.drafts.given import made
from questree.stages.drafts.given import read as read_image_templates
from questree.stages.drafts.number_questions import references
from questree.stages.drafts.sources import Draft, draft, refer
from questree.stages.drafts.whole_run import DraftOptions, noted, options_of
from questree.stages.generate.given import GROUPS, check, read
from questree.stages.generate.rules import RULES
from questree.stages.generate.shards import GenerateOptions, generate
from questree.stages.questions import Bank
from questree.tables.facts import Facts
from questree.tables.questions import time_actions, time_kind
from questree.tables.run import Run
from questree.terms import ACTION, OBJECT, RELATION, Array, Kind, Node, Slot, fill
from worlds import generator_worlds as chance
from worlds.generator_rows import generated
from worlds.small import facts

NAMES = {
    RELATION.name: ("relation",),
    "window": ("time",),
    OBJECT.name: ("object", "first", "second"),
    "action": ("a", "b"),
}
DOCS = Path(__file__).parents[1] / "docs"


def program(kind: Kind, random: Random, depth: int = 0) -> str:
    """A program of a kind: an operator over others, or a slot, sometimes with a name nobody expects."""
    fitting = [op for op in VIDEO.ops.values() if op.result == kind or (kind.name == "bool" and op.result.yes)]
    if kind.name in NAMES and (depth > 2 or random.random() < 0.8 or not fitting):
        return "$" + random.choice([*NAMES[kind.name]] * 8 + ["somebody"])
    plain = [op for op in fitting if depth < 3 or not any(k.name not in NAMES for k in op.params.values())] or fitting
    op = random.choice(plain)
    return f"{op.name}({', '.join(program(param, random, depth + 1) for param in op.params.values())})"


def template(random: Random) -> Template:
    """Operators and ranges put together by chance; mostly ranges that fit."""
    roots = sorted(
        {op.result.name: op.result for op in VIDEO.ops.values() if op.result.askable or op.result.yes}.items()
    )
    text = program(random.choice(roots)[1], random)
    slots = {name.lstrip("$") for name in re.findall(r"\$\w+", text)}

    def some(choices: tuple[str, ...], wanted: bool) -> tuple[str, ...]:
        if random.random() < 0.05:
            wanted = not wanted
        return tuple(random.sample(choices, random.randint(1, len(choices)))) if wanted else ()

    every = random.random() < 0.2
    has_object, has_action = bool(slots & {"object", "first", "second"}), bool(slots & {"a", "b"})
    said = " and ".join(f"{{{slot}}}" for slot in sorted(slots - {"time"})) or "so"
    ends = ("{time}?", "?") if "time" in slots else ("?", "?")
    return Template(
        "drawn",
        text,
        "exists",
        "-".join(f"{{{slot}}}" for slot in sorted(slots)) or "all",
        tuple(random.sample([*RULES], random.randint(0, 5))) if random.random() < 0.3 else (),
        times=some(TIMES, "time" in slots),
        relations=some(GROUPS, "relation" in slots),
        every_relation=random.random() < 0.2,
        objects=some(REFERENCES, has_object and not every),
        every_object=has_object and every,
        actions=some(ACTION_REFERENCES[:3], has_action and not every),
        every_action=has_action and every,
        second_pass=random.random() < 0.2,
        bans=some(tuple(BANS), random.random() < 0.2),
        wordings=(f"Is it {said}{ends[0]}", f"{'{Time}, ' if 'time' in slots else 'Say: '}is it {said}?"),
    )


def world() -> Facts:
    return facts("\n".join(chance.world(seed=5, videos=4)))


def answers(asked: Template, rows: pl.DataFrame, known: Videos) -> Array:
    """The answers by the operators alone: the program with its time filled in, over the columns of the questions."""
    found = np.full(len(rows), -2)
    columns = {slot: rows["xy"[side]].to_numpy().astype(np.int64) for slot, side in SIDES.items()}
    columns["relation"] = rows["relation"].to_numpy().astype(np.int64)
    time = rows["time"].to_numpy().astype(np.int64)
    first, second = (np.asarray(column, np.int64) for column in time_actions(time))
    for kind, name in enumerate(TIMES):
        at = np.flatnonzero(time_kind(time) == kind)
        op = VIDEO.ops["whole" if name == "all" else name]
        window = op(*(Slot(f"time.{side}", ACTION) for side in "ab"[: len(op.params)]))
        node = fill(asked.node, {"time": window})
        assert isinstance(node, Node)
        own = {name: column[at] for name, column in (columns | {"time.a": first, "time.b": second}).items()}
        found[at] = answer(node, known.ask(rows["video"].to_numpy()[at]), own)
    return found


def test_a_random_template_is_refused_by_name_or_generates_what_its_program_says() -> None:
    random, tables = Random(3), world()
    known, asked, refused, questions = videos(tables, WORDS), 0, 0, 0
    for _ in range(400):
        drawn = template(random)
        wrong = list(check(drawn))
        assert all("\n" not in message for message in wrong)
        if wrong:
            refused += 1
            continue
        asked += 1
        edition = replace(SECOND, added=(drawn,), only_added=True)
        rows = generated(tables, 0, edition=edition, cap=2).questions
        assert np.array_equal(answers(drawn, rows, known), rows["answer"].to_numpy()), drawn.program
        questions += len(rows)
    assert min(asked, refused) > 50 and questions > 5_000


def example() -> str:
    page = (DOCS / "add-a-template.md").read_text("utf-8")
    return page.split("```toml\n")[1].split("```")[0]


@pytest.mark.processes
def test_templates_of_a_file_are_asked_after_the_shipped_ones_and_remembered(asked_run: Run, tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(example(), "utf-8")
    for part in ("facts", "vocabulary.toml"):
        (tmp_path / part).symlink_to(asked_run.folder / part)
    run = Run(tmp_path)
    added = read([file])
    counts = generate(run, GenerateOptions(templates=added, text=True), workers=2)
    assert [*counts][-len(added) :] == [template.name for template in added]
    assert all(counts[template.name].kept for template in added)
    bank = Bank(run)
    assert bank.edition.by_code[28:] == added
    for folder in bank.folders():
        shard = bank.shard(folder)
        own = shard.questions["template"].to_numpy() >= 28
        texts = pl.read_parquet(folder / "text.parquet")["question"]
        for at in np.flatnonzero(own)[:: max(int(own.sum()) // 40, 1)].tolist():
            assert shard.question(at).text == texts[at]
    alone = generate(run, GenerateOptions(templates=added, only_templates=True), workers=1)
    assert [*alone] == [template.name for template in added]
    assert {name: tally.kept for name, tally in alone.items()} == {name: counts[name].kept for name in alone}


UNWRITTEN = """
[[template]]
name = "relButNot"
program = "but_not(within(doing($relation), $time), interacting($object))"
times = ["before", "after"]
relations = ["contact"]
objects = ["direct"]
rules = ["more than 8 steps"]
group = "exists"
key = "{relation}"
wordings = [
  "Were they {relation} {relation:something}{time}, yet never touching {object}?",
  "{Time}, were they {relation} {relation:something}, yet never touching {object}?",
]
"""


def test_a_program_agqa_cannot_write_is_shown_and_no_export_begins(cleaned_run: Run, tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(UNWRITTEN, "utf-8")
    run = copy(cleaned_run, tmp_path)
    options = GenerateOptions(templates=read([tmp_path / "mine.toml"]), only_templates=True)
    generate(run, options, pool=ThreadPoolExecutor(1))
    decompose(run, DecomposeOptions(), pool=ThreadPoolExecutor(1))
    view = VideoView(run)
    bank = Bank(run)
    id = bank.shard(bank.folders()[0]).question(0).id
    lines, found = of_question(run, run.load("facts"), id)
    assert found["agqa"] is None
    assert "AGQA: no notation for this program" in [*lines]
    asked = view.find(view.key(id) or 0)
    assert view.notations(asked) == {}
    _, dag = view.taken_apart(id)
    assert all(row["program"] for row in dag.rows)
    for export_to in (
        lambda out: export(run, out, ExportOptions(unbalanced=True), pool=ThreadPoolExecutor(1)),
        lambda out: export_decomp(run, out, pool=ThreadPoolExecutor(1)),
    ):
        with pytest.raises(BadInput, match="template relButNot: expected a program that can be exported, got another"):
            export_to(tmp_path / "out")
        assert not (tmp_path / "out").exists()


def test_templates_of_plugins_have_examples_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, part in (("mine.toml", example()), ("plugged.toml", UNWRITTEN)):
        (tmp_path / name).write_text(part, "utf-8")
    monkeypatch.setattr("questree.api.wordings.ADDED", {each.name: each for each in read([tmp_path / "plugged.toml"])})

    def named(**more: Any) -> list[str]:
        wordings(out=tmp_path / "out.txt", json=tmp_path / "out.json", quiet=True, **more)
        return [row["template"] for row in json.loads((tmp_path / "out.json").read_text("utf-8"))["templates"]]

    assert named() == [*(each.name for each in SECOND.by_code if each in SECOND.templates), "relButNot"]
    assert named(templates=[tmp_path / "mine.toml"]) == ["relButNot", "actDuring", "objEither"]


def test_balance_says_what_to_do_when_it_keeps_nothing() -> None:
    nothing: Any = SimpleNamespace(targets=[], options=BalanceOptions())
    assert all(note.endswith("`split` and `decompose` may take all") for note in shortfalls(nothing))


def test_all_faults_of_a_file_are_told_with_the_names_of_its_templates(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    raw: list[dict[str, Any]] = [
        {
            "name": "objExists",
            "program": "within(interacting($object), $time)",
            "objects": ["direct"],
            "times": ["never"],
        },
        {"name": "mine", "program": "within(happening($x), $time)"},
        {"name": "other", "program": "interaction(holding, $object)"},
        {
            "name": "four",
            "program": "exists($object)",
            "objects": ["direct"],
            "rules": ["objects are alike", "no rule"],
        },
        {"name": "five", "program": "holds($a)"},
        {"name": "six", "colour": 1},
    ]
    rest: dict[str, Any] = {"group": "exists", "key": "all", "wordings": ["Is {object} there?"]}
    lines = [
        line for one in raw for line in ("[[template]]", *(f"{k} = {json.dumps(v)}" for k, v in (rest | one).items()))
    ]
    file.write_text("\n".join(lines), "utf-8")
    with pytest.raises(BadInput) as bad:
        read([file])
    told = str(bad.value).splitlines()
    assert all(line.startswith(f"{file}, template ") for line in told)
    for wanted in (
        "objExists: name: expected a new one, got one that is taken",
        "objExists: times: expected one of all, before, after, while, between, got 'never'",
        "mine: slot $x: expected a name for a slot of kind action; choose from $a, $b",
        "other: program: expected slots for words, got the word 'holding'",
        "four: rule 'objects are alike': expected a template with 'objects', got object yes-or-no",
    ):
        assert f"{file}, template {wanted}" in told
    for begin in ("four: rule 'no rule': expected a rule", "five: program: ", "six: "):
        assert any(line.startswith(f"{file}, template {begin}") for line in told)


def test_a_file_that_is_none_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    for text, wanted in (("[[", "expected TOML"), ("a = 1", "expected tables [[template]]"), ("", "got nothing")):
        file.write_text(text, "utf-8")
        with pytest.raises(BadInput, match=re.escape(wanted)):
            read([file])
    with pytest.raises(BadInput, match="cannot be read"):
        read([tmp_path / "nowhere.toml"])


def example_of_images() -> str:
    page = (DOCS / "add-a-template.md").read_text("utf-8")
    return page.split("```toml\n")[2].split("```")[0]


def test_templates_of_image_sets_need_no_python_either(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(example_of_images(), "utf-8")
    (added,) = read_image_templates([file])
    (form,) = added.forms
    things = reference(Graph("dog"))
    assert form.say(dict.fromkeys(form.slots, things)).endswith("?")
    assert pickle.loads(pickle.dumps(added)) == added
    assert options_of(msgspec.to_builtins(noted(DraftOptions(templates=(added,))))).templates == (added,)


@pytest.mark.parametrize(("program", "slots"), [("exists({R})", "R"), ("logic_or(exists({A}), exists({B}))", "AB")])
def test_every_wording_of_an_image_template_is_asked(program: str, slots: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Which one depends on the key of the source alone."""
    said = " or ".join(f"{{{slot}:a}}" for slot in slots)
    template = made("MINE", program, tuple(f"{start} {said}?" for start in ("Is there", "Do you see", "Can one find")))

    def drafted(template: Any, form: str, source: Any) -> Any:
        things = dict.fromkeys(slots, refer(Graph("dog")))
        return draft(template, form, things, (Graph("dog"),), [])

    for name in ("of_one", "of_two"):
        monkeypatch.setattr(number_questions, name, drafted)

    def asked() -> list[str]:
        sources: list[Any] = [SimpleNamespace(key=(1, at), draws=Draws(1, at)) for at in range(60)]
        return [found.text for source in sources if isinstance(found := references(source, template), Draft)]

    counts = Counter(text.split(" a dog")[0] for text in asked())
    assert counts.keys() == {"Is there", "Do you see", "Can one find"}
    assert min(counts.values()) > 8
    assert asked() == asked()


def test_all_faults_of_templates_of_image_sets_are_told(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    raw: list[dict[str, Any]] = [
        {"name": "COUNT", "program": "exists({R})"},
        {"name": "LEFT", "program": "count({X})"},
        {"name": "ODD", "program": "no_such({R})"},
        {"name": "SAID", "program": "exists({R})", "wordings": ["Is {R:nobody} {Q:a}?", "Is it"]},
    ]
    rest: dict[str, Any] = {"wordings": ["Is there {R:a}?"]}
    lines = [
        line for one in raw for line in ("[[template]]", *(f"{k} = {json.dumps(v)}" for k, v in (rest | one).items()))
    ]
    file.write_text("\n".join(lines), "utf-8")
    with pytest.raises(BadInput) as bad:
        read_image_templates([file])
    told = str(bad.value).splitlines()
    for begin in (
        "COUNT: name: expected a new one",
        "LEFT: program: expected {R}, or {A} and {B}, got X",
        "ODD: program: ",
        'SAID: wording "Is {R:nobody} {Q:a}?": expected a form of a reference',
        'SAID: wording "Is {R:nobody} {Q:a}?": expected slots of the program, got Q; choose from R',
        'SAID: wording "Is it": expected the slot R, got none',
        'SAID: wording "Is it": expected a question mark',
    ):
        assert any(line.startswith(f"{file}, template {begin}") for line in told), begin
