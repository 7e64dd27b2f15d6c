"""How the questions of each benchmark are split, as `questree split` asks for it and as it is told."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

from questree.benchmarks import Recipe, Said, Told
from questree.faults import BadInput
from questree.stages.questions import Bank
from questree.stages.split.declared import left_out
from questree.stages.split.drawn_lists import drawn_for, list_table, with_lists
from questree.stages.split.engine import SplitOptions
from questree.stages.split.image_sets import ALL, split_run
from questree.stages.split.lexical import Lexical
from questree.stages.split.properties import Drawing
from questree.stages.split.videos import split
from questree.tables.run import Run

SHOWN = 3  # of what is missing in one way
ANY = frozenset({"splits", "all"})
DRAWN = frozenset({"seed", "few_shot", "lexical_pairs", "lexical_alone", "lexical_together"})


def of_videos(run: Run, given: Mapping[str, Any], workers: int) -> Told:
    steps = read_steps(given["more_steps"], Bank(run).edition.codes) if "more_steps" in given else {}
    released = given.get("as_released", False)
    made = split(run, SplitOptions(given.get("splits"), given.get("all", False), steps, released), workers)
    rows = [
        {"split": m.name, "train": m.train, "of videos": m.train_videos, "test": m.test, "videos": m.test_videos}
        for m in made
    ]
    words = with_lists(run.vocabulary(), drawn_for(run, released))
    remarks = [f"{name}: {why}" for name, why in left_out(words).items()]
    remarks += warnings(text for each in made for text in each.warnings)
    held: list[Said] = [("Novel compositions, drawn by a hash", list_table(each.drawn)) for each in made if each.drawn]
    said: list[Said] = [("Splits: questions", rows), *held, *remarks, f"wrote {run.folder / 'splits'}"]
    return Told(said, made, remarks=remarks)


def of_image_sets(run: Run, given: Mapping[str, Any], workers: int) -> Told:
    options = SplitOptions(
        given.get("splits"),
        given.get("all", False),
        names=tuple(given.get("name", ())),
        drawing=drawing(**{name: given[name] for name in given if name in DRAWN}),
        curve=read_curve(given.get("curve", "")),
        draws=given.get("draws", SplitOptions.draws),
    )
    made = split_run(run, options, workers)
    rows = [
        {"split": each.name, "filtered": each.filtered, "kept": each.kept}
        | each.counts
        | {"images": each.images["test"]}
        for each in made
    ]
    said: list[Said] = [
        ("Splits: questions", rows),
        *warnings(dict.fromkeys(text for each in made for text in each.warnings)),
    ]
    proved = "proved: nothing held out is in train but what is kept; no image is in train and in test"
    equal = "beside every train: iid-size, as many questions of any kind"
    said += [f"{equal}{' and train with the numbers of examples of --curve' if options.curve else ''}"]
    return Told([*said, proved, f"wrote {run.covr / 'splits'}"], made)


VIDEOS = Recipe(ANY | {"more_steps", "as_released"}, of_videos, shared=True)
IMAGE_SETS = Recipe(ANY | DRAWN | {"name", "draws", "curve"}, of_image_sets, shared=True)


def warnings(texts: Iterable[str]) -> Iterator[str]:
    """What lacks something in the same way is one line, with three of the things; the notes of a run have all."""
    alike: dict[str, list[str]] = {}
    for text in texts:
        head, has, what = text.partition(" has ")
        alike.setdefault(head + has, []).append(what)
    for said, lacking in alike.items():
        more = f" and {len(lacking) - SHOWN} more" if len(lacking) > SHOWN else ""
        yield f"warning: {said}{', '.join(lacking[:SHOWN])}{more}"


def drawing(
    seed: int = 0, few_shot: int = 250, lexical_pairs: int = 65, lexical_alone: int = 50, lexical_together: int = 15
) -> Drawing:
    """How what is drawn is drawn."""
    return Drawing(seed, Lexical(lexical_pairs, lexical_alone, lexical_together), few_shot)


def read_curve(text: str) -> tuple[int, ...]:
    """Numbers of examples, ascending, each once; `all` is as many as there are."""
    given = [part.strip() for part in text.split(",") if part.strip()]
    wrong = [part for part in given if part != "all" and not part.isdecimal()]
    if wrong:
        raise BadInput.at("--curve", f"expected numbers of examples or all, as in 0,50,250,all, got {wrong[0]!r}")
    return tuple(sorted({ALL if part == "all" else int(part) for part in given}))


def read_steps(text: str, templates: Collection[str]) -> dict[str, int]:
    """Template -> most steps in train; templates of the run, those that were added among them."""
    found = {}
    for part in filter(None, text.split(",")):
        name, _, number = part.partition("=")
        if name not in templates or not number.isdigit():
            wanted = f"expected TEMPLATE=STEPS, got {part!r}; choose from {', '.join(templates)}"
            raise BadInput.at("--more-steps", wanted)
        found[name] = int(number)
    return found
