"""The benchmark of image programs asks every template in every form, and its programs say the same as rows."""

from pathlib import Path

import msgspec
import pytest

from bench.covr import REFERENCES, batches, covr, fillings, written
from questree.api.covr_programs import results_of
from questree.benchmarks.covr.templates import TEMPLATES
from questree.domains.images import corpus
from questree.domains.images.batches import answers
from questree.readings.answer import WELL
from questree.sources import gqa
from questree.synth.images import write_images
from worlds import whole_sources


def test_it_prints_four_lines_of_figures_and_writes_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    covr(images=40, programs=400, questions=60, workers=2, json=tmp_path / "bench.json")
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(":")[0] for line in lines[:4]] == [
        "index and questions",
        "image facts (rows are things)",
        "executor in batches",
        "executor from rows",
    ]
    found = msgspec.json.decode((tmp_path / "bench.json").read_bytes())
    assert 0 < found["questions"]["rows"] <= 60
    assert found["executor"]["rows"] >= 400
    assert found["from rows"]["rows"] >= 400


def test_programs_in_batches_and_from_rows_have_the_same_answers(tmp_path: Path) -> None:
    write_images(tmp_path / "made", 30, seed=1)
    whole_sources.ingest(tmp_path / "made", tmp_path / "run")
    images = whole_sources.read_files(gqa.scene_graph_files(tmp_path / "made"))
    world = corpus(images, {"red": "color", "blue": "color", "wood": "material", "round": "shape"})
    made = list(batches(world, 2000, seed=3))
    assert len(made) == len({filled.pattern for filled in fillings()})
    assert len(list(fillings())) == len(REFERENCES) * sum(len(template.forms) for template in TEMPLATES)
    found = [
        (value, reason) for each in answers(made, world) for value, reason in zip(each.value, each.reason, strict=True)
    ]
    results, _ = results_of(list(written(made, world, 2000)), world)
    assert [each.get("value") for each in results] == [value for value, _ in found]
    assert [each["ok"] for each in results] == [reason == WELL for _, reason in found]
    assert sum(each["ok"] for each in results) > len(results) / 2
