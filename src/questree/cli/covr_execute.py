"""`questree covr execute`: row programs over sets of scenes -> their values, or why there is none."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
from cyclopts import Parameter

from questree.cli.terminal import output, print_table, say, watching, write_json
from questree.faults import BadInput

if TYPE_CHECKING:
    from questree.domains.images import Corpus
    from questree.domains.images.batches import ProgramBatch
    from questree.notation.covr import CovrShape

MALFORMED = "malformed"
SHOWN = 5  # malformed programs that are explained


@output
def execute_command(
    *,
    scenes: Annotated[Path, Parameter(help='{"gqa", "imsitu", "attribute_groups"}: scene graphs, and groups.')],
    programs: Annotated[Path, Parameter(help="[{id, scenes, program}], a program being a list of rows.")],
    workers: Annotated[int, Parameter(help="Number of threads.")] = 2,
) -> None:
    """Run programs, each over its scenes. A bad program is an error of its own and stops no other."""
    from questree.domains.images import corpus
    from questree.sources.covr import read_scenes

    with watching():
        read = read_scenes(scenes)
        asked = read_programs(programs)
        results, wrong = results_of(asked, corpus(read.images, read.attribute_groups), workers)
    outcomes = Counter(result.get("error", "answered") for result in results)
    print_table(f"{len(results):,} programs", [{"outcome": name, "programs": n} for name, n in outcomes.items()])
    for line in explained(asked, wrong):
        say(line)
    write_json(results)


class ProgramRecord(msgspec.Struct):
    """One program as it is in the file; anything may be wrong with it."""

    id: Any = None
    scenes: Any = None
    program: Any = None


def read_programs(path: Path) -> list[ProgramRecord]:
    """The records of a file; of one that is not even an object nothing."""
    from questree.tables.store import content

    try:
        records = msgspec.json.decode(content(path), type=list[msgspec.Raw])
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BadInput.at(path, f"expected [{{id, scenes, program}}]; {error}") from error
    return [_record(raw) for raw in records]


def _record(raw: msgspec.Raw) -> ProgramRecord:
    try:
        return msgspec.json.decode(raw, type=ProgramRecord)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
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
    groups, wrong = _grouped(asked, corpus)
    results: list[dict[str, Any]] = [{"id": each.id, "ok": False, "error": MALFORMED} for each in asked]
    for group, (values, why) in zip(groups, _answered(groups, corpus, workers), strict=True):
        for row, value, reason in zip(group.rows, values, why, strict=True):
            if reason is None:
                results[row] = {"id": results[row]["id"], "ok": True, "value": value}
            elif reason == MALFORMED:
                wrong[row] = ""
            else:
                results[row]["error"] = reason
    return results, wrong


def explained(asked: list[ProgramRecord], wrong: dict[int, str]) -> Iterator[str]:
    """The first malformed programs, each with what is wrong with it."""
    from questree.notation.covr import read_alone

    for row in sorted(wrong)[:SHOWN]:
        yield f"program {asked[row].id}: malformed, {wrong[row] or read_alone(asked[row].program).wrong}"
    if len(wrong) > SHOWN:
        yield f"(and {len(wrong) - SHOWN:,} more malformed programs)"


def _grouped(asked: list[ProgramRecord], corpus: "Corpus") -> tuple[list[_Group], dict[int, str]]:
    """Programs that can be run, by shape; and of the others what is wrong with them."""
    from questree.notation.covr import CovrShapes

    shapes, groups, wrong = CovrShapes(), dict[int, _Group](), dict[int, str]()
    for row, each in enumerate(asked):
        if not isinstance(each.scenes, list):
            wrong[row] = f"expected a list of scenes, got {each.scenes!r:.60}"
            continue
        try:
            images = [corpus.image_at[name] for name in dict.fromkeys(each.scenes)]
        except (KeyError, TypeError) as error:
            wrong[row] = f"no such scene among the {len(corpus.image_ids):,} scenes: {error!s:.60}"
            continue
        shape, words = shapes.of(each.program)
        group = groups.get(id(shape))  # a group keeps its shape, so no other gets this id
        if group is None:
            group = groups[id(shape)] = _Group(shape)
        group.rows.append(row)
        group.words.append(words)
        group.images.append(images)
    return list(groups.values()), wrong


def _answered(groups: list[_Group], corpus: "Corpus", workers: int) -> Iterator[tuple[list[Any], list[str | None]]]:
    """Of each group [member] the value, and why there is none: the first row that cannot be run says so."""
    from questree.domains.images.batches import answers
    from questree.program import REASONS
    from questree.readings.answer import WELL

    names = [reason.replace(" ", "_") for reason in REASONS]
    for group, found in zip(groups, answers([group.batch(corpus) for group in groups], corpus, workers), strict=True):
        well = MALFORMED if group.shape.wrong else None
        yield found.value, [well if code == WELL else names[code] for code in found.reason.tolist()]
