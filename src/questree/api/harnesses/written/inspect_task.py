"""Questions and sub-questions of a run as a task of inspect_ai; written by `questree export inspect`."""

import json
import os
from pathlib import Path

from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ChatMessageUser, ContentImage, ContentText, GenerateConfig
from inspect_ai.scorer import SampleScore, Score, Value, accuracy, grouped, metric, scorer, stderr
from inspect_ai.solver import generate

from questree.api.judging import RunJudge

HERE = Path(__file__).parent
SETTINGS = json.loads((HERE / "settings.json").read_text("utf-8"))
MEDIA = Path(os.environ.get("QUESTREE_MEDIA") or SETTINGS["media"])
RUN = os.environ.get("QUESTREE_RUN") or SETTINGS["run"]
JUDGE = RunJudge(RUN, SETTINGS["split"], SETTINGS["benchmark"])


def sample(row):
    seen = [ContentImage(image=str(MEDIA / name)) for name in row["media"]]
    about = {"scope": row["cluster"], "type": row["type"], "asked": row["asked"]}
    content = [*seen, ContentText(text=row["prompt"])]
    return Sample(id=row["id"], input=[ChatMessageUser(content=content)], target=row["answer"] or "", metadata=about)


@metric
def dags():
    """Scores that take whole DAGs, with errors by scope."""

    def compute(scores: list[SampleScore]) -> Value:
        said = {each.sample_id: each.score.answer for each in scores if each.score.answer is not None}
        return JUDGE.scores(said) if said else {}

    return compute


@scorer(metrics=[accuracy(), stderr(cluster="scope"), grouped(accuracy(), "type")])
def right():
    """Each answer by itself; where nobody knows the truth there is no score."""

    async def score(state, target):
        found = JUDGE.judged(state.sample_id, state.output.completion)
        return None if found.right is None else Score(value=float(found.right), answer=found.answer)

    return score


@scorer(metrics=[dags()])
def whole():
    """All answers together."""

    async def score(state, target):
        return Score(value=1.0, answer=state.output.completion)

    return score


@task
def questree():
    with (HERE / "questions.jsonl").open(encoding="utf-8") as file:
        samples = [sample(json.loads(line)) for line in file]
    return Task(
        dataset=MemoryDataset(samples, name="questree"),
        solver=generate(),
        scorer=[right(), whole()],
        config=GenerateConfig(temperature=0, max_tokens=256),
    )
