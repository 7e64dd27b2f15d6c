"""A part of the attacks of `make chaos` on what is served; what they found is tested by itself."""

import asyncio
import shutil
from pathlib import Path

import pytest
from starlette.types import Receive, Scope, Send

from chaos import pages
from chaos.escaped import Markup
from chaos.hostile import hostile
from conftest import once
from questree.models.known_prompts import KnownPrompts
from questree.show.frames import film_file, image_file, media_file
from questree.show.page.filters import MOST_WORDS, phrases
from questree.show.page.serving import LastResort, trusted
from questree.stages.split.grammar import Wrong


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Runs in which everything has a hostile name, for this process alone: people answer there."""
    made = once(tmp_path_factory, "hostile", lambda folder: hostile(folder / "runs")) / "runs"
    return Path(shutil.copytree(made, tmp_path_factory.mktemp("attacked") / "runs", symlinks=True))


def test_attacks_on_pages_people_and_bots_are_answered_or_let_go(runs: Path) -> None:
    tries = [
        *pages.page(runs, 11, ["videos"]),
        *pages.people(runs, 13, ["images"]),
        *pages.bots(runs, 7),
    ]
    assert len(tries) > 100
    assert not list(filter(None, tries))


def test_damaged_requests_are_answered_or_let_go(runs: Path) -> None:
    tries = list(pages.damaged_requests(runs, range(100)))
    assert len(tries) == 3 * 101
    assert not list(filter(None, tries))


def test_hostile_names_stay_text(runs: Path) -> None:
    tries = list(pages.names(runs, 20, ["images"]))
    assert len(tries) > 15
    assert not list(filter(None, tries))


def test_no_script_in_a_name_runs_in_a_browser(runs: Path) -> None:
    tries = list(pages.in_browser(runs, 2, ["videos"]))
    if not tries:
        pytest.skip("no browser found")
    assert not list(filter(None, tries))


@pytest.mark.parametrize(
    ("page", "wrong"),
    [
        ("<p>&lt;script&gt;alert(1)</p>", []),
        ("<p><script>alert(1)</script></p>", ["a name in a script"]),
        ("<img src=x onerror=alert(1)>", ["a picture x", "img has onerror", "img leads to 'x'"]),
        ("<a href='javascript:alert(1)'>x</a>", ["a leads to 'javascript:alert(1)'"]),
        ("<a href='//evil.example'>x</a>", ["a leads to '//evil.example'"]),
        ("<p>1337</p>", ["a template in a name was computed"]),
        ("<iframe src='/x'></iframe>", ["an element iframe"]),
    ],
)
def test_what_is_not_ours_in_a_page_is_seen(page: str, wrong: list[str]) -> None:
    assert Markup(page).wrong == wrong


@pytest.mark.parametrize(
    ("host", "ours"),
    [
        ("localhost", True),
        ("LOCALHOST:80", True),
        ("127.0.0.1:65535", True),
        ("[::1]", True),
        ("[::1]:80", True),
        ("", False),
        ("localhost:80@evil.example", False),
        ("localhost:80/evil", False),
        ("localhost:http", False),
        ("[::1]evil.example", False),
        ("[::1", False),
        ("localhost evil.example", False),
        ("localhost:80:80", False),
    ],
)
def test_only_a_name_of_ours_with_a_port_is_trusted(host: str, ours: bool) -> None:
    assert trusted(host, "127.0.0.1") is ours


@pytest.mark.parametrize("name", [".", "..", "/", "", "x" * 300, "a\0b", "../secret", "a/../../secret", "link"])
def test_ids_that_no_file_can_have_lead_to_none(tmp_path: Path, name: str) -> None:
    (tmp_path / "media" / "a").mkdir(parents=True)
    (tmp_path / "secret.png").write_bytes(b"secret")
    (tmp_path / "media" / "link.png").symlink_to(tmp_path / "secret.png")
    folder = tmp_path / "media"
    assert (image_file(folder, name), film_file(folder, name), media_file(folder, name, 1)) == (None, None, None)


def test_an_error_nobody_foresaw_is_one_line_and_a_log_however_often_it_comes(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))

    async def broken(scope: Scope, receive: Receive, send: Send) -> None:
        raise ZeroDivisionError(f"on {scope['path']}")

    async def nothing(*_: object) -> None:
        return None

    app = LastResort(broken)
    for path in ("/a", "/b", "/a"):
        asyncio.run(app({"path": path}, nothing, nothing))  # type: ignore[arg-type]
    said = capsys.readouterr().err
    (log,) = tmp_path.iterdir()
    assert said == (
        f"error: unforeseen: ZeroDivisionError: on /a; this is a bug of questree, please report it with {log}\n"
    )
    assert 'raise ZeroDivisionError(f"on' in log.read_text()


def test_more_words_than_anybody_types_are_refused() -> None:
    assert len(phrases(" ".join(["a"] * MOST_WORDS))) == MOST_WORDS
    with pytest.raises(Wrong, match="expected at most 50 words, got 51"):
        phrases(" ".join(["a"] * (MOST_WORDS + 1)))


def test_in_a_long_prompt_only_as_much_is_looked_at_as_a_question_is_long() -> None:
    class Counted(dict[str, object]):
        looked = 0

        def __contains__(self, key: object) -> bool:
            Counted.looked += 1
            return super().__contains__(key)

    known = KnownPrompts(scopes=Counted({"is it?": {}}), ends={"?"}, longest=6)  # type: ignore[arg-type]
    assert known.question("was it not? " * 1000) is None
    assert 0 < Counted.looked <= 3000
    assert known.question("was it not? " * 1000 + "is it?") == "is it?"
