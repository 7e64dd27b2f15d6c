"""imSitu's situations, people's own images and made-up situations become image facts, also beside those of a run."""

import json
from pathlib import Path
from typing import Any

import pytest

from questree.cli import ingest as command
from questree.faults import BadInput
from questree.sources.imsitu import Pattern, Verb, pattern_of, read_imsitu
from questree.sources.own_json import read_own_images
from questree.synth.situations import make_situation, space, write_situations
from questree.tables.images import Images
from worlds import whole_sources

SPACE = {
    "nouns": {
        "n1": {"gloss": ["woman", "adult female"], "def": "an adult female person"},
        "n2": {"gloss": ["tea"]},
        "n3": {"gloss": ["cup"]},
        "n4": {"gloss": ["kitchen"]},
        "n5": {"gloss": []},
    },
    "verbs": {
        "pouring": {
            "order": ["agent", "substance", "source", "destination", "place"],
            "abstract": "an AGENT pours a SUBSTANCE from a SOURCE into a DESTINATION at a PLACE",
        },
        "dancing": {"order": ["agent", "place"], "abstract": "an AGENT dances in a PLACE"},
    },
}


def frame(agent: str = "n1", substance: str = "n2", source: str = "", destination: str = "n3") -> dict[str, str]:
    return {"agent": agent, "substance": substance, "source": source, "destination": destination, "place": "n4"}


def imsitu(folder: Path, **files: Any) -> Path:
    folder.mkdir(exist_ok=True)
    for name, content in ({"imsitu_space": SPACE} | files).items():
        (folder / f"{name}.json").write_text(content if isinstance(content, str) else json.dumps(content))
    return folder


def pouring(*frames: dict[str, str]) -> dict[str, Any]:
    return {"verb": "pouring", "frames": list(frames)}


def told(images: Images) -> list[tuple[str, str, str, str]]:
    """(relation or preposition, subject, object and their names) as ids and words."""
    word, ids = images.words["word"].to_list(), images.things["id"].to_list()
    name = [word[at] for at in images.things["name"]]
    subject = images.relations["subject"].to_list()
    edges = [(word[link], a, b) for a, link, b in images.relations.iter_rows()]
    edges += [(word[link], subject[edge], b) for edge, link, b in images.prepositions.iter_rows()]
    return [(link, ids[a], ids[b], f"{name[a]} {name[b]}") for link, a, b in edges]


# -- imSitu --------------------------------------------------------------------------------------------

PATTERNS = {
    "an AGENT drinks a LIQUID from a CONTAINER in a PLACE": Pattern(
        "drinking", "agent", "liquid", (("drinking:_from", "container"),)
    ),
    "an AGENT complains to a LISTENER about a TOPIC at a PLACE": Pattern(
        "drinking to", "agent", "listener", (("drinking to:_about", "topic"),)
    ),
    "the AGENT gives a RECIPIENT an ITEM with the AGENTPART": Pattern(
        "drinking", "agent", "recipient", (("drinking:_with", "agentpart"),)
    ),
    "AGENT hangs ITEM in front of the VICTIM": Pattern(
        "drinking", "agent", "item", (("drinking:_in front of", "victim"),)
    ),
    "an AGENT sits at a PLACE with a FRIEND": Pattern("drinking with", "agent", "friend", ()),
    "an AGENT watches TV in a PLACE": None,
    "an AGENT dances": None,
    "": None,
}


@pytest.mark.parametrize("sentence", PATTERNS)
def test_a_verbs_sentence_says_what_leads_to_each_role(sentence: str) -> None:
    roles = [word.lower() for word in sentence.replace("TV", "").split() if word.isupper()]
    assert pattern_of("drinking", Verb(sentence, roles)) == PATTERNS[sentence]


def test_a_situation_becomes_a_scene_with_one_relation_and_its_prepositions(tmp_path: Path) -> None:
    folder = imsitu(tmp_path / "raw", train={"pouring_7.jpg": pouring(frame())})
    images, skipped = read_imsitu(folder)
    assert images.images.rows() == [("pouring_7", "train", None, None, None)]
    assert images.things["id"].to_list() == ["pouring_7_0", "pouring_7_1", "pouring_7_2"]
    assert told(images) == [
        ("pouring", "pouring_7_0", "pouring_7_1", "woman tea"),
        ("pouring:_into", "pouring_7_0", "pouring_7_2", "woman cup"),
    ]
    assert not skipped


def test_the_first_frame_that_names_who_and_what_counts(tmp_path: Path) -> None:
    frames = (frame(substance=""), frame(agent="n3", destination="", source="n1"), frame())
    images, _ = read_imsitu(imsitu(tmp_path / "raw", dev={"a.jpg": pouring(*frames)}))
    assert images.images["split"].to_list() == ["val"]
    assert told(images) == [("pouring", "a_0", "a_1", "cup tea"), ("pouring:_from", "a_0", "a_2", "cup woman")]


def test_situations_without_who_and_what_are_left_out_and_counted(tmp_path: Path) -> None:
    dance = {"verb": "dancing", "frames": [{"agent": "n1", "place": "n4"}]}
    train = {"a.jpg": pouring(frame()), "b.jpg": pouring(frame(agent="")), "c.jpg": dance, "d.jpg": dance}
    images, skipped = read_imsitu(imsitu(tmp_path / "raw", train=train))
    assert images.images["id"].to_list() == ["a"]
    assert dict(skipped) == {
        "images without a frame that names both who and what": 1,
        "images of verbs that relate the agent to nothing": 2,
    }


def test_everything_wrong_with_situations_is_told(tmp_path: Path) -> None:
    train = {
        "a.jpg": {"verb": "singing", "frames": []},
        "b.jpg": pouring(frame(agent="n9")),
        "c.jpg": pouring(frame(destination="n5")),
        "d.jpg": pouring(frame()),
        "d.png": pouring(frame()),
    }
    with pytest.raises(BadInput) as caught:
        read_imsitu(imsitu(tmp_path / "raw", train=train))
    assert [str(fault) for fault in caught.value.faults] == [
        "train.json, image a.jpg: the verb 'singing' is not in imsitu_space.json",
        "train.json, image b.jpg: the noun 'n9' has no gloss in imsitu_space.json",
        "train.json, image c.jpg: the noun 'n5' has no gloss in imsitu_space.json",
        "train.json, image d: image id d is used twice; it is also in train.json",
    ]


@pytest.mark.parametrize(
    "content", ["{", "[]", '{"a.jpg": {"verb": "pouring"}}', '{"a.jpg": {"verb": 3, "frames": []}}']
)
def test_files_of_another_shape_are_refused(tmp_path: Path, content: str) -> None:
    with pytest.raises(BadInput, match=r"test\.json: expected \{image: \{verb, frames: "):
        read_imsitu(imsitu(tmp_path / "raw", test=content))
    with pytest.raises(BadInput, match=r"imsitu_space\.json: expected \{nouns: "):
        read_imsitu(imsitu(tmp_path / "raw", imsitu_space=content))


def test_a_folder_without_the_files_says_what_it_found(tmp_path: Path) -> None:
    (tmp_path / "raw").mkdir()
    (tmp_path / "raw" / "train.json").write_text("{}")
    with pytest.raises(BadInput, match=r"expected imsitu_space\.json and train\.json, .*, got train\.json"):
        read_imsitu(tmp_path / "raw")
    with pytest.raises(BadInput, match="no such folder"):
        read_imsitu(tmp_path / "absent")


# -- people's own images -------------------------------------------------------------------------------

TEA = {
    "id": "tea",
    "split": "train",
    "width": 640,
    "height": 480,
    "things": [
        {
            "id": "w",
            "name": "woman",
            "box": [10, 20, 110, 400],
            "attributes": ["standing"],
            "relations": [
                {"name": "pouring", "object": "t", "prepositions": [{"name": "pouring:_into", "object": "c"}]},
                {"name": "near", "object": "c"},
            ],
        },
        {"id": "t", "name": "tea"},
        {"id": "c", "name": "cup", "attributes": ["red", "red"]},
    ],
}


def own(folder: Path, *images: Any) -> Path:
    (folder / "mine.json").write_text(json.dumps({"images": images}))
    return folder / "mine.json"


def test_own_images_become_image_facts(tmp_path: Path) -> None:
    images = read_own_images(own(tmp_path, TEA))[0]
    assert images.images.rows() == [("tea", "train", 640, 480, None)]
    assert images.things.select("id", "x1", "y1", "x2", "y2").rows()[:2] == [
        ("w", 10, 20, 110, 400),
        ("t", None, None, None, None),
    ]
    assert told(images) == [
        ("pouring", "w", "t", "woman tea"),
        ("near", "w", "c", "woman cup"),
        ("pouring:_into", "w", "c", "woman cup"),
    ]
    assert len(images.attributes) == 2


def test_own_words_are_written_in_small_letters(tmp_path: Path) -> None:
    relations = [{"name": "Looks_At", "object": "y", "prepositions": [{"name": "Looks_At:_Through", "object": "y"}]}]
    things = [{"id": "x", "name": "Nurse", "attributes": ["Young"], "relations": relations}]
    image = {"id": "A", "things": [*things, {"id": "y", "name": "Drip, Saline"}]}
    found = read_own_images(own(tmp_path, image))[0].words["word"].to_list()
    assert found == ["nurse", "young", "looks at", "looks at:_through", "saline drip"]


def test_everything_wrong_with_own_images_is_told(tmp_path: Path) -> None:
    wrong = [
        {"id": "a", "things": [{"id": "x", "name": "cup", "relations": [{"name": "on", "object": "z"}]}]},
        {"id": "b", "things": [{"id": "x"}, {"id": "y", "name": "cup", "colour": "red", "box": [1, 2, 3]}]},
        {"id": "c", "things": [{"id": "x", "name": "cup"}, {"id": "x", "name": "cup", "box": [9, 0, 1, 1]}]},
        {"things": []},
        {"id": "d", "things": [{"id": "x", "name": "cup", "relations": [{"name": "on"}]}]},
        {"id": " ", "things": []},
        {"id": "e", "things": [{"id": 1, "name": "cup", "relations": [{"name": "on", "object": "z"}]}]},
    ]
    path = own(tmp_path, *wrong)
    with pytest.raises(BadInput) as caught:
        read_own_images(path)
    assert sorted(str(fault).removeprefix(f"{path}, ") for fault in caught.value.faults) == [
        "image  : the id is empty",
        "image 4 of the list: id is missing",
        "image a, object x: relation 'on' to object z, which is not in this image",
        "image b, thing x: name is missing",
        "image b, thing y: box: Expected `array` of length 4, got 3",
        "image b, thing y: unknown field 'colour'; known: id, name, box, attributes, relations",
        "image c, object x: a box of negative size: w is -8.0",
        "image c: thing id x is used twice",
        "image d, thing x, relation on: object is missing",
        "image e, object 1: relation 'on' to object z, which is not in this image",
        "image e, thing 1: id: Expected `str`, got `int`",
    ]


@pytest.mark.parametrize("text", ["{", "[]", '{"videos": []}', '{"images": {}}'])
def test_files_that_are_no_own_images_are_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "mine.json").write_text(text)
    with pytest.raises(BadInput):
        read_own_images(tmp_path / "mine.json")


# -- together in one run -------------------------------------------------------------------------------


def test_images_of_several_sources_lie_in_one_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    raw = tmp_path / "gqa"
    raw.mkdir()
    cup = {"name": "cup", "attributes": ["red"], "relations": [{"name": "near", "object": "2"}]}
    scene = {"objects": {"1": cup, "2": {"name": "woman"}}}
    (raw / "val_sceneGraphs.json").write_text(json.dumps({"9": scene}))
    run = tmp_path / "run"
    command.gqa(raw, out=run)
    command.imsitu(imsitu(tmp_path / "raw", train={"p.jpg": pouring(frame())}), out=run, add=True)
    command.images(own(tmp_path, TEA), out=run, add=True, json=tmp_path / "counts.json")
    images = Images.load(run / "images")
    assert images.images.select("id", "split").rows() == [("9", "val"), ("p", "train"), ("tea", "train")]
    assert told(images) == [
        ("near", "1", "2", "cup woman"),
        ("pouring", "p_0", "p_1", "woman tea"),
        ("pouring", "w", "t", "woman tea"),
        ("near", "w", "c", "woman cup"),
        ("pouring:_into", "p_0", "p_2", "woman cup"),
        ("pouring:_into", "w", "c", "woman cup"),
    ]
    assert images.words["word"].n_unique() == len(images.words)
    assert json.loads((tmp_path / "counts.json").read_text())["things"] == 8
    with pytest.raises(BadInput, match="image tea: image id tea is used twice"):
        command.images(own(tmp_path, TEA), out=run, add=True)
    command.images(own(tmp_path, TEA), out=run)
    assert Images.load(run / "images").images["id"].to_list() == ["tea"]


def test_joining_keeps_the_rows_of_the_first_and_means_the_same(tmp_path: Path) -> None:
    write_situations(tmp_path / "made", 40, seed=2)
    whole, _ = read_imsitu(tmp_path / "made")
    halves = []
    for name in ("train", "dev"):
        part = imsitu(tmp_path / name, imsitu_space=space())
        (part / f"{name}.json").write_bytes((tmp_path / "made" / f"{name}.json").read_bytes())
        halves.append(read_imsitu(part)[0])
    both = whole_sources.joined(*halves)
    for table in ("images", "things", "attributes", "relations", "prepositions", "words"):
        assert getattr(both, table).head(len(getattr(halves[0], table))).equals(getattr(halves[0], table))
    assert sorted(told(both)) == sorted(told(halves[0]) + told(halves[1]))
    assert set(told(both)) < set(told(whole))


# -- made-up situations --------------------------------------------------------------------------------


def test_made_up_situations_are_the_same_for_the_same_seed_and_can_be_read(tmp_path: Path) -> None:
    made = write_situations(tmp_path / "a", 60, seed=5)
    write_situations(tmp_path / "b", 60, seed=5)
    for path in sorted((tmp_path / "a").iterdir()):
        assert path.read_bytes() == (tmp_path / "b" / path.name).read_bytes()
    images, skipped = read_imsitu(tmp_path / "a")
    assert made["images"] == 60 == len(images.images) + sum(skipped.values())
    assert len(images.prepositions) > 20
    assert set(images.images["split"]) == {"train", "dev", "test"}
    assert make_situation(7, 5) == make_situation(7, 5) != make_situation(7, 6)


def test_every_verb_has_words_for_its_roles() -> None:
    seen = {make_situation(at, 1)[1]["verb"] for at in range(400)}
    assert seen == set(space()["verbs"])
    relations = {p.relation for verb, said in space()["verbs"].items() if (p := pattern_of(verb, Verb(**said)))}
    assert {"pouring", "complaining to", "looking at", "climbing up"} <= relations


def test_made_up_situations_replace_only_their_own_kind(tmp_path: Path) -> None:
    write_situations(tmp_path / "made", 5, seed=1)
    write_situations(tmp_path / "made", 6, seed=1)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "precious.txt").write_text("mine")
    with pytest.raises(BadInput) as caught:
        write_situations(tmp_path / "other", 0, seed=-1)
    assert len(caught.value.faults) == 3


def test_gzipped_scene_graphs_are_found(tmp_path: Path) -> None:
    import gzip

    scenes = {"1": {"objects": {"a": {"name": "cup"}}}}
    (tmp_path / "train_sceneGraphs.json.gz").write_bytes(gzip.compress(json.dumps(scenes).encode()))
    assert whole_sources.ingest(tmp_path, tmp_path / "run")["images"] == 1


def test_a_source_with_train_dev_and_test_keeps_them(tmp_path: Path) -> None:
    def splits(*given: str) -> list[str]:
        (tmp_path / "mine.json").write_text(
            json.dumps({"images": [{"id": str(at), "things": [], "split": each} for at, each in enumerate(given)]})
        )
        return read_own_images(tmp_path / "mine.json")[0].images["split"].to_list()

    assert splits("train", "dev", "test", "") == ["train", "dev", "test", ""]
    assert splits("train", "val", "test") == ["train", "dev", "test"]
    assert splits("train", "dev") == ["train", "val"]  # nothing to test with: dealt out anew
    with pytest.raises(BadInput, match="image 0: expected a split, got 'minival'; choose from train, dev, val"):
        splits("minival")
