"""COVR's row programs over scenes: their values, or why there is none."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from questree.columns.joins import Ints, ranges
from questree.places import path_of
from questree.sources.covr_programs import ProgramRecord, read_programs

if TYPE_CHECKING:
    from questree.api.runs import StrPath
    from questree.domains.images import Corpus
    from questree.domains.images.batches import ProgramBatch
    from questree.notation.covr import CovrShape

MALFORMED = "malformed"
SHOWN = 5  # malformed programs that are explained


@dataclass(frozen=True)
class ProgramResults:
    ids: list[Any]  # [program]
    values: list[Any]  # [program]
    reasons: list[str | None]  # [program] why there is no value

    def records(self) -> list[dict[str, Any]]:
        """{id, ok, value} or {id, ok, error} of every program."""
        return [
            {"id": id, "ok": True, "value": value} if why is None else {"id": id, "ok": False, "error": why}
            for id, value, why in zip(self.ids, self.values, self.reasons, strict=True)
        ]


def execute(scenes: "StrPath", programs: "StrPath", *, workers: int = 2) -> tuple[list[dict[str, Any]], list[str]]:
    """Run programs, each over its scenes, as `questree covr execute` does: results, and what is wrong with some.

    A bad program is an error of its own and stops no other.
    """
    results, wrong = executed(scenes, programs, workers)
    return results.records(), wrong


def executed(scenes: "StrPath", programs: "StrPath", workers: int) -> tuple[ProgramResults, list[str]]:
    """The same, as columns: many programs are only counted."""
    from questree.domains.images import corpus
    from questree.sources.covr import read_scenes
    from questree.sources.pickles import collector_paused

    with collector_paused():
        read, asked = read_scenes(path_of(scenes)), read_programs(path_of(programs))
        results, wrong = outcomes(asked, corpus(read.images, read.attribute_groups), workers)
    return results, list(explained(asked, wrong))


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
    found, wrong = outcomes(asked, corpus, workers)
    return found.records(), wrong


def outcomes(asked: list[ProgramRecord], corpus: "Corpus", workers: int) -> tuple[ProgramResults, dict[int, str]]:
    """Of every program, in their order; and the malformed ones with what is wrong with their scenes, "" if it is the
    program."""
    images, wrong = _images(asked, corpus)
    odd = list[int]()
    values: list[Any] = [None] * len(asked)
    reasons: list[str | None] = [MALFORMED] * len(asked)

    def found(rows: list[int], given: list[Any], why: list[str | None]) -> None:
        for row, value, reason in zip(rows, given, why, strict=True):
            values[row], reasons[row] = value, reason

    for rows, given, why in _by_rows(asked, images, sorted(wrong), corpus, workers, odd):
        found(rows, given, why)
    groups = _grouped(asked, images, odd)
    for group, (given, why) in zip(groups, _answered(groups, corpus, workers), strict=True):
        found(group.rows, given, why)
        wrong |= {row: "" for row, reason in zip(group.rows, why, strict=True) if reason == MALFORMED}
    return ProgramResults([each.id for each in asked], values, reasons), wrong


def _images(asked: list[ProgramRecord], corpus: "Corpus") -> tuple[Ints, dict[int, str]]:
    """[program, place] the images it is about, as rows in the corpus; and what is wrong with those of others."""
    from questree.domains.images.corpus import padded

    each = [_scenes(one, corpus) for one in asked]
    wrong = {row: said for row, said in enumerate(each) if isinstance(said, str)}
    return padded([[] if isinstance(own, str) else own for own in each]), wrong


def _scenes(asked: ProgramRecord, corpus: "Corpus") -> list[int] | str:
    """The images of a program, each once; or what is wrong with them."""
    if not isinstance(asked.scenes, list):
        return f"expected a list of scenes, got {asked.scenes!r:.60}"
    try:
        return [corpus.image_at[name] for name in dict.fromkeys(asked.scenes)]
    except (KeyError, TypeError) as error:
        return f"no such scene among the {len(corpus.image_ids):,} scenes: {error!s:.60}"


def _by_rows(
    asked: list[ProgramRecord], images: Ints, wrong: list[int], corpus: "Corpus", workers: int, odd: list[int]
) -> Iterator[tuple[list[int], list[Any], list[str | None]]]:
    """(programs, their values, why they have none) of well-formed ones, whatever their shapes; the others are noted."""
    from questree.domains.images.kinds import PADDING
    from questree.notation.covr_rows import CHUNK, RowsRun
    from questree.notation.covr_written import Rows, WrittenRows
    from questree.readings.answer import WELL
    from questree.terms import REASONS

    names: dict[int, str | None] = {code: reason.replace(" ", "_") for code, reason in enumerate(REASONS)}
    names[WELL] = None
    written, places = WrittenRows(), np.delete(np.arange(len(asked)), wrong)
    lists = [each.program if type(each.program) is list else [] for each in asked]
    row, many = written.numbered(chain.from_iterable(lists)), np.array([*map(len, lists)], np.int64)
    end = np.cumsum(many)

    def taken(few: Ints) -> tuple[list[int], RowsRun]:
        _, entry = ranges(end[few] - many[few], end[few])
        rows, understood = Rows.of(written, row[entry], many[few])
        members = few[understood]
        odd.extend(np.delete(few, understood).tolist())
        own = images[members]
        wide = max(1, int((own != PADDING).sum(1).max(initial=0)))
        return members.tolist(), RowsRun(corpus, rows, own[:, :wide])

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


def _grouped(asked: list[ProgramRecord], images: Ints, rows: list[int]) -> list[_Group]:
    """These programs by shape."""
    from questree.domains.images.kinds import PADDING
    from questree.notation.covr import CovrShapes

    shapes, groups = CovrShapes(), dict[int, _Group]()
    for row in rows:
        shape, words = shapes.of(asked[row].rows)
        group = groups.get(id(shape))  # a group keeps its shape, so no other gets this id
        if group is None:
            group = groups[id(shape)] = _Group(shape)
        group.rows.append(row)
        group.words.append(words)
        group.images.append([image for image in images[row].tolist() if image != PADDING])
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
