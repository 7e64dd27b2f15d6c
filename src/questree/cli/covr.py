"""`questree covr`: COVR's own files: programs over scenes, what scenes contain, words that exclude each other."""

from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
from cyclopts import Parameter

from questree.cli.terminal import output, print_table, say, watching, write_json
from questree.faults import BadInput, Fault, at_least, refuse
from questree.tables.run import Run

if TYPE_CHECKING:
    from questree.domains.images import Corpus
    from questree.domains.images.batches import ProgramBatch
    from questree.notation.covr import CovrShape
    from questree.search.related import RelatedImages

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
    from questree.sources.pickles import collector_paused

    with watching(), collector_paused():
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
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        pass  # one of them may be to blame
    try:
        records = msgspec.json.decode(text, type=list[msgspec.Raw])
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


Scenes = Annotated[Path, Parameter(help='{"gqa", "imsitu"}: scene graphs.')]
Tables = Annotated[Path | None, Parameter(help="Folder of word tables. [default: the shipped ones]")]


@output
def subgraphs_command(*, scenes: Scenes, words: Tables = None) -> None:
    """Write every subgraph of every scene: {scene, start, graph, len, depth}."""
    from questree.domains.images.graph import to_json
    from questree.progress import watch
    from questree.search.index import Index
    from questree.search.subgraphs import subgraphs
    from questree.search.word_tables import words_of
    from questree.sources.covr import read_scenes

    with watching():
        tables, index = words_of(words), Index(read_scenes(scenes).images)
        image_ids, thing_ids = index.image_ids.to_list(), index.thing_ids.to_list()
        rows = [
            {
                "scene": image_ids[image],
                "start": thing_ids[thing],
                "graph": to_json(graph),
                "len": graph.length,
                "depth": graph.depth,
            }
            for each in watch(range(len(image_ids)), "subgraphs", len(image_ids))
            for image, thing, graph in subgraphs(index, tables, [each])
        ]
    counts = sorted(Counter((row["len"], row["depth"]) for row in rows).items())
    table = [{"length": length, "depth": depth, "subgraphs": count} for (length, depth), count in counts]
    print_table("Subgraphs", table)
    say(f"{len(rows):,} subgraphs of {len(image_ids):,} scenes")
    write_json(rows)


TOGETHER = 2000  # graphs whose scenes are in memory at once


class NodeRecord(msgspec.Struct):
    name: str
    attributes: list[str] | None = None
    relations: list["LinkRecord"] | None = None


class PrepositionRecord(msgspec.Struct):
    name: str
    target: NodeRecord


class LinkRecord(msgspec.Struct):
    name: str
    target: NodeRecord
    prepositions: list[PrepositionRecord] | None = None


class GraphRecord(msgspec.Struct):
    """One graph; its own scene is only passed on."""

    scene: str
    graph: msgspec.Raw
    multi_count: Annotated[int, msgspec.Meta(ge=1)] = 1


@output
def related_command(
    *,
    scenes: Scenes,
    graphs: Annotated[Path, Parameter(help="[{scene, graph}]; with a multi_count, 0_no_mult is searched for too.")],
    words: Tables = None,
    verify: Annotated[
        str | None, Parameter(help="Scores of distractors: module:function, or a file [{image, graph, score}].")
    ] = None,
    verify_others: Annotated[
        str | None, Parameter(help="Scores of unannotated instances: module:function, or a file like --verify's.")
    ] = None,
) -> None:
    """Write the scenes that contain each graph, and by kind those that distract from it."""
    from questree.domains.images.graph import from_json
    from questree.progress import watch
    from questree.search.index import Index
    from questree.search.other_instances import OtherInstances, others_of
    from questree.search.related import Related
    from questree.search.verification import scorer_of
    from questree.search.word_tables import words_of
    from questree.sources.covr import read_scenes

    with watching():
        asked = read_graphs(graphs)
        images = read_scenes(scenes).images
        index = Index(images)
        others = OtherInstances(images, index, others_of(verify_others)) if verify_others else None
        related = Related(index, words_of(words), scorer_of(verify) if verify else None, others)
        ids, rows = index.image_ids.to_list(), list[dict[str, Any]]()
        starts = range(0, len(asked), TOGETHER)
        for first in watch(starts, "related scenes", len(starts)):
            few = asked[first : first + TOGETHER]
            found = related.find(
                [from_json(msgspec.json.decode(row.graph)) for row in few], [r.multi_count for r in few]
            )
            rows += [_written(row, found, at, ids) for at, row in enumerate(few)]
    print_table("Related scenes", _counts(rows))
    say(f"{len(rows):,} graphs, {len(ids):,} scenes")
    write_json(rows)


def _written(row: GraphRecord, found: "RelatedImages", at: int, ids: list[str]) -> dict[str, Any]:
    scenes = {
        kind: [ids[image] for image in found.image[hits.start : hits.stop]] for kind, hits in found.of(at).items()
    }
    return {"scene": row.scene, "graph": row.graph, "positive": scenes.pop("positive", []), "negative": scenes}


def _counts(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Per kind: how many graphs have it, and how many scenes."""
    kinds: dict[str, list[int]] = {"positive": [len(row["positive"]) for row in rows if row["positive"]]}
    for row in rows:
        for kind, scenes in row["negative"].items():
            kinds.setdefault(kind, []).append(len(scenes))
    return [{"kind": kind, "graphs": len(sizes), "scenes": sum(sizes)} for kind, sizes in kinds.items()]


def read_graphs(path: Path) -> list[GraphRecord]:
    """The rows of a file; everything that is wrong with it in one go."""
    from questree.search.verification import records

    rows = records(path, GraphRecord)
    faults = []
    for at, row in enumerate(rows):
        try:
            node = msgspec.json.decode(row.graph, type=NodeRecord)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            faults.append(Fault(f"{path}, record {at}, graph", str(error)))
        else:
            faults += [Fault(f"{path}, record {at}, graph", message) for message in _wrong(node)]
    refuse(faults)
    return rows


def _wrong(node: NodeRecord) -> Iterator[str]:
    if not node.name.strip():
        yield "the name of a node is empty"
    if len(node.attributes or ()) > 1:
        yield f"{node.name!r} has {len(node.attributes or ())} attributes; a node has none or one"
    for link in node.relations or ():
        for each in (link, *(link.prepositions or ())):
            if not each.name.strip():
                yield f"the name of a relation of {node.name!r} is empty"
            yield from _wrong(each.target)


@output
def exclusion_command(
    run: Annotated[Path | None, Parameter(help="Run folder with images.")] = None,
    /,
    *,
    out: Annotated[Path, Parameter(help="Folder to write the tables to.")],
    scenes: Annotated[Path | None, Parameter(help='Scene graphs {"gqa", "imsitu"} instead of a run.')] = None,
    words: Tables = None,
    scorer: Annotated[
        str | None, Parameter(help="Judge of pairs: module:function, or a file [{kind, a, b, score}].")
    ] = None,
) -> None:
    """Which words exclude each other: annotated pairs and an ontology (--words), and what the images say."""
    from questree.search.exclusion import scorer_of, write_tables
    from questree.search.word_tables import folder_of_words
    from questree.sources.covr import read_scenes
    from questree.tables.images import Images

    if (run is None) == (scenes is None):
        raise BadInput.at("", "expected either a run folder or --scenes FILE")
    with watching(), folder_of_words(words) as folder:
        images = Images.load(run / "images") if run is not None else read_scenes(scenes).images  # type: ignore[arg-type]
        counts = write_tables(images, folder, out, scorer_of(scorer) if scorer else None)
    print_table("Pairs", [{"list": name, "pairs": count} for name, count in sorted(counts.items())])
    say(f"wrote {out}")
    write_json(counts)


@output
def released_command(
    *,
    questions: Annotated[Path, Parameter(help='Questions {"train": [...], "val": [...]}.')],
    few_shot: Annotated[int, Parameter(help="Number of examples with the property that stay in train.")] = 250,
    seed: Annotated[int, Parameter(help="Seed of the draws.")] = 0,
    draws: Annotated[int, Parameter(help="Number of seeds, for splits of runs; a file is split with one.")] = 3,
    lexical_pairs: Annotated[int, Parameter(help="Number of pairs of terms held out.")] = 65,
    lexical_alone: Annotated[int, Parameter(help="Fewest questions of train with one term but not the other.")] = 50,
    lexical_together: Annotated[int, Parameter(help="Fewest questions of val with both terms.")] = 15,
) -> None:
    """Every property of COVR's splits with the ids of a released file that it holds out; runs: `questree split`."""
    from questree.sources.covr import SIDES, read_sides
    from questree.stages.split.properties import of_records, properties
    from questree.stages.split.recipes import drawing

    counts = {"few_shot": few_shot, "lexical_pairs": lexical_pairs}
    counts |= {"lexical_alone": lexical_alone, "lexical_together": lexical_together}
    refuse(at_least(0, {**counts, "draws": draws}))
    with watching():
        rows = of_records(read_sides(questions))
        side = {name: (rows.questions["side"] == name).to_numpy() for name in SIDES}
        result, warnings = dict[str, dict[str, Any]](), list[str]()
        for each in properties(rows, drawing(seed, **counts), side["train"], side["val"]):
            held = each.predicate.holds(rows)
            result[each.name] = {name: rows.questions["id"].filter(held & at).to_list() for name, at in side.items()}
            result[each.name] |= {} if each.drawn is None else {"held_out": each.drawn}
            warnings += each.warnings
    lines = [
        {"held out": name, "drawn": len(found["held_out"]) if "held_out" in found else None}
        | {side: len(found[side]) for side in SIDES}
        for name, found in result.items()
    ]
    print_table("Questions held out", lines)
    for warning in warnings:
        say(f"warning: {warning}")
    write_json(result)


@output
def statistics_command(
    run: Annotated[Path | None, Parameter(help="Run folder with image questions.")] = None,
    /,
    *,
    questions: Annotated[
        list[Path] | None,
        Parameter(help="COVR questions of one split instead of a run; may be given again.", negative=""),
    ] = None,
    every: Annotated[
        bool, Parameter(name="--all", help="With a run: count every question, not only the balanced selection.")
    ] = False,
) -> None:
    """Kinds of questions, answers, images and anonymised programs of every split, and how often operators occur."""
    from questree.api.exporting import counted
    from questree.sources.covr import read_records
    from questree.stages.audit.image_corpus import figures_of, parts_of, table_3
    from questree.stages.split.image_sets import selected
    from questree.stages.split.properties import of_records
    from questree.stages.split.rows import image_rows

    if (run is None) == (not questions):
        raise BadInput.at("", "expected either a run folder or --questions FILE")
    with watching():
        if run is not None:
            rows = image_rows(selected(Run(run), every))
            parts = parts_of(rows, "split")
        else:
            rows = of_records({split_of(path): read_records(path) for path in questions or []})
            parts = parts_of(rows, "side")
        table, first = table_3(rows, parts), "train" if "train" in parts else next(iter(parts), "")
        figures = figures_of(rows, parts.get(first))
    print_table("Questions (COVR, Table 3)", table)
    print_table(f"{first}: commonest answers but yes and no (COVR, Figure 4)", counted("answer", figures["figure 4"]))
    print_table(f"{first}: questions by number of images (COVR, Figure 5)", counted("images", figures["figure 5"]))
    print_table(f"{first}: questions by occurrences of an operator (COVR, Figure 6)", figures["figure 6"])
    write_json({"table 3": table, **figures})


def split_of(path: Path) -> str:
    """The split a file is named after, or else its name."""
    from questree.formats.covr import SPLIT_OF

    stem = path.name.split(".")[0]
    return SPLIT_OF.get(stem, stem)
