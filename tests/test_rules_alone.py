"""Which answers follow from rules alone: a function of the words and of what was inserted, against plain loops."""

from random import Random

import numpy as np
import polars as pl
import pytest

from conftest import copy
from judges import naive_rules_alone as judge
from judges.facts import ACTIONS, OBJECTS, RELATIONS, WORDS, noun
from questree.benchmarks.agqa.editions import FIRST, SECOND
from questree.benchmarks.agqa.templates import REFERENCES, TIMES
from questree.stages.audit.audited import AuditOptions
from questree.stages.audit.videos import audit
from questree.stages.balance.levelling import BalanceOptions
from questree.stages.balance.rounds import balance
from questree.stages.balance.told import deletions
from questree.stages.questions import Bank
from questree.stages.rules_alone import RulesAlone, WordRules, inserted_actions, slots
from questree.stages.template_columns import TemplateColumns
from questree.tables.facts import ACTIONS as DONE
from questree.tables.questions import NOTHING16, QUESTIONS, TABLES, packed_time, read_balanced, time_actions
from questree.tables.run import Run
from questree.terms import ACTION, OBJECT

KNOWN = TemplateColumns(FIRST.by_code)
OBJECT_IDS, RELATION_IDS, ACTION_IDS = list(OBJECTS), list(RELATIONS), list(ACTIONS)
NOUNS = {"phone", "clothes", "food", "box", "broom", "door"}
DEEDS = [id for id in ACTION_IDS if noun(id) and OBJECTS[noun(id)].name in NOUNS]
THINGS = sorted({noun(id) for id in DEEDS})
TIES = [
    RELATION_IDS[WORDS.relation_at[name]]
    for name in ("taking", "holding", "putting down", "throwing", "touching", "carrying", "eating", "standing on")
]
STANDING_UP = "c154"  # says no fact: it is done to nothing


Rows = dict[int, list[dict[str, int]]]  # video -> its ways to name an object
WAYS = range(len(REFERENCES))


def named(random: Random, video: int, time: tuple[str, int], names: Rows) -> tuple[int, tuple[str, str, str, str]]:
    """A row of the video's references and what it says: a word, or a relation in some time, often that asked about."""
    kind, relation = random.choice(WAYS), random.choice(TIES)
    own = random.choice([time, time, ("all", 0), ("before", packed_time(TIMES.index("before"), 5, -1))])
    number = RELATION_IDS.index(relation)
    names[video].append({"video": video, "kind": kind, "object": 0, "relation": number, "time": own[1]})
    a, b = (ACTION_IDS[at] if at >= 0 else "" for at in time_actions(own[1]))
    return len(names[video]) - 1, (relation, own[0], a, b) if kind else ("", "", "", "")


def asked(random: Random, names: Rows) -> tuple[dict[str, int], judge.Asked]:
    """A question of any words, as a row and in words; of few words, so that they often meet."""
    code = random.randrange(len(KNOWN))
    template, none = KNOWN.templates[code], 255
    own = random.choice(THINGS)
    deeds, things = ([id for id in DEEDS if noun(id) == own], [own]) if random.random() < 0.6 else (DEEDS, THINGS)
    kinds = {side: template.kinds[slot] for side, slot in template.sides.items()}
    words = {side: random.choice(deeds if kind == ACTION.name else things) for side, kind in kinds.items()}
    at = {side: (ACTION_IDS if kinds[side] == ACTION.name else OBJECT_IDS).index(word) for side, word in words.items()}
    relation = random.choice(TIES) if "relation" in template.kinds else ""
    time = random.choice(template.times) if template.times else "all"
    used = {"all": 0, "between": 2}.get(time, 1)
    a, b = (random.choice(deeds) if used > place else "" for place in (0, 1))
    kind = template.node.kind
    if kind in (ACTION, OBJECT):
        answer = random.choice(deeds if kind == ACTION else things)
        value = (ACTION_IDS if kind == ACTION else OBJECT_IDS).index(answer)
    else:
        value = random.randrange(2)
        answer = (("before", "after") if kind.name == "order" else ("no", "yes"))[value]
    video = random.choice([*names])
    packed = packed_time(TIMES.index(time), *(ACTION_IDS.index(one) if one else -1 for one in (a, b)))
    ways = [named(random, video, (time, packed), names) for kind in kinds.values() if kind == OBJECT.name]
    first, second = (*(number for number, _ in ways), NOTHING16, NOTHING16)[:2]
    row = {
        "video": video,
        "template": code,
        "relation": RELATION_IDS.index(relation) if relation else none,
        "x": at.get(0, none),
        "y": at.get(1, none),
        "first": first,
        "second": second,
        "time": packed,
        "answer": value,
    }
    said = {kind: tuple(words[side] for side in words if kinds[side] == kind) for kind in (OBJECT.name, ACTION.name)}
    things_said, deeds_said = said[OBJECT.name], said[ACTION.name]
    own_names = tuple(name for _, name in ways)
    return row, judge.Asked(template.name, relation, things_said, deeds_said, time, a, b, answer, own_names)


@pytest.mark.parametrize("seed", range(3))
def test_any_question_follows_from_rules_as_plain_loops_say(seed: int) -> None:
    random = Random(seed)
    made = {3: {*random.sample(DEEDS, 3), STANDING_UP}, 4: set[str]()}
    inserted = pl.DataFrame({"video": [3] * 4, "action": [ACTION_IDS.index(one) for one in made[3]]})
    references, names = TABLES["1.0"]["references"], Rows({3: [], 4: []})
    rules = RulesAlone(inserted, WordRules.of(WORDS), len(WORDS.objects), slots(KNOWN), references)
    drawn = [asked(random, names) for _ in range(12_000)]
    table = QUESTIONS.only("video", "template", "relation", "x", "y", "first", "second", "time", "answer")
    given = table.frame(pl.DataFrame([row for row, _ in drawn]))
    found = rules.of_questions(given, references.frame(pl.DataFrame(names[3] + names[4])))
    wanted = [judge.follows(said, made[row["video"]]) for row, said in drawn]
    wrong = [said for (_, said), one, other in zip(drawn, found, wanted, strict=True) if one != other]
    assert wrong == []
    of_order = [judge.always_so(said) for _, said in drawn]
    assert 300 < sum(of_order) < sum(wanted) < 9_000
    templates = {said.template for (_, said), follows in zip(drawn, of_order, strict=True) if follows}
    assert {"actTime", "actWhatBefore", "actWhatAfterAll", "actExists", "objRelExists", "objExists"} <= templates
    by_name = [said.template for _, said in drawn if judge.said_by_a_name(said)]
    assert {*by_name} == {"objRelExists", "andObjRelExists", "xorObjRelExists", "objWhatChoose"}
    assert all(by_name.count(template) > 5 for template in {*by_name})


def test_before_holding_a_phone_it_was_taken_whatever_the_video_shows() -> None:
    hold, take = (
        next(id for id in DEEDS if ACTIONS[id].phrase.startswith(f"{verb} a phone")) for verb in ("holding", "taking")
    )
    question = judge.Asked("actWhatBefore", "", (), (), "before", hold, "", take)
    assert judge.follows(question, set())
    assert not judge.follows(question._replace(template="actWhatAfterAll", time="after"), set())


@pytest.fixture(scope="module")
def few_annotated(asked_run: Run, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Two of five actions were not annotated, as if rules had inserted them."""
    run = copy(asked_run, tmp_path_factory.mktemp("inserted"))
    raw = run.table("raw", DONE)
    DONE.write(raw.filter(pl.int_range(pl.len()) % 5 > 1), run.raw)
    return run


def following(run: Run) -> pl.DataFrame:
    """video, number and template of the questions that the judge says follow from rules alone."""
    stages = {stage: dict[int, list[judge.Done]]() for stage in ("raw", "facts")}
    for stage, done in stages.items():
        for row in run.table(stage, DONE).iter_rows(named=True):
            own = (ACTION_IDS[row["action"]], row["start"], row["end"])
            done.setdefault(row["video"], []).append(own)
    made = {video: judge.inserted(stages["raw"].get(video, []), now) for video, now in stages["facts"].items()}
    rows = list[dict[str, int]]()
    for folder in Bank(run).folders():
        names: Rows = {}
        for name in TABLES["2.0"]["references"].read(folder).iter_rows(named=True):
            names.setdefault(name["video"], []).append(name)
        every = QUESTIONS.read(folder).iter_rows(named=True)
        rows += [row for row in every if judge.follows(in_words(row, names), made.get(row["video"], set()))]
    return pl.DataFrame([{name: row[name] for name in ("video", "number", "template")} for row in rows])


def in_words(row: dict[str, int], names: Rows) -> judge.Asked:
    template = SECOND.by_code[row["template"]]
    sides = {side: template.kinds[slot] for side, slot in template.sides.items()}
    ids = {ACTION.name: ACTION_IDS, OBJECT.name: OBJECT_IDS}
    said = {kind: tuple(ids[kind][row["xy"[side]]] for side in sides if sides[side] == kind) for kind in ids}
    a, b = (ACTION_IDS[at] if at >= 0 else "" for at in time_actions(row["time"]))
    kind = template.node.kind
    words = ids.get(kind.name) or (["before", "after"] if kind.name == "order" else ["no", "yes"])
    relation = RELATION_IDS[row["relation"]] if "relation" in template.kinds else ""
    time, answer = TIMES[row["time"] & 255], words[row["answer"]]
    ways = [names[row["video"]][row[side]] for side in ("first", "second") if row[side] != NOTHING16 and said["object"]]
    named = tuple((RELATION_IDS[way["relation"]] if way["kind"] else "", "all", "", "") for way in ways)
    return judge.Asked(template.name, relation, said[OBJECT.name], said[ACTION.name], time, a, b, answer, named)


def test_balancing_selects_no_question_that_follows_from_rules_but_as_released(few_annotated: Run) -> None:
    follow = following(few_annotated)
    released = balance(few_annotated, BalanceOptions(as_released=True), workers=1)
    kept = follow.join(read_balanced(few_annotated.balanced), on=["video", "number"], how="semi")
    assert len(kept) > 10
    assert released.total("after_rules") == released.total("before")
    report = balance(few_annotated, BalanceOptions(), workers=1)
    assert follow.join(read_balanced(few_annotated.balanced), on=["video", "number"], how="semi").is_empty()
    assert report.total("before") - report.total("after_rules") == len(follow)
    assert f"rules alone {len(follow):,} (" in deletions(report)


def test_the_audit_counts_what_follows_from_rules_before_and_after(few_annotated: Run) -> None:
    follow = following(few_annotated)
    balance(few_annotated, BalanceOptions(as_released=True), workers=1)
    chosen = read_balanced(few_annotated.balanced)
    kept = follow.join(chosen, on=["video", "number"], how="semi")
    found = {count.type: count for count in audit(few_annotated, AuditOptions(most=10), workers=1).rules_alone}
    assert (found["all"].before, found["all"].after, found["all"].n_after) == (len(follow), len(kept), len(chosen))
    structure = pl.Series([template.categories.structural for template in SECOND.by_code])
    for name in structure.unique():
        own = [int((structure.gather(table["template"]) == name).sum()) for table in (follow, kept)]
        assert [found[name].before, found[name].after] == own
    assert sum(count.before for name, count in found.items() if name != "all") == len(follow)


def test_an_action_is_inserted_where_nobody_annotated_it() -> None:
    random, rows = Random(1), []
    for video in range(200):
        for _ in range(random.randrange(7)):
            start = random.randrange(20)
            end = start + random.randrange(4)
            rows.append((random.choice(("raw", "now")), video, random.choice(DEEDS[:4]), float(start), float(end)))
    rows += [("now", 200, "c015", 1.0, 2.0), ("raw", 200, "c015", 2.0, 3.0)]  # a shared end is no insertion

    def table(kind: str) -> pl.DataFrame:
        own = [row for row in rows if row[0] == kind]
        columns = {"video": [row[1] for row in own], "action": [ACTION_IDS.index(row[2]) for row in own]}
        stamps = {"start": [row[3] for row in own], "end": [row[4] for row in own]}
        rest = {"instance": np.ones(len(own)), "first": None, "last": None}
        return DONE.frame(pl.DataFrame(columns | stamps | rest))

    found = inserted_actions(table("raw"), table("now"), WORDS)
    wanted = set()
    for video in range(201):
        done = {kind: [row[2:] for row in rows if row[:2] == (kind, video)] for kind in ("raw", "now")}
        wanted |= {(video, ACTION_IDS.index(action)) for action in judge.inserted(done["raw"], done["now"])}
    assert set(found.rows()) == wanted
    assert 50 < len(wanted) < 400
    assert 200 not in found["video"]
