"""English for things: numbers, plurals, articles, and references such as "red cup that is on a table"."""

import re
from collections.abc import Mapping
from functools import cache, lru_cache

from questree.domains.images.english_words import ENGLISH
from questree.domains.images.graph import Graph, GraphRelation
from questree.domains.images.links import brings_article, relation, said_of, verb_of

SINGULAR, PLURAL, MASS = "singular", "plural", "mass"
PLURALS = frozenset(ENGLISH.plurals.values()) - ENGLISH.plurals.keys()  # "men", but not "sheep"
MADE_OF = "made of "
OF = " of "  # "chest of drawers": its number is that of "chest"
TAIL = re.compile(r"( of |, | \().*")  # so are those of "pole, metal" and "bag (red)"


def head(name: str) -> str:
    """The word that bears the number."""
    return TAIL.sub("", name).split(" ")[-1]


@cache
def number(name: str) -> str:
    last, known = head(name), ENGLISH.number
    if name in known.plural or last in known.plural or last in PLURALS:
        return PLURAL
    if name in known.singular or last in known.singular or name in known.counted:
        return SINGULAR
    if name in known.mass or (OF not in name and last in known.mass):
        return MASS
    return PLURAL if last.endswith("s") and not last.endswith(("ss", "us", "is")) else SINGULAR


@cache
def plural(name: str) -> str:
    """Of a name in the singular; other names stay as they are."""
    if number(name) != SINGULAR:
        return name
    first = TAIL.sub("", name)
    before, space, last = first.rpartition(" ")
    return before + space + _plural(last) + name[len(first) :]


def _plural(word: str) -> str:
    if word in ENGLISH.plurals:
        return ENGLISH.plurals[word]
    if word.endswith("man") and word not in ENGLISH.number.not_men:
        return word[:-2] + "en"
    if word.endswith("is") and len(word) > 4:
        return word[:-2] + "es"
    if word.endswith(("s", "x", "z", "ch", "sh")):
        return word + "es"
    if word.endswith("y") and word[-2:-1] not in "aeiou":
        return word[:-1] + "ies"
    return word + "s"


@cache
def article(phrase: str) -> str:
    """By sound: a cup, an umbrella, a uniform, an hour."""
    first, sound = phrase.split(" ")[0].lower(), ENGLISH.sound
    if first in sound.an or first.split("-")[0] in sound.an:
        return "an"
    if first.startswith(sound.a) and not first.startswith(sound.but_an):
        return "a"
    return "an" if first[:1] in "aeiou" else "a"


@cache
def is_person(name: str) -> bool:
    last = head(name)
    known = last.endswith(("man", "woman", "person", "men")) and not last.endswith(ENGLISH.number.not_men)
    return known or name in ENGLISH.people.names or last in ENGLISH.people.names


@cache
def with_attribute(attribute: str | None, noun: str) -> str:
    """ "red cup", "man looking up"."""
    if attribute is None:
        return noun
    if attribute in ENGLISH.attributes.behind:
        return f"{noun} {after_is(attribute)}"
    return f"{ENGLISH.attributes.before.get(attribute, attribute)} {noun}"


@cache
def after_is(attribute: str) -> str:
    """ "red", "made of wood", "turned on"."""
    if attribute in ENGLISH.attributes.made_of:
        return MADE_OF + attribute
    return ENGLISH.attributes.after_is.get(attribute, attribute)


def can_follow_is(attribute: str) -> bool:
    return attribute not in ENGLISH.attributes.never_after_is


KEPT = 1 << 16  # references whose English is remembered
Forms = Mapping[str, str]  # form -> text; what a frame says of a slot: {R:the}


@lru_cache(KEPT)
def reference(graph: Graph) -> Forms:
    """The ways to speak of what a graph describes; `many` and `head` are plurals if it can be counted."""
    are = are_of(graph.name)
    many = _clause(graph, are if number(graph.name) == MASS else "are")
    there = f"there{many}" if has_verb(graph) else predicate(graph) or "there"
    return _forms(graph, _clause(graph, are), many, there)


def inverse(graph: Graph) -> Forms:
    """The target of the root's only relation, described by the root: "a horse that a man is riding"."""
    (edge,) = graph.relations
    subject = Graph(graph.name, graph.attribute)
    clause = f" that {_indefinite(subject)} {said_of(edge.name, are_of(subject.name))}"
    return _forms(Graph(edge.target.name, edge.target.attribute), clause, clause, f"there{clause}")


def _forms(graph: Graph, clause: str, clause_of_many: str, there: str) -> Forms:
    one, are, several = _head(graph), are_of(graph.name), with_attribute(graph.attribute, plural(graph.name))
    do = {"is": "does", "are": "do"}[are]
    return {
        "": one + clause,
        "a": _indefinite(graph) + clause,
        "the": f"the {one}{clause}",
        "many": several + clause_of_many,
        "head": several,
        "there": there,
        "this": f"{'these' if number(graph.name) == PLURAL else 'this'} {graph.name}",
        "is": are,
        "Is": are.capitalize(),
        "do": do,
        "Do": do.capitalize(),
        "it": pronoun(graph.name),
    }


def noun(name: str, form: str) -> str:
    """A name as a word of a question: plain, or with its article."""
    return _indefinite(Graph(name)) if form == "a" else name


def up_to(number: str) -> str:
    """At most so many, and at least one."""
    return "1 or 2" if number == "2" else f"between 1 and {number}"


def countable(graph: Graph) -> bool:
    """May one ask how many there are?"""
    return number(graph.name) == SINGULAR


@lru_cache(KEPT)
def reads_well(graph: Graph) -> bool:
    """Is nothing said twice? "standing man who is standing on a rug", "near a bus and a bus", "a cup that is on a table
    that is below a cup"."""
    for node in graph.nodes:
        ends = [(edge.target.name, edge.target.attribute) for edge in node.relations]
        said = {relation(edge.name).split(" ")[0] for edge in node.relations}
        deeper = {
            below.name for edge in node.relations for inner in edge.target.relations for below in inner.target.nodes
        }
        if node.attribute in said or len({*ends}) < len(ends) or node.name in deeper:
            return False
    return True


def has_verb(graph: Graph) -> bool:
    """Is one of its relations a verb of its own, so that "is" does not say them all?"""
    return any(verb_of(edge.name) for edge in graph.relations)


def is_mixed(graph: Graph) -> bool:
    """Does neither "is" nor "does" ask for all of its relations?"""
    return len({verb_of(edge.name) is None for edge in graph.relations}) > 1


def predicate(graph: Graph, are: str = "", nested: bool = False) -> str:
    """What follows a subject that has "is" or "are": "is on a table and near a chair", "wears a hat"; without it, what
    follows "is" or "does". Inside another reference "both" keeps two relations together."""
    edges, both = graph.relations, "both " if nested and len(graph.relations) == 2 else ""
    once = are if edges and not has_verb(graph) else ""  # "is" said for all of them
    links = [said_of(edge.name, are) if are and not once else relation(edge.name) for edge in edges]
    ends = [_ends(edge, graph.name) for edge in edges]
    if len(edges) == 2 and links[0] == links[1] and not (edges[0].prepositions or edges[1].prepositions):
        said = f"{links[0]} {both}{ends[0]} and {ends[1]}"
    else:
        said = both + " and ".join(f"{link} {end}" for link, end in zip(links, ends, strict=True))
    return f"{once} {said}" if once else said


def pronoun(name: str) -> str:
    last, known = head(name), ENGLISH.people
    if number(name) == PLURAL or not is_person(name):
        return "them" if number(name) == PLURAL else "it"
    if last in known.she or last.endswith("woman"):
        return "her"
    return "him" if last in known.he or last.endswith("man") else "them"


def _ends(edge: GraphRelation, subject: str) -> str:
    """The object of a relation, and those of its prepositions."""
    said = (f"{relation(each.name)} {target(each.name, each.target)}" for each in edge.prepositions)
    return " ".join([target(edge.name, edge.target, subject), *said])


def target(link: str, graph: Graph, subject: str = "") -> str:
    """The object of a relation, with its article; a cup is near another cup."""
    clause = _clause(graph, are_of(graph.name), nested=True)
    if brings_article(link):
        return _head(graph) + clause
    if graph.attribute is None and graph.name in ENGLISH.number.the:
        return f"the {graph.name}{clause}"
    if graph.attribute is None and graph.name == subject and number(subject) == SINGULAR:
        return f"another {subject}{clause}"
    return _indefinite(graph) + clause


def _head(graph: Graph) -> str:
    return with_attribute(graph.attribute, graph.name)


def _indefinite(graph: Graph) -> str:
    head = _head(graph)
    return f"{article(head)} {head}" if number(graph.name) == SINGULAR else head


def are_of(name: str) -> str:
    return "are" if number(name) == PLURAL else "is"


def _clause(graph: Graph, are: str, nested: bool = False) -> str:
    if not graph.relations:
        return ""
    return f" {'who' if is_person(graph.name) else 'that'} {predicate(graph, are, nested)}"
