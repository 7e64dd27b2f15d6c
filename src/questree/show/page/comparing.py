"""Two models of a run compared as `questree compare` does: the same questions, the same scores, the same resamples."""

from dataclasses import dataclass, field
from functools import cached_property
from threading import Lock

from questree.metrics.bootstrap import Resampling
from questree.metrics.comparison import Difference, compare
from questree.metrics.dags.report import score_decomp
from questree.metrics.scores import Scored
from questree.models.stored import said
from questree.stages.decompose.hierarchies import RunHierarchies, run_hierarchies
from questree.tables.predictions import Stored
from questree.tables.run import Run

RESAMPLES = 1000
METRICS = {
    "type": ("accuracy", "CA", "RWR", "Delta", "IC"),
    "composition": ("CA", "RWR", "Delta", "IC"),
    "rule": ("IC",),
}


@dataclass
class Comparing:
    """Scores are worked out when they are first asked for, and kept."""

    run: Run
    _scored: dict[str, Scored] = field(default_factory=dict)
    _found: dict[tuple[str, str], list[Difference]] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)

    @cached_property
    def asked(self) -> RunHierarchies:
        return run_hierarchies(self.run, workers=1)

    def scored(self, model: str) -> Scored:
        if model not in self._scored:
            predictions = said(self.asked, Stored.of(self.run, model))
            self._scored[model] = score_decomp(self.asked.hierarchies, predictions, "wrong")
        return self._scored[model]

    def ready(self, a: str, b: str) -> bool:
        return (a, b) in self._found

    def differences(self, a: str, b: str) -> list[Difference]:
        """The second model minus the first; the cells of the papers' main tables."""
        with self._lock:
            if (a, b) not in self._found:
                rows = compare(self.scored(a), self.scored(b), Resampling(RESAMPLES))
                self._found[a, b] = [row for row in rows if row.metric in METRICS.get(row.by, ())]
            return self._found[a, b]
