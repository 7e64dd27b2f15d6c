"""The pages people answer on: a link of their own, instructions, one item at a time; every answer is kept first."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qs

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from questree.faults import BadInput
from questree.people import pictures, turns
from questree.people.book import Annotator, TaskOptions
from questree.people.desk import Desk, OwnLinks, desk_of, home_of, somebody
from questree.people.paraphrases import must_change
from questree.people.task import Reply, Task, WrongReply, checked, choices_of
from questree.show.page.app import colour_sheet, environment
from questree.show.page.filters import address
from questree.show.page.serving import HEADERS, LOOPBACK, Guard, body_of

MOST = 100_000  # bytes of a form
LONGEST = 24 * 3600.0  # seconds that anybody can have looked at an item


def application(desk: Desk, host: str = "127.0.0.1") -> Starlette:
    """Whoever runs the study sees everybody's link, on this machine alone."""
    home = "/people/{token}/"
    assets = StaticFiles(packages=[("questree.show.page", "assets")])
    app = Starlette(
        routes=[
            Route("/", overview),
            Route(home, tasks),
            *pictures.routes(home),
            Route(home + "tasks/{task}/", work),
            Route(home + "tasks/{task}/begin", begin, methods=["POST"]),
            Route(home + "tasks/{task}/answer", answer, methods=["POST"]),
            Route(home + "tasks/{task}/undo", undo, methods=["POST"]),
            *(Route(at + "colours.css", colour_sheet) for at in ("/", home)),
            *(Mount(at + "assets", assets) for at in ("/", home)),
        ],
        exception_handlers=dict.fromkeys((HTTPException, BadInput, Exception), problem),
        middleware=[Middleware(Guard, host=host), Middleware(OwnLinks, desk=desk, open_house=host in LOOPBACK)],
    )
    app.state.desk, app.state.open_house = desk, host in LOOPBACK
    return app


def problem(request: Request, error: Exception) -> Response:
    if isinstance(error, HTTPException):
        return PlainTextResponse(f"{error.detail}\n", error.status_code)
    return PlainTextResponse(f"That did not work: {error}\n", 500, HEADERS)


def render(request: Request, name: str, **values: Any) -> HTMLResponse:
    root = "/" if request.app.state.open_house else home_of(somebody(request))
    html = environment().get_template(f"people/{name}.html").render(root=root, **values)
    return HTMLResponse(html, headers={"Cache-Control": "no-store"})


def own(request: Request) -> None:
    """What changes anything comes from a page of ours: browsers say from where."""
    said = request.headers.get("origin", "").partition("://")[2]
    if said != request.headers.get("host") and request.headers.get("sec-fetch-site") != "same-origin":
        raise HTTPException(403, "only from the page itself")


def overview(request: Request) -> Response:
    """For whoever runs the study: links and how far everybody is."""
    desk = desk_of(request)
    return render(
        request, "overview", run=desk.run.folder.resolve().name, people=desk.book.annotators(), counts=progress(desk)
    )


def progress(desk: Desk) -> list[dict[str, Any]]:
    """Per task: items, answers wanted and given, and by whom."""
    with desk.book.reading() as made:
        rows = made.execute("SELECT task, annotator, answered FROM place").fetchall()
    return [
        {
            "task": name,
            "title": task.title,
            "wanted": options.asked * options.votes,
            "items": options.asked,
            "by": {who: count for own, who, count in rows if own == name},
        }
        for name, (task, options) in desk.book.tasks().items()
    ]


def tasks(request: Request) -> Response:
    one, desk = somebody(request), desk_of(request)
    if len(desk.tasks) == 1:
        return RedirectResponse(f"{home_of(one)}tasks/{address(next(iter(desk.tasks)), {})}/", 303)
    return render(request, "tasks", home=home_of(one), counts=progress(desk), who=one.annotator)


def task_of(request: Request) -> tuple[Annotator, str, Task, TaskOptions]:
    one, name, desk = somebody(request), request.path_params["task"], desk_of(request)
    if name not in desk.tasks:
        raise HTTPException(404, "not here")
    return one, name, *desk.tasks[name]


def work(request: Request) -> Response:
    one, name, task, _ = task_of(request)
    if not turns.begun(desk_of(request).book, name, one.annotator):
        return render(request, "instructions", task=task, home=f"{home_of(one)}tasks/{address(name, {})}/")
    return at_work(request, whole=True)


def at_work(request: Request, whole: bool = False, message: str = "", given: Reply | None = None) -> Response:
    """What is in hand, or that there is nothing more; `whole` or the part that changes."""
    one, name, task, options = task_of(request)
    desk, home = desk_of(request), home_of(one)
    about: dict[str, Any] = {
        "whole": whole,
        "task": task,
        "home": f"{home}tasks/{address(name, {})}/",
        "all": home if len(desk.tasks) > 1 else "",
        "marks": f"{home}marks/",
    }
    hand = turns.give(desk.book, name, one.annotator)
    admitted = turns.qualified(desk.book, name, one.annotator, options.qualification)
    if hand is None or (hand.item.role != "qualification" and admitted is not None and admitted < task.admitted):
        out = hand is not None
        return render(request, "done", **about, out=out, answered=turns.count(desk.book, name, one.annotator))
    item = hand.item
    said = given or hand.before or Reply()
    texts = [item.text, *map(str, item.shown.get("answers", ())), str(item.shown.get("answer", ""))]
    return render(
        request,
        "work",
        **about,
        item=item,
        scene=desk.scenes.of(item.scope, options.benchmark, home),
        choices=choices_of(task, item.role, item.shown),
        asks=task.asks_of(item.role),
        prompt=task.confirm.prompt if task.confirm and item.role != "asked" else task.prompt,
        said=said,
        again=hand.before is not None and not message,
        message=message,
        undoable=hand.undoable,
        answered=hand.answered,
        total=options.asked + options.gold + options.qualification,
        terms=desk.terms.of(*texts),
    )


def begin(request: Request) -> Response:
    one, name, _, _ = task_of(request)
    own(request)
    turns.begin(desk_of(request).book, name, one.annotator)
    return at_work(request)


def fields(body: bytes) -> dict[str, list[str]]:
    try:
        return parse_qs(body.decode("utf-8"), keep_blank_values=True, max_num_fields=1000)
    except (UnicodeDecodeError, ValueError):
        raise HTTPException(400, "not a form") from None


async def answer(request: Request) -> Response:
    somebody(request)
    own(request)
    return await run_in_threadpool(kept, request, fields(await body_of(request, MOST)))


def kept(request: Request, form: Mapping[str, list[str]]) -> Response:
    """Keep a reply, then show what is next; or say what is wrong with it."""
    one, name, task, _ = task_of(request)
    book = desk_of(request).book
    item = turns.held(book, name, one.annotator, _whole(form))
    if item is None:
        return at_work(request, message="This was not yours to answer; here is what is.")
    last = {key: values[-1] for key, values in form.items()}
    faults, marked = (tuple(form.get(key, ())) for key in ("fault", "mark"))
    given = Reply(last.get("value", ""), last.get("text", ""), faults, marked)
    try:
        reply = checked(task, item.role, item.shown, given)
        if task.asks_of(item.role) == "paraphrase" and not reply.value:
            must_change(item.text, reply.text, desk_of(request).terms)
    except WrongReply as wrong:
        return at_work(request, message=str(wrong), given=given)
    value = (reply.value or reply.text).lower()
    wrong_way = item.role == "qualification" and item.truth is not None and value != item.truth.lower()
    turns.answer(book, name, one.annotator, item, reply, _seconds(last.get("seconds", "")), again=wrong_way)
    return at_work(request, message=f"Not quite. {item.why} Please answer again." if wrong_way else "")


def _whole(form: Mapping[str, list[str]]) -> int:
    text = form.get("item", [""])[-1]
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 10 else -1


def _seconds(text: str) -> float:
    try:
        found = float(text)
    except ValueError:
        return 0.0
    return min(found, LONGEST) if found >= 0 else 0.0  # NaN is neither


def undo(request: Request) -> Response:
    one, name, _, _ = task_of(request)
    own(request)
    turns.undo(desk_of(request).book, name, one.annotator)
    return at_work(request)
