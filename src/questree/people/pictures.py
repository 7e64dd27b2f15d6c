"""Films, frames, images and marks that people look at, by their link."""

from collections.abc import Mapping
from pathlib import Path

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import Route

from questree.people.desk import desk_of, somebody
from questree.people.scenes import FRAME, SMALL
from questree.show.frames import FILMS, SUFFIXES


def routes(home: str) -> list[Route]:
    return [
        Route(home + "media/{video:rest}/{number:int}", still),
        Route(home + "films/{video:rest}", film),
        Route(home + "pictures/{image:rest}", picture),
        Route(home + "marks/{name}", mark),
    ]


def file(path: Path, kinds: Mapping[str, str]) -> Response:
    return FileResponse(path, media_type=kinds[path.suffix])


def drawn(picture: bytes | None) -> Response:
    if picture is None:
        raise HTTPException(404, "not here")
    return Response(picture, media_type="image/png", headers={"Cache-Control": "private, max-age=3600"})


def still(request: Request) -> Response:
    """A frame: its file, or else drawn; small on the timeline."""
    somebody(request)
    video, number, scenes = request.path_params["video"], request.path_params["number"], desk_of(request).scenes
    longest = SMALL if "small" in request.query_params else FRAME
    path = scenes.still(video, number)
    return file(path, SUFFIXES) if path else drawn(scenes.drawn_frame(video, number, longest))


def film(request: Request) -> Response:
    somebody(request)
    path = desk_of(request).scenes.film(request.path_params["video"])
    if path is None:
        raise HTTPException(404, "not here")
    return file(path, FILMS)


def picture(request: Request) -> Response:
    somebody(request)
    image, scenes = request.path_params["image"], desk_of(request).scenes
    path = scenes.picture(image)
    return file(path, SUFFIXES) if path else drawn(scenes.drawn_image(image))


def mark(request: Request) -> Response:
    somebody(request)
    return drawn(desk_of(request).scenes.mark(request.path_params["name"]))
