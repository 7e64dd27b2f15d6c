"""What is sent to ask a question: the prompt, the media, the turns before it; and the key it is known by."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from typing import Any, NamedTuple

import msgspec

from questree.ask.journal import key_of
from questree.ask.media import Hiding, Sight
from questree.ask.pictures import Encoding, Pictures, Shot
from questree.ask.prompts import Prompt
from questree.said.reading import Reader

MEDIA = {"video": "frames of a video in order", "film": "a video", "images": "images"}
BLIND = {"video": "nothing, but are asked about a video", "images": "nothing, but are asked about images"}
PATCH = 28  # pixels: the side of what many models take for one token
OFTEN = 4096  # texts that are understood once: the same is asked about many scopes
LETTERS = 4  # of a token, about
ENCODER = msgspec.json.Encoder(order="deterministic")


class Turn(NamedTuple):
    """What was asked and said before."""

    asked: str
    said: str


class Item(NamedTuple):
    """A question or sub-question to ask."""

    row: int
    id: str
    question: str
    scope: Any  # the id of a video, or ids of images
    kind: str = ""  # of answer, where more is known than the text tells
    only: frozenset[int] | None = None  # frames that are shown
    hiding: Hiding | None = None

    @property
    def named(self) -> str:
        return self.scope if isinstance(self.scope, str) else ", ".join(self.scope)


class Asking(NamedTuple):
    """A question with all that is sent along."""

    item: Item
    text: str
    shots: tuple[Shot, ...]
    history: tuple[Turn, ...]


@dataclass
class Requests:
    model: str
    medium: str
    prompt: Prompt
    reader: Reader
    sight: Sight | None = None
    encoding: Encoding = field(default_factory=Encoding)
    settings: Mapping[str, Any] = field(default_factory=dict)  # temperature, max_tokens, ...

    def __post_init__(self) -> None:
        self.pictures = Pictures(self.encoding)
        seen = MEDIA["film"] if self.sight and self.sight.film else MEDIA[self.medium]
        self.understood = lru_cache(OFTEN)(partial(self.reader.asked_once, options=()))
        self.system = self.prompt.system(seen if self.sight else BLIND[self.medium])

    def asking(self, item: Item, history: tuple[Turn, ...] = ()) -> Asking:
        asked = self.understood(item.question, item.kind)
        shots = self.sight.shots(item.scope, item.only, item.hiding) if self.sight else ()
        return Asking(item, self.prompt.user(asked, item.named), shots, history)

    def key(self, asking: Asking) -> bytes:
        """The same for the same request, whoever asks it about whatever."""
        told = [self.model, self.settings, self.system, asking.history, asking.text, self._labels(asking.shots)]
        return key_of(ENCODER.encode(told), *map(self.pictures.digest, asking.shots))

    async def body(self, asking: Asking) -> bytes:
        media = [msgspec.Raw(await self.pictures.part(shot)) for shot in asking.shots]
        return ENCODER.encode({"model": self.model, "messages": self.messages(asking, media), **self.settings})

    def messages(self, asking: Asking, media: Sequence[Any]) -> list[dict[str, Any]]:
        """The media stand before the first question of a conversation."""
        said = [{"role": "system", "content": self.system}] if self.system else []
        texts = [*(turn.asked for turn in asking.history), asking.text]
        for at, text in enumerate(texts):
            content: Any = self._seen(asking.shots, media, text) if not at and media else text
            said.append({"role": "user", "content": content})
            if at < len(asking.history):
                said.append({"role": "assistant", "content": asking.history[at].said})
        return said

    def _seen(self, shots: Sequence[Shot], media: Sequence[Any], text: str) -> list[Any]:
        found = list[Any]()
        for label, part in zip(self._labels(shots), media, strict=True):
            found += [{"type": "text", "text": label}, part] if label else [part]
        return [*found, {"type": "text", "text": text}]

    def _labels(self, shots: Sequence[Shot]) -> list[str]:
        medium = "" if self.sight and self.sight.film else self.medium
        return [self.prompt.label(medium, at, shot.seconds) if medium else "" for at, shot in enumerate(shots, 1)]

    def guessed_tokens(self, asking: Asking) -> int:
        """About what a request takes before its answer; models differ."""
        letters = len(self.system) + len(asking.text) + sum(len(a) + len(b) for a, b in asking.history)
        sizes = map(self.pictures.size, asking.shots)
        return letters // LETTERS + sum(-(-width // PATCH) * -(-height // PATCH) for width, height in sizes)

    def shown(self, asking: Asking) -> str:
        """The whole prompt, for a person; media by name."""
        media = [{"shown": str(shot.path), "hidden": len(shot.hidden)} for shot in asking.shots]
        lines = list[str]()
        for message in self.messages(asking, media):
            content = message["content"]
            parts = [content] if isinstance(content, str) else [_told(part) for part in content]
            lines += [f"[{message['role']}]", *parts]
        return "\n".join(lines)


def _told(part: Mapping[str, Any]) -> str:
    if "text" in part:
        return str(part["text"])
    return f"<{part['shown']}{', {} boxes hidden'.format(part['hidden']) if part['hidden'] else ''}>"
