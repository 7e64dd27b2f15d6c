"""AGQA's words are known to AGQA alone: no id, name or number of its classes stands in code that serves any corpus."""

import ast
from collections.abc import Iterator
from pathlib import Path

import questree
from questree.vocabulary import default

ROOT = Path(questree.__file__).parent
AGQA = ("benchmarks/agqa", "synth")  # the benchmark, and the made-up world that speaks its words
IMAGES = ("benchmarks/covr", "domains/images", "search", "api/wordings.py")  # words of images are another matter
ENGLISH = (
    "said/lexicon.py",
    "vocabulary/draft",
    "vocabulary/inflection",
    "vocabulary/step_",
)  # common words that the draft of a vocabulary is guessed by
COUNTS = {157, 141, 139}  # actions, merged ones, those among released answers
DEFAULTS = {"o1", "d1", "d2"}  # of the file format: `person`, `annotated`, `interacting`
SAID = {"person", "interacting with"}  # by all questions about videos, whatever the vocabulary
OUR_OWN = {
    "run",
    "running",
    "open",
    "window",
    "table",
    "box",
    "turn",
    "make",
    "picture",
    "annotated",
    "unsure",
    "above",
    "paper",
    "wash",
    "work",
}  # terms of ours, too


def constants(*left_out: str) -> Iterator[tuple[str, object]]:
    """Every constant in the code but docstrings, with its file."""
    for path in sorted(ROOT.rglob("*.py")):
        file = path.relative_to(ROOT).as_posix()
        if not file.startswith(left_out):
            tree = ast.parse(path.read_text("utf-8"))
            yield from ((file, node.value) for node in ast.walk(tree) if isinstance(node, ast.Constant))


def test_no_id_or_number_of_agqas_classes_is_in_the_code() -> None:
    words = default()
    ids = {word.id for kind in (words.objects, words.relations, words.actions) for word in kind}
    found = [(file, said) for file, said in constants("benchmarks/agqa") if isinstance(said, str) and said in ids]
    assert [(file, said) for file, said in found if said not in DEFAULTS] == []
    numbers = [(file, said) for file, said in constants("benchmarks/agqa") if type(said) is int and said in COUNTS]
    assert numbers == []


def test_no_name_of_agqas_words_is_in_the_code() -> None:
    words = default()
    names = {name for kind in (words.objects, words.relations) for word in kind for name in (word.name, *word.labels)}
    names |= {action.phrase for action in words.actions}
    found = [
        (file, said) for file, said in constants(*AGQA, *IMAGES, *ENGLISH) if isinstance(said, str) and said in names
    ]
    assert [(file, said) for file, said in found if said not in SAID | OUR_OWN] == []
