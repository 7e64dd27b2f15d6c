"""Every file of a run cut or with a flipped byte: `verify` names it, and whoever reads it says so."""

from collections.abc import Iterator
from pathlib import Path
from random import Random

from chaos.fuzz import Failure, tried, unchanged
from chaos.mutations import cut, flipped
from chaos.readers import OUT
from worlds.commands import questree

KINDS = {"cut": cut, "flipped": flipped}
COMMANDS = {  # all that read a run, of videos and of image sets
    "run": (
        "show run 038T4",
        "score run --model oracle --resamples 0",
        "score agqa run --model oracle --resamples 0",
        "compare oracle composition-noise --run run --resamples 1",
        "augment run",
        "generate run --workers 1",
        "balance run",
        "split run --workers 1",
        "decompose run --workers 1",
        "answer run --model composition-noise --name other",
        "audit run --workers 1",
        "ground run --out out",
        "report run --out out --resamples 0",
        "export agqa run --out out --workers 1",
        "export decomp run --out out --workers 1",
        "export traces run --out out",
        "export hf run --out out",
        "features run --from-facts",
        "people new run --sample 2 --gold 0 --split all",
        "ask run --python worlds.talker:yes --name talker --questions 2 --no-media",
        "diff run asked",
    ),
    "sets": (
        "score decomp sets --model oracle --split train --resamples 0",
        "score covr sets --model oracle --resamples 0",
        "generate sets --questions 8 --workers 1",
        "balance sets",
        "split sets --workers 1",
        "decompose sets --workers 1",
        "answer sets --model perception-noise",
        "audit sets --workers 1",
        "ground sets --out out",
        "report sets --out out --resamples 0",
        "export covr sets --out out",
        "export hf sets --out out",
        "features sets --from-facts",
        "people new sets --sample 2 --gold 0 --split all",
        "diff sets run",
    ),
}
UNLOCKED = (".sqlite",)  # endings of books in which is written all the time


def corrupted(corpus: Path, name: str, every: int = 1) -> Iterator[Failure | None]:
    """One item per file and kind of damage to a run of the corpus, or per n-th of them."""
    folder = corpus / name
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    for path in files[::every]:
        whole = path.read_bytes()
        for kind, damage in KINDS.items():
            data = damage(whole, Random(f"{path.name} {kind}"))
            path.write_bytes(data)
            try:
                why = "" if data == whole else _unsaid(corpus, name, path) or _badly_said(corpus, name)
            finally:
                path.write_bytes(whole)
            yield Failure("corruption", f"{path.relative_to(corpus)}, {kind}", why) if why else None


def _unsaid(corpus: Path, name: str, path: Path) -> str:
    """Does `verify` name the file?"""
    if path.suffix in UNLOCKED:
        return ""
    done = questree("verify", name, folder=corpus)
    if done.returncode == 1 and str(path.relative_to(corpus)) in done.stderr:
        return ""
    return f"verify ends with {done.returncode}: {done.stderr[:200]}"


def _badly_said(corpus: Path, name: str) -> str:
    """The first command that ends as none should; each finds the run as the one before did."""
    for command in COMMANDS[name]:
        with unchanged(corpus / name, corpus.parent / "kept"), unchanged(corpus / OUT, corpus.parent / "none"):
            if why := tried(corpus, command):
                return f"{command}: {why}"
    return ""
