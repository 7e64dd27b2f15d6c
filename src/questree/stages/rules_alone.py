"""Questions whose answers follow from rules alone: they name what a rule inserted, or rules say it of every video."""

from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np
import polars as pl
from numpy.typing import NDArray

from questree.benchmarks.agqa.templates import AFTER, BEFORE, BETWEEN, DIRECT, REFERENCES, TIMES, WHILE, Template
from questree.columns.compiled import njit
from questree.columns.joins import Ints
from questree.domains.video.kinds import ORDER
from questree.stages.augment.actions import roles
from questree.stages.augment.opposites import touching_and_apart
from questree.stages.augment.relations import closure
from questree.stages.template_columns import TemplateColumns
from questree.tables.facts import ACTIONS
from questree.tables.questions import NOTHING16, TABLES, time_actions, time_kind
from questree.tables.run import Run
from questree.tables.table import Table
from questree.terms import ACTION, OBJECT, Node, Term
from questree.vocabulary.words import NONE, Vocabulary

NEITHER, AN_OBJECT, AN_ACTION, IN_ORDER = range(4)  # what a slot or an answer is
NO_PAIRS, A_PAIR, BOTH, BUT_NOT, CHOICE = range(5)  # what is asked of the objects of its slots
PAIRED = {"both": BOTH, "but_not": BUT_NOT, "choose": CHOICE}
KINDS = {OBJECT.name: AN_OBJECT, ACTION.name: AN_ACTION}
NO_ROLE = -1
KIND_BEFORE, KIND_AFTER, KIND_WHILE, KIND_BETWEEN = (TIMES.index(kind) for kind in (BEFORE, AFTER, WHILE, BETWEEN))
kind_of, actions_of = njit(time_kind), njit(time_actions)


def inserted_actions(raw: pl.DataFrame, facts: pl.DataFrame, vocabulary: Vocabulary) -> pl.DataFrame:
    """video, action: those with an instance that overlaps none that was annotated."""
    merged = pl.Series(vocabulary.merged_action, dtype=pl.Int64)
    there = raw.select("video", merged.gather(raw["action"]).alias("action"), since="start", until="end")
    now = facts.select("video", pl.col("action").cast(pl.Int64), "start", "end").with_row_index()
    overlap = (pl.col("start") <= pl.col("until")) & (pl.col("end") >= pl.col("since"))
    annotated = now.join(there, on=["video", "action"]).filter(overlap)
    return now.join(annotated, on="index", how="anti").select("video", "action").unique().sort("video", "action")


class WordRules(NamedTuple):
    """What rules say about words, as columns to gather from; the last action is none."""

    role: Ints  # [action] taking, holding, putting in their order, or NO_ROLE
    noun: Ints  # [action] of what, if it has a role
    verb: Ints  # [action] the relation it says
    object: Ints  # [action] ... to this object
    relation_role: Ints  # [relation]
    entails: NDArray[np.bool_]  # [relation, relation] whoever does the one does the other
    contact: int  # the relation of questions that name none

    @classmethod
    def of(cls, vocabulary: Vocabulary) -> Self:
        role, noun = (np.full(len(vocabulary.actions) + 1, none) for none in (NO_ROLE, NONE))
        verb, done_to = (np.append(own, NONE).astype(np.int64) for own in (vocabulary.verb_of, vocabulary.done_to))
        relation_role = np.full(len(vocabulary.relations), NO_ROLE)
        for action, own, place in roles(vocabulary).iter_rows():
            role[action], noun[action], relation_role[verb[action]] = place, own, place
        entails = np.eye(len(vocabulary.relations), dtype=bool)
        entails[tuple(closure(vocabulary).to_numpy().T)] = True
        contact = vocabulary.relation_at[vocabulary.interacting]
        entails[:, contact] |= entails[:, touching_and_apart(vocabulary)[0]].any(axis=1)
        return cls(role, noun, verb, done_to, relation_role, entails, contact)


@dataclass(frozen=True)
class RulesAlone:
    """What tells of questions whether their answers follow from rules alone."""

    inserted: pl.DataFrame  # video, action
    words: WordRules
    objects: int  # in the vocabulary
    slots: Ints  # [template, 7] kinds of x, y and the answer, is there a relation, what yes says is x, no says another,
    # what is asked of its pairs
    references: Table  # as the edition of the questions has them

    @classmethod
    def of(cls, run: Run, known: TemplateColumns, edition: str) -> Self:
        """Of a run without the facts as they were read, nothing is known to be inserted."""
        words, facts = run.vocabulary(), run.table("facts", ACTIONS)
        raw = run.table("raw", ACTIONS) if (run.raw / "actions.parquet").is_file() else facts
        inserted, table = inserted_actions(raw, facts, words), TABLES[edition]["references"]
        return cls(inserted, WordRules.of(words), len(words.objects), slots(known), table)

    def of_questions(self, questions: pl.DataFrame, references: pl.DataFrame) -> NDArray[np.bool_]:
        """[question]; of columns video, template, relation, x, y, first, second, time, answer; references: of all
        these videos, as their shard has them."""
        if questions.is_empty():
            return np.zeros(0, bool)
        video = questions["video"].to_numpy()
        first, last = int(video.min()), int(video.max())
        here = self.inserted.filter(pl.col("video").is_between(first, last))
        own, action = (here["video"].to_numpy().astype(np.int64) - first, here["action"].to_numpy())
        actions = np.zeros((last - first + 1, len(self.words.role)), bool)
        actions[own, action] = True
        about = self.words.object[action] != NONE
        own, action = own[about], action[about]
        pairs = np.zeros((last - first + 1, len(self.words.relation_role), self.objects), bool)
        pairs[own, self.words.verb[action], self.words.object[action]] = True
        names = ("template", "relation", "x", "y", "time", "answer", "first", "second")
        columns = [questions[name].to_numpy() for name in names]
        named = NamedObjects.of(references, first, last)
        given = [video, first, *columns, self.slots, actions, pairs, *named, *self.words]
        found: NDArray[np.bool_] = _follow(*given)
        return found


class NamedObjects(NamedTuple):
    """References of some videos, as columns to gather from; the last row is none."""

    start: Ints  # [video] its first row
    named_by: Ints  # [reference] the relation that names the object, or NONE
    named_in: Ints  # [reference] the time in which it does

    @classmethod
    def of(cls, references: pl.DataFrame, first: int, last: int) -> Self:
        start = np.searchsorted(references["video"], np.arange(first, last + 1))
        direct = references["kind"].to_numpy() == REFERENCES.index(DIRECT)
        relation = np.where(direct, NONE, references["relation"].to_numpy().astype(np.int64))
        timed = "time" in references.columns
        time = references["time"].to_numpy().astype(np.int64) if timed else np.zeros(len(relation), np.int64)
        return cls(start, np.append(relation, NONE), np.append(time, 0))


def slots(known: TemplateColumns) -> Ints:
    found = []
    for template in known.templates:
        kinds = {side: KINDS.get(template.kinds[slot], NEITHER) for side, slot in template.sides.items()}
        kind, relation = template.node.kind, "relation" in template.kinds
        yes = bool(kind.yes) and [*kinds] == [0] and "time" in template.kinds
        answer = IN_ORDER if kind == ORDER and [*kinds.values()] == [AN_ACTION] * 2 else KINDS.get(kind.name, NEITHER)
        other = relation and "equals" in template.operators
        found.append((kinds.get(0, NEITHER), kinds.get(1, NEITHER), answer, relation, yes, other, of_pairs(template)))
    return np.array(found, np.int64)


def of_pairs(template: Template) -> int:
    """Asked of a relation and one object, of two objects, or which of two."""
    node = template.node
    if is_pair(node):
        return A_PAIR
    every = node.op.name == "choose" or all(map(is_pair, node.args))
    return PAIRED.get(node.op.name, NO_PAIRS) if every else NO_PAIRS


def is_pair(term: Term) -> bool:
    event = term.args[0] if isinstance(term, Node) and term.op.name == "within" else None
    return isinstance(event, Node) and event.op.name == "interaction"


@njit(cache=True, nogil=True)
def relation_inside(name, start, time, named_by, named_in):  # type: ignore[no-untyped-def]
    """The relation that names an object, if what is named so has it in the time asked about."""
    if name == NOTHING16:
        return NONE
    at = min(start + np.int64(name), len(named_by) - 1)
    return named_by[at] if time == 0 or time == named_in[at] else NONE


@njit(cache=True, nogil=True)
def _follow(  # type: ignore[no-untyped-def]
    video, first, template, relation, x, y, time, answer, first_name, second_name,
    slots, actions, pairs, start, named_by, named_in, role, noun, verb, done_to, relation_role, entails, contact
):  # fmt: skip
    found = np.zeros(len(video), np.bool_)
    for row in range(len(video)):
        x_kind, y_kind, answered, related, yes, other, asked = slots[template[row]]
        here, kind = np.int64(video[row]) - first, kind_of(np.int64(time[row]))
        a, b = actions_of(np.int64(time[row]))
        act_x = np.int64(x[row]) if x_kind == AN_ACTION else np.int64(NONE)
        act_y = np.int64(y[row]) if y_kind == AN_ACTION else np.int64(NONE)
        does = np.int64(relation[row]) if related else contact
        # what the answer says is done: an action, or a relation to a thing
        deed = thing = np.int64(NONE)
        if answered == AN_ACTION:
            deed = np.int64(answer[row])
        elif answered == AN_OBJECT:
            thing = np.int64(answer[row])
        elif yes and answer[row] and x_kind == AN_ACTION:
            deed = act_x
        elif yes and answer[row]:
            thing = np.int64(x[row])
        # something inserted is named
        rests = actions[here, a] or actions[here, b] or actions[here, deed]
        rests = rests or actions[here, act_x] or actions[here, act_y]
        if related:
            own = pairs[here, does]
            rests = rests or (thing >= 0 and own[thing]) or (x_kind == NEITHER and answered == NEITHER and own.any())
            rests = rests or (other and answer[row] == 0 and own.any())
            rests = rests or (x_kind == AN_OBJECT and own[x[row]]) or (y_kind == AN_OBJECT and own[y[row]])
        # the usual order or an entailment says it, of the time's action or of what the thing is named by
        if answered == IN_ORDER and noun[act_x] == noun[act_y] and role[act_x] != role[act_y]:
            rests = rests or (role[act_x] < role[act_y]) == (answer[row] == 0)
        earlier = a if kind in (KIND_AFTER, KIND_BETWEEN) else NONE
        later = a if kind == KIND_BEFORE else b if kind == KIND_BETWEEN else NONE
        if role[deed] >= 0:
            rests = rests or (noun[earlier] == noun[deed] and role[earlier] < role[deed])
            rests = rests or (noun[later] == noun[deed] and role[deed] < role[later])
        if thing >= 0:
            own_role = relation_role[does]
            rests = rests or (done_to[earlier] == thing and 0 <= role[earlier] < own_role)
            rests = rests or (done_to[later] == thing and 0 <= own_role < role[later])
            rests = rests or (kind == KIND_WHILE and done_to[a] == thing and entails[verb[a], does])
        if related and asked != NO_PAIRS:
            inside_x = relation_inside(first_name[row], start[here], time[row], named_by, named_in)
            inside_y = relation_inside(second_name[row], start[here], time[row], named_by, named_in)
            says_x = inside_x >= 0 and entails[inside_x, does]
            says_y = inside_y >= 0 and entails[inside_y, does]
            if asked == CHOICE:
                rests = rests or (says_x and answer[row] == x[row]) or (says_y and answer[row] == y[row])
            elif asked == BUT_NOT:
                rests = rests or (says_y and answer[row] == 0)
            else:
                rests = rests or (says_x and (asked == A_PAIR or says_y) and answer[row] == 1)
        found[row] = rests
    return found
