"""How the questions about videos are generated, or estimated, as `questree generate` asks for it and as it is told."""

from collections.abc import Iterator, Mapping
from dataclasses import fields
from typing import Any

from questree.benchmarks import Recipe, Said, Told
from questree.faults import BadInput
from questree.stages.generate.annotated import told
from questree.stages.generate.estimate import estimate, forecast
from questree.stages.generate.given import read
from questree.stages.generate.shards import LEFT_OUT, Counts, GenerateOptions, generate
from questree.tables.run import Run
from questree.tables.store import own_note


def recipe(run: Run, given: Mapping[str, Any], workers: int) -> Told:
    run.vocabulary()  # or it is no run
    if not run.has_facts():  # imported questions, which none at all would replace
        raise BadInput.at(
            run.facts, "expected frames or actions of videos to ask about, got none; `questree ingest` reads them"
        )
    used = {name: value for name, value in given.items() if name != "estimate"}
    options = GenerateOptions(**{**used, "templates": read(given.get("templates", ()))})
    if "estimate" in given:
        found = estimate(run, options)
        return Told([*forecast(found)], found, wrote=False)
    counts = generate(run, options, workers)
    remarks = [*told(run), *larger(run)]
    return Told([*said(run, counts), *remarks], counts, remarks=remarks)


RECIPE = Recipe(frozenset({field.name for field in fields(GenerateOptions)} | {"estimate"}), recipe, shared=True)


def larger(run: Run) -> Iterator[str]:
    """Videos that were left out."""
    for video, questions in own_note(run.questions / "plan.json").get(LEFT_OUT, {}).items():
        why = f"left out, as about {questions:,} questions are expected of it"
        yield f"warning: video {video}: {why}; try --phrases or --largest"


def said(run: Run, counts: Counts) -> Iterator[Said]:
    """What was generated, and why candidates were rejected, most often first."""
    whole, rows, lines = sum(tally.kept for tally in counts.values()), [], []
    for name, tally in counts.items():
        reasons = sorted(((rule, n) for rule, n in tally.rejected.items() if n), key=lambda pair: -pair[1])
        lines.append(f"{name}: {', '.join(f'{n:,} {rule}' for rule, n in reasons) or 'nothing rejected'}")
        rows.append(
            {
                "template": name,
                "questions": tally.kept,
                "share": f"{100 * tally.kept / max(whole, 1):.2f} %",
                "rejected": sum(tally.rejected.values()),
                "most often because": next((rule for rule, _ in reasons), ""),
            }
        )
    yield "Questions per template", rows
    yield from lines
    yield f"wrote {whole:,} questions to {run.questions}"
