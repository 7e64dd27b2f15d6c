"""What may be said about asking: what is asked, what is seen, how it is put, how fast and how much."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from questree.ask.pictures import Encoding
from questree.endpoints.limits import Budget, Prices
from questree.faults import Fault, at_least

View = Literal["all", "relevant", "irrelevant", "fpvg"]
Mode = Literal["alone", "parts-first", "whole-first"]


@dataclass(frozen=True)
class Selected:
    split: str | None = None
    """Only questions of train, dev or test."""
    questions: int = 0
    """Number of questions to draw, types and answers alike often; each with its whole DAG. 0: all."""
    seed: int = 0
    """Seed of the draw."""
    parts: bool = True
    """Also ask every distinct sub-question."""
    benchmark: str = ""
    """Benchmark of a run with both: agqa (videos, the default) or covr (image sets)."""


@dataclass(frozen=True)
class Seen:
    media: Path | None = None
    """Folder of frames, DIR/<video>/<frame>.png or .jpg, or of images, DIR/<image>.png or .jpg."""
    frames: int = 8
    """Videos: number of frames to show, evenly spread over those there are."""
    video: bool = False
    """Videos: show the file DIR/<video>.mp4, where the server takes it."""
    size: int = 512
    """Longer side of a picture in pixels; larger ones are made smaller. 0: files are sent as they are."""
    quality: int = 85
    """Quality of JPEG, 1 to 95."""
    view: View = "all"
    """What is seen: all of it, only what a question is about, all but that, or each of the three for `score fpvg`."""
    hide: Literal["frames", "boxes"] | None = None
    """How the rest is hidden: its frames are left out, or its boxes are grey. [default: frames; boxes of image sets]"""

    @property
    def encoding(self) -> Encoding:
        return Encoding(self.size, self.quality)

    def faults(self) -> list[Fault]:
        found = [*at_least(1, {"frames": self.frames}), *at_least(0, {"size": self.size})]
        if not 1 <= self.quality <= 95:
            found.append(Fault("--quality", f"expected 1 to 95, got {self.quality}"))
        if self.view != "all" and (self.media is None or self.video):
            found.append(Fault("--view", f"expected frames or images beside {self.view}, not --no-media or --video"))
        return found


@dataclass(frozen=True)
class Put:
    prompt: str = "short"
    """Prompt: short, scoped, reasoned, or a TOML file of yours."""
    mode: Mode = "alone"
    """Each question alone, or its DAG as one conversation: sub-questions first, or the whole question first."""
    temperature: float = 0.0
    """Temperature."""
    answer_tokens: int = 32
    """Most tokens of an answer."""
    logprobs: bool = False
    """Also keep the probabilities of yes and no, where the server tells."""
    extra: str = ""
    """Further fields of every request, as a JSON object."""


@dataclass(frozen=True)
class Paced:
    concurrency: int = 32
    """Requests under way at once."""
    per_minute: float | None = None
    """Most requests a minute."""
    tokens_per_minute: float | None = None
    """Most tokens a minute."""
    timeout: float = 120.0
    """Seconds to wait for an answer."""
    retries: int = 5
    """Times a request is sent again that failed."""
    max_requests: int | None = None
    """Stop after so many requests."""
    max_tokens: int | None = None
    """Stop after so many tokens."""
    max_cost: float | None = None
    """Stop at this cost, by the prices given."""
    price_in: float = 0.0
    """Price of a million tokens that are sent."""
    price_out: float = 0.0
    """Price of a million tokens of answers."""

    @property
    def prices(self) -> Prices:
        return Prices(self.price_in, self.price_out)

    @property
    def budget(self) -> Budget:
        return Budget(self.max_requests, self.max_tokens, self.max_cost, self.prices)

    def faults(self) -> list[Fault]:
        ones: dict[str, float | None] = {"concurrency": self.concurrency, "per_minute": self.per_minute}
        ones |= {"tokens_per_minute": self.tokens_per_minute}
        none: dict[str, float | None] = {
            "retries": self.retries,
            "max_requests": self.max_requests,
            "max_tokens": self.max_tokens,
        }
        none |= {"max_cost": self.max_cost, "price_in": self.price_in, "price_out": self.price_out}
        late = [] if self.timeout > 0 else [Fault("--timeout", f"expected more than 0 seconds, got {self.timeout:g}")]
        return [*at_least(1, ones), *at_least(0, none), *late, *self.budget.faults()]
