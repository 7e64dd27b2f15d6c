"""Generation as a map over shards of videos: any executor will do, finished shards are kept, no row depends on them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import asdict, dataclass, replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import polars as pl

from questree.benchmarks.agqa.editions import SECOND, Edition, edition_of
from questree.benchmarks.agqa.templates import ADDED, Template
from questree.columns.hashing import seed_of
from questree.columns.joins import Ints, starts
from questree.columns.sets import Flags
from questree.extensions import needed
from questree.faults import BadInput, Fault, at_least, refuse
from questree.progress import inside
from questree.stages.generate.annotated import NOTED, actions_only
from questree.stages.generate.layout import Cuts, cut, expected, regular
from questree.stages.generate.localised import VideoChunk, chunk
from questree.stages.generate.pieces import ShardRows, full, in_pieces
from questree.stages.generate.questions import Questions, ask, together
from questree.stages.generate.rules import Tally
from questree.stages.generate.sampling import (
    EVERYTHING,
    LOCALISED,
    MOST_ROWS,
    WANTED,
    DenseVideo,
    SampledVideo,
    dense,
    fitted,
)
from questree.stages.generate.text import Lexicon, Speech, lexicon
from questree.stages.generate.word_columns import WordColumns, pair_counts, words
from questree.stages.questions import Shard
from questree.tables.facts import Facts, StoredFacts
from questree.tables.questions import QUESTIONS, TABLES, TEXT
from questree.tables.run import Run, kept_while
from questree.tables.shard_folders import NewShard, ShardFolders
from questree.tables.table import ROWS, Table
from questree.workers import processes, results

NUMPY: dict[object, type[np.unsignedinteger[Any]]] = {
    pl.UInt8: np.uint8,
    pl.UInt16: np.uint16,
    pl.UInt32: np.uint32,
    pl.UInt64: np.uint64,
}
Counts = dict[str, Tally]  # per template
SAMPLED = "sampled.json"  # in a shard: its videos that were sampled, if there are any
SAID = 4 * ROWS  # and texts of these


@dataclass(frozen=True)
class GenerateOptions:
    """What the questions depend on; all bad values are told at once."""

    seed: int = 1
    references: int = 3  # kept per (object, kind)
    rare_below: int = 10  # frames of the corpus a pair must be seen on
    shard: int = 128  # most videos per file
    phrases: int | None = None  # kept per video, besides the whole video
    most_per_video: int = WANTED  # questions; a video that has more is asked about samples
    text: bool = False  # also write every question's text
    edition: str = SECOND.name  # of AGQA
    templates: tuple[Template, ...] = ()  # asked besides those of the edition
    only_templates: bool = False  # and instead of them
    closed_world: bool = False  # what nobody annotated is not there, in videos that have actions alone, too
    as_released: bool = False  # times with repeated actions are read as AGQA does, and asked however they are read

    def __post_init__(self) -> None:
        small = at_least(0, {"references": self.references, "rare_below": self.rare_below, "phrases": self.phrases})
        refuse([*small, *at_least(1, {"shard": self.shard, "most_per_video": self.most_per_video})])


@dataclass(frozen=True)
class GenerateTask:
    """One shard's work, small enough to send anywhere that sees the run folder."""

    run: Path
    new: NewShard
    cuts: Cuts  # of its videos
    options: GenerateOptions
    dense: dict[str, DenseVideo]  # videos that may have too many questions


def generate(run: Run, options: GenerateOptions, workers: int = 2, pool: Executor | None = None) -> Counts:
    """All questions of a run's facts; an interrupted run goes on where it stopped."""
    run.vocabulary()
    options = with_plugins(options)
    refuse(at_least(1, {"workers": workers}))
    cuts, large = cut(expected(run), options.shard), dense(run, options.most_per_video)
    place = ShardFolders(run.questions, plan(run, options, cuts))
    names = [f"{at:05d}" for at in range(len(cuts))]
    shards = place.shards(names)
    tasks = [GenerateTask(run.folder, *each, options, large) for each in zip(shards, cuts, strict=True)]
    remedy = partial(place.kept, names, "a smaller --shard", "a smaller --most-per-video")
    with place.begun(names):
        left = [task for task in tasks if not task.new.done]
        with processes(workers, pool, remedy, len(left)) as executor:
            results({f"shard {task.new.name}": executor.submit(shard, task) for task in left}, "generate", remedy)
    counts = total([task.new.out for task in tasks])
    place.finish()
    return counts


def with_plugins(options: GenerateOptions) -> GenerateOptions:
    """The options with the templates of plugins."""
    known = {template.name for template in options.templates}
    plugged = (template for name, template in ADDED.items() if name not in known)
    options = replace(options, templates=(*plugged, *options.templates))
    if options.only_templates and not options.templates:
        raise BadInput.at("--only-templates", "expected --templates FILE or a plugin's template with it, got none")
    return options


def plan(run: Run, options: GenerateOptions, shards: list[Cuts]) -> bytes:
    """What the questions depend on, and which video each shard begins with if they are not all of one size."""
    bare = int(actions_only(run).sum())
    more: dict[str, Any] = ({"plugins": needed()} if needed() else {}) | ({NOTED: bare} if bare else {})
    more |= {} if regular(shards, options.shard) else {"begins": [cuts[0] for cuts in shards]}
    return msgspec.json.encode({"options": asked(options), "facts": run.facts_digest()} | more)


def asked(options: GenerateOptions) -> dict[str, Any]:
    """The options as the plan keeps them; it is silent about what came later and is not used."""
    found = asdict(options)
    left = [
        *(() if options.templates else ("templates", "only_templates")),
        *["closed_world"] * (not options.closed_world),
        *["as_released"] * (not options.as_released),
        *["phrases"] * (options.phrases is None),
        *["most_per_video"] * (options.most_per_video == WANTED),
    ]
    return {name: found[name] for name in found if name not in left}


@kept_while("vocabulary.toml", "facts", "ledger.json")
def corpus(
    run: Path, rare_below: int, edition: Edition, closed: bool = False
) -> tuple[StoredFacts, WordColumns, Lexicon, Flags]:
    """Facts, words and their phrases, and the videos with actions alone; read once per process."""
    vocabulary, facts = Run(run).vocabulary(), Run(run).stored("facts")
    bare = actions_only(Run(run)) & (not closed)
    known = words(vocabulary, pair_counts(facts, vocabulary), rare_below, edition)
    return facts, known, lexicon(vocabulary, known.edition), bare


def shard(task: GenerateTask) -> None:
    """Write the questions of one shard, whole or not at all."""
    options = task.options
    facts, known, phrases, bare = corpus(task.run, options.rare_below, edition_of(asked(options)), options.closed_world)
    counts: Counts = {}
    sampled: dict[str, SampledVideo] = {}
    written = TABLES[options.edition] | ({TEXT.name: TEXT} if options.text else {})
    with task.new.made() as folder:
        rows = ShardRows(folder, written.values(), known.vocabulary.wide)
        for at, (begin, end) in enumerate(pairwise(task.cuts)):
            part = loaded(facts.between(begin, end), known, bare[begin:end], options, task.dense)
            sampled |= samples(part, task.dense)
            sides = side_tables(part, begin)
            for name, side in sides.items():
                rows.add(written[name], side)
            for found in questions(part, counts, begin, partial(told_of, at, len(task.cuts) - 1)):
                rows.add(written[QUESTIONS.name], found)
                long = full(len(found), part.videos)
                if options.text:
                    ids = facts.videos["id"].to_list()
                    made = Shard.of(known.vocabulary, ids, options.seed, found, sides, known.edition)
                    for said in spoken(made, phrases, SAID if long else len(found)):
                        rows.add(TEXT, said)
                        if long:
                            rows.put_down()
                if long:
                    rows.put_down()
        rows.write()
        (folder / "counts.json").write_bytes(msgspec.json.encode(counts))
        if sampled:
            (folder / SAMPLED).write_bytes(msgspec.json.encode(sampled))
    inside(1)


def spoken(made: Shard, phrases: Lexicon, most: int) -> Iterator[pl.DataFrame]:
    """The texts of questions, at most so many at a time."""
    speech = Speech(phrases, made.named)
    for begin in range(0, len(made.questions), max(most, 1)):
        yield speech.say(made.where(made.questions[begin : begin + most])).to_frame()


def told_of(chunk: int, chunks: int, share: float) -> None:
    """Progress: a share of one of the chunks of a shard is done."""
    inside(0.99 * (chunk + share) / chunks)  # the rest is writing


def loaded(
    few: Facts, known: WordColumns, bare: Flags, options: GenerateOptions, large: Mapping[str, DenseVideo]
) -> VideoChunk:
    """Some videos; of those that have more questions than are wanted samples."""
    ids, wanted = few.videos["id"].to_list(), options.most_per_video
    seeds = np.array([seed_of(options.seed, video) for video in ids], np.uint64)
    made = partial(chunk, words=known, cap=options.references, most_phrases=options.phrases)
    if large.keys().isdisjoint(ids):
        return made(few, seeds=seeds, actions_only=bare)
    most, limit = np.full(len(ids), EVERYTHING), min(MOST_ROWS, LOCALISED // len(known.vocabulary.relations))
    for at in (at for at, video in enumerate(ids) if video in large):
        alone = partial(made, few.between(at, at + 1), seeds=seeds[[at]], actions_only=bare[[at]])
        most[at] = fitted(partial(tried, alone, wanted), wanted, large[ids[at]].first(wanted, limit), limit)
    return made(few, seeds=seeds, actions_only=bare, most=most)


def tried(alone: Callable[..., VideoChunk], wanted: int, most: int) -> tuple[int, bool]:
    """The questions about a sample of a video, or some more than are wanted; and whether anything was dropped."""
    part = alone(most=np.array([most]))
    rows = max(len(part.references.video), len(part.actions.video), *(len(each.span) for each in part.passes))
    localised = sum(len(each.localised.first) for each in (part, part.otherwise) if each)
    if rows > MOST_ROWS or localised > LOCALISED:
        return wanted + 1, True
    count = 0
    for found in questions(part, {}, 0):
        count += len(found)
        if count > wanted:
            break
    return count, bool(dropping(part)[0])


def dropping(part: VideoChunk) -> Flags:
    """[video] is any of its references, actions and times not in the sample?"""
    video, _ = part.world.deeds()
    dropped = np.bincount(video[~part.named], minlength=part.videos) > 0
    for each in (part.references, part.spans):
        dropped |= np.diff(each.start) < each.every
    return dropped


def samples(part: VideoChunk, large: Mapping[str, DenseVideo]) -> dict[str, SampledVideo]:
    """What videos were sampled."""
    video, _ = part.world.deeds()
    actions, named = (np.bincount(each, minlength=part.videos) for each in (video, video[part.named]))
    references, times = np.diff(part.references.start), np.diff(part.spans.start)
    return {
        part.world.ids[at]: SampledVideo(
            large[part.world.ids[at]].questions,
            (int(references[at]), int(part.references.every[at])),
            (int(named[at]), int(actions[at])),
            (int(times[at]), max(large[part.world.ids[at]].times, int(part.spans.every[at]))),
        )
        for at in np.flatnonzero(dropping(part))
    }


def total(folders: list[Path]) -> Counts:
    """Kept and rejected candidates of all shards."""
    counts: Counts = {}
    for folder in folders:
        found = msgspec.json.decode((folder / "counts.json").read_bytes(), type=dict[str, Tally])
        for template, tally in found.items():
            counts.setdefault(template, Tally()).add(tally)
    return counts


def questions(
    chunk: VideoChunk, counts: Counts, first_video: int, tell: Callable[[float], None] = lambda _: None
) -> Iterator[pl.DataFrame]:
    """Every question of the chunk, by template, numbered within their video in that order; of a long one in pieces."""
    so_far = np.zeros(chunk.videos, np.int64)  # [video] questions before
    columns = (
        numbered(chunk, template, found, so_far, first_video, tally)
        for template, tally in tallied_templates(chunk.words.edition.templates, counts, tell)
        for found in ask(template, chunk, tally)
    )
    for parts in in_pieces(columns, chunk.videos):
        yield pl.DataFrame(together(parts))
    chunk.sifted.clear()  # what refers to each other stays in memory for a long time


def tallied_templates(
    templates: Sequence[Template], counts: Counts, tell: Callable[[float], None]
) -> Iterator[tuple[Template, Tally]]:
    """Templates with their counts; `tell` hears how many are done."""
    for at, template in enumerate(templates):
        tell(at / len(templates))
        yield template, counts.setdefault(template.name, Tally())


def numbered(
    chunk: VideoChunk, template: Template, found: Questions, so_far: Ints, first_video: int, tally: Tally
) -> Questions:
    """Some questions, numbered behind those before; what a template does not have is the largest number of its type."""
    video, edition = found["video"], chunk.words.edition
    rank = np.arange(len(video)) - starts(video, chunk.videos)[video]
    columns = found | {
        "number": so_far[video] + rank,
        "template": np.full(len(rank), edition.codes[template.name]),
        "flags": chunk.words.held_out.flags[found["marks"]],
        "video": video + first_video,
    }
    so_far += np.bincount(video, minlength=chunk.videos)
    tally.kept += len(video)
    return small(TABLES[edition.name]["questions"], columns, chunk.words.vocabulary.wide)


def side_tables(chunk: VideoChunk, first_video: int) -> dict[str, pl.DataFrame]:
    """References, action references and phrases, sorted by video: the row numbers of the questions count in them."""
    refs, acts, spans = chunk.references, chunk.actions, chunk.spans
    first, second = chunk.passes
    span = np.concatenate([first.span, second.span])
    order = np.argsort(spans.video[span], kind="stable")  # within a video the first pass comes first
    a, b = (np.concatenate([getattr(first, side), getattr(second, side)])[order] for side in "ab")
    span = span[order]
    columns = [
        ("references", {n: getattr(refs, n) for n in ("kind", "object", "relation", "time", "video")}),
        ("action_references", {n: getattr(acts, n) for n in ("kind", "action", "reference", "video")}),
        ("phrases", {"kind": spans.kind[span], "a": a, "b": b, "video": spans.video[span]}),
    ]
    tables, wide = TABLES[chunk.words.edition.name], chunk.words.vocabulary.wide
    for name, data in columns[: 2 if wide else 3]:  # with many words questions have room for any number of phrases
        counted(chunk, name.replace("_", " "), data["video"])
    return {
        name: pl.DataFrame(small(tables[name], data | {"video": data["video"] + first_video}, wide))
        for name, data in columns
    }


def counted(chunk: VideoChunk, called: str, video: Ints) -> None:
    """Refuse more rows of a video than the columns that count in them can tell apart."""
    rows = np.bincount(video, minlength=chunk.videos)
    message = f"expected at most {MOST_ROWS:,} {called}, got"
    many = np.flatnonzero(rows > MOST_ROWS)
    remedy = "sample with a smaller --most-per-video"
    refuse([Fault(f"video {chunk.world.ids[at]}", f"{message} {rows[at]:,}; {remedy}") for at in many])


def small(table: Table, columns: dict[str, Ints], wide: bool) -> dict[str, Ints]:
    """Columns as the table's small integers; -1 becomes the largest number of its type."""
    return {name: columns[name].astype(NUMPY[dtype]) for name, dtype in table.types(wide).items()}
