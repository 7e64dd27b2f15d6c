"""Questions of a whole run: train, dev and test by image, of each part chunks of images in an order the seed decides,
put together so that no question is there twice and no text is in dev and in test."""

import gc
import pickle
from collections import Counter, deque
from collections.abc import Iterator, Mapping
from concurrent.futures import Executor, Future
from dataclasses import asdict, dataclass, field, fields, replace
from itertools import islice
from pathlib import Path
from typing import Any, Literal

import msgspec
import polars as pl
from numpy.typing import NDArray

from questree.benchmarks import Recipe, Said, Told
from questree.benchmarks.covr.forms import ImageTemplate
from questree.benchmarks.covr.templates import BY_NAME, TEMPLATES, as_in_paper
from questree.columns.hashing import seed_of
from questree.extensions import needed
from questree.faults import BadInput, at_least, refuse
from questree.places import path_of
from questree.search.other_instances import OtherScorer, others_of
from questree.search.verification import Scorer, scorer_of
from questree.search.word_tables import WordTables, words_of
from questree.stages.drafts.builders import Reasons
from questree.stages.drafts.chunk import Workshop
from questree.stages.drafts.given import read
from questree.stages.drafts.part_facts import PartFacts, write_part
from questree.stages.drafts.parts import PARTS, part_of
from questree.stages.drafts.pieces import (
    PAIRED,
    STAYS,
    ChunkKeys,
    PartRows,
    SoFar,
    apart,
    final,
    numbered,
    write_kept,
    written,
)
from questree.stages.question_shards import write_shards
from questree.tables.image_questions import made_from_questions
from questree.tables.images import ATTRIBUTES, IMAGES, RELATIONS, WORDS
from questree.tables.run import Run, kept_while
from questree.tables.store import new_folder, scratch
from questree.workers import in_parallel, processes, results

CHUNKS, FEWEST, MOST = 16, 300, 4000  # chunks of a part, and references of a chunk: more are faster, fewer end sooner
YIELD = 5  # questions of one reference, by experience; a wrong guess only changes how the images take turns
ROUNDS = 8  # times every image has its turn at most


@dataclass(frozen=True)
class DraftOptions:
    questions: int = 100_000
    seed: int = 1
    words: Path | None = None  # folder of word tables; the shipped ones without
    verify: str = ""  # who looks at distracting images: module:function, or a file of scores
    templates: tuple[ImageTemplate, ...] = ()  # asked besides the shipped ones
    only_templates: bool = False  # and instead of them
    distractors: Literal["near", "random"] = "near"  # images that nearly contain a reference, or any
    verify_others: str = ""  # who looks for instances that nobody annotated: module:function, or a file of scores
    at_most_as_paper: bool = False  # "at most K in an image" in the paper's words

    def __post_init__(self) -> None:
        if not asked(self):
            raise BadInput.at("--only-templates", "expected --templates FILE or a plugin's template with it, got none")
        refuse([*at_least(1, {"questions": self.questions}), *at_least(0, {"seed": self.seed})])


@dataclass(frozen=True)
class DraftTask:
    """One chunk's work, small enough to send anywhere that sees the run folder."""

    facts: Path  # about the images of the part
    part: str
    words: bytes  # the tables, pickled: to read them from their files takes longer than to send them along
    options: DraftOptions
    rows: tuple[int, ...]  # of the part
    per_image: int
    seed: int
    out: Path


@dataclass(frozen=True)
class DraftReport:
    questions: dict[str, dict[str, int]]  # split -> template -> how many
    paired: dict[str, dict[str, int]]  # split -> template -> how many of them have a twin
    images: dict[str, int]  # split -> images
    dropped: dict[str, dict[str, int]]  # template -> reason -> how many
    short: dict[str, int]  # split -> how many fewer than wanted
    unmade: dict[str, dict[str, int]] = field(default_factory=dict)  # template without questions -> why -> references
    known: dict[str, tuple[int, int]] = field(default_factory=dict)  # words of a kind the shipped tables know, and all

    @property
    def total(self) -> int:
        return sum(sum(own.values()) for own in self.questions.values())


def generate(run: Run, options: DraftOptions, workers: int = 2) -> DraftReport:
    """Write RUN/covr/questions/<shard>/; whatever was made from earlier questions there goes with them."""
    images = IMAGES.read(run.images)
    part = part_of(images)
    word_tables = words_of(options.words)
    words = pickle.dumps(word_tables)
    scorers(options)  # say now what is wrong with them
    dropped, unmade, parts, short = Reasons(), Reasons(), dict[str, PartRows](), dict[str, int]()
    with new_folder(run.covr) as folder, scratch(run.covr) as place:
        with processes(workers, tasks=workers) as pool:
            facts = write_facts(run.images, part, word_tables.attribute_group, place, pool)
            for name in PARTS:
                ids = images["id"].filter(part == name).to_list()
                wanted = round(options.questions * len(ids) / max(len(part), 1))
                so_far = SoFar(wanted)
                found = tasks(facts[name], name, words, ids, wanted, options, place)
                made = in_order(found, pool, workers + 1 if in_parallel(workers) else 1, so_far)
                parts[name] = PartRows.of(name, made, so_far, dropped, unmade)
                if len(parts[name]) < wanted - 1:  # a torn pair may cost one
                    short[name] = wanted - len(parts[name])
            counts = write_questions(parts, pool, folder)
        report = summary(counts, dict(Counter(part.tolist())), dropped, short, asked(options))
        told = known(run.images, word_tables) if options.words is None else {}  # other tables are somebody's choice
        report = replace(report, unmade=reasons_of(unmade, report), known=told)
        note = {"options": noted(options), **asdict(report), "plugins": needed()}
        (folder / "report.json").write_bytes(msgspec.json.format(msgspec.json.encode(note), indent=1) + b"\n")
    return report


def write_questions(parts: Mapping[str, PartRows], pool: Executor, folder: Path) -> pl.DataFrame:
    """The table of all questions that stay; part, template, what, n: what was counted about them."""
    dev, test = apart(parts["dev"], parts["test"])
    chunks = list(numbered([parts["train"], dev, test]))
    counts = results({f"chunk {chunk}": pool.submit(write_kept, chunk) for chunk in chunks}, "writing questions")
    write_shards([final(chunk.place) for chunk in chunks], folder, pool)
    none = pl.DataFrame(schema={"template": pl.String, "what": pl.String, "part": pl.String, "n": pl.UInt32})
    return pl.concat([none, *counts]).group_by("part", "template", "what").agg(pl.col("n").sum())


def write_facts(
    images: Path, part: NDArray[Any], groups: Mapping[str, str], place: Path, pool: Executor
) -> dict[str, Path]:
    """Part -> where the facts about its images are, for all that ask about them. part: [image]"""
    facts = {name: place / f"facts-{name}" for name in PARTS}
    begun = {
        f"images of {name}": pool.submit(write_part, images, part == name, groups, out) for name, out in facts.items()
    }
    results(begun, "indexing images")
    return facts


def recipe(run: Run, given: Mapping[str, Any], workers: int) -> Told:
    options = DraftOptions(**{**given, "templates": read(given.get("templates", ()))})
    gone = made_from_questions(run)
    report = generate(run, options, workers)
    replaced = [] if gone is None else [f"replaced earlier questions{gone}"]
    return Told([*said(report), *replaced, f"wrote {report.total:,} questions to {run.covr}"], report)


RECIPE = Recipe(frozenset(field.name for field in fields(DraftOptions)), recipe, shared=True)


def said(report: DraftReport) -> Iterator[Said]:
    rows = []
    for template in report.questions["train"]:
        own = {split: counts[template] for split, counts in report.questions.items()}
        twins = sum(counts[template] for counts in report.paired.values())
        share = f"{100 * twins / sum(own.values()):.1f} %" if any(own.values()) else "N/A"
        dropped = sum(report.dropped.get(template, {}).values())
        rows.append({"template": template, **own, "with a twin": share, "dropped": dropped})
    yield "Questions per template", rows
    for template, why in report.dropped.items():
        reasons = ", ".join(f"{count:,} {reason}" for reason, count in sorted(why.items(), key=lambda each: -each[1]))
        yield f"{template}: dropped {reasons}"
    for template, why in report.unmade.items():
        reasons = "; ".join(f"{count:,} references {reason}" for reason, count in why.items())
        yield f"{template}: no question; {reasons or NEVER_TWICE}"
    if any(2 * some < every for some, every in report.known.values()):
        counts = " and ".join(f"{some:,} of {every:,} {kind}" for kind, (some, every) in report.known.items())
        yield f"warning: the shipped word tables know {counts} of these images, so little excludes anything; {REMEDY}"
    for split, missing in report.short.items():
        yield f"{split}: {missing:,} fewer than wanted; its {report.images[split]:,} images give no more"


NEVER_TWICE = "no image contains a reference 2 to 4 times"
REMEDY = "`questree covr exclusion RUN --out FOLDER` makes tables, `questree generate RUN --words FOLDER` uses them"


def reasons_of(unmade: Reasons, found: "DraftReport") -> dict[str, dict[str, int]]:
    """Of templates without any question, the usual reasons first."""
    empty = [name for name in found.questions["train"] if not any(own[name] for own in found.questions.values())]
    return {name: {why: count for (template, why), count in unmade.most_common() if template == name} for name in empty}


def known(images: Path, words: WordTables) -> dict[str, tuple[int, int]]:
    """Attributes and relations of the images: those that some list of the tables has, and all."""
    of_attributes = {*words.contradicting, *words.entailing_attributes, *words.attribute_group}
    of_relations = {*words.disjoint, *words.not_disjoint, *words.ignored_relations}
    found = {}
    for table, column, listed in (
        (ATTRIBUTES, "attribute", of_attributes),
        (RELATIONS, "relation", of_relations),
    ):
        used = WORDS.read(images)["word"].gather(table.counted(images, column)[column])
        found[table.name] = sum(word in listed for word in used), len(used)
    return {kind: counts for kind, counts in found.items() if counts[1]}


def noted(options: DraftOptions) -> dict[str, Any]:
    """The options as the report keeps them; without templates from outside it is silent about them."""
    plain = {"words": str(options.words or "")}
    found = {
        name: value for name, value in asdict(options).items() if name not in LATER or value != LATER[name]
    } | plain
    return found if options.templates else {name: found[name] for name in found if "templates" not in name}


LATER = {"distractors": "near", "verify_others": "", "at_most_as_paper": False}  # noted only if they are given


def options_of(noted: Mapping[str, Any]) -> DraftOptions:
    """The options a report says its questions were made with."""
    templates = msgspec.convert(noted.get("templates", ()), tuple[ImageTemplate, ...])
    words = path_of(noted["words"]) if noted["words"] else None
    return DraftOptions(**{**noted, "words": words, "templates": templates})


def asked(options: DraftOptions) -> tuple[ImageTemplate, ...]:
    """The templates in the order they are asked."""
    left_out = {template.name for template in TEMPLATES} if options.only_templates else set()
    found = (*(template for name, template in BY_NAME.items() if name not in left_out), *options.templates)
    return tuple(map(as_in_paper, found)) if options.at_most_as_paper else found


def scorers(options: DraftOptions) -> tuple[Scorer | None, OtherScorer | None]:
    """Who looks at distracting images, and who for other instances."""
    first, second = options.verify, options.verify_others
    return scorer_of(first) if first else None, others_of(second) if second else None


def tasks(
    facts: Path, part: str, words: bytes, ids: list[str], wanted: int, options: DraftOptions, place: Path
) -> Iterator[DraftTask]:
    """Every image in turn, in an order the seed decides, and again with other references of it."""
    order = sorted(range(len(ids)), key=lambda row: int(seed_of(options.seed, ids[row])))
    per_image = -(-wanted // max(YIELD * len(ids), 1))
    together = min(max(wanted // (YIELD * CHUNKS), FEWEST), MOST)
    size = max(together // max(per_image, 1), 1)
    for turn in range(ROUNDS if per_image else 0):
        own = int(seed_of(options.seed, f"turn {turn}")) % 2**31
        for first in range(0, len(order), size):
            rows, out = tuple(order[first : first + size]), place / f"{part}-{turn}-{first:08d}"
            yield DraftTask(facts, part, words, options, rows, per_image, own, out)


def in_order(tasks: Iterator[DraftTask], pool: Executor, ahead: int, so_far: SoFar) -> Iterator[ChunkKeys]:
    """The tasks' results one after the other; none is begun that will hardly be needed."""
    waiting = deque[Future[ChunkKeys]]()
    while True:
        while len(waiting) < ahead and (not waiting or so_far.needs_more(len(waiting))):
            begun = [pool.submit(work, task) for task in islice(tasks, 1)]
            if not begun:
                break
            waiting.extend(begun)
        if not waiting:
            return
        yield waiting.popleft().result()


def work(task: DraftTask) -> ChunkKeys:
    shop = workshop(task.facts, task.words, task.options)
    gc.disable()  # a chunk makes many small objects and no cycles: looking for them is a fifth of the time
    try:
        return written(shop.questions(task.rows, task.per_image, task.seed), task.out, task.part)
    finally:
        gc.enable()


@kept_while(".")
def workshop(folder: Path, words: bytes, options: DraftOptions) -> Workshop:
    verify, others = scorers(options)
    near = options.distractors == "near"
    return Workshop(PartFacts.mapped(folder), pickle.loads(words), verify, asked(options), others, near)


def summary(
    counts: pl.DataFrame,
    images: dict[str, int],
    dropped: Reasons,
    short: dict[str, int],
    templates: tuple[ImageTemplate, ...],
) -> DraftReport:
    names, number = [template.name for template in templates], {row[:3]: row[3] for row in counts.rows()}
    questions, paired = (
        {part: {name: number.get((part, name, what), 0) for name in names} for part in PARTS}
        for what in (STAYS, PAIRED)
    )
    for (_, template, what), n in number.items():
        if what not in (STAYS, PAIRED):
            dropped[template, what] += n
    reasons: dict[str, dict[str, int]] = {}
    for (template, reason), n in sorted(dropped.items()):
        reasons.setdefault(template, {})[reason] = n
    there = {split: images.get(split, 0) for split in PARTS}
    return DraftReport(questions, paired, there, reasons, short)
