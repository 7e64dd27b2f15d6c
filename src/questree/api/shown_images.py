"""One image with what is annotated in it, or a question about a set of images."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from questree.api.shown import Shower, Shown, find, of_dag
from questree.benchmarks import AGQA, COVR
from questree.faults import BadInput
from questree.tables.facts import BOX
from questree.tables.image_questions import some_of
from questree.tables.images import IMAGES, Images
from questree.tables.run import Run

if TYPE_CHECKING:
    from questree.show.image_view import ImageView


def is_id(run: Run, id: str) -> bool:
    asked = COVR.has(run, "questions") and len(some_of(run, [id])) > 0
    return asked or id in IMAGES.read(run.images)["id"]


def of_images(run: Run, id: str, stage: str | None, dag: bool, svg: Path | None, width: int) -> Shown:
    """A question about a set of images, or one image; the first image if no id is given."""
    if stage:
        raise BadInput.at("--stage", f"expected a run of {AGQA.scopes}, got {COVR.scopes}")
    from questree.show.image_view import ImageView

    view = ImageView(run) if ImageView.there(run) else None
    key = view.key(id) if view else None
    if view is not None and key is not None:
        return of_dag(view, id, svg) if dag or svg else of_image_question(view, key)
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


SHOWER = Shower(is_id, of_images)
