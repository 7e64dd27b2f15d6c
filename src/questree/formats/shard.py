"""One shard of generated questions as released records, in batches of rows."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import msgspec
import numpy as np
import polars as pl

from questree.benchmarks.agqa.records import INDIRECT, NOVEL, TEST
from questree.benchmarks.agqa.templates import TEMPLATES
from questree.columns.hashing import seed_of
from questree.columns.joins import Ints, starts
from questree.domains.video import videos
from questree.formats.grounding import Ground, ground, groundings
from questree.formats.keys import direct_equivalents, flags, local_keys
from questree.formats.programs import ProgramWords, filled, program_words
from questree.formats.wording import Sizes, Speech, inside
from questree.program import OBJECT, slots
from questree.readings.answer import spell
from questree.stages.generate.choices import choices
from questree.stages.generate.text import Lexicon, said
from questree.tables.facts import Facts
from questree.vocabulary.words import Vocabulary

BATCH = 1 << 16  # questions whose text is in memory together


@dataclass(frozen=True)
class ExportShard:
    """The questions of the videos first <= v < first + len(facts.videos), ordered by video and number."""

    vocabulary: Vocabulary
    lexicon: Lexicon
    facts: Facts  # of these videos only
    first: int
    seed: int
    questions: pl.DataFrame
    sides: dict[str, pl.DataFrame]
    most_steps: dict[int, int]  # per template, for "more steps"

    @cached_property
    def start(self) -> dict[str, Ints]:
        count = len(self.facts.videos)
        local = {name: table["video"].to_numpy().astype(np.int64) - self.first for name, table in self.sides.items()}
        return {name: starts(video, count) for name, video in local.items()}

    @cached_property
    def speech(self) -> Speech:
        sizes, spoken = Sizes(), said(self.lexicon, self.sides, self.first, len(self.facts.videos))
        return Speech(self.lexicon, spoken, inside(self.lexicon, spoken, self.sides, self.first, sizes), sizes)

    @cached_property
    def program_words(self) -> ProgramWords:
        return program_words(self.vocabulary, self.sides, self.start, self.first)

    @cached_property
    def ground(self) -> Ground:
        return ground(videos(self.facts, self.vocabulary), self.sides, self.start, self.first)

    @cached_property
    def seeds(self) -> Ints:
        return np.array([seed_of(self.seed, name) for name in self.facts.videos["id"]], np.uint64)

    def batches(self, wanted: pl.Series | None = None) -> Iterator[pl.DataFrame]:
        """Records (columns of TEST, and id, number, video) of the wanted questions (all without a mask), in order."""
        table = self.questions.with_columns(equivalent=direct_equivalents(self.questions))
        table = (table if wanted is None else table.filter(wanted)).sort("video", "number")
        for begin in range(0, len(table), BATCH):
            yield self.records(table[begin : begin + BATCH])

    def records(self, questions: pl.DataFrame) -> pl.DataFrame:
        template = questions["template"].to_numpy()
        order = np.argsort(template, kind="stable")
        ends = np.cumsum(np.bincount(template, minlength=len(TEMPLATES)))
        parts = [
            self.of_template(number, questions[order[lo:hi]])
            for number, (lo, hi) in enumerate(zip([0, *ends[:-1]], ends, strict=True))
            if hi > lo
        ]
        inverse = np.empty(len(order), np.int64)
        inverse[order] = np.arange(len(order))
        return pl.concat(parts)[inverse]

    def of_template(self, number: int, questions: pl.DataFrame) -> pl.DataFrame:
        columns = {name: questions[name].to_numpy() for name in questions.columns if name != "equivalent"}
        video, template = columns["video"].astype(np.int64) - self.first, TEMPLATES[number]
        ways = choices(self.seeds, video, columns["number"])
        text, spans = self.speech.say(number, columns, video, ways)
        names = self.facts.videos["id"].gather(video)
        labels, told = template.categories, flags(columns["flags"])
        constant = {
            "global": msgspec.json.encode(labels.reasoning).decode().replace('","', '", "'),
            "ans_type": template.answer_type,
            "semantic": labels.semantic,
            "structural": labels.structural,
        }
        made = {
            "question": text,
            "answer": self.answers(number).gather(columns["answer"]),
            "video_id": names,
            **{name: pl.repeat(value, len(video), dtype=pl.String, eager=True) for name, value in constant.items()},
            "local": local_keys(number, columns, self.vocabulary),
            "steps": questions["steps"],
            "more_steps": (columns["steps"] > self.most_steps[number]) * 1,
            "program": self.programs(number, columns, video),
            "sg_grounding": groundings(self.ground, number, columns, video, spans),
            **{name: told[name] for name in ("novel_comp", *NOVEL, "indirect", *INDIRECT)},
            "direct_equiv": numbered(names, questions["equivalent"]),
        }
        table = pl.DataFrame(made).select(pl.col(name).cast(dtype) for name, dtype in TEST.items())
        return table.with_columns(
            numbered(names, questions["number"]).alias("id"), questions["video"], questions["number"]
        )

    def answers(self, number: int) -> pl.Series:
        """[value] every answer a template can have, as it is printed."""
        kind = TEMPLATES[number].node.kind
        count = {"objects": len(self.vocabulary.objects), "actions": len(self.vocabulary.actions)}.get(kind.words, 2)
        return pl.Series([(spell(kind, value, self.vocabulary) or "").lower() for value in range(count)])

    def programs(self, number: int, columns: dict[str, Ints], video: Ints) -> pl.Series:
        words, known = self.program_words, {}
        for name, slot in slots(TEMPLATES[number].node).items():
            side = "second" if name in ("second", "b") else "first"
            if name == "relation":
                known[name] = words.relations.gather(columns["relation"])
            elif name == "time":
                known[name] = words.times.gather(self.start["phrases"][video] + columns["phrase"])
            elif TEMPLATES[number].every_object:
                known[name] = words.objects.gather(columns["x"])
            elif slot.kind == OBJECT:
                known[name] = words.references.gather(self.start["references"][video] + columns[side])
            else:
                known[name] = words.actions.gather(self.start["action_references"][video] + columns[side])
        return filled(words.patterns[number], known, len(video))


def numbered(names: pl.Series, number: pl.Series) -> pl.Series:
    """[question] `<video>-<number>`; null where the number is."""
    return pl.select(pl.concat_str(names, pl.lit("-"), number.cast(pl.String))).to_series()
