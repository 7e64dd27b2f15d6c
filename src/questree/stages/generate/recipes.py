"""How the questions about videos are generated, or estimated, as `questree generate` asks for it and as it is told."""

from collections.abc import Iterator, Mapping
from dataclasses import fields
from typing import Any

import msgspec

from questree.benchmarks import Recipe, Said, Told
from questree.faults import BadInput
from questree.stages.generate.annotated import told
from questree.stages.generate.estimate import estimate, forecast
from questree.stages.generate.given import read
from questree.stages.generate.sampling import SampledVideo
from questree.stages.generate.shards import SAMPLED, Counts, GenerateOptions, generate
from questree.tables.run import Run


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
    sampled = sampled_videos(run)
    remarks = [*told(run), *dropped(sampled, options.most_per_video)]
    record: dict[str, Any] = {**counts} | ({"sampled": sampled} if sampled else {})
    return Told([*said(run, counts), *remarks], record, remarks=remarks)


RECIPE = Recipe(frozenset({field.name for field in fields(GenerateOptions)} | {"estimate"}), recipe, shared=True)


def sampled_videos(run: Run) -> dict[str, SampledVideo]:
    """The videos that were not asked about as a whole."""
    found: dict[str, SampledVideo] = {}
    for note in sorted(run.questions.glob(f"*/{SAMPLED}")):
        found |= msgspec.json.decode(note.read_bytes(), type=dict[str, SampledVideo])
    return found


def dropped(sampled: dict[str, SampledVideo], most: int) -> Iterator[str]:
    """What was asked about of all of these, and what was not."""
    if not sampled:
        return
    parts = [
        f"{kept:,} of {every:,} {called}"
        for called, pairs in (
            ("references to objects", [video.references for video in sampled.values()]),
            ("actions", [video.actions for video in sampled.values()]),
            ("times", [video.times for video in sampled.values()]),
        )
        for kept, every in [map(sum, zip(*pairs, strict=True))]
    ]
    videos = f"{len(sampled):,} videos have" if len(sampled) > 1 else f"video {next(iter(sampled))} has"
    expected = sum(video.questions for video in sampled.values())
    yield (
        f"{videos} more than {most:,} questions (about {expected:,} are expected): asked about are {', '.join(parts)}; "
        "--most-per-video takes another number"
    )


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
