"""Every kind of AGQA release string beside the program it means, written out from the description of the format."""

from collections.abc import Iterator, Sequence
from itertools import product

from hypothesis import strategies as st

from questree.vocabulary import default

Pair = tuple[str, str]  # the release string, our own notation
Case = tuple[str, str, str]  # template, the release string, our own notation

WORDS = default()
ALL: Pair = ("video", "whole()")
LENGTH = "Subtract(Query(end, action), Query(start, action))"


def word(name: str) -> Pair:
    return name, name


def of(relation: str) -> str:
    return f"Filter(frame, [relations, {relation}, objects])"


def run(way: str, relation: str, time: Pair) -> str:
    return f"IterateUntil({way}, {time[0]}, Exists({relation}, Filter(frame, [relations])), {of(relation)})"


def first(relation: str, time: Pair = ALL) -> Pair:
    return f"Query(class, OnlyItem({run('forward', relation, time)}))", f"first({relation}, {time[1]})"


def last(relation: str, time: Pair = ALL) -> Pair:
    return f"Query(class, OnlyItem({run('backward', relation, time)}))", f"last({relation}, {time[1]})"


def only(relation: str, time: Pair = ALL) -> Pair:
    return f"Query(class, OnlyItem(Iterate({time[0]}, {of(relation)})))", f"only(objects({relation}, {time[1]}))"


def done_to(verb: str, object: Pair) -> Pair:
    return f"ToAction({verb}, {object[0]})", f"to_action({verb}, {object[1]})"


LONGEST: Pair = (f"Superlative(max, Filter(video, [actions]), {LENGTH})", "longest()")
SHORTEST: Pair = (f"Superlative(min, Filter(video, [actions]), {LENGTH})", "shortest()")


def localised(kind: str, action: Pair) -> Pair:
    return f"Localize({kind}, {action[0]})", f"{kind}({action[1]})"


def between(a: Pair, b: Pair) -> Pair:
    return f"Localize(between, [{a[0]}, {b[0]}])", f"between({a[1]}, {b[1]})"


OBJECTS = (word("bag"), first("on the side of"), last("touching"), only("having it on the back"))
ACTIONS = (
    word("holding a pillow"),
    word("standing up"),
    LONGEST,
    SHORTEST,
    *(done_to("taking", object) for object in OBJECTS[1:]),
)
TIMES = (
    ALL,
    *(localised(kind, action) for kind in ("before", "after", "while") for action in ACTIONS),
    *(between(a, b) for a, b in product(ACTIONS[:4], ACTIONS[1:3])),
)


def within(event: str, time: Pair) -> str:
    return event if time == ALL else f"within({event}, {time[1]})"


def of_one_time(relation: str, time: Pair, objects: Sequence[Pair]) -> Iterator[Case]:
    """The templates that have a time, the relation and objects being given."""
    yield from events(relation, time, objects)
    yield from open_questions(relation, time)
    yield from named_candidates(relation, time, objects[0], objects[1])


def events(relation: str, time: Pair, objects: Sequence[Pair]) -> Iterator[Case]:
    def exists(item: str, *keys: str) -> str:
        return f"Exists({item}, Iterate({time[0]}, Filter(frame, [{', '.join(keys)}])))"

    for name, program in objects:
        if name == program:  # a plain word
            yield "objExists", exists(name, "objects"), within(f"interacting({name})", time)
    a, b = objects[:2]
    left, right = (within(f"interaction({relation}, {object[1]})", time) for object in (a, b))
    sides = f"{exists(a[0], 'relation', relation, 'objects')}, {exists(b[0], 'relation', relation, 'objects')}"
    yield "objRelExists", exists(a[0], "relations", relation, "objects"), left
    yield "relExists", exists(relation, "relations"), within(f"doing({relation})", time)
    yield "andObjRelExists", f"AND({sides})", f"both({left}, {right})"
    yield "xorObjRelExists", f"XOR({sides})", f"but_not({left}, {right})"


def open_questions(relation: str, time: Pair) -> Iterator[Case]:
    t, window = time
    yield (
        "objWhatGeneral",
        f"Query(class, OnlyItem(Iterate({t}, Filter(frame, [objects]))))",
        f"only(annotated({window}))",
    )
    yield "objWhat", *only(relation, time)
    yield "objFirst", *first(relation, time)
    yield "objLast", *last(relation, time)
    which = f"Query(class, OnlyItem(Iterate({t}, Filter(frame, [actions]))))"
    if window.startswith("before"):
        yield "actWhatBefore", which, f"action_before({window})"
    else:
        yield "actWhatAfterAll", which, f"action_after({window})"
    for name, way in (("First", "forward"), ("Last", "backward")):
        until = f"IterateUntil({way}, {t}, HasItem(Filter(frame, [actions])), Filter(frame, [actions]))"
        yield f"act{name}", f"Query(class, OnlyItem({until}))", f"{name.lower()}_action({window})"


def named_candidates(relation: str, time: Pair, a: Pair, b: Pair) -> Iterator[Case]:
    (t, window), filter = time, of(relation)
    named = f"{relation}, {window}, {a[1]}, {b[1]}"
    yield "objWhatChoose", f"Choose({a[0]}, {b[0]}, {only(relation, time)[0]})", f"choose({named})"
    test = f"XOR(Exists({a[0]}, {filter}), Exists({b[0]}, {filter}))"
    for name, way in (("First", "forward"), ("Last", "backward")):
        until = f"IterateUntil({way}, {t}, {test}, {filter})"
        yield f"obj{name}Choose", f"Choose({a[0]}, {b[0]}, {until})", f"choose_{name.lower()}({named})"
        target = f"{name.lower()}({relation}, {window})"
        yield f"obj{name}Verify", f"Equals({a[0]}, OnlyItem({run(way, relation, time)}))", f"equals({a[1]}, {target})"


def of_two_actions(relation: str, object: Pair, a: Pair, b: Pair) -> Iterator[Case]:
    """The templates that compare actions, lengths or times."""
    pair = f"[Filter(video, [actions, {a[0]}]), Filter(video, [actions, {b[0]}])], {LENGTH}"
    for name, end in (("Longer", "max"), ("Shorter", "min")):
        choice = f"{name.lower()}({a[1]}, {b[1]})"
        yield f"actLength{name}Choose", f"Superlative({end}, {pair})", choice
        yield f"actLength{name}Verify", f"Equals({a[0]}, Superlative({end}, {pair}))", f"same_action({a[1]}, {choice})"
    for template, item, key, program in (
        ("actTime", a, "actions", "action_order"),
        ("relTime", word(relation), "relations", "relation_order"),
        ("objTime", object, "objects", "object_order"),
    ):
        search = f"Exists({item[0]}, Iterate(Localize(temporal tag, {b[0]}), Filter(frame, [{key}])))"
        yield template, f"Compare([before, after], {search})", f"{program}({item[1]}, {b[1]})"


def cases() -> Iterator[Case]:
    """Every template with every kind of time and every kind of reference."""
    for at, time in enumerate(TIMES):
        for turn in range(len(OBJECTS)):
            objects = OBJECTS[turn:] + OBJECTS[:turn]
            yield from of_one_time(("holding", "putting down", "in front of")[at % 3], time, objects)
    for (at, a), b in product(enumerate(ACTIONS), ACTIONS):
        yield from of_two_actions("working on", OBJECTS[at % len(OBJECTS)], a, b)
    yield "actLongest", *LONGEST
    yield "actShortest", *SHORTEST
    # a reference with a time of its own, as in edition 1.0
    timed = [first("holding", TIMES[1]), last("eating", TIMES[-1]), only("wiping", TIMES[9])]
    yield from of_one_time("touching", TIMES[5], timed)


def did_it_happen() -> Iterator[Case]:
    """The template of edition 1.0 that 2.0 left out."""
    for time, action in product(TIMES, ACTIONS):
        text = f"Exists({action[0]}, Iterate({time[0]}, Filter(frame, [actions])))"
        yield "actExists", text, within(f"happening({action[1]})", time)


# of these actions the verb and the object tell which it is, or there is no object
TELLING = [
    action.phrase
    for at, action in enumerate(WORDS.actions)
    if not action.merged
    and sum(
        not other.merged and (WORDS.verb_of[i], WORDS.noun_of[i]) == (WORDS.verb_of[at], WORDS.noun_of[at])
        for i, other in enumerate(WORDS.actions)
    )
    == 1
]
relations = st.sampled_from([relation.name for relation in WORDS.relations if relation.group != "derived"])
names = st.sampled_from([object.name for object in WORDS.objects]).map(word)
references = st.builds(lambda make, relation: make(relation), st.sampled_from([first, last, only]), relations)
objects = names | references
actions = (
    st.sampled_from(TELLING).map(word)
    | st.sampled_from([LONGEST, SHORTEST])
    | st.builds(done_to, relations, references)
)
times = (
    st.just(ALL)
    | st.builds(localised, st.sampled_from(["before", "after", "while"]), actions)
    | st.builds(between, actions, actions)
)
timed = st.builds(of_one_time, relations, times, st.tuples(objects, objects)).map(list)
compared = st.builds(of_two_actions, relations, objects, actions, actions).map(list)
random_cases = (timed | compared).flatmap(st.sampled_from)
