"""The page: filters find what loops find, a question says why, bad addresses say so, nothing foreign gets in."""

import gzip
import html
import json
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx2
import msgspec
import numpy as np
import polars as pl
import pytest
from starlette.testclient import TestClient

from questree.benchmarks.agqa.held_out import INDIRECT
from questree.cli.app import app as command
from questree.faults import BadInput
from questree.metrics.catalogue import METRICS, Metric
from questree.rules import VIDEO_DAGS
from questree.search.word_tables import default_words
from questree.show.image_view import ImageView
from questree.show.judged import judged
from questree.show.page.app import application
from questree.show.page.filters import Filters
from questree.show.page.serving import bound, trusted
from questree.show.page.shown import Shown
from questree.show.page.site import Collection, Site
from questree.show.video_view import VideoView
from questree.stages.decompose.hierarchies import shards
from questree.stages.decompose.set_shards import decompose_run
from questree.stages.decompose.spoken import say
from questree.stages.questions import Bank, Question
from questree.stages.split.grammar import read
from questree.stages.split.language import of_videos
from questree.stages.split.rows import video_rows
from questree.tables.hierarchies import NOTHING
from questree.tables.predictions import shard_name, write_shard, write_words
from questree.tables.run import Run
from questree.vocabulary.words import Vocabulary
from test_pages import commands
from worlds.decomposed import Stored
from worlds.image_run import image_run as asked_rooms
from worlds.image_run import spoken_nodes
from worlds.served import SCRIPT, answers, image_run, served_run, true_but_for

BLANKET = "Is the person interacting with a blanket before standing up?"
BLANKET_ID = "A-13"  # the same, as it is asked
CHAIN = {BLANKET: "no", "Does a blanket exist before standing up?": "no", "Does a blanket exist?": "no"}
CLASH = {"Does a blanket exist?": "no"}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Two videos; one model is always right, two are wrong about a blanket, one says what a page must not believe."""
    run = served_run(tmp_path_factory.mktemp("served") / "run")
    answers(run, "true", true_but_for({}))
    answers(run, "chain", true_but_for(CHAIN))
    answers(run, "clash", true_but_for(CLASH))
    answers(run, "script", lambda text, answer: SCRIPT if text == BLANKET else None if "exist" in text else answer)
    return run


@pytest.fixture(scope="module")
def site(run: Run) -> Site:
    return Site.read(run)


@pytest.fixture(scope="module")
def own(site: Site) -> Collection:
    return site.first


def test_a_node_is_said_as_its_shard_is(run: Run, own: Collection) -> None:
    view = own.view
    assert isinstance(view, VideoView)
    for name in view.shards():
        shard = view.open(name)
        assert shard.forms is not None
        said = view.said(shard)
        assert [each.row for each in said] == say(shard.forms, shard.nodes, view.texts).drop("video").to_dicts()
        assert ["".join(text for _, text in each.pieces) for each in said] == [each.row["text"] for each in said]


@pytest.fixture(scope="module")
def client(site: Site) -> TestClient:
    return TestClient(application(site), base_url="http://127.0.0.1:8000")


@pytest.fixture(scope="module")
def asked(run: Run) -> list[Question]:
    """Every question, read one by one, by video and number."""
    bank = Bank(run)
    found = [question for folder in bank.folders() for question in bank.shard(folder)]
    return sorted(found, key=lambda question: (question.video, question.row["number"]))


def ids(page: str) -> list[str]:
    """The questions a page lists."""
    return re.findall(r'class="text"><a href="/questions/([^"?]+)', page)


def count(page: str) -> int:
    found = re.search(r'class="count"><b>([\d,]+)</b>', page)
    assert found
    return int(found[1].replace(",", ""))


def found(own: Collection, **wanted: str) -> list[str]:
    rows = own.filters.find(wanted)
    assert rows.faults == []
    return [own.questions.question(int(row)).id for row in rows.rows]


def vocabulary_of(own: Collection) -> Vocabulary:
    assert isinstance(own.view, VideoView)
    return own.view.bank.vocabulary


def test_all_questions_are_listed_by_video_and_number(client: TestClient, asked: list[Question]) -> None:
    page = client.get("/").text
    assert count(page) == len(asked)
    assert ids(page) == [question.id for question in asked[:50]]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("template", "objExists"),
        ("template", "andObjRelExists"),
        ("steps", "3"),
        ("answer", "yes"),
        ("answer", "phone"),
        ("video", "B"),
    ],
)
def test_a_filter_finds_what_a_loop_finds(own: Collection, asked: list[Question], name: str, value: str) -> None:
    of: dict[str, Callable[[Question], str]] = {
        "template": lambda question: question.template.name,
        "steps": lambda question: str(question.row["steps"]),
        "answer": lambda question: question.answer,
        "video": lambda question: question.id[0],
    }
    wanted = [question.id for question in asked if of[name](question) == value]
    assert found(own, **{name: value}) == wanted != []


def test_types_and_compositions_are_those_of_the_dag(run: Run, own: Collection) -> None:
    types: dict[str, set[str]] = {}
    compositions: dict[str, set[str]] = {}
    for folder in shards(run):
        stored = Stored.read(folder)
        for video, number, node in stored.tops.iter_rows():
            id = f"{'AB'[video]}-{number}"
            type = stored.nodes["type"][node]
            for name in {type, VIDEO_DAGS.group.get(type, type)}:
                types.setdefault(name, set()).add(id)
            for label in {label for below in stored.below(node) for label, _ in stored.edges.get(below, ())}:
                compositions.setdefault(label, set()).add(id)
    assert {name: set(found(own, type=name)) for name in types} == types
    assert {name: set(found(own, composition=name)) for name in compositions} == compositions
    assert {choice.value for choice in own.filters.choices["composition"]} == set(compositions)


def test_splits_of_videos_and_written_ones_are_filters(run: Run, own: Collection, asked: list[Question]) -> None:
    assert found(own, split="test") == [question.id for question in asked if question.id.startswith("A")]
    folder = run.folder / "splits" / "mine"
    folder.mkdir(parents=True)
    for side, row in (("train", (1, 3)), ("test", (0, 13))):
        pl.DataFrame([row], schema=["video", "number"], orient="row").cast(pl.UInt32).write_parquet(
            folder / f"{side}.parquet"
        )
    fresh = Filters(own.questions)
    assert [choice.value for choice in fresh.choices["split"]] == ["train", "test", "mine train", "mine test"]
    assert [own.questions.question(int(row)).id for row in fresh.find({"split": "mine test"}).rows] == ["A-13"]


def test_the_query_box_speaks_the_language_of_splits(run: Run, client: TestClient, own: Collection) -> None:
    text = 'has(before, action="standing up") & steps > 2 & ~answer("no")'
    predicate, bank = read(text, of_videos(vocabulary_of(own))), Bank(run)
    wanted = set()
    for folder in bank.folders():
        shard = bank.shard(folder)
        wanted |= {shard.question(int(at)).id for at in predicate.holds(video_rows(shard)).nonzero()[0]}
    assert set(found(own, query=text)) == wanted
    assert BLANKET_ID in wanted
    assert count(client.get("/", params={"query": text}).text) == len(wanted)


@pytest.mark.parametrize(
    ("params", "says"),
    [
        ({"query": "has(befor)"}, "no operator 'befor'"),
        ({"query": "(" * 1500}, "nested too deeply"),
        ({"query": "more_steps"}, "`questree split`"),
        ({"template": "objGone"}, "no template 'objGone'"),
        ({"steps": "many"}, "no steps 'many'"),
        ({"video": "Z"}, "no video 'Z'"),
        ({"model": "nobody"}, "no model 'nobody'; choose from chain, clash, script, true"),
        ({"verdict": "wrong"}, "of which model? There are chain"),
        ({"rule": "And Yes"}, "of which model?"),
        ({"colour": "red"}, "no filter 'colour'"),
    ],
)
def test_what_is_wrong_with_a_filter_is_said(client: TestClient, params: dict[str, str], says: str) -> None:
    answer = client.get("/", params=params)
    assert answer.status_code == 400
    assert says in html.unescape(answer.text)
    assert ids(answer.text) == []
    assert client.get("/", params=params, headers={"HX-Request": "true"}).status_code == 200


def test_all_faults_are_said_at_once(client: TestClient) -> None:
    page = html.unescape(client.get("/", params={"template": "x", "steps": "y"}).text)
    assert "no template 'x'" in page
    assert "no steps 'y'" in page


@pytest.mark.parametrize(
    ("words", "regex"),
    [
        ("blanket", r"\bblanket"),
        ("STAND  blank", r"\bstand.*\bblank|\bblank.*\bstand"),
        ('"a blanket before"', r"\ba blanket before"),
        ('blanket "standing up', r"\bblanket.*\bstanding up|\bstanding up.*\bblanket"),
        ("lanket", r"\blanket"),
    ],
)
def test_words_find_what_a_loop_over_texts_finds(
    own: Collection, asked: list[Question], words: str, regex: str
) -> None:
    wanted = [question.id for question in asked if re.search(regex, question.text.lower())]
    assert found(own, words=words) == wanted
    assert bool(wanted) == (words != "lanket")


@pytest.mark.parametrize("sort", ["question", "answer", "template", "steps", "model chain", "model script"])
def test_the_list_is_sorted_by_any_column_both_ways(
    client: TestClient, own: Collection, asked: list[Question], sort: str
) -> None:
    judged = own.questions.models[sort.partition(" ")[2]].judgement if " " in sort else None
    row = {question.id: at for at, question in enumerate(asked)}

    def key(question: Question) -> Any:
        if judged is not None:
            at = row[question.id]
            return int(judged.right[at]), (own.questions.word(int(judged.said[at])) or "").lower()
        plain = {"question": question.text.lower(), "answer": question.answer, "template": question.template.name}
        return question.row["steps"] if sort == "steps" else plain[sort].lower()

    few = [question for question in asked if "blanket" in question.text]
    for down in (False, True):
        wanted = sorted(few, key=key, reverse=down)  # equal ones stay in their order, both ways
        page = client.get("/", params={"words": "blanket", "sort": "-" * down + sort}).text
        assert ids(page) == [question.id for question in wanted[:50]]
    middle = client.get(f"/questions/{wanted[1].id}", params={"words": "blanket", "sort": "-" + sort}).text
    before, after = (re.search(rf'rel="{rel}" href="/questions/([^?]+)', middle) for rel in ("prev", "next"))
    assert before and after and [before[1], after[1]] == [wanted[0].id, wanted[2].id]


def test_the_list_is_a_file_too(client: TestClient, own: Collection, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("questree.show.page.download.CHUNK", 7)  # several pieces
    asked = {"words": "blanket", "sort": "-steps", "model": "script", "template": "objExists"}
    shown, rows = ids(client.get("/", params=asked).text), client.get("/list/video.jsonl", params=asked)
    lines = [json.loads(line) for line in rows.text.splitlines()]
    assert [line["id"] for line in lines] == shown and len(shown) > 7
    table = pl.read_csv(client.get("/list/video.csv", params=asked).content)
    assert table.to_dicts() == lines
    for line in lines:
        row = own.questions.find(line["id"])
        assert row is not None
        posed, judged = own.questions.question(row), own.questions.models["script"].judgement
        assert (line["question"], line["answer"], line["video"]) == (posed.text, posed.answer, posed.id[0])
        assert line["script says"] == own.questions.word(int(judged.said[row]))
        assert line["script right"] == {1: True, 0: False, -1: None}[int(judged.right[row])]
    assert client.get("/list/video.csv?query=has(befor").status_code == 400
    assert "choose from csv, jsonl" in client.get("/list/video.xlsx").text


def test_an_empty_result_names_the_filter_that_excludes_most(client: TestClient, own: Collection) -> None:
    page = client.get("/?words=blanket&template=objExists&answer=phone").text
    count = len(own.filters.find({"words": "blanket", "template": "objExists"}).rows)
    way = '<a href="/?words=blanket&amp;template=objExists">without it</a>'
    assert f"answer: phone</b> excludes most: {way} there are {count}." in page
    page = client.get("/?words=zebra&answer=phone&template=objExists").text
    assert "None has <b>words: zebra</b>" in page
    page = client.get("/", params={"words": 'blanket zebra "standing up"'}).text  # a word is named, not all of them
    assert 'words: zebra</b> excludes most: <a href="/?words=blanket+%22standing+up%22">without it</a>' in page
    wanted = {
        "template": "objExists",
        "answer": "bag",
        "video": "A",
        "split": "train",
    }  # two pairs without a match
    few = {name: len(own.filters.find({name: value}).rows) for name, value in wanted.items()}
    name = min(few, key=lambda name: few[name])
    page = client.get("/", params=wanted).text
    assert f"No filter alone is to blame; fewest have <b>{name}: {wanted[name]}</b>" in page
    assert f"alone</a> finds {few[name]}." in page


def test_the_chart_by_steps_has_n_and_an_interval_around_each_share(client: TestClient, own: Collection) -> None:
    found = re.search(r'data-plot="numbers"[^>]*data-points="([^"]*)"', client.get("/?model=chain").text)
    assert found
    points = json.loads(html.unescape(html.unescape(found[1])))
    steps, right = own.questions.columns["steps"], own.questions.models["chain"].judgement.right
    for point in points:
        own_rows = steps == point["number"]
        assert point["n"] == int(own_rows.sum())
        assert point["right"] == pytest.approx((right[own_rows] == 1).mean())
        assert point["low"] - 1e-9 <= point["right"] <= point["high"] + 1e-9


def test_verdicts_and_contradictions_are_those_of_each_dag(own: Collection, asked: list[Question]) -> None:
    """Question by question, from the answers to its own DAG."""
    right, lucky, clashing, rules = set(), set(), set(), set()
    some = [*range(0, len(asked), 40), *(own.questions.find(id) or 0 for id in ("A-13", "A-15", "A-0"))]
    for at in some:
        shown = Shown.of(own, at)
        assert shown.one
        each = judged(shown.dag, shown.one, "clash", shown.said["clash"])
        scored_wrong = [r is False and node["scored"] for r, node in zip(each.right, shown.nodes, strict=True)][1:]
        if each.right[0]:
            right.add(at)
            lucky |= {at} if any(scored_wrong) else set()
        clashing |= {at} if each.broken else set()
        rules |= {at} if any(one.rule == "Interaction Yes" for one in each.broken) else set()

    def among(**wanted: str) -> set[int]:
        return set(own.filters.find({"model": "clash", **wanted}).rows.tolist()) & set(some)

    assert among(verdict="right") == right
    assert among(verdict="right for the wrong reasons") == lucky != set()
    assert among(contradiction="yes") == clashing != set()
    assert among(contradiction="no") == set(some) - clashing
    assert among(rule="Interaction Yes") == rules != set()


def test_the_true_model_is_right_and_never_contradicts_itself(own: Collection, asked: list[Question]) -> None:
    assert len(found(own, model="true", verdict="right")) == len(asked)
    assert found(own, model="true", contradiction="yes") == []
    assert BLANKET_ID in found(own, model="true", verdict="right", other="chain", other_verdict="wrong")
    assert BLANKET_ID in found(own, model="script", verdict="wrong")


def test_pages_follow_each_other(client: TestClient, asked: list[Question]) -> None:
    second = client.get("/", params={"page": "2"}).text
    assert ids(second) == [question.id for question in asked[50:100]]
    assert "51–100 of" in second
    last = client.get("/", params={"page": "999"}).text
    assert ids(last)[-1] == asked[-1].id
    assert ids(client.get("/", params={"page": "-3x"}).text) == [question.id for question in asked[:50]]


def graph(page: str) -> dict[str, Any]:
    found = re.search(r'data-graph="([^"]*)"', page)
    assert found
    value: dict[str, Any] = json.loads(html.unescape(found[1]))
    return value


def cards(page: str) -> list[str]:
    """The text of every node, by number."""
    pattern = r'data-node="(\d+)">\s*<span class="via"></span>.*?<span class="text">(.*?)</span>\s*<span class="row">'
    blocks = sorted((int(number), block) for number, block in re.findall(pattern, page, re.S))
    return [html.unescape(re.sub("<[^>]*>", "", block)) for _, block in blocks]


def test_a_question_shows_its_dag_and_the_way_of_an_error(client: TestClient) -> None:
    page = client.get(f"/questions/{BLANKET_ID}?show=chain").text
    texts, drawn = cards(page), graph(page)
    assert texts[0] == BLANKET
    error = {(texts[a], texts[b]) for a, b in drawn["models"]["chain"]["error"]}
    exists_before = "Does a blanket exist before standing up?"
    assert error == {(BLANKET, exists_before), (exists_before, "Does a blanket exist?")}
    assert "The error begins at “Does a blanket exist?” (“no” instead of “yes”)" in html.unescape(page)
    assert drawn["models"]["true"] == {"right": [True] * len(texts), "error": [], "contradiction": []}


def test_a_contradiction_names_the_rule_and_both_answers(client: TestClient) -> None:
    page = client.get(f"/questions/{BLANKET_ID}?show=clash").text
    texts, drawn = cards(page), graph(page)["models"]["clash"]
    clashes = {(texts[a], texts[b]) for a, b in drawn["contradiction"]}
    assert clashes == {
        ("Is the person interacting with a blanket?", "Does a blanket exist?"),
        ("Does a blanket exist before standing up?", "Does a blanket exist?"),
    }
    assert drawn["right"][0] is True
    assert "Interaction Yes, Interaction No" in page
    assert "a yes needs every sub-question to be yes" in page


def test_a_question_says_why_its_answers_are_known_and_which_frames_show_it(client: TestClient) -> None:
    page = client.get(f"/questions/{BLANKET_ID}").text
    assert "its program was executed on the facts" in page
    frames = dict(zip(cards(page), graph(page)["lit"], strict=True))
    assert frames["Does a blanket exist?"] == {"decides": [0, 1, 2, 3], "reference": [], "time": []}
    assert frames["Is the person standing up?"] == {"decides": [6, 7, 8, 9], "reference": [], "time": []}
    assert frames[BLANKET] == {"decides": [0, 1, 2, 3], "reference": [], "time": [0, 1, 2, 3, 4, 5, 6]}
    assert '<text class="label action"' in page
    assert "holding blanket" in page


def test_words_are_coloured_by_what_they_name(client: TestClient) -> None:
    page = client.get(f"/questions/{BLANKET_ID}").text
    heading = re.search(r"<h1>(.*?)</h1>", page)
    assert heading
    assert heading[1] == (
        'Was the person interacting with <span class="object">a blanket</span> '
        '<span class="time">before </span><span class="action">standing up</span>?'
    )


def test_what_a_model_says_is_text_and_never_markup(client: TestClient) -> None:
    for page in (
        client.get(f"/questions/{BLANKET_ID}").text,
        client.get("/", params={"model": "script", "verdict": "wrong"}).text,
    ):
        assert SCRIPT not in page
        assert html.escape(SCRIPT) in page


def test_the_next_question_is_the_next_that_was_found(client: TestClient, own: Collection) -> None:
    ways = {"template": "objExists", "answer": "yes"}
    here = found(own, **ways)
    page = html.unescape(client.get(f"/questions/{here[1]}", params=ways).text)
    assert f'rel="prev" href="/questions/{here[0]}?template=objExists&answer=yes"' in page
    assert f'rel="next" href="/questions/{here[2]}?template=objExists&answer=yes"' in page
    assert 'rel="prev"' not in client.get(f"/questions/{here[0]}", params=ways).text


@pytest.mark.parametrize(
    ("address", "says"),
    [
        ("/questions/A-99999", "no question 'A-99999' among the"),
        ("/questions/nonsense", "no question 'nonsense'"),
        ("/questions/" + quote("<script>alert(2)</script>-1"), "no question '<script>alert(2)</script>-1'"),
        ("/questions/A-13?show=nobody", "no predictions of a model 'nobody'; choose from chain"),
        ("/questions/A-13/frames/10", "no frame 10; video A has 10"),
        ("/compare?a=true&b=nobody", "no predictions of a model 'nobody'"),
        ("/images", "no questions about sets of images"),
        ("/images/x", "no question 'x'"),
        ("/media/A/0", "no picture"),
        ("/elsewhere", "Not Found"),
    ],
)
def test_an_address_that_leads_nowhere_says_so(client: TestClient, address: str, says: str) -> None:
    answer = client.get(address)
    assert answer.status_code == 404
    assert says in html.unescape(answer.text)
    assert "<script>alert" not in answer.text
    assert "Back to all questions" in answer.text


def test_a_frame_shows_boxes_and_what_holds(client: TestClient) -> None:
    page = client.get(f"/questions/{BLANKET_ID}/frames/1").text
    boxes = re.findall(r'<g class="(\w+)".*?<text[^>]*>([^<]*)</text>', page)
    assert boxes == [("other", "bag"), ("person", "person"), ("mentioned", "blanket")]
    assert "frame 2 of 10 · no. 60 · 2.0 s" in " ".join(page.split())
    assert 'class="mentioned">holding blanket' in page


def test_real_frames_are_shown_from_the_media_folder_and_nothing_else(run: Run, site: Site, tmp_path: Path) -> None:
    media = tmp_path / "media"
    (media / "A").mkdir(parents=True)
    (media / "A" / "000060.png").write_bytes(b"picture")
    (tmp_path / "secret.png").write_bytes(b"secret")
    (media / "A" / "120.png").symlink_to(tmp_path / "secret.png")
    (media / "3.png").write_bytes(b"of no video")
    with_media = Site(run, site.collections, media)
    client = TestClient(application(with_media), base_url="http://127.0.0.1:8000")
    assert '<image href="/media/A/60"' in client.get(f"/questions/{BLANKET_ID}/frames/1").text
    assert "<image" not in client.get(f"/questions/{BLANKET_ID}/frames/2").text
    picture = client.get("/media/A/60")
    assert (picture.content, picture.headers["content-type"]) == (b"picture", "image/png")
    for wrong in ("/media/A/120", "/media/B/60", "/media/%2e%2e/60", "/media/./3", "/media/A%2f..%2f..%2fsecret/60"):
        assert client.get(wrong).status_code == 404


def test_films_are_sent_in_pieces_from_the_media_folder_and_nothing_else(run: Run, site: Site, tmp_path: Path) -> None:
    media = tmp_path / "media"
    media.mkdir()
    (media / "A.webm").write_bytes(bytes(range(200)))
    (tmp_path / "secret.mp4").write_bytes(b"secret")
    (media / "B.mp4").symlink_to(tmp_path / "secret.mp4")
    (media / "other.mp4").write_bytes(b"of no video")
    client = TestClient(application(Site(run, site.collections, media)), base_url="http://127.0.0.1:8000")
    piece = client.get("/films/A", headers={"range": "bytes=100-109"})
    assert (piece.status_code, piece.content) == (206, bytes(range(100, 110)))
    assert piece.headers["content-type"] == "video/webm"
    assert piece.headers["content-range"] == "bytes 100-109/200"
    assert 'src="/films/A"' in client.get(f"/questions/{BLANKET_ID}").text
    assert [client.get(f"/films/{name}").status_code for name in ("B", "other", "../secret")] == [404, 404, 404]
    assert "<video" not in client.get("/questions/B-0").text


def test_comparing_shows_scores_of_both_and_leads_to_examples(run: Run, own: Collection) -> None:
    client = TestClient(application(Site.read(run)), base_url="http://127.0.0.1:8000")  # tests before may have written
    waiting = client.get("/compare?a=true&b=chain").text
    assert f"Scoring true and chain on {len(own.questions):,} questions" in waiting
    page = client.get("/compare?a=true&b=chain&now=yes").text
    assert client.get("/compare?a=true&b=chain").text == page
    scores = {(row.metric, row.by, row.group): row for row in own.comparing.differences("true", "chain")}
    for metric, title in (("question accuracy", "question accuracy"), ("accuracy", "accuracy (mean over answers)")):
        overall = scores[metric, "type", "Overall"]
        assert overall.a == 1.0
        assert overall.b is not None
        assert f"{100 * overall.b:.1f} %" in page and page.count(f'class="metric">{title}</th>') == 1
    links = re.findall(r'<a href="(/\?model=true[^"]*)">([\d,]+)</a>', page)
    every = next(html.unescape(link) for link, _ in links if "type" not in link and "composition" not in link)
    listed = client.get(every)
    assert listed.status_code == 200
    assert count(listed.text) == len(found(own, model="true", verdict="right", other="chain", other_verdict="wrong"))
    assert '"differs": ' in html.unescape(page)


def test_a_metric_of_a_plugin_is_compared_too(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, by in (("no share", "type"), ("all no", "")):
        metric = Metric(name, "share of no", lambda table: table["prediction"] == "no", by=by)
        monkeypatch.setitem(METRICS, name, metric)
    client = TestClient(application(Site.read(run)), base_url="http://127.0.0.1:8000")
    page = client.get("/compare?a=true&b=chain&now=yes").text
    assert page.count('class="metric">no share</th>') == page.count('class="metric">all no</th>') == 1
    assert "Over all questions" in page


def test_scores_compared_are_those_of_the_command(run: Run, own: Collection, tmp_path: Path) -> None:
    out = tmp_path / "compared.json"
    options = ["--run", str(run.folder), "--missing", "wrong", "--json", str(out), "--quiet"]
    command(["compare", "true", "clash", *options], exit_on_error=False, result_action="return_none")
    told = {(row["metric"], row["by"], row["group"]): row for row in json.loads(out.read_text())}
    found = own.comparing.differences("true", "clash")
    assert len(found) > 50
    for row in found:
        assert msgspec.to_builtins(row) == told[row.metric, row.by, row.group]


def test_predictions_of_other_nodes_are_refused_on_a_page_that_says_so(run: Run, tmp_path: Path) -> None:
    changed = Run(tmp_path / "changed")
    shutil.copytree(run.folder, changed.folder)
    client = TestClient(application(Site.read(changed)), "http://127.0.0.1:8000", raise_server_exceptions=False)
    (changed.predictions / "chain" / "plan.json").write_text('{"options": {}, "nodes": "others"}')
    answer = client.get("/compare?a=true&b=chain", headers={"HX-Request": "true"})
    assert answer.status_code == 409
    assert "answers to other nodes than the run has now" in answer.text
    assert '<section id="differences">' in answer.text
    shutil.rmtree(changed.decomposed)
    assert client.get(f"/questions/{BLANKET_ID}").status_code in (409, 500)


def test_only_our_own_names_are_answered(client: TestClient) -> None:
    assert client.get("/", headers={"Host": "evil.example:8000"}).status_code == 400
    assert client.get("/", headers={"Host": "localhost:8000"}).status_code == 200
    assert trusted("[::1]:8000", "127.0.0.1")
    assert trusted("192.168.0.7:8000", "0.0.0.0")
    assert not trusted("192.168.0.7:8000", "127.0.0.1")
    assert not trusted("evil.example", "0.0.0.0")
    assert trusted("my.machine:80", "my.machine")


def test_every_answer_keeps_scripts_and_frames_at_home(client: TestClient) -> None:
    for address in ("/", "/questions/nonsense", "/assets/page.css"):
        headers = client.get(address).headers
        assert headers["content-security-policy"].startswith("default-src 'self'; style-src 'self'")
        assert "unsafe" not in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["x-frame-options"] == "DENY"
    assert client.post("/").status_code == 405


def test_pages_have_no_inline_scripts_and_name_no_other_place(client: TestClient) -> None:
    for address in ("/", f"/questions/{BLANKET_ID}", "/compare"):
        page = client.get(address).text
        assert not re.search(r"<script(?![^>]*\bsrc=)", page)
        assert not re.search(r"\son\w+=|\sstyle=|https?://", page)
        for asset in re.findall(r'(?:src|href)="(/(?:assets/|colours)[^"]*)"', page):
            assert client.get(asset).status_code == 200


def test_every_vendored_script_has_its_licence() -> None:
    import questree.show.page

    folder = Path(questree.show.page.__file__).parent / "assets" / "vendor"
    table, texts = (folder / "README.md").read_text("utf-8"), (folder / "LICENCES.txt").read_text("utf-8")
    scripts = sorted(folder.glob("*.js"))
    assert len(scripts) == 4
    for script in scripts:
        (package,) = re.findall(rf"`{re.escape(script.name)}` \| (\S+)", table)
        assert f"==== {package} ====" in texts


def test_questions_that_are_not_decomposed_are_shown_all_the_same(run: Run, tmp_path: Path) -> None:
    plain = Run(tmp_path / "plain")
    plain.folder.mkdir()
    for name in ("vocabulary.toml", "facts", "raw", "questions"):
        (plain.folder / name).symlink_to(run.folder / name)
    site = Site.read(plain)
    client = TestClient(application(site), base_url="http://127.0.0.1:8000")
    assert "not taken apart" in client.get("/").text
    assert "no filter 'type'" in html.unescape(client.get("/?type=Choose").text)
    assert cards(client.get(f"/questions/{BLANKET_ID}").text)[0] == BLANKET
    assert "Two models are compared" in client.get("/compare").text


@pytest.fixture(scope="module")
def pictures(tmp_path_factory: pytest.TempPathFactory) -> TestClient:
    run = image_run(tmp_path_factory.mktemp("pictures") / "run")
    return TestClient(application(Site.read(run)), base_url="http://127.0.0.1:8000")


def test_a_run_of_image_sets_opens_with_them(pictures: TestClient) -> None:
    page = pictures.get("/").text
    assert page.count('class="text"') == 2
    assert "There is a black dog &amp; more" in re.sub("</?span[^>]*>", "", page)  # words are coloured
    assert pictures.get("/images?words=BLACK").text.count('class="text"') == 1
    assert pictures.get("/images?template=COUNT&split=train").text.count('class="text"') == 1
    assert "no template 'X'; choose from" in html.unescape(pictures.get("/images?template=X").text)
    assert pictures.get("/questions/A-0").status_code == 404


def test_images_stand_side_by_side_with_what_each_part_picks_out(pictures: TestClient) -> None:
    page = pictures.get("/images/q/2").text
    assert re.findall(r'data-part="(\d)"><i[^>]*></i><code>([^<]*)</code>', page) == [
        ("0", "filter(find(dog), black)"),
        ("1", "find(dog)"),
    ]
    boxes = re.findall(r'<g class="(\w+)" data-parts="([\d ]*)"><title>.*?<text[^>]*>([^<]*)</text>', page)
    assert boxes == [("other", "", "floor"), ("mentioned", "0 1", "black dog"), ("other", "", "red car")]
    assert page.count('class="apart-from-it"') == 1
    both = pictures.get("/images/q%2F1").text
    assert "also there: &lt;b&gt;cat&lt;/b&gt;" in both
    assert len(re.findall('class="picture"', both)) == 3


@pytest.fixture(scope="module")
def rooms(tmp_path_factory: pytest.TempPathFactory) -> Site:
    """Rooms with cups, decomposed, and two models: one is always right, one thinks that there is no dog."""
    run = asked_rooms(tmp_path_factory.mktemp("rooms") / "run")
    decompose_run(run, default_words(), every=True, workers=1)
    nodes = spoken_nodes(run)
    for model, wrong in (("true", {}), ("no-dog", {"exists(find(dog))": "no"})):
        said = [wrong.get(program, answer) for program, answer in nodes.select("program", "answer").iter_rows()]
        known = list(dict.fromkeys(word for word in said if word is not None))
        (folder := run.predictions / model / shard_name(0)).mkdir(parents=True)
        number = [NOTHING if word is None else known.index(word) for word in said]
        write_shard(folder, np.array(number, np.int32))
        write_words(run.predictions / model, known)
    return Site.read(run)


def test_sets_of_images_have_dags_models_and_contradictions(rooms: Site) -> None:
    own, client = rooms.first, TestClient(application(rooms), base_url="http://127.0.0.1:8000")
    assert found(own, model="true", contradiction="yes") == []
    assert len(found(own, model="true", verdict="right")) == len(own.questions)
    clashing = found(own, model="no-dog", contradiction="yes")
    assert clashing and set(clashing) < set(found(own, composition="And")) | set(found(own, composition="Or")) | set(
        found(own, composition="Positive")
    ) | set(found(own, composition="Modifier")) | set(found(own, composition="Unique"))
    both = 'has(logic_and) & answer("yes")'
    id = found(own, query=both, model="no-dog", contradiction="yes")[0]
    page = client.get(f"/images/{id}?show=no-dog").text
    texts, drawn = cards(page), graph(page)
    dog = next(text for text in texts[1:] if "dog" in text)
    assert (texts[0], dog) in {(texts[a], texts[b]) for a, b in drawn["models"]["no-dog"]["contradiction"]}
    assert drawn["models"]["no-dog"]["right"][texts.index(dog)] is False
    assert "no-dog contradicts itself here" in page and "Right for the wrong reasons" in page
    assert drawn["lit"][texts.index(dog)]["decides"] != []
    listed = client.get("/images", params={"model": "no-dog", "verdict": "right for the wrong reasons"})
    assert listed.status_code == 200 and f"/images/{id}" in listed.text


def test_sets_of_images_are_found_sorted_saved_and_turned_like_videos(rooms: Site) -> None:
    own, client = rooms.first, TestClient(application(rooms), base_url="http://127.0.0.1:8000")
    rows = [own.questions.question(at) for at in range(len(own.questions))]
    wanted = [row for row in rows if re.search(r"\bdog", row.text.lower())]
    assert found(own, words="dog") == [row.id for row in wanted] != []
    asked = {"words": "dog", "sort": "-images"}
    listed = sorted(wanted, key=lambda row: len(row.stored["images"]), reverse=True)
    lines = [json.loads(line) for line in client.get("/list/image.jsonl", params=asked).text.splitlines()]
    assert [line["id"] for line in lines] == [row.id for row in listed]
    names = own.view.facts.images["id"]  # type: ignore[attr-defined]
    for line, row in zip(lines, listed, strict=True):
        assert line["image"].split() == [names[at] for at in row.stored["images"]]
        assert (line["question"], line["true says"], line["true right"]) == (row.text, row.answer, True)
    page = client.get(f"/images/{listed[1].id}", params=asked).text
    assert f'rel="next" href="/images/{listed[2].id}?' in page and f'rel="prev" href="/images/{listed[0].id}?' in page
    assert "COVR&#39;s notation" in page


def test_a_question_leads_to_its_twin(client: TestClient, own: Collection, asked: list[Question], rooms: Site) -> None:
    pictures = TestClient(application(rooms), base_url="http://127.0.0.1:8000")
    every = rooms.first.view.every  # type: ignore[attr-defined]
    paired = every.filter(pl.len().over("pair", "question") > 1)
    first = paired.row(0, named=True)
    others = paired.filter(pair=first["pair"], question=first["question"])["id"].to_list()[1:]
    page = pictures.get(f"/images/{first['id']}").text
    twins = re.findall(r'class="twin"><small>the same words, other images</small> <a href="/images/([^"]*)"', page)
    assert twins == others

    def same(question: Question) -> list[int]:
        named = ["video", "template", "relation", "x", "y", *["time"] * ("{time}" in question.template.local)]
        return [question.row[name] for name in named]

    plain = [each for each in asked if not each.row["flags"] & INDIRECT]
    pairs = ((each, other) for each in asked if each not in plain for other in plain if same(other) == same(each))
    one, direct = next(pairs)  # the first of the video
    page = client.get(f"/questions/{one.id}").text
    told = '<p class="twin"><small>the same, nothing referred to</small> <a href="/questions/'
    twin = page.split(told)[1].split('"')[0]
    assert (twin, direct.answer) == (direct.id, one.answer)
    assert 'class="twin"' not in client.get(f"/questions/{twin}").text


def test_models_are_compared_on_sets_of_images(rooms: Site) -> None:
    client = TestClient(application(rooms), base_url="http://127.0.0.1:8000")
    page = client.get("/compare", params={"a": "true", "b": "no-dog"}, follow_redirects=True).text
    assert 'action="/compare/images"' in page
    page = client.get("/compare/images?a=true&b=no-dog&now=yes").text
    overall = next(
        row
        for row in rooms.first.comparing.differences("true", "no-dog")
        if (row.metric, row.group) == ("IC", "Exists")
    )
    assert overall.a == 1.0 and overall.b is not None and overall.b < 1
    assert f"{100 * overall.b:.1f} %" in page


def test_real_images_are_shown_from_the_media_folder_and_nothing_else(rooms: Site, tmp_path: Path) -> None:
    view = rooms.first.view
    assert isinstance(view, ImageView)
    media, first = tmp_path / "media", view.every["images"][0][0]
    media.mkdir()
    id = view.facts.images["id"][first]
    (media / f"{id}.png").write_bytes(b"picture")
    (media / "stranger.png").write_bytes(b"of no image")
    client = TestClient(application(Site(rooms.run, rooms.collections, media)), base_url="http://127.0.0.1:8000")
    assert f'<image href="/pictures/{id}"' in client.get(f"/images/{view.every['id'][0]}").text
    assert client.get(f"/pictures/{id}").content == b"picture"
    for wrong in ("/pictures/stranger", "/pictures/%2e%2e/media/" + id):
        assert client.get(wrong).status_code == 404
    bare = TestClient(application(rooms), base_url="http://127.0.0.1:8000")
    assert "<image" not in bare.get(f"/images/{view.every['id'][0]}").text


def test_what_cannot_be_served_is_said_in_one_line(run: Run, tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="no such folder of frames"):
        Site.read(run, tmp_path / "nowhere")
    empty = Run(tmp_path / "empty")
    empty.folder.mkdir()
    empty.vocabulary_file.symlink_to(run.vocabulary_file)
    with pytest.raises(BadInput, match="no questions to look at"):
        Site.read(empty)
    with pytest.raises(BadInput, match="not a run folder"):
        Site.read(Run(tmp_path / "nowhere"))
    (tmp_path / "images" / "images").mkdir(parents=True)
    with pytest.raises(BadInput, match="no questions to look at"):
        Site.read(Run(tmp_path / "images"))


def test_a_port_in_use_is_said_in_one_line(run: Run) -> None:
    with bound("127.0.0.1", 0) as place:
        port = place.getsockname()[1]
        with pytest.raises(BadInput) as bad:
            command(["serve", str(run.folder), "--port", str(port)], exit_on_error=False)
    assert str(bad.value).startswith(f"127.0.0.1:{port}: cannot be listened on (Address already in use)")
    with pytest.raises(BadInput, match="expected a port from 0 to 65535"):
        bound("127.0.0.1", 70000)
    with pytest.raises(BadInput, match="cannot be listened on"):
        bound("nowhere.invalid", 0)


def test_the_commands_of_the_page_work_and_serving_ends_cleanly(run: Run, tmp_path: Path) -> None:
    shutil.copytree(run.folder, tmp_path / "run", ignore=shutil.ignore_patterns("predictions", "splits"))
    *answering, serving = commands("docs/look.md")
    for line in answering:
        options = line.replace("RUN", str(tmp_path / "run")).split()[1:]
        command([*options, "--quiet"], exit_on_error=False, result_action="return_none")
    served = [*serving.replace("RUN", str(tmp_path / "run")).split(), "--port", "0"]
    process = subprocess.Popen(
        [sys.executable, "-m", *served], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout
    found = re.search(r"is served at (http://127\.0\.0\.1:\d+/) \(Ctrl-C ends it\)", process.stdout.readline())
    assert found
    page = httpx2.get(found[1])
    assert page.status_code == 200
    assert "<option >composition</option>" in page.text
    process.send_signal(signal.SIGINT)
    out, errors = process.communicate(timeout=20)
    assert (process.returncode, out, errors) == (0, "stopped\n", "")


def test_scripts_are_kept_for_good_pages_never_and_texts_are_compressed(client: TestClient) -> None:
    page = client.get("/")
    assert (page.headers["cache-control"], page.headers["content-encoding"]) == ("no-store", "gzip")
    found = set(re.findall(r'(?:src|href)="(/(?:assets/|colours)[^"]*)"', page.text))
    for at in found - {"/colours.css"}:
        assert client.get(at).headers["cache-control"] == "public, max-age=31536000, immutable"
    assert client.get("/colours.css").headers["cache-control"] == "no-cache"
    assert client.get(f"/assets/{'0' * 12}/page.css").headers["cache-control"] == "no-store"  # no such file
    parts = [page, *map(client.get, sorted(found))]
    assert sum(len(gzip.compress(part.content, 6)) for part in parts) < 250_000
    assert all("gzip" in part.headers.get("content-encoding", "") for part in parts if len(part.content) > 500)
