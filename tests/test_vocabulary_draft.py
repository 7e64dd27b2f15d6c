"""A vocabulary drafted from somebody's files: the tour of the page, forms by rule, and words no rule foresees."""

import json
import re
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from questree import open as open_run
from questree.faults import BadInput
from questree.sources.own_json import read_own_json
from questree.stages.questions import Bank
from questree.tables.facts import Facts
from questree.tables.run import Run
from questree.vocabulary import Vocabulary
from questree.vocabulary.draft import UsedWords
from questree.vocabulary.drafted_file import drafted
from questree.vocabulary.inflection import article, base, past, plural, progressive
from questree.vocabulary.load import default, parse
from questree.vocabulary.notes import NOTES
from questree.vocabulary.words import Lists
from worlds import workshop
from worlds.commands import questree

PAGE = (Path(__file__).parents[1] / "docs" / "vocabulary.md").read_text("utf-8")
TOUR = PAGE[PAGE.index("## Build from your own data") : PAGE.index("## Fields")]


def test_the_tour_of_the_page_works(tmp_path: Path) -> None:
    (tmp_path / "kitchen.json").write_text(re.findall(r"```json\n(.*?)```", TOUR, re.DOTALL)[0])
    forgotten = questree("ingest", "json", "kitchen.json", "--out", "run", folder=tmp_path)
    assert forgotten.returncode == 1 and forgotten.stderr.count("\n") == 1
    assert "`questree vocabulary draft kitchen.json --out vocabulary.toml`" in forgotten.stderr
    commands = [block.splitlines() for block in re.findall(r"```console\n(.*?)```", TOUR, re.DOTALL)]
    for line in [line for block in commands for line in block if line.startswith("$ ")]:
        done = questree(*line.split()[2:], folder=tmp_path)
        assert done.returncode == 0, f"{line}\n{done.stderr}"
        if "draft" in line:
            assert done.stdout.splitlines() == commands[0][1:]
    made = (tmp_path / "vocabulary.toml").read_text().splitlines()
    shown = re.findall(r"```text\n(.*?)```", TOUR, re.DOTALL)[0].splitlines()
    assert [line for line in shown if line not in made] == []
    bank = Bank(Run(tmp_path / "run"))
    assert sum(len(bank.shard(folder).questions) for folder in bank.folders()) > 100
    again = questree("vocabulary", "draft", "kitchen.json", "--out", "vocabulary.toml", folder=tmp_path)
    assert again.stderr.startswith("error: vocabulary.toml: expected a new file")


def test_check_says_which_lists_are_empty_and_what_that_lets_through(tmp_path: Path) -> None:
    text = drafted(UsedWords(), "none", "nothing.json").text
    (tmp_path / "none.toml").write_text(text)
    done = questree("vocabulary", "check", "none.toml", "--json", "found.json", folder=tmp_path)
    assert done.returncode == 0
    head, title, _, *rows = done.stdout.splitlines()
    assert head == "none.toml: nothing is missing (1 objects, 2 relations, 0 actions)"
    assert title == "special lists that are empty (docs/vocabulary.md says what each does)"
    assert [row.split(maxsplit=1) for row in rows] == [[name, note.empty] for name, note in NOTES.items()]
    found = json.loads((tmp_path / "found.json").read_text())
    assert found == {"faults": [], "empty lists": {name: note.empty for name, note in NOTES.items()}}


def test_every_list_has_its_row_in_the_table_of_the_page() -> None:
    assert list(NOTES) == list(Lists.__struct_fields__)
    for name, note in NOTES.items():
        assert f"| `{name}` | {note.does} | {note.empty} |\n" in PAGE


def test_forms_of_verbs() -> None:
    wanted = """hold holding held, take taking took, cut cutting cut, stir stirring stirred, pour pouring poured,
    open opening opened, close closing closed, tie tying tied, lie lying lay, dry drying dried, use using used,
    slice slicing sliced, taste tasting tasted, handle handling handled, change changing changed, hang hanging hung,
    squeeze squeezing squeezed, prepare preparing prepared, vacuum vacuuming vacuumed, roll rolling rolled,
    unplug unplugging unplugged, undo undoing undid, tidy tidying tidied, add adding added, press pressing pressed"""
    for verb, ing, did in (row.split() for row in wanted.split(",")):
        assert (progressive(verb), past(verb), base(ing)) == (ing, did, verb)
    assert list(map(base, ["holds", "washes", "carries", "goes", "press", "fix"])) == [
        "hold",
        "wash",
        "carry",
        "go",
        "press",
        "fix",
    ]


def test_the_forms_of_agqas_verbs_come_out_as_shipped() -> None:
    """A check against words nobody wrote the rules for; prepositions and idioms are left out."""
    plain = [word for word in default().relations if word.group in ("contact", "verb") and " " not in word.name]
    asked = [word for word in plain if word.present and " " not in word.present]
    made = {word.name: (base(word.name), past(base(word.name))) for word in asked}
    assert made == {word.name: (word.present, word.past) for word in asked}


def test_nouns() -> None:
    nouns = {"cup": "a", "apple": "an", "hour": "an", "unit": "a", "food": "some", "scissors": "some", "floor": "the"}
    assert {noun: article(noun) for noun in nouns} == nouns
    many = {"cup": "cups", "dish": "dishes", "knife": "knives", "cherry": "cherries", "kitchen knife": "kitchen knives"}
    assert {noun: plural(noun) for noun in many} == many
    assert (article("box of screws"), plural("box of screws"), article("screws")) == ("a", "boxes of screws", "some")


def read(used: UsedWords) -> Vocabulary:
    return parse(drafted(used, "mine", "mine.json").text, "mine.toml")


def test_actions_are_split_into_verb_and_object() -> None:
    used = UsedWords()
    given = ["peel onion", "Sitting on a chair", "take_off shoes", "putting something on a table", "coffee making"]
    given += [
        "wiping something with a towel",
        "person opens door",
        "pour water into cup",
        "yawning",
        "wash hands",
        "peeling onions",
        "turn 3/4",
    ]
    used.actions.update(given)
    words = read(used)
    found = {}
    for name in given:
        word = words.actions[words.action_at[name]]
        verb = next(relation.name for relation in words.relations if relation.id == word.verb)
        found[word.phrase] = (verb, next((thing.name for thing in words.objects if thing.id == word.object), ""))
    assert found == {
        "peeling the onion": ("peeling", "onion"),
        "sitting on a chair": ("sitting on", "chair"),
        "taking off some shoes": ("taking off", "shoes"),
        "putting something on a table": ("putting", "table"),
        "wiping something with a towel": ("wiping", "towel"),
        "making some coffee": ("making", "coffee"),
        "opening the door": ("opening", "door"),
        "pouring some water into the cup": ("pouring", "water"),
        "yawning": ("yawning", ""),
        "washing their hands": ("washing", "hands"),
        "peeling some onions": ("peeling", "onions"),
        "turning 3/4": ("turning", ""),
    }
    roles = {word.object: word.role for word in words.actions if word.role != "done to"}
    assert [roles[words.objects[words.object_at[name]].id] for name in ("table", "towel")] == ["place", "tool"]
    assert words.objects[words.unnamed_at].name == "something unnamed"
    counted = words.merged_action[words.action_at["peeling onions"]]
    assert words.actions[counted].phrase == "peeling the onion"


def test_names_with_brackets_shorthand_and_prepositions_are_read() -> None:
    used = UsedWords()
    things = ["box of screws", "drill (cordless)", "hole in plank", "plank w/ hole", "cup(s)", "pot (with lid)"]
    things += ["plank", "needle holder (large)"]
    deeds = ["hold box of screws", "drill hole in plank", "cut plank w/ saw", "use drill (cordless)", "wash (dishes)"]
    deeds += [
        "throw-in",
        "high five",
        "tighten needle holder (large)",
        "fill hole in plank with glue",
        "put plank in box of screws",
        "open jar of nails w/o knife",
    ]
    used.objects.update(things)
    used.actions.update(deeds)
    words = read(used)
    assert [words.objects[words.object_at[name]].name for name in things] == [
        *("box of screws", "cordless drill", "hole in the plank", "plank with a hole", "cup", "pot with a lid"),
        *("plank", "large needle holder"),
    ]
    said = [words.actions[words.action_at[name]] for name in deeds]
    names = {thing.id: thing.name for thing in words.objects}
    assert [(word.phrase, names.get(word.object, "")) for word in said] == [
        ("holding a box of screws", "box of screws"),
        ("drilling a hole in the plank", "hole in the plank"),
        ("cutting a plank with the saw", "plank"),
        ("using a cordless drill", "cordless drill"),
        ("washing some dishes", "dishes"),
        ("taking a throw-in", ""),
        ("high-fiving", ""),
        ("tightening a large needle holder", "large needle holder"),
        ("filling a hole in the plank with glue", "hole in the plank"),
        ("putting a plank in a box of screws", "plank"),
        ("opening the jar of nails without a knife", "jar"),
    ]


def test_what_steps_do_is_not_counted_as_done_to_something_else() -> None:
    """Of what only steps name, whichever comes first; an annotated car is the car of "parked car"."""
    deeds = ["eat butter", "eat peanut butter", "wash potato", "wash sweet potato", "enter parked car"]
    deeds += ["look both ways", "look in both directions"]
    words = read(UsedWords(Counter(["car"]), actions=Counter(dict(zip(deeds, range(9, 0, -1), strict=False)))))
    things = {thing.id: thing.name for thing in words.objects}
    about = [things.get(words.actions[words.action_at[name]].object, "") for name in deeds]
    assert about == ["butter", "peanut butter", "potato", "sweet potato", "car", "", ""]


def test_limbs_that_somebody_stands_on_are_their_own() -> None:
    deeds = ["land on both feet", "balance on one leg", "attach leg to table"]
    words = read(UsedWords(actions=Counter(deeds)))
    said = {thing.name: thing.article for thing in words.objects if not thing.part_only}
    assert (said["feet"], said["leg"]) == ("their", "their")
    assert words.actions[words.action_at["attach leg to table"]].phrase == "attaching the leg to the table"


def test_what_only_steps_name_is_said_with_the() -> None:
    """Which reads well of what is not counted, too; "a" where files have the thing or say so, and of what is done."""
    steps = {
        "add kimchi": "adding the kimchi",
        "pour gochujang into cup": "pouring the gochujang into a cup",
        "add bowl of sumac": "adding the bowl of sumac",
        "grind salt and sumac": "grinding some salt and sumac",
        "slice an apple": "slicing an apple",
        "eat apple": "eating an apple",
        "do deadlift": "doing a deadlift",
        "shoot penalty": "shooting a penalty",
        "turn at corner": "turning at the corner",
        "roll dough into log": "rolling some dough into a log",
        "use towel as mat": "using the towel as a mat",
        "yield to pedestrian": "yielding to a pedestrian",
        "raise hand": "raising their hand",
        "turn light on": "turning the light on",
        "pass truck on left": "passing the truck on the left",
        "bowl googly": "bowling the googly",
    }
    words = read(UsedWords(Counter(["cup"]), actions=Counter(dict.fromkeys(steps, 1))))
    assert {name: words.actions[words.action_at[name]].phrase for name in steps} == steps
    articles = {thing: words.objects[words.object_at[thing]].article for thing in ("kimchi", "cup", "apple", "hand")}
    assert articles == {"kimchi": "the", "cup": "a", "apple": "an", "hand": "their"}


def test_classes_that_differ_by_an_article_are_one_and_those_that_differ_by_a_verb_are_not() -> None:
    things = ["hole in plank", "hole in a plank", "hole in the plank"]
    deeds = ["peel onion", "peel an onion", "run without rope", "run without a rope"]
    deeds += ["wash and cut egg", "wash and peel egg"]
    words = read(UsedWords(Counter(things), actions=Counter(deeds)))
    assert len({int(words.merged_object[words.object_at[name]]) for name in things}) == 1
    counted = [words.actions[words.merged_action[words.action_at[name]]].phrase for name in deeds]
    assert counted == [
        *2 * ["peeling the onion"],
        *2 * ["running without a rope"],
        *("washing and cutting the egg", "washing and peeling the egg"),
    ]


def test_words_that_mean_the_same_are_counted_as_the_one_used_most() -> None:
    used = UsedWords()
    used.objects.update({"couch": 5, "sofa": 2, "Sofas": 1, "cup": 1, "cups": 9, "actor": 3})
    words = read(used)
    counted = {name: words.objects[words.merged_object[words.object_at[name]]].name for name in used.objects}
    assert counted == {
        "couch": "couch",
        "sofa": "couch",
        "Sofas": "couch",
        "cup": "cup",
        "cups": "cup",
        "actor": "person",
    }


def test_relations_are_grouped_by_their_words() -> None:
    used = UsedWords()
    used.relations.update(["holds", "next to", "not contacting", "attached to", "looking at", "unsure"])
    used.actions.update(["hold cup"])
    words = read(used)
    said = {word.name: (word.group, word.present, word.past, word.folds) for word in words.relations[:7]}
    assert said == {
        "holding": ("verb", "hold", "held", "r1"),
        "next to": ("spatial", "", "", ""),
        "not contacting": ("contact", "", "", ""),
        "attached to": ("contact", "get attached to", "got attached to", ""),
        "looking at": ("spatial", "look at", "looked at", ""),
        "unsure": ("contact", "", "", ""),
    }
    assert words.lists.never_asked_relations == words.lists.not_touching_contacts == ("not contacting", "unsure")
    assert words.lists.vague_relations == ("unsure",)


def test_what_is_done_at_a_distance_is_no_interaction() -> None:
    relations = ["not-looking at", "in-front-of", "waving_at", "yielding to", "moving-towards"]
    deeds = ["dribble past defender", "wave at driver", "exit building", "wave flag"]
    words = read(UsedWords(relations=Counter(relations), actions=Counter(deeds)))
    found = [words.relations[words.relation_at[name]] for name in relations]
    assert [(word.name, word.group) for word in found] == [
        ("not looking at", "contact"),
        ("in front of", "spatial"),
        ("waving at", "spatial"),
        ("yielding to", "spatial"),
        ("moving towards", "spatial"),
    ]
    assert words.lists.never_asked_relations == ("not looking at", "hands on")
    assert words.lists.not_touching_contacts == ("not looking at",)
    assert words.entailments == {"waving": ("hands on",)}


def test_what_is_done_to_a_thing_by_hand_is_an_interaction(tmp_path: Path) -> None:
    actions = ["open box", "watch television", "point at box", "hold box", "yawn"]
    words = read(UsedWords(relations=Counter(["holding"]), actions=Counter(actions)))
    assert words.entailments == {"opening": ("hands on",)}
    assert words.lists.never_asked_relations == ("hands on",) and words.lists.not_touching_contacts == ()
    spans = [{"class": name, "start": at, "end": at + 3} for at, name in enumerate(actions)]
    frames = [{"number": 0, "seconds": 0, "relations": [["colleague", "holding", "box"]]}]
    video = {"id": "a", "split": "train", "frames": frames, "actions": spans}
    (tmp_path / "facts.json").write_text(json.dumps({"videos": [video]}))
    for line in (
        "vocabulary draft facts.json --out words.toml",
        "ingest json facts.json --vocabulary words.toml --out run",
        "augment run",
    ):
        done = questree(*line.split(), folder=tmp_path)
        assert done.returncode == 0, done.stderr
    made = Run(tmp_path / "run")
    known = made.vocabulary()
    pairs = Facts.load(made.facts).relations.select("relation", "object").unique().rows()
    touched = {(known.relations[r].name, known.objects[o].name) for r, o in pairs}
    assert {thing for relation, thing in touched if relation == "hands on"} == {"box"}


def test_derived_relations_are_not_for_files_to_have() -> None:
    used = UsedWords()
    used.relations.update(["annotated"])
    with pytest.raises(BadInput, match="relation 'annotated' comes by itself; leave it out of the files"):
        read(used)


NAMES = st.one_of(
    st.sampled_from(
        ["o1", "r2", "a1", "person", "cup", "Cups", "holding", "hold", "on", "a", "the", "s", "ing", "x/y"]
    ),
    st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=12),
    st.lists(
        st.sampled_from(["open", "hold", "cup", "the", "into", "on", "up", "cups", "something", "and", "of"]),
        min_size=1,
    ).map(" ".join),
)


@settings(max_examples=60)
@given(st.sets(NAMES, max_size=6), st.sets(NAMES, max_size=6), st.sets(NAMES, max_size=6))
def test_any_names_give_a_file_that_reads_them(
    tmp_path_factory: pytest.TempPathFactory, objects: set[str], relations: set[str], actions: set[str]
) -> None:
    used = UsedWords()
    used.objects.update(sorted(objects)), used.relations.update(sorted(relations)), used.actions.update(sorted(actions))
    words = read(used)
    things = [{"class": name, "relations": sorted(relations)} for name in sorted(objects)]
    frames = [{"number": at, "seconds": at, "objects": [thing]} for at, thing in enumerate(things)]
    spans = [{"class": name, "start": 0, "end": 1} for name in sorted(actions)]
    file = tmp_path_factory.mktemp("any") / "mine.json"
    file.write_text(json.dumps({"videos": [{"id": "a", "frames": frames, "actions": spans}]}))
    assert len(read_own_json(file, words).facts.actions) == len(spans)


def test_classes_for_everything_else_are_declared() -> None:
    used = UsedWords(
        Counter(["cup", "other", "misc_object"]),
        Counter(["holding", "unsure", "other_relationship"]),
        Counter(["hold cup", "other", "Unknown action"]),
    )
    words = parse(drafted(used, "mine", "mine.json").text, "mine.toml")
    other = next(word for word in words.objects if word.id == words.other)
    assert other.part_only and {words.objects[words.object_at[name]].id for name in ("other", "misc_object")} == {
        other.id
    }
    assert words.action_at["other"] == words.action_at["Unknown action"] == words.other_action_at
    assert words.relation_at["other_relationship"] == words.other_relation_at


STUMBLES = r"\b(go|went) (next|in|behind)\b|\b[Dd]oes (a person|some \w*s)\b|\bIs (there )?some \w*s\b|\ba sandpaper\b"
PLAIN = ("were they next to", "Is the person there ", "Do any shelves exist?", "Are there any shelves ")


def test_questions_in_drafted_words_are_plain_english(tmp_path: Path) -> None:
    """Relations without a verb, plurals, what is not counted, and who it is about."""
    facts, words, run = workshop.write(tmp_path, 6), tmp_path / "words.toml", tmp_path / "run"
    assert questree("vocabulary", "draft", facts, "--out", words).returncode == 0
    assert questree("build", facts, "--vocabulary", words, "--out", run).returncode == 0
    opened = open_run(run)
    said = [*opened.questions(columns=["question"])["question"], *opened.nodes()["question"]]
    assert [text for text in said if re.search(STUMBLES, text)] == []
    assert [part for part in PLAIN if not any(part in text for text in said)] == []
