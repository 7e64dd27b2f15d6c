"""Models answer a run: servers, functions and pipelines are asked, and what they said becomes predictions."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from questree.api.asked_answers import Answers, kept
from questree.api.asked_items import AskedItems, asked_items
from questree.api.asked_plan import planned
from questree.api.asked_views import AskedViews, asked_views
from questree.api.made import Made
from questree.api.runs import open as open_run
from questree.api.stored_answers import named
from questree.ask.engine import Engine, Outcome
from questree.ask.in_process import function_of, pipeline_of
from questree.ask.journal import Journal, journal
from questree.ask.media import Sight
from questree.ask.options import Paced as Paced
from questree.ask.options import Put as Put
from questree.ask.options import Seen as Seen
from questree.ask.options import Selected as Selected
from questree.ask.prompts import prompt_of
from questree.ask.requests import Requests
from questree.ask.voices import FunctionVoice, Model, ServerVoice
from questree.endpoints.chat import Chat, Server, key_of
from questree.endpoints.limits import Pace
from questree.endpoints.loops import run_alone
from questree.faults import BadInput, Fault, refuse
from questree.models.policies import Policy
from questree.places import path_of
from questree.said.lexicon import shipped
from questree.said.reading import Reader
from questree.tables.facts import FRAMES, VIDEOS
from questree.tables.images import IMAGES

if TYPE_CHECKING:
    from questree.api.runs import Run, StrPath

Work = AskedItems | AskedViews


@dataclass(frozen=True)
class Who:
    """Who is asked: one of these."""

    endpoint: str = ""
    """Server with OpenAI's chat completions: http://HOST:PORT/v1."""
    model: str = ""
    """Name of the model there."""
    python: str = ""
    """Python function as module:function, called with a question, or with --batch with a list of them."""
    hf: Path | None = None
    """Folder of a Hugging Face model, run here by a transformers pipeline."""
    batch: int | None = None
    """Functions and pipelines: number of questions at a time."""
    key_env: str = ""
    """Environment variable with the key of the server. [default: OPENAI_API_KEY, if there is one]"""
    key_file: Path | None = None
    """File with the key of the server."""

    def faults(self) -> list[Fault]:
        given = [
            name
            for name, value in {"--endpoint": self.endpoint, "--python": self.python, "--hf": self.hf}.items()
            if value
        ]
        found = (
            []
            if len(given) == 1
            else [Fault("", f"expected one of --endpoint, --python and --hf, got {' and '.join(given) or 'none'}")]
        )
        if self.endpoint and not self.model:
            found.append(Fault("--model", "expected the name of a model beside --endpoint"))
        if self.batch is not None and (self.batch < 1 or self.endpoint):
            wanted = "a function or a pipeline to ask in batches" if self.endpoint else "at least 1"
            found.append(Fault("--batch", f"expected {wanted}, got {self.endpoint or self.batch}"))
        return found

    @property
    def called(self) -> str:
        return self.model or self.python or (self.hf.name if self.hf else "")


@dataclass(frozen=True)
class Ask:
    """Everything about one command."""

    run: "Run"
    who: Who
    selected: Selected = field(default_factory=Selected)
    seen: Seen = field(default_factory=Seen)
    put: Put = field(default_factory=Put)
    paced: Paced = field(default_factory=Paced)
    name: str = ""
    policy: Policy = "lenient"
    out: Path | None = None
    raw: Path | None = None

    @property
    def stored(self) -> str:
        """The name of the answers: modes stand beside each other."""
        plain = self.name or self.who.called.replace("/", "-")
        return plain if self.put.mode == "alone" else f"{plain} {self.put.mode}"

    def check(self) -> None:
        faults = [*self.who.faults(), *self.seen.faults(), *self.paced.faults()]
        if self.put.mode != "alone" and (self.seen.view != "all" or not self.selected.parts):
            faults.append(Fault("--mode", f"expected sub-questions and all there is to see beside {self.put.mode}"))
        option = "--name" if self.name else "--model"
        refuse([*faults, *(named(self.run._place, self.stored, self.run._own, option) if self.who.called else [])])

    def work(self) -> Work:
        own, view = self.selected, self.seen.view
        if view != "all":
            return asked_views(self.run, view, self.seen.hide, own.split, own.questions, own.seed)
        talks = self.put.mode != "alone"
        return asked_items(self.run, own.split, own.questions, own.seed, own.parts, talks)

    def sight(self, work: Work) -> Sight | None:
        if self.seen.media is None:
            return None
        place, video = self.run._place, self.run.medium == "video"
        table = place.table("facts", VIDEOS) if video else IMAGES.read(place.images)
        rows = table.select("id", "width", "height").iter_rows()
        sizes = {id: (width, height) for id, width, height in rows if width and height}
        seconds = _seconds(self.run) if video else {}
        how = self.seen.frames, self.seen.video and video, seconds, sizes
        sight = Sight(self.seen.media, self.run.medium, *how)
        refuse(sight.faults(work.scopes()) or _unseen(work, sight))
        return sight


def _unseen(work: Work, sight: Sight) -> list[Fault]:
    """Of a part of a video there may be no picture, if other frames were kept than are annotated."""
    if not isinstance(work, AskedViews):
        return []
    asked = (item for chain in work.chains() for (item,) in chain)
    lost = [item for item in asked if not sight.shots(item.scope, item.only, item.hiding)]
    wanted = "expected pictures of annotated frames, got none of those that"
    return [Fault(f"--media {sight.folder}", f"{wanted} {each.id!r} is to be asked with") for each in lost]


def _seconds(run: "Run") -> dict[tuple[str, int], float]:
    ids = run._place.table("facts", VIDEOS)["id"]
    frames = run._place.table("facts", FRAMES)
    rows = zip(ids.gather(frames["video"]), frames["number"], frames["seconds"], strict=True)
    return {(id, number): seconds for id, number, seconds in rows}


def settings(put: Put) -> dict[str, Any]:
    """Fields of every request; null takes one away."""
    try:
        extra = msgspec.json.decode(put.extra or "{}", type=dict[str, Any])
    except msgspec.DecodeError as error:
        raise BadInput.at("--extra", f"expected a JSON object; {error}") from error
    told: dict[str, Any] = {"temperature": put.temperature, "max_tokens": put.answer_tokens}
    told |= {"logprobs": True, "top_logprobs": 5} if put.logprobs else {}
    return {name: value for name, value in (told | extra).items() if value is not None}


def ask(
    run: "StrPath | Run",
    who: Who,
    *,
    selected: Selected | None = None,
    seen: Seen | None = None,
    put: Put | None = None,
    paced: Paced | None = None,
    name: str = "",
    policy: Policy = "lenient",
    out: "StrPath | None" = None,
    raw: "StrPath | None" = None,
    dry_run: bool = False,
) -> Made:
    """Ask a model the questions and sub-questions of a run, as `questree ask` does.

    What it says is in RUN/asked at once, and nothing is asked twice; `record["finished"]` says whether all is answered.
    """
    opened = open_run(run, benchmark=selected.benchmark if selected else "")
    files = (None if path is None else path_of(path) for path in (out, raw))
    parts = selected or Selected(), seen or Seen(), put or Put(), paced or Paced()
    whole = Ask(opened, who, *parts, name, policy, *files)
    whole.check()
    prompt, told, (model, voice, at_once) = prompt_of(whole.put.prompt), settings(whole.put), _voice(whole)
    work, folder = whole.work(), opened.folder / "asked"
    reader = Reader(work.answers, opened.vocabulary, shipped())
    sight = whole.sight(work)
    requests = Requests(model, opened.medium, prompt, reader, sight, whole.seen.encoding, told)
    with journal(folder, who.called) as known:
        if dry_run:
            return planned(requests, work.chains(whole.put.mode), known, whole.paced.prices)
        known.keep_prompt(requests.prompt.digest, requests.prompt.name, requests.prompt.text)
        outcome = _asked(requests, work, known, whole, voice, at_once)
        if outcome.hopeless and not outcome.answered.any():
            place = who.endpoint or who.called
            raise BadInput.at(place, f"expected an answer of {who.called}, got {outcome.hopeless}")
        return kept(Answers(whole.stored, requests, work, outcome, known), whole)


def _voice(whole: Ask) -> tuple[str, Any, int]:
    """What the model is called in keys, who speaks for it, how many at once."""
    who = whole.who
    if who.endpoint:
        server = Server(
            who.endpoint,
            who.model,
            whole.paced.concurrency,
            whole.paced.timeout,
            whole.paced.retries,
            key_of(who.key_env, who.key_file),
        )
        refuse(server.faults())
        return who.model, server, whole.paced.concurrency
    if who.python:
        function, digest = function_of(who.python)
    else:
        assert who.hf is not None
        function, digest = pipeline_of(who.hf, whole.put.answer_tokens, whole.put.temperature, whole.seen.size)
    return f"{who.called} {digest}", function, who.batch or 1


def _asked(requests: Requests, work: Work, known: Journal, whole: Ask, voice: Any, at_once: int) -> Outcome:
    rows = len(work.table)

    async def talk() -> Outcome:
        if isinstance(voice, Server):
            async with Chat(voice) as chat:
                paced = Pace(whole.paced.per_minute), Pace(whole.paced.tokens_per_minute)
                own = Engine(requests, known, ServerVoice(chat, *paced), whole.paced.budget, at_once)
                return await own.run(work.chains(whole.put.mode), rows)
        model: Model = voice
        batch = whole.who.batch or (1 if whole.who.hf else None)
        own = Engine(requests, known, FunctionVoice(model, batch), whole.paced.budget, at_once)
        return await own.run(work.chains(whole.put.mode), rows)

    return run_alone(talk())
