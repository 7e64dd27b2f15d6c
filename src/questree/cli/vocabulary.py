"""Commands about the words: is a vocabulary file complete, and what does it hold."""

from pathlib import Path
from typing import Annotated, Any

import msgspec
from cyclopts import App, Parameter

from questree.cli.terminal import output, print_table, say, watching, write_json
from questree.faults import BadInput
from questree.vocabulary import Vocabulary, default, load
from questree.vocabulary.notes import NOTES
from questree.vocabulary.words import GROUPS

app = App(name="vocabulary", help="The words questions are made of.")

SAMPLE = 4  # words of each kind that are printed


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
    from questree.sources.used_words import used_words
    from questree.tables.store import new_file
    from questree.vocabulary.drafted_file import drafted
    from questree.vocabulary.load import parse

    if out.exists():
        raise BadInput.at(out, "expected a new file, got one that is there; remove it or choose another name")
    with watching():
        used = used_words(facts)
        if not (used.objects or used.relations or used.actions):
            raise BadInput.at(facts, "expected class names of objects, relations or actions, got none")
        text = drafted(used, name or out.stem, facts.name)
        words = parse(text, out)
    with new_file(out) as work:
        work.write_text(text, "utf-8")
    odd = sum("check:" in line for line in text.splitlines() if line.startswith("  {"))
    say(f"wrote {out} ({_sizes(words)}); words to look at (search for check:): {odd}")
    write_json({"out": str(out), "counts": counts(words)})


@app.command
@output
def check(file: Path, /) -> None:
    """Say everything that is missing or contradictory in a vocabulary file, and which special lists are empty.

    Parameters
    ----------
    file
        A vocabulary in TOML; docs/vocabulary.md has a small complete one.
    """
    vocabulary = load(file)
    say(f"{file}: nothing is missing ({_sizes(vocabulary)})")
    lists = msgspec.structs.asdict(vocabulary.lists)
    empty = [{"empty list": name, "lets through": note.empty} for name, note in NOTES.items() if not lists[name]]
    print_table("special lists that are empty (docs/vocabulary.md says what each does)", empty)
    write_json({"faults": [], "empty lists": {row["empty list"]: row["lets through"] for row in empty}})


@app.command
@output
def show(
    *, vocabulary: Annotated[Path | None, Parameter(help="Vocabulary file in TOML. [default: AGQA's words]")] = None
) -> None:
    """Print how many words of each kind there are, with the first few; the JSON has all of them."""
    words = default() if vocabulary is None else load(vocabulary)
    print_table(f"{words.name}: {_sizes(words)}", counts(words))
    write_json({"counts": counts(words), "vocabulary": msgspec.to_builtins(words)})


def counts(words: Vocabulary) -> list[dict[str, Any]]:
    """One row per kind of word; those `counted as another` are merged (objects, actions) or folded (verbs)."""
    kinds = {  # kind -> (name, id of the word it is counted as)
        "objects": [(word.name, word.merged) for word in words.objects if not word.part_only],
        "objects of sub-questions only": [(word.name, word.merged) for word in words.objects if word.part_only],
        **{f"relations, {group}": [(w.name, w.folds) for w in words.relations if w.group == group] for group in GROUPS},
        "actions": [(word.phrase, word.merged) for word in words.actions],
        "special lists": [(name, "") for name, entries in msgspec.structs.asdict(words.lists).items() if entries],
        "relations that entail others": [(name, "") for name in words.entailments],
    }
    return [
        {
            "kind": kind,
            "words": len(found),
            "counted as another": sum(bool(target) for _, target in found),
            "first": ", ".join(name for name, _ in found[:SAMPLE]),
        }
        for kind, found in kinds.items()
    ]


def _sizes(words: Vocabulary) -> str:
    return f"{len(words.objects)} objects, {len(words.relations)} relations, {len(words.actions)} actions"
