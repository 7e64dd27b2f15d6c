"""Balancing of whole runs: what stays per content key, answer and effect; nothing but the seed decides which."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path
from unittest.mock import patch

import numpy as np
import polars as pl
import pytest

from bench.runs import multiply
from conftest import copy
from questree.benchmarks.agqa.editions import SECOND
from questree.benchmarks.agqa.templates import BY_NAME, TEMPLATES
from questree.cli.stages import balance as command
from questree.columns.hashing import Hashes, mix, mixed, seed_of
from questree.columns.joins import Ints, lowest
from questree.faults import BadInput
from questree.stages import questions
from questree.stages.balance.levelling import BalanceOptions, Smoothing, read_shares, remaining
from questree.stages.balance.rounds import balance, select, selection
from questree.stages.balance.shard_tables import BalanceCorpus, Balancing, write_shards
from questree.stages.balance.structure import evened, keys_kept, targets, water
from questree.stages.generate.shards import GenerateOptions, generate
from questree.stages.questions import Bank
from questree.stages.shard_tables import ShardTables
from questree.stages.template_columns import TemplateColumns
from questree.tables.questions import QUESTIONS, read_balanced
from questree.tables.run import Run

KEY = ["template", "relation", "x", "y", "time"]
KNOWN = TemplateColumns(SECOND.by_code)
CODE = {template.name: at for at, template in enumerate(TEMPLATES)}


def rows(*asked: dict[str, int]) -> pl.DataFrame:
    """Questions of video 0 unless said otherwise, numbered from 0; what is not said is 0."""
    numbered = [dict.fromkeys(QUESTIONS.columns, 0) | {"number": at} | row for at, row in enumerate(asked)]
    return QUESTIONS.frame(pl.DataFrame(numbered))


class OneVideo(Balancing):
    """Of a run without facts."""

    @property
    def corpus(self) -> BalanceCorpus:
        return BalanceCorpus(KNOWN, np.zeros(1, bool), mix(7, np.arange(1)))


def chosen(tmp_path: Path, questions: pl.DataFrame) -> pl.DataFrame:
    """The questions selected from one shard of training videos, with all their columns."""
    shard = tmp_path / "questions" / "00000"
    shard.mkdir(parents=True)
    QUESTIONS.write(questions, shard)
    with ThreadPoolExecutor(1) as pool:
        task = OneVideo(tmp_path, ShardTables(tmp_path / "scratch"), BalanceOptions())
        places, _ = select(task, write_shards(task, ["00000"], pool))
    found = pl.DataFrame({"video": places >> np.uint64(32), "number": places & np.uint64(0xFFFFFFFF)})
    return questions.join(found.cast(pl.UInt32), on=["video", "number"])


def asking(template: str, answer: int, count: int, **more: int) -> list[dict[str, int]]:
    return [{"template": CODE[template], "answer": answer} | more] * count


PLENTY = [*asking("objWhat", 1, 300), *asking("objWhat", 2, 300)]  # open questions that allow many others


def test_a_key_keeps_as_many_of_one_answer_as_of_the_other(tmp_path: Path) -> None:
    found = chosen(tmp_path, rows(*PLENTY, *asking("objExists", 1, 7, x=3), *asking("objExists", 0, 2, x=3)))
    left = found.filter(template=CODE["objExists"])
    assert left["answer"].sort().to_list() == [0, 0, 1, 1]


def test_a_key_with_one_answer_goes_whole(tmp_path: Path) -> None:
    both = [*asking("objExists", 1, 5, x=3), *asking("objExists", 0, 5, x=4)]  # two keys
    assert chosen(tmp_path, rows(*PLENTY, *both)).filter(template=CODE["objExists"]).is_empty()


def test_another_time_is_another_key_of_a_binary_question(tmp_path: Path) -> None:
    before = 1 + 256 * 5
    asked = [*asking("objExists", 1, 5, x=3), *asking("objExists", 0, 5, x=3, time=before)]
    assert chosen(tmp_path, rows(*PLENTY, *asked)).filter(template=CODE["objExists"]).is_empty()


def test_the_two_answers_of_a_choice_are_its_options(tmp_path: Path) -> None:
    asked = [*asking("objWhatChoose", 9, 4, x=9, y=30), *asking("objWhatChoose", 30, 1, x=9, y=30)]
    left = chosen(tmp_path, rows(*PLENTY, *asked)).filter(template=CODE["objWhatChoose"])
    assert left["answer"].sort().to_list() == [9, 30]


def test_before_and_after_one_action_are_one_key_of_an_open_question(tmp_path: Path) -> None:
    asked = [
        *asking("actWhatAfterAll", 1, 4, time=2 + 256 * 5),
        *asking("actWhatBefore", 2, 4, time=1 + 256 * 5),
        *asking("actWhatAfterAll", 1, 3, time=2 + 256 * 6),  # these keys have one answer each
        *asking("actWhatBefore", 2, 3, time=1 + 256 * 7),
    ]
    left = chosen(tmp_path, rows(*asked))
    assert left.group_by("time", "answer").len().sort("time").rows() == [(1281, 2, 4), (1282, 1, 4)]


def test_what_goes_first_is_what_the_time_phrase_does_not_change(tmp_path: Path) -> None:
    """Four more yes than no: the larger effect of the yes loses them."""
    asked = [
        *asking("objExists", 1, 5, effect=0),
        *asking("objExists", 1, 2, effect=1),
        *asking("objExists", 0, 3, effect=0),
    ]
    left = chosen(tmp_path, rows(*PLENTY, *asked)).filter(template=CODE["objExists"], answer=1)
    assert left["effect"].sort().to_list() == [0, 1, 1]


def naive_first_round(questions: pl.DataFrame) -> dict[tuple[int, ...], int]:
    """(key, answer, effect) -> how many binary questions stay, key by key with plain loops."""
    left: dict[tuple[int, ...], int] = {}
    for key, own in questions.group_by(KEY):
        counts = {answer: [0, 0, 0, 0] for answer in own["answer"]}
        for answer, effect in own.select("answer", "effect").rows():
            counts[answer][effect] += 1
        if len(counts) == 2:
            fewer = min(sum(effects) for effects in counts.values())
            for answer, effects in counts.items():
                for effect, number in enumerate(remaining(effects, sum(effects) - fewer)):
                    left[(*key, answer, effect)] = number
    return {key: number for key, number in left.items() if number}


def test_the_first_round_is_that_of_plain_loops(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    count = 4000
    binary = pl.DataFrame(
        {
            "template": rng.choice([0, 1, 2, 12], count),
            "relation": rng.integers(0, 3, count),
            "x": rng.integers(0, 4, count),
            "time": rng.choice([0, 257, 514, 131844], count),
            "answer": (rng.random(count) < 0.2).astype(int),
            "effect": rng.integers(0, 4, count),
            "number": np.arange(count) + 100_000,
        }
    ).to_dicts()
    few = rows(*asking("objWhat", 1, 9000), *asking("objWhat", 2, 9000), *binary)
    left = chosen(tmp_path, few).filter(pl.col("template") != CODE["objWhat"])
    found = {row[:-1]: row[-1] for row in left.group_by(*KEY, "answer", "effect").len().rows()}
    assert found == naive_first_round(few.filter(pl.col("template") != CODE["objWhat"]))


def test_the_lowest_of_shards_have_the_lowest_of_all_among_them() -> None:
    rng = np.random.default_rng(5)
    run, hashes, quota = rng.integers(0, 60, 3000), mix(3, np.arange(3000)), rng.integers(0, 90, 60)
    wanted = [np.sort(hashes[run == at])[: quota[at]].tolist() for at in range(60)]
    stays = lowest(run, hashes, quota)
    assert [np.sort(hashes[stays & (run == at)]).tolist() for at in range(60)] == wanted
    parts = [rows[lowest(run[rows], hashes[rows], quota)] for rows in np.array_split(np.arange(3000), 4)]
    few = np.concatenate(parts)
    assert few[lowest(run[few], hashes[few], quota)].tolist() == np.flatnonzero(stays).tolist()


def test_water_lowers_the_largest_first() -> None:
    assert water(np.array([10, 4, 7]), 15).tolist() == [6, 4, 5]
    assert water(np.array([10, 4, 7]), 2).tolist() == [1, 1, 0]
    assert water(np.array([10, 4, 7]), 50).tolist() == [10, 4, 7]


def visit(size: Ints, order: Hashes, total: int) -> Ints:
    """The keys of one cell."""
    return keys_kept(np.zeros(len(size), np.int64), size, order, np.array([total]))


def test_keys_lose_as_much_from_both_answers_and_the_last_visited_make_up_for_it() -> None:
    order = np.arange(5, dtype=np.uint64)
    assert visit(np.array([8, 8, 8, 2, 2]), order, 13).tolist() == [4, 4, 0, 2, 2]
    assert visit(np.array([2, 2, 2, 2, 2]), order, 5).tolist() == [2, 2, 0, 0, 0]
    assert visit(np.array([2, 2, 2, 2, 2]), order[::-1], 4).tolist() == [0, 0, 0, 2, 2]


def test_an_odd_question_goes_to_the_next_cell_with_room() -> None:
    assert evened(np.array([3, 4, 5]), np.array([10, 4, 10])).tolist() == [2, 4, 6]
    assert evened(np.array([3, 3, 3]), np.array([4, 4, 4])).tolist() == [2, 4, 2]


def test_query_questions_set_the_targets_of_the_others() -> None:
    wanted = {"query": 101, "compare": 31, "choose": 31, "verify": 31, "logic": 11}
    there = dict.fromkeys(wanted, 9) | {"query": 101}  # how many of the others there are does not matter
    assert targets(there, BalanceOptions()) == wanted  # rounded up


@pytest.fixture(scope="module")
def balanced_run(asked_run: Run, tmp_path_factory: pytest.TempPathFactory) -> Run:
    run = copy(asked_run, tmp_path_factory.mktemp("balanced"))
    balance(run, BalanceOptions(), workers=1)
    return run


def selected(run: Run) -> pl.DataFrame:
    questions = pl.concat([QUESTIONS.read(folder) for folder in Bank(run).folders()])
    return questions.join(read_balanced(run.balanced), on=["video", "number"]).sort("video", "number")


def test_every_key_of_a_balanced_run_has_two_equal_answers(balanced_run: Run) -> None:
    binary = selected(balanced_run).filter(~pl.col("template").is_in(np.flatnonzero(KNOWN.open)))
    split = [name == "test" for name in balanced_run.load("facts").videos["split"]]
    test = pl.Series(split).gather(binary["video"])
    counts = binary.group_by(*KEY, "answer", test=test).len().group_by(*KEY, "test").agg("len")
    assert len(counts) > 10
    assert all(len(each) == 2 and each[0] == each[1] for each in counts["len"].to_list())


def test_no_structure_exceeds_its_target(asked_run: Run, tmp_path: Path) -> None:
    run = copy(asked_run, tmp_path)
    report = balance(run, BalanceOptions(), workers=1)
    found = selected(run)
    for split in ("train", "test"):
        for target in (t for t in report.targets if t.split == split):
            assert target.kept <= target.target
            assert target.kept == target.before or target.short <= 1  # short only where there are no more
    assert sum(t.kept for t in report.targets) == len(found)
    query = sum(t.kept for t in report.targets if t.structure == "query")
    assert query == found["template"].is_in([i for i, s in enumerate(KNOWN.structure) if s == "query"]).sum()
    assert report.total("after_structures") == len(found)
    assert report.total("before") == sum(len(QUESTIONS.read(folder)) for folder in Bank(run).folders())


@pytest.mark.processes
@pytest.mark.parametrize(("shard", "workers"), [(2, 2), (12, 1)])
def test_the_selection_depends_on_the_seed_alone(
    balanced_run: Run, cleaned_run: Run, tmp_path: Path, shard: int, workers: int
) -> None:
    run = copy(cleaned_run, tmp_path)
    generate(run, GenerateOptions(shard=shard, rare_below=3), workers=1)
    for folder in Bank(run).folders():  # the order of the rows does not matter either
        QUESTIONS.write(QUESTIONS.read(folder).sample(fraction=1, shuffle=True, seed=1), folder)
    with patch.object(questions, "FEW", 0):
        balance(run, BalanceOptions(), workers=workers)
    assert [path.name for path in run.folder.iterdir() if path.name.startswith(".")] == []
    assert read_balanced(run.balanced).equals(read_balanced(balanced_run.balanced))
    balance(run, BalanceOptions(seed=2), workers=1)
    assert not read_balanced(run.balanced).equals(read_balanced(balanced_run.balanced))


def test_a_hash_in_a_query_is_that_of_columns() -> None:
    seed, numbers = seed_of(1, "AAA"), np.arange(2**64 - 5, 2**64 - 1, dtype=np.uint64)
    found = pl.DataFrame({"number": numbers}).select(mixed(pl.lit(int(seed), pl.UInt64), pl.col("number")))
    assert found.to_series().to_list() == mix(seed, numbers).tolist()


def test_the_command_says_what_was_deleted_and_what_is_missing(
    asked_run: Run, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = copy(asked_run, tmp_path)
    command(run.folder, workers=1)
    out = capsys.readouterr().out
    assert "train: questions" in out and "deleted: rules alone" in out and BY_NAME["objWhat"].name in out
    assert "falls short of its target by" in out and "kept " in out
    assert (run.balanced / "train.parquet").is_file() and (run.balanced / "report.json").is_file()


def test_wrong_shares_are_refused_by_name() -> None:
    with pytest.raises(BadInput, match="logik"):
        read_shares("query=50,compare=15,choose=15,verify=15,logik=5")
    with pytest.raises(BadInput, match="add up to 100"):
        read_shares("query=50,compare=15,choose=15,verify=15,logic=15")
    assert read_shares("query=50,compare=25,choose=10,verify=10,logic=5")["compare"] == 0.25


def test_a_selection_of_other_questions_is_refused(asked_run: Run, cleaned_run: Run, tmp_path: Path) -> None:
    run = copy(asked_run, tmp_path)
    balance(run, BalanceOptions(), workers=1)
    found = selection(run)
    assert found is not None and len(found)
    generate(run, GenerateOptions(shard=5, rare_below=4), workers=1)
    with pytest.raises(BadInput, match="was selected from other questions"):
        selection(run)
    assert selection(cleaned_run) is None


def test_a_benchmark_has_as_many_questions_as_it_asks_for(asked_run: Run, tmp_path: Path) -> None:
    """Copies are of other videos, and their time phrases are about other actions."""
    own = sum(len(QUESTIONS.read(folder)) for folder in Bank(asked_run).folders())
    run = multiply(asked_run, tmp_path / "many", 2 * own + 7)
    table = pl.concat([QUESTIONS.read(folder) for folder in Bank(run).folders()])
    assert len(table) == 2 * own + 7 and not table.select("video", "number").is_duplicated().any()
    first, second = (set(table.filter(pl.col("video") // 12 == copies)["time"]) for copies in (0, 1))
    assert len(first) == len(second) and first != second
    assert balance(run, BalanceOptions(), workers=2).total("before") == len(table)


def test_the_help_says_the_defaults() -> None:
    """They are written out there, since importing them would compile kernels for every command."""
    lines = [line.strip() for line in (command.__doc__ or "").splitlines()]
    said = {name: lines[lines.index(name) + 1] for name in (*asdict(Smoothing()), "shares")}
    shares = said.pop("shares")
    assert {name: float(text.rpartition("[")[2].rstrip("]")) for name, text in said.items()} == asdict(Smoothing())
    assert read_shares(shares.rpartition("default: ")[2].rstrip("]")) == BalanceOptions().shares
