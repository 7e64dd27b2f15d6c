"""Questions by category: templates and questions of AGQA's Tables 10, 12 and 13, and what a run has."""

import msgspec
import polars as pl
import pytest

from conftest import copy
from questree.benchmarks.agqa.editions import FIRST, SECOND
from questree.cli.stages import audit as command
from questree.stages.audit.categories import INVOLVES, CategoryCount, categories, draw_categories, lengths
from questree.stages.questions import Bank
from questree.tables.run import Run

# templates and unbalanced questions in millions, as printed; 2.0's labels: the order of a relation or an object and an
# action is a sequence, too. Table 10 says 2 templates of activity recognition, but its questions are those of all 4
# whose answer is an action at a time.
PRINTED = {
    "obj-rel": (11, 81.237),
    "rel-act": (1, 0.392),
    "obj-act": (1, 0.006),
    "superlative": (10, 8.877),
    "sequencing": (3 + 2, 0.927 + 0.392 + 0.006),
    "exists": (6, 176.485),
    "duration-comparison": (6, 0.160),
    "activity-recognition": (4, 0.012),
    "object": (11, 38.1),
    "relation": (5, 87.2),
    "action": (12, 67.6),
    "query": (10, 2.2),
    "compare": (7, 1.5),
    "choose": (3, 6.2),  # printed: 6.1
    "logic": (2, 52.0),
    "verify": (6, 131.0),
}


def test_the_papers_templates_add_up_to_its_categories() -> None:
    rows = [(FIRST.codes[t.name], round(1000 * (t.published or 0)), 1) for t in FIRST.templates]
    counts = pl.DataFrame(rows, schema=["template", "before", "after"], orient="row")
    found = {each.name: each for each in categories(counts, FIRST)}
    assert {name: own.templates for name, own in found.items()} == {name: own for name, (own, _) in PRINTED.items()}
    assert all(own.after == own.templates for own in found.values())
    for name, (_, millions) in PRINTED.items():
        close = 0.05 if name in ("object", "relation", "action") or millions > 1 else 0.002
        assert found[name].before / 1e6 == pytest.approx(millions, abs=close), name
    assert set(INVOLVES) == {*found} - {"object", "relation", "action"}


def test_a_question_counts_in_every_reasoning_type_it_has() -> None:
    counts = pl.DataFrame({"template": [0, 1, 1], "before": [10, 20, 1], "after": [3, 0, 1]})  # objExists, objRelExists
    found = {(each.kind, each.name): (each.before, each.after) for each in categories(counts, SECOND)}
    assert found["reasoning", "exists"] == (31, 4) and found["reasoning", "obj-rel"] == (21, 1)
    assert found["semantic", "object"] == (10, 3) and found["semantic", "relation"] == (21, 1)
    assert found["structural", "verify"] == (31, 4) and found["structural", "query"] == (0, 0)


def test_shares_are_drawn_and_words_counted() -> None:
    picture = draw_categories(
        [CategoryCount("semantic", "object", 1, 3, 1), CategoryCount("semantic", "action", 1, 1, 1)]
    )
    assert "object: 75.0 %" in picture and "action: 50.0 %" in picture and "semantic: after" in picture
    assert lengths(pl.Series("question", ["Did they sit?", "Why?", "Did he run?"])) == {1: 1, 3: 2}


def test_the_audit_prints_and_stores_them(
    asked_run: Run, tmp_path_factory: pytest.TempPathFactory, capsys: pytest.CaptureFixture[str]
) -> None:
    run = copy(asked_run, tmp_path_factory.mktemp("categories"))
    command(run.folder, most=200, workers=1)
    out, note = capsys.readouterr().out, msgspec.json.decode((run.folder / "audit" / "audit.json").read_bytes())
    assert "Questions by reasoning type (Table 10)" in out and "words of a question on average: " in out
    bank = Bank(run)
    asked = pl.concat([bank.shard(folder).questions.select("template") for folder in bank.folders()])
    verified = [code for code, t in enumerate(bank.edition.by_code) if t.categories.structural == "verify"]
    own = next(each for each in note["categories"] if each["name"] == "verify")
    assert own["before"] == own["after"] == int(asked["template"].is_in(verified).sum())
    assert sum(sum(own.values()) for own in note["lengths"].values()) == note["looked_at"]
    assert (run.folder / "audit" / "categories.svg").is_file()
