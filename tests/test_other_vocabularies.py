"""Any vocabulary goes through every command: that of the documentation, and random small ones."""

import json
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

import msgspec
from hypothesis import example, given, settings
from hypothesis import strategies as st

from questree.cli.app import app
from questree.faults import BadInput
from questree.stages.questions import Bank
from questree.stages.split.compositions import LISTS
from questree.stages.split.grammar import read
from questree.stages.split.language import of_videos
from questree.stages.split.rows import video_rows
from questree.stages.split.videos import read_split
from questree.tables.run import Run
from worlds.other_vocabularies import video, words, write

CALL: dict[str, Any] = {"exit_on_error": False, "result_action": "return_value"}
PAGE = Path(__file__).parents[1] / "docs/vocabulary.md"


def kitchen() -> dict[str, Any]:
    """The vocabulary of the documentation."""
    text = re.search(r"```toml\n(name = \"kitchen\".*?)```", PAGE.read_text("utf-8"), re.S)
    assert text
    return {"person": "o1", **msgspec.toml.decode(text[1])}


def commands(run: str, folder: Path, world: str) -> Iterator[list[str]]:
    """All questions of a run that was built, taken apart, answered, scored, shown and exported."""
    yield ["generate", run, "--rare-below", "0", "--workers", "1"]
    yield ["split", run, "--all", "--workers", "1"]
    yield ["decompose", run, "--all", f"--{world}", "--invalid-actions", "1", "--train-set", "--workers", "1"]
    yield ["balance", run, "--workers", "1"]
    yield ["answer", run, "--model", "oracle"]
    yield ["score", "decomp", run, "--model", "oracle", "--resamples", "0", "--json", str(folder / "scores.json")]
    yield ["audit", run, "--workers", "1"]
    yield ["ground", run, "--all", "--split", "all", "--out", str(folder / "ground")]
    yield ["report", run, "--out", str(folder / "report.html"), "--resamples", "0", "--workers", "1"]
    yield ["export", "agqa", run, "--out", str(folder / "agqa"), "--workers", "1"]
    yield ["export", "decomp", run, "--out", str(folder / "decomp"), "--workers", "1"]
    yield ["show", run]
    yield ["show", run, f"{Bank(Run(Path(run))).ids[0]}-0"]
    yield ["show", run, f"{Bank(Run(Path(run))).ids[0]}-0", "--dag"]
    yield ["verify", run, "--again", "--workers", "1"]


def built(made: dict[str, Any], random: Random, folder: Path, *options: str) -> Run:
    """A benchmark about some videos in these words."""
    videos = [video(random, number, made) for number in range(random.randint(1, 4))]
    vocabulary, facts = write(folder, made, videos)
    given = ["--vocabulary", str(vocabulary), "--out", str(folder / "run"), "--workers", "1"]
    app(["build", str(facts), *given, *options, "--quiet"], **CALL)
    return Run(folder / "run")


NOTHING_ASKED = ("no questions", "no such question")  # said where nothing can be asked about so few facts


def through(run: Run, folder: Path, world: str) -> list[dict[str, Any]]:
    """Every command; what the oracle scored."""
    for command in commands(str(run.folder), folder, world):
        try:
            app([*command, "--quiet"], **CALL)
        except BadInput as bad:
            assert any(each in str(bad) for each in NOTHING_ASKED), f"{command[:2]}: {bad}"
    scores = json.loads((folder / "scores.json").read_text("utf-8"))
    return scores if isinstance(scores, list) else []  # otherwise it says that there is nothing to score


def right(scores: list[dict[str, Any]]) -> bool:
    """Everything is answered rightly and consistently."""
    wanted = {"accuracy": 1.0, "CA": 1.0, "IC": 1.0, "RWR": 0.0}
    return all(each["value"] in (None, wanted.get(each["metric"], each["value"])) for each in scores)


@settings(max_examples=2, derandomize=True, database=None)
@example(215)  # the last video has time phrases, but no question
@given(st.integers(0, 10**6))
def test_any_vocabulary_goes_through_every_command(seed: int) -> None:
    random = Random(seed)
    with (
        TemporaryDirectory() as place,
        patch("questree.workers.ProcessPoolExecutor", lambda *_, **__: ThreadPoolExecutor(1)),
    ):
        folder = Path(place)
        try:
            run = built(words(random), random, folder, *(["--without", "12"] if seed % 3 == 0 else []))
        except BadInput as bad:
            assert "expected annotated actions, objects or relations, got none" in str(bad)
            return
        assert right(through(run, folder, "closed" if seed % 2 else "open"))


def test_the_documented_vocabulary_goes_through_every_command(tmp_path: Path) -> None:
    with patch("questree.workers.ProcessPoolExecutor", lambda *_, **__: ThreadPoolExecutor(1)):
        run = built(kitchen(), Random(3), tmp_path)
        scores = through(run, tmp_path, "open")
    assert scores and right(scores)
    asked = {each["group"]: each["n"] for each in scores if each["metric"] == "accuracy"}
    assert asked["Overall"] > 100
    made = json.loads((run.folder / "splits" / "report.json").read_text("utf-8"))
    assert [each["name"] for each in made["splits"]] == ["videos", "more-steps", "indirect"]
    assert [*made["left out"]] == ["novel-compositions"]  # no word is in three videos of either side


def test_what_a_vocabulary_holds_out_is_marked_and_split(tmp_path: Path) -> None:
    held_out = {"actions": ["yawning"], "first": ["holding"], "pairs": [["apple", "holding"]]}
    with patch("questree.workers.ProcessPoolExecutor", lambda *_, **__: ThreadPoolExecutor(1)):
        run = built(kitchen() | {"held_out": held_out}, Random(3), tmp_path, "--without", "12")
        for command in islice(commands(str(run.folder), tmp_path, "open"), 2):
            app([*command, "--quiet"], **CALL)
    bank = Bank(run)
    (shard,) = map(bank.shard, bank.folders())
    rows, language = video_rows(shard), of_videos(bank.vocabulary)
    holds = {text: read(text, language).holds(rows) for text in (*MARKED, *MARKED.values(), *SURELY.values())}
    for flag, words_in_it in MARKED.items():
        assert holds[flag].any() and not (holds[flag] & ~holds[words_in_it]).any(), f"{flag} without its words"
    for flag, surely in SURELY.items():
        assert holds[surely].any() and not (holds[surely] & ~holds[flag]).any(), f"{surely} without {flag}"
    said = {name: read(f"says({name})", language).holds(rows) for name in LISTS.values()}
    for flag, name in LISTS.items():
        assert not (holds[SURELY[flag]] & ~said[name]).any(), f"{SURELY[flag]} without {name}"
    parts = read_split(run, "novel-compositions")
    says = read(f"says({', '.join(LISTS.values())})", language)
    novel = shard.questions.select("video", "number").filter(says.holds(rows))
    assert parts["train"].join(novel, on=["video", "number"]).is_empty()
    for_test = run.load("facts").videos["split"] != "train"
    assert parts["test"].equals(novel.filter(for_test.gather(novel["video"])))


MARKED = {  # flag -> what a question that has it says somewhere, or is answered by
    "nc_seq": 'uses(action="yawning")',
    "nc_sup": 'has(first, relation="holding") | has(choose_first, relation="holding")',
    "nc_dur": 'uses(action="yawning") | answer("yawning")',
    "nc_objrel": 'uses(relation="holding") | uses(object="apple")',
}
SURELY = {  # flag -> questions that have it without doubt
    "nc_seq": 'has(before, action="yawning")',
    "nc_sup": 'has(first, relation="holding")',
    "nc_dur": 'has(longer, action="yawning")',
    "nc_objrel": 'has(interaction, relation="holding", object="apple")',
}
