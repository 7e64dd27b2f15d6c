"""Models that answer in this process: functions of anybody's, and transformers pipelines of a local folder."""

import sys
from collections.abc import Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any

from questree.ask.films import is_film
from questree.ask.pictures import Encoding, jpeg, pillow
from questree.ask.voices import Asked, Model
from questree.faults import BadInput
from questree.places import fetched, path_of
from questree.search.verification import function

CONFIG, PROCESSOR = "config.json", "preprocessor_config.json"


def function_of(place: str) -> tuple[Model, str]:
    """The function that "module:function" names, and a digest of its module: another text, another model."""
    found = function(place)
    file = getattr(sys.modules[place.partition(":")[0]], "__file__", None)
    text = path_of(file).read_bytes() if file else b""
    return found, blake2b(text, digest_size=8).hexdigest()


def pipeline_of(folder: Path, answer_tokens: int, temperature: float, size: int) -> tuple[Model, str]:
    """What a model in a folder says to a batch, and a digest of the folder: names, sizes and times of its files."""
    if not (folder / CONFIG).is_file():
        raise BadInput.at("--hf", f"expected a folder with {CONFIG}, got {folder}")
    try:
        from transformers import pipeline
    except ImportError:
        wanted = "expected the packages transformers and torch, got none installed; run `pip install 'questree[hf]'`"
        raise BadInput.at("--hf", wanted) from None
    sees = (folder / PROCESSOR).is_file() or (folder / "processor_config.json").is_file()
    try:
        talks = pipeline("image-text-to-text" if sees else "text-generation", model=str(fetched(folder)))
    except (OSError, ValueError, KeyError, ImportError) as error:
        said = " ".join(str(error).split())[:200]
        raise BadInput.at(folder, f"expected a model that transformers can load; {said}") from error
    how: dict[str, Any] = {"max_new_tokens": answer_tokens, "do_sample": temperature > 0, "return_full_text": False}
    how |= {"temperature": temperature} if temperature > 0 else {}
    chats = getattr(talks.tokenizer, "chat_template", None) or getattr(talks.processor, "chat_template", None)

    def say(some: Sequence[Asked]) -> list[str]:
        texts = [messages(asked, sees, size) if chats else plain(asked) for asked in some]
        replies = talks(text=texts, **how) if sees else talks(texts, **how)
        return [_text(reply) for reply in replies]

    files = sorted((path.name, path.stat().st_size, path.stat().st_mtime_ns) for path in folder.iterdir())
    return say, blake2b(repr(files).encode(), digest_size=8).hexdigest()


def messages(asked: Asked, sees: bool, size: int) -> list[dict[str, Any]]:
    """A chat as processors take it; pictures stand before the first question."""
    texts = [*(before for before, _ in asked.history), asked.prompt]
    found = list[dict[str, Any]]()
    for at, text in enumerate(texts):
        shown = [{"type": "image", "image": picture(shot, size)} for shot in asked.media] if sees and not at else []
        content: Any = [*shown, {"type": "text", "text": text}] if sees else text
        found.append({"role": "user", "content": content})
        if at < len(asked.history):
            said = asked.history[at][1]
            found.append({"role": "assistant", "content": [{"type": "text", "text": said}] if sees else said})
    return found


def plain(asked: Asked) -> str:
    """For models that were never taught to chat."""
    return "\n".join([*(f"{before}\n{said}" for before, said in asked.history), asked.prompt])


def picture(shot: Any, size: int) -> Any:
    """As it would be sent to a server."""
    from io import BytesIO

    if is_film(shot.path) and shot.seconds is None:
        raise BadInput.at("--video", "expected frames: pipelines are shown pictures here")
    return pillow().open(BytesIO(jpeg(shot, Encoding(size))))


def _text(reply: Any) -> str:
    """Of one prompt; some pipelines give several texts to each, or the conversation."""
    said = reply[0] if isinstance(reply, list) else reply
    text = said["generated_text"]
    if isinstance(text, list):
        text = text[-1]["content"]
    return str(text).strip()
