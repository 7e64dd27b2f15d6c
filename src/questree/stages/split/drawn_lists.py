"""Compositions to hold out of questions in words that are not AGQA's: drawn by a keyed hash of words with support."""

from collections.abc import Collection

import msgspec
import numpy as np
import polars as pl

from questree.benchmarks.agqa.held_out import RELEASED, is_agqas
from questree.columns.hashing import seed_of
from questree.tables.facts import ACTIONS, TRACKS, VIDEOS
from questree.tables.run import Run
from questree.vocabulary.words import NONE, HeldOutWords, Vocabulary

ENOUGH = 3  # videos for training, and as many for testing, that a word is annotated in
SHARE = 4  # one in so many of such words is held out, and not more than AGQA holds out
ASKED = ("contact", "spatial", "verb")  # groups of relations


def drawn_for(run: Run, as_released: bool = False) -> HeldOutWords | None:
    """What splits hold out of words for which no list was written; None where there is one."""
    words = run.vocabulary()
    written = as_released or words.held_out is not None or is_agqas(words)
    return None if written else drawn_lists(run, words)


def with_lists(words: Vocabulary, drawn: HeldOutWords | None) -> Vocabulary:
    """The vocabulary with what its splits hold out."""
    return words if drawn is None else msgspec.structs.replace(words, held_out=drawn)


def drawn_lists(run: Run, words: Vocabulary) -> HeldOutWords:
    """Actions, relations and pairs that occur in enough videos of either side."""
    train = run.table("facts", VIDEOS)["split"] == "train"
    tracks = run.table("facts", TRACKS.only("video", "relation", "object"))
    deeds = run.table("facts", ACTIONS.only("video", "action"))
    asked = asked_relations(words, tracks)
    things = [at for at, word in enumerate(words.objects) if not word.part_only and word.id != words.person]
    tracks = tracks.filter(pl.col("relation").is_in(asked), pl.col("object").is_in(things))
    pairs = supported(tracks.select("video", "object", "relation"), train)
    barred = {(words.object_at[thing], words.relation_at[link]) for thing, link in words.lists.commonsense_pairs}
    never = {*words.never_localised, words.other_action_at}
    actions = [at for (at,) in supported(deeds, train) if at not in never]
    first = [at for (at,) in supported(tracks.select("video", "relation"), train)]
    named = {name: getattr(words, f"{name}_at") for name in ("object", "relation", "action")}

    def name(kind: str, at: int) -> str:
        """Its name, or its id where that is also the name of another word."""
        word = getattr(words, f"{kind}s")[at]
        spelled = word.phrase if kind == "action" else word.name
        return str(spelled if named[kind][spelled] == at else word.id)

    few = some([name("action", at) for at in actions], len(RELEASED.actions))
    links = some([name("relation", at) for at in first], len(RELEASED.first))
    done = [words.action_at[each] for each in few]
    barred |= {(words.done_to[at], words.verb_of[at]) for at in done}  # these actions stay in train
    known = {(name("object", thing), name("relation", link)) for thing, link in pairs if (thing, link) not in barred}
    return HeldOutWords(tuple(few), tuple(links), tuple(some_pairs(known, len(RELEASED.pairs))))


def asked_relations(words: Vocabulary, tracks: pl.DataFrame) -> list[int]:
    """Relations that are asked about: of several objects, and not those that a vocabulary never asks."""
    several = tracks.group_by("relation").agg(pl.col("object").n_unique()).filter(pl.col("object") > 1)
    never = {words.relation_at[name] for name in (*words.lists.never_asked_relations, *words.lists.obvious_relations)}
    kept = {*several["relation"].to_list()} - never - {words.other_relation_at, NONE}
    return sorted(kept & {int(at) for at in words.group(*ASKED)})


def supported(rows: pl.DataFrame, train: pl.Series) -> list[tuple[int, ...]]:
    """The words, or pairs of them, in enough videos of either side; `rows`: a video, then the words."""
    columns = [name for name in rows.columns if name != "video"]
    each = rows.unique(maintain_order=True)
    seen = each.with_columns(train=train.gather(each["video"]))
    counts = seen.group_by(columns).agg(pl.col("train").sum().alias("train"), pl.len().alias("videos"))
    kept = counts.filter(pl.col("train") >= ENOUGH, pl.col("videos") - pl.col("train") >= ENOUGH)
    return sorted(kept.select(columns).rows())


def some(names: Collection[str], most: int) -> list[str]:
    """A share of the names, those whose hashes are the smallest."""
    return sorted(names, key=drawn_by)[: min(most, len(names) // SHARE)]


def some_pairs(pairs: Collection[tuple[str, str]], most: int) -> list[tuple[str, str]]:
    """The same of pairs; train keeps each word with another."""
    left, found = {*pairs}, list[tuple[str, str]]()
    for pair in sorted(pairs, key=lambda own: drawn_by(", ".join(own))):
        others = left - {pair}
        if len(found) < min(most, len(pairs) // SHARE) and all(
            any(own[at] == pair[at] for own in others) for at in range(2)
        ):
            left, found = others, [*found, pair]
    return found


def drawn_by(name: str) -> tuple[np.uint64, str]:
    return seed_of(0, f"held out {name}"), name


def list_table(lists: HeldOutWords) -> list[dict[str, str]]:
    """What is held out, for a person."""
    pairs = [f"{link} {thing}" for thing, link in lists.pairs]
    rows = {"before, and lengths of": lists.actions, "first": lists.first, "pairs": pairs}
    return [{"held out of train": kind, "drawn": ", ".join(names)} for kind, names in rows.items() if names]
