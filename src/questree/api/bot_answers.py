"""A bot, or a model whose answers are stored, as somebody who is asked in prompts."""

from collections.abc import Iterator
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl

from questree.api.dag_tables import node_table
from questree.benchmarks import chosen
from questree.faults import Fault, refuse
from questree.metrics.answered import ModelAnswers
from questree.models.bots import BOTS, BotOptions, said_by
from questree.models.chatty import chatty
from questree.models.known_prompts import KnownPrompts, Signs
from questree.models.seen_pictures import SeenPictures
from questree.models.stored import said
from questree.progress import watch
from questree.scoring.compared import stored_models
from questree.show.frames import image_file, media_folder
from questree.stages.decompose.hierarchies import RunHierarchies, hierarchies_in
from questree.tables.hierarchies import NOTHING
from questree.tables.predictions import Stored
from questree.tables.run import Run

StrPath = str | PathLike[str]
NOISY = ("perception-noise", "composition-noise")


class Reply(NamedTuple):
    id: str  # of the question
    answer: str  # the word
    text: str  # what is said


@dataclass(frozen=True)
class BotAnswers:
    """Models by name, and the questions they know answers to."""

    prompts: KnownPrompts
    answers: dict[str, dict[str, str]]  # model -> id of a question -> word
    pictures: SeenPictures
    noise: float
    chatty: bool = False

    @classmethod
    def of(
        cls,
        run: StrPath,
        models: tuple[str, ...],
        *,
        seed: int = 0,
        noise: float = 0.1,
        split: str | None = None,
        benchmark: str = "",
        media: Path | None = None,
        chatty: bool = False,
    ) -> "BotAnswers":
        place = Run.at(run)
        own = chosen(place, benchmark, "decomposed")
        known = {*BOTS, *stored_models(place, own)}
        strange = [name for name in models if name not in known]
        wanted = f"choose from {', '.join([*BOTS, *sorted(known - {*BOTS})])}"
        faults = [Fault("--model", f"expected a bot or a model of the run, got {name!r}; {wanted}") for name in strange]
        faults += [] if models else [Fault("--model", f"expected a bot or a model of the run, got none; {wanted}")]
        refuse([*faults, *BotOptions(next(iter(BOTS)), seed, noise).faults()])
        if media is not None:
            media_folder(media)
        asked = hierarchies_in(place, split, own.name)
        questions = node_table(asked, programs=False)
        prompts = KnownPrompts.of(questions)
        answers = {}
        for name in models:
            options = BotOptions(name, seed, noise)
            found = said_by(asked, options, own.of_images) if name in BOTS else said(asked, Stored.of(place, name))
            answers[name] = by_id(asked, questions["id"], found)
        return cls(prompts, answers, SeenPictures.of(shown(media, prompts) if media else ()), noise, chatty)

    def reply(self, model: str, text: str, signs: Signs) -> Reply:
        """What a model says to a prompt; nothing where it has no answer."""
        asked = self.prompts.find(text, signs)
        answer = self.answers[model].get(asked.id, "")
        return Reply(asked.id, answer, chatty(answer, asked.id) if self.chatty and answer else answer)

    def sure(self, model: str) -> float:
        """How likely a step of a model is right, as far as that is known."""
        return 1 - self.noise if model in NOISY else 1.0


def by_id(asked: RunHierarchies, ids: pl.Series, found: ModelAnswers) -> dict[str, str]:
    keys = asked.hierarchies.keys
    rows = pl.DataFrame({"id": keys, "word": found.by_key}).with_row_index("key").filter(pl.col("word") != NOTHING)
    rows = rows.join(ids.to_frame("id"), on="id", how="semi", maintain_order="left").unique(
        "id", keep="first", maintain_order=True
    )
    words = np.array([*found.words, ""], object)
    return dict(zip(rows["id"].to_list(), words[rows["word"].to_numpy()].tolist(), strict=True))


def shown(media: Path, prompts: KnownPrompts) -> Iterator[tuple[str, Path]]:
    """DIR/<image>.png, DIR/<video>/<frame>.png, DIR/<video>.mp4, each with the id of the image or video."""
    for id in watch(sorted(prompts.ids), "looking at media", len(prompts.ids)):
        yield from ((id, path) for path in files_of(media, id, prompts.of_images))


def files_of(media: Path, id: str, image: bool) -> list[Path]:
    """Nothing outside of the folder."""
    if image:
        own = image_file(media, id)
        return [own] if own else []
    home = media.resolve()
    inside = [*(media / id).glob("*"), *(media / id).parent.glob(f"{Path(id).name}.*")]
    return sorted(path for path in inside if path.is_file() and path.resolve().is_relative_to(home))
