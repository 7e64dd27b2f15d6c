"""FPVG equals the released scripts on the vectors, and a small image can be followed by eye."""

import json
import shlex
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import msgspec
import numpy as np
import polars as pl
import pytest

from bench.grounded_files import write_grounded
from bench.stages import fpvg as bench
from questree.cli.app import app
from questree.cli.fpvg import fpvg
from questree.cli.paper import PaperOptions
from questree.faults import BadInput
from questree.metrics.comparison import over_runs
from questree.metrics.fpvg import SIGNS, match, score_fpvg
from questree.metrics.relevance import as_released, box_rows, corners, iou, overlap, relevance
from questree.metrics.scores import Score
from questree.scoring.compared import OnePolicy
from questree.sources.detections import read_detections
from questree.sources.grounded import read_annotated
from questree.tables.scored import GROUNDED, RELEVANCE, Annotated, Boxes, Detections
from test_pages import commands
from worlds.decomp_files import load

INPUTS, EXPECTED = load("fpvg/inputs.json.gz"), load("fpvg/expected.json.gz")
NO_DETECTIONS = {"nofeat"}  # the released script evaluates it with raw ids; we leave it out and count it


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The vectors as files."""
    folder = tmp_path_factory.mktemp("fpvg")
    for name in ("questions", "sceneGraphs", "detections"):
        (folder / f"{name}.json").write_text(json.dumps(INPUTS[name]))
    for name, rows in INPUTS["predictions"].items():
        (folder / f"{name}.json").write_text(json.dumps(rows))
    return folder


@pytest.fixture(scope="module")
def vectors(folder: Path) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Questions and what is relevant to them."""
    asked = read_annotated([folder / "questions.json"], folder / "sceneGraphs.json", "path")
    return asked.questions, relevance(asked, read_detections(folder / "detections.json"))


def answers(rows: dict[str, list[dict[str, Any]]]) -> dict[str, pl.DataFrame]:
    return {
        name: pl.DataFrame({"id": [r["questionId"] for r in given], "prediction": [r["prediction"] for r in given]})
        for name, given in rows.items()
    }


def by_name(rows: list[Score]) -> dict[tuple[str, str, str], Score]:
    return {(row.metric, row.by, row.group): row for row in rows}


def test_the_box_functions_are_the_released_ones() -> None:
    for each in EXPECTED["box_functions"]:
        one, two = (corners(np.array([each[b][c] for c in ("x1", "y1", "x2", "y2")], float)) for b in ("b1", "b2"))
        assert iou(one, two) == pytest.approx(each["get_iou"], abs=1e-9)
        assert overlap(one, two) == pytest.approx(each["get_overlap"], abs=1e-9)


def test_relevant_and_irrelevant_detections_are_those_of_the_vectors(
    vectors: tuple[pl.DataFrame, pl.DataFrame],
) -> None:
    found = as_released(*vectors)
    wanted = {
        image: {
            id: {"relevant": sorted(near), "irrelevant": sorted(far[image][id])}
            for id, near in questions.items()
            if id not in NO_DETECTIONS
        }
        for far in [EXPECTED["irrelevant_negoverlap25_path"]]
        for image, questions in EXPECTED["relevant_iou50_path"].items()
    }
    assert found == {image: questions for image, questions in wanted.items() if questions}


def test_categories_are_those_of_the_vectors(vectors: tuple[pl.DataFrame, pl.DataFrame]) -> None:
    asked, found = vectors
    evaluated = asked.filter(found["left_out"] == "")["id"].to_list()
    assert sorted(evaluated) == sorted(set(EXPECTED["evaluated_qids"]) - NO_DETECTIONS)
    rows = by_name(score_fpvg(asked, found, answers(INPUTS["predictions"])).rows("m"))
    for kind, lists in EXPECTED["qid_lists"].items():
        members = [{id for part in category for id in part} - NO_DETECTIONS for category in lists]
        total = sum(map(len, members))
        by, group = ("all", "Overall") if kind == "ALL" else ("structural", kind)
        for name, ids in zip(("FPVG+T", "FPVG+F", "FPVG-T", "FPVG-F"), members, strict=True):
            row = rows[name, by, group]
            assert row.n == total and row.value == pytest.approx(len(ids) / total, abs=1e-12), (kind, name)
        assert rows["FPVG+", by, group].value == pytest.approx((len(members[0]) + len(members[1])) / total)
        assert rows["Acc_all", by, group].value == pytest.approx((len(members[0]) + len(members[2])) / total)
    everything = [rows[f"Acc_{name}", "everything", "Overall"] for name in ("all", "rel", "irrel")]
    assert [(row.n, round(100 * (row.value or 0), 2)) for row in everything] == [
        (610, 62.79),
        (610, 48.36),
        (610, 35.25),
    ]


BOX = np.array([[0, 0, 100, 100]], float)


def relevance_of(annotated: Boxes, detected: Boxes | None, objects: int, mode: Any = "detected") -> tuple[Any, ...]:
    """RELEVANCE of one question about these boxes, of coordinates that are cut as `read_detections` cuts them."""
    question = pl.DataFrame({"id": ["q"], "image": ["A"], "answer": ["x"], "structural": [""]})
    about = np.arange(len(annotated))
    images, boxes = ([], BOX[:0]) if detected is None else (["A"], np.trunc(detected))
    start, counts = np.array([0, len(boxes)])[: len(images) + 1], np.array([objects])[: len(images)]
    asked = Annotated(question, annotated, about, np.array([0, len(about)]))
    return relevance(asked, Detections(images, boxes, start, counts), mode).row(0)


@pytest.mark.parametrize(
    ("detected", "mode", "relevant", "irrelevant"),
    [
        ([0, 0, 50, 100], "detected", (), ()),  # IoU is 0.5, not above; wholly inside the object
        ([0, 0, 51, 100], "detected", (0,), ()),
        ([0, 0, 20, 100], "annotated", (), (0,)),  # covers 20 % of the object
        ([0, 0, 20, 100], "detected", (), ()),  # lies wholly in it
        ([75, 0, 175, 100], "detected", (), (0,)),  # 25 %, not above
        ([74, 0, 174, 100], "detected", (), ()),
        ([0.9, 0.9, 51.9, 100.9], "detected", (0,), ()),  # cut to 0, 0, 51, 100
        ([200, 200, 250, 250], "annotated", (), (0,)),
        ([0, 0, 0, 0], "detected", (), (0,)),
    ],
)
def test_thresholds_are_strict(detected: list[float], mode: Any, relevant: Any, irrelevant: Any) -> None:
    assert relevance_of(BOX, np.array([detected], float), 1, mode)[:2] == (list(relevant), list(irrelevant))


def test_padding_can_be_relevant_but_not_irrelevant() -> None:
    boxes = np.array([[0, 0, 100, 100], [300, 300, 400, 400], [0, 0, 99, 100], [500, 500, 600, 600]], float)
    assert relevance_of(BOX, boxes, 2, "detected") == ([0, 2], [1], 2, "")


def test_why_a_question_is_left_out_is_said() -> None:
    assert relevance_of(BOX[:0], BOX, 1)[3] == "no annotation"
    assert relevance_of(BOX, None, 1)[3] == "no detections"
    assert relevance_of(BOX, BOX + 500, 1)[3] == "nothing relevant"
    assert relevance_of(BOX, BOX, 1)[3] == "nothing irrelevant"


def four_questions() -> pl.DataFrame:
    """One per category; all evaluated. p0, p1 in image A, the rest in B."""
    return pl.DataFrame(
        {
            "id": ["p0", "p1", "p2", "p3"],
            "image": ["A", "A", "B", "B"],
            "answer": ["cup"] * 4,
            "structural": ["query"] * 4,
        },
        schema=dict(GROUNDED.columns),
    )


def said(words: str, probabilities: list[float] | None = None) -> pl.DataFrame:
    columns: dict[str, Any] = {"id": ["p0", "p1", "p2", "p3"], "prediction": words.split()}
    return pl.DataFrame(columns | ({"probability": probabilities} if probabilities else {}))


FOUND = pl.DataFrame([([0], [1], 2, "")] * 4, schema=dict(RELEVANCE.columns), orient="row")
THREE = {"all": said("cup bag cup bag"), "rel": said("cup bag dog dog"), "irrel": said("dog dog dog bag")}


def test_four_questions_one_per_category() -> None:
    rows = by_name(score_fpvg(four_questions(), FOUND, THREE).rows("m"))
    wanted = {"FPVG+": 1 / 2, "FPVG-": 1 / 2, "FPVG+T": 1 / 4, "FPVG+F": 1 / 4, "FPVG-T": 1 / 4, "FPVG-F": 1 / 4}
    wanted |= {"Acc_all": 1 / 2, "Acc_rel": 1 / 4, "Acc_irrel": 0, "modified FPVG+": 1 / 2}
    wanted |= {"flip rel": 1 / 2, "flip irrel": 3 / 4}
    assert {name: rows[name, "all", "Overall"].value for name in wanted} == wanted
    assert rows["c2i", "all", "FPVG+"].value == 1


def test_out_of_distribution_questions_have_ratios_of_their_own() -> None:
    right = THREE | {"all": said("cup bag cup cup"), "rel": said("cup bag cup cup")}
    rows = by_name(score_fpvg(four_questions(), FOUND, right, outside={"p2", "p3"}).rows("m"))
    assert rows["c2i", "ID", "FPVG+"].value == 1
    assert rows["c2i", "OOD", "FPVG+"].value is None  # nothing incorrect
    assert rows["degradation", "ID to OOD", "FPVG+"].value is None


def test_probabilities_give_sufficiency_and_comprehensiveness() -> None:
    """Drops of p: rel 0, 0.3, 0.005, 0.5; irrel 0.5, 0.1, 0.3, 0.25."""
    p = [[0.9, 0.8, 0.7, 0.6], [0.9, 0.5, 0.695, 0.1], [0.4, 0.7, 0.4, 0.35]]
    words = ("cup bag cup bag", "cup bag dog dog", "dog dog dog bag")
    conditions = zip(("all", "rel", "irrel"), words, p, strict=True)
    three = {name: said(text, numbers) for name, text, numbers in conditions}
    rows = by_name(score_fpvg(four_questions(), FOUND, three).rows("m"))
    assert rows["sufficiency", "all", "Overall"].value == pytest.approx((0 + 0.3 + 0.005 + 0.5) / 4)
    assert rows["comprehensiveness", "all", "Overall"].value == pytest.approx((0.5 + 0.1 + 0.3 + 0.25) / 4)
    wanted = {"sufficient": 2 / 4, "comprehensive": 1 / 4, "best": 1 / 4, "worst": 1 / 4}
    wanted |= {"not comprehensive": 1 / 4, "sufficient alone": 0, "comprehensive alone": 0}
    assert {name: rows[name, "all", "Overall"].value for name in wanted} == wanted
    assert rows["flip rel", "sufficiency", "good"].value == 1 / 2  # p0 keeps its answer, p2 does not
    flips = [rows["flip irrel", "comprehensiveness", level].value for level in ("good", "medium", "bad")]
    assert flips == [1, 1 / 2, 1]


def test_without_probabilities_there_is_no_sufficiency() -> None:
    assert not [row for row in score_fpvg(four_questions(), FOUND, THREE).rows("m") if row.metric == "sufficiency"]


def test_the_most_important_detections_are_matched_with_the_relevant_ones() -> None:
    assert match([0.1, 0.9, 0.5, 0.2], [1, 3]) == 1 / 2
    assert match([0.1, 0.9, 0.5, 0.2], [1, 2]) == 1
    scores = {"p0": [1.0, 0.0], "p2": [0.0, 1.0]}
    rows = by_name(score_fpvg(four_questions(), FOUND, THREE, importance=scores).rows("m"))
    assert rows["ranking match", "relevant", "FPVG+"].value == 1
    assert rows["ranking match", "relevant", "FPVG-"].value == 0
    assert rows["ranking match", "irrelevant", "FPVG-"].value == 1
    assert rows["ranking match", "irrelevant", "FPVG-"].n == 1


def test_only_the_answers_objects_under_final(tmp_path: Path) -> None:
    things = {"1": {"x": 0, "y": 0, "w": 100, "h": 100}, "2": {"x": 300, "y": 0, "w": 50, "h": 50}}
    files = {
        "q": {"7": {"imageId": "A", "answer": "x", "annotations": {"answer": {"0": "1"}, "question": {"2:4": "2"}}}},
        "s": {"A": {"objects": things}},
    }
    for name, content in files.items():
        (tmp_path / name).write_text(json.dumps(content))
    path, final = (read_annotated([tmp_path / "q"], tmp_path / "s", which) for which in ("path", "final"))
    assert sorted(path.boxes[path.about].tolist()) == [[0, 0, 100, 100], [300, 0, 350, 50]]
    assert final.boxes[final.about].tolist() == [[0, 0, 100, 100]]


def test_runs_are_summed_up_by_their_median_and_the_largest_deviation() -> None:
    runs = [[Score("FPVG+", "all", "Overall", value, 4, None, None, "m")] for value in (0.5, 0.1, 0.4)]
    (row,) = over_runs(runs)
    assert (row.value, row.n, row.model) == (0.4, 4, "median of 3 runs")
    assert (row.low, row.high) == pytest.approx((0.1, 0.7))
    runs.append([Score("FPVG+", "all", "Overall", None, 0, None, None, "m")])
    assert over_runs(runs)[0].value is None


def test_the_n_of_flips_is_the_number_of_questions() -> None:
    three = {name: table.with_columns(probability=pl.lit(0.5)) for name, table in THREE.items()}
    rows = by_name(score_fpvg(four_questions(), FOUND, three).rows("m"))
    flips = {name: row.n for name, row in rows.items() if name[0].startswith("flip")}
    assert {flips[metric, by, "Overall"] for metric in ("flip rel", "flip irrel") for by in ("all", "structural")} == {
        4
    }
    assert [flips["flip rel", "sufficiency", level] for level in ("good", "bad")] == [4, 0]
    assert [flips["flip irrel", "comprehensiveness", level] for level in ("good", "medium", "bad")] == [0, 0, 4]


# -- several models, in and out of distribution ----------------------------------------------------------


class Asked(NamedTuple):
    """One question as a judge sees it."""

    outside: bool
    answer: str
    all: str
    rel: str
    irrel: str

    @property
    def right(self) -> bool:
        return self.all == self.answer

    @property
    def grounded(self) -> bool:
        return self.all == self.rel and self.all != self.irrel


def ratio(some: list[bool]) -> float | None:
    return sum(some) / (len(some) - sum(some)) if sum(some) < len(some) else None


def lost(better: float | None, worse: float | None) -> float | None:
    return None if not better or worse is None else 1 - worse / better


def judged(few: list[Asked]) -> dict[tuple[str, str, str], float | None]:
    """Tables 3, 4, 6 and 7 and Figures 5 and 6, by counting."""
    found: dict[tuple[str, str, str], float | None] = {}
    sets = {"ID": [q for q in few if not q.outside], "OOD": [q for q in few if q.outside]}
    kinds: dict[str, Callable[[Asked], bool]] = {
        "FPVG": lambda q: q.grounded,
        "modified FPVG": lambda q: q.all == q.rel,
    }
    for name, own in sets.items():
        found["Acc_all", "set", name] = sum(q.right for q in own) / len(own)
    for kind, good in kinds.items():
        plus, minus = f"{kind}+", f"{kind}-"
        for name, own in {**sets, "all": few}.items():
            if name != "all":
                found[plus, "set", name] = sum(map(good, own)) / len(own)
            found["c2i", name, plus] = ratio([q.right for q in own if good(q)])
            found["c2i", name, minus] = ratio([q.right for q in own if not good(q)])
            group = "Overall" if name == "all" else name
            found["degradation", f"{plus} to {minus}", group] = lost(
                found["c2i", name, plus], found["c2i", name, minus]
            )
        for sign in (plus, minus):
            found["degradation", "ID to OOD", sign] = lost(found["c2i", "ID", sign], found["c2i", "OOD", sign])
    return found


def test_in_and_out_of_distribution_a_judge_counts_the_same() -> None:
    draw = Random(3)
    few = [Asked(draw.random() < 0.4, *(draw.choice("ab") for _ in range(4))) for _ in range(200)]
    ids = [f"q{n}" for n in range(len(few))]
    asked = pl.DataFrame(
        {"id": ids, "image": ids, "answer": [q.answer for q in few], "structural": "query"},
        schema=dict(GROUNDED.columns),
    )
    three = {
        name: pl.DataFrame({"id": ids, "prediction": [getattr(q, name) for q in few]})
        for name in ("all", "rel", "irrel")
    }
    found = pl.concat([FOUND[:1]] * len(few))
    outside = {id for id, q in zip(ids, few, strict=True) if q.outside}
    rows = by_name(score_fpvg(asked, found, three, outside=outside).rows("m"))
    wanted = judged(few)
    assert {name: rows[name].value for name in wanted} == pytest.approx(wanted) and None not in wanted.values()
    assert rows["Acc_all", "set", "OOD"].n == rows["modified FPVG+", "set", "OOD"].n == len(outside)
    assert sum(rows["c2i", "OOD", sign].n or 0 for sign in ("modified FPVG+", "modified FPVG-")) == len(outside)


def test_the_ranking_match_of_sufficient_and_comprehensive_questions() -> None:
    """p0 is sufficient and comprehensive, p1 neither, p2 sufficient alone, p3 of medium comprehensiveness."""
    p = {"all": [0.9] * 4, "rel": [0.9, 0.5, 0.9, 0.5], "irrel": [0.4, 0.8, 0.8, 0.6]}
    three = {name: table.with_columns(pl.Series("probability", p[name])) for name, table in THREE.items()}
    first = [1.0, 0.0]
    scores = {"p0": first, "p1": first, "p2": first[::-1], "p3": first}
    rows = by_name(score_fpvg(four_questions(), FOUND, three, importance=scores).rows("m"))
    match_of = {
        (by.partition(", ")[2], group): (row.value, row.n)
        for (metric, by, group), row in rows.items()
        if metric == "ranking match" and by.startswith("relevant, ")
    }
    assert match_of == {
        ("sufficiency", "good"): (1 / 2, 2),
        ("sufficiency", "bad"): (1, 2),
        ("comprehensiveness", "good"): (1, 1),
        ("comprehensiveness", "medium"): (1, 1),
        ("comprehensiveness", "bad"): (1 / 2, 2),
    }
    assert rows["ranking match", "irrelevant, sufficiency", "good"].value == 1 / 2


def test_the_boxes_of_a_detector_are_counted_over_the_evaluated_questions() -> None:
    few = [([0, 1], [2], 5, ""), ([0], [1, 2], 3, ""), ([], [0], 90, "nothing relevant")]
    rows = box_rows(pl.DataFrame(few, schema=dict(RELEVANCE.columns), orient="row"), "Det2")
    assert [(row.metric, row.group, row.value, row.n) for row in rows] == [
        ("most boxes", "all", 5, 2),
        ("boxes", "all", 4, 2),
        ("boxes", "relevant", 1.5, 2),
        ("boxes", "irrelevant", 1.5, 2),
    ]


def scores(folder: Path, **given: Any) -> dict[tuple[str, ...], Score]:
    """By model, metric, by and group; of the vectors' files unless others are given."""
    options: dict[str, Any] = {name: [folder / f"{name}.json"] for name in ("all", "rel", "irrel")}
    options |= {"questions": [folder / "questions.json"], "detections": [folder / "detections.json"]}
    place = folder / "scores.json"
    how = given.pop("how", OnePolicy(resamples=0))
    fpvg(scene_graphs=folder / "sceneGraphs.json", **options | given, how=how, json=place)
    rows = msgspec.json.decode(place.read_bytes(), type=list[Score])
    return {(row.model, row.metric, row.by, row.group): row for row in rows}


def test_answers_in_other_words_are_read(folder: Path) -> None:
    plain = scores(folder)
    for name in ("all", "rel", "irrel"):
        rows = [{**row, "prediction": f"The answer is **{row['prediction']}**."} for row in INPUTS["predictions"][name]]
        (folder / f"loud-{name}.json").write_text(json.dumps(rows))
    loud = {name: [folder / f"loud-{name}.json"] for name in ("all", "rel", "irrel")}
    read = scores(folder, **loud, how=OnePolicy(resamples=0, policy="lenient"))
    without = {("", *key[1:]): row.value for key, row in plain.items() if key[2] != "policy"}
    assert {("", *key[1:]): row.value for key, row in read.items() if key[2] != "policy"} == without


def test_several_models_stand_in_one_table(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """MAC answers the same whatever it sees; UpDn has two runs, the second of which answers wrong."""
    every, rel, irrel = (folder / f"{name}.json" for name in ("all", "rel", "irrel"))
    (folder / "wrong.json").write_text(json.dumps([{**row, "prediction": "?"} for row in INPUTS["predictions"]["all"]]))
    others = {image: {**found, "bboxes": found["bboxes"][:10]} for image, found in INPUTS["detections"].items()}
    (folder / "few.json").write_text(json.dumps(others))
    (folder / "ood.json").write_text(json.dumps(dict(list(INPUTS["questions"].items())[:300])))
    alone = scores(folder, ood=folder / "ood.json")
    capsys.readouterr()
    found = scores(
        folder,
        all=[every, folder / "wrong.json", every],
        rel=[rel, rel, every],
        irrel=[irrel, irrel, every],
        model=["UpDn", "UpDn", "MAC"],
        detections=[folder / name for name in ("detections.json", "detections.json", "few.json")],
        ood=folder / "ood.json",
    )
    for name in (("Acc_all", "set", "ID"), ("FPVG+", "set", "OOD"), ("modified FPVG+", "all", "Overall")):
        first, second, middle = (found[f"UpDn, {which}", *name] for which in ("run 1", "run 2", "median of 2 runs"))
        assert first.value == alone["all", *name].value and second.value == 0
        assert middle.value == pytest.approx((first.value or 0) / 2) and middle.n == first.n
    assert (
        found["MAC", "FPVG+", "all", "Overall"].value == 0
        and found["MAC", "modified FPVG+", "all", "Overall"].value == 1
    )
    assert found["detections", "boxes", "detector", "all"] == alone["detections", "boxes", "detector", "all"]
    assert (found["few", "most boxes", "detector", "all"].value or 0) <= 10
    assert found["few", "boxes", "detector", "all"].n == found["MAC", "FPVG+", "all", "Overall"].n
    said = capsys.readouterr().out.splitlines()
    table = said[said.index("Models") + 1 :][:3]
    assert (
        " ".join(table[0].split()) == "model detector Acc Acc_all Acc_rel Acc_irrel FPVG+T FPVG+F FPVG-T FPVG-F FPVG+"
    )
    assert [line.split()[0].rstrip(",") for line in table[1:]] == ["MAC", "UpDn"]  # by FPVG+
    assert "±" in table[2] and "±" not in table[1]


def test_the_best_model_is_bold_and_medians_of_runs_are_tested(folder: Path) -> None:
    """MAC answers the same whatever it sees; both runs of UpDn are the vectors', so their median is."""
    every, rel, irrel = (folder / f"{name}.json" for name in ("all", "rel", "irrel"))
    given = {"all": [every] * 3, "rel": [rel, rel, every], "irrel": [irrel, irrel, every]}
    (folder / "ood.json").write_text(json.dumps(dict(list(INPUTS["questions"].items())[:300])))
    paper, how = PaperOptions(markdown=folder / "t.md", latex=folder / "t.tex"), OnePolicy(resamples=50)
    found = scores(folder, **given, model=["UpDn", "UpDn", "MAC"], paper=paper, how=how, ood=folder / "ood.json")
    text = (folder / "t.md").read_text()
    assert text.index("| MAC |") < text.index("| UpDn, median")  # by FPVG+, as printed
    lines = [line for line in text.splitlines() if line.startswith("| UpDn, median of 2 runs |")]
    assert f"**{100 * (found['UpDn, median of 2 runs', 'FPVG+', 'all', 'Overall'].value or 0):.2f}**" in lines[0]
    assert " | 0.00\\*" in text and "Of several training runs the medians are compared" in text
    header = "| Model | FPVG+ ID | FPVG+ OOD | FPVG- ID | FPVG- OOD | n of FPVG+ ID |"  # of Table 4
    ratios = text.split(header)[1].split("| UpDn, median of 2 runs |")[1].split("|")
    wanted = [found["UpDn, median of 2 runs", "c2i", side, sign] for sign in SIGNS for side in ("ID", "OOD")]
    assert [cell.split("<br>")[0].strip() for cell in ratios[:4]] == [f"{row.value:.3f}" for row in wanted]
    about = next(line for line in text.split(header)[0].splitlines()[::-1] if line)
    assert "In per cent" not in about and "Intervals hold 95 %" in about  # a ratio is no share
    assert f"{wanted[0].value:.3f}" in (folder / "t.tex").read_text()
    alone = {name: files[:2] for name, files in given.items()}
    scores(folder, **alone, model=["UpDn", "UpDn"], paper=paper, how=OnePolicy(resamples=0))
    assert "their intervals reach as far as the run farthest away" in (folder / "t.md").read_text()


def test_options_of_runs_are_given_for_every_run(folder: Path) -> None:
    with pytest.raises(BadInput, match=r"--model: expected it as often as --all \(1 times\), got 2"):
        scores(folder, model=["a", "b"])
    with pytest.raises(BadInput, match=r"--rel: expected it as often as --all \(1 times\), got 2"):
        scores(folder, rel=[folder / "rel.json"] * 2)
    with pytest.raises(BadInput, match="question 00: expected every question once, got it in two files"):
        scores(folder, questions=[folder / "questions.json"] * 2)
    two = {"model": ["a", "b"], **{name: [folder / f"{name}.json"] * 2 for name in ("all", "rel", "irrel")}}
    (folder / "other.json").write_text(json.dumps(INPUTS["detections"]))
    detections = [folder / "detections.json", folder / "other.json"]
    with pytest.raises(BadInput, match="--write-relevance: expected one file of --detections, got 2"):
        scores(folder, **two, detections=detections, write_relevance=folder / "written.json")


def test_questions_may_stand_in_several_files(folder: Path) -> None:
    items = list(INPUTS["questions"].items())
    for name, part in {"id": items[::2], "out": items[1::2]}.items():
        (folder / f"{name}.json").write_text(json.dumps(dict(part)))
    whole = scores(folder, ood=folder / "out.json")
    parts = scores(folder, questions=[folder / "id.json", folder / "out.json"], ood=folder / "out.json")
    assert parts == whole


# -- detections ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "number",
    [0, -3.7, 99.99, -0.5, 146.89999389648438, 99.99999999999999, 1e-7, 1.5e3, 123456789012345.6, 0.9999999999999999],
)
def test_a_coordinate_is_cut_towards_zero_however_it_is_written(tmp_path: Path, number: float) -> None:
    (tmp_path / "d").write_text(
        f'{{"A": {{"bboxes": [[1, {number!r}, 3, 4],\n [ {number},5.25,6,7 ] ], "objectsNum": 2}}}}'
    )
    assert read_detections(tmp_path / "d").boxes.tolist() == [[1, int(number), 3, 4], [int(number), 5, 6, 7]]


def test_numbers_with_more_digits_than_are_kept_are_rounded_first(tmp_path: Path) -> None:
    (tmp_path / "d").write_text(
        '{"A": {"bboxes": [[99.99999999999999999, 7.00000000000000000001, 3, 4]], "objectsNum": 1}}'
    )
    assert read_detections(tmp_path / "d").boxes.tolist() == [[100, 7, 3, 4]]


@pytest.mark.parametrize(
    "boxes", ["[[1, 2, 3]]", "[[1, 2, 3, 4, 5]]", '[[1, 2, 3, "4"]]', "[1, 2, 3, 4]", "[[1, 2, 3, null]]"]
)
def test_a_box_has_four_numbers(tmp_path: Path, boxes: str) -> None:
    (tmp_path / "d").write_text(
        f'{{"A": {{"bboxes": [], "objectsNum": 0}}, "B": {{"bboxes": {boxes}, "objectsNum": 1}}}}'
    )
    with pytest.raises(BadInput, match="d, image B: expected"):
        read_detections(tmp_path / "d")


def test_images_keep_their_boxes_apart(tmp_path: Path) -> None:
    found = {"A": {"bboxes": [[1, 2, 3, 4]] * 2, "objectsNum": 1}, "B": {"bboxes": [], "objectsNum": 0}}
    (tmp_path / "d").write_text(json.dumps(found | {"C": {"bboxes": [[5, 6, 7, 8]], "objectsNum": 9}}))
    read = read_detections(tmp_path / "d")
    assert (read.images, read.start.tolist(), read.objects.tolist()) == (["A", "B", "C"], [0, 2, 2, 3], [1, 0, 9])


@pytest.mark.parametrize("mode", ["detected", "annotated"])
def test_a_judge_finds_the_same_relevant_boxes(mode: Any) -> None:
    draw = np.random.default_rng(5)

    def boxes(count: int) -> Boxes:
        corner = draw.integers(0, 40, (count, 2))
        return np.hstack([corner, corner + draw.integers(0, 30, (count, 2))]).astype(float)

    for _ in range(40):
        annotated, detected, objects = boxes(int(draw.integers(1, 4))), boxes(12), int(draw.integers(0, 14))
        near, far = set[int](), set(range(min(objects, 12)))
        for at, row in enumerate(detected.tolist()):
            for other in annotated.tolist():
                one, two = (
                    {(x, y) for x in range(int(b[0]), int(b[2])) for y in range(int(b[1]), int(b[3]))}
                    for b in (row, other)
                )
                near |= {at} if one and two and len(one & two) / len(one | two) > 0.5 else set()
                area = len(one if mode == "detected" else two)
                far -= {at} if one and two and len(one & two) / area > 0.25 else set()
        assert relevance_of(annotated, detected, objects, mode)[:2] == (sorted(near), sorted(far))


def test_the_commands_of_the_page_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = {name: path.read_bytes() for name, path in write_grounded(tmp_path, 60).items()}
    asked = json.loads(made["questions"])
    part = {
        name: {id: each for id, each in asked.items() if (int(id) < 40) == (name == "id")} for name in ("id", "ood")
    }
    files = {f"{name}.json": json.dumps(few).encode() for name, few in part.items()}
    files |= {"val_questions.json": made["questions"], "val_sceneGraphs.json": made["scene_graphs"]}
    files |= {f"{name}.json": made["detections"] for name in ("det2", "vinvl")}
    files |= {f"{model}/{name}.json": made[name] for model in ("updn", "oscar") for name in ("all", "rel", "irrel")}
    for name, content in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(content)
    monkeypatch.chdir(tmp_path)
    lines = [line for line in commands("docs/score.md") if "fpvg" in line and "RUN" not in line]
    assert len(lines) == 2
    for line in lines:
        app(shlex.split(f"{line} --resamples 2 --quiet")[1:], result_action="return_value")
    assert {row["model"] for row in json.loads((tmp_path / "scores.json").read_text())} >= {"UpDn", "OSCAR", "vinvl"}


def test_the_benchmark_runs_the_command(tmp_path: Path) -> None:
    bench(questions=40, json=tmp_path / "found.json", quiet=True)
    found = json.loads((tmp_path / "found.json").read_text())
    assert (found["name"], found["rows"]) == ("fpvg", 40) and found["cpu_seconds"] > 0
