"""A drawn DAG measured in the browser: sizes of text, and rectangles of cards, labels and edges against each other."""

from typing import Any

from playwright.sync_api import Page

MEASURE = """(canvas) => {
  const shown = (selector) => [...canvas.querySelectorAll(selector)].filter((each) => each.getClientRects().length);
  const rect = (each) => each.getBoundingClientRect();
  const name = (each) => each.dataset.ends ?? each.dataset.node;
  const less = (a, b) => a < b - 0.5;
  const across = (a, b) => less(a.left, b.right) && less(b.left, a.right);
  const meet = (a, b) => across(a, b) && less(a.top, b.bottom) && less(b.top, a.bottom);
  const inside = (at, box) => box.left < at.x && at.x < box.right && box.top < at.y && at.y < box.bottom;
  const [nodes, labels, edges] = [".node", ".edge-label", "path.edge"].map(shown);
  const boxes = [...nodes, ...labels];
  const zoom = rect(nodes[0]).width / nodes[0].offsetWidth;
  const texts = [];
  const walk = document.createTreeWalker(canvas, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const own = walk.currentNode.parentElement;
    const drawn = walk.currentNode.data.trim() && own.getClientRects().length;
    if (drawn) texts.push(parseFloat(getComputedStyle(own).fontSize) * zoom);
  }
  const faults = [];
  boxes.forEach((one, at) => boxes.slice(0, at).forEach((other) => {
    if (meet(rect(one), rect(other))) faults.push(`${name(one)} lies on ${name(other)}`);
  }));
  for (const edge of edges) {
    const ends = edge.dataset.ends.split("-");
    const own = (box) => ends.includes(name(box)) || name(box) === name(edge);
    const foreign = boxes.filter((box) => !own(box)).map((box) => [name(box), rect(box)]);
    const to = edge.getScreenCTM();
    for (let along = 0; along < edge.getTotalLength(); along += 3) {
      const at = edge.getPointAtLength(along).matrixTransform(to);
      const hit = foreign.find(([, box]) => inside(at, box));
      if (hit) { faults.push(`edge ${name(edge)} passes ${hit[0]}`); break; }
    }
  }
  const counts = { nodes: nodes.length, labels: labels.length, edges: edges.length };
  const wide = document.documentElement.scrollWidth > innerWidth;
  return { ...counts, smallest: Math.min(...texts), faults, wide };
}"""


TEXTS = """() => {
  const found = [];
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const own = walk.currentNode.parentElement;
    if (!walk.currentNode.data.trim() || !own.getClientRects().length || own.closest(".hidden, noscript")) continue;
    const by = own.closest("svg") ? own.getScreenCTM() : null; // of a text that stands upright, too
    const size = parseFloat(getComputedStyle(own).fontSize) * (by ? Math.hypot(by.a, by.b) : 1);
    found.push([Math.round(100 * size) / 100, `${own.className} ${walk.currentNode.data.trim()}`]);
  }
  return found;
}"""


def small_texts(page: Page, least: float = 12.0) -> list[Any]:
    """Texts that are seen and smaller than so many px."""
    return [text for text in page.evaluate(TEXTS) if text[0] < least]


def measured(page: Page, at: int = 0) -> dict[str, Any]:
    """Of a DAG: counts of what is shown, smallest text in px, what lies on what, whether the page scrolls sideways."""
    found: dict[str, Any] = page.locator(".questree-dag .cards").nth(at).evaluate(MEASURE)
    return found
