"""Pictures of the made-up world: things fill their boxes to a pixel, every word has a look, bytes are the same."""

import re
import sys
from functools import cache
from pathlib import Path
from typing import Any
from unittest.mock import patch

import msgspec
import numpy as np
import polars as pl
import pytest

skia = pytest.importorskip("skia", exc_type=ImportError)

from bench.stages import frames  # noqa: E402
from questree.draw.canvas import Box, Pixels, Sheet  # noqa: E402
from questree.draw.figure import figure  # noqa: E402
from questree.draw.frame import draw_frame, draw_thing  # noqa: E402
from questree.draw.frames import write_frames  # noqa: E402
from questree.draw.image import draw_image  # noqa: E402
from questree.draw.legend import frame_marks, mark_png  # noqa: E402
from questree.draw.paint import attributes, draw_painted  # noqa: E402
from questree.draw.runs import image_png, image_scene  # noqa: E402
from questree.draw.scene import Doing, FrameScene, SeenThing, Spell, marks  # noqa: E402
from questree.draw.shapes import icons, looks, picture  # noqa: E402
from questree.draw.videos import doing_of, scenes, states_at  # noqa: E402
from questree.show.frames import image_file, media_file  # noqa: E402
from questree.synth.habits import habits  # noqa: E402
from questree.synth.images import FIRST_IMAGE, VALUE_GROUPS, world  # noqa: E402
from questree.synth.video import SynthVideo, make_video  # noqa: E402
from questree.tables.images import Images  # noqa: E402
from test_pages import commands  # noqa: E402
from worlds.commands import questree, run  # noqa: E402

WORDS = habits().words
OBJECTS = [word.name for word in WORDS.objects if not word.part_only and word.id != WORDS.person]
SIZE = (160, 120)
VISIBLE = 40  # alpha from which a pixel at an edge counts as drawn


def extent(pixels: Pixels) -> tuple[int, int, int, int]:
    rows, columns = (np.flatnonzero((pixels[..., 3] > VISIBLE).any(axis)) for axis in (1, 0))
    return columns[0], rows[0], columns[-1] + 1, rows[-1] + 1


def drawn_alone(word: str, box: Box, state: str) -> Pixels:
    sheet = Sheet(SIZE)
    draw_thing(sheet.canvas, word, box, frozenset([state]))
    return sheet.pixels


@cache
def video() -> SynthVideo:
    return make_video(1, 4)


@pytest.mark.parametrize("word", [*looks(), "samovar"])
def test_a_thing_fills_its_box_to_a_pixel_in_every_state(word: str) -> None:
    box = (21.3, 14.8, 97.6, 88.2)
    for state in looks().get(word, {"plain": ""}):
        found = extent(drawn_alone(word, box, state))
        assert np.abs(np.subtract(found, box)).max() <= 1, (word, state, found)


@pytest.mark.parametrize("box", [(30, 5, 60, 95), (30, 5, 90, 105), (5, 30, 150, 80)], ids=["stand", "sit", "lie"])
def test_a_person_fills_their_box_to_a_pixel(box: Box) -> None:
    sheet = Sheet(SIZE)
    figure(box, "anybody").draw(sheet.canvas)
    assert np.abs(np.subtract(extent(sheet.pixels), box)).max() <= 1


def test_every_object_relation_and_verb_of_the_vocabulary_is_drawn() -> None:
    assert set(OBJECTS) <= looks().keys()
    known = marks()
    marked = {*known.contacts, *known.where, *known.lists["looks"], *known.lists["perhaps"], *known.lists["idle"]}
    assert {r.name for r in WORDS.relations if r.group in ("contact", "spatial", "attention")} == marked
    assert {r.name for r in WORDS.relations if r.group == "verb"} == known.verbs.keys()
    assert known.actions.keys() <= {action.phrase for action in WORDS.actions}


def test_every_icon_is_used_and_every_icon_that_is_used_is_there() -> None:
    known = marks()
    named = {source.split()[0] for states in looks().values() for source in states.values() if source[0] != "<"}
    named |= {*known.contacts.values(), *known.verbs.values(), *(g for row in known.actions.values() for g in row)}
    named |= {*attributes().glyphs.values()}
    own = {"mdi-help", "mdi-human"}  # in lines of sight and above and beneath
    assert {name for name in named if name[0] != "<"} | own == icons().keys()
    for name in icons():
        picture(name)


def test_the_licence_of_every_icon_is_named() -> None:
    notice = (Path(__file__).parents[1] / "NOTICE").read_text("utf-8")
    listed = set(re.findall(r"(?<=[ \n])[a-z0-9-]+(?=,|\n)", notice))
    assert {name.removeprefix("mdi-") for name in icons()} <= listed


def test_every_relation_changes_the_picture() -> None:
    """No two relations look alike, nor does any look like none; but not looking is not looking at all."""
    box = (100.0, 40.0, 130.0, 70.0)

    def shown(*relations: str) -> bytes:
        thing = SeenThing("cup", box, frozenset(relations))
        sheet = Sheet(SIZE, 2.0)
        draw_frame(sheet.canvas, FrameScene(SIZE, "Kitchen", "X", (40.0, 10.0, 72.0, 100.0), (thing,), ()))
        return sheet.png()

    names = [r.name for r in WORDS.relations if r.group in ("contact", "spatial", "attention")]
    pictures = {shown(name) for name in names} | {shown()}
    assert len(pictures) == len(names)
    assert shown("not looking at") == shown()
    assert shown("juggling") not in pictures  # a relation of another vocabulary is written out


def test_every_action_changes_the_picture() -> None:
    """No two actions look alike."""
    shown = dict[bytes, str]()
    for at, action in enumerate(WORDS.actions):
        noun = int(WORDS.noun_of[at])
        thing = WORDS.objects[noun].name if noun >= 0 else ""
        doing = Doing(action.phrase, WORDS.relations[WORDS.verb_of[at]].name, thing)
        sheet = Sheet(SIZE, 2.0)
        draw_frame(sheet.canvas, FrameScene(SIZE, "Kitchen", "X", (40.0, 10.0, 72.0, 100.0), (), (doing,)))
        same = shown.setdefault(sheet.png(), action.phrase)
        assert same == action.phrase, f"{action.phrase} looks like {same}"


def test_words_of_other_vocabularies_are_written_out() -> None:
    def shown(*doing: Doing) -> bytes:
        sheet = Sheet(SIZE)
        draw_frame(sheet.canvas, FrameScene(SIZE, "Kitchen", "X", None, (), doing))
        return sheet.png()

    phrases = [Doing("juggling a samovar", "juggling", "samovar"), Doing("holding a samovar", "holding", "samovar")]
    assert len({shown(), *(shown(each) for each in phrases), shown(Doing("holding it", "holding", ""))}) == 4


def test_boxes_of_the_truth_lie_on_what_is_drawn() -> None:
    scene = next(s for s in scenes(video()) if len(s.things) > 2)
    for thing in scene.things:
        sheet = Sheet(scene.size)
        draw_thing(sheet.canvas, thing.word, thing.box, thing.states)
        assert np.abs(np.subtract(extent(sheet.pixels), thing.box)).max() <= 1


def test_a_frame_shows_what_is_true_and_in_sight() -> None:
    truth = video()
    names = [WORDS.objects[o].name for o in truth.objects]
    for frame, scene in enumerate(scenes(truth)):
        assert [t.word for t in scene.things] == [
            n for n, seen in zip(names, truth.visible[frame], strict=True) if seen
        ]
        second = truth.seconds[frame]
        assert {each.phrase for each in scene.doing} == {
            WORDS.actions[s.action].phrase for s in truth.spans if s.start <= second <= s.end
        }


def test_what_is_opened_is_open_until_it_is_closed() -> None:
    def at(second: float, *spans: tuple[str, float, float]) -> frozenset[str]:
        made = [Spell(doing_of(WORDS.action_at[action], WORDS), start, end) for action, start, end in spans]
        return states_at(made, second).get("door", frozenset())

    opening, closing = ("c008", 5.0, 7.0), ("c006", 12.0, 14.0)
    assert [at(s, opening, closing) for s in (0.0, 6.0, 10.0, 13.0)] == [{"closed"}, {"open"}, {"open"}, {"closed"}]
    assert at(0.0, closing) == {"open"}
    assert at(0.0) == frozenset()


def test_every_thing_and_attribute_of_images_is_drawn() -> None:
    made, known = world(), attributes()
    kinds = [made.ground, made.things, made.worn_values, made.part_values]
    assert {name for group in kinds for name in group} <= looks().keys() | known.people.keys()
    said = {v for group in kinds for kind in group.values() for name in VALUE_GROUPS for v in getattr(kind, name)}
    colours = {v for group in kinds for kind in group.values() for v in kind.color}
    assert colours == known.colors.keys()
    for value in sorted(said):
        pictures = []
        for attributed in ([], [value]):
            thing = {"name": "wall", "x": 0, "y": 0, "w": 160, "h": 120, "attributes": attributed, "relations": []}
            sheet = Sheet(SIZE)
            draw_image(sheet.canvas, {"width": 160, "height": 120, "objects": {"1": thing}}, frozenset(["wall"]))
            pictures.append(sheet.png())
        assert pictures[0] != pictures[1], value


def rgb(text: str) -> Any:
    return np.array([int(text[at : at + 2], 16) for at in (1, 3, 5)], float)


def test_a_colour_is_that_colour_whatever_is_drawn_in_it() -> None:
    for word in ("car", "chair", "cup", "shirt"):
        for name, wanted in attributes().colors.items():
            sheet = Sheet((60, 60))
            draw_painted(sheet.canvas, word, (0, 0, 60, 60), [name], "")
            solid = sheet.pixels[sheet.pixels[..., 3] == 255][:, :3].astype(float).mean(0)
            near = {each: abs(solid - rgb(hex)).sum() for each, hex in attributes().colors.items()}
            assert np.abs(solid - rgb(wanted)).max() < 40 and min(near, key=near.__getitem__) == name, (word, name)


def test_images_hide_what_is_behind_and_show_what_would_be_hidden() -> None:
    """A box that stands further down lies over the other; of one that would be out of sight, the outline is seen."""

    def scene(small: int) -> dict[str, Any]:
        boxes = {"far": (10, 30, small, small), "near": (5, 20, 100, 90)}
        return {
            "width": 160,
            "height": 120,
            "objects": {
                id: {
                    **dict(zip("xywh", box, strict=True)),
                    "name": "box",
                    "attributes": ["red" if id == "far" else "white"],
                    "relations": [],
                }
                for id, box in boxes.items()
            },
        }

    def pixel(made: dict[str, Any], x: int, y: int) -> Any:
        sheet = Sheet(SIZE)
        draw_image(sheet.canvas, made, frozenset(["box"]))
        return sheet.pixels[y, x].astype(int)

    hidden = pixel(scene(60), 40, 60)
    assert hidden[0] > hidden[1] + 40  # red, though the white box stands before it
    seen = scene(60)
    seen["objects"]["near"]["x"] = 50
    assert abs(int(pixel(seen, 62, 60)[0]) - int(pixel(seen, 62, 60)[1])) < 40  # white before red


def test_images_are_where_the_page_looks_for_them_and_the_same_every_time(tmp_path: Path) -> None:
    for name in ("one", "two"):
        done = questree("synth", "images", "--images", 3, "--pixels", "--out", name, folder=tmp_path)
        assert done.returncode == 0, done.stderr
    names = [str(FIRST_IMAGE + at) for at in range(3)]
    for name in names:
        first, second = (image_file(tmp_path / each / "pixels", name) for each in ("one", "two"))
        assert first is not None and second is not None and first.read_bytes() == second.read_bytes()
    again = questree("synth", "images", "--images", 2, "--out", "one", folder=tmp_path)
    assert again.returncode == 0, again.stderr


def test_frames_are_where_the_page_looks_for_them_and_the_same_every_time(tmp_path: Path) -> None:
    counts = write_frames(tmp_path / "one", 2, 1, (96, 96))
    write_frames(tmp_path / "two", 2, 1, (96, 96))
    found = sorted(path.relative_to(tmp_path / "one") for path in (tmp_path / "one").rglob("*.*"))
    assert counts["frames"] == sum(path.suffix == ".png" for path in found) > 10
    assert counts["films"] == sum(path.suffix == ".mp4" for path in found) == 2
    for path in found:
        assert (tmp_path / "one" / path).read_bytes() == (tmp_path / "two" / path).read_bytes()
    first = make_video(1, 0)
    for number in first.numbers.tolist():
        assert media_file(tmp_path / "one", first.id, number) is not None


def test_a_film_shows_each_frame_from_its_second_on(tmp_path: Path) -> None:
    import av

    write_frames(tmp_path / "frames", 1, 1, (96, 96))
    first = make_video(1, 0)
    with av.open(str(tmp_path / "frames" / f"{first.id}.mp4")) as film:
        stream = film.streams.video[0]
        times = [frame.time or 0.0 for frame in film.decode(stream)]
    assert times[0] == 0.0
    assert np.allclose(times[1 : len(first.seconds)], first.seconds[1:], atol=0.001)
    assert abs(times[-1] - first.length) < 0.1


def test_the_page_on_the_made_up_world_works(tmp_path: Path) -> None:
    first, second = commands("docs/synthetic-world.md")
    run(f"{first.replace('3', '1')} --frame-size 64x64", tmp_path)
    run(second.replace("5", "1"), tmp_path)
    assert list((tmp_path / "seen" / "frames").glob("*.mp4")) and list((tmp_path / "rooms" / "pixels").glob("*.png"))


def test_a_size_that_is_none_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    wrong = questree("synth", "--videos", 1, "--frame-size", "large", "--out", "other", folder=tmp_path)
    assert wrong.returncode == 1 and "--frame-size: expected WIDTHxHEIGHT" in wrong.stderr
    assert not (tmp_path / "other").exists()


def test_without_the_extra_one_line_says_what_to_install(tmp_path: Path) -> None:
    for module, words in (("frames", "synth --frames"), ("images", "synth images --pixels")):
        with patch.dict(sys.modules, {f"questree.draw.{module}": None}):
            done = questree(*words.split(), "--out", "world", folder=tmp_path)
        assert done.returncode == 1 and "pip install 'questree[draw]'" in done.stderr
        assert not (tmp_path / "world").exists()


def test_what_is_worn_is_where_the_person_is() -> None:
    """Boxes of worn things have their middle within the person's, unless they were moved off something else."""
    worn = WORDS.relation_at["wearing"]
    inside = []
    for index in range(30):
        made = make_video(1, index)
        frames, columns = np.nonzero(made.relations >> worn & 1)
        box, person = made.boxes[frames, columns], made.person[frames]
        middle = (box[:, :2] + box[:, 2:]) / 2
        inside.append(((middle > person[:, :2]) & (middle < person[:, 2:])).all(1))
    assert len(np.concatenate(inside)) > 100 and np.concatenate(inside).mean() > 0.75


def test_drawing_is_measured(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    frames(videos=1, size="64x64", json=tmp_path / "bench.json")
    assert capsys.readouterr().out.startswith("frames: size 1, ")
    found = msgspec.json.decode((tmp_path / "bench.json").read_bytes())
    assert found["rows"] == len(make_video(1, 0).numbers)


def test_images_of_real_annotators_are_drawn_whatever_lies_on_what() -> None:
    """Two things each on the other, and one of which nobody said where it is."""
    words = ["man", "samovar", "on", "holding", "odd"]
    boxes = {name: pl.Series([10.0, 60.0, None], dtype=pl.Float32) for name in ("x1", "y1")}
    boxes |= {name: pl.Series([50.0, 90.0, None], dtype=pl.Float32) for name in ("x2", "y2")}
    things = pl.DataFrame({"image": [0, 0, 0], "id": ["a", "b", "c"], "name": [0, 1, 1]}).with_columns(**boxes)
    size = {"width": None, "height": None, "location": None}
    images = Images(
        pl.DataFrame({"id": ["i"], "split": ["test"]}).with_columns(**{k: pl.lit(v) for k, v in size.items()}),
        things,
        pl.DataFrame({"thing": [1], "attribute": [4]}),
        pl.DataFrame({"subject": [0, 1, 0], "relation": [2, 2, 3], "object": [1, 0, 0]}),
        pl.DataFrame(schema={"edge": pl.UInt32, "preposition": pl.UInt32, "object": pl.UInt32}),
        pl.DataFrame({"word": words}),
    )
    scene = image_scene(images, 0)
    assert (scene["width"], scene["height"]) == (100, 100)
    assert [(one["name"], one["x"], one["w"]) for one in scene["objects"].values()] == [
        ("man", 10.0, 40.0), ("samovar", 60.0, 30.0), ("samovar", pytest.approx(10.0), pytest.approx(80.0)),
    ]  # fmt: skip
    assert scene["objects"]["1"]["attributes"] == ["odd"]
    assert image_png(images, 0, 200).startswith(b"\x89PNG")


def test_every_relation_that_a_frame_marks_is_explained() -> None:
    named = {relation.name for relation in WORDS.relations if relation.group in ("contact", "spatial")}
    assert named <= frame_marks().keys()
    assert len({mark_png(name) for name in ("holding", "in front of", "behind")}) == 3
