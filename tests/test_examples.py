"""The corpora in examples/ go through every command, as their page says."""

import re
import shutil
from pathlib import Path

import msgspec
import polars as pl

from questree.stages.questions import Bank
from questree.tables.run import Run
from questree.vocabulary.load import load
from worlds.commands import questree, run

EXAMPLES = Path(__file__).parents[1] / "examples"
COMMANDS = re.findall(r"^questree .*", (EXAMPLES / "README.md").read_text(), re.M)


def test_a_kitchen_goes_through_every_command(tmp_path: Path) -> None:
    shutil.copytree(EXAMPLES / "cooking", tmp_path / "cooking")
    for line in COMMANDS:
        if "kitchen" in line or "cooking" in line:
            run(line, tmp_path)
    assert perfect(tmp_path, "kitchen")
    bank = Bank(Run(tmp_path / "kitchen"))
    cook = bank.vocabulary.object_at["cook"]
    asked = [name for name in ("objExists", "objTime") if name in {t.name for t in bank.edition.templates}]
    codes = [bank.edition.by_code.index(t) for t in bank.edition.templates if t.name in asked]
    rows = [bank.shard(shard).questions.filter(pl.col("template").is_in(codes)) for shard in bank.folders()]
    assert pl.concat(rows)["x"].n_unique() > 5 and not (pl.concat(rows)["x"] == cook).any()


def test_thousands_of_words_go_through_every_command(tmp_path: Path) -> None:
    for line in COMMANDS:
        if "large" in line or "many" in line:
            run(line, tmp_path)
    assert perfect(tmp_path, "large")
    bank = Bank(Run(tmp_path / "large"))
    sizes = (len(bank.vocabulary.objects), len(bank.vocabulary.relations), len(bank.vocabulary.actions))
    assert sizes == (4000, 1000, 8000)
    assert any(bank.shard(shard).questions["x"].is_between(256, 3999).any() for shard in bank.folders())


def perfect(folder: Path, name: str) -> bool:
    """The oracle is right about everything."""
    done = questree("score", name, "--model", "oracle", "--resamples", 0, "--json", "oracle.json", folder=folder)
    assert done.returncode == 0, done.stderr
    cells = msgspec.json.decode((folder / "oracle.json").read_bytes())
    best = [cell for cell in cells if cell["metric"] in ("accuracy", "CA", "IC") and cell["value"] is not None]
    return {cell["value"] for cell in best} == {1.0} and {cell["metric"] for cell in best} == {"accuracy", "CA", "IC"}


def test_programs_find_the_person_whatever_a_vocabulary_calls_it() -> None:
    words = load(EXAMPLES / "cooking/vocabulary.toml")
    assert words.object_at["person"] == words.object_at["cook"] == 0
    assert words.relation_at["interacting with"] == words.relation_at["busy"]
