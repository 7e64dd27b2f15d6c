"""Extensions from outside: the files of docs/extend, each copied to an empty folder and named on the command line."""

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from conftest import copy
from questree.api.notations import parsed
from questree.extensions import LOADED
from questree.faults import BadInput, Fault, lines
from questree.metrics.catalogue import METRICS, Metric
from questree.plugins import metric, template
from questree.stages.questions import Bank
from questree.tables.image_questions import scanned
from questree.tables.questions import with_programs
from questree.tables.run import Run
from questree.terms import ProgramError
from questree.vocabulary import default
from worlds import commands, forked

EXAMPLES = Path(__file__).parents[1] / "docs" / "extend"


def example(name: str, folder: Path) -> str:
    shutil.copy(EXAMPLES / name, folder)
    return name


def questree(*args: object, folder: Path) -> "commands.Done | subprocess.CompletedProcess[str]":
    """In a process of its own if a plugin may be loaded: one stays as long as its process."""
    named = any(str(arg).startswith("--plugin") for arg in args) or any(folder.rglob("questree.toml"))
    done = forked.questree(*args, folder=folder) if named else commands.questree(*args, folder=folder)
    assert not LOADED
    return done


def works(folder: Path, *args: object) -> str:
    done = questree(*args, folder=folder)
    odd = [line for line in done.stderr.splitlines() if not line.startswith("warning: ")]
    assert (done.returncode, odd) == (0, []), done.stderr
    return done.stdout


def refused(folder: Path, *args: object) -> str:
    """The one line that says what is wrong."""
    done = questree(*args, folder=folder)
    assert done.returncode == 1, done.stdout
    assert "Traceback" not in done.stderr
    assert done.stderr.count("\n") == 1, done.stderr
    return done.stderr.removeprefix("error: ").rstrip("\n")


def all_wrong(folder: Path, texts: list[str]) -> list[str]:
    """What is said about plugins of these texts: all at once, the first line about each, and nothing is written."""
    options = list[str]()
    for number, text in enumerate(texts):
        (folder / str(number)).mkdir()
        (folder / str(number) / "mine.py").write_text(text)
        options += ["--plugin", f"{number}/mine.py"]
    done = questree("ingest", "json", "nowhere", "--out", "run", *options, folder=folder)
    assert (done.returncode, done.stdout) == (1, "")
    assert "Traceback" not in done.stderr
    assert not (folder / "run").exists()
    said = [line.removeprefix("error: ").split("/", 1) for line in done.stderr.splitlines()]
    first = dict(reversed(said))
    return [first[str(number)] for number in range(len(texts))]


def films(folder: Path, second: str = "2.0: cup drinking from\n") -> None:
    folder.mkdir()
    for name in "abcd":
        (folder / f"{name}.frames.txt").write_text("0.5: cup holding, in front of\n" + second)


def test_a_source_of_videos(tmp_path: Path) -> None:
    plugin = example("source.py", tmp_path)
    films(tmp_path / "raw")
    out = works(tmp_path, "ingest", "shopping-list", "raw", "--out", "run", "--plugin", plugin)
    assert "all         4       8" in out
    facts = Run(tmp_path / "run").load("raw")
    assert facts.videos["split"].to_list() == ["train", "train", "train", "test"]
    assert "shopping-list" in works(tmp_path, "ingest", "--help", f"--plugin={plugin}")
    assert "shopping-list" not in works(tmp_path, "ingest", "--help")


def test_build_knows_the_files_of_a_source(tmp_path: Path) -> None:
    plugin = example("source.py", tmp_path)
    films(tmp_path / "raw")
    works(tmp_path, "build", "raw", "--out", "run", "--plugin", plugin, "--workers", 1, "--quiet")
    lock = json.loads((tmp_path / "run" / "lock.json").read_text())
    assert {name: list(stage["plugins"]) for name, stage in lock["stages"].items()}["raw"] == [plugin]
    assert not (tmp_path / "nowhere").exists()
    said = works(tmp_path, "verify", "run")  # the source was there when it was made, and is not now
    assert "raw, " in said and "which is not loaded" in said
    assert "note" not in works(tmp_path, "verify", "run", "--plugin", plugin)
    (tmp_path / plugin).write_text((tmp_path / plugin).read_text() + "\n")
    assert "locked with another source.py" in works(tmp_path, "verify", "run", "--plugin", plugin)


def test_what_a_source_yields_is_checked(tmp_path: Path) -> None:
    plugin = example("source.py", tmp_path)
    films(tmp_path / "raw")
    (tmp_path / "raw" / "a.frames.txt").write_text("0.5: unicorn holding\n")
    said = refused(tmp_path, "ingest", "shopping-list", "raw", "--out", "run", "--plugin", plugin)
    assert said.startswith("raw, video a, frame 15: unknown object 'unicorn'")
    (tmp_path / "raw" / "a.frames.txt").write_text("soon: cup holding\n")
    said = refused(tmp_path, "ingest", "shopping-list", "raw", "--out", "run", "--plugin", plugin)
    where = "source.py, line 25: ValueError: could not convert string to float: 'soon'"
    assert said == f"{where}; reading {Path('raw', 'a.frames.txt')}"
    assert not (tmp_path / "run").exists()


def test_faults_of_one_kind_are_told_three_times_and_then_counted() -> None:
    same = [Fault(f"video {at}", "unknown object 'unicorn'") for at in range(77)]
    *first, other, more = lines([*same, Fault("video 3", "no frame")])
    assert first == [str(fault) for fault in same[:3]]
    assert (other, more) == ("video 3: no frame", "... and 74 more: unknown object 'unicorn'")


def test_names_and_numbers_make_no_other_kind_of_fault() -> None:
    ends = [Fault(f"video {at}", f"end {at / 4:g} is before start {at}") for at in range(1, 6)]
    words = [Fault("", f"unknown object 'o{at}'; did you mean 'o1'?") for at in range(1200)]
    words.append(Fault("", "unknown relation 'o1'; known: on"))
    assert [*lines([*ends, *words])] == [
        *map(str, [*ends[:3], *words[:3], words[-1]]),
        "... and 2 more: end ... is before start ...",
        "... and 1,197 more: unknown object ...",
    ]


SETTINGS = ("--set", "width=wide", "--set", "depth=3")


def test_a_source_of_images(tmp_path: Path) -> None:
    plugin = example("image_source.py", tmp_path)
    (tmp_path / "raw").mkdir()
    (tmp_path / "raw" / "one.txt").write_text("red cup on table\nblack cat under table\n")
    works(tmp_path, "ingest", "captions", "raw", "--out", "run", "--plugin", plugin, "--quiet", "--json", "counts.json")
    assert json.loads((tmp_path / "counts.json").read_text())["things"] == 3
    works(tmp_path, "ingest", "captions", "raw", "--out", "wide", "--plugin", plugin, "--quiet", "--set", "width=800")
    assert pl.read_parquet(tmp_path / "wide" / "images" / "images.parquet")["width"].to_list() == [800]
    done = questree("ingest", "captions", "raw", "--out", "no", "--plugin", plugin, *SETTINGS, folder=tmp_path)
    assert done.stderr.splitlines() == [
        "error: --set width: expected int, got 'wide'",
        "error: --set: expected a setting, got 'depth'; choose from width, height",
    ]
    assert "every file is as locked" in works(tmp_path, "verify", "run", "--plugin", plugin)


def test_settings_are_listed_and_said_once(tmp_path: Path) -> None:
    plugin = example("image_source.py", tmp_path)
    (tmp_path / "raw").mkdir()
    (tmp_path / "raw" / "one.txt").write_text("red cup on table\nblack cat under table\n")
    listed = " ".join(works(tmp_path, "ingest", "captions", "--help", "--plugin", plugin).split())
    assert "repeatable: width (int, 640 without it); height (int, 480 without it)." in listed
    read = ("ingest", "captions", "raw", "--out", "run", "--plugin", plugin)
    assert refused(tmp_path, *read, "--set", "width") == (
        "--set: expected NAME=VALUE, got 'width'; choose from width, height"
    )
    said = refused(tmp_path, *read, "--set", "width=800", "--set", "width=900")
    assert said == "--set width: expected one value, got '900', too"
    assert refused(tmp_path, "ingest", "captions", "gone", "--out", "run", "--plugin", plugin) == (
        "gone: expected a folder or file, got nothing of this name"
    )
    built = ("build", "raw", "--source", "captions", "--out", "run", "--plugin", plugin, "--set", "width=800")
    assert "questions is empty" in refused(tmp_path, *built, "--workers", 1, "--quiet")  # of one image, which is read
    assert pl.read_parquet(tmp_path / "run" / "images" / "images.parquet")["width"].to_list() == [800]
    works(tmp_path, "synth", "images", "--out", "pictures", "--images", 5, "--quiet")
    said = refused(tmp_path, "build", "pictures", "--out", "other", "--set", "width=800")
    assert said == "--set: expected a setting, got 'width'; this source has none"


YIELDED = """
import numpy as np
from pathlib import Path
from questree.plugins import source

@source("mine", says="mine")
def read(folder):
    yield {"id": "a", "length": np.float32(4.5), "width": np.int64(640), "frames": FRAMES}
"""


def test_records_may_have_numbers_of_numpy(tmp_path: Path) -> None:
    frame = '"number": np.int32(30), "seconds": np.float64(1), "person": np.array([1, 2, 3.5, 4])'
    things = '"objects": [{"class": "cup"}]'
    (tmp_path / "mine.py").write_text(YIELDED.replace("FRAMES", f"[{{{frame}, {things}}}]"))
    works(tmp_path, "ingest", "mine", tmp_path, "--out", "run", "--quiet", "--plugin", "mine.py")
    facts = Run(tmp_path / "run").load("raw")
    assert facts.videos.rows() == [("a", "", 4.5, 640, None)]
    assert facts.persons.rows() == [(0, 0, 1, 2, 3.5, 4, None)]


@pytest.mark.parametrize(("frames", "got"), [("folder", "PosixPath"), ("(x for x in [])", "generator")])
def test_what_no_record_can_hold_is_told_with_the_record(frames: str, got: str, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(YIELDED.replace("FRAMES", frames))
    said = refused(tmp_path, "ingest", "mine", ".", "--out", "run", "--plugin", "mine.py")
    assert said == f"., video a: expected texts, numbers, lists and dictionaries, got {got}"


def test_a_metric_and_a_bot(asked_run: Run, tmp_path: Path) -> None:
    run = copy(asked_run, tmp_path).folder
    metric, bot = (("--plugin", example(f"{name}.py", tmp_path)) for name in ("metric", "bot"))
    works(tmp_path, "decompose", run, "--quiet", "--workers", 1)
    assert "half-blind" in works(tmp_path, "answer", run, "--model", "?", *bot)
    works(tmp_path, "answer", run, "--model", "half-blind", "--quiet", *bot)
    works(tmp_path, "answer", run, "--model", "always-yes", "--quiet")
    options = ("--resamples", 20, "--missing", "wrong", "--json")
    out = works(tmp_path, "score", "decomp", run, *metric, *options, "scores.json")
    assert "yes bias = share of yes among predictions - share of yes among answers" in out
    rows: list[dict[str, Any]] = json.loads((tmp_path / "scores.json").read_text())
    biased, fair = (
        next(r for r in rows if (r["metric"], r["group"], r["model"]) == ("yes bias", "Overall", model))
        for model in ("always-yes", "half-blind")
    )
    assert (fair["value"], fair["low"], fair["high"]) == (0, 0, 0)
    assert 0 < biased["low"] <= biased["value"] <= biased["high"] < 1
    own = {(row["metric"], row["by"], row["group"]): row["value"] for row in rows if row["model"] == "half-blind"}
    assert own["accuracy", "type", "Interaction"] == own["accuracy", "type", "Conjunction"] == 1
    assert own["accuracy", "type", "First/Last"] < 0.5
    assert "yes bias" not in works(tmp_path, "score", "decomp", run, *options, "plain.json")
    assert [row for row in rows if row["metric"] != "yes bias"] == json.loads((tmp_path / "plain.json").read_text())
    (tmp_path / "told.py").write_text(
        "from questree.plugins import metric\n"
        "@metric('unknown', formula='questions without a true answer')\n"
        "def unknown(table): return table['answer'].is_null()\n"
        "@metric('told', formula='correct is null where the answer is, and only there')\n"
        "def told(table): return table['answer'].is_null() == table['correct'].is_null()\n"
        "@metric('right', formula='right / those with a true answer', by='type')\n"
        "def right(table): return table['correct']\n"
    )
    works(tmp_path, "score", "decomp", run, "--plugin", "told.py", "--quiet", *options, "told.json")
    counted = {
        (row["metric"], row["group"]): row["value"]
        for row in json.loads((tmp_path / "told.json").read_text())
        if row["model"] == "half-blind"
    }
    assert counted["unknown", "Overall"] > 0 and counted["told", "Overall"] == 1
    assert counted["right", "Interaction"] == 1


def test_a_rule_of_augmentation(cleaned_run: Run, tmp_path: Path) -> None:
    plugin, run = example("augmentation.py", tmp_path), copy(cleaned_run, tmp_path).folder
    out = works(tmp_path, "augment", run, "--plugin", plugin)
    assert out.index("merge synonyms") < out.index("drop doors") < out.index("merge duplicate boxes")
    door = Run(run).vocabulary().object_at["door"]
    assert door not in Run(run).load("facts").objects["object"]


def test_a_file_beside_the_run_names_plugins(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    example("source.py", tmp_path / "mine")
    films(tmp_path / "raw")
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "questree.toml").write_text('plugins = ["../mine/source.py"]\n')
    works(tmp_path, "ingest", "shopping-list", "raw", "--out", "runs/first", "--quiet")
    lock = json.loads((tmp_path / "runs" / "first" / "lock.json").read_text())
    assert list(lock["stages"]["raw"]["plugins"]) == ["source.py"]
    (tmp_path / "runs" / "questree.toml").write_text("plugins = 3\n")
    said = refused(tmp_path, "verify", "runs/first")
    assert said.endswith('questree.toml: plugins: expected a list of files as in ["near.py"], got 3')
    (tmp_path / "runs" / "questree.toml").write_text('plugin = ["../mine/source.py"]\n')
    said = refused(tmp_path, "verify", "runs/first")
    assert said.endswith("questree.toml: expected a known key, got 'plugin'; choose from plugins, without, cluster")
    (tmp_path / "runs" / "questree.toml").write_text('plugins = ["gone.py"]\n')
    said = refused(tmp_path, "verify", "runs/first")
    assert said.endswith("questree.toml: plugins: expected a Python file, got 'gone.py', which is not there")


def test_an_installed_package_is_a_plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copy(EXAMPLES / "source.py", tmp_path / "shopping.py")
    about = tmp_path / "shopping-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: shopping\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[questree.plugins]\nshopping = shopping\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=":")
    command = [sys.executable, "-m", "questree"]
    assert "shopping-list" in subprocess.run([*command, "ingest", "--help"], capture_output=True, text=True).stdout
    (about / "entry_points.txt").write_text("[questree.plugins]\nshopping = gone\n")
    done = subprocess.run([*command, "ingest", "--help"], capture_output=True, text=True)
    said = "error: plugin shopping: expected a module, got 'gone', which is not there\n"
    assert (done.returncode, done.stderr) == (1, said)


WRONG = [
    ("x = (", "mine.py, line 1: SyntaxError: '(' was never closed"),
    ("\nimport nowhere_at_all", "mine.py, line 2: ModuleNotFoundError: No module named 'nowhere_at_all'"),
    ("from questree.plugins import nothing", "mine.py, line 1: ImportError: cannot import name 'nothing'"),
    ("raise SystemExit(3)", "mine.py, line 1: SystemExit: 3"),
    (
        "from questree.plugins import metric\n@metric('m', formula='')\ndef m(a, b): ...",
        "mine.py: metric m: expected a function of (table), got one of (a, b)",
    ),
    (
        "from questree.plugins import metric\n@metric('m', formula='', how='sum')\ndef m(a): ...",
        "mine.py: metric m: how: expected a known one, got 'sum'; choose from ratio, rest, odds",
    ),
    (
        "from questree.plugins import source\n@source('star', says='')\ndef m(a): ...",
        "mine.py: source star: expected a new name, got one that is taken; taken are action-genome, charades, agqa",
    ),
    (
        "from questree.plugins import augmentation\n@augmentation('a', says='', after='b')\ndef m(a, b): ...",
        "mine.py: augmentation a: after: expected one that is there, got 'b'; choose from add actions",
    ),
    (
        "from questree.plugins import metric\n@metric('m')\ndef m(a): ...",
        "mine.py, line 2: TypeError: metric() mis",
    ),
]


def test_what_is_wrong_is_one_line_with_file_and_name(tmp_path: Path) -> None:
    lines = all_wrong(tmp_path, [text for text, _ in WRONG])
    for line, (_, said) in zip(lines, WRONG, strict=True):
        assert line.startswith(said)


def test_a_plugin_that_is_not_there(tmp_path: Path) -> None:
    said = refused(tmp_path, "ingest", "json", "x", "--out", "y", "--plugin", "gone.py")
    assert said == "gone.py: cannot be read (No such file or directory)"
    assert refused(tmp_path, "verify", "--plugin") == "--plugin: expected a Python file, got nothing"
    (tmp_path / "plugin.txt").write_text("")
    said = refused(tmp_path, "verify", "run", "--plugin", "plugin.txt")
    assert said == "plugin.txt: expected a Python file, got another name; choose one that ends in .py"


@pytest.mark.parametrize("way", ["spawn", "fork"])
def test_workers_know_the_plugins(way: str, tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        "from questree.plugins import metric\n"
        "@metric('mine', formula='')\n"
        "def mine(table): raise ValueError('no')\n"
        "def work(name):\n"
        "    from questree.metrics.catalogue import METRICS\n"
        "    return name in METRICS or 1 / 0\n"
    )
    (tmp_path / "main.py").write_text(
        "import sys\n"
        "from concurrent.futures import ProcessPoolExecutor\n"
        "from multiprocessing import get_context\n"
        "from questree.plugins import load\n"
        "from questree.workers import processes\n"
        "if __name__ == '__main__':\n"
        "    load('mine.py')\n"
        "    mine = next(m for n, m in sys.modules.items() if n.startswith('questree_plugin'))\n"
        "    for given in (None, ProcessPoolExecutor(1, mp_context=get_context(sys.argv[1]))):\n"
        "        with processes(1, given) as pool:\n"
        "            print(pool.submit(mine.work, 'mine').result(), pool.submit(mine.work, 'other').exception())\n"
    )
    command = [sys.executable, "main.py", way]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.stdout.splitlines() == ["True mine.py, line 6: ZeroDivisionError: division by zero"] * 2, done.stderr


def test_the_page_shows_every_example_as_it_is() -> None:
    page = (EXAMPLES.parent / "extend.md").read_text("utf-8")
    for file in EXAMPLES.glob("*.py"):
        assert f"```python\n{file.read_text('utf-8')}```" in page, f"docs/extend.md shows another {file.name}"


def test_an_exporter_gets_questions_of_either_medium(asked_run: Run, tmp_path: Path) -> None:
    plugin, run = example("exporter.py", tmp_path), asked_run.folder
    out = works(tmp_path, "export", "chat", run, "--out", "out", "--plugin", plugin)
    lines = [json.loads(line) for line in (tmp_path / "out" / "train.jsonl").read_text().splitlines()]
    asked = Bank(asked_run).find(lines[7]["id"])
    said = lines[7]["messages"]
    assert (said[0]["content"], said[1]["content"]) == (asked.text, asked.answer)
    assert f"{len(lines):,}" in out
    said_twice = refused(tmp_path, "export", "chat", run, "--out", "out", "--plugin", plugin)
    assert "not empty" in said_twice


def test_an_operator_is_read_asked_and_taken_apart(tmp_path: Path) -> None:
    plugin = example("video_operator.py", tmp_path)
    program = "never(within(interaction(holding, cup), after(sitting on a sofa)))"
    said = works(tmp_path, "program", "read", program, "--plugin", plugin)
    assert "Is the person never holding a cup after sitting on a sofa?" in said
    assert "Interaction After  Is the person holding a cup after sitting on a sofa?" in said
    assert "never" in works(tmp_path, "program", "operators", "--plugin", plugin)
    assert "no operator 'never'" in questree("program", "read", program, folder=tmp_path).stderr


CHECKED = [
    (
        "@operator('video')\ndef never(world, asked): ...",
        "operator never: asked: expected a kind (Object,",
    ),
    (
        "@operator('sound')\ndef never(world): ...",
        "operator never: medium: expected a known one, got 'sound'",
    ),
    (
        "@operator('video', says='x')\ndef n(world): ...",
        "operator n: keyword: expected a known one, got 'says'",
    ),
    (
        "@operator('video', ask='{x}?')\ndef n(world, asked: Bool) -> Bool: ...",
        "operator n: argument in '{x}?': expected a known one, got 'x'; choose from asked",
    ),
    (
        "@operator('video', parts=lambda asked: [])\ndef n(world, asked: Bool) -> Bool: ...",
        "operator n: parts: expected a function of (vocabulary, asked), got one of (asked)",
    ),
    (
        "image_template('NEW', program='exists({R})', wordings=['Is there {R:some}?'])",
        "template NEW: wording \"Is there {R:some}?\": expected a form of a reference, got 'some'; choose from",
    ),
    (
        "image_template('NEW', program='exist({R})', wordings=[])",
        "template NEW: program: at 0: no operator 'exist'",
    ),
    (
        "template('new', program='doing($relation)', wordings=[], group='', key='')",
        "template new: relations: expected some for the slot of kind relation, got 0",
    ),
    (
        "@operator('video')\ndef within(world) -> Bool: ...",
        "operator within: expected a new name, got one that is taken; taken are both",
    ),
    (
        "@rule('And', medium='video', sentence='')\ndef a(members): ...",
        "rule And: expected a new composition and new names, got ",
    ),
    ("@rule('A', medium='video', sentence='', way=1)\ndef a(members): ...", "rule A: Rule.__init__() got an unexp"),
]


def test_operators_and_rules_are_checked(tmp_path: Path) -> None:
    given = "from questree.plugins import Bool, image_template, operator, rule, template\n"
    lines = all_wrong(tmp_path, [given + line for line, _ in CHECKED])
    for line, (_, said) in zip(lines, CHECKED, strict=True):
        assert line.startswith(f"mine.py: {said}")


DOUBLING = (
    "@operator('video', ask='Is {asked} so', type='Doubling', label='Doubling', parts=lambda v, asked: [])\n"
    "def NAME(world, asked: Bool) -> Bool: ...\n"
)
MISTAKEN = [
    (
        "@operator('video', ask='Is it so', categories=Categories(reasoning='x'))\ndef n(world) -> Bool: ...",
        "operator n: categories: reasoning: expected a list, got a text 'x'",
    ),
    (
        DOUBLING.replace("NAME", "p") + "@rule('P', medium='video', sentence='', types='X')\ndef r(members): ...",
        "rule P: types: expected a list, got a text 'X'",
    ),
    (
        "@metric('m', formula='', needs='parts')\ndef m(table): ...",
        "metric m: needs: expected a list, got a text 'parts'",
    ),
    (
        "image_template('NEW', program='exists({R})', wordings='Is there {R:a}?')",
        "template NEW: wordings: expected a list, got a text 'Is there {R:a}?'",
    ),
    (
        "template('new', program='doing($relation)', wordings=['x'], group='', key='', rules='more than 8 steps')",
        "template new: rules: expected a list, got a text 'more than 8 steps'",
    ),
    (
        "template('new', program='doing($relation)', wordings=['x'], group='', key='', wording=[])",
        "template new: keyword: expected a known one, got 'wording'; choose from name, program, wordings",
    ),
    (
        DOUBLING.replace("NAME", "q") + "@rule('Dubling', medium='video', sentence='')\ndef r(members): ...",
        "rule Dubling: composition: expected a known one, got 'Dubling'; choose from Doubling",
    ),
    (
        "@rule('Triple', medium='images', sentence='')\ndef r(members): ...",
        "rule Triple: composition: expected a known one, got 'Triple'; choose from Modifier",
    ),
    (
        DOUBLING.replace("NAME", "t").replace("label='Doubling'", "label='Twice'")
        + "@rule('Twice', medium='video', sentence='', types=['Duobling'])\ndef r(members): ...",
        "rule Twice: types: expected a known one, got 'Duobling'; choose from Doubling",
    ),
    (
        "@metric('m', formula='', by='types')\ndef m(table): ...",
        "metric m: by: expected a known one, got 'types'; choose from id, answer",
    ),
    (
        "@metric('m', formula='', needs=['part'])\ndef m(table): ...",
        "metric m: needs: expected a known one, got 'part'; choose from id, answer",
    ),
    (
        "@metric('accuracy', formula='')\ndef m(table): ...",
        "metric accuracy: expected a new name, got one that is taken; taken are accuracy, CA",
    ),
    (
        "@operator('video', ask='Is it so', steps='two')\ndef n(world) -> Bool: ...",
        "operator n: steps: expected a whole number, got 'two'",
    ),
    (
        "@operator('video', phrase='so')\ndef n(world) -> Bool: ...",
        "operator n: expected English (ask=...), got none",
    ),
    (
        "@operator('images', ask='Are {few:plural} few')\ndef n(world, few: Things) -> Bool: ...",
        "operator n: form in 'Are {few:plural} few': expected a known one, got 'plural'; choose from ",
    ),
    (
        "@operator('video', ask='Is it so', categories=Categories(structural='x'))\ndef n(world) -> Bool: ...",
        "operator n: categories: structural: expected a known one, got 'x'; choose from query, compare, choose,",
    ),
    (
        "@source('m', says='', sign=['*.txt'])\ndef m(folder): ...",
        "source m: sign: expected a text, got ['*.txt']",
    ),
    (
        "@source('m', says='')\ndef m(folder, width: int = '640'): ...",
        "source m: width: expected a default of int, got '640'",
    ),
    (
        "@source('m', says='')\ndef m(folder, width=None): ...",
        "source m: width: expected str, int, float or bool, got <class 'NoneType'>",
    ),
    ("ops('images')['cuont']", ", line 2: KeyError: \"expected an operator, got 'cuont'; choose from count"),
]


def test_mistakes_are_told_when_a_plugin_is_loaded(tmp_path: Path) -> None:
    names = "Bool, Categories, Things, image_template, metric, operator, ops, rule, source, template"
    lines = all_wrong(tmp_path, [f"from questree.plugins import {names}\n{line}" for line, _ in MISTAKEN])
    for line, (_, said) in zip(lines, MISTAKEN, strict=True):
        assert line.startswith("mine.py" + ("" if said.startswith(",") else ": ") + said)


def test_faults_of_programs_and_wordings_speak_of_what_was_written() -> None:
    with pytest.raises(ProgramError, match="no operator 'odd' for images"):
        parsed("odd(find(cup))", "own", default())
    with pytest.raises(ProgramError, match="no operator 'odd' for video"):
        parsed("odd(even(cup))", "own", default())
    with pytest.raises(BadInput) as bad:
        template("new", program="interacting($object)", wordings=["Is {a} {object}"], objects=["direct"], **KEYED)
    said = [str(fault) for fault in bad.value.faults]
    assert said[0].startswith("template new: wording 1: the program has no slot a, only object")
    assert not any("frame" in each or each.count("new") > 1 for each in said)


KEYED: dict[str, Any] = {"group": "exists", "key": "{object}"}


@pytest.mark.parametrize(
    ("how", "count", "said"),
    [
        ("difference", [1, 0], "metric m: how 'difference': expected 2 Series, got 1"),
        ("mean score", [[1, 0]] * 4, "metric m: how 'mean score': expected 3 or a multiple of it Series, got 4"),
        ("ratio", ["yes", "no"], "metric m: expected a Series of numbers, got one of String"),
    ],
)
def test_what_a_metric_returns_is_checked(how: Any, count: list[Any], said: str) -> None:
    several = [pl.Series(part) for part in count] if isinstance(count[0], list) else pl.Series(count)
    METRICS.places["m"] = "metric m"
    with pytest.raises(BadInput) as bad:
        Metric("m", "", lambda table: several, how=how).parts(pl.DataFrame({"id": ["a", "b"]}))
    assert str(bad.value.faults[0]) == said


def test_a_metric_is_by_what_shards_have_in_common() -> None:
    with pytest.raises(BadInput, match="metric m: by: expected a known one, got 'dag'; choose from id, answer"):
        metric("m", formula="", by="dag")
    for before in (True, False):  # as plugins said before it went for all
        metric("m", formula="", by_video=before)


def test_a_composition_nobody_declared_is_named(tmp_path: Path) -> None:
    text = (EXAMPLES / "video_operator.py").read_text()
    (tmp_path / "mine.py").write_text(text.replace('[("Never", asked)]', '[("Nver", asked)]'))
    said = refused(tmp_path, "program", "read", "never(interaction(holding, cup))", "--plugin", "mine.py")
    assert said.startswith(
        "mine.py: operator never: parts: expected a composition, got 'Nver'; choose from Interaction"
    )


def test_a_split_is_proved_and_written(asked_run: Run, tmp_path: Path) -> None:
    plugin, run = example("split.py", tmp_path), copy(asked_run, tmp_path).folder
    out = works(tmp_path, "split", run, "--plugin", plugin)
    assert "drinking-after" in out
    assert (run / "splits" / "drinking-after" / "train.parquet").is_file()
    (tmp_path / "mine.py").write_text("from questree.plugins import split\nsplit('mine', held_out='has(afterwards)')\n")
    said = refused(tmp_path, "split", run, "--plugin", "mine.py")
    assert said.startswith("mine.py: split mine, held out: 'has(afterwards)': ")


@pytest.mark.processes
def test_an_image_operator_with_its_rule_and_template(pictured_run: Run, tmp_path: Path) -> None:
    plugin = example("image_operator.py", tmp_path)
    copy(pictured_run, tmp_path)
    works(tmp_path, "generate", "run", "--questions", 400, "--workers", 2, "--quiet", "--plugin", plugin)
    asked = answered_questions(tmp_path / "run").filter(pl.col("template") == "ODD")
    assert {*asked["answer"]} == {"yes", "no"}
    assert asked["question"].str.contains("odd").all()
    assert asked["program"].str.starts_with("odd(").all()
    works(tmp_path, "wordings", "--out", "examples.txt", "--quiet", "--plugin", plugin)
    assert "Is the number of red cups odd?" in (tmp_path / "examples.txt").read_text()
    works(tmp_path, "decompose", "run", "--quiet", "--plugin", plugin)
    for bot in ("oracle", "always-yes"):
        works(tmp_path, "answer", "run", "--model", bot, "--quiet", "--plugin", plugin)
    works(tmp_path, "score", "decomp", "run", "--plugin", plugin, "--resamples", 0, "--quiet", "--json", "scores.json")
    rows = json.loads((tmp_path / "scores.json").read_text())
    value = {(row["model"], row["by"], row["group"]): row["value"] for row in rows if row["metric"] == "IC"}
    assert value["oracle", "rule", "Odd Yes"] == value["oracle", "rule", "Odd No"] == 1
    assert value["oracle", "type", "Parity"] == 1
    assert value["always-yes", "type", "Parity"] != 1
    bare = (
        ("decompose", "run"),
        ("answer", "run", "--model", "oracle"),
        ("score", "decomp", "run"),
        ("power", "run", "--model", "oracle"),
    )
    for command in bare:
        assert refused(tmp_path, *command).endswith(
            "made with the plugin image_operator.py, which is not loaded; give it with --plugin image_operator.py"
        )


def without_rule(name: str, folder: Path) -> str:
    """An example that declares no rule for its composition."""
    text = (EXAMPLES / name).read_text("utf-8")
    begin = text.index("\n@rule(")
    (folder / name).write_text(text[:begin] + text[text.index("\n\n\n", begin) :], "utf-8")
    return name


def scores_without_rule(folder: Path, run: str | Path, plugin: str) -> dict[tuple[str, str, str], float | None]:
    works(folder, "decompose", run, "--quiet", "--workers", 1, "--plugin", plugin)
    works(folder, "answer", run, "--model", "oracle", "--quiet", "--plugin", plugin)
    works(folder, "score", "decomp", run, "--plugin", plugin, "--resamples", 0, "--quiet", "--json", "scores.json")
    rows = json.loads((folder / "scores.json").read_text())
    return {(row["metric"], row["by"], row["group"]): row["value"] for row in rows}


def test_an_image_operator_without_a_rule(pictured_run: Run, tmp_path: Path) -> None:
    plugin = without_rule("image_operator.py", tmp_path)
    copy(pictured_run, tmp_path)
    made = ("--questions", 400, "--workers", 2, "--quiet", "--plugin", plugin)
    works(tmp_path, "generate", "run", *made)
    for stage in ("balance", "split"):
        works(tmp_path, stage, "run", "--quiet", "--plugin", plugin)
    found = scores_without_rule(tmp_path, "run", plugin)
    assert found["accuracy", "type", "Parity"] == found["CA", "composition", "Odd"] == 1
    assert found["IC", "type", "Parity"] is None
    works(tmp_path, "verify", "run", "--again", "--quiet", "--plugin", plugin)
    assert "expected a run of videos (agqa)" in refused(tmp_path, "export", "agqa", "run", "--out", "out")


def test_only_the_templates_of_a_plugin_are_asked_about_images(tmp_path: Path) -> None:
    works(tmp_path, "synth", "images", "--out", "world", "--images", 40, "--seed", 4, "--quiet")
    works(tmp_path, "ingest", "gqa", "world", "--out", "run", "--quiet")
    asked = ("generate", "run", "--only-templates", "--questions", 20, "--workers", 1, "--quiet")
    works(tmp_path, *asked, "--plugin", EXAMPLES / "image_operator.py")
    assert {*answered_questions(tmp_path / "run")["template"]} == {"ODD"}
    assert "expected --templates FILE or a plugin's template with it, got none" in refused(tmp_path, *asked)


def test_a_video_operator_without_a_rule(cleaned_run: Run, tmp_path: Path) -> None:
    plugin, run = without_rule("video_operator.py", tmp_path), copy(cleaned_run, tmp_path).folder
    made = ("--only-templates", "--rare-below", 3, "--workers", 1, "--quiet", "--plugin", plugin)
    works(tmp_path, "generate", run, *made)
    found = scores_without_rule(tmp_path, run, plugin)
    assert found["accuracy", "type", "Never"] == found["CA", "composition", "Never"] == 1
    assert found["IC", "type", "Never"] is None


def answered_questions(run: Path) -> pl.DataFrame:
    return with_programs(scanned(Run(run)).sort("number").collect())


@pytest.mark.processes
def test_a_video_operator_with_its_rule_and_template(cleaned_run: Run, tmp_path: Path) -> None:
    plugin, run = example("video_operator.py", tmp_path), copy(cleaned_run, tmp_path).folder
    made = ("generate", run, "--only-templates", "--rare-below", 3, "--text", "--workers", 1, "--plugin", plugin)
    assert "objRelNever" in works(tmp_path, *made)
    works(tmp_path, "decompose", run, "--quiet", "--workers", 1, "--plugin", plugin)
    for bot in ("oracle", "always-yes"):
        works(tmp_path, "answer", run, "--model", bot, "--quiet", "--plugin", plugin)
    works(tmp_path, "score", "decomp", run, "--plugin", plugin, "--resamples", 0, "--quiet", "--json", "scores.json")
    rows = json.loads((tmp_path / "scores.json").read_text())
    value = {(row["model"], row["by"], row["group"]): row["value"] for row in rows if row["metric"] == "IC"}
    assert value["oracle", "rule", "Never Yes"] == value["oracle", "rule", "Never No"] == 1
    assert value["oracle", "type", "Never"] == 1
    assert value["always-yes", "rule", "Never Yes"] == 0
    works(tmp_path, "report", run, "--resamples", 0, "--bots", "none", "--quiet", "--plugin", plugin)
    assert "Were they never" in (tmp_path / "report.html").read_text("utf-8")
    works(tmp_path, "split", run, "--all", "--more-steps", "objRelNever=4,actExists=2", "--quiet", "--plugin", plugin)
    for name in ("agqa", "decomp"):
        more = ["--unbalanced"] if name == "agqa" else []
        said = refused(tmp_path, "export", name, run, "--out", "out", *more, "--plugin", plugin)
        assert said.startswith("template objRelNever: expected a program that can be exported, got another: AGQA")
    assert not (tmp_path / "out").exists()
    said = refused(tmp_path, "decompose", run)
    assert said.endswith(f"made with the plugin {plugin}, which is not loaded; give it with --plugin {plugin}")


@pytest.mark.processes
def test_a_video_template_and_a_rule_of_generation(cleaned_run: Run, tmp_path: Path) -> None:
    run = copy(cleaned_run, tmp_path).folder
    plugins = [f"--plugin={example(name, tmp_path)}" for name in ("video_template.py", "generation.py")]
    out = works(tmp_path, "generate", run, "--only-templates", "--rare-below", 3, "--workers", 1, *plugins)
    assert "objTouchedBoth" in out
    works(tmp_path, "decompose", run, "--quiet", "--workers", 1)  # the run remembers its templates
    counts = json.loads(next((run / "questions").glob("*/counts.json")).read_text())
    assert counts["relExistsLong"]["rejected"]["time is short"] > 0


def test_a_notebook_with_plugins(pictured_run: Run, tmp_path: Path) -> None:
    copy(pictured_run, tmp_path)
    script = Path(__file__).parent / "worlds" / "notebook_with_plugins.py"
    done = subprocess.run([sys.executable, script, EXAMPLES], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert abs(json.loads(done.stdout)) < 1
    # a notebook without them is told so, in words of Python
    code = "import questree\ntry: questree.open('run').questions()['id'][0]; questree.answer('run', 'oracle')\n"
    code += "except questree.BadInput as bad: print(bad)"
    said = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True)
    assert said.returncode == 0, said.stderr
    assert "made with the plugin" in said.stdout and "questree.plugins.load" in said.stdout
