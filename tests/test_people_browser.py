"""Three people side by side in a real browser: every task to the end with keys, on a phone, with a server that dies."""

import json
import os
import re
import shutil
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import polars as pl
import pytest
import uvicorn
from playwright.sync_api import Browser, Page, expect

from questree.api import people_results
from questree.people.book import Book, Item
from questree.people.desk import Desk
from questree.people.page import application
from questree.people.results import Answered, Rule
from questree.show.page.serving import bound, shown_address
from questree.tables.run import Run
from test_browser import browser as browser
from test_browser import film
from worlds.access import findings, is_wide
from worlds.asked_people import asked, copied
from worlds.commands import questree

ITEMS = int(os.environ.get("QUESTREE_PEOPLE_ITEMS", "3"))  # of each task; 60 take some minutes
PEOPLE = ("Ann", "Ben", "Cyd")
SOON = 0.26  # seconds before the page takes an answer


@contextmanager
def serving(run: Run, port: int = 0, media: Path | None = None) -> Iterator[str]:
    with bound("127.0.0.1", port) as place:
        server = uvicorn.Server(uvicorn.Config(application(Desk(run, media)), log_level="error", lifespan="off"))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [place]}, daemon=True)
        thread.start()
        while not server.started:
            time.sleep(0.01)
        yield shown_address(place)
        server.should_exit = True
        thread.join(5)


@contextmanager
def people_at(browser: Browser, run: Run, address: str, **how: object) -> Iterator[dict[str, Page]]:
    """Everybody's own browser window; nothing may go wrong in any."""
    errors: list[str] = []
    links = {one.name: f"people/{one.token}/" for one in Book.of(run).annotators()}
    pages = {}
    contexts = []
    for name in PEOPLE:
        context = browser.new_context(base_url=address, **how)  # type: ignore[arg-type]
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("console", lambda told: errors.append(told.text) if told.type == "error" else None)
        page.goto(links[name])
        pages[name] = page
    yield pages
    for context in contexts:
        context.close()
    assert errors == []


def saved(page: Page) -> int:
    return int(page.locator(".saved output").inner_text())


def reply(page: Page, task: str, item: Item, name: str) -> None:
    """By keys alone; Cyd is often of another opinion."""
    odd = name == "Cyd" and item.item % 2 == 1
    time.sleep(SOON)
    if task == "paraphrase" and item.role != "asked":
        page.keyboard.press("2" if item.truth == "different" else "1")
    elif task == "absent":
        things = [thing for thing in item.shown["objects"] if thing not in item.shown["there"]][: 1 if odd else 2]
        for thing in things:
            page.check(f'input[value="{thing}"]')
        page.keyboard.press("Enter")
    elif task == "paraphrase":
        page.keyboard.type(f"Tell me: {item.text}")
        page.keyboard.press("Enter")
    elif task == "free":
        page.keyboard.type("something else" if odd else str(item.truth))
        page.keyboard.press("Enter")
    else:
        values = [each.get_attribute("data-value") for each in page.locator("[data-value]").all()]
        wanted = values[-1] if odd else item.truth
        page.keyboard.press(str(values.index(wanted) + 1))
        if wanted == "no" and task == "verify":  # what is right instead may be typed
            page.keyboard.type("a cat")
            page.keyboard.press("Enter")


def to_the_end(pages: dict[str, Page], book: Book, task: str) -> None:
    waiting = dict(pages)
    for page in pages.values():
        page.click("text=Begin")
    idle = 0
    while idle < 2:  # what one writes, others are asked about
        idle += 1
        for name, page in waiting.items():
            if idle == 2:
                page.reload()
            if page.locator("#reply").count():
                idle = 0
                item = {one.item: one for one in book.items(task)}[int(page.locator("[name=item]").input_value())]
                before = saved(page)
                reply(page, task, item, name)
                expect(page.locator(".saved output")).to_have_text(str(before + 1))


@pytest.mark.parametrize("task", ["verify", "choose", "free", "absent", "paraphrase", "compare"])
def test_three_people_answer_a_task_to_the_end(browser: Browser, notebook: Path, tmp_path: Path, task: str) -> None:
    if task == "absent" and ITEMS > 10:  # each is about another video
        run = many_videos(tmp_path)
    else:
        run = copied(notebook, "run" if task in ("absent", "verify", "free") else "images", tmp_path)
    models = ""
    if task == "compare":
        for bot in ("oracle", "uniform"):
            assert questree("answer", run.folder, "--model", bot, "--quiet").returncode == 0
        models = "--models oracle,uniform"
    book = asked(run, f"--task {task} --sample {ITEMS} --split all --parts {models} --annotators {','.join(PEOPLE)}")
    with serving(run) as address, people_at(browser, run, address) as pages:
        to_the_end(pages, book, task)
    found = Answered.read(book, task, Rule(0))
    items = book.items(task)
    wanted = sum(1 if task == "paraphrase" and one.role != "gold" else 3 for one in items)
    assert len(found.every) == wanted
    if task == "paraphrase":
        assert len(found.paraphrases()) == sum(one.role == "asked" for one in items)
        return
    judged = [one for one in items if one.role == "asked"]
    assert len(judged) == ITEMS
    odd = sum(one.item % 2 for one in judged)
    record = people_results.agreement(run.folder, task, least_gold=0, resamples=0).record
    values = {row.metric: row.value for row in record["agreement"]}
    if task == "absent":  # Cyd leaves out one of two things
        words = len(judged[0].shown["objects"])
        assert values["unanimous"] == pytest.approx(1 - odd / (words * len(judged)))
    else:
        same = sum(one.item % 2 == 0 or one.truth == last_choice(task, one) for one in judged)
        assert values["unanimous"] == pytest.approx(same / len(judged))
        assert values["agreement"] == pytest.approx((same + (len(judged) - same) / 3) / len(judged))
        assert values["majority"] == 1.0
    if task == "verify":
        assert questree("people", "export", run.folder, "--store", "Human", "--least-gold", 0).returncode == 0
        how = ("--models", "Human", "--bots", "none", "--split", "all", "--resamples", 0, "--workers", 1)
        done = questree("report", run.folder, "--out", tmp_path / "r.html", "--csv", tmp_path / "r.csv", *how)
        assert done.returncode == 0, done.stderr
        accuracy = {"table": "decomp-type", "column": "Accuracy (mean over answers) Human"}
        rows = pl.read_csv(tmp_path / "r.csv", infer_schema=False).filter(**accuracy)
        assert rows["value"].drop_nulls().len() > 0


def many_videos(folder: Path) -> Run:
    """More than there are items: some are for gold, some have no frames."""
    for command in (f"synth --out world --videos {ITEMS + 20}", "build world --out run"):
        done = questree(*command.split(), "--quiet", folder=folder)
        assert done.returncode == 0, done.stderr
    return Run(folder / "run")


def last_choice(task: str, item: Item) -> str:
    return {"verify": "makes no sense", "choose": "not sure", "compare": "cannot tell"}.get(task, "")


def test_an_answer_waits_for_a_server_that_died_and_a_phone_shows_everything(
    browser: Browser, notebook: Path, tmp_path: Path
) -> None:
    run = copied(notebook, "run", tmp_path)
    book = asked(run, "--sample 3 --gold 0 --annotators Ann,Ben,Cyd")
    with bound("127.0.0.1", 0) as place:
        port = place.getsockname()[1]
    context = browser.new_context(viewport={"width": 390, "height": 800}, has_touch=True)
    page = context.new_page()
    link = next(one.token for one in book.annotators() if one.name == "Ann")
    with serving(run, port) as address:
        page.goto(f"{address}people/{link}/")
        page.click("text=Begin")
        expect(page.locator("#still")).to_have_js_property("complete", True)
        assert page.locator("#still").evaluate("one => one.naturalWidth") > 0
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        page.keyboard.press("ArrowRight")
        expect(page.locator("#still")).to_have_attribute("data-frame", "1")
        page.keyboard.press("?")
        expect(page.locator("#terms")).to_have_attribute("open", "")
        time.sleep(SOON)
        page.tap("[data-value=yes]")
        expect(page.locator(".saved output")).to_have_text("1")
        time.sleep(SOON)
        number = page.locator("[name=item]").input_value()
        page.keyboard.press("u")
        expect(page.locator(".message")).to_contain_text("answered this already")
        time.sleep(SOON)
        page.keyboard.press("3")
        expect(page.locator("[name=item]")).to_have_value(number)
    time.sleep(SOON)
    page.tap("[data-value=yes]")
    expect(page.locator("#trouble")).to_be_visible()
    assert len(Answered.read(book, "verify").every) == 1
    with serving(run, port):
        expect(page.locator(".saved output")).to_have_text("2", timeout=10_000)
        expect(page.locator("#trouble")).to_be_hidden()
        context.close()
    assert sorted(Answered.read(book, "verify").every["value"]) == ["cannot tell", "yes"]


def test_films_and_frames_have_a_timeline_and_images_can_be_enlarged(
    browser: Browser, notebook: Path, tmp_path: Path
) -> None:
    run = copied(notebook, "run", tmp_path)
    book = asked(run, "--sample 2 --gold 0 --annotators Ann,Ben,Cyd")
    with serving(run) as address, people_at(browser, run, address) as pages:
        page = pages["Ann"]
        page.click("text=Begin")
        expect(page.locator("#strip .here")).to_be_attached()
        marks = page.locator("#strip .tick").count()
        assert marks == len(json.loads(page.locator("#strip").get_attribute("data-frames") or ""))
        assert page.locator("#strip image").count() > 1
        page.keyboard.press("Space")
        played = re.compile(r"^([2-9]|\d\d)$")  # a busy machine may not see every frame
        expect(page.locator("#still")).to_have_attribute("data-frame", played, timeout=5000)
        page.keyboard.press("Space")
        here = page.locator("#still").get_attribute("data-frame")
        box = page.locator("#strip").bounding_box()
        assert box
        page.mouse.click(box["x"] + box["width"] - 1, box["y"] + 10)
        expect(page.locator("#still")).to_have_attribute("data-frame", str(marks - 1))
        assert here != str(marks - 1)
        assert f"frame {marks} of {marks}" in page.locator("#clock").inner_text()
    for video in {one.scope[0] for one in book.items("verify")}:
        film(tmp_path / "media", video, seconds=range(0, 20, 2))
    with serving(run, media=tmp_path / "media") as address, people_at(browser, run, address) as pages:
        page = pages["Ben"]
        page.click("text=Begin")
        expect(page.locator("#clock")).to_have_text("0.0 of 20.0 s")
        page.keyboard.press("ArrowRight")
        expect(page.locator("#clock")).to_have_text("1.0 of 20.0 s")
        page.keyboard.press("Space")
        expect(page.locator("#film")).to_have_js_property("paused", False)
        page.keyboard.press("Space")
        expect(page.locator("#film")).to_have_js_property("paused", True)
    images = copied(notebook, "images", tmp_path)
    asked(images, "--task choose --sample 2 --split all --annotators Ann,Ben,Cyd")
    with serving(images) as address, people_at(browser, images, address) as pages:
        page = pages["Ann"]
        page.click("text=Begin")
        expect(page.locator("[data-image]").first).to_be_visible()
        large = page.locator("[data-image][aria-pressed=true] img")
        page.keyboard.press("ArrowRight")
        expect(large).to_have_attribute("alt", re.compile("^image 1 of"))
        page.locator("[data-image]").last.click()
        expect(large).not_to_have_attribute("alt", re.compile("^image 1 of"))


def test_axe_finds_nothing_serious_on_any_page(browser: Browser, notebook: Path, tmp_path: Path) -> None:
    run = copied(notebook, "run", tmp_path)
    shutil.copytree(run.raw, run.truth)
    asked(run, "--sample 1 --gold 0 --annotators Ann,Ben,Cyd")
    asked(run, "--task absent --sample 1")
    asked(run, "--task paraphrase --sample 1")
    with serving(run) as address, people_at(browser, run, address) as pages:
        page = pages["Ann"]

        def well() -> None:
            for scheme, wide in (("light", 1280), ("dark", 390)):
                page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
                page.set_viewport_size({"width": wide, "height": 800})
                assert findings(page) == [], scheme
                assert not is_wide(page), wide

        well()
        links = [one.get_attribute("href") for one in page.locator(".tasks a").all()]
        for link in links:
            page.goto(str(link))
            well()
            page.click("text=Begin")
            page.locator("#terms summary").click()
            for legend in page.locator(".legend summary").all():
                legend.click()
            well()
        time.sleep(SOON)
        page.click("[data-value=no]")
        page.click(".save")
        expect(page.locator("h1")).to_have_text("All done")
        well()
        page.goto("/")
        well()
