"""`questree show`: one video or one question of a run, to look at."""

import shutil
from collections.abc import Iterator
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Parameter

from questree.cli.terminal import Json, Quiet, say, write_json
from questree.cli.timeline import timeline
from questree.faults import BadInput
from questree.tables.facts import Facts
from questree.tables.run import Run
from questree.vocabulary.words import Vocabulary


def show(
    run: Path,
    id: str = "",
    /,
    *,
    stage: Annotated[Literal["raw", "facts", "truth", "newest"], Parameter(help="Which facts of a video.")] = "newest",
    dag: Annotated[bool, Parameter(negative="", help="A question's DAG of sub-questions, with answers.")] = False,
    svg: Annotated[Path | None, Parameter(name="--svg", help="Draw the DAG into this file.")] = None,
    json: Json = None,
    quiet: Quiet = False,
) -> None:
    """Show one video of a run on a timeline, or one question with its program, answer and evidence.

    Parameters
    ----------
    run
        Run folder.
    id
        Id of a video, or of a question (VIDEO-NUMBER); the first video if none is given.
    """
    place = Run(run)
    vocabulary = place.vocabulary()
    facts = place.load(("facts" if place.facts.is_dir() else "raw") if stage == "newest" else stage)
    ids = facts.videos["id"].to_list()
    if id not in ids and id.rpartition("-")[0] in ids:
        lines, record = of_dag(place, id, svg) if dag or svg else of_question(place, facts, id)
    elif dag or svg:
        raise BadInput.at(run, f"--dag and --svg show a question; {id or 'no id'!r} is none (<video>-<number>)")
    else:
        at = find(ids, id, run)
        lines, record = timeline(facts, at, vocabulary, width()), of_video(facts, at, vocabulary)
    for text in lines:
        say(text, quiet)
    write_json(json, record)


def width() -> int:
    return shutil.get_terminal_size((120, 40)).columns


def find(ids: list[str], video: str, run: Path) -> int:
    if not ids:
        raise BadInput.at(run, "this run has no videos")
    if not video:
        return 0
    if video not in ids:
        near = get_close_matches(video, ids, 3, 0.0)
        raise BadInput.at(run, f"no video {video!r} among its {len(ids):,}; there are {', '.join(near)}, ...")
    return ids.index(video)


def of_question(run: Run, facts: Facts, id: str) -> tuple[Iterator[str], dict[str, Any]]:
    """A question's lines, and the same as data."""
    from questree.cli.tree import grounded, tree
    from questree.domains.video import videos
    from questree.notation import agqa
    from questree.notation.own import show as spelled
    from questree.readings.categories import answer_type
    from questree.show.grounds import grounds
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
        "agqa": agqa.write(question.program, bank.vocabulary, bank.edition.name),
        "evidence": grounds(question.program, world),
    }

    def lines() -> Iterator[str]:
        yield f"{question.text}  {question.answer}"
        kinds = ", ".join([question.template.name, labels.structural, labels.semantic, *labels.reasoning])
        yield f"{id}: {kinds}; {question.row['steps']} steps"
        yield from ("", *tree(question.program), "", f"AGQA: {found['agqa']}", "", "what it rests on:")
        yield from grounded(question.program, world, width())

    return lines(), found


def of_dag(run: Run, id: str, svg: Path | None) -> tuple[Iterator[str], dict[str, Any]]:
    """A question's DAG as a tree of lines, and as data; drawn too, if a file is named."""
    from questree.cli.dag import lines
    from questree.show.drawing import drawn
    from questree.show.video_view import VideoView
    from questree.tables.store import new_file

    question, found = VideoView(run).taken_apart(id)
    if svg:
        with new_file(svg) as work:
            work.write_text(drawn(found), "utf-8")
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
