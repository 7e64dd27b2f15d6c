"""Label Studio: tasks and their labelling interface, with films, frames or images; its export read again."""

from collections.abc import Callable, Iterator, Sequence
from html import escape
from pathlib import Path
from typing import Any, Literal

import msgspec

from questree.benchmarks import COVR
from questree.faults import BadInput, Fault, refuse
from questree.people.book import Item
from questree.people.exchange import Given, length_of
from questree.people.results import Answered
from questree.people.task import Reply, Task, choices_of
from questree.show.frames import film_file, image_file, media_file
from questree.show.page.filters import address

LOCAL = "/data/local-files/?d="  # where Label Studio serves files that lie beside it
Looks = Literal["", "video", "images"]  # what an item shows besides words
Files = dict[str, str | list[str]]  # scope -> address of its film, or those of its frames or images
SHOWN = 3  # scopes without media that are named


class StudioPart(msgspec.Struct):
    from_name: str = ""
    value: dict[str, Any] = {}


class StudioAnnotation(msgspec.Struct):
    completed_by: int | str | dict[str, Any] | None = None
    lead_time: float | None = None
    was_cancelled: bool = False
    result: list[StudioPart] = []


class StudioTask(msgspec.Struct):
    data: dict[str, Any]
    annotations: list[StudioAnnotation] = []


def studio_tasks(found: Answered, files: Files) -> list[dict[str, Any]]:
    """Tasks to import into Label Studio: what is shown, and by what an answer finds its item again."""
    looks = looks_of(files)
    return [{"data": studio_data(found.name, found.task, one, files, looks)} for one in asked(found)]


def asked(found: Answered) -> list[Item]:
    return [one for one in found.items.values() if found.task.asks_of(one.role) == found.task.ask]


def studio_data(name: str, task: Task, item: Item, files: Files, looks: Looks) -> dict[str, Any]:
    shown = {name: value for name, value in item.shown.items() if name not in ("there", "turned")}
    if "options" in shown:
        shown["options"] = [one.value for one in choices_of(task, item.role, shown)]
    own = {"task": name, "item": item.item, "id": item.id, "scope": item.scope, "question": item.text or item.id}
    lists = {name: [{"value": word} for word in shown[name]] for name in ("options", "objects") if name in shown}
    pair = dict(zip(("first", "second"), shown.get("answers", ()), strict=False))
    media = [files[scope] for scope in item.scope] if looks else []
    if looks == "video":
        own["video"] = media[0]
    elif looks:
        own["images"] = [one for each in media for one in ([each] if isinstance(each, str) else each)]
    return own | {"answer": shown.get("answer", "")} | lists | pair


def studio_files(found: Answered, folder: Path, prefix: str, frames: Callable[[str], list[int]]) -> Files:
    """Where Label Studio finds what belongs to each scope; `frames`: the numbers of a video's."""
    images = found.options.benchmark == COVR.name
    begin, made, missing = prefix or f"{LOCAL}{folder.name}/", Files(), list[str]()

    def at(path: Path) -> str:
        return begin + address(path.relative_to(folder).as_posix(), {})

    for scope in dict.fromkeys(scope for one in asked(found) for scope in one.scope):
        path = image_file(folder, scope) if images else film_file(folder, scope)
        stills = [] if images or path else [media_file(folder, scope, number) for number in frames(scope)]
        there = [at(one) for one in stills if one]
        made[scope] = at(path) if path else there
        missing += [] if path or there else [scope]
    named = ", ".join(missing[:SHOWN]) + ", ..." * (len(missing) > SHOWN)
    refuse([Fault(str(folder), f"expected media of every item, got none of {named}")] if missing else [])
    if not images and len({isinstance(each, str) for each in made.values()}) > 1:
        raise BadInput.at(folder, "expected films or frames of all videos, got films of some and frames of others")
    return made if not images else {scope: [str(each)] for scope, each in made.items()}


def looks_of(files: Files) -> Looks:
    if not files:
        return ""
    return "video" if all(isinstance(each, str) for each in files.values()) else "images"


def studio_config(task: Task, looks: Looks = "") -> str:
    """The labelling interface for these tasks."""
    media = {"": [], "video": ['<Video name="video" value="$video"/>']}
    shown = media.get(looks, ['<Image name="images" valueList="$images"/>'])
    shown = [*shown, '<Text name="question" value="$question"/>']
    shown += ['<Text name="answer" value="$answer"/>'] if "answer" in task.shows else []
    if "answers" in task.shows:
        shown += ['<Text name="first" value="$first"/>', '<Text name="second" value="$second"/>']
    asked = [f'<Header value="{escape(task.prompt)}"/>']
    own = "".join(f'<Choice value="{escape(one.value)}"/>' for one in task.choices)
    if task.ask == "checklist":
        asked.append('<Choices name="marked" toName="question" choice="multiple" value="$objects"/>')
    elif task.ask == "options":
        asked.append('<Choices name="value" toName="question" value="$options"/>')
    elif own:
        asked.append(f'<Choices name="value" toName="question">{own}</Choices>')
    if task.ask in ("text", "paraphrase") or any(one.more for one in task.choices):
        asked.append('<TextArea name="text" toName="question" maxSubmissions="1"/>')
    if task.faults:
        kinds = "".join(f'<Choice value="{escape(one.value)}"/>' for one in task.faults)
        asked.append(f'<Choices name="faults" toName="question" choice="multiple">{kinds}</Choices>')
    return "\n".join(["<View>", *(f"  {line}" for line in [*shown, *asked]), "</View>", ""])


def from_studio(path: Path) -> Iterator[Given]:
    """Label Studio's JSON export; annotations that were cancelled are left out."""
    try:
        records = msgspec.json.decode(path.read_bytes(), type=list[StudioTask])
    except (OSError, UnicodeDecodeError, RecursionError, msgspec.MsgspecError) as error:
        raise BadInput.at(path, f"expected Label Studio's JSON export, a list of tasks ({error})") from error
    for number, record in enumerate(records, 1):
        item, id = (str(record.data.get(name, "")) for name in ("item", "id"))
        for at, one in enumerate(record.annotations, 1):
            if not one.was_cancelled:
                place = f"{path}, task {number}, annotation {at}"
                seconds = length_of(place, one.lead_time or 0.0)
                yield Given(place, item, id, who_of(one.completed_by), studio_reply(one.result), seconds)


def who_of(by: int | str | dict[str, Any] | None) -> str:
    found = by.get("email") or by.get("id") if isinstance(by, dict) else by
    return "" if found is None else str(found)


def studio_reply(result: Sequence[StudioPart]) -> Reply:
    said: dict[str, list[str]] = {}
    for part in result:
        words = part.value.get("choices") or part.value.get("text") or ()
        said[part.from_name] = [words] if isinstance(words, str) else [str(word) for word in words]
    value, text = said.get("value", ()), " ".join(said.get("text", ()))
    return Reply(value[0] if value else "", text, tuple(said.get("faults", ())), tuple(said.get("marked", ())))
