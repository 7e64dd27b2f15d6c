"""The addresses of the page and what answers them."""

from collections.abc import Mapping
from functools import cache, partial
from typing import Any
from urllib.parse import quote

import numpy as np
from jinja2 import Environment
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles

from questree.faults import BadInput, Fault
from questree.metrics.scores import titled
from questree.show import colours, templates
from questree.show.frames import FILMS, SUFFIXES, film_file, frame_of, image_file, media_file
from questree.show.image_view import ImageView
from questree.show.page import browse as b
from questree.show.page.compare import BETTER, LEVEL, grids, points
from questree.show.page.download import KINDS, written
from questree.show.page.filters import FilteredRows, address
from questree.show.page.fresh import EVERY, Fresh, KeptPages, clock
from questree.show.page.order import Rows, ordered
from questree.show.page.serving import HEADERS, Guard, Limits, Smaller, asset_folder
from questree.show.page.shown import Shown
from questree.show.page.site import VIEWS, Collection, Site
from questree.show.video_view import VideoScene, VideoView
from questree.show.views import View
from questree.stages.split.grammar import Wrong

IN_MODELS = ("model", "verdict", "contradiction", "rule", "other", "other_verdict")  # filters about what models say


def application(site: Site, host: str = "127.0.0.1", every: float = EVERY) -> Starlette:
    """every: seconds between two looks whether the run has changed."""
    app = Starlette(
        routes=[
            Route("/questions/{id:rest}/frames/{frame:int}", frame),
            *(route for view in VIEWS for route in routes(view)),
            Route("/media/{video:rest}/{number:int}", media),
            Route("/films/{video:rest}", film),
            Route("/pictures/{image:rest}", image),
            Route("/colours.css", colour_sheet),
            *(
                Mount(at, StaticFiles(packages=[("questree.show.page", "assets")]))
                for at in (asset_folder(), "/assets")
            ),
        ],
        exception_handlers=dict.fromkeys((HTTPException, BadInput, Exception), problem),
        middleware=[
            Middleware(Guard, host=host),
            Middleware(Fresh, every=every),
            Middleware(KeptPages),
            Middleware(Limits),
            Middleware(Smaller),
        ],
    )
    app.state.site, app.state.read_at, app.state.notice = site, clock(), ""
    return app


def routes(view: type[View]) -> list[BaseRoute]:
    """The same pages for every view."""
    return [
        Route(view.home, partial(home, view=view)),
        Route(view.compare, partial(compare, view=view)),
        Route(f"/list/{view.scope}.{{kind}}", partial(download, view=view)),
        Route(view.item + "{id:rest}", partial(question, view=view)),
    ]


@cache
def environment() -> Environment:
    found = templates.environment()
    found.filters["percent"] = lambda value: "–" if value is None else f"{100 * value:.1f} %"
    found.filters["points"] = lambda value: "–" if value is None else f"{100 * value:+.1f}"
    found.filters["titled"] = titled
    found.globals["address"] = address
    found.globals["assets"] = asset_folder()
    return found


def render(request: Request, name: str, status: int = 200, **values: Any) -> HTMLResponse:
    site: Site = request.app.state.site
    about: dict[str, Any] = {
        "notice": request.app.state.notice,
        "site": site,
        "run": site.name,
        "path": request.url.path,
    }
    about["view"] = values["own"].view if "own" in values else site.first.view
    return HTMLResponse(environment().get_template(name).render(**about, **values), status)


def collection(request: Request, view: type[View]) -> Collection:
    """The questions of a view, or a page that says there are none."""
    site: Site = request.app.state.site
    if view not in site.collections:
        raise HTTPException(404, f"this run has no questions about {view.name}")
    return site.collections[view]


def params(request: Request, *known: str) -> dict[str, str]:
    """The filters in an address; those named are no filters."""
    return {name: value.strip() for name, value in request.query_params.items() if name not in known and value.strip()}


def problem(request: Request, error: Exception) -> Response:
    """A page that says so; bad input: the run has changed, or has never been as it should."""
    code, detail = 500, f"{type(error).__name__}: {error}"
    if isinstance(error, HTTPException):
        code, detail = error.status_code, error.detail
    elif isinstance(error, BadInput):
        code, detail = 409, str(error)
    said = render(request, "problem.html", code, code=code, detail=detail)
    said.headers.update(HEADERS)  # what nobody foresaw is told past those who add them
    return said


def home(request: Request, view: type[View]) -> Response:
    site: Site = request.app.state.site
    if view.home == "/" and view not in site.collections:
        return RedirectResponse(site.first.view.home)
    own, wanted = collection(request, view), params(request, "page")
    found, rows, faults = in_order(own, wanted)
    pages = b.Pages.of(len(rows), request.query_params.get("page", ""))
    models = b.shown_models(own, wanted)
    answer = render(
        request,
        "browse.html",
        400 if faults and "hx-request" not in request.headers else 200,
        own=own,
        wanted=wanted,
        faults={fault.place.replace(" ", "_"): fault for fault in faults},
        choices=own.filters.choices,
        judged=any(name in wanted for name in IN_MODELS),
        pages=pages,
        lines=list(b.lines(own, rows[pages.begin : pages.end], models)),
        models=models,
        told=b.summary(own, found, models),
        plotted=b.by_number(own, found, models),
        blamed=own.filters.blamed(filters(wanted)) if not len(rows) and not faults else None,
    )
    if faults:  # a page that asks for its parts keeps the list it has
        answer.headers["HX-Reswap"], answer.headers["HX-Push-Url"] = "none", "false"
    return answer


def filters(wanted: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in wanted.items() if name != "sort"}


def in_order(own: Collection, wanted: Mapping[str, str]) -> tuple[FilteredRows, Rows, list[Fault]]:
    """What filters find, the same as it is sorted, and what is wrong with any of it."""
    found = own.filters.find(filters(wanted))
    try:
        return found, ordered(own, found, wanted.get("sort", "")), found.faults
    except Wrong as wrong:
        return found, found.rows, [*found.faults, Fault("sort", str(wrong))]


def download(request: Request, view: type[View]) -> Response:
    """The list that a page shows, all of it."""
    own, wanted, kind = collection(request, view), params(request), request.path_params["kind"]
    if kind not in KINDS:
        raise HTTPException(404, f"no list as {kind!r}; choose from {', '.join(KINDS)}")
    _, rows, faults = in_order(own, wanted)
    if faults:
        raise HTTPException(400, "\n".join(f"{fault.place}: {fault.message}" for fault in faults))
    name = quote(f"{own.view.run.folder.resolve().name}-{view.scope}-questions.{kind}")
    headers = {"Content-Disposition": f"attachment; filename*=UTF-8''{name}"}
    lines = written(own, rows, b.shown_models(own, wanted), kind)
    return StreamingResponse(lines, media_type=KINDS[kind], headers=headers)


def row_of(request: Request, view: type[View]) -> tuple[Collection, int]:
    """The question in the address, or a page that says there is none."""
    site: Site = request.app.state.site
    id = request.path_params["id"]
    if view not in site.collections:
        raise HTTPException(404, f"no question {id!r}: this run has no questions about {view.name}")
    own = site.collections[view]
    row = own.questions.find(id)
    if row is None:
        which = "decomposed questions" if own.view.decomposed else "questions"
        example = own.questions.question(0).id if len(own.questions) else "VIDEO-0"
        raise HTTPException(
            404, f"no question {id!r} among the {len(own.questions):,} {which}; an id is like {example}"
        )
    return own, row


def known_model(own: Collection, name: str) -> str:
    if name and name not in own.models:
        known = f"choose from {', '.join(own.models)}" if own.models else "there are none"
        raise HTTPException(404, f"no predictions of a model {name!r}; {known}")
    return name


def question(request: Request, view: type[View]) -> Response:
    own, row = row_of(request, view)
    shown, wanted = Shown.of(own, row), params(request, "show")
    asked = known_model(own, request.query_params.get("show", "") or wanted.get("model", ""))
    before, after = neighbours(own, wanted, shown.at)
    return render(
        request,
        "question.html",
        own=own,
        shown=shown,
        scene=shown.scene,
        wanted=wanted,
        model=asked or next(iter(own.models), ""),
        before=before,
        after=after,
    )


def neighbours(own: Collection, wanted: Mapping[str, str], row: int) -> tuple[str | None, str | None]:
    """Addresses of the questions before and after this one, in what the filters find."""
    _, rows, _ = in_order(own, wanted)
    places = np.flatnonzero(rows == row)
    if not len(places):
        return None, None
    near = [place for place in (int(places[0]) - 1, int(places[0]) + 1) if 0 <= place < len(rows)]
    ids = own.view.ids(own.questions.columns["key"][rows[near]])
    found = {place: address(own.view.item + id, wanted) for place, id in zip(near, ids, strict=True)}
    return found.get(int(places[0]) - 1), found.get(int(places[0]) + 1)


def frame(request: Request) -> Response:
    """A part of the page of a question about a video."""
    site: Site = request.app.state.site
    own, row = row_of(request, VideoView)
    shown, position = Shown.of(own, row), request.path_params["frame"]
    scene = shown.scene
    assert isinstance(scene, VideoScene)
    count, video = len(scene.facts.frames), scene.facts.videos["id"][0]
    if position >= count:
        raise HTTPException(404, f"no frame {position}; video {video} has {count}, counted from 0")
    number = int(scene.facts.frames["number"][position])
    there = site.media is not None and media_file(site.media, video, number) is not None
    picture = address(f"/media/{video}/{number}", {}) if there else ""
    at = None if scene.size and site.film(video) else picture  # a film is there already
    found = frame_of(scene.facts, position, scene.timeline.vocabulary, scene.timeline.mentioned, at)
    return render(request, "frame.html", frame=found, count=count, id=shown.asked.id)


def media(request: Request) -> Response:
    site: Site = request.app.state.site
    video, number = request.path_params["video"], request.path_params["number"]
    path = media_file(site.media, video, number) if site.media is not None and known_video(site, video) else None
    if path is None:
        raise HTTPException(404, f"no picture of frame {number} of video {video!r}")
    return FileResponse(path, media_type=SUFFIXES[path.suffix])


def known_video(site: Site, video: str) -> bool:
    own = site.collections.get(VideoView)
    return own is not None and isinstance(own.view, VideoView) and video in own.view.video_at


def film(request: Request) -> Response:
    """In pieces, as a player that jumps about asks for it."""
    site: Site = request.app.state.site
    video = request.path_params["video"]
    path = film_file(site.media, video) if site.media is not None and known_video(site, video) else None
    if path is None:
        raise HTTPException(404, f"no film of video {video!r}")
    return FileResponse(path, media_type=FILMS[path.suffix])


def image(request: Request) -> Response:
    site: Site = request.app.state.site
    name = request.path_params["image"]
    own = site.collections.get(ImageView)
    known = own is not None and isinstance(own.view, ImageView) and name in own.view.image_ids
    path = image_file(site.media, name) if site.media is not None and known else None
    if path is None:
        raise HTTPException(404, f"no picture of image {name!r}")
    return FileResponse(path, media_type=SUFFIXES[path.suffix])


def compare(request: Request, view: type[View]) -> Response:
    site: Site = request.app.state.site
    if view.home == "/" and view not in site.collections:
        return RedirectResponse(site.first.view.compare)
    own = collection(request, view)
    named = [known_model(own, request.query_params.get(side, "")) for side in ("a", "b")]
    first, second = (given or default for given, default in zip(named, [*own.models, "", ""], strict=False))
    # what takes long is asked for by the page when it is there
    asked = "hx-request" in request.headers or "now" in request.query_params
    here = bool(first and second) and (asked or own.comparing.ready(first, second))
    found = grids(own.comparing, own.filters, first, second) if here else []
    waiting = bool(first and second) and not here
    how: dict[str, Any] = {
        "grids": found,
        "points": points(found),
        "counted": [own.comparing.counted(name) for name in (first, second)] if here else [],
        "level": LEVEL,
        "better": BETTER,
        "waiting": waiting,
    }
    return render(request, "compare.html", own=own, a=first, b=second, **how)


def colour_sheet(request: Request) -> Response:
    """The colours of all pictures as variables of CSS."""
    return Response(colours.sheet(), media_type="text/css")
