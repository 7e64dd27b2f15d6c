"""Corpora in which actions are annotated and nothing else: read, asked about what follows from actions, and told so."""

import json
from collections import Counter
from collections.abc import Callable
from html import escape
from pathlib import Path
from typing import Any

import pytest

from judges import facts as judge
from judges.facts import Video, pair, read
from judges.naive_generator import Question
from judges.naive_references import DIRECT
from questree.benchmarks.agqa import templates as t
from questree.benchmarks.agqa.editions import FIRST, SECOND
from questree.benchmarks.agqa.templates import ACT_EXISTS, TEMPLATES
from questree.faults import BadInput
from questree.sources.catalogue import kind_of
from questree.sources.charades import read_charades
from questree.sources.clock import MOST, clock_frames
from questree.sources.own_json import read_own_json
from questree.stages.again import made_again
from questree.stages.generate.annotated import actions_only, needs_relations
from questree.stages.questions import Bank
from questree.tables.nodes import FORMS, KNOWN, NODES
from questree.tables.run import Run
from questree.vocabulary import default
from worlds import generator_rows as rows
from worlds import generator_worlds as chance
from worlds.commands import questree
from worlds.raw_files import write_charades
from worlds.small import actions, facts

WINDOWS: dict[str, Callable[..., set[int]]] = {
    t.BEFORE: judge.before,
    t.AFTER: judge.after,
    t.WHILE: judge.during,
    t.BETWEEN: judge.between,
}
PAIRS = {"objRelExists", "andObjRelExists", "xorObjRelExists", "objWhatChoose", "objFirstChoose", "objLastChoose"}
NEEDY = {"objExists", "relExists", "objWhatGeneral", "objWhat", "objFirst", "objFirstVerify", "objLast"}
NEEDY |= {"objLastVerify", "relTime", "objTime"}


def test_which_templates_need_annotated_relations() -> None:
    assert {template.name for template in TEMPLATES if needs_relations(template)} == NEEDY
    assert not needs_relations(ACT_EXISTS)


def follows(question: Question, video: Video) -> bool:
    """The naive rule: of actions anything, of pairs what the action of that pair says, of all else nothing."""
    named = [*question.deeds, *question.time.deeds]
    if question.template in NEEDY or question.done_to or any(deed.thing for deed in named):
        return False
    if question.template not in PAIRS:
        return True
    if any(thing.kind != DIRECT for thing in question.things):
        return False
    own = [deed.action for deed in question.time.deeds]
    window = WINDOWS[question.time.kind](video, *own) if own else video.frames
    done = {pair(instance.action) for instance in video.instances}
    for thing in question.things:
        frames = judge.seen(video, question.relation, thing.object)
        if (question.relation, thing.object) not in done or not frames:
            return False
        if not frames & window and judge.exists(video, thing.object) & window:
            return False
    return True


HELD = """
video Held
frames 0 1 2 3 4 5 6 7 8 9 10 11 12
bare bag 0-2: holding
bare box 6-7: holding
bare door 9-10: opening
action c020 0 2
action c040 6 7
action c154 0 4
action c008 9 10
action c150 11 12
"""


@pytest.mark.parametrize("edition", [SECOND, FIRST], ids=["2.0", "1.0"])
def test_of_a_video_with_actions_alone_is_asked_what_follows_from_them(edition: Any) -> None:
    world = facts("\n".join([HELD, *chance.world(seed=3, videos=30), *chance.RARE_CASES]))
    naive, bare = read(world), range(0, len(world.videos), 2)
    every = rows.plain(rows.generated(world, 0, edition=edition), len(naive))
    asked = rows.plain(rows.generated(world, 0, edition=edition, actions_only=bare), len(naive))
    kept = [question for at in bare for question in asked[at]]
    assert {question.template for question in kept} >= PAIRS | {"actTime", "actLongest", "actFirst", "actWhatBefore"}
    for template in ("objRelExists", "andObjRelExists", "xorObjRelExists"):
        assert {question.answer for question in kept if question.template == template} == {"yes", "no"}
    for at, video in enumerate(naive):
        wanted = [question for question in every[at] if at not in bare or follows(question, video)]
        assert sorted(map(str, asked[at])) == sorted(map(str, wanted)), f"video {at}"


def test_frames_are_made_where_actions_begin_and_end_and_every_second() -> None:
    made = clock_frames([(0.5, 2.25), (2.25, 9.0)], 3.5)
    assert made == [(0, 0.0), (50, 0.5), (100, 1.0), (200, 2.0), (225, 2.25), (300, 3.0), (350, 3.5)]
    assert clock_frames([(0.5, 0.51), (0.52, 2)], rate=10) == [(0, 0), (5, 0.5), (6, 0.51), (7, 0.52), (10, 1), (20, 2)]
    assert clock_frames([], 9.0) == []
    assert len(clock_frames([(0.0, 1.0)], 1e9)) <= MOST + 2


CLASSES = "c008 Opening a door\nc020 Holding a bag\nc040 Holding a box\nc022 Putting a bag somewhere\nc097 Walking\n"
FILMS = {
    "AAAAA": ("c020 0.00 9.00;c008 12.00 14.50;c097 14.50 30.20", 28.0),
    "BBBBB": ("", 10.0),
    "CCCCC": ("c020 0.00 5.00;c040 5.50 9.00;c022 6.00 8.00;c008 10.00 13.00;c097 99.00 99.50", 20.0),
}


def charades(folder: Path, **more: str) -> Path:
    folder.mkdir()
    write_charades(folder / "Charades_v1_train.csv", FILMS)
    (folder / "Charades_v1_classes.txt").write_text(CLASSES)
    for name, text in more.items():
        (folder / f"{name}.csv").write_text(text)
    return folder


def test_charades_alone_becomes_facts(tmp_path: Path) -> None:
    folder = charades(tmp_path / "raw", frame_rates="video,fps\nCCCCC,24\n")
    reading = read_charades(folder, default(), 30.0)
    found = reading.facts
    assert found.videos.rows() == [("AAAAA", "train", 28.0, None, None), ("CCCCC", "train", 20.0, None, None)]
    assert (len(found.objects), len(found.tracks), len(found.persons)) == (0, 0, 0)
    assert found.frames.filter(video=0)["seconds"].to_list() == [*range(15), 14.5, *range(15, 29)]
    assert found.frames.filter(video=0)["number"].to_list() == [30 * s for s in [*range(15), 14.5, *range(15, 29)]]
    assert found.frames.filter(video=1)["number"].to_list() == [24 * s for s in [*range(6), 5.5, *range(6, 21)]]
    assert actions(found) == [
        ("c020", 1, 0.0, 9.0, 0, 8),
        ("c008", 1, 12.0, 14.5, 12, 14),
        ("c097", 1, 14.5, 30.2, 15, 29),
    ]
    assert reading.skipped == {
        "action that ends after its video, kept": 2,
        "action that starts after its video, left out": 1,
        "video without actions, left out": 1,
    }


def test_classes_that_nobody_knows_are_named(tmp_path: Path) -> None:
    folder = charades(tmp_path / "raw")
    (folder / "Charades_v1_classes.txt").write_text(CLASSES + "c157 Juggling\n")
    with pytest.raises(BadInput) as caught:
        read_charades(folder, default())
    place = f"{folder / 'Charades_v1_classes.txt'}, line 6"
    assert str(caught.value) == f"{place}: action 'c157' is not in the vocabulary 'agqa'"


def test_own_videos_need_neither_frames_nor_objects(tmp_path: Path) -> None:
    spans = [{"class": "c020", "start": 0.5, "end": 2.5}, {"class": "c008", "start": 2, "end": 3}]
    (tmp_path / "mine.json").write_text(json.dumps({"videos": [{"id": "a", "actions": spans}]}))
    found = read_own_json(tmp_path / "mine.json", default()).facts
    assert found.frames["number"].to_list() == [0, 50, 100, 200, 250, 300]
    assert found.frames["seconds"].to_list() == [0.0, 0.5, 1.0, 2.0, 2.5, 3.0]
    assert actions(found) == [("c020", 1, 0.5, 2.5, 1, 3), ("c008", 1, 2.0, 3.0, 3, 4)]


def test_a_corpus_without_any_annotation_is_refused(tmp_path: Path) -> None:
    frames = [{"number": 0, "seconds": 0}, {"number": 1, "seconds": 1}]
    videos = [{"id": "a", "frames": frames}, {"id": "b"}]
    (tmp_path / "mine.json").write_text(json.dumps({"videos": videos}))
    done = questree("build", tmp_path / "mine.json", "--out", tmp_path / "run")
    assert done.returncode == 1
    wanted = "expected annotated actions, objects or relations, got none in 2 videos"
    assert done.stderr == f"error: {tmp_path / 'mine.json'}: {wanted}\n"
    assert not (tmp_path / "run").exists()


NOT_ASKED = ", ".join(template.name for template in TEMPLATES if template.name in NEEDY)
OPEN = "2 of 2 videos have no annotated relations: asked is what follows from their actions alone, not asked are "
OPEN += f"{NOT_ASKED} (but --closed-world)"
CLOSED = "2 of 2 videos have no annotated relations: what nobody annotated there is taken for absent (--closed-world)"


def asked_templates(run: Run) -> set[str]:
    bank = Bank(run)
    codes = {code for folder in bank.folders() for code in bank.shard(folder).questions["template"]}
    return {bank.edition.by_code[code].name for code in codes}


def test_charades_alone_is_built_told_and_recorded(tmp_path: Path) -> None:
    raw, run = charades(tmp_path / "raw"), Run(tmp_path / "run")
    assert kind_of(raw) == "charades"
    done = questree("build", raw, "--out", run.folder, "--workers", 1)
    assert done.returncode == 0, done.stderr
    assert f"    {OPEN}" in done.stdout.splitlines()
    assert json.loads((run.questions / "plan.json").read_text())["actions_only"] == 2
    assert asked_templates(run).isdisjoint(NEEDY) and "actTime" in asked_templates(run)
    assert made_again(run) == []
    for command in (("decompose", run.folder, "--all"), ("answer", run.folder, "--model", "oracle")):
        assert questree(*command).returncode == 0
    scored = questree("score", run.folder, "--resamples", 0)
    assert scored.stdout.splitlines()[-1:] == [OPEN], scored.stderr
    told = ("--out", tmp_path / "report.html", "--split", "all", "--resamples", 0)
    assert questree("report", run.folder, *told).returncode == 0
    assert escape(OPEN) in (tmp_path / "report.html").read_text()
    assert OPEN in questree("generate", run.folder, "--workers", 1, "--rare-below", 0).stdout.splitlines()


def denied(run: Run) -> tuple[Counter[str], Counter[str]]:
    """How many sub-questions of each kind execution answers: those of which nobody says so, and those that are told."""
    found = Counter[str](), Counter[str]()
    for folder in Bank(run).folders():
        own = run.decomposed / folder.name
        programs = FORMS.read(own)["program"]
        for form, known, answer in NODES.read(own).select("form", "known", "answer").drop_nulls().iter_rows():
            kind = "open" if programs[form].startswith(("first(", "last(", "equals(")) else "other"
            kind = ("no" if answer == 0 else "yes") if "doing(" in programs[form] else kind
            found[KNOWN[known] == "executed"][kind] += 1
    return found


def test_the_rule_holds_for_each_video(tmp_path: Path) -> None:
    own: dict[str, Any] = {"actions": [{"class": "c020", "start": 0, "end": 2}]}
    held = {"number": 0, "seconds": 0, "objects": [{"class": "bag", "relations": ["holding"]}]}
    shown = {"number": 0, "seconds": 0, "objects": [{"class": "bag"}]}
    videos = [{"id": "a"} | own, {"id": "b", "frames": [held]} | own, {"id": "c", "frames": [shown]} | own]
    (tmp_path / "mine.json").write_text(json.dumps({"videos": videos}))
    for command in (("ingest", "json", "mine.json", "--out", "run"), ("augment", "run")):
        assert questree(*command, folder=tmp_path).returncode == 0
    assert actions_only(Run(tmp_path / "run")).tolist() == [True, False, True]
    (tmp_path / "run" / "truth").mkdir()
    assert not actions_only(Run(tmp_path / "run")).any(), "a made-up world is known as a whole"


def test_a_relation_that_no_action_gives_is_not_denied_of_such_a_video(tmp_path: Path) -> None:
    raw, run, closed = charades(tmp_path / "raw"), Run(tmp_path / "run"), Run(tmp_path / "closed")
    for place, more in ((run, []), (closed, ["--closed-world"])):
        assert questree("ingest", "charades", raw, "--out", place.folder).returncode == 0
        assert questree("augment", place.folder).returncode == 0
        made = questree("generate", place.folder, "--rare-below", 0, *more)
        assert made.stdout.splitlines()[-1] == (CLOSED if more else OPEN)
        assert questree("decompose", place.folder, "--all").returncode == 0
    unsaid, said = denied(run)
    assert unsaid["no"] > 0 < unsaid["open"] and said["yes"] > 0 < said["other"]
    assert said["no"] == said["open"] == unsaid["yes"] == 0
    assert asked_templates(closed) & NEEDY
    unsaid, said = denied(closed)
    assert said["no"] > 0 < said["open"] and not unsaid["no"] | unsaid["open"]
