"""Scene graphs in the released form: what a vertex says, how vertices are linked, and that facts survive."""

import io
import pickle
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from questree.formats.agqa_graphs import Link, LinkedPickle, write_graphs
from questree.sources.agqa import read_agqa
from questree.sources.pickles import read_pickle
from questree.tables.facts import RELATIONS, Facts
from questree.tables.run import Run
from questree.vocabulary import default
from worlds.exported_worlds import random_facts
from worlds.small import facts

BEDROOM = """
video A train
frames 0 1 2
pillow 0-1 at 10 20 40 60: holding, in front of
bed 0: in front of
bare blanket 2: holding
action c076 0 1
action c079 1.5 2
"""
Graph = dict[str, Any]


@pytest.fixture(scope="module")
def bedroom(tmp_path_factory: pytest.TempPathFactory) -> Graph:
    folder = tmp_path_factory.mktemp("bedroom")
    write_graphs(facts(BEDROOM), default(), folder, ["train"])
    graphs: Graph = pickle.loads((folder / "AGQA_train_stsgs.pkl").read_bytes())
    assert pickle.loads((folder / "AGQA_test_stsgs.pkl").read_bytes()) == {}
    assert list(graphs) == ["A"]
    found: Graph = graphs["A"]
    return found


def test_a_graph_has_a_vertex_for_every_frame_action_object_and_relation(bedroom: Graph) -> None:
    frames = ["000000", "000030", "000060"]
    objects = ["o3/000000", "o26/000000", "o26/000030", "o4/000060"]
    relations = ["r6/000000", "r15/000000", "r6/000030", "r15/000030", "r15/000060"]
    assert list(bedroom) == [*frames, "c076/1", "c079/1", *objects, *relations]
    assert all(vertex["id"] == name for name, vertex in bedroom.items())


def test_an_object_says_where_it_is_and_what_is_done_with_it(bedroom: Graph) -> None:
    pillow = bedroom["o26/000000"]
    assert {name: pillow[name] for name in ("type", "class", "visible", "bbox", "frame_num", "secs")} == {
        "type": "object",
        "class": "o26",
        "visible": True,
        "bbox": (10.0, 20.0, 30.0, 40.0),  # x, y, width, height
        "frame_num": "000000",
        "secs": 0.0,
    }
    assert pillow["metadata"] == {"tag": "A.mp4/pillow/000000", "set": "train"}
    assert pillow["contact"] == [bedroom["r15/000000"]]
    assert pillow["spatial"] == [bedroom["r6/000000"]]
    assert pillow["attention"] == pillow["verb"] == []
    assert pillow["next"] is bedroom["o26/000030"]
    assert pillow["prev"] is None
    bare = bedroom["o4/000060"]
    assert (bare["visible"], bare["bbox"], bare["contact"]) == (False, None, [bedroom["r15/000060"]])


def test_a_relation_holds_all_its_objects(bedroom: Graph) -> None:
    front = bedroom["r6/000000"]
    assert front["objects"] == [bedroom["o3/000000"], bedroom["o26/000000"]]
    assert (front["type"], front["class"], front["frame"], front["metadata"]) == ("spatial", "r6", "000000", "train")
    assert front["next"] is bedroom["r6/000030"]


def test_a_frame_lists_what_is_in_it(bedroom: Graph) -> None:
    frame = bedroom["000000"]
    assert frame["objects"]["names"] == ["o3", "o26"]
    assert frame["objects"]["vertices"][1] is bedroom["o26/000000"]
    assert (frame["contact"]["names"], frame["spatial"]["names"], frame["verb"]["names"]) == (["r15"], ["r6"], [])
    assert frame["actions"]["vertices"] == [bedroom["c076/1"]]
    assert (frame["secs"], frame["metadata"], frame["prev"]) == (0.0, "train", None)
    assert frame["next"]["next"]["next"] is None


def test_an_action_knows_its_time_and_its_neighbours(bedroom: Graph) -> None:
    hold, take = bedroom["c076/1"], bedroom["c079/1"]
    names = ("charades", "phrase", "start", "end", "length", "object_id", "verb_id")
    assert [hold[name] for name in names] == ["c076", "holding a pillow", 0.0, 1.0, 1.0, "o26", "v008"]
    assert hold["all_f"] == ["000000", "000030"]
    assert hold["objects"] == [bedroom["o26/000000"], bedroom["o26/000030"]]
    assert (hold["next_discrete"], take["prev_discrete"]) == (take, hold)
    assert hold["while"] == []
    assert hold["next_instance"] is None


def test_an_action_on_a_merged_class_carries_the_id_of_the_class_it_is_counted_as(tmp_path: Path) -> None:
    book = "video A train\nframes 0 1\npaper 0-1: holding\naction c026 0 1\naction c154 0 1\n"
    write_graphs(facts(book), default(), tmp_path, ["train"])
    graph = pickle.loads((tmp_path / "AGQA_train_stsgs.pkl").read_bytes())["A"]
    assert (graph["c026/1"]["phrase"], graph["c026/1"]["object_id"]) == ("holding a book", "o23")
    assert graph["c026/1"]["objects"] == [graph["o23/000000"], graph["o23/000030"]]
    assert graph["c154/1"]["object_id"] is None


def test_facts_survive_the_journey_through_graphs(tmp_path: Path) -> None:
    known = random_facts()
    write_graphs(known, default(), tmp_path, known.videos["split"].replace("", "test").to_list())
    found = read_agqa(tmp_path, default()).facts
    order = known.videos["id"].arg_sort()  # a reader sorts videos by id
    place = pl.Series(order.arg_sort())

    def moved(table: pl.DataFrame) -> pl.DataFrame:
        own = table.with_columns(video=place.gather(table["video"]).cast(pl.UInt32))
        return own.unique().sort(own.columns)  # these worlds may say twice that an object is there

    assert found.videos["id"].to_list() == sorted(known.videos["id"])
    for name in ("frames", "actions"):
        table: pl.DataFrame = getattr(found, name)
        shown = getattr(known, name).drop_nulls()  # graphs hold actions by their frames
        assert table.sort(table.columns).equals(moved(shown)), name
    assert found.relations.sort(*RELATIONS.columns).equals(moved(known.relations))
    seen = found.objects.filter("visible")
    assert seen.sort(seen.columns).equals(moved(known.objects.filter("visible")))


def test_facts_of_a_made_up_corpus_survive_too(cleaned_run: Run, tmp_path: Path) -> None:
    known = cleaned_run.load("facts")
    write_graphs(known, default(), tmp_path, known.videos["split"].to_list())
    found: Facts = read_agqa(tmp_path, default()).facts
    assert found.videos["split"].equals(known.videos["split"])
    for name in ("frames", "tracks"):
        assert getattr(found, name).equals(getattr(known, name)), name
    by = ["video", "action", "instance"]
    assert found.actions.sort(by).equals(known.actions.sort(by))
    visible = found.objects.filter("visible")
    assert visible.equals(known.objects.filter("visible"))


def test_linked_dictionaries_come_back_with_their_links() -> None:
    file = io.BytesIO()
    written = LinkedPickle(file, ["next", "name"])
    written.add("x", ["a", "b"], [{"name": "é", "next": Link(1), "all": [Link(0), Link(1)]}, {"next": Link(0)}])
    written.add("y", ["c"], [{"next": Link(0), "odd": {"t": (1.5, None, True, False), "": "name"}}])
    written.finish()
    found = pickle.loads(file.getvalue())
    a, b = found["x"]["a"], found["x"]["b"]
    assert a["next"] is b and b["next"] is a and a["all"] == [a, b]
    assert a["name"] == "é"
    assert found["y"]["c"]["next"] is found["y"]["c"]
    assert found["y"]["c"]["odd"] == {"t": (1.5, None, True, False), "": "name"}


def test_a_chain_of_any_length_can_be_written_and_read(tmp_path: Path) -> None:
    """Live links in a long video would be too deep for the pickle module to write."""
    path = tmp_path / "chain.pkl"
    with path.open("wb") as file:
        written = LinkedPickle(file, [])
        written.add("x", [str(at) for at in range(50_000)], [{"next": Link(at + 1)} for at in range(49_999)] + [{}])
        written.finish()
    chain = read_pickle(path)["x"]
    assert chain["0"]["next"] is chain["1"]
    assert chain["49999"] == {}
