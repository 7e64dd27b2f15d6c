"""What a notebook does with plugins, as a script in a process of its own: a plugin stays as long as its process."""

import json
import sys
from pathlib import Path

import questree

PLUGINS = ("image_operator", "image_source", "metric", "bot", "exporter")


def refused(said: str, bad: questree.BadInput) -> None:
    assert said in str(bad), bad


if __name__ == "__main__":
    questree.plugins.load(*(Path(sys.argv[1]) / f"{name}.py" for name in PLUGINS))
    p = questree.program("odd(find(cup))")
    assert p.english() == "Is the number of cups odd?", p.english()

    raw = Path("raw")
    raw.mkdir()
    (raw / "one.txt").write_text("red cup on table\nblack cat under table\n")
    made = questree.ingest(raw, out="captions", source="captions", settings={"width": 800})
    assert made.data()["things"] == 3
    try:
        questree.ingest(raw, out="no", source="captions", settings={"depth": 3})
    except questree.BadInput as bad:
        refused("settings: expected a setting, got 'depth'; choose from width, height", bad)

    questree.generate("run", questions=400, workers=1)
    questree.decompose("run", workers=1)
    run = questree.open("run")
    asked = run.questions(balanced=False).filter(template="ODD")
    assert {*asked["answer"]} == {"yes", "no"}
    q = run[asked["id"][0]]
    assert str(q.program).startswith("odd(")
    assert q.program is not None
    assert q.program.answer(run, images=asked["scope"][0].to_list()) == q.answer
    assert q.dag.edges[0].composition == "Odd"
    assert questree.consistency(q.dag, [node.answer for node in q.dag])
    assert q.evidence is not None

    questree.answer("run", "half-blind")
    scores = run.score("half-blind", resamples=0, missing="skip")
    assert "yes bias" in scores.metrics
    table = questree.export("run", "chat", out="chat").data()["written"]
    assert sum(table.values()) > 0
    print(json.dumps(scores["yes bias"]))
