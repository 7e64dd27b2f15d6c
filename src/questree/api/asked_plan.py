"""What asking would take: requests, pictures, tokens, and a few prompts in full."""

from collections.abc import Iterator
from typing import Any

from questree.api.made import Made
from questree.ask.engine import Chain
from questree.ask.journal import Journal
from questree.ask.requests import Asking, Requests, Turn
from questree.benchmarks import Said
from questree.endpoints.limits import Prices

SHOWN = 3  # prompts
SAID = 4  # tokens of an answer, about
UNKNOWN = "(what was said)"


def planned(requests: Requests, chains: Iterator[Chain], known: Journal, prices: Prices) -> Made:
    """Nothing is sent. In conversations what will be said is not known, so neither is whether it was said before."""
    rows, stored, sent, images, tokens = 0, 0, 0, 0, 0
    keys, shown = set[bytes](), list[str]()
    for chain in chains:
        for asking in _askings(requests, chain):
            rows += 1
            key = requests.key(asking)
            if known.get(key) is not None:
                stored += 1
            elif key not in keys:
                keys.add(key)
                sent, images = sent + 1, images + len(asking.shots)
                tokens += requests.guessed_tokens(asking)
                shown += [requests.shown(asking)] if len(shown) < SHOWN else []
    record: dict[str, Any] = {"questions": rows, "known": stored, "requests": sent, "images": images}
    record |= {"tokens": tokens, "answer tokens": SAID * sent, "prompts": shown}
    said: list[Said] = [f"--- prompt {at} of {len(shown)} ---\n{text}" for at, text in enumerate(shown, 1)]
    if cost := prices.of(tokens, SAID * sent):
        record["cost"] = cost
    told = f"{rows:,} questions and sub-questions, {stored:,} answered before: {sent:,} requests with {images:,} images"
    about = f"about {tokens:,} tokens and {SAID * sent:,} of answers{f', cost about {cost:,.2f}' if cost else ''}"
    return Made("ask", [*said, f"{told}, {about}; nothing was sent"], record)


def _askings(requests: Requests, chain: Chain) -> Iterator[Asking]:
    seen = dict[int, Turn]()
    for conversation in chain:
        history = tuple[Turn, ...]()
        for item in conversation:
            if item.row not in seen:
                asking = requests.asking(item, history)
                seen[item.row] = Turn(asking.text, UNKNOWN)
                yield asking
            history += (seen[item.row],)
