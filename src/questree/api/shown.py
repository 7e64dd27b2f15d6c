"""One video, one image or one question of a run as lines to print, and the same as data."""

from collections.abc import Iterator
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from questree.benchmarks import AGQA, COVR, chosen, held
from questree.faults import BadInput
from questree.places import path_of
from questree.show.text_timeline import timeline
from questree.tables.facts import BOX, Facts
from questree.tables.image_questions import ANSWERED
from questree.tables.images import IMAGES, Images
from questree.tables.run import Run
from questree.vocabulary.words import Vocabulary

if TYPE_CHECKING:
    from questree.api.runs import StrPath
    from questree.show.image_view import ImageView
    from questree.show.views import View

NO_FACTS = "the run has no facts about video {}, so there is no timeline"
WIDTH = 120  # characters of a line
PICTURE = 560.0  # pixels of the drawing of a DAG
Shown = tuple[Iterator[str], dict[str, Any]]  # lines to print, and the same as data


def shown(
    run: "StrPath",
    id: str = "",
    *,
    benchmark: str = "",
    stage: str | None = None,
    dag: bool = False,
    svg: "StrPath | None" = None,
    width: int = WIDTH,
) -> Shown:
    """A video on a timeline, an image, or a question with its program, answer and evidence; as `questree show`.

    Parameters
    ----------
    run
        Run folder.
    id
        Of a video, of an image, or of a question; the first one without it.
    benchmark
        Of a run with both: agqa or covr.
    stage
        Videos: stage of the facts, raw, facts or truth; the newest without it.
    dag
        Show a question's DAG of sub-questions.
    svg
        Draw it into this file.
    width
        Characters of a line.

    >>> from questree.api.shown import shown
    >>> lines, record = shown("run", "07QFE-200")
    >>> next(lines)
    'While smiling in a mirror, were they interacting with some medicine?  no'
    """
    place, drawing = Run(path_of(run)), None if svg is None else path_of(svg)
    own = chosen(place, benchmark or of_id(place, id))
    if own is COVR and stage:
        raise BadInput.at("--stage", f"expected a run of {AGQA.scopes}, got {own.scopes}")
    if own is COVR:
        return of_images(place, id, dag, drawing)
    return of_videos(place, id, stage or "newest", dag, drawing, width)


def of_id(run: Run, id: str) -> str:
    """Of a run with both, the benchmark this id is of; "" if it is nobody's."""
    if len(held(run)) < 2 or not id:
        return ""
    asked = ANSWERED.read(run.covr)["id"] if COVR.has(run, "questions") else ()
    return COVR.name if id in asked or id in IMAGES.read(run.images)["id"] else ""


def of_videos(run: Run, id: str, stage: str, dag: bool, svg: Path | None, width: int) -> Shown:
    vocabulary = run.vocabulary()
    facts = run.load(("facts" if run.facts.is_dir() else "raw") if stage == "newest" else stage)
    ids = facts.videos["id"].to_list()
    if id not in ids and id.rpartition("-")[0] in ids:
        return of_dag(run, id, svg) if dag or svg else of_question(run, facts, id, width)
    if dag or svg:
        raise BadInput.at(run.folder, f"--dag and --svg show a question; {id or 'no id'!r} is none (<video>-<number>)")
    at = find(ids, id, run.folder)
    if not facts.between(at, at + 1).told:
        return iter([NO_FACTS.format(ids[at])]), of_video(facts, at, vocabulary)
    return timeline(facts, at, vocabulary, width), of_video(facts, at, vocabulary)


def of_images(run: Run, id: str, dag: bool, svg: Path | None) -> Shown:
    """A question about a set of images, or one image; the first image if no id is given."""
    from questree.show.image_view import ImageView

    view = ImageView(run) if ImageView.there(run) else None
    key = view.key(id) if view else None
    if view is not None and key is not None:
        return of_dag(run, id, svg, view) if dag or svg else of_image_question(view, key)
    facts = Images.load(run.images)
    ids = facts.images["id"].to_list()
    if dag or svg:
        raise BadInput.at(run.folder, f"--dag and --svg: expected the id of a question, got {id!r}")
    return of_image(facts, find(ids, id, run.folder, "image or question"))


def of_image_question(view: "ImageView", key: int) -> Shown:
    from questree.notation.own import show as spelled
    from questree.show.trees import tree

    asked = view.find(key)
    scene, labels = view.scene(asked, None), view.labels(asked)
    images = {one.id: [box.label for box in one.boxes if box.kind == "mentioned"] for one in scene.pictures}
    record: dict[str, Any] = {
        "id": asked.id,
        "question": asked.text,
        "answer": asked.answer,
        "template": asked.template,
        **dict(labels),
        "program": spelled(asked.program) if asked.program else asked.stored["program"],
        "evidence": {part.program: part.told for part in scene.parts},
        "images": images,
    }

    def lines() -> Iterator[str]:
        yield f"{asked.text}  {asked.answer}"
        yield f"{asked.id}: {asked.template}; {', '.join(f'{name} {value}' for name, value in labels)}"
        yield from ("", *(tree(asked.program) if asked.program else [record["program"]]), "", "what it rests on:")
        yield from (f"{part.told:>10}  {part.program}" for part in scene.parts)
        yield from (f"image {name}: {', '.join(things) or 'nothing of it'}" for name, things in images.items())

    return lines(), record


def of_image(facts: Images, at: int) -> Shown:
    """What is annotated in one image: things with attributes and boxes, and their relations."""
    words, image = facts.words["word"].to_list(), facts.images.row(at, named=True)
    things = facts.things.with_row_index("row").filter(pl.col("image") == at).to_dicts()
    attributes: dict[int, list[str]] = {row["row"]: [] for row in things}
    for thing, attribute in facts.attributes.filter(pl.col("thing").is_in(list(attributes))).iter_rows():
        attributes[thing].append(words[attribute])
    called = {row["row"]: " ".join([*attributes[row["row"]], words[row["name"]]]) for row in things}
    relations = [
        {"subject": called[subject], "relation": words[relation], "object": called[object]}
        for subject, relation, object in facts.relations.filter(pl.col("subject").is_in(list(called))).iter_rows()
    ]
    boxes = [{"thing": called[row["row"]], "box": [row[side] for side in BOX]} for row in things]

    def lines() -> Iterator[str]:
        yield f"image {image['id']}, {image['split'] or 'no split'}: {len(things)} things, {len(relations)} relations"
        for each in boxes:
            known = None not in each["box"]
            yield f"  {each['thing']}{'  at ' + ', '.join(f'{side:g}' for side in each['box']) if known else ''}"
        yield from (f"  {each['subject']} {each['relation']} {each['object']}" for each in relations)

    return lines(), {**image, "things": boxes, "relations": relations}


def find(ids: list[str], scope: str, run: Path, called: str = "video") -> int:
    if not ids:
        raise BadInput.at(run, f"this run has no {called}s")
    if not scope:
        return 0
    if scope not in ids:
        near = get_close_matches(scope, ids, 3, 0.0)
        shown = ", ".join([*near, *["..."] * (len(near) < len(ids))])
        raise BadInput.at(run, f"no {called} {scope!r} among its {len(ids):,}; choose from {shown}")
    return ids.index(scope)


def of_question(run: Run, facts: Facts, id: str, width: int = WIDTH) -> Shown:
    """A question's lines, and the same as data."""
    from questree.domains.video import videos
    from questree.notation import agqa
    from questree.notation.own import show as spelled
    from questree.readings.categories import answer_type
    from questree.show.text_timeline import grounded
    from questree.show.timeline import grounds
    from questree.show.trees import tree
    from questree.stages.questions import Bank

    bank = Bank(run)
    question = bank.find(id)
    world = videos(facts.between(question.video, question.video + 1), bank.vocabulary)
    labels = question.template.categories
    found = {
        "id": id,
        "question": question.text,
        "answer": question.answer,
        "template": question.template.name,
        "steps": question.row["steps"],
        "type": answer_type(question.program),
        "reasoning": labels.reasoning,
        "structural": labels.structural,
        "semantic": labels.semantic,
        "program": spelled(question.program),
        "agqa": agqa.written(question.program, bank.vocabulary, bank.edition.name),
        "evidence": {spelled(part): frames for part, frames in grounds(question.program, world).items()},
    }

    def lines() -> Iterator[str]:
        yield f"{question.text}  {question.answer}"
        kinds = ", ".join([question.template.name, labels.structural, labels.semantic, *labels.reasoning])
        yield f"{id}: {kinds}; {question.row['steps']} steps"
        yield from ("", *tree(question.program), "", f"AGQA: {found['agqa'] or 'no notation for this program'}", "")
        if facts.between(question.video, question.video + 1).told:
            yield "what it rests on:"
            yield from grounded(question.program, world, width)
        else:
            yield NO_FACTS.format(bank.ids[question.video])

    return lines(), found


def of_dag(run: Run, id: str, svg: Path | None, view: "View | None" = None) -> Shown:
    """A question's DAG as a tree of lines, and as data; drawn too, if a file is named."""
    from questree.show.trees import lines
    from questree.show.video_view import VideoView

    view = view or VideoView(run)
    question, found = view.taken_apart(id)
    if svg:
        from questree.show.outline import outlined
        from questree.tables.store import new_file

        with new_file(svg) as work:
            work.write_text(outlined(found, kinds=view.kinds, wide=PICTURE), "utf-8")
    record = {"id": id, "question": question.text, "answer": question.answer, "nodes": found.data()}
    return lines(found), record


def of_video(facts: Facts, at: int, vocabulary: Vocabulary) -> dict[str, object]:
    """The video as data: actions with seconds, relations with the numbers of their frames."""
    one = facts.between(at, at + 1)
    number = one.frames["number"].to_list()
    tracks = one.relations.group_by("relation", "object", maintain_order=True).agg("frame")
    return {
        **one.videos.row(0, named=True),
        "frames": one.frames.select("number", "seconds").to_dicts(),
        "actions": [
            {"id": vocabulary.actions[row["action"]].id, "phrase": vocabulary.actions[row["action"]].phrase}
            | {name: row[name] for name in ("instance", "start", "end")}
            for row in one.actions.iter_rows(named=True)
        ],
        "relations": [
            {
                "relation": vocabulary.relations[relation].name,
                "object": vocabulary.objects[thing].name,
                "frames": [number[frame] for frame in frames],
            }
            for relation, thing, frames in tracks.sort("relation", "object").iter_rows()
        ],
    }
