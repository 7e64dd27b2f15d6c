"""`questree build`: raw files in, a benchmark out."""

import json
from pathlib import Path

from questree.cli.app import app
from questree.synth.noise import Rates
from questree.synth.world import write_world
from questree.tables.lock import verify
from questree.tables.run import Run


def test_raw_files_become_a_decomposed_balanced_split_benchmark(tmp_path: Path) -> None:
    write_world(tmp_path / "world", 6, 4, Rates(), 1)
    options = ["--out", str(tmp_path / "run"), "--workers", "1", "--json", str(tmp_path / "built.json")]
    app(["build", str(tmp_path / "world"), *options], exit_on_error=False, result_action="return_value")
    run = Run(tmp_path / "run")
    stages = ["raw", "truth", "facts", "questions", "balanced", "splits", "decomposed"]
    assert all((run.folder / stage).is_dir() for stage in stages)
    assert (run.decomposed / "subquestions.parquet").is_file()
    made = ["ingest", "augment", "generate", "balance", "split", "decompose"]
    assert list(json.loads((tmp_path / "built.json").read_text())["seconds"]) == made
    assert verify(run)[0] == [], "the lock file knows all of it"
    plan = json.loads((run.decomposed / "plan.json").read_text())["options"]
    assert plan["balanced"] and plan["closed"], "the balanced selection, in a world whose truth is known"
