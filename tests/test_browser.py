"""The page in a real browser: filter, open, follow an error, compare, turn pages; no errors, no other place asked."""

import os
import re
import threading
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import combinations, product
from pathlib import Path

import numpy as np
import pytest
import uvicorn
from playwright.sync_api import Browser, Dialog, Page, Request, Route, expect

from questree.show.cards import markup, script, style
from questree.show.judged import judged
from questree.show.page.app import application
from questree.show.page.serving import bound, shown_address
from questree.show.page.site import Site
from questree.show.tags import meet
from questree.show.video_view import VideoView
from questree.tables.run import Run
from worlds.access import findings, is_wide
from worlds.browsers import NAMES, launched, program
from worlds.drawn import measured, small_texts
from worlds.served import SCRIPT, answers, image_run, served_run, true_but_for

REQUIRED = "QUESTREE_BROWSER_REQUIRED"  # set where a missing browser is a failure
BLANKET = "Is the person interacting with a blanket before standing up?"
EXISTS_BEFORE, EXISTS = "Does a blanket exist before standing up?", "Does a blanket exist?"
BLANKET_ID = "A-13"
LARGEST_ID = "A-581"  # no question of the run has more sub-questions
BOXES = "all => all.map((one) => { const r = one.getBoundingClientRect(); return [r.left, r.top, r.right, r.bottom]; })"
expect.set_options(timeout=20_000)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    if program() is None:
        message = f"no browser found (looked for {', '.join(NAMES)})"
        if os.environ.get(REQUIRED):
            pytest.fail(message)
        pytest.skip(message)
    with launched() as started:
        yield started


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A run with questions about videos and about images."""
    folder = tmp_path_factory.mktemp("browsed") / "run"
    run = served_run(folder)
    image_run(folder)
    answers(run, "chain", true_but_for({BLANKET: "no", EXISTS_BEFORE: "no", EXISTS: "no"}))
    answers(run, "clash", true_but_for({EXISTS: "no"}))
    film(run.folder.parent / "media", "A", seconds=range(0, 20, 2))
    answers(run, "script", lambda text, answer: SCRIPT if text == BLANKET else answer)
    return run


@pytest.fixture(scope="module")
def address(served: Run) -> Iterator[str]:
    with bound("127.0.0.1", 0) as place:
        site = Site.read(served, served.folder.parent / "media")
        server = uvicorn.Server(uvicorn.Config(application(site), log_level="error", lifespan="off"))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [place]}, daemon=True)
        thread.start()
        while not server.started:
            time.sleep(0.01)
        yield shown_address(place)
        server.should_exit = True
        thread.join(5)


def film(folder: Path, video: str, seconds: Iterable[int]) -> None:
    """A grey frame every second or so, each a little lighter; none where nothing can be drawn."""
    folder.mkdir(exist_ok=True)
    try:
        from questree.draw.film import write_film
    except ImportError:
        return
    frames = ((float(at), np.full((60, 80, 4), 100 + 5 * at, np.uint8)) for at in seconds)
    write_film(folder / f"{video}.mp4", frames, 20.0)


@dataclass
class Seen:
    """What a page did that it should not."""

    errors: list[str] = field(default_factory=list)
    elsewhere: list[str] = field(default_factory=list)

    def nothing(self) -> None:
        assert self.errors == []
        assert self.elsewhere == []


@pytest.fixture
def seen() -> Seen:
    return Seen()


@pytest.fixture
def page(browser: Browser, address: str, seen: Seen) -> Iterator[Page]:
    context = browser.new_context(viewport={"width": 1440, "height": 900}, base_url=address)
    context.set_default_timeout(20_000)

    def at_home(route: Route, request: Request) -> None:
        if request.url.startswith(address):
            route.continue_()
        else:
            seen.elsewhere.append(request.url)
            route.abort()

    def dismissed(dialog: Dialog) -> None:
        seen.errors.append(f"dialog {dialog.message}")
        dialog.dismiss()

    context.route("**/*", at_home)
    found = context.new_page()
    found.on("pageerror", lambda error: seen.errors.append(str(error)))
    found.on("console", lambda told: seen.errors.append(told.text) if told.type in ("error", "warning") else None)
    found.on("dialog", dismissed)
    yield found
    context.close()


def shown(page: Page) -> str:
    return page.locator(".count b").inner_text()


def test_filters_replace_the_list_and_can_be_gone_back_from(page: Page, seen: Seen) -> None:
    page.goto("/")
    total = shown(page)
    page.select_option("select[name=template]", "objWhat")
    expect(page.locator(".count b")).not_to_have_text(total)
    assert set(page.locator(".list td.small").all_inner_texts()) == {"objWhat"}
    assert "template=objWhat" in page.url
    page.fill("input[name=query]", 'has(before, action="standing up")')
    page.press("input[name=query]", "Enter")
    page.wait_for_url("**/*query=has*")
    assert "template=objWhat" in page.url
    for text in page.locator(".list .text a").all_inner_texts():
        assert "standing up" in text
    page.go_back()
    expect(page.locator("input[name=query]")).to_have_value("")
    page.go_back()
    expect(page.locator(".count b")).to_have_text(total)
    plot = page.locator("figure.plot svg")
    expect(plot).to_be_visible()
    before = plot.get_attribute("width") or ""
    page.set_viewport_size({"width": 420, "height": 900})
    expect(plot).not_to_have_attribute("width", before)
    seen.nothing()


def test_a_query_that_is_wrong_is_told_beside_the_box(page: Page, seen: Seen) -> None:
    page.goto("/")
    page.fill("input[name=query]", "has(befor)")
    page.press("input[name=query]", "Enter")
    box, total = page.locator("input[name=query]"), shown(page)
    expect(page.locator("#fault-query")).to_contain_text("no operator 'befor'")
    expect(box).to_have_attribute("aria-invalid", "true")
    expect(page.locator(".list tbody tr")).to_have_count(50)  # the last list is still there
    assert (shown(page), "befor" in page.url) == (total, False)
    page.fill("input[name=query]", "has(before)")
    page.press("input[name=query]", "Enter")
    expect(page.locator("#fault-query")).to_have_text("")
    expect(box).to_have_attribute("aria-invalid", "false")
    expect(page.locator(".count b")).not_to_have_text(total)
    seen.nothing()


def test_words_are_found_columns_sorted_and_the_list_is_cards_on_a_phone(page: Page, seen: Seen) -> None:
    page.goto("/")
    page.fill("input[name=words]", '"a blanket before"')
    page.press("input[name=words]", "Enter")
    page.wait_for_url("**/*words=*")
    assert all("a blanket before" in text for text in page.locator(".list .text a").all_inner_texts())
    for way in ("ascending", "descending"):
        page.get_by_role("link", name="Steps").click()
        expect(page.locator("th", has_text="Steps")).to_have_attribute("aria-sort", way)
        steps = [int(each) for each in page.locator(".list td.number").all_inner_texts()]
        assert steps == sorted(steps, reverse=way == "descending") and len(set(steps)) > 1
    page.select_option("select[name=template]", "objExists")
    page.wait_for_url("**/*template=objExists*")
    assert "sort=-steps" in page.url  # a filter keeps the order
    with page.expect_download() as saved:
        page.get_by_role("link", name="CSV").click()
    rows = saved.value.path().read_text().splitlines()
    assert len(rows) == int(shown(page)) + 1
    page.set_viewport_size({"width": 420, "height": 900})
    page.reload()
    expect(page.locator("select[name=template]")).to_be_hidden()
    page.locator(".fold-filters summary").click()
    expect(page.locator("select[name=template]")).to_be_visible()
    card = page.locator(".list tbody tr").first
    sides = card.locator("td").evaluate_all("all => all.map((one) => one.getBoundingClientRect().right)")
    assert max(sides) <= 420 and not page.evaluate("document.documentElement.scrollWidth > innerWidth")
    seen.nothing()


def test_the_way_of_an_error_is_pink_and_leads_to_where_it_begins(page: Page, seen: Seen) -> None:
    page.goto("/?model=chain&verdict=wrong")
    page.get_by_role("link", name=re.compile("interacting with a blanket before standing up")).first.click()
    dag = page.locator("#dag[data-ready]")
    expect(dag).to_have_attribute("data-errors", "2")
    wrong = page.locator(".card.wrong .text").all_inner_texts()
    assert sorted(wrong) == sorted([BLANKET, EXISTS_BEFORE, EXISTS])
    expect(page.locator(".reason:visible")).to_contain_text(f"The error begins at “{EXISTS}”")
    page.locator(".card.wrong", has_text=EXISTS).last.click()
    expect(page.locator("#details article:visible h3")).to_have_text(EXISTS)
    lit = page.locator("#timeline svg").first.locator(".frame.decides")
    assert [frame.get_attribute("data-frame") for frame in lit.all()] == ["0", "1", "2", "3"]
    seen.nothing()


def test_nodes_can_be_walked_with_the_keyboard_and_are_unfolded_on_the_way(page: Page, seen: Seen) -> None:
    page.goto(f"/questions/{BLANKET_ID}?show=chain")
    page.wait_for_selector("#dag[data-ready]")
    page.locator("[data-node='3'] .card").focus()
    page.keyboard.press("Enter")
    expect(page.locator("#details article:visible h3")).to_have_text(EXISTS_BEFORE)
    standing = page.locator(".node", has_text="Is the person standing up?")
    expect(standing).to_be_hidden()
    page.locator("#details article:visible .parts [data-to-node]", has_text="Is the person standing up?").click()
    expect(standing.locator(".card.chosen")).to_be_focused()
    seen.nothing()


def test_right_sub_trees_are_folded_to_a_count_and_unfold_by_click_and_key(page: Page, seen: Seen) -> None:
    page.goto(f"/questions/{BLANKET_ID}?show=chain")
    page.wait_for_selector("#dag[data-ready]")
    total, opened = page.locator(".card").count(), page.locator(".card:visible").count()
    assert opened < total
    assert set(page.locator(".card.wrong:visible .text").all_inner_texts()) == {BLANKET, EXISTS_BEFORE, EXISTS}
    fold = page.locator(".fold:visible", has_text="right").first
    hidden = int(re.findall(r"\d+", fold.inner_text())[0])
    name = f".questree-dag [data-node='{fold.evaluate('button => button.parentElement.dataset.node')}'] .card"
    fold.click()
    more = page.locator(".card:visible").count()
    assert opened < more <= opened + hidden
    page.locator(name).focus()
    page.keyboard.press("-")
    expect(page.locator(".card:visible")).to_have_count(opened)
    expect(page.locator(name)).to_be_focused()
    page.keyboard.press("+")
    expect(page.locator(".card:visible")).to_have_count(more)
    page.locator(".questree-dag .unfold").click()
    expect(page.locator(".card:visible")).to_have_count(total)
    expect(page.locator(".fold:visible", has_text="right")).to_have_count(0)
    page.locator(".questree-dag .start").click()
    expect(page.locator(".card:visible")).to_have_count(opened)
    seen.nothing()


@pytest.mark.parametrize("width", [1400, 800, 420])
def test_dags_are_legible_and_nothing_is_covered(browser: Browser, address: str, width: int) -> None:
    """The largest DAG, folded, unfolded and from close; on a phone it is a tree without edges."""
    context = browser.new_context(viewport={"width": width, "height": 900}, base_url=address)
    page = context.new_page()
    page.goto(f"/questions/{LARGEST_ID}?show=chain")
    page.wait_for_selector("#dag[data-ready]")
    total = page.locator(".card").count()
    assert total == 27
    found = [measured(page)]
    page.locator(".questree-dag .unfold").click()
    found.append(measured(page))
    assert found[1]["nodes"] == total
    if width > 600:
        page.locator(".questree-dag .farther").click()
        assert page.locator(".questree-dag .scale").inner_text() == "100 %"
        page.locator(".questree-dag .closer").click()
        found.append(measured(page))
        assert found[2]["smallest"] == pytest.approx(15)
    for each in found:
        assert each["faults"] == []
        assert each["smallest"] >= 12
        assert not each["wide"]
        assert (each["edges"] == each["labels"] == 0) == (width <= 600)
    context.close()


def test_another_model_shows_its_own_contradictions(page: Page, seen: Seen) -> None:
    page.goto(f"/questions/{BLANKET_ID}?show=chain")
    page.wait_for_selector("#dag[data-ready]")
    expect(page.locator("#dag")).to_have_attribute("data-contradictions", "1")
    page.locator(".models label", has_text="clash").click()
    expect(page.locator("#dag")).to_have_attribute("data-contradictions", "2")
    expect(page.locator("#dag")).to_have_attribute("data-errors", "0")
    page.locator(".card", has_text="Is the person interacting with a blanket?").click()
    expect(page.locator(".clashes:visible")).to_contain_text("clash contradicts itself here")
    seen.nothing()


def test_frames_are_turned_by_click_and_by_key(page: Page, seen: Seen) -> None:
    page.goto(f"/questions/{BLANKET_ID}")
    expect(page.locator("#frame")).to_have_attribute("data-frame", "0")
    page.locator("#timeline svg").first.locator(".frame").nth(4).click(force=True)
    expect(page.locator("#frame")).to_have_attribute("data-frame", "4")
    page.locator("#timeline").focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator("#frame")).to_have_attribute("data-frame", "5")
    expect(page.locator("#frame .other text")).to_have_text(["bag", "phone"])
    expect(page.locator("#timeline .frame.here").first).to_have_attribute("data-frame", "5")
    seen.nothing()


def test_a_film_is_wound_to_the_frame_and_names_of_boxes_do_not_meet(page: Page, seen: Seen) -> None:
    pytest.importorskip("skia", exc_type=ImportError)
    page.goto(f"/questions/{BLANKET_ID}")
    frames = page.locator("#timeline svg").first.locator(".frame")
    assert page.evaluate("() => document.querySelector('#film').canPlayType('video/mp4; codecs=avc1.42E01E')")
    frames.nth(6).click(force=True)
    expect(page.locator("#frame")).to_have_attribute("data-frame", "6")
    expect(page.locator("#clock")).to_contain_text("12.0 of 20.0 s")
    page.locator("#play").click()
    page.wait_for_function("() => document.querySelector('#film').currentTime > 12.2")
    page.locator("#play").click()
    expect(page.locator("#play")).to_have_text("play")
    names = page.eval_on_selector_all("#frame text, #frame .tag", BOXES)
    texts, tags = names[1::2], names[::2]
    assert len(texts) == 3
    for text, tag in zip(texts, tags, strict=True):
        assert text[0] >= tag[0] - 1 and text[2] <= tag[2] + 1  # as wide as was thought
    assert not any(meet(*pair) for pair in combinations(tags, 2))
    seen.nothing()


def test_two_models_are_compared_and_examples_are_one_click_away(page: Page, seen: Seen) -> None:
    page.goto("/compare")
    page.select_option("select[name=b]", "script")
    expect(page.locator(".lead")).to_contain_text("script minus chain")
    panels = page.locator(".panels svg").evaluate_all("all => all.map((one) => one.textContent)")
    for name in ("question accuracy by type", "RWR by type", "RWR by composition", "IC by composition"):
        assert any(name in panel for panel in panels)
    names = page.eval_on_selector_all('[data-plot="consistency"] .name', BOXES)
    assert names and not any(meet(*pair) for pair in combinations(names, 2))
    cell = page.locator("tr.overall td.number", has_text="q ").first
    expect(cell).to_contain_text("…")
    expect(page.locator("tr.overall td.number", has_text="n ").first).to_be_visible()
    page.set_viewport_size({"width": 800, "height": 900})
    region = page.get_by_role("region", name="scores by type")
    region.focus()
    last, head = region.locator("tr.overall td").last, region.locator("tr.overall th")
    for _ in range(60):
        page.keyboard.press("ArrowRight")
    expect(last).to_be_in_viewport(ratio=0.9)
    expect(head).to_be_in_viewport()
    link = page.locator("tr.overall").first.locator("a").last
    count = link.inner_text()
    link.click()
    expect(page.locator(".count b")).to_have_text(count)
    expect(page.locator("select[name=other_verdict]")).to_have_value("wrong")
    seen.nothing()


def test_a_large_result_is_paged_through(page: Page, seen: Seen) -> None:
    page.goto("/")
    listed: list[str] = []
    pages = 0
    while True:
        pages += 1
        expect(page.locator(".pager .where").first).to_contain_text(f"{50 * (pages - 1) + 1:,}–")
        listed += page.eval_on_selector_all(".list .text a", "links => links.map(link => link.href)")
        if not page.locator("a[rel=next]").count():
            break
        if pages % 2:
            page.keyboard.press("ArrowRight")
        else:
            page.locator("a[rel=next]").last.click()
    total = int(shown(page).replace(",", ""))
    assert len(listed) == len(set(listed)) == total > 900
    seen.nothing()


def test_what_a_model_says_is_shown_as_text(page: Page, seen: Seen) -> None:
    for at in (f"/questions/{BLANKET_ID}?show=script", "/?model=script&verdict=wrong"):
        page.goto(at)
        expect(page.locator(".said.wrong", has_text="alert(1)").first).to_have_text(f"{SCRIPT} ✗")
        assert page.locator("script:not([src])").count() == 0
    page.goto("/?query=" + SCRIPT)
    expect(page.locator("#fault-query")).to_be_visible()
    seen.errors[:] = [error for error in seen.errors if "status of 400" not in error]  # the bad request itself
    seen.nothing()


def test_an_id_that_is_not_there_gives_a_page_that_says_so(page: Page, seen: Seen) -> None:
    page.goto("/questions/A-999999")
    expect(page.locator("main")).to_contain_text("no question 'A-999999' among the")
    page.get_by_role("link", name="Back to all questions").click()
    expect(page.locator(".list")).to_be_visible()
    assert seen.elsewhere == []


def test_parts_of_a_question_light_up_what_they_pick_out(page: Page, seen: Seen) -> None:
    page.goto("/images")
    page.get_by_role("link", name="There is a black dog").click()
    expect(page.locator("svg.picture")).to_have_count(2)
    page.wait_for_load_state("load")  # the pictures are there before the script that listens to clicks
    page.locator("[data-part='0']").click()
    expect(page.locator(".dimmed text")).to_have_text(["floor", "red car"])
    page.locator("[data-part='0']").click()
    expect(page.locator(".dimmed")).to_have_count(0)
    seen.nothing()


def test_a_sub_question_about_images_lights_up_what_it_rests_on(page: Page, seen: Seen) -> None:
    page.goto("/")
    page.get_by_role("link", name="Image sets").click()
    page.get_by_role("link", name="There is a black dog").click()
    page.wait_for_selector("#dag[data-ready]")
    expect(page.locator(".card")).to_have_count(2)
    page.locator(".card").last.click()
    expect(page.locator("#details article:visible h3")).to_have_text("Is there a dog?")
    expect(page.locator(".decides text")).to_have_text(["black dog"])
    expect(page.get_by_role("link", name="Compare models")).to_have_attribute("href", "/compare/images")
    page.set_viewport_size({"width": 420, "height": 900})
    expect(page.locator(".cards.tree")).to_be_visible()
    found = measured(page)
    assert (found["nodes"], found["edges"], found["faults"], found["wide"]) == (2, 0, [], False)
    seen.nothing()


PAGES = (
    "/",
    "/?query=has(befor)",
    "/?words=zebra",
    f"/questions/{BLANKET_ID}?show=chain",
    "/compare?a=chain&b=script&now=yes",
    "/images",
    "/images/q/1",
    "/questions/no-1",
)
WIDTHS, SCHEMES = (1400, 800, 420), ("light", "dark")
DARK = "rgb(20, 23, 28)"


def test_every_page_is_accessible_and_fits_every_screen(browser: Browser, address: str) -> None:
    """Of axe nothing serious; all text of at least 12 px; no scrolling sideways; no complaint of the browser."""
    context = browser.new_context(base_url=address)
    page, told = context.new_page(), list[str]()
    page.on("pageerror", lambda error: told.append(str(error)))
    page.on("console", lambda message: told.append(message.text) if message.type in ("error", "warning") else None)
    faults = list[str]()
    for width, at in product(WIDTHS, PAGES):
        page.set_viewport_size({"width": width, "height": 900})
        page.goto(at, wait_until="networkidle")
        for scheme in SCHEMES:
            page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
            where = f"{at} at {width} px, {scheme}: "
            faults += [f"{where}scrolls sideways"] * is_wide(page)
            faults += [f"{where}small: {text}" for text in small_texts(page)]
            if width != 800:
                faults += [where + each for each in findings(page)]
        assert page.evaluate("getComputedStyle(document.documentElement).backgroundColor") == DARK
    assert not faults, "\n".join(faults)
    assert [each for each in told if "status of 40" not in each] == []  # the bad query and the missing question
    context.close()


def test_the_content_is_one_key_away_and_what_has_the_focus_is_marked(page: Page, seen: Seen) -> None:
    page.goto("/")
    page.keyboard.press("Tab")
    expect(page.locator(".skip")).to_be_focused()
    expect(page.locator(".skip")).to_be_in_viewport()
    page.keyboard.press("Enter")
    expect(page.locator("main")).to_be_focused()
    page.goto(f"/questions/{BLANKET_ID}?show=chain")
    page.wait_for_selector("#dag[data-ready]")
    unmarked = list[str]()
    for _ in range(60):
        page.keyboard.press("Tab")
        look = page.evaluate("""() => {
          const own = document.activeElement;
          const seen = own.matches(".models input") ? own.nextElementSibling : own;
          return [own.outerHTML.slice(0, 80), getComputedStyle(seen).outlineStyle, own === document.body];
        }""")
        unmarked += [look[0]] * (look[1] == "none" and not look[2])
    assert unmarked == []
    seen.nothing()


SAMPLED = 50


def sampled_dags(run: Run) -> Iterator[str]:
    """Cards of so many questions, the largest DAG among them, half of them with errors."""
    view = VideoView(run)
    for shard in map(view.opened, view.shards()):
        tops = sorted(set(shard.tops["node"].to_list()), key=lambda node: -len(shard.below(node)))
        for place, node in enumerate(tops[:: -(-len(tops) * 2 // SAMPLED)]):
            one = shard.only(node)
            dag = view.dag(one)
            said = ["strange" if at % 3 == place % 3 else row["answer"] for at, row in enumerate(dag.rows)]
            yield markup(dag, judged(dag, one, "model", said) if place % 2 else None, view.kinds)


def test_of_many_dags_no_card_label_or_edge_covers_another(browser: Browser, served: Run) -> None:
    dags = list(sampled_dags(served))
    assert len(dags) >= SAMPLED - 4 and max(dag.count('class="node"') for dag in dags) == 27
    page, told = browser.new_page(), list[str]()
    page.on("console", lambda message: told.append(message.text))
    for width, scheme in ((1400, "light"), (800, "dark"), (420, "light")):
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        page.set_content(f"<style>{style()}</style>{''.join(dags)}<script>{script()}</script>")
        assert page.locator(".questree-dag[data-ready]").count() == len(dags)
        page.evaluate("document.querySelectorAll('.unfold').forEach((button) => button.click())")
        for at, dag in enumerate(dags):
            found = measured(page, at)
            assert (found["faults"], found["wide"], found["nodes"]) == ([], False, dag.count('class="node"'))
            assert found["smallest"] >= 12 and (found["edges"] == 0) == (width <= 600 or found["nodes"] == 1)
    assert told == []
    page.close()
