"""A vocabulary is drafted from any corpus that is read: those of others in their words, and words that clash."""

import json
from collections import Counter
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from questree.cli.app import app
from questree.stages.questions import Bank
from questree.tables.run import Run
from questree.vocabulary import Vocabulary
from questree.vocabulary.draft import UsedWords
from questree.vocabulary.drafted_file import DraftedFile, drafted
from questree.vocabulary.drafted_words import LOOK
from questree.vocabulary.load import parse
from worlds.released_shapes import CORPORA

CALL: dict[str, Any] = {"exit_on_error": False, "result_action": "return_value"}
SHARED = {  # corpus -> what is said about words that share a wording
    "JAAD": ['verb "looking at" of actions: counted as the relation "looking at"'],
    "GoalStep": ['verb "looking at" of actions: counted as the relation "looking at"'],
    "VidOR": [
        'verb "leaning on" of actions: counted as the relation "leaning on"',
        'verb "holding" of actions: counted as the relation "holding"',
    ],
}


@pytest.mark.parametrize("corpus", CORPORA)
def test_a_corpus_as_it_is_released_gets_a_vocabulary_and_questions(
    corpus: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    facts, words, run, said = (tmp_path / name for name in ("facts.json", "words.toml", "run", "said.json"))
    facts.write_text(json.dumps({"videos": CORPORA[corpus]()}))
    app(["vocabulary", "draft", str(facts), "--out", str(words), "--json", str(said)], **CALL)
    shared = json.loads(said.read_text())["folded or renamed"]
    assert shared == SHARED.get(corpus, [])
    printed = capsys.readouterr().out
    assert [line for line in shared if line not in printed] == []
    assert asked(facts, words, run) > 10


def test_a_corpus_whose_frames_show_none_of_its_actions_has_a_run_without_questions(tmp_path: Path) -> None:
    facts, words, run = (tmp_path / name for name in ("facts.json", "words.toml", "run"))
    did = [{"class": "wash hands", "start": 9, "end": 15}, {"class": "cut bread", "start": 13, "end": 16}]
    video = {"id": "v", "length": 30.0, "frames": [{"number": 0, "seconds": 0.0}], "actions": did}
    facts.write_text(json.dumps({"videos": [video]}))
    app(["vocabulary", "draft", str(facts), "--out", str(words), "--quiet"], **CALL)
    assert asked(facts, words, run) == 0


def asked(facts: Path, words: Path, run: Path) -> int:
    app(["ingest", "json", str(facts), "--vocabulary", str(words), "--out", str(run), "--quiet"], **CALL)
    app(["augment", str(run), "--quiet"], **CALL)
    with patch("questree.workers.ProcessPoolExecutor", None):
        app(["generate", str(run), "--text", "--rare-below", "0", "--workers", "1", "--quiet"], **CALL)
    bank = Bank(Run(run))
    return sum(len(bank.shard(folder).questions) for folder in bank.folders())


PARTS = """look looking at the car cars hold holding holds interacting interact with Interacting_With Annotated hands on
own something unnamed other thing do doing else person People a watch get off / ( ) (an object) : s ing un -1 2 1/2 not
o1 O1 r1 V1 v1 a1 A1 d1 D2 unknown sofa couch"""
NAMES = st.builds(
    lambda parts, sign: sign.join(parts),
    st.lists(st.sampled_from(PARTS.split()), min_size=1, max_size=3),
    st.sampled_from(" _"),
)
RESERVED = {"annotated", "interacting with"}  # refused by `ingest` as well: they come by themselves


def read(draft: DraftedFile) -> Vocabulary:
    return parse(draft.text, "mine.toml")


@settings(max_examples=150, derandomize=True, database=None)
@example({"car"}, {"looking at"}, {"looking at the car"})
@example({"car"}, {"hands on"}, {"push car"})
@example({"something unnamed"}, {"interacting_with"}, {"put something on table"})
@example({"other"}, {"thing"}, {"the", "hold other"})
@example(set(), set(), {"(e.g. cup)", "na", "nothing, hold", "put--take:knife:table-not", "throw-in"})
@example({"O1"}, {"Annotated", "holding", "held"}, {"hold o1", "interact with O1"})
@given(st.sets(NAMES, max_size=5), st.sets(NAMES, max_size=5), st.sets(NAMES, max_size=5))
def test_no_words_of_files_clash_in_a_draft(objects: set[str], relations: set[str], actions: set[str]) -> None:
    """Every spelling is found, and none of a relation means one that comes by itself."""
    used = UsedWords(*(Counter(dict.fromkeys(sorted(names), 1)) for names in (objects, relations - RESERVED, actions)))
    words = read(drafted(used, "mine", "mine.json"))
    assert not used.objects.keys() - words.object_at.keys()
    assert not used.actions.keys() - words.action_at.keys()
    groups = {name: words.relations[words.relation_at[name]].group for name in used.relations}
    assert "derived" not in groups.values()


def test_what_shares_a_wording_is_folded_or_renamed_and_said() -> None:
    used = UsedWords(
        relations=Counter(["looking at", "holds", "Interacting_With", "Annotated"]),
        actions=Counter(["look at car", "hold cup", "interact with dog"]),
    )
    found = drafted(used, "mine", "mine.json")
    words = read(found)
    stored = {word.phrase: words.relations[words.verb_of[at]].name for at, word in enumerate(words.actions)}
    assert stored == {
        "looking at the car": "looking at",
        "holding the cup": "holding",
        "interacting with the dog": "hands on",
    }
    assert words.relations[words.relation_at["Interacting_With"]].name == "hands on"
    assert words.relations[words.relation_at["Annotated"]].name == "own annotated"
    assert words.lists.never_asked_relations == ("hands on", "own annotated")
    assert found.shared == [
        'relation "Interacting_With": counted as "hands on": "interacting with" comes by itself',
        'relation "Annotated": called "own annotated": "annotated" comes by itself',
        'verb "looking at" of actions: counted as the relation "looking at"',
        'verb "holding" of actions: counted as the relation "holding"',
    ]


def test_names_of_steps_read_as_a_native_reader_judged_them() -> None:
    """Those that once did not: as written, or "?" where it is enough that the draft says it is not sure."""
    rows = (Path(__file__).parent / "data" / "step_names.tsv").read_text("utf-8").splitlines()[1:]
    judged = {name: reads for _, _, name, *more in (row.split("\t") for row in rows) for reads in more}
    found = drafted(UsedWords(actions=Counter(dict.fromkeys(judged, 1))), "mine", "mine.json").text
    words, lines = parse(found, "mine.toml"), found.splitlines()
    made = {name: words.actions[words.action_at[name]] for name in judged}
    marked = {name for name in judged if any(f'"{made[name].id}"' in line and LOOK in line for line in lines)}
    assert len(judged) > 50
    assert {name: made[name].phrase if name not in marked else "?" for name in judged} == judged
