"""Every file of a run cut or with a flipped byte: `verify` names it, and whoever reads it says so."""

from collections.abc import Iterator
from pathlib import Path
from random import Random

from chaos.fuzz import Failure, tried
from chaos.mutations import cut, flipped
from worlds.commands import questree

KINDS = {"cut": cut, "flipped": flipped}
COMMANDS = {
    "run": ("score run --model oracle --resamples 0", "show run 038T4", "audit run --workers 1"),
    "sets": ("score decomp sets --model oracle --split train --resamples 0", "audit sets --workers 1"),
}
UNLOCKED = ("predictions", "audit")  # what is made again at will


def corrupted(corpus: Path, name: str) -> Iterator[Failure | None]:
    """One item per file and kind of damage to a run of the corpus."""
    folder = corpus / name
    for path in sorted(path for path in folder.rglob("*") if path.is_file() and path.name != "lock.json"):
        whole = path.read_bytes()
        for kind, damage in KINDS.items():
            data = damage(whole, Random(f"{path.name} {kind}"))
            path.write_bytes(data)
            try:
                why = "" if data == whole else _said(corpus, name, path)
            finally:
                path.write_bytes(whole)
            yield Failure("corruption", f"{path.relative_to(corpus)}, {kind}", why) if why else None


def _said(corpus: Path, name: str, path: Path) -> str:
    inside = path.relative_to(corpus / name)
    if inside.parts[0] not in UNLOCKED and inside.name != "ledger.json":
        done = questree("verify", name, folder=corpus)
        if done.returncode != 1 or str(path.relative_to(corpus)) not in done.stderr:
            return f"verify ends with {done.returncode}: {done.stderr[:200]}"
    return next((f"{command}: {why}" for command in COMMANDS[name] if (why := tried(corpus, command))), "")
