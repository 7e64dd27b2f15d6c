"""Released questions taken apart with the unbalanced ones as a source of answers: the same as a run by rules alone."""

import json
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from conftest import copy
from questree.cli.app import app
from questree.domains.video import VIDEO
from questree.faults import BadInput
from questree.formats.decomp import export_decomp
from questree.formats.decomp_released import decompose_released
from questree.notation.agqa import AgqaShapes
from questree.notation.grammar import positions
from questree.notation.own import parse
from questree.stages.decompose.dag_shards import DecomposeOptions, decompose
from questree.tables.nodes import ANSWERED
from questree.tables.run import Run
from questree.terms import slots
from questree.vocabulary import default

Nodes = dict[tuple[str, str, str], str | None]  # (video, question, text) -> answer
SPLIT = "train_balanced"


def nodes_of(folder: Path) -> Nodes:
    return {
        (path.stem, key, text): entry["answer"]
        for path in folder.glob("*.json")
        if path.name != "isolated.json"
        for key, dag in json.loads(path.read_bytes()).items()
        for text, entry in dag["subquestion"].items()
    }


def by_rules(run: Run, place: Path) -> Nodes:
    """The nodes of a run's balanced questions, answered by all its questions and by rules."""
    own = copy(run, place)
    decompose(own, DecomposeOptions(balanced=True, rules_only=True), pool=ThreadPoolExecutor(1))
    export_decomp(own, place / "dags", pool=ThreadPoolExecutor(1))
    return nodes_of(place / "dags" / "balanced_train_hierarchies")


def test_the_unbalanced_file_answers_what_the_run_itself_knows_by_rules(
    random_run: Run, release: Path, tmp_path: Path
) -> None:
    path = release / "AGQA_balanced" / f"{SPLIT}.txt"
    told = decompose_released(path, tmp_path / "out", default(), 1, answers=[release])
    found = nodes_of(tmp_path / "out" / f"{SPLIT}_hierarchies")
    assert found == by_rules(random_run, tmp_path), "the questions of a run by rules alone know the same"
    answered = sum(told.summary.places[name] for name in ANSWERED)
    loose = json.loads((tmp_path / "out" / f"{SPLIT}_hierarchies" / "isolated.json").read_bytes())
    known = [answer for answer in [*found.values(), *(row["answer"] for row in loose)] if answer is not None]
    assert (answered, told.summary.places.total()) == (len(known), len(found) + len(loose))
    videos = {record["video_id"] for record in records(path).values()}
    whole = [records(release / "AGQA_unbalanced" / f"{split}_unbalanced.txt") for split in ("train", "test")]
    there = Counter(record["video_id"] in videos for found in whole for record in found.values())
    assert told.answers == (there[True], there[False], 0)


def records(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.read_bytes())
    return found


def asked(program: str, answer: str, video: str = "V") -> dict[str, str]:
    return {"question": "?", "answer": answer, "video_id": video, "program": program}


HELD = "Exists({}, Iterate({}, Filter(frame, [relations, holding, objects])))"


def test_answers_come_from_questions_with_the_same_program_of_the_same_video(tmp_path: Path) -> None:
    before = HELD.format("bag", "Localize(before, holding a phone)")
    (tmp_path / "asked.json").write_text(json.dumps({"V-1": asked(before, "no"), "W-1": asked(before, "no", "W")}))
    others = {
        "V-7": asked(HELD.format("bag", "video"), "Yes"),
        "V-8": asked("Exists(bag, Iterate(Localize(after, laughing at a television), Filter(frame, [objects])))", "no"),
        "X-1": asked(HELD.format("phone", "video"), "no", "X"),
        "V-9": asked("Wonder(bag)", "no"),
        "V-10": asked(HELD.format("bag", "video"), "perhaps"),
        # holding a phone, the condition, reads like this one and is the same node
        "W-2": asked(HELD.format("phone", "video"), "no", "W"),
    }
    (tmp_path / "others.json").write_text(json.dumps(others))
    told = decompose_released(tmp_path / "asked.json", tmp_path / "out", default(), 1, None, [tmp_path / "others.json"])
    assert told.answers == (3, 1, 2)
    found = nodes_of(tmp_path / "out" / "asked_hierarchies")
    bag, phone = "Is the person holding a bag?", "Is the person holding a phone?"
    assert (found["V", "V-1", bag], found["W", "W-1", bag]) == ("yes", None)
    assert (found["V", "V-1", "Does a bag exist?"], found["W", "W-1", "Does a bag exist?"]) == ("yes", None)
    assert (found["V", "V-1", phone], found["W", "W-1", phone]) == (None, "no")
    assert Counter(answer for _, answer in found.items()).keys() == {None, "yes", "no"}
    assert found["W", "W-1", "Does a person exist before holding a phone?"] == "no", "the condition never holds"
    with pytest.raises(BadInput, match="no such file or folder"):
        decompose_released(tmp_path / "asked.json", tmp_path / "out", default(), 1, None, [tmp_path / "nothing"])


def test_answers_that_contradict_each_other_are_told(tmp_path: Path) -> None:
    (tmp_path / "asked.json").write_text(json.dumps({"V-1": asked(HELD.format("bag", "video"), "no")}))
    (tmp_path / "others.json").write_text(json.dumps({"V-2": asked(HELD.format("bag", "video"), "yes")}))
    told = decompose_released(tmp_path / "asked.json", tmp_path / "out", default(), 1, None, [tmp_path / "others.json"])
    assert told.summary.clashes == 1
    assert told.summary.contradictions == [
        "video V: Is the person holding a bag? no (asked) | but not so by another question"
    ]


def test_the_command_says_how_much_is_answered(
    release: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = release / "AGQA_balanced" / f"{SPLIT}.txt"
    files = f"--out {tmp_path / 'out'} --json {tmp_path / 'told.json'}"
    command = f"decompose --from-agqa {path} --answers {release} {files}"
    app(command.split(), exit_on_error=False, result_action="return_value")
    said = capsys.readouterr().out
    told = json.loads((tmp_path / "told.json").read_bytes())
    places = told["places"]
    share = 100 * (places["asked"] + places["entailed"]) / sum(places.values())
    assert f"({share:.2f} % of the {sum(places.values()):,} places in their DAGs)" in said
    assert f"{told['answers']['used']:,} answers of other questions used" in said
    with pytest.raises(BadInput, match="expected a run folder, or --from-agqa FILE"):
        app(f"decompose {tmp_path} --answers {release}".split())


def test_words_of_strings_have_the_positions_of_their_kinds(release: Path) -> None:
    words = default()
    texts = [record["program"] for record in records(release / "AGQA_unbalanced" / "test_unbalanced.txt").values()][::9]
    texts += [
        "Wonder(blanket)",
        "",
        HELD.format("bag", "Localize(while, flying)"),
        "Exists( bag ,Iterate(video ,Filter(",
    ]
    texts += [
        HELD.format(" bag\u00a0", "video"),
        HELD.format("bag", "video") + " x",
        HELD.format("laughing at", "video"),
    ]
    shapes = AgqaShapes(words)
    for text in texts:
        read = shapes.slot_words(text, 8)
        form, spelled, fault = shapes.program(text)
        assert (read.form, read.fault) == (form, fault)
        if form is None or spelled is None:
            continue
        kinds = {int(name): slot.kind for name, slot in slots(parse(form, VIDEO)).items()}
        wanted = [positions(kinds[at], words)[word] for at, word in enumerate(spelled)]
        assert read.words[: len(wanted)] == wanted
    assert shapes.slot_words(HELD.format("bag", "video"), 1).fault == "program: expected at most 1 words, got 2"
