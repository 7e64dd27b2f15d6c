"""COVR's row programs over scenes: their values, or why there is none."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass, field
from os import fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from questree.faults import UNREADABLE, BadInput

if TYPE_CHECKING:
    from questree.api.runs import StrPath
    from questree.domains.images import Corpus
    from questree.domains.images.batches import ProgramBatch
    from questree.notation.covr import CovrShape

MALFORMED = "malformed"
SHOWN = 5  # malformed programs that are explained


def execute(scenes: "StrPath", programs: "StrPath", *, workers: int = 2) -> tuple[list[dict[str, Any]], list[str]]:
    """Run programs, each over its scenes, as `questree covr execute` does: results, and what is wrong with some.

    A bad program is an error of its own and stops no other.
    """
    from questree.domains.images import corpus
    from questree.sources.covr import read_scenes
    from questree.sources.pickles import collector_paused

    with collector_paused():
        read, asked = read_scenes(Path(fspath(scenes))), read_programs(Path(fspath(programs)))
        results, wrong = results_of(asked, corpus(read.images, read.attribute_groups), workers)
    return results, list(explained(asked, wrong))


class ProgramRecord(msgspec.Struct):
    """One program as it is in the file; anything may be wrong with it."""

    id: Any = None
    scenes: Any = None
    program: Any = None  # rows, or a list of their JSON

    @property
    def rows(self) -> Any:
        """The program, decoded."""
        if type(self.program) is not list:
            return self.program
        return [msgspec.json.decode(row) if type(row) is msgspec.Raw else row for row in self.program]


class RowsRecord(ProgramRecord, kw_only=True):
    """One whose program is a list."""

    program: list[msgspec.Raw]


def read_programs(path: Path) -> list[ProgramRecord]:
    """The records of a file; of one that is not even an object nothing."""
    from questree.tables.store import content

    text = content(path)
    try:
        return list[ProgramRecord](msgspec.json.decode(text, type=list[RowsRecord]))
    except UNREADABLE:
        pass  # one of them may be to blame
    try:
        records = msgspec.json.decode(text, type=list[msgspec.Raw])
    except UNREADABLE as error:
        raise BadInput.at(path, f"expected [{{id, scenes, program}}]; {error}") from error
    return [_record(raw) for raw in records]


def _record(raw: msgspec.Raw) -> ProgramRecord:
    try:
        return msgspec.json.decode(raw, type=ProgramRecord)
    except UNREADABLE:
        return ProgramRecord()


@dataclass
class _Group:
    """Programs of one shape."""

    shape: "CovrShape"
    rows: list[int] = field(default_factory=list)  # [member] place in the file
    words: list[list[str | int]] = field(default_factory=list)  # [member, word]
    images: list[list[int]] = field(default_factory=list)  # [member, image] rows in the corpus

    def batch(self, corpus: "Corpus") -> "ProgramBatch":
        """A shape whose first row is malformed runs nothing."""
        from questree.domains.images.answers import nothing
        from questree.domains.images.batches import ProgramBatch
        from questree.domains.images.corpus import padded

        columns = {
            slot.name: corpus.positions([words[int(slot.name)] for words in self.words], slot.kind)
            for slot in self.shape.slots
        }
        return ProgramBatch(self.shape.parts or (nothing(),), columns, padded(self.images))


def results_of(
    asked: list[ProgramRecord], corpus: "Corpus", workers: int = 1
) -> tuple[list[dict[str, Any]], dict[int, str]]:
    """{id, ok, value} or {id, ok, error} of every program, in their order; and the malformed ones with what is wrong
    with their scenes, "" if it is the program."""
    images, wrong = _images(asked, corpus)
    odd, found = list[int](), dict[int, tuple[Any, str | None]]()
    for rows, values, why in _by_rows(asked, images, corpus, workers, odd):
        found.update(zip(rows, zip(values, why, strict=True), strict=True))
    groups = _grouped(asked, images, odd)
    for group, (values, why) in zip(groups, _answered(groups, corpus, workers), strict=True):
        found.update(zip(group.rows, zip(values, why, strict=True), strict=True))
        wrong |= {row: "" for row, reason in zip(group.rows, why, strict=True) if reason == MALFORMED}
    every = (found.get(row, (None, MALFORMED)) for row in range(len(asked)))
    return [
        {"id": each.id, "ok": True, "value": value} if why is None else {"id": each.id, "ok": False, "error": why}
        for each, (value, why) in zip(asked, every, strict=True)
    ], wrong


def _images(asked: list[ProgramRecord], corpus: "Corpus") -> tuple[dict[int, list[int]], dict[int, str]]:
    """[program] the images it is about, as rows in the corpus; and what is wrong with those of others."""
    found, wrong, at = dict[int, list[int]](), dict[int, str](), corpus.image_at
    for row, each in enumerate(asked):
        if not isinstance(each.scenes, list):
            wrong[row] = f"expected a list of scenes, got {each.scenes!r:.60}"
            continue
        try:
            found[row] = [at[name] for name in dict.fromkeys(each.scenes)]
        except (KeyError, TypeError) as error:
            wrong[row] = f"no such scene among the {len(corpus.image_ids):,} scenes: {error!s:.60}"
    return found, wrong


def _by_rows(
    asked: list[ProgramRecord], images: dict[int, list[int]], corpus: "Corpus", workers: int, odd: list[int]
) -> Iterator[tuple[list[int], list[Any], list[str | None]]]:
    """(programs, their values, why they have none) of well-formed ones, whatever their shapes; the others are noted."""
    from questree.domains.images.corpus import padded
    from questree.notation.covr_rows import CHUNK, RowsRun
    from questree.notation.covr_written import Rows, WrittenRows, as_text
    from questree.readings.answer import WELL
    from questree.terms import REASONS

    names: dict[int, str | None] = {code: reason.replace(" ", "_") for code, reason in enumerate(REASONS)}
    names[WELL] = None
    written, places = WrittenRows(), list(images)
    text = bytes if all(type(each) is RowsRecord for each in asked) else as_text  # of a row: many of them

    def taken(few: list[int]) -> tuple[list[int], RowsRun]:
        rows, understood = Rows.of(written, [asked[row].program for row in few], text)
        members = [few[at] for at in understood.tolist()]
        odd.extend(sorted({*few}.difference(members)))
        return members, RowsRun(corpus, rows, padded([images[row] for row in members]))

    chunks = [taken(places[at : at + CHUNK]) for at in range(0, len(places), CHUNK)]
    with ThreadPoolExecutor(workers) if workers > 1 and len(chunks) > 1 else nullcontext() as pool:
        runs = [each.run for _, each in chunks]
        done = pool.map(lambda run: run(), runs) if pool else (run() for run in runs)
        for (members, _), (values, why) in zip(chunks, done, strict=True):
            yield members, values, [names[code] for code in why]


def explained(asked: list[ProgramRecord], wrong: dict[int, str]) -> Iterator[str]:
    """The first malformed programs, each with what is wrong with it."""
    from questree.notation.covr import read_alone

    for row in sorted(wrong)[:SHOWN]:
        yield f"program {asked[row].id}: malformed, {wrong[row] or read_alone(asked[row].rows).wrong}"
    if len(wrong) > SHOWN:
        yield f"(and {len(wrong) - SHOWN:,} more malformed programs)"


def _grouped(asked: list[ProgramRecord], images: dict[int, list[int]], rows: list[int]) -> list[_Group]:
    """These programs by shape."""
    from questree.notation.covr import CovrShapes

    shapes, groups = CovrShapes(), dict[int, _Group]()
    for row in rows:
        shape, words = shapes.of(asked[row].rows)
        group = groups.get(id(shape))  # a group keeps its shape, so no other gets this id
        if group is None:
            group = groups[id(shape)] = _Group(shape)
        group.rows.append(row)
        group.words.append(words)
        group.images.append(images[row])
    return list(groups.values())


def _answered(groups: list[_Group], corpus: "Corpus", workers: int) -> Iterator[tuple[list[Any], list[str | None]]]:
    """Of each group [member] the value, and why there is none: the first row that cannot be run says so."""
    from questree.domains.images.batches import answers
    from questree.readings.answer import WELL
    from questree.terms import REASONS

    names = [reason.replace(" ", "_") for reason in REASONS]
    for group, found in zip(groups, answers([group.batch(corpus) for group in groups], corpus, workers), strict=True):
        well = MALFORMED if group.shape.wrong else None
        yield found.value, [well if code == WELL else names[code] for code in found.reason.tolist()]
