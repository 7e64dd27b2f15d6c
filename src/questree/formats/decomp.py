"""A decomposed run in the layout of AGQA-Decomp's release: a JSON file of DAGs per video, isolated.json, CSVs."""

from collections.abc import Iterator, Mapping
from concurrent.futures import Executor
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice, pairwise, product
from pathlib import Path

import numpy as np
import polars as pl

from questree.benchmarks.agqa.records import quoted
from questree.columns.joins import Ints
from questree.faults import BadInput
from questree.formats.agqa import HEADER, file_name
from questree.formats.agqa_records import programs, refuse_unwritable
from questree.formats.decomp_files import ENDING, ISOLATED, file_of
from questree.formats.decomp_kept import export_imported, write_json
from questree.notation import agqa
from questree.notation.decomp import DECOMP
from questree.progress import watch
from questree.rules import VIDEO_DAGS
from questree.stages.decompose.choose import chosen_file
from questree.stages.decompose.columns import DAGS
from questree.stages.decompose.hierarchies import dags_given
from questree.stages.decompose.hierarchies import shards as dag_folders
from questree.stages.decompose.keys import asked, node_keys, parts_of_others, question_keys
from questree.stages.decompose.occurrences import Occurrences
from questree.stages.decompose.spoken import Texts, in_pairs, spoken
from questree.stages.generate.text import lexicon
from questree.stages.questions import Bank, Shard
from questree.tables.facts import SPLIT_UNSAID, Facts
from questree.tables.nodes import EDGES, NEGATIVES, TOPS
from questree.tables.run import Run, kept_while
from questree.tables.store import new_folder, only_earlier, own_note
from questree.tables.table import read_parquet
from questree.workers import processes


def dags_of(shard: Shard, facts: Facts, said: Texts, folder: Path) -> "Dags":
    """The decomposed questions of a shard of a run."""
    table = asked(shard, TOPS.read(folder), lexicon(shard.vocabulary, shard.edition))
    questions = table.select("video", "node", "id", "text").with_columns(
        old=programs(shard.where(table)),
        template=pl.Series([template.name for template in shard.edition.by_code]).gather(table["template"]),
    )
    negatives = NEGATIVES.read(folder)["node"].to_numpy()
    return Dags(questions, spoken(folder, said), EDGES.read(folder), facts.videos["id"], negatives)


@dataclass(frozen=True)
class Dags:
    """Questions and all below them."""

    questions: pl.DataFrame  # by video: video, node, id, text, old (program), template
    said: pl.DataFrame  # [node] columns of SPOKEN
    edges: pl.DataFrame
    names: pl.Series  # [video]
    negatives: Ints = field(default_factory=lambda: np.zeros(0, np.int64))  # nodes asked because their answer is no

    @cached_property
    def nodes(self) -> pl.DataFrame:
        """[node] text, type, program and answer as JSON."""
        table = self.said
        json = [quoted(table[name]).fill_null("null").alias(name) for name in ("text", "type", "program", "answer")]
        return table.select(json)

    @cached_property
    def hierarchy(self) -> pl.Series:
        """[node] its compositions as JSON, each in the order it is first met; null for a leaf."""
        named = pl.Series([f'"{name}": [' for name in VIDEO_DAGS.compositions])
        edges = self.edges.select("parent", "label", text=self.nodes["text"].gather(self.edges["child"]))
        listed = edges.group_by("parent", "label", maintain_order=True).agg(pl.col("text").str.join(", "))
        said = listed.select("parent", said=pl.concat_str(named.gather(listed["label"]), "text", pl.lit("]")))
        whole = said.group_by("parent").agg(pl.col("said").str.join(", "))
        found = pl.select(parent=pl.int_range(len(self.nodes), dtype=pl.UInt32))
        found = found.join(whole, on="parent", how="left", maintain_order="left")
        return found.select(pl.concat_str(pl.lit("{"), "said", pl.lit("}"))).to_series()

    def below_each(self) -> Iterator[list[int]]:
        """Question by question, all nodes below it, the deepest first."""
        tops = self.questions["node"].to_numpy().astype(np.int64)
        for begin in range(0, len(tops), DAGS):
            own = Occurrences.of(tops[begin : begin + DAGS], len(self.nodes), self.edges)
            nodes, ends = own.node.tolist(), np.cumsum(own.size).tolist()
            for first, end in pairwise([0, *ends]):
                yield nodes[first : end - 1]

    def videos(self) -> Iterator[tuple[int, list[str], list[str]]]:
        """(video, its DAGs, its isolated questions), each as JSON."""
        inner = pl.select(pl.concat_str(self.nodes["text"], pl.lit(": "), self.hierarchy)).to_series().to_list()
        entry, asked = self.entries(self.nodes, self.keys).to_list(), self.questions
        said = {name: quoted(asked[name]) for name in ("id", "text", "template", "old")}
        own = self.nodes[asked["node"]].with_columns(text=said["text"], key=self.root_keys())
        entries, isolated = self.entries(own, own["key"]), written(own, ALONE).to_list()
        heads = written(own.with_columns(**said, new=own["program"]), HEAD)
        last = pl.select(pl.concat_str(said["text"], pl.lit(": "), self.hierarchy.gather(asked["node"]))).to_series()
        begins = pl.select(pl.concat_str(said["id"], pl.lit(": {"), heads, pl.lit(', "subquestion": {'))).to_series()
        tops = zip(begins, entries, last, self.below_each(), strict=True)
        bounds = np.flatnonzero(np.diff(asked["video"].to_numpy().astype(np.int64), prepend=-1, append=-1))
        for lo, hi in pairwise(bounds.tolist()):
            few = list(islice(tops, hi - lo))
            dags = [
                f'{begin}{", ".join([*map(entry.__getitem__, parts), top])}}}, "hierarchy": '
                f"{{{', '.join([*filter(None, map(inner.__getitem__, parts)), end])}}}}}"
                for begin, top, end, parts in few
                if end is not None
            ]
            alone = [f"{{{isolated[lo + at]}}}" for at, (_, _, end, _) in enumerate(few) if end is None]
            yield asked["video"][lo], dags, alone

    @cached_property
    def keys(self) -> pl.Series:
        """[node] its key as JSON."""
        return quoted(node_keys(self.questions, self.said, self.names))

    def root_keys(self) -> pl.Series:
        """[question] its key as JSON."""
        return quoted(question_keys(self.questions))

    def rows(self, parts: Ints | None = None) -> pl.DataFrame:
        """Every text of a video once, questions first: video, key, question, answer (null if not published).

        Below the questions all there is, or some nodes."""
        asked = self.questions.select(
            "video", question="text", answer=self.said["answer"].gather(self.questions["node"])
        )
        said = self.said.select("video", question="text", answer="answer").with_columns(key=self.keys)
        said = said[np.append(self.below, self.loose) if parts is None else parts]
        table = pl.concat([asked.with_columns(key=self.root_keys()), said.select("video", "question", "answer", "key")])
        once = table.unique("key", keep="first", maintain_order=True).sort("video", maintain_order=True)
        return once.with_columns(pl.col("key").str.strip_chars('"'))

    @cached_property
    def below(self) -> Ints:
        """Nodes that are a sub-question of some question."""
        return parts_of_others(len(self.said), self.edges, self.questions["node"].to_numpy())

    @cached_property
    def loose(self) -> Ints:
        """Negatives that are part of no question."""
        return np.setdiff1d(self.negatives, self.below)

    def isolated_negatives(self) -> Iterator[tuple[int, str]]:
        """(video, the question as JSON)"""
        own = self.nodes[self.loose].with_columns(key=self.keys.gather(self.loose))
        for video, alone in zip(self.said["video"].gather(self.loose), written(own, ALONE), strict=True):
            yield video, f"{{{alone}}}"

    def entries(self, nodes: pl.DataFrame, keys: pl.Series) -> pl.Series:
        """[node] its entry among the sub-questions."""
        inner = written(nodes.with_columns(key=keys), ENTRY)
        return pl.select(pl.concat_str(nodes["text"], pl.lit(": {"), inner, pl.lit("}"))).to_series()


ENTRY = {name: name for name in ("key", "type", "program", "answer")}  # field -> column
ALONE = {"key": "key", "type": "type", "answer": "answer", "question": "text", "program": "program"}
HEAD = {"question": "text", "type": "template", "old_program": "old", "new_program": "new", "answer": "answer"}


def written(table: pl.DataFrame, fields: Mapping[str, str]) -> pl.Series:
    """[row] `"field": value, ...` of columns that are JSON."""
    parts = [pl.concat_str(pl.lit(f'"{field}": '), table[column]) for field, column in fields.items()]
    return pl.select(pl.concat_str(parts, separator=", ")).to_series()


SPLITS = ("train", "test")
CSVS = "csvs"
ALL_PARTS, TO_TRAIN = "decomp", "augmented"  # CSVs: questions and all below them, or what was chosen to train on


def folder_name(set: str, split: str) -> str:
    return f"{set}_{split}{ENDING}"


def export_decomp(run: Run, out: Path, workers: int = 2, pool: Executor | None = None) -> dict[str, dict[str, int]]:
    """Write `<set>_<split>_hierarchies/`, whole or not at all; counts of DAGs and isolated questions per folder."""
    check_target(out)
    if run.hierarchies.is_dir() and (dags_given(run) or not run.decomposed.is_dir()):
        return export_imported(run, out)
    if not run.decomposed.is_dir():
        raise BadInput.at(run.decomposed, "not there yet; `questree decompose` writes it")
    dag_folders(run)  # says so if they are of other questions
    name, bank = set_of(run), Bank(run)
    refuse_unwritable(bank.edition, lambda node: DECOMP.write(in_pairs(node), bank.vocabulary))
    refuse_unwritable(bank.edition, lambda node: agqa.write(node, bank.vocabulary, bank.edition.name))
    counts = {split: {"DAGs": 0, "isolated": 0} for split in SPLITS}
    loose: dict[str, list[str]] = {split: [] for split in SPLITS}
    shards = sorted(path.name for path in run.decomposed.iterdir() if path.is_dir())
    with new_folder(out) as folder, processes(workers, pool, tasks=len(shards)) as executor:
        for place in (CSVS, *(folder_name(name, split) for split in SPLITS)):
            (folder / place).mkdir()
        futures = [executor.submit(write_shard, run.folder, shard, folder, name) for shard in shards]
        for future in watch(futures, "export", len(futures)):
            for split, (dags, isolated) in future.result().items():
                counts[split]["DAGs"] += dags
                counts[split]["isolated"] += len(isolated)
                loose[split] += isolated
        for split in SPLITS:
            write_json(folder / folder_name(name, split) / ISOLATED, loose[split], "[]")
        join_csvs(folder / CSVS, name)
    return {folder_name(name, split): found for split, found in counts.items()}


def check_target(out: Path) -> None:
    """An earlier export may be replaced, nothing else."""
    only_earlier(out, lambda name: name.endswith(ENDING) or name == CSVS)


def set_of(run: Run) -> str:
    plan = own_note(run.decomposed / "plan.json", "options")
    return "balanced" if plan["options"]["balanced"] else "unbalanced"


@kept_while("vocabulary.toml", "facts", "ledger.json", "questions", "decomposed")
def corpus(run: Path) -> tuple[Bank, Facts, Texts, pl.DataFrame | None]:
    """What all shards share; the sub-questions chosen to train on, if any were."""
    bank, path = Bank(Run(run)), chosen_file(Run(run))
    return bank, Run(run).load("facts"), Texts(bank.vocabulary), read_parquet(path) if path.is_file() else None


def write_shard(run: Path, name: str, out: Path, set: str) -> dict[str, tuple[int, list[str]]]:
    """The files of the shard's videos; per split the number of DAGs, and the isolated questions."""
    bank, facts, said, chosen = corpus(run)
    made = dags_of(bank.shard(bank.run.questions / name), facts, said, bank.run.decomposed / name)
    found: dict[str, tuple[int, list[str]]] = {split: (0, []) for split in SPLITS}
    for video, dags, isolated in made.videos():
        id, split = facts.videos["id"][video], facts.videos["split"][video] or SPLIT_UNSAID
        if dags:
            write_json(out / folder_name(set, split) / file_of(id), dags, "{}")
        before, loose = found[split]
        found[split] = (before + len(dags), loose + isolated)
    for video, question in made.isolated_negatives():
        found[facts.videos["split"][video] or SPLIT_UNSAID][1].append(question)
    write_rows(made.rows(), facts, out / CSVS, name, ALL_PARTS)
    if chosen is not None:
        own = chosen.join(made.said.select("video").unique(), on="video", how="semi")
        write_rows(made.rows(own["node"].to_numpy()), facts, out / CSVS, name, TO_TRAIN)
    return found


def write_rows(rows: pl.DataFrame, facts: Facts, folder: Path, shard: str, kind: str) -> None:
    """The shard's part of the CSV files of a kind; to train on, a row needs an answer."""
    split = facts.videos["split"].replace("", SPLIT_UNSAID).gather(rows["video"])
    id = facts.videos["id"].gather(rows["video"])
    table = rows.select("key", "question", "answer", vid_id=id, gif_name=id, description=pl.lit("none"))
    answered = rows["answer"].is_not_null()
    table.filter((split == "train") & answered).write_parquet(folder / f"{kind}-train-{shard}.parquet")
    if kind != TO_TRAIN:
        table.filter(split == "test").write_parquet(folder / f"{kind}-test-{shard}.parquet")


def join_csvs(folder: Path, set: str) -> None:
    """Parts into files, rows numbered through."""
    for kind, split in product((ALL_PARTS, TO_TRAIN), SPLITS):
        parts, number = sorted(folder.glob(f"{kind}-{split}-*.parquet")), 0
        if not parts and kind == TO_TRAIN:
            continue
        with (folder / file_name(split.capitalize(), "", f"{set}-{kind}")).open("wb") as file:
            file.write(HEADER.encode())
            for part in parts:
                table = pl.read_parquet(part, glob=False)
                table.with_row_index("", number).write_csv(file, include_header=False)
                number += len(table)
                part.unlink()
