"""The theorem on the tables: executed answers of all generated questions' DAGs break none of the 18 rules (13).

Questions come out of the generator, DAGs out of the decomposition by columns, and the rules are read off the tables
of nodes and edges. Each fault of 13.11, switched on alone, must be noticed there.
"""

from collections.abc import Generator
from contextlib import closing
from pathlib import Path

import pytest

from judges.contradictions import Findings
from judges.facts import WORDS
from judges.table_rules import read_rules
from judges.wrong_meanings import FAULTS, IN_TABLES, Wrong
from questree.stages.decompose.forms import NodeForms
from questree.stages.decompose.spoken import Texts
from questree.tables.facts import Facts
from questree.tables.run import Run
from test_theorem import EIGHTEEN
from worlds import random_worlds as chance
from worlds.decomposed import crowded, in_memory, made
from worlds.exported_worlds import run_of
from worlds.small import facts

TEXTS = Texts(WORDS)
VIDEOS = 40  # in a world that shows every fault
RARE = ("objFirstVerify", "objLastVerify", "actTime")  # what the crowded world is asked for


def random_facts(videos: int) -> Facts:
    return facts("\n".join(chance.world(seed=13, videos=videos, whole=True)))


def notice(wrong: Wrong, folder: Path, at_once: int = 8) -> Generator[Findings]:
    """What the tables of a world say with a fault in generation or decomposition, of some videos after the other."""
    texts = TEXTS if wrong.words is WORDS else Texts(wrong.words)
    with wrong.on():
        world = wrong.facts(random_facts(VIDEOS))
        for first in range(0, VIDEOS, at_once):
            run, found = run_of(world.between(first, first + at_once), folder / str(first), shard=128), Findings()
            for dags in made(run, NodeForms(WORDS)):
                read_rules(found, dags.tables, texts)
            yield found


def test_the_true_answers_of_all_generated_questions_break_no_rule(asked_run: Run, tmp_path: Path) -> None:
    """Each rule is applied 1,000 times: in a synthetic world, in random ones, and in one that is asked what is rare."""
    random = run_of(random_facts(120), tmp_path / "random", shard=128)
    full = run_of(crowded(900), tmp_path / "crowded", shard=128)
    found, relabelled = Findings(), 0
    for dags in (*in_memory(asked_run), *in_memory(random), *in_memory(full, templates=RARE)):
        read_rules(found, dags.tables, TEXTS)
        relabelled += dags.summary.relabelled
    assert found.applied.keys() == EIGHTEEN
    assert min(found.applied.values()) >= 1000, found.applied
    assert not +found.broken
    assert not +found.undefined, "every scored sub-question has an answer"
    assert not found.clashes, "a text is one node of its video"
    assert relabelled > 50


def test_a_world_shows_no_fault_when_there_is_none(tmp_path: Path) -> None:
    assert [found.contradictions for found in notice(Wrong(""), tmp_path, VIDEOS)] == [0]


@pytest.mark.parametrize("fault", IN_TABLES)
def test_a_fault_is_noticed_in_the_tables(fault: str, tmp_path: Path) -> None:
    with closing(notice(IN_TABLES[fault], tmp_path)) as parts:
        assert any(found.contradictions > 0 for found in parts)


def test_every_fault_is_switched_on() -> None:
    assert len(FAULTS) == 13 and IN_TABLES.keys() == FAULTS.keys()


def test_a_wrong_answer_is_noticed(asked_run: Run) -> None:
    dags = in_memory(asked_run)[0]
    answer = dags.tables["nodes"]["answer"]
    top = next(block for block in dags.blocks if block.form.type == "Relation Exists" and not block.form.parts)
    flipped = answer.scatter(list(range(top.first, top.first + len(top))), 1 - answer[top.first : top.first + len(top)])
    wrong = dags.tables | {"nodes": dags.tables["nodes"].with_columns(answer=flipped)}
    found = read_rules(Findings(), wrong, TEXTS)
    assert found.broken["Interaction Yes"] > 0 and found.broken["While Yes"] > 0
