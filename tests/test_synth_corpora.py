"""Made-up corpora of any size: what they hold, and that they are read as anybody's own data."""

from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from questree.faults import BadInput
from questree.synth.corpora import CorpusPlan, make_video, write_corpus
from questree.vocabulary.load import default, default_text, parse
from questree.vocabulary.words import HeldOutWords
from questree.vocabulary.write import vocabulary_text
from worlds.commands import questree, run

SMALL = CorpusPlan(videos=3, objects=400, relations=50, actions=900, cast=5, instances=2, seconds=40.0, frames=30)


def test_a_vocabulary_is_read_as_it_was_written() -> None:
    made = SMALL.vocabulary
    held = HeldOutWords(actions=(made.actions[3].phrase,), pairs=((made.objects[5].name, made.relations[0].name),))
    for words in (default(), made, msgspec.structs.replace(made, held_out=held)):
        assert parse(vocabulary_text(words), Path("x.toml")) == words
    assert parse(default_text(), Path("agqa.toml")) == default()


def test_the_vocabulary_has_the_asked_sizes_and_no_word_twice() -> None:
    words = SMALL.vocabulary
    assert (len(words.objects), len(words.relations), len(words.actions)) == (400, 50, 900)
    assert len({thing.name for thing in words.objects}) == 400
    assert len({relation.name for relation in words.relations}) == 50
    assert len({action.phrase for action in words.actions}) == 900
    assert len({thing.name for thing in CorpusPlan(1, 9000, 5, 1, 1, 1, 1.0, 1).vocabulary.objects}) == 9000


def test_a_thing_is_touched_exactly_while_something_is_done_to_it() -> None:
    video, words = make_video(SMALL, 1, 0), SMALL.vocabulary
    assert len(video["actions"]) == 10 and len({span["class"] for span in video["actions"]}) == 5
    touches = {relation.name for relation in words.relations if relation.group == "contact"}
    for frame in video["frames"]:
        done_to = {
            words.objects[words.object_at[words.actions[words.action_at[span["class"]]].object]].name
            for span in video["actions"]
            if span["start"] <= frame["seconds"] <= span["end"]
        }
        assert {one["class"] for one in frame["objects"] if touches & set(one["relations"])} == done_to
        assert len({tuple(one["box"]) for one in frame["objects"]}) == len(frame["objects"])


def test_a_video_depends_on_seed_and_number_only(tmp_path: Path) -> None:
    made = write_corpus(tmp_path / "corpus", SMALL, 1)
    videos = msgspec.json.decode((tmp_path / "corpus/videos.json").read_bytes())["videos"]
    assert videos[2] == make_video(replace(SMALL, videos=9), 1, 2)
    assert made == {"videos": 3, "frames": sum(len(v["frames"]) for v in videos), "annotations": 0, "actions": 30} | {
        "annotations": sum(len(f["objects"]) for v in videos for f in v["frames"])
    }
    assert make_video(SMALL, 2, 2) != videos[2]


def test_the_page_makes_a_corpus_that_is_taken_in_as_own_json(tmp_path: Path) -> None:
    page = (Path(__file__).parents[1] / "docs/synthetic-world.md").read_text()
    shown = page.split("## Corpora of other sizes")[1].split("```")[1].strip().split("$ ")[1:]
    (command, _, said) = shown[0].partition("\n")
    assert questree(*command.split()[1:], folder=tmp_path).stdout.rstrip() == said.rstrip()
    run("questree vocabulary check corpus/vocabulary.toml", tmp_path)
    run("questree ingest json corpus/videos.json --vocabulary corpus/vocabulary.toml --out run", tmp_path)


def test_what_cannot_be_made_is_refused_by_name(tmp_path: Path) -> None:
    usual = CorpusPlan(videos=1, objects=9, relations=9, actions=5, cast=1, instances=1, seconds=9.0, frames=5)
    wrong = {
        "--relations": replace(usual, relations=4),
        "--actions": replace(usual, actions=100_000),
        "--cast": replace(usual, cast=6),
        "--seconds": replace(usual, seconds=0.0),
    }
    for place, plan in wrong.items():
        with pytest.raises(BadInput) as bad:
            write_corpus(tmp_path / "corpus", plan, 1)
        assert [fault.place for fault in bad.value.faults] == [place]
    (tmp_path / "other").mkdir()
    (tmp_path / "other/file").touch()
    with pytest.raises(BadInput, match="not a made-up corpus"):
        write_corpus(tmp_path / "other", SMALL, 1)
