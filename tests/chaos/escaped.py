"""Pages that show hostile names: text stays text, whether a parser reads them or a browser opens them."""

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import quote, urljoin

from playwright.sync_api import Browser, Dialog

from chaos.fuzz import Failure
from chaos.page_attacks import Server
from chaos.requests import get
from worlds import browsers

OTHERS = ("iframe", "object", "embed", "base", "applet", "frame", "link")  # elements that bring something in
COMPUTED = "1337"  # of {{7*191}}, which is in a name
LEADING = ("href", "src", "action", "formaction", "xlink:href", "srcdoc")
ATTACK = "alert(1)"
PATIENCE = 240_000  # milliseconds until a page is there, on a machine with much other work


class Markup(HTMLParser):
    """What is in a page that was not ours to put there; the addresses it leads to."""

    def __init__(self, text: str):
        super().__init__()
        self.wrong, self.links, self.inside = list[str](), list[str](), ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        told, self.inside = {name: value or "" for name, value in attributes}, tag
        if tag in OTHERS and not told.get("href", "").startswith("/"):
            self.wrong.append(f"an element {tag}")
        if tag in ("img", "image") and told.get("src", told.get("href")) == "x":
            self.wrong.append("a picture x")
        self.wrong += [f"{tag} has {name}" for name in told if name.startswith("on")]
        for name in LEADING:
            place = told.get(name, "/")
            if not place.startswith(("/", "#", "?", "data:image/")) or place.startswith("//"):
                self.wrong.append(f"{tag} leads to {place[:60]!r}")
        if tag == "a" and told.get("href", "").startswith("/"):
            self.links.append(told["href"])

    def handle_data(self, data: str) -> None:
        if COMPUTED in data and "7*191" not in data:
            self.wrong.append("a template in a name was computed")
        if self.inside in ("script", "style") and ATTACK in data:
            self.wrong.append(f"a name in a {self.inside}")


def crawled(server: Server, start: str, most: int) -> Iterator[Failure | None]:
    """One item per page: those that can be reached by links, one of every path, until there are enough."""
    known, left = {start.partition("?")[0]}, [start]
    while left and most:
        at, most = left.pop(0), most - 1
        found = server.sent(get(quote(at, safe="/%?&=+:;,@!$'()*~#[]").partition("#")[0]))
        head, _, body = found.partition(b"\r\n\r\n")
        page = Markup(body.decode("utf-8", "replace") if b"content-type: text/html" in head.lower() else "")
        wrong = page.wrong if head.startswith((b"HTTP/1.1 200", b"HTTP/1.1 30")) else [head[:60].decode("latin-1")]
        yield Failure("hostile names", at[:80], "; ".join(wrong[:3])) if wrong else None
        moved = re.findall(r"location: (\S+)", head.decode("latin-1"))
        for link in (urljoin(at, link) for link in (*moved, *page.links)):
            if link.partition("?")[0] not in known:
                known.add(link.partition("?")[0])
                left.append(link)


def opened(addresses: list[str]) -> Iterator[Failure | None]:
    """One item per page that a browser opens: no script of somebody else's, no complaint, nothing asked elsewhere."""
    if browsers.program() is None:
        return
    with browsers.launched() as browser:
        for address in addresses:
            told = visited(browser, address)
            yield Failure("hostile names in a browser", address[-80:], "; ".join(told)[:300]) if told else None


def visited(browser: Browser, address: str) -> list[str]:
    """What went on there that should not."""
    page, told = browser.new_page(), list[str]()
    page.set_default_timeout(PATIENCE)

    def dismissed(dialog: Dialog) -> None:
        told.append("a script runs")
        dialog.dismiss()

    page.on("dialog", dismissed)
    page.on("pageerror", lambda error: told.append(str(error)))
    page.on("console", lambda line: told.append(line.text) if line.type in ("error", "warning") else None)
    page.goto(address, wait_until="networkidle")
    if page.evaluate("document.querySelectorAll('img[src=\"x\"], svg[onload]').length"):
        told.append("elements of a name")
    page.close()
    return told


def report_of(path: Path) -> Failure | None:
    """A report is one file, in which only its own script stands."""
    wrong = [each for each in Markup(path.read_text("utf-8")).wrong if not each.startswith("an element link")]
    return Failure("hostile names", path.name, "; ".join(wrong[:3])) if wrong else None
