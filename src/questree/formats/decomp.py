"""A decomposed run in the layout of AGQA-Decomp's release: a JSON file of DAGs per video, isolated.json, CSVs."""

from concurrent.futures import Executor
from functools import lru_cache
from itertools import product
from pathlib import Path

import msgspec
import polars as pl

from questree.faults import BadInput
from questree.formats.agqa_csvs import HEADER, file_name
from questree.formats.agqa_records import refuse_unwritable
from questree.formats.decomp_dags import dags_of
from questree.formats.decomp_files import ENDING, ISOLATED, export_imported, write_json
from questree.notation import agqa
from questree.notation.decomp import DECOMP
from questree.progress import watch
from questree.stages.decompose.choose import chosen_file
from questree.stages.decompose.spoken import Texts, in_pairs
from questree.stages.questions import Bank
from questree.tables.facts import SPLIT_UNSAID, Facts
from questree.tables.run import Run
from questree.tables.store import new_folder, only_earlier
from questree.workers import processes

SPLITS = ("train", "test")
CSVS = "csvs"
ALL_PARTS, TO_TRAIN = "decomp", "augmented"  # CSVs: questions and all below them, or what was chosen to train on


def folder_name(set: str, split: str) -> str:
    return f"{set}_{split}{ENDING}"


def export_decomp(run: Run, out: Path, workers: int = 2, pool: Executor | None = None) -> dict[str, dict[str, int]]:
    """Write `<set>_<split>_hierarchies/`, whole or not at all; counts of DAGs and isolated questions per folder."""
    check_target(out)
    if not run.decomposed.is_dir() and run.hierarchies.is_dir():
        return export_imported(run, out)
    if not run.decomposed.is_dir():
        raise BadInput.at(run.decomposed, "not there yet; `questree decompose` writes it")
    name, bank = set_of(run), Bank(run)
    refuse_unwritable(bank.edition, lambda node: DECOMP.write(in_pairs(node), bank.vocabulary))
    refuse_unwritable(bank.edition, lambda node: agqa.write(node, bank.vocabulary, bank.edition.name))
    counts = {split: {"DAGs": 0, "isolated": 0} for split in SPLITS}
    loose: dict[str, list[str]] = {split: [] for split in SPLITS}
    with new_folder(out) as folder, processes(workers, pool) as executor:
        for place in (CSVS, *(folder_name(name, split) for split in SPLITS)):
            (folder / place).mkdir()
        shards = sorted(path.name for path in run.decomposed.iterdir() if path.is_dir())
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
    plan = msgspec.json.decode((run.decomposed / "plan.json").read_bytes())
    return "balanced" if plan["options"]["balanced"] else "unbalanced"


@lru_cache(maxsize=1)
def corpus(run: Path) -> tuple[Bank, Facts, Texts, pl.DataFrame | None]:
    """What all shards share; the sub-questions chosen to train on, if any were."""
    bank, path = Bank(Run(run)), chosen_file(Run(run))
    return bank, Run(run).load("facts"), Texts(bank.vocabulary), pl.read_parquet(path) if path.is_file() else None


def write_shard(run: Path, name: str, out: Path, set: str) -> dict[str, tuple[int, list[str]]]:
    """The files of the shard's videos; per split the number of DAGs, and the isolated questions."""
    bank, facts, said, chosen = corpus(run)
    made = dags_of(bank.shard(bank.run.questions / name), facts, said, bank.run.decomposed / name)
    found: dict[str, tuple[int, list[str]]] = {split: (0, []) for split in SPLITS}
    for video, dags, isolated in made.videos():
        id, split = facts.videos["id"][video], facts.videos["split"][video] or SPLIT_UNSAID
        if dags:
            write_json(out / folder_name(set, split) / f"{id}.json", dags, "{}")
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
                table = pl.read_parquet(part)
                table.with_row_index("", number).write_csv(file, include_header=False)
                number += len(table)
                part.unlink()
