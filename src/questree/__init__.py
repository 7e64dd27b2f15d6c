"""questree builds, takes apart and scores compositional questions about videos and images."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from questree import plugins as plugins
    from questree.api.answering import answer as answer
    from questree.api.answering import ground as ground
    from questree.api.asking import Asked as Asked
    from questree.api.augmenting import augment as augment
    from questree.api.building import build as build
    from questree.api.clusters import cluster as cluster
    from questree.api.consistency import Consistency as Consistency
    from questree.api.consistency import consistency as consistency
    from questree.api.dags import Dag as Dag
    from questree.api.epochs import Epoch as Epoch
    from questree.api.exporting import export as export
    from questree.api.feature_sets import make_features as make_features
    from questree.api.importing import import_agqa as import_agqa
    from questree.api.importing import import_covr as import_covr
    from questree.api.importing import import_decomp as import_decomp
    from questree.api.ingesting import ingest as ingest
    from questree.api.locks import diff as diff
    from questree.api.locks import verify as verify
    from questree.api.made import Made as Made
    from questree.api.made_up import synthesize as synthesize
    from questree.api.planning import power as power
    from questree.api.programs import Program as Program
    from questree.api.programs import program as program
    from questree.api.questions import Question as Question
    from questree.api.reports import Report as Report
    from questree.api.reports import report as report
    from questree.api.rewards import Rewards as Rewards
    from questree.api.rewards import RewardWeights as RewardWeights
    from questree.api.runs import Run as Run
    from questree.api.runs import open as open
    from questree.api.scored import score as score
    from questree.api.scores import Plot as Plot
    from questree.api.scores import Scores as Scores
    from questree.api.stages import audit as audit
    from questree.api.stages import balance as balance
    from questree.api.stages import decompose as decompose
    from questree.api.stages import generate as generate
    from questree.api.stages import split as split
    from questree.api.traces import trace as trace
    from questree.api.training import predict as predict
    from questree.api.training import train as train
    from questree.api.wordings import wordings as wordings
    from questree.faults import BadInput as BadInput

__version__ = "0.1.0"
PLACES = {  # name -> where it is defined: imported when it is first asked for
    **dict.fromkeys(("Run", "open"), "api.runs"),
    **dict.fromkeys(("Program", "program"), "api.programs"),
    **dict.fromkeys(("Plot", "Scores"), "api.scores"),
    **dict.fromkeys(("answer", "ground"), "api.answering"),
    "Made": "api.made",
    **dict.fromkeys(("audit", "balance", "decompose", "generate", "split"), "api.stages"),
    **dict.fromkeys(("Consistency", "consistency"), "api.consistency"),
    "augment": "api.augmenting",
    "cluster": "api.clusters",
    "build": "api.building",
    "ingest": "api.ingesting",
    "Asked": "api.asking",
    "score": "api.scored",
    "Question": "api.questions",
    "Dag": "api.dags",
    "Epoch": "api.epochs",
    **dict.fromkeys(("RewardWeights", "Rewards"), "api.rewards"),
    **dict.fromkeys(("Report", "report"), "api.reports"),
    "power": "api.planning",
    "synthesize": "api.made_up",
    "trace": "api.traces",
    **dict.fromkeys(("predict", "train"), "api.training"),
    "wordings": "api.wordings",
    "export": "api.exporting",
    "make_features": "api.feature_sets",
    **dict.fromkeys(("import_agqa", "import_covr", "import_decomp"), "api.importing"),
    **dict.fromkeys(("diff", "verify"), "api.locks"),
    "BadInput": "faults",
}
__all__ = ["Asked", "BadInput", "Consistency", "Dag", "Epoch", "Made", "Plot", "Program", "Question"]
__all__ += ["Report", "RewardWeights", "Rewards", "Run", "Scores"]
__all__ += [
    "__version__",
    "answer",
    "audit",
    "augment",
    "balance",
    "build",
    "cluster",
    "consistency",
    "decompose",
    "diff",
    "export",
    "generate",
    "ground",
    "import_agqa",
    "import_covr",
    "import_decomp",
    "ingest",
    "make_features",
    "open",
    "power",
    "predict",
    "program",
    "report",
    "score",
    "split",
    "synthesize",
    "trace",
    "train",
    "verify",
    "wordings",
]


def __getattr__(name: str) -> Any:
    if name == "plugins":  # what extends it, and how such files are loaded
        return import_module("questree.plugins")
    if name not in PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"questree.{PLACES[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
