"""What people can be asked about a run: its questions and sub-questions, its videos, what two models say."""

from collections.abc import Sequence

import polars as pl

from questree.api.dag_tables import node_table, prediction_table
from questree.api.question_tables import question_table
from questree.benchmarks import AGQA, Benchmark
from questree.faults import BadInput
from questree.models.stored import said
from questree.people.items import Drawn, Known, others
from questree.people.sample import CANDIDATES
from questree.people.task import Task
from questree.scoring.run_answers import answers_to
from questree.stages.decompose.hierarchies import RunHierarchies, hierarchies_in
from questree.stages.decompose.question_texts import texts_by_id
from questree.tables.facts import SPLIT_UNSAID, VIDEOS
from questree.tables.hierarchies import NOTHING
from questree.tables.run import Run
from questree.vocabulary.words import Vocabulary

WRONG_BOTS = ("uniform", "most-likely")  # whose mistakes are planted, in this order
CATEGORIES = ("reasoning", "semantic", "structural")


def dags_of(run: Run, own: Benchmark, split: str | None) -> RunHierarchies:
    return hierarchies_in(run, split, own.name)


def questions(dags: RunHierarchies, own: Benchmark, parts: bool) -> pl.DataFrame:
    """As CANDIDATES, without texts; `parts`: sub-questions too."""
    nodes = node_table(dags, programs=False, texts=False).drop_nulls("answer")
    nodes = nodes if parts else nodes.filter("asked")
    videos = own is AGQA
    wanted = ["id", "scope", "template", "split", *(CATEGORIES if videos else ())]
    asked = question_table(dags.run, own, balanced=False, columns=wanted)
    sides = asked.select("scope", side="split").unique("scope", keep="first")
    table = nodes.join(asked.drop("scope"), on="id", how="left", maintain_order="left")
    table = table.join(sides, on="scope", how="left", maintain_order="left")
    category = pl.concat_list(*CATEGORIES) if videos else pl.lit(None, pl.List(pl.String))
    scope = pl.concat_list("scope") if videos else pl.col("scope")
    columns = {
        "scope": scope,
        "question": pl.lit(None, pl.String),
        "split": pl.coalesce("split", "side").fill_null(""),
        "category": category,
    }
    return table.with_columns(**columns).select(pl.col(name).cast(kind) for name, kind in CANDIDATES.items())


def with_texts(dags: RunHierarchies, drawn: pl.DataFrame) -> pl.DataFrame:
    return drawn.with_columns(question=texts_by_id(dags, drawn["id"]))


def other_texts(dags: RunHierarchies, candidates: pl.DataFrame, drawn: Drawn, seed: int) -> dict[str, str]:
    """id of gold -> the text of another question about its scope."""
    paired = others(candidates, pl.concat([drawn.gold, drawn.qualification]), seed)
    return dict(zip(paired, texts_by_id(dags, pl.Series(list(paired.values()), dtype=pl.String)), strict=True))


def videos(run: Run, own: Benchmark, split: str | None) -> pl.DataFrame:
    """The same of videos; there is nothing else whose objects could be absent."""
    if own is not AGQA:
        raise BadInput.at("--task", f"expected a task about questions, got one about videos; these are {own.scopes}")
    table = run.table("facts", VIDEOS).select("id", pl.col("split").replace("", SPLIT_UNSAID))
    table = table if split is None else table.filter(split=split)
    empty = {name: pl.lit(None, kind) for name, kind in CANDIDATES.items() if name not in ("id", "split")}
    return table.with_columns(**empty | {"scope": pl.concat_list("id"), "type": pl.lit("")}).select(list(CANDIDATES))


def mistakes(dags: RunHierarchies, own: Benchmark) -> dict[str, str]:
    """id -> what a bot says that is wrong."""
    found: dict[str, str] = {}
    nodes = node_table(dags, programs=False, texts=False).select("id", "answer").drop_nulls()
    keys = dags.hierarchies.keys.to_list()
    for name in WRONG_BOTS:
        given = said(dags, answers_to(dags.run, own, name))
        by_id = {
            key: given.words[word] for key, word in zip(keys, given.by_key.tolist(), strict=True) if word != NOTHING
        }
        for id, answer in nodes.iter_rows():
            if by_id.get(id, answer) != answer:
                found.setdefault(id, by_id[id])
    return found


def disputed(dags: RunHierarchies, models: Sequence[str], candidates: pl.DataFrame) -> tuple[pl.DataFrame, Known]:
    """Candidates to which two models give different answers, and what these are."""
    if len(models) != 2:
        raise BadInput.at("--models", f"expected two stored models, as in A,B, got {len(models)}")
    answers = [dict(prediction_table(dags, name).select("id", "prediction").iter_rows()) for name in models]
    differ = [id in answers[0] and id in answers[1] and answers[0][id] != answers[1][id] for id in candidates["id"]]
    return candidates.filter(pl.Series(differ, dtype=pl.Boolean)), Known(models=answers)


def may_be_absent(words: Vocabulary) -> list[str]:
    """Objects that somebody can label absent: those that count for themselves and are not in every video."""
    never = {*words.lists.always_there, words.objects[words.object_at[words.person]].name}
    counted = words.merged_object.tolist()
    return sorted(
        one.name
        for at, one in enumerate(words.objects)
        if counted[at] == at and one.name not in never and one.id != words.other and one.id != words.unnamed
    )


def there(run: Run) -> dict[str, list[str]]:
    """video -> objects that the facts show in it."""
    facts, words = run.load("facts"), run.vocabulary()
    names = [words.objects[at].name for at in words.merged_object.tolist()]
    seen = facts.objects.filter("visible").select("video", "object").unique().sort("video", "object")
    found: dict[str, list[str]] = {}
    for video, thing in seen.iter_rows():
        found.setdefault(facts.videos["id"][video], []).append(names[thing])
    return found


def candidates_of(
    task: Task, run: Run, own: Benchmark, split: str | None, parts: bool, models: Sequence[str]
) -> tuple[pl.DataFrame, Known, RunHierarchies | None]:
    """What a task draws from, and what its items are made with."""
    if task.about == "scopes":
        return videos(run, own, split), Known(objects=may_be_absent(run.vocabulary()), there=there(run)), None
    dags = dags_of(run, own, split)
    found = questions(dags, own, parts)
    if task.about == "models":
        found, known = disputed(dags, models, found)
        return found, known, dags
    return found, Known(), dags
