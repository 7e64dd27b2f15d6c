"""The choices behind scores, as keywords of functions and as options of commands."""

from dataclasses import fields
from os import PathLike
from typing import Any, Literal, TypedDict, TypeVar, get_args

from questree.faults import BadInput, Fault, refuse
from questree.metrics.answered import Missing
from questree.models.policies import POLICIES
from questree.models.policies import Policy as Policy
from questree.places import path_of
from questree.scoring.compared import ComparingOptions as ComparingOptions
from questree.scoring.compared import OnePolicy as OnePolicy
from questree.scoring.compared import Planning as Planning
from questree.scoring.compared import Resampled
from questree.scoring.compared import Scoring as Scoring

StrPath = str | PathLike[str]
Choices = TypeVar("Choices", bound=Resampled)


class ScoringOptions(TypedDict, total=False):
    """The options of `questree score`."""

    missing: Missing  # questions without a prediction: error, wrong or skip
    policy: Literal["exact", "vqa", "lenient", "all"]  # how free-form answers are read
    resamples: int  # behind intervals; 0 for none
    seed: int
    vocabulary: StrPath  # with synonyms for `lenient`
    synonyms: StrPath  # further ways to say answers
    id_column: str
    answer_column: str


def chosen(kind: type[Choices], how: ScoringOptions) -> Choices:
    """Options by name; paths may be texts."""
    known = [each.name for each in fields(kind)]
    strange = [name for name in how if name not in known]
    if strange:
        raise BadInput.at(
            strange[0], f"expected an option of scoring, got {strange[0]!r}; choose from {', '.join(known)}"
        )
    given: dict[str, Any] = dict(how)
    policies = (*POLICIES, "all") if kind is Scoring else POLICIES
    refuse(
        [
            Fault(name, f"expected a known one, got {given[name]!r}; choose from {', '.join(there)}")
            for name, there in {"missing": get_args(Missing), "policy": policies}.items()
            if given.get(name, there[0]) not in there
        ]
    )
    paths = {name: path_of(given[name]) for name in ("vocabulary", "synonyms") if given.get(name) is not None}
    return kind(**given | paths)
