"""One video on a timeline, or a question about it with its program, answer and evidence."""

from collections.abc import Iterator
from pathlib import Path

from questree.api.shown import WIDTH, Shower, Shown, find, of_dag
from questree.faults import BadInput
from questree.show.text_timeline import timeline
from questree.tables.facts import VIDEOS, Facts
from questree.tables.run import Run
from questree.vocabulary.words import Vocabulary

NO_FACTS = "the run has no facts about video {}, so there is no timeline"


def newest(run: Run) -> str:
    """The last stage that facts went through."""
    return "facts" if run.facts.is_dir() else "raw"


def is_id(run: Run, id: str) -> bool:
    ids = run.table(newest(run), VIDEOS)["id"]
    return id in ids or id.rpartition("-")[0] in ids


def of_videos(run: Run, id: str, stage: str | None, dag: bool, svg: Path | None, width: int) -> Shown:
    vocabulary = run.vocabulary()
    facts = run.load(stage if stage and stage != "newest" else newest(run))
    ids = facts.videos["id"].to_list()
    if id not in ids and id.rpartition("-")[0] in ids:
        if not (dag or svg):
            return of_question(run, facts, id, width)
        from questree.show.video_view import VideoView

        return of_dag(VideoView(run), id, svg)
    if dag or svg:
        raise BadInput.at(run.folder, f"--dag and --svg show a question; {id or 'no id'!r} is none (<video>-<number>)")
    at = find(ids, id, run.folder)
    if not facts.between(at, at + 1).told:
        return iter([NO_FACTS.format(ids[at])]), of_video(facts, at, vocabulary)
    return timeline(facts, at, vocabulary, width), of_video(facts, at, vocabulary)


def of_question(run: Run, facts: Facts, id: str, width: int = WIDTH) -> Shown:
    """A question's lines, and the same as data."""
    from questree.notation import agqa
    from questree.notation.own import show as spelled
    from questree.readings.categories import answer_type
    from questree.show.text_timeline import grounded
    from questree.show.timeline import grounds
    from questree.show.trees import tree
    from questree.stages.questions import Bank

    bank = Bank(run)
    question = bank.find(id)
    world = bank.edition.read(facts.between(question.video, question.video + 1), bank.vocabulary)
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


SHOWER = Shower(is_id, of_videos)
