"""Commands about the words: is a vocabulary file complete, and what does it hold."""

from collections import Counter
from pathlib import Path
from typing import Annotated

import msgspec
from cyclopts import App, Parameter

from questree.api.vocabularies import Vocabulary, counts, draft_vocabulary, empty_lists, read_vocabulary
from questree.cli.terminal import output, print_table, say, watching, write_json

SHARED = 10  # words with the wording of another that are named

app = App(name="vocabulary", help="The words questions are made of.")


@app.command
@output
def draft(
    facts: Annotated[Path, Parameter(help="Your own videos: a JSON file, or a folder of them (docs/ingest.md).")],
    /,
    *,
    out: Annotated[Path, Parameter(help="Vocabulary file to write; it must not be there yet.")],
    name: Annotated[str | None, Parameter(help="Name of the vocabulary. [default: that of the file]")] = None,
) -> None:
    """Propose a vocabulary with every class name of your own videos, to be read and corrected by you.

    Articles, plurals and verb forms are made by rule; singular and plural, or synonyms, are counted as one class.
    """
    with watching():
        words, look, shared = draft_vocabulary(facts, out=out, name=name)
    say(f'wrote {out} ({_sizes(words)}); words to look at (search for "look at this"): {len(look)}')
    reasons = Counter(why for _, why in look)
    examples = {why: word for word, why in reversed(look)}
    rows = [{"look at this": why, "words": times, "as": examples[why]} for why, times in reasons.most_common()]
    print_table("words the rules are not sure of", rows)
    more = [f"and {len(shared) - SHARED} more (--json names all)"] if len(shared) > SHARED else []
    print_table("one wording for two words", [{"folded or renamed": each} for each in (*shared[:SHARED], *more)])
    write_json({"out": str(out), "counts": counts(words), "look at this": look, "folded or renamed": shared})


@app.command
@output
def check(file: Path, /) -> None:
    """Say everything that is missing or contradictory in a vocabulary file, and which special lists are empty.

    Parameters
    ----------
    file
        A vocabulary in TOML; docs/vocabulary.md has a small complete one.
    """
    words = read_vocabulary(file)
    say(f"{file}: nothing is missing ({_sizes(words)})")
    empty = empty_lists(words)
    rows = [{"empty list": name, "lets through": what} for name, what in empty.items()]
    print_table("special lists that are empty (docs/vocabulary.md says what each does)", rows)
    write_json({"faults": [], "empty lists": empty})


@app.command
@output
def show(
    *, vocabulary: Annotated[Path | None, Parameter(help="Vocabulary file in TOML. [default: AGQA's words]")] = None
) -> None:
    """Print how many words of each kind there are, with the first few; the JSON has all of them."""
    words = read_vocabulary(vocabulary)
    print_table(f"{words.name}: {_sizes(words)}", counts(words))
    write_json({"counts": counts(words), "vocabulary": msgspec.to_builtins(words)})


def _sizes(words: Vocabulary) -> str:
    return f"{len(words.objects)} objects, {len(words.relations)} relations, {len(words.actions)} actions"
