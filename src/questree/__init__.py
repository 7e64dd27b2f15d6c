"""questree builds, takes apart and scores compositional questions about videos and images."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from questree.api.asking import Asked as Asked
    from questree.api.dags import Dag as Dag
    from questree.api.epochs import Epoch as Epoch
    from questree.api.programs import Program as Program
    from questree.api.programs import program as program
    from questree.api.questions import Question as Question
    from questree.api.rewards import Rewards as Rewards
    from questree.api.rewards import RewardWeights as RewardWeights
    from questree.api.runs import Run as Run
    from questree.api.runs import open as open
    from questree.api.scored import score as score
    from questree.api.scores import Plot as Plot
    from questree.api.scores import Scores as Scores
    from questree.api.traces import trace as trace
    from questree.faults import BadInput as BadInput

__version__ = "0.1.0"
PLACES = {  # name -> where it is defined: imported when it is first asked for
    **dict.fromkeys(("Run", "open"), "api.runs"),
    **dict.fromkeys(("Program", "program"), "api.programs"),
    **dict.fromkeys(("Plot", "Scores"), "api.scores"),
    "Asked": "api.asking",
    "score": "api.scored",
    "Question": "api.questions",
    "Dag": "api.dags",
    "Epoch": "api.epochs",
    **dict.fromkeys(("RewardWeights", "Rewards"), "api.rewards"),
    "trace": "api.traces",
    "BadInput": "faults",
}
__all__ = [
    "Asked",
    "BadInput",
    "Dag",
    "Epoch",
    "Plot",
    "Program",
    "Question",
    "RewardWeights",
    "Rewards",
    "Run",
    "Scores",
]
__all__ += ["__version__", "open", "program", "score", "trace"]


def __getattr__(name: str) -> Any:
    if name not in PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"questree.{PLACES[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
