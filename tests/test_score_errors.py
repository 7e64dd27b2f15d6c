"""Most-Likely learned from files, kinds of errors as in AGQA-Decomp's Figure 11, and what sub-questions bring."""

import json
import random
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from conftest import copy
from judges import scores_at_once
from questree.api import score_sets
from questree.api.given_predictions import predictions_of
from questree.formats.decomp import export_decomp
from questree.formats.decomp_choices import read_choices
from questree.formats.decomp_files import hierarchies_of, video_files
from questree.metrics.answered import answered
from questree.metrics.cells import OVERALL
from questree.metrics.commonest import answering, answers_learnt, commonest
from questree.metrics.errors import KINDS, Choices, error_cells, error_kinds
from questree.metrics.scores import Scored
from questree.models.bots import BotOptions, said_by
from questree.models.stored import write_lines
from questree.rules import VIDEO_DAGS
from questree.scoring.compared import Scoring
from questree.stages.decompose.choices import choices_of
from questree.stages.decompose.dag_shards import DecomposeOptions, decompose
from questree.stages.decompose.hierarchies import run_hierarchies
from questree.stages.questions import Bank
from questree.tables.run import Run
from worlds.commands import questree
from worlds.decomp_files import by_id, dag, load, random_files, table
from worlds.papers import compiled

SPLITS = ("train", "test")
HIERARCHIES = load("agqa_decomp/hierarchies.json.gz")
FIGURE_11 = [  # longer or shorter, options, truth, what the model says, kind of error
    ("Longer", "sitting at a table", "drinking from a cup", "sitting at a table", "drinking from a cup", "valid"),
    ("Longer", "holding a box", "holding a bag", "holding a bag", "holding some food", "unrelated"),
    ("Shorter", "talking on a phone", "fixing their hair", "fixing their hair", "holding a phone", "related"),
    ("Shorter", "talking on a phone", "fixing their hair", "fixing their hair", "phone", "related"),
    ("Shorter", "sneezing somewhere", "holding a bag", "holding a bag", "standing up", "unrelated"),
    ("Shorter", "holding a box", "holding a bag", "holding a bag", "holding a bag", "right"),
    ("Longer", "holding a box", "holding a bag", "holding a bag", "holding a box", "a child is wrong"),
]


def figure() -> tuple[dict[str, Any], dict[str, str]]:
    """A file per choice, and the predictions; every other one has AGQA's program, the others only sub-questions."""
    files: dict[str, Any] = {}
    said: dict[str, str] = {}
    for number, (way, first, second, truth, answer, kind) in enumerate(FIGURE_11):
        video, parts = f"V{number}", [f"Is the person {option}?" for option in (first, second)]
        nodes = {"?": (f"V{number}-q", f"{way} Choose", truth)}
        nodes |= {part: (f"{video}-{at}", "Interaction", "yes") for at, part in enumerate(parts)}
        made = dag(nodes, {"?": {f"{way} Choose": parts}})
        if number % 2:
            filters = ", ".join(f"Filter(video, [actions, {option}])" for option in (first, second))
            made["old_program"] = f"Superlative(max, [{filters}], Subtract(Query(end, action), Query(start, action)))"
        files[f"{video}.json"] = {f"{video}-q": made}
        said |= {f"{video}-q": answer, f"{video}-0": "yes", f"{video}-1": "no" if kind == "a child is wrong" else "yes"}
    return files, said


def written(folder: Path, files: dict[str, Any]) -> Path:
    folder.mkdir(exist_ok=True)
    for name, content in files.items():
        (folder / name).write_text(json.dumps(content))
    return folder


def kinds(scored: Scored) -> dict[tuple[str, str], tuple[int, int]]:
    """(composition, kind) -> errors of the kind, errors"""
    return {
        (row.group, row.metric.removesuffix(" error")): (round((row.value or 0) * (row.n or 0)), row.n or 0)
        for row in scored.rows("m")
        if row.by == "error"
    }


def test_figure_11_has_one_error_of_each_kind(tmp_path: Path) -> None:
    files, said = figure()
    folder = written(tmp_path / "h", files)

    def scored(answers: dict[str, str], errors: bool = True) -> Scored:
        given, how = predictions_of(answers, "m"), Scoring("wrong", 0)
        return score_sets.scored_dags([given], (), None, folder, how=how, errors=errors).scored["m"]

    assert kinds(scored(said)) == {
        ("Longer Choose", "valid"): (1, 2),
        ("Longer Choose", "related"): (0, 2),
        ("Longer Choose", "unrelated"): (1, 2),
        ("Shorter Choose", "valid"): (0, 3),
        ("Shorter Choose", "related"): (2, 3),
        ("Shorter Choose", "unrelated"): (1, 3),
        ("Overall", "valid"): (1, 5),
        ("Overall", "related"): (2, 5),
        ("Overall", "unrelated"): (2, 5),
    }
    assert kinds(scored(said, errors=False)) == {}, "nobody asked"
    perfect = {key: FIGURE_11[int(key[1:-2])][3] if key.endswith("-q") else "yes" for key in said}
    assert set(kinds(scored(perfect)).values()) == {(0, 0)}


def naive_kinds(files: dict[str, Any], said: dict[str, str], about: dict[str, str]) -> Counter[tuple[str, str]]:
    found: Counter[tuple[str, str]] = Counter()
    for name, dags in files.items():
        seen = set()
        for one in dags.values() if name != "isolated.json" else ():
            nodes = one["subquestion"]
            for text, compositions in one["hierarchy"].items():
                own = nodes[text]
                if own["type"] in VIDEO_DAGS.unscored or own["answer"] is None or text in seen:
                    continue
                seen.add(text)
                for label, children in compositions.items():
                    parts = [nodes[child] for child in children]
                    usable = [p for p in parts if p["type"] not in VIDEO_DAGS.unscored and p["answer"] is not None]
                    if not label.endswith("er Choose") or not usable or said[own["key"]] == own["answer"]:
                        continue
                    if any(said[p["key"]] != p["answer"] for p in usable):
                        continue
                    options = [child.removeprefix("Is the person ").removesuffix("?") for child in children]
                    answer = said[own["key"]]
                    near = answer in about and about[answer] in [about.get(option) for option in options]
                    found[label, "valid" if answer in options else "related" if near else "unrelated"] += 1
    return found


def test_kinds_of_errors_are_those_that_loops_find(tmp_path: Path) -> None:
    about = {"talking on a phone": "phone", "holding a phone": "phone", "phone": "phone", "taking a picture": "camera"}
    folder, draw, total = written(tmp_path / "h", HIERARCHIES), random.Random(3), Counter[str]()
    options = read_choices(video_files(folder))
    assert len(options) == 16
    choices = {row["key"]: [row["first"], row["second"], *about] for row in options.to_dicts()}
    truth = by_id(load("agqa_decomp/preds_perfect.json.gz"))
    for _ in range(10):
        said = {key: draw.choice(choices[key]) if key in choices else answer for key, answer in truth.items()}
        wanted = naive_kinds(HIERARCHIES, said, about)
        tallies = error_kinds(answered(hierarchies_of(HIERARCHIES), table(said)), Choices(options, about))
        found = kinds(Scored(tallies, error_cells(tallies)))
        for (group, kind), (errors, n) in found.items():
            own = Counter({key: count for key, count in wanted.items() if group in (key[0], "Overall")})
            assert (errors, n) == (sum(c for (_, k), c in own.items() if k == kind), own.total())
            total[kind] += errors
    assert all(total[kind] > 10 for kind in KINDS)


def test_most_likely_says_the_commonest_training_answer_of_the_type() -> None:
    train, asked = (random_files(seed)[0] for seed in (1, 2))
    counts: dict[str, Counter[str]] = {}
    for name, content in train.items():
        rows = content if name == "isolated.json" else []
        seen = set()
        for one in content.values() if name != "isolated.json" else ():
            for text, node in one["subquestion"].items():
                if node["answer"] is not None and text not in seen:
                    seen.add(text)
                    rows = [*rows, node]
        for row in rows:
            if row["answer"] is not None:
                counts.setdefault(row["type"], Counter())[row["answer"]] += 1
    wanted = {type: min(own, key=lambda word: (-own[word], word)) for type, own in counts.items()}
    assert commonest(answers_learnt(hierarchies_of(train))) == wanted
    read = hierarchies_of(asked)
    model = answered(read, answering(wanted, read), "wrong")
    words = [*model.words.number, None]
    once = {}  # a key may be used for several types; a model says one thing
    for type, key in read.nodes.select("type", "key").iter_rows():
        once[key] = wanted.get(read.types[type])
    assert [words[said] for said in model.prediction.tolist()] == [once[key] for key in read.nodes["key"]]


def test_most_likely_stands_beside_models_or_alone(tmp_path: Path) -> None:
    folder, out = written(tmp_path / "h", HIERARCHIES), tmp_path / "o.json"
    common = ["score", "decomp", "--hierarchies", folder, "--resamples", 2, "--json", out]
    done = questree(*common, "--train", folder, "--errors")
    assert done.returncode == 0, done.stderr
    rows = json.loads(out.read_text())
    assert {row["model"] for row in rows} == {"Most-Likely"}
    at = {(row["metric"], row["by"], row["group"]): row for row in rows}
    said = commonest(answers_learnt(hierarchies_of(HIERARCHIES)))
    known = [word for word in ("yes", "no") if f"Relation Exists-{word}" in {group for _, _, group in at}]
    found = {word: at["accuracy", "answer", f"Relation Exists-{word}"]["value"] for word in known}
    assert found == {word: float(word == said["Relation Exists"]) for word in known}, "Table 9"
    done = questree("score", "decomp", "--train", folder)
    assert done.returncode == 1 and "--train: expected --hierarchies DIR beside it" in done.stderr


@pytest.fixture
def about_lengths(random_run: Run, tmp_path: Path) -> Run:
    """A few questions, all about lengths, taken apart."""
    run, place = copy(random_run, tmp_path), Bank(random_run).edition.by_code
    lengths = [at for at, template in enumerate(place) if template.name.startswith("actLength")]
    for path in sorted(run.balanced.glob("*.parquet")):
        asked = pl.read_parquet(run.questions / path.stem / "questions.parquet")
        asked.filter(pl.col("template").is_in(lengths)).select("video", "number").write_parquet(path)
    decompose(run, DecomposeOptions(balanced=True), pool=ThreadPoolExecutor(1))
    return run


def test_shards_have_the_errors_of_all_dags_at_once(about_lengths: Run, tmp_path: Path) -> None:
    asked, file = run_hierarchies(about_lengths), tmp_path / "mine.jsonl"
    write_lines(file, asked, said_by(asked, BotOptions("oracle")))
    offered = {key: {one: other, other: one} for key, one, other in choices_of(asked).iter_rows()}
    said = [json.loads(line) for line in file.read_text().splitlines()]
    for row in said:  # the other option, wherever there is a choice
        row["prediction"] = offered.get(row["id"], {}).get(row["prediction"], row["prediction"])
    file.write_text("\n".join(map(json.dumps, said)))
    how = Scoring("wrong", 20)
    whole = scores_at_once.dags(about_lengths.folder, how=how, errors=True).of_files([file])
    parts = score_sets.scored_dags([file], (), about_lengths.folder, how=how, errors=True)
    assert whole.rows == parts.rows
    valid = next(row for row in parts.rows if (row.metric, row.group) == ("valid error", OVERALL))
    assert valid.value == 1 and valid.n


def test_choices_of_a_run_are_those_of_its_files(about_lengths: Run, tmp_path: Path) -> None:
    run = about_lengths
    export_decomp(run, tmp_path / "out", pool=ThreadPoolExecutor(1))
    of_files = pl.concat(
        [read_choices(video_files(tmp_path / "out" / f"balanced_{split}_hierarchies")) for split in SPLITS]
    )
    of_run = choices_of(run_hierarchies(run))
    assert len(of_files) > 3
    shared = of_files.join(of_run, on="key", how="left", maintain_order="left")
    assert shared["first"].to_list() == shared["first_right"].to_list()
    assert shared["second"].to_list() == shared["second_right"].to_list()


def test_the_gain_of_training_on_sub_questions(release: Path, tmp_path: Path) -> None:
    path = release / "AGQA_balanced" / "test_balanced.txt"
    records = json.loads(path.read_bytes())
    right = {"hcrn": 4, "hme": 5, "hcrn-d": 5, "hme-d": 5}  # of ten
    for name, share in right.items():
        said = [
            {"csv_q_id": id, "prediction": record["answer"] if at % 10 < share else "nothing"}
            for at, (id, record) in enumerate(records.items())
        ]
        (tmp_path / f"{name}.json").write_text(json.dumps(said))
    base = ["--base", tmp_path / "hcrn.json", "--base", tmp_path / "hme.json"]
    more = ["--augmented", tmp_path / "hcrn-d.json", "--augmented", tmp_path / "hme-d.json"]
    out = ["--json", tmp_path / "o.json", "--resamples", 20, "--markdown", tmp_path / "t.md"]
    out += ["--latex", tmp_path / "t.tex", "--csv", tmp_path / "t.csv"]
    done = questree("score", "gain", "--questions", path, *base, *more, *out)
    assert done.returncode == 0, done.stderr
    rows = json.loads((tmp_path / "o.json").read_text())
    overall = {row["model"]: row for row in rows if (row["by"], row["group"]) == ("reasoning", "Overall")}
    exact = {name: sum(at % 10 < share for at in range(len(records))) / len(records) for name, share in right.items()}
    for name in ("hcrn", "hme"):
        assert (overall[name]["a"], overall[name]["b"]) == pytest.approx((exact[name], exact[f"{name}-d"]), abs=1e-12)
        assert overall[name]["difference"] == pytest.approx(exact[f"{name}-d"] - exact[name], abs=1e-12)
    assert "AGQA-Decomp" in done.stdout and f"{100 * exact['hcrn-d']:.2f}" in done.stdout
    text, n = (tmp_path / "t.md").read_text(), f"{len(records):,}"
    (line,) = [line for line in text.splitlines() if line.startswith("| Overall | hcrn |")][:1]
    cells = [cell.strip() for cell in line.split("|")[3:-1]]
    assert cells[:2] == [f"{100 * exact['hcrn']:.2f}", f"**{100 * exact['hcrn-d']:.2f}**"] and cells[-1] == n
    assert "q by Benjamini-Hochberg" in text and "gain-semantic" in (tmp_path / "t.csv").read_text()
    assert compiled(tmp_path, (tmp_path / "t.tex").read_text()) == []
    done = questree("score", "gain", "--questions", path, *base, *more[:2])
    assert done.returncode == 1 and "--augmented: expected as many files as --base, 2, got 1" in done.stderr
