"""The shipped vocabulary against what is known of AGQA, Action Genome and Charades."""

import json
from collections import Counter
from pathlib import Path

import msgspec
import numpy as np
import pytest

from questree.api.vocabularies import counts
from questree.vocabulary import default
from questree.vocabulary.words import NONE, ROLES

ROOT = Path(__file__).parent.parent
CHARADES = ROOT.parent / "shared/data/charades_statistics.json"
FORMATS = ROOT.parent / "shared/data/formats"

SURVIVING = """bag bed blanket box broom chair closet clothes dish door doorknob doorway floor food laptop light
medicine mirror paper phone picture pillow refrigerator shoe table television vacuum window"""
MERGED_ACTIONS = """c033-c070 c034-c071 c035-c073 c036-c074 c037-c075 c067-c061 c068-c062 c069-c063 c130-c062 c081-c009
c082-c012 c122-c134 c123-c135 c146-c133 c147-c066 c156-c065"""
MERGED_OBJECTS = "sandwich-food groceries-food towel-blanket book-paper cup-dish shelf-table sofa-bed"
TOUCHED = """wiping, writing on, having it on the back, wearing, holding, leaning on, lying on, sitting on, standing on,
covered by, taking, putting down, throwing, opening, closing, grasping, snuggling with, washing, tidying, fixing"""


def relation(spelling: str) -> str:
    words = default()
    return words.relations[words.relation_at[spelling]].id


def pair(action: str) -> tuple[str, str]:
    """Verb and object an action's facts are stored under."""
    words, at = default(), default().action_at[action]
    found = words.object_of[at]
    return words.relations[words.verb_of[at]].name, words.objects[found].name if found != NONE else ""


def test_it_has_the_words_of_action_genome_and_charades_in_their_order() -> None:
    words = default()
    assert [word.id for word in words.objects] == [f"o{k}" for k in range(1, 37)] + ["h1", "h2", "h3"]
    ids = [f"r{k}" for k in range(1, 27)] + [f"v{k:03d}" for k in range(33)] + ["d1", "d2"]
    assert [word.id for word in words.relations] == ids
    assert [word.id for word in words.actions] == [f"c{k:03d}" for k in range(157)]
    groups = Counter(word.group for word in words.relations)
    assert groups == {"attention": 3, "spatial": 6, "contact": 17, "verb": 33, "derived": 2}


def test_merging_leaves_28_objects_besides_the_person_and_parts_of_it() -> None:
    words = default()
    left = {words.objects[at].name for at in words.merged_object}
    assert left == {"person", "hair", "hands", "something unnamed", *SURVIVING.split()}
    assert len(SURVIVING.split()) == 28
    assert [word.name for word in words.objects if word.part_only] == ["hair", "hands", "something unnamed"]


def test_merging_leaves_141_actions_with_141_phrases() -> None:
    words = default()
    left = np.unique(words.merged_action)
    assert len(left) == 141
    # 139 of them are reported as answers of AGQA 2.0; which two never are is not known
    assert len({words.actions[at].phrase for at in left}) == 141


@pytest.mark.parametrize(
    ("action", "verb", "thing"),
    [
        ("c076", "holding", "pillow"),
        ("c026", "holding", "paper"),
        ("c106", "drinking from", "dish"),
        ("c129", "eating", "medicine"),
        ("c060", "standing on", "chair"),
        ("c122", "lying on", "bed"),
        ("c059", "sitting on", "chair"),
        ("c044", "taking", "box"),
        ("c087", "photographing", "phone"),
        ("c038", "washing", "blanket"),
        ("c139", "washing", "hands"),
        ("c144", "fixing", "hair"),
        ("c104", "turning", "light"),
        ("c105", "turning", "light"),
        ("c148", "dressing", "clothes"),
        ("c149", "laughing at", ""),
        ("c154", "standing on", ""),
    ],
)
def test_an_action_says_its_folded_verb_of_its_merged_object(action: str, verb: str, thing: str) -> None:
    assert pair(action) == (verb, thing)


def test_these_actions_name_a_place_or_a_tool_and_all_others_what_they_are_done_to() -> None:
    words = default()
    found = {role: [word.id for word in words.actions if word.role == role] for role in ROLES}
    assert found["place"] == ["c009", "c011", "c014", "c044", "c081", "c092", "c096", "c108", "c126", "c127"]
    assert found["tool"] == ["c038", "c087", "c102"]
    unnamed = [word.id for at, word in enumerate(words.actions) if words.done_to[at] == words.unnamed_at]
    assert unnamed == sorted(found["place"] + found["tool"])
    assert (words.as_released().done_to == words.object_of).all()


def test_seven_actions_have_no_object() -> None:
    without = [word.id for word in default().actions if not word.object]
    assert without == ["c146", "c149", "c150", "c151", "c152", "c153", "c154"]


def test_merged_words_have_the_targets_of_agqa() -> None:
    words = default()
    objects = [
        f"{word.name}-{words.objects[words.object_at[word.merged]].name}" for word in words.objects if word.merged
    ]
    assert sorted(objects) == sorted(MERGED_OBJECTS.split())
    actions = [f"{word.id}-{word.merged}" for word in words.actions if word.merged]
    assert sorted(actions) == sorted(MERGED_ACTIONS.split())


@pytest.mark.parametrize(
    ("action", "noun", "stored"),
    [("c038", "blanket", "blanket"), ("c065", "food", "food"), ("c145", "book", "paper"), ("c026", "book", "paper")],
)
def test_the_noun_is_the_one_of_the_phrase(action: str, noun: str, stored: str) -> None:
    words = default()
    at = words.action_at[action]
    assert f" {noun}" in words.actions[at].phrase
    assert words.objects[words.noun_of[at]].name == noun
    assert words.objects[words.object_of[at]].name == stored


def test_phrases_name_one_thing_only_and_their_forms_differ_in_the_first_word_only() -> None:
    for word in default().actions:
        assert "/" not in word.phrase
        said = word.progressive or word.phrase
        assert len({form.partition(" ")[2] for form in (said, word.present, word.past)}) == 1, word
        assert {form.split()[0][-3:] for form in (said, word.phrase)} == {"ing"}, word


def test_reworded_phrases_are_agqas() -> None:
    words = default()
    phrases = {
        "c032": "watching a book",
        "c055": "putting on a shoe",
        "c107": "holding a cup of something",
        "c129": "consuming some medicine",
        "c133": "awakening in bed",
        "c151": "going from standing to sitting",
        "c154": "standing up",
    }
    assert {word.id: word.phrase for word in words.actions if word.id in phrases} == phrases
    assert words.actions[words.action_at["sitting down"]].id == "c151"


@pytest.mark.skipif(not CHARADES.exists(), reason="needs ../shared/data")
def test_verbs_and_objects_are_those_of_charades() -> None:
    words = default()
    for name, known in json.loads(CHARADES.read_text())["actions"].items():
        action = words.actions[words.action_at[name]]
        assert action.verb == relation(known["verb"])
        thing = known["object"]
        assert action.object == ("" if thing == "None" else words.objects[words.object_at[thing]].id)


@pytest.mark.skipif(not FORMATS.exists(), reason="needs ../shared/data")
def test_class_names_of_action_genome_are_found_in_their_order() -> None:
    words = default()
    objects = (FORMATS / "action_genome_object_classes.txt").read_text().split()
    relations = (FORMATS / "action_genome_relationship_classes.txt").read_text().split()
    assert [words.object_at[name] for name in objects] == list(range(36))
    assert [words.relation_at[name] for name in relations] == list(range(26))


@pytest.mark.parametrize(
    ("spelling", "found"),
    [
        ("holding", "r15"),
        ("hold", "v008"),
        ("in_front_of", "r6"),
        ("infrontof", "r6"),
        ("have_it_on_the_back", "r14"),
        ("haveitontheback", "r14"),
        ("putting", "v016"),
        ("playing", "v014"),
        ("working", "v032"),
        ("laughing", "v009"),
        ("sitting", "r20"),
        ("walking", "v029"),
    ],
)
def test_a_relation_is_found_by_every_spelling_of_its_sources(spelling: str, found: str) -> None:
    assert relation(spelling) == found


def test_six_verbs_fold_into_contacts_of_the_same_name() -> None:
    words = default()
    folds = {word.id: word.folds for word in words.relations if word.folds}
    assert folds == {"v004": "r12", "v005": "r13", "v008": "r15", "v010": "r17", "v018": "r20", "v022": "r21"}
    for own, target in folds.items():
        assert words.relations[words.relation_at[own]].name == words.relations[words.relation_at[target]].name


def test_every_special_list_is_filled_and_finds_its_words() -> None:
    words = default()
    lists = msgspec.structs.asdict(words.lists)
    assert all(lists.values())
    ids = [words.relations[at].id for at in words.relations_named(words.lists.single_object_verbs)]
    assert sorted(ids) == ["v002", "v007", "v011", "v013", "v015", "v024", "v027", "v029"]
    ids = [words.relations[at].id for at in words.relations_named(words.lists.relation_time_ban)]
    assert sorted(ids) == ["r13", "r18", "r20", "v000", "v006", "v009", "v016", "v017", "v019", "v020", "v022", "v030"]
    ids = [words.relations[at].id for at in words.relations_named(words.lists.relation_existence_ban)]
    ban = "r18 r2 r20 r21 r24 v006 v009 v017 v019 v020 v022 v030 v002 v007 v011 v013 v015 v024 v027 v029"
    assert sorted(ids) == sorted(ban.split())
    assert words.lists.transition_actions == ("c083",)
    assert len(words.lists.commonsense_pairs) == 6 + 1 + 3 + 2


def test_entailments_are_those_of_agqa_and_already_closed() -> None:
    found = {name: set(others) for name, others in default().entailments.items()}
    touched = {name.strip(): {"touching"} for name in TOUCHED.split(",")}
    held = {name: {"holding", "touching"} for name in ("carrying", "drinking from", "eating", "twisting")}
    assert found == touched | held
    for others in found.values():
        assert all(found.get(other, set()) <= others for other in others)


def test_articles_fit_their_nouns() -> None:
    articles = {word.name: word.article for word in default().objects if word.article != "a"}
    some = dict.fromkeys(["clothes", "food", "groceries", "medicine", "hair", "hands"], "some") | {
        "something unnamed": ""
    }
    assert articles == some | {"floor": "the"}


def test_show_counts_merged_and_folded_words() -> None:
    rows = {row["kind"]: (row["words"], row["counted as another"]) for row in counts(default())}
    assert rows["objects"] == (36, 7)
    assert rows["relations, verb"] == (33, 6)
    assert rows["actions"] == (157, 16)
