"""What models are shown: frames, images in order, what a question is about and what it is not; and models in Python."""

import base64
import io
import json
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from PIL import Image

from conftest import copy
from questree import open as open_run
from questree.ask.media import Hiding, Sight, evenly, frames_of
from questree.ask.pictures import Encoding, Pictures, Shot, encoded, jpeg
from questree.draw.film import write_film
from questree.faults import BadInput
from questree.tables.run import Run
from worlds.chat_server import ChatServer, chat_server
from worlds.commands import questree

GREY = (128, 128, 128)


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with chat_server(lambda body: "yes") as own:
        yield own


@pytest.fixture(scope="session")
def painted(notebook: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Every annotated frame of the run of videos in a colour of its own, and every image of the other run."""
    folder, run = tmp_path_factory.mktemp("painted"), open_run(notebook / "run")
    frames = run.facts("frames")
    for at, (video, number) in enumerate(frames.select("video", "number").iter_rows()):
        (folder / "frames" / video).mkdir(parents=True, exist_ok=True)
        Image.new("RGB", (48, 36), colour(at)).save(folder / "frames" / video / f"{number:06}.png")
    (folder / "images").mkdir()
    for at, name in enumerate(open_run(notebook / "images").facts("images")["id"]):
        Image.new("RGB", (48, 36), colour(at)).save(folder / "images" / f"{name}.jpg", quality=95)
    return folder


def colour(at: int) -> tuple[int, int, int]:
    return at % 8 * 30, at // 8 % 8 * 30, 100


def near(one: Any, other: Any) -> bool:
    return all(abs(a - b) < 12 for a, b in zip(one, other, strict=True))


def pictures(body: dict[str, Any]) -> list[Image.Image]:
    content = next(each["content"] for each in body["messages"] if each["role"] == "user")
    urls = [part["image_url"]["url"] for part in content if part["type"] == "image_url"]
    return [Image.open(io.BytesIO(base64.b64decode(url.partition(",")[2]))) for url in urls]


def ask(run: str, folder: Path, server: ChatServer, *more: object) -> Any:
    where = ("--endpoint", server.url, "--model", "m", "--json", "told.json")
    done = questree("ask", run, *where, *more, folder=folder)
    assert done.returncode == 0, done.stderr
    return done


def test_frames_are_the_middles_of_equal_stretches(tmp_path: Path) -> None:
    assert evenly(range(10), 2) == [2, 7] and evenly(range(3), 8) == [0, 1, 2] and evenly([], 3) == []
    assert evenly(range(100), 4) == [12, 37, 62, 87]
    (tmp_path / "v").mkdir()
    for name in ("frame_000010.jpg", "frame_000009.JPG", "2.png", "notes.txt", "cover.png"):
        (tmp_path / "v" / name).touch()
    assert [number for number, _ in frames_of(tmp_path, "v")] == [2, 9, 10]
    assert frames_of(tmp_path / "v", "..") == () and frames_of(tmp_path, "nowhere") == ()
    (tmp_path / "v.mp4").write_bytes(b"film")
    sight = Sight(tmp_path, "video", film=True)
    assert sight.faults(["v"]) == [] and len(sight.faults(["w"])) == 1
    (shot,) = sight.shots("v")
    part = json.loads(encoded(shot, Encoding()))
    assert part == {"type": "video_url", "video_url": {"url": "data:video/mp4;base64,ZmlsbQ=="}}


def test_frames_are_taken_from_films_where_there_are_no_pictures(tmp_path: Path) -> None:
    shots = [(float(at), np.full((32, 48, 4), 60 * at + 20, np.uint8)) for at in range(4)]
    write_film(tmp_path / "v.mp4", iter(shots), 4.0)
    sight = Sight(tmp_path, "video", 2, seconds={("v", 30 * at): float(at) for at in range(4)})
    assert sight.faults(["v"]) == [] and [shot.seconds for shot in sight.shots("v")] == [1.0, 3.0]
    (third,) = sight.shots("v", {60})
    for seconds, grey in ((0.0, 20), (2.0, 140), (2.5, 140), (99.0, 200)):
        shown = Image.open(io.BytesIO(jpeg(replace(third, seconds=seconds), Encoding(24))))
        assert shown.size == (24, 16) and near(shown.getpixel((8, 8)), (grey,) * 3)
    own = Pictures(Encoding(24))
    assert own.size(third) == (24, 16) and own.digest(third) != own.digest(replace(third, seconds=1.0))
    (tmp_path / "w.mp4").write_bytes(b"no film")
    with pytest.raises(BadInput, match=r"w\.mp4: expected a film, got what cannot be read as one"):
        jpeg(Shot(tmp_path / "w.mp4", 0, 1.0), Encoding())


def test_pictures_are_made_smaller_and_boxes_hidden(tmp_path: Path) -> None:
    Image.new("RGB", (400, 200), (200, 0, 0)).save(tmp_path / "a.png")
    shot = Shot(tmp_path / "a.png", hidden=((0, 0, 50, 50),), kept=((25, 0, 30, 50),), size=(100, 50))
    shown = Image.open(io.BytesIO(jpeg(shot, Encoding(100, 95))))
    assert shown.size == (100, 50)
    at = {
        name: shown.getpixel(place) for name, place in {"hidden": (10, 10), "kept": (27, 25), "other": (80, 25)}.items()
    }
    assert near(at["hidden"], GREY) and near(at["kept"], (200, 0, 0)) and near(at["other"], (200, 0, 0))
    whole = Shot(tmp_path / "a.png")
    as_it_is = json.loads(encoded(whole, Encoding(0)))["image_url"]["url"]
    assert base64.b64decode(as_it_is.removeprefix("data:image/png;base64,")) == (tmp_path / "a.png").read_bytes()
    assert Image.open(io.BytesIO(jpeg(whole, Encoding(1000)))).size == (400, 200)  # never larger
    (tmp_path / "b.png").write_bytes(b"no picture")
    with pytest.raises(BadInput, match=r"b\.png: expected a picture"):
        jpeg(Shot(tmp_path / "b.png"), Encoding())


def test_image_sets_are_shown_in_order_with_their_numbers(
    notebook: Path, painted: Path, server: ChatServer, tmp_path: Path
) -> None:
    shutil.copytree(notebook / "images", tmp_path / "images")
    ask("images", tmp_path, server, "--media", painted / "images", "--questions", 12, "--quality", 95)
    run = open_run(tmp_path / "images")
    names = run.facts("images")["id"].to_list()
    scopes = {", ".join(scope): scope for scope in run.nodes()["scope"].to_list()}
    for body, head in zip(server.bodies, server.heads, strict=True):
        scope = scopes[head.partition("X-Questree-Scope: ")[2].partition("\r\n")[0]]
        content = body["messages"][1]["content"]
        assert [part["text"] for part in content if part["type"] == "text"][:-1] == [
            f"Image {at}:" for at in range(1, len(scope) + 1)
        ]
        shown = [picture.getpixel((5, 5)) for picture in pictures(body)]
        for found, name in zip(shown, scope, strict=True):
            assert near(found, colour(names.index(name)))
    polar = {text: answer in ("yes", "no") for text, answer in run.nodes().select("question", "answer").iter_rows()}
    for body in server.bodies:  # also where the words of a question look like a choice: "a red cup or a white cup?"
        text, *_, wanted = body["messages"][1]["content"][-1]["text"].splitlines()
        assert (wanted == "Answer with yes or no.") == polar[text]
    assert set(run.predictions("m")["id"]) <= set(run.nodes()["id"]) and len(run.predictions("m")) >= 3
    done = ask("images", tmp_path, server, "--media", painted / "images", "--questions", 3, "--mode", "parts-first")
    assert "m parts-first" in done.stdout


def test_fpvg_shows_only_what_a_question_is_about_and_all_but_that(
    notebook: Path, painted: Path, server: ChatServer, tmp_path: Path
) -> None:
    shutil.copytree(notebook / "run", tmp_path / "run")
    seen = ("--media", painted / "frames", "--frames", 4, "--questions", 12, "--size", 0)
    done = ask("run", tmp_path, server, *seen, "--view", "fpvg", "--out", "fpvg")
    questree("ground", "run", "--out", "inputs", "--format", "parquet", "--sample", 12, folder=tmp_path)
    grounds = pl.read_parquet(tmp_path / "inputs" / "questions.parquet")
    frames = open_run(tmp_path / "run").facts("frames").with_row_index("at")
    told = {name: _lines(tmp_path / "fpvg" / f"{name}.jsonl") for name in ("all", "rel", "irrel")}
    assert set(told["all"]) == set(grounds["id"])
    fit = grounds.filter(
        pl.col("left_out") == "", pl.col("relevant_frames").list.len() > 0, pl.col("irrelevant_frames").list.len() > 0
    )
    assert set(told["rel"]) == set(told["irrel"]) == set(fit["id"]) and len(fit)
    assert "score them: questree score fpvg run --all fpvg/all.jsonl --rel fpvg/rel.jsonl" in done.stdout
    seen_colours = {(tuple(p.getpixel((1, 1)) for p in pictures(body))) for body in server.bodies}
    for id, place, relevant in fit.select("id", "place", "relevant_frames").iter_rows():
        own = frames.filter(pl.col("video") == place[0], pl.col("number").is_in(relevant))["at"].to_list()
        wanted = tuple(colour(at) for at in evenly(own, 4))
        assert wanted in seen_colours, id
    words = (
        "score fpvg run --all fpvg/all.jsonl --rel fpvg/rel.jsonl --irrel fpvg/irrel.jsonl --sample 12 --resamples 0"
    )
    scored = questree(*words.split(), "--missing", "skip", folder=tmp_path)
    assert scored.returncode == 0, scored.stderr
    assert not (tmp_path / "run" / "predictions" / "m").exists()
    done = ask("run", tmp_path, server, *seen, "--view", "relevant", "--out", "one")
    assert [path.name for path in (tmp_path / "one").iterdir()] == ["rel.jsonl"] and "score them" not in done.stdout
    assert json.loads((tmp_path / "told.json").read_text())["requests"] == 0  # asked before
    other = tmp_path / "other"
    for video in (painted / "frames").iterdir():
        (other / video.name).mkdir(parents=True)
        shutil.copy(next(video.iterdir()), other / video.name / "999999.png")
    done = questree("ask", "run", "--python", "json:dumps", "--media", other, "--view", "fpvg", folder=tmp_path)
    assert done.returncode == 1 and "expected pictures of annotated frames, got none of those that" in done.stderr


def test_boxes_are_hidden_where_frames_stay(notebook: Path, painted: Path, server: ChatServer, tmp_path: Path) -> None:
    for name, medium in (("run", "frames"), ("images", "images")):
        shutil.copytree(notebook / name, tmp_path / name)
        server.bodies.clear()
        split = ("--split", "all") if name == "images" else ()
        seen = ("--media", painted / medium, "--questions", 6, "--size", 0, "--hide", "boxes", *split)
        ask(name, tmp_path, server, *seen, "--view", "fpvg")
        told = {view: _lines(tmp_path / name / "asked" / "m" / f"{view}.jsonl") for view in ("all", "rel", "irrel")}
        assert set(told["rel"]) == set(told["irrel"]) <= set(told["all"]) and told["rel"]
        grey = [any(near(GREY, each) for p in pictures(body) for each in _colours(p)) for body in server.bodies]
        assert 0 < sum(grey) <= len(told["rel"]) + len(told["irrel"])


def _colours(picture: Image.Image) -> set[tuple[int, ...]]:
    """But for what JPEG changes."""
    own = picture.convert("RGB")
    return {tuple(own.getpixel((x, y))) for x in range(0, own.width, 2) for y in range(0, own.height, 2)}  # type: ignore[arg-type]


def _lines(path: Path) -> dict[str, str]:
    return {line["id"]: line["prediction"] for line in map(json.loads, path.read_text().splitlines())}


def test_hiding_is_part_of_what_is_asked(tmp_path: Path) -> None:
    Image.new("RGB", (10, 10)).save(tmp_path / "x.png")
    sight = Sight(tmp_path, "images", sizes={"x": (10, 10)})
    (plain,), (hidden,) = sight.shots(["x"]), sight.shots(["x"], hiding=Hiding({1: ((0, 0, 5, 5),)}))
    assert plain != hidden and hidden.hidden and hidden.size == (10, 10)


MODEL = """
import json, pathlib

def one(question):
    log(question)
    return None if question.text.startswith("What") else "yes"

def many(questions):
    for question in questions:
        log(question)
    return ["no"] * len(questions)

def short(questions):
    return ["no"]

def log(question):
    with open("log.jsonl", "a") as file:
        told = [question.id, question.prompt, [str(shot.path) for shot in question.media], len(question.history)]
        file.write(json.dumps(told) + "\\n")
"""


def test_a_function_is_asked_and_remembers(notebook: Path, painted: Path, tmp_path: Path) -> None:
    shutil.copytree(notebook / "run", tmp_path / "run")
    (tmp_path / "mine_asked.py").write_text(MODEL)
    seen = ("--media", painted / "frames", "--frames", 2, "--questions", 5)
    done = questree("ask", "run", "--python", "mine_asked:many", "--batch", 4, "--name", "mine", *seen, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    log = [json.loads(line) for line in (tmp_path / "log.jsonl").read_text().splitlines()]
    run = open_run(tmp_path / "run")
    assert set(run.predictions("mine")["prediction"]) == {"no"}
    texts = dict(run.nodes().select("id", "question").iter_rows())
    assert all(prompt.startswith(texts[id]) and len(shown) == 2 and not turns for id, prompt, shown, turns in log)
    again = questree(
        "ask", "run", "--python", "mine_asked:many", "--batch", 3, "--name", "mine", *seen, folder=tmp_path
    )
    assert again.returncode == 0 and len((tmp_path / "log.jsonl").read_text().splitlines()) == len(log)
    (tmp_path / "log.jsonl").unlink()
    talk = ("--python", "mine_asked:many", "--name", "mine", "--batch", 2, "--mode", "parts-first")
    assert questree("ask", "run", *talk, *seen, folder=tmp_path).returncode == 0
    assert max(json.loads(line)[3] for line in (tmp_path / "log.jsonl").read_text().splitlines()) > 0
    done = questree("ask", "run", "--python", "mine_asked:one", "--no-media", "--questions", 20, folder=tmp_path)
    assert done.returncode == 3 and "times no answer" in done.stderr  # None is none
    done = questree("ask", "run", "--python", "mine_asked:short", "--batch", 4, "--no-media", folder=tmp_path)
    assert done.returncode == 1 and "model: expected 4 answers to a batch, got 1" in done.stderr
    done = questree("ask", "run", "--python", "nowhere:at_all", "--no-media", folder=tmp_path)
    assert done.returncode == 1 and "nowhere:at_all: neither a file nor a function of a module" in done.stderr


def test_a_folder_without_a_model_is_refused(apart_images: Run, tmp_path: Path) -> None:
    run = copy(apart_images, tmp_path)
    done = questree("ask", run.folder, "--hf", tmp_path, "--no-media", folder=tmp_path)
    assert done.returncode == 1 and "--hf: expected a folder with config.json, got " in done.stderr
