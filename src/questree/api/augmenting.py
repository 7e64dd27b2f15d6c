"""From raw facts to cleaned facts, with the ledger of what every rule changed."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, fields
from os import PathLike
from pathlib import Path
from typing import Any, TypedDict, Unpack

import msgspec

from questree.api.files import as_json
from questree.api.made import Made
from questree.benchmarks import Said
from questree.extensions import listed
from questree.faults import Fault, refuse
from questree.places import path_of
from questree.stages.agreement import AgreementScore, Worth
from questree.stages.augment import RULES, AugmentationRule, Change, Entry, optional
from questree.stages.augment import AugmentOptions as AugmentOptions
from questree.stages.augmented import Augmented, augmented
from questree.tables.lock import lock
from questree.tables.owners import writing
from questree.tables.run import Run
from questree.tables.store import new_file, new_folder

SHOWN = 3  # classes in a warning
SETTLING = ("settle opposites", "close entailments")  # rules that remove facts which contradict others


class CleaningOptions(TypedDict, total=False):
    """The thresholds of `questree augment`; its help says what each does."""

    duplicate_iou: float
    spatial_share: float
    height_agreement: float
    head_share: float
    inferred_reach: float
    action_share: float
    neighbour_seconds: float
    as_released: bool


def augment(
    run: str | PathLike[str],
    *,
    without: Sequence[str] = (),
    ablation: bool = False,
    workers: int = 2,
    **options: Unpack[CleaningOptions],
) -> Made:
    """Clean the raw facts of a run by the rules of augmentation, as `questree augment` does.

    Parameters
    ----------
    run
        Run folder with raw facts; gets facts/ and ledger.json.
    without
        Rules to leave out, by number or name.
    ablation
        Also measure each rule alone and left out; needs a run that knows the truth.
    workers
        Number of processes.
    options
        Thresholds of the rules, by name.

    >>> questree.augment("run").data()["sizes"]["actions"]
    {'before': 83, 'after': 82}
    """
    known = [field.name for field in fields(AugmentOptions)]
    strange = [name for name in options if name not in known]
    refuse([Fault(name, f"expected an option of augment; choose from {', '.join(known)}") for name in strange])
    return cleaned(path_of(run), AugmentOptions(**options), without, ablation, workers)


def cleaned(run: Path, options: AugmentOptions, without: Sequence[str], ablation: bool, workers: int) -> Made:
    """Write the cleaned facts and the ledger."""
    place, absent = Run.at(run), left_out(run, without)
    rules = [rule for rule in RULES.values() if rule not in absent]
    place.stored("raw")  # say now that there are none
    with writing(run, "augment"):
        with new_folder(place.facts) as folder, new_file(place.ledger) as file:
            found = augmented(place, folder, options, rules, ablation, workers)
            refuse([Fault(str(run), f"augmented facts break a promise: {line}") for line in found.broken])
            record = _record(options, absent, found)
            file.write_bytes(as_json(record))
        lock(place, "facts", "ledger")
    remarks = [f"removed: {removals(record)}", *warnings(record)]
    said: list[Said] = [
        (f"What the rules did to {found.videos:,} videos", ledger_lines(found.ledger)),
        ("Agreement with the truth in percent, entailed facts not counted", score_lines(found.scores)),
        ("What each rule is worth: precision and recall in percent", worth_lines(found.worths)),
        *[contradictions(record), *remarks[1:]],
        f"wrote {place.facts} and {place.ledger}",
    ]
    return Made("augment", said, record, remarks)


def left_out(run: Path, given: Sequence[str]) -> list[AugmentationRule]:
    """The rules that the option and questree.toml leave out."""
    configured = listed(run, "without", 'rules as in ["trim by order"]')
    named = [*((f"{file}, without", name) for file, name in configured), *(("--without", name) for name in given)]
    return list(dict.fromkeys(optional(name, place) for place, name in named))


def contradictions(record: dict[str, Any]) -> str:
    """How many facts another fact of the same frame and object denied, and how many it still does."""
    rules = [rule for rule in msgspec.to_builtins(record["rules"]) if rule["name"] in SETTLING]
    settled = sum(change["removed"] for rule in rules for change in rule["changes"])
    left = record["contradictions left"]
    return f"settled {settled:,} facts that contradict another one of their frame; {left:,} are left"


def warnings(record: dict[str, Any]) -> Iterator[str]:
    """Rules that removed more than a tenth of a class, from the ledger or its file."""
    for rule in msgspec.to_builtins(record["rules"]):
        lost = [f"{each['removed']:,} of {each['before']:,} {each['of']} {each['name']}" for each in rule["losses"]]
        more = f", and much of {len(lost) - SHOWN} more" if len(lost) > SHOWN else ""
        own = RULES[rule["name"]]
        hint = own.remedy if own.fixed else f"`--without {rule['number']}` leaves this rule out"
        if lost:
            said = f"removed {', '.join(lost[:SHOWN])}{more}"
            yield f"warning: rule {rule['number']} ({rule['name']}) {'; '.join(filter(None, (said, hint)))}"


def removals(record: dict[str, Any]) -> str:
    """What every rule removed, in one line; doubles that became one are among it."""
    lines = []
    for rule in msgspec.to_builtins(record["rules"]):
        gone = [f"{each['removed']:,} {each['what']}" for each in rule["changes"] if each["removed"]]
        if gone:
            lines.append(f"{' and '.join(gone)} (rule {rule['number']}, {rule['name']})")
    return "; ".join(lines) or "nothing"


def _record(options: AugmentOptions, absent: list[AugmentationRule], found: Augmented) -> dict[str, Any]:
    return {
        "options": asdict(options) | ({"without": [rule.name for rule in absent]} if absent else {}),
        "sizes": found.sizes,
        "rules": found.ledger,
        "agreement": {side: [_told(score) for score in scores] for side, scores in found.scores.items()},
        "ablation": [
            {"rule": worth.number, "name": worth.name, "alone": _told(worth.alone), "left out": _told(worth.left_out)}
            for worth in found.worths
        ],
        "contradictions left": found.contradictions,
    }


def _told(score: AgreementScore) -> dict[str, Any]:
    return asdict(score) | {"precision": score.precision, "recall": score.recall}


def ledger_lines(ledger: list[Entry]) -> list[dict[str, Any]]:
    """One row per rule and table, in the order of work; a rule that changed nothing still has a row."""
    return [
        {"rule": entry.number if at == 0 else None, "name": entry.name if at == 0 else "", "of": change.what}
        | {name: getattr(change, name) or None for name in ("added", "removed", "changed")}
        | {"acts later on": change.concerned or None, "seconds lost": entry.seconds_lost or None if at == 0 else None}
        for entry in ledger
        for at, change in enumerate([each for each in entry.changes if each != Change(each.what)] or entry.changes[:1])
    ]


def score_lines(scores: dict[str, list[AgreementScore]]) -> list[dict[str, Any]]:
    return [
        {
            "relations": before.group,
            "counted": "all" if before.given_by_actions else "not given by an action",
            "true facts": after.true,
            "precision before": _percent(before.precision),
            "precision after": _percent(after.precision),
            "recall before": _percent(before.recall),
            "recall after": _percent(after.recall),
        }
        for before, after in zip(scores.get("before", []), scores.get("after", []), strict=True)
    ]


def worth_lines(worths: list[Worth]) -> list[dict[str, Any]]:
    return [
        {
            "rule": worth.number,
            "name": worth.name,
            "precision alone": _percent(worth.alone.precision),
            "recall alone": _percent(worth.alone.recall),
            "precision without": _percent(worth.left_out.precision),
            "recall without": _percent(worth.left_out.recall),
        }
        for worth in worths
    ]


def _percent(share: float | None) -> str:
    return "" if share is None else f"{100 * share:.1f}"
