"""Rules 17 and 7: what cannot hold together with one object in one frame, and what follows from the rest."""

from dataclasses import replace

import polars as pl

from questree.stages.augment.graphs import AugmentOptions, Change, Graphs, rows, telling, within, without
from questree.stages.augment.relations import closure, entailed, verb_facts
from questree.tables.table import WORD
from questree.vocabulary.words import Vocabulary


def settle_opposites(graphs: Graphs, vocabulary: Vocabulary, options: AugmentOptions) -> tuple[Graphs, list[Change]]:
    wrong = settled(graphs.relations, graphs.actions, vocabulary)
    kept = without(graphs.relations, wrong)
    return replace(graphs, relations=kept), [Change("relation facts", removed=len(wrong))]


def close_entailments(graphs: Graphs, vocabulary: Vocabulary, options: AugmentOptions) -> tuple[Graphs, list[Change]]:
    """Nothing follows from a contradiction: one that a rule of a plugin has brought is settled first."""
    wrong = settled(graphs.relations, graphs.actions, vocabulary)
    kept = without(graphs.relations, wrong)
    relations = rows(kept, entailed(kept, vocabulary))
    change = Change("relation facts", added=len(relations) - len(kept), removed=len(wrong))
    return replace(graphs, relations=relations), [change]


def settled(relations: pl.DataFrame, actions: pl.DataFrame, vocabulary: Vocabulary) -> pl.DataFrame:
    """The facts that give way to others of their frame and object; what an action says never does."""
    return without(giving_way(relations, vocabulary), verb_facts(actions, vocabulary))


def giving_way(relations: pl.DataFrame, vocabulary: Vocabulary) -> pl.DataFrame:
    """Denials of a contact that is there; of other opposites both, as nobody can tell which one is meant."""
    opponents = _opponents(vocabulary).filter(pl.col("meant") != vocabulary.relation_at[vocabulary.interacting])
    return _against(relations, relations, vocabulary, opponents)


def denied(facts: pl.DataFrame, by: pl.DataFrame, vocabulary: Vocabulary) -> pl.DataFrame:
    """The facts that one of the others speaks against."""
    return _against(facts, by, vocabulary, _opponents(vocabulary))


def _against(facts: pl.DataFrame, by: pl.DataFrame, vocabulary: Vocabulary, opponents: pl.DataFrame) -> pl.DataFrame:
    meanings = _meanings(vocabulary)
    stated = rows(by.join(meanings, on="relation").with_columns(relation="meant"))
    spoken = meanings.join(opponents, on="meant").select("relation", "opponent")
    asked = facts.join(spoken, on="relation").with_columns(fact="relation", relation="opponent")
    return rows(within(asked, stated).with_columns(relation="fact"))


def _meanings(vocabulary: Vocabulary) -> pl.DataFrame:
    """relation, meant: what a relation says, or entails, that another can speak against; all contacts say the same."""
    touching, apart = touching_and_apart(vocabulary)
    contact = vocabulary.relation_at[vocabulary.interacting]
    own = {at for pair in _opposites(vocabulary) for at in pair} | set(apart)
    says = {at: {at} for at in own}
    for at in touching:
        says.setdefault(at, set()).add(contact)
    found = {(at, meant) for at, meanings in says.items() for meant in meanings}
    found |= {(at, meant) for at, other in closure(vocabulary).rows() for meant in says.get(other, ())}
    return _pairs(found, ("relation", "meant"), vocabulary)


def _opponents(vocabulary: Vocabulary) -> pl.DataFrame:
    """meant, opponent: what cannot hold together with one object in one frame."""
    _, apart = touching_and_apart(vocabulary)
    both = [*_opposites(vocabulary), *((vocabulary.relation_at[vocabulary.interacting], at) for at in apart)]
    return _pairs({pair for a, b in both for pair in ((a, b), (b, a))}, ("meant", "opponent"), vocabulary)


def _opposites(vocabulary: Vocabulary) -> list[tuple[int, int]]:
    at = vocabulary.relation_at
    return [(at[a], at[b]) for a, b in vocabulary.lists.opposite_relations]


def _pairs(found: set[tuple[int, int]], columns: tuple[str, str], vocabulary: Vocabulary) -> pl.DataFrame:
    return pl.DataFrame(sorted(found), dict.fromkeys(columns, WORD[vocabulary.wide]), orient="row")


def touching_and_apart(vocabulary: Vocabulary) -> tuple[list[int], list[int]]:
    """Contacts that are one, and those that say there is none."""
    none = vocabulary.relations_named(vocabulary.lists.not_touching_contacts)
    contacts = telling(vocabulary, "contact")
    return [at for at in contacts if at not in none], [at for at in contacts if at in none]
