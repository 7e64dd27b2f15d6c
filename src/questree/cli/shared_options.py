"""Options that several commands share, and which of them fit the benchmark of a run."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Parameter, Token, convert

from questree.places import path_of


def whole(_: Any, tokens: Sequence[Token]) -> int:
    """A number as it was given: 1.5 is refused, not rounded; the command line adds the name of the option."""
    try:
        return int(tokens[0].value)
    except ValueError:
        raise ValueError(f"expected a whole number, got {tokens[0].value!r}") from None


def located(kind: Any, tokens: Sequence[Token]) -> Any:
    """What cyclopts makes of an option, but for paths, which may be URLs."""
    found = convert(kind, tokens)
    if isinstance(found, Path):
        return path_of(tokens[0].value)
    if isinstance(found, list) and any(isinstance(each, Path) for each in found):
        return [path_of(token.value) for token in tokens]
    return found


Whole = Annotated[int, Parameter(converter=whole)]
BenchmarkOption = Annotated[
    str, Parameter(help="Benchmark of a run with both: agqa (videos, the default) or covr (image sets).")
]
OnlyBenchmark = Annotated[str, Parameter(help="Of a run with both: only agqa (videos) or covr (image sets).")]
ShardOption = Annotated[int | None, Parameter(help="Videos: largest number of videos per file. [128]")]
PhrasesOption = Annotated[
    int | None, Parameter(help="Videos: largest number of time phrases per video. [default: all]")
]
MostPerVideoOption = Annotated[
    int | None,
    Parameter(
        help="Videos: largest number of questions of a video; of one with more a sample is asked about. [3,000,000]"
    ),
]
SeedOption = Annotated[int, Parameter(help="Seed of the draws.")]
WorkersOption = Annotated[int, Parameter(help="Number of processes.")]
ClosedWorldOption = Annotated[
    bool,
    Parameter(
        negative="", help="Videos with actions alone: ask everything; what nobody annotated is taken for absent."
    ),
]
WithoutOption = Annotated[
    tuple[str, ...],
    Parameter(
        negative="",
        show_default=False,
        help="Videos: rule of cleaning to leave out, by number or name; may be given several times.",
    ),
]
RunFolder = Annotated[Path | None, Parameter(help="A run with DAGs (`questree decompose`), instead of files.")]
FilesOption = Annotated[list[Path], Parameter(help="Predictions of one model; may be given again.", negative="")]
HierarchiesOption = Annotated[
    Path | None, Parameter(help="AGQA-Decomp hierarchies: a folder, one <video>.json per video.")
]
RecordsOption = Annotated[Path | None, Parameter(help="AGQA questions: a JSON file {id: record}.")]
CacheOption = Annotated[
    bool, Parameter(help="With --hierarchies: keep what large folders hold for the next time, and use it.")
]
UnscoredOption = Annotated[
    Path | None, Parameter(help="Types not to score, one per line, instead of those the paper leaves out.")
]
SplitOption = Annotated[
    Literal["train", "dev", "test"] | None, Parameter(help="With a run: split to score; dev only of image sets.")
]
