"""A page in the browser as people with other needs meet it: findings of axe, sideways scrolling."""

from functools import cache
from pathlib import Path
from typing import Any

from playwright.sync_api import Page

AXE = Path(__file__).parents[1] / "data" / "axe" / "axe.min.js"
GRAVE = ("serious", "critical")
FIND = "() => axe.run({ resultTypes: ['violations'] }).then((found) => found.violations)"


@cache
def _axe() -> str:
    return AXE.read_text("utf-8")


def findings(page: Page) -> list[str]:
    """What axe calls serious or critical: rule, how often, the first place."""
    page.evaluate(_axe())
    found: list[dict[str, Any]] = page.evaluate(FIND)
    grave = [each for each in found if each["impact"] in GRAVE]
    return [f"{each['id']}: {len(each['nodes'])}, {each['nodes'][0]['html'][:200]}" for each in grave]


def is_wide(page: Page) -> bool:
    """Must the page be scrolled sideways?"""
    found: bool = page.evaluate("document.documentElement.scrollWidth > innerWidth")
    return found
