"""The addresses of the page and what answers them."""

from collections.abc import Mapping
from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, RedirectResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from questree.faults import BadInput
from questree.show import colours
from questree.show.page import browse as b
from questree.show.page.compare import LEVEL, grids, points
from questree.show.page.filters import address
from questree.show.page.frames import SUFFIXES, frame_of, media_file
from questree.show.page.serving import Guard
from questree.show.page.shown import Shown
from questree.show.page.site import Site

IN_MODELS = ("model", "verdict", "contradiction", "rule", "other", "other_verdict")  # filters about what models say


def application(site: Site, host: str = "127.0.0.1") -> Starlette:
    app = Starlette(
        routes=[
            Route("/", home),
            Route("/questions/{id:path}/frames/{frame:int}", frame),
            Route("/questions/{id:path}", question),
            Route("/compare", compare),
            Route("/images", images),
            Route("/images/{id:path}", image_question),
            Route("/media/{video:path}/{number:int}", media),
            Route("/colours.css", colour_sheet),
            Mount("/assets", StaticFiles(packages=[("questree.show.page", "assets")])),
        ],
        exception_handlers={HTTPException: problem, BadInput: bad_input, Exception: failure},
        middleware=[Middleware(Guard, host=host)],
    )
    app.state.site = site
    return app


@cache
def environment() -> Environment:
    found = Environment(
        loader=PackageLoader("questree.show.page"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found.filters["percent"] = lambda value: "–" if value is None else f"{100 * value:.1f} %"
    found.filters["points"] = lambda value: "–" if value is None else f"{100 * value:+.1f}"
    found.globals["address"] = address
    return found


def render(request: Request, name: str, status: int = 200, **values: Any) -> HTMLResponse:
    site: Site = request.app.state.site
    about = {"site": site, "run": site.run.folder.resolve().name, "path": request.url.path}
    return HTMLResponse(environment().get_template(name).render(**about, **values), status)


def params(request: Request, *known: str) -> dict[str, str]:
    """The filters in an address; those named are no filters."""
    return {name: value.strip() for name, value in request.query_params.items() if name not in known and value.strip()}


def problem(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return render(request, "problem.html", error.status_code, code=error.status_code, detail=error.detail)


def bad_input(request: Request, error: Exception) -> Response:
    """The run has changed, or has never been as it should."""
    return render(request, "problem.html", 409, code=409, detail=str(error))


def failure(request: Request, error: Exception) -> Response:
    return render(request, "problem.html", 500, code=500, detail=f"{type(error).__name__}: {error}")


def faulty(request: Request, faults: list[Any]) -> int:
    """A filter that is wrong is a bad request; a page that asks for its parts only is told so in its text."""
    return 400 if faults and "hx-request" not in request.headers else 200


def home(request: Request) -> Response:
    site: Site = request.app.state.site
    if site.questions is None:
        return RedirectResponse("/images")
    wanted = params(request, "page")
    found = site.filters.find(wanted)
    pages = b.Pages.of(len(found.rows), request.query_params.get("page", ""))
    models = b.shown_models(site, wanted)
    return render(
        request,
        "browse.html",
        faulty(request, found.faults),
        wanted=wanted,
        faults=found.faults,
        choices=site.filters.choices,
        judged=any(name in wanted for name in IN_MODELS),
        pages=pages,
        lines=b.lines(site, found.rows[pages.begin : pages.end], models),
        models=models,
        told=b.summary(site, found, models),
        steps=b.by_steps(site, found, models),
    )


def row_of(request: Request) -> int:
    """The question in the address, or a page that says there is none."""
    site: Site = request.app.state.site
    id = request.path_params["id"]
    if site.questions is None:
        raise HTTPException(404, "this run has no questions about videos")
    row = site.questions.find(id)
    if row is None:
        which = "decomposed questions" if site.questions.decomposed else "questions"
        example = site.questions.question(0).id if len(site.questions) else "VIDEO-0"
        raise HTTPException(
            404, f"no question {id!r} among the {len(site.questions):,} {which}; an id is like {example}"
        )
    return row


def question(request: Request) -> Response:
    site: Site = request.app.state.site
    shown, wanted = Shown.of(site, row_of(request)), params(request, "show")
    asked = request.query_params.get("show", "") or wanted.get("model", "")
    if asked and asked not in site.models:
        raise HTTPException(404, f"no predictions of a model {asked!r}; there are {', '.join(site.models) or 'none'}")
    rows = shown.timeline.rows()
    before, after = neighbours(site, wanted, shown.at)
    return render(
        request,
        "question.html",
        shown=shown,
        wanted=wanted,
        model=asked or next(iter(site.models), ""),
        named=[row for row in rows if row.mentioned],
        others=[row for row in rows if not row.mentioned],
        first=first_frame(shown),
        before=before,
        after=after,
    )


def first_frame(shown: Shown) -> int | None:
    """A frame to begin with: the first that shows something; None if the video has none."""
    seen = (frame for node in shown.nodes for frame in node.frames["shown"])
    return next(seen, 0) if len(shown.facts.frames) else None


def neighbours(site: Site, wanted: Mapping[str, str], row: int) -> tuple[str | None, str | None]:
    """Addresses of the questions before and after this one, in what the filters find."""
    rows = site.filters.find(wanted).rows
    at = int(rows.searchsorted(row))
    if at >= len(rows) or rows[at] != row:
        return None, None

    def near(place: int) -> str | None:
        if not 0 <= place < len(rows):
            return None
        return address(f"/questions/{site.asked.question(int(rows[place])).id}", wanted)

    return near(at - 1), near(at + 1)


def frame(request: Request) -> Response:
    """A part of the page of a question."""
    site: Site = request.app.state.site
    shown, position = Shown.of(site, row_of(request)), request.path_params["frame"]
    count = len(shown.facts.frames)
    if position >= count:
        raise HTTPException(404, f"no frame {position}; video {shown.video} has {count}, counted from 0")
    number = int(shown.facts.frames["number"][position])
    there = site.media is not None and media_file(site.media, shown.video, number) is not None
    found = frame_of(
        shown.facts,
        position,
        site.asked.bank.vocabulary,
        shown.mentioned,
        address(f"/media/{shown.video}/{number}", {}) if there else "",
    )
    return render(request, "frame.html", frame=found, count=count, id=shown.question.id)


def media(request: Request) -> Response:
    site: Site = request.app.state.site
    video, number = request.path_params["video"], request.path_params["number"]
    known = site.questions is not None and video in site.questions.video_at
    path = media_file(site.media, video, number) if site.media is not None and known else None
    if path is None:
        raise HTTPException(404, f"no picture of frame {number} of video {video!r}")
    return FileResponse(path, media_type=SUFFIXES[path.suffix])


def compare(request: Request) -> Response:
    site: Site = request.app.state.site
    named = [request.query_params.get(side, "") for side in ("a", "b")]
    for name in named:
        if name and name not in site.models:
            raise HTTPException(
                404, f"no predictions of a model {name!r}; there are {', '.join(site.models) or 'none'}"
            )
    first, second = (given or default for given, default in zip(named, [*site.models, "", ""], strict=False))
    # what takes long is asked for by the page when it is there
    asked = "hx-request" in request.headers or "now" in request.query_params
    here = bool(first and second) and (asked or site.comparing.ready(first, second))
    found = grids(site.comparing, site.filters, first, second) if here else []
    waiting = bool(first and second) and not here
    return render(
        request, "compare.html", a=first, b=second, grids=found, points=points(found), level=LEVEL, waiting=waiting
    )


def images(request: Request) -> Response:
    site: Site = request.app.state.site
    if site.images is None:
        raise HTTPException(404, "this run has no questions about sets of images; `questree covr` makes them")
    wanted = params(request, "page")
    found = site.images.find(wanted)
    pages = b.Pages.of(len(found.rows), request.query_params.get("page", ""))
    return render(
        request,
        "images.html",
        faulty(request, found.faults),
        wanted=wanted,
        faults=found.faults,
        choices=site.images.choices,
        pages=pages,
        lines=site.images.table[found.rows[pages.begin : pages.end]].to_dicts(),
    )


def image_question(request: Request) -> Response:
    site: Site = request.app.state.site
    id = request.path_params["id"]
    if site.images is None or id not in site.images.row_at:
        raise HTTPException(404, f"no question {id!r} about a set of images")
    row = site.images.table.row(site.images.row_at[id], named=True)
    parts = site.images.parts(row)
    return render(request, "image_question.html", row=row, parts=parts, pictures=site.images.pictures(row, parts))


def colour_sheet(request: Request) -> Response:
    """The colours of all pictures as variables of CSS."""
    return Response(colours.sheet(), media_type="text/css")
