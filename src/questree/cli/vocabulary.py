"""Commands about the words: is a vocabulary file complete, and what does it hold."""

from pathlib import Path
from typing import Annotated, Any

import msgspec
from cyclopts import App, Parameter

from questree.cli.terminal import messages, output, print_table, say, write_json
from questree.vocabulary import Vocabulary, default, load
from questree.vocabulary.words import GROUPS

app = App(name="vocabulary", help="The words questions are made of.")

SAMPLE = 4  # words of each kind that are printed


@app.command
@messages
def check(file: Path, /) -> None:
    """Say everything that is missing or contradictory in a vocabulary file.

    Parameters
    ----------
    file
        A vocabulary in TOML; docs/vocabulary.md has a small complete one.
    """
    vocabulary = load(file)
    say(f"{file}: nothing is missing ({_sizes(vocabulary)})")


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
