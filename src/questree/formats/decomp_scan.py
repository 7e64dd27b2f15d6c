"""A file of released DAGs as columns, from its bytes: no object per node, every different string once.

Understood is what the release looks like: objects of strings and null, each name once, sub-questions before the
hierarchy. Of anything else `scanned` gives nothing, and the careful reader (`decomp_files.py`) has the word.
"""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from questree.columns.compiled import njit
from questree.columns.joins import ranges
from questree.formats.decomp_files import object_of
from questree.tables.hierarchies import NOTHING, HierarchyPart, Numbers

Bytes = NDArray[np.uint8]
PADDING = 16  # zeros after the last byte, which may be read
SHORTEST_NODE, SHORTEST_PART, SHORTEST_CHILD = 24, 6, 3  # bytes: `"":{"key":"","type":""},`, `"":[],`, `"",`
PER_STRING = 256  # bytes per different string, at first
# kinds of strings, numbered each for itself; typed, or numba compiles for each value
TOP, TEXT, KEY, TYPE, COMPOSITION, ANSWER, OBJECT = map(np.int64, range(7))
STRINGS, NODES, COMPOSED, EDGES, FOREIGN, COUNTS = range(7, 13)  # what is counted beside the kinds
HASH, KIND, NUMBER, BEGIN, FINISH = range(5)  # what is known of a string
# of a text: its last node, of which parent it was a child last; where what is said about it as a sub-question, and as a
# parent, was written last, and the first composition and how many were read there
NODE_OF, PARENT_OF, SAID, SAID_END, SPLIT, SPLIT_END, SPLIT_ROW, SPLIT_ROWS, LASTS = range(9)
NODE_COLUMNS = ("dag", "text", "type", "key", "answer", "object", "is_parent")
UNDERSTOOD, STRANGE, CROWDED, ESCAPED = range(4)


def padded(content: bytes) -> Bytes:
    return np.frombuffer(content + bytes(PADDING), np.uint8).copy()  # one that may be written: loops know the kind


class Scanner:
    """Reads one file after the other; all of them use the same memory, which is what takes the time otherwise."""

    def __init__(self) -> None:
        self.content = np.zeros(0, np.uint8)
        self.tables = [np.empty((columns, 0), np.int32) for columns in (len(NODE_COLUMNS), 4, 2)]
        self.slots, self.counts = np.zeros(0, np.int32), np.zeros(COUNTS, np.int64)
        self.strings, self.last = np.empty((5, 0), np.int64), np.empty((0, LASTS), np.int64)

    def file(self, path: Path) -> Bytes:
        """The content of a file with padding; the next one takes its place."""
        with path.open("rb", buffering=0) as file:
            size = os.fstat(file.fileno()).st_size
            if len(self.content) < size + PADDING:
                self.content = np.empty(2 * (size + PADDING), np.uint8)
            read = 0
            while read < size and (more := file.readinto(self.content.data[read:size])):
                read += more
        self.content[read : read + PADDING] = 0
        return self.content[: read + PADDING]

    def scanned(self, video: str, bytes: Bytes) -> HierarchyPart | None:
        """The tables of one file, as the careful reader makes them; None if it is not understood."""
        outcome, escaped = self.walked(bytes, False), False
        if outcome == ESCAPED:
            try:  # one way of writing every string
                bytes, escaped = padded(msgspec.json.encode(msgspec.json.decode(bytes.data[:-PADDING]))), True
            except (msgspec.MsgspecError, UnicodeError, RecursionError):
                return None
            outcome = self.walked(bytes, True)
        if outcome != UNDERSTOOD:
            return None
        if self.counts[FOREIGN]:
            try:
                str(bytes.data, "utf-8")
            except UnicodeDecodeError:
                return None
        kinds = self.strings[KIND, : self.counts[STRINGS]]

        def named(kind: np.int64) -> list[str]:
            spans = self.strings[BEGIN : FINISH + 1, np.flatnonzero(kinds == kind)].T.tolist()
            if escaped:
                return [msgspec.json.decode(bytes.data[begin - 1 : end + 1], type=str) for begin, end in spans]
            return [str(bytes.data[begin:end], "utf-8") for begin, end in spans]

        many = self.counts[[NODES, COMPOSED, EDGES]]
        nodes, composed, edges = (table[:, :rows].copy() for table, rows in zip(self.tables, many, strict=True))
        return tables(video, nodes, composed, edges, int(self.counts[TOP]), named)

    def walked(self, bytes: Bytes, escaped: bool) -> int:
        """Fill the tables; what came of it."""
        size = len(bytes)
        if self.tables[-1].shape[1] * SHORTEST_CHILD < size:
            least = SHORTEST_NODE, SHORTEST_PART, SHORTEST_CHILD
            shapes = [(len(own), 2 * size // each + 1) for own, each in zip(self.tables, least, strict=True)]
            self.tables = [np.empty(shape, np.int32) for shape in shapes]
        slots = max(len(self.slots), 1 << (size // PER_STRING + 16).bit_length())
        while True:
            if slots > len(self.slots):
                self.slots = np.empty(slots, np.int32)
                self.strings, self.last = np.empty((5, slots // 2), np.int64), np.empty((slots // 2, LASTS), np.int64)
            self.slots[:], self.last[:], self.counts[:] = 0, NOTHING, 0
            found = self.strings, *self.tables, self.counts
            outcome = int(walk(bytes, escaped, self.slots, self.last, *found))
            if outcome != CROWDED:
                return outcome
            slots *= 4


def tables(
    video: str,
    nodes: NDArray[np.int32],
    composed: NDArray[np.int32],
    edges: NDArray[np.int32],
    dags: int,
    named: Callable[[np.int64], list[str]],
) -> HierarchyPart:
    """Strings instead of their places, words instead of answers and objects, compositions in the order of parents."""
    words = Numbers[str]()
    answer = np.array([*(words[name] for name in named(ANSWER)), NOTHING], np.int32)
    things = [object_of(program) for program in named(OBJECT)]
    thing = np.array([*(NOTHING if name is None else words[name] for name in things), NOTHING], np.int32)
    own: dict[str, Any] = dict(zip(NODE_COLUMNS, nodes, strict=True))
    own |= {"answer": answer[own["answer"]], "object": thing[own["object"]], "parent": own.pop("is_parent") > 0}
    if (composed[0, 1:] < composed[0, :-1]).any():
        composed = composed[:, np.argsort(composed[0], kind="stable")]
        edges = edges[:, ranges(composed[3], composed[3] + composed[2])[1]]
    parent, composition, size, _ = composed
    made: dict[str, Any] = {
        "nodes": own,
        "composed": {"parent": parent, "composition": composition, "first": np.cumsum(size) - size, "edges": size},
        "edges": {"child": edges[0], "repeated": edges[1] > 0},
        "dags": {"video": np.zeros(dags, np.int32)},
    }
    names = {"videos": [video], "types": named(TYPE), "compositions": named(COMPOSITION), "words": list(words)}
    return HierarchyPart(made, names, named(KEY))


def letters(text: str) -> np.uint64:
    """Up to eight characters as `eight` reads them."""
    return np.uint64(int.from_bytes(text.encode(), "little"))


QUOTE, OPEN, CLOSE, LIST, LIST_END, COLON, COMMA, SLASH = (ord(sign) for sign in '"{}[]:,\\')
SPACE, TAB, LINE, RETURN = (ord(sign) for sign in " \t\n\r")
EACH, HIGH = np.uint64(0x0101010101010101), np.uint64(0x8080808080808080)
QUOTES, SLASHES, SPACES = (EACH * np.uint64(sign) for sign in (QUOTE, SLASH, SPACE))
FACTOR, ODD, ONE = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xC2B2AE3D27D4EB4F), np.uint64(1)
NULL, EXISTS, EXISTS_END, NOTHING_MORE = letters("null"), letters("objExist"), letters("s("), letters("")
SUBQUESTION, SUBQUESTION_END, HIERARCHY, HIERARCHY_END = map(letters, ("subquest", "ion", "hierarch", "y"))
FIELD_KEY, FIELD_TYPE, FIELD_ANSWER, FIELD_PROGRAM = map(letters, ("key", "type", "answer", "program"))
# where the loop is: in the file, a DAG, its sub-questions, one of them, its hierarchy, a parent, a list of children
IN_FILE, IN_DAG, IN_NODES, IN_NODE, IN_HIERARCHY, IN_PARENT, IN_LIST = range(7)
ANYTHING, MEMBER, NEXT = range(3)  # what may come: a member or the end, a member, a comma or the end


@njit(cache=True, nogil=True)
def eight(bytes, at):  # type: ignore[no-untyped-def]
    """Eight bytes as a number: the compiler makes one load of it."""
    i, found = np.uint64(at), np.uint64(0)
    for k in range(8):
        found |= np.uint64(bytes[i + np.uint64(k)]) << np.uint64(8 * k)
    return found


@njit(cache=True, nogil=True)
def few(bytes, at, many):  # type: ignore[no-untyped-def]
    """The first of eight bytes, fewer than eight; the others are 0."""
    return eight(bytes, at) & ((ONE << np.uint64(8 * many)) - ONE)


@njit(cache=True, nogil=True)
def string(bytes, at, escaped, counts):  # type: ignore[no-untyped-def]
    """(end, hash) of the string that begins here, its quote before; if it has none, why as a negative end."""
    hash, every = FACTOR, np.uint64(0)
    while True:
        word = eight(bytes, at)
        quote, slash = word ^ QUOTES, word ^ SLASHES
        signs = ((quote - EACH) & ~quote | (slash - EACH) & ~slash | (word - SPACES) & ~word) & HIGH
        if signs == 0:
            hash = (hash ^ word) * FACTOR
            hash ^= hash >> np.uint64(32)
            every |= word
            at += 8
            continue
        before = ((signs & (~signs + ONE)) >> np.uint64(7)) - ONE  # the bytes before the first of the signs
        many = np.int64(((before & EACH) * EACH) >> np.uint64(56))
        hash = (hash ^ (word & before)) * FACTOR + np.uint64(many)
        hash ^= hash >> np.uint64(32)
        every |= word & before
        at += many
        if bytes[at] == QUOTE:
            counts[FOREIGN] |= np.int64((every & HIGH) > 0)
            return at, hash
        if bytes[at] != SLASH or not escaped:
            return -np.int64(ESCAPED if bytes[at] == SLASH else STRANGE), hash
        hash = (hash ^ np.uint64(bytes[at + 1])) * FACTOR
        at += 2


@njit(cache=True, nogil=True)
def fingerprint(bytes):  # type: ignore[no-untyped-def]
    """128 bits that tell contents apart."""
    found, size = np.empty(2, np.uint64), np.int64(len(bytes) - PADDING)
    a, b, c, d = FACTOR ^ np.uint64(size), ONE, EACH, HIGH
    for at in range(0, size, 16):  # the padding is part of the last
        one, two = eight(bytes, at), eight(bytes, at + 8)
        a = (a ^ one) * FACTOR
        a ^= a >> np.uint64(29)
        b = (b ^ two) * FACTOR
        b ^= b >> np.uint64(31)
        c = (c + one) * ODD
        c ^= c >> np.uint64(32)
        d = (d + two) * ODD
        d ^= d >> np.uint64(30)
    found[0] = (a + (b << np.uint64(1))) * FACTOR ^ (b >> np.uint64(7))
    found[1] = (c + (d << np.uint64(1))) * ODD ^ (d >> np.uint64(7))
    return found


@njit(cache=True, nogil=True)
def same(bytes, begin, end, other):  # type: ignore[no-untyped-def]
    """Do the same bytes stand at another place?"""
    while begin + 8 <= end:
        if eight(bytes, begin) != eight(bytes, other):
            return False
        begin += 8
        other += 8
    return few(bytes, begin, end - begin) == few(bytes, other, end - begin)


@njit(cache=True, nogil=True)
def number(bytes, begin, end, hash, kind, slots, strings, counts):  # type: ignore[no-untyped-def]
    """The number of a string among those of its kind."""
    mask, hash = np.uint64(len(slots) - 1), hash + np.uint64(kind)
    slot = hash & mask
    while slots[slot] > 0:
        known = slots[slot] - 1
        if (
            strings[HASH, known] == np.int64(hash)
            and strings[KIND, known] == kind
            and strings[FINISH, known] - strings[BEGIN, known] == end - begin
            and same(bytes, begin, end, strings[BEGIN, known])
        ):
            return strings[NUMBER, known]
        slot = (slot + ONE) & mask
    new = counts[STRINGS]
    slots[slot] = new + 1
    strings[HASH, new] = np.int64(hash)
    strings[KIND, new] = kind
    strings[NUMBER, new] = counts[kind]
    strings[BEGIN, new] = begin
    strings[FINISH, new] = end
    counts[STRINGS] += 1
    counts[kind] += 1
    return strings[NUMBER, new]


@njit(cache=True, nogil=True)
def blank(bytes, at):  # type: ignore[no-untyped-def]
    """The next place that is not blank."""
    while bytes[at] == SPACE or bytes[at] == LINE or bytes[at] == TAB or bytes[at] == RETURN:
        at += 1
    return at


@njit(cache=True, nogil=True)
def named(bytes, begin, end, start, rest, length):  # type: ignore[no-untyped-def]
    """Is the string one of this length, its first eight bytes and the others given as numbers?"""
    if end - begin != length:
        return False
    if length < 8:
        return few(bytes, begin, length) == start
    return eight(bytes, begin) == start and few(bytes, begin + 8, length - 8) == rest


@njit(cache=True, nogil=True)
def walk(bytes, escaped, slots, last, strings, nodes, composed, edges, counts):  # type: ignore[no-untyped-def]
    """Read a whole file."""
    at = blank(bytes, np.int64(0))
    if bytes[at] != OPEN:
        return STRANGE
    at, level, due = at + 1, IN_FILE, ANYTHING
    parts, fields, start, first, parent, of_parent = 0, 0, np.int64(0), np.int64(0), np.int64(0), np.int64(0)
    while True:
        if 2 * counts[STRINGS] + 8 > len(slots):
            return CROWDED
        at = blank(bytes, at)
        sign = bytes[at]
        if due != MEMBER and sign == (LIST_END if level == IN_LIST else CLOSE):
            at, due = at + 1, NEXT
            if level == IN_FILE:
                return UNDERSTOOD if blank(bytes, at) == len(bytes) - PADDING else STRANGE
            if (level == IN_NODE and fields & 3 != 3) or (level == IN_DAG and parts != 2):
                return STRANGE
            if level == IN_NODE:
                last[nodes[1, counts[NODES] - 1], SAID_END] = at
            elif level == IN_PARENT:
                last[of_parent, SPLIT_END] = at
                last[of_parent, SPLIT_ROWS] = counts[COMPOSED] - first
            if level == IN_DAG:
                level = IN_FILE
            elif level in (IN_NODES, IN_HIERARCHY):
                level = IN_DAG
            else:  # a node, a parent, a list
                level -= 1
            continue
        if due == NEXT:
            if sign != COMMA:
                return STRANGE
            at, due = at + 1, MEMBER
            continue
        if sign != QUOTE:
            return STRANGE
        begin = at + 1
        end, hash = string(bytes, begin, escaped, counts)
        if end < 0:
            return -end
        at, due = end + 1, NEXT
        if level == IN_LIST:
            text = number(bytes, begin, end, hash, TEXT, slots, strings, counts)
            child, row = last[text, NODE_OF], counts[EDGES]
            if child < start:  # no sub-question of this DAG
                return STRANGE
            edges[0, row] = child
            edges[1, row] = last[text, PARENT_OF] == parent
            last[text, PARENT_OF] = parent
            composed[2, counts[COMPOSED] - 1] += 1
            counts[EDGES] += 1
            continue
        at = blank(bytes, at)
        if bytes[at] != COLON:
            return STRANGE
        at = blank(bytes, at + 1)
        sign, opened = bytes[at], True
        if level == IN_FILE:
            dags = counts[TOP]
            if number(bytes, begin, end, hash, TOP, slots, strings, counts) < dags:  # twice
                return STRANGE
            level, parts, start = IN_DAG, 0, counts[NODES]
        elif level == IN_DAG and named(bytes, begin, end, SUBQUESTION, SUBQUESTION_END, np.int64(11)):
            if parts != 0:
                return STRANGE
            level, parts = IN_NODES, 1
        elif level == IN_DAG and named(bytes, begin, end, HIERARCHY, HIERARCHY_END, np.int64(9)):
            if parts != 1:
                return STRANGE
            level, parts = IN_HIERARCHY, 2
        elif level == IN_NODES:
            text, row = number(bytes, begin, end, hash, TEXT, slots, strings, counts), counts[NODES]
            before = last[text, NODE_OF]
            if before >= start:  # twice in one DAG
                return STRANGE
            last[text, NODE_OF] = row
            nodes[0, row] = counts[TOP] - 1
            nodes[1, row] = text
            nodes[4, row] = NOTHING
            nodes[5, row] = NOTHING
            nodes[6, row] = 0
            counts[NODES] += 1
            stop = at + last[text, SAID_END] - last[text, SAID]
            if before >= 0 and stop < len(bytes) - PADDING and same(bytes, at, stop, last[text, SAID]):
                for column in range(2, 6):  # the same is said again
                    nodes[column, row] = nodes[column, before]
                at = stop
                continue
            level, fields = IN_NODE, 0
            last[text, SAID] = at
        elif level == IN_HIERARCHY:
            of_parent = number(bytes, begin, end, hash, TEXT, slots, strings, counts)
            parent = last[of_parent, NODE_OF]
            if parent < start or nodes[6, parent]:  # no sub-question of this DAG, or twice
                return STRANGE
            nodes[6, parent] = 1
            first, stop = counts[COMPOSED], at + last[of_parent, SPLIT_END] - last[of_parent, SPLIT]
            if stop > at and stop < len(bytes) - PADDING and same(bytes, at, stop, last[of_parent, SPLIT]):
                old = last[of_parent, SPLIT_ROW]  # it has the same parts again
                for copied in range(old, old + last[of_parent, SPLIT_ROWS]):
                    row = counts[COMPOSED]
                    composed[0, row] = parent
                    composed[1, row] = composed[1, copied]
                    composed[2, row] = composed[2, copied]
                    composed[3, row] = counts[EDGES]
                    for edge in range(composed[3, copied], composed[3, copied] + composed[2, copied]):
                        text = np.int64(nodes[1, edges[0, edge]])
                        if last[text, NODE_OF] < start:  # no sub-question of this DAG
                            return STRANGE
                        edges[0, counts[EDGES]] = last[text, NODE_OF]
                        edges[1, counts[EDGES]] = edges[1, edge]
                        counts[EDGES] += 1
                    counts[COMPOSED] += 1
                at = stop
                continue
            level = IN_PARENT
            last[of_parent, SPLIT] = at
            last[of_parent, SPLIT_ROW] = first
        elif level == IN_PARENT:
            label, row = number(bytes, begin, end, hash, COMPOSITION, slots, strings, counts), counts[COMPOSED]
            for before in range(first, row):
                if composed[1, before] == label:  # twice for one parent
                    return STRANGE
            composed[0, row] = parent
            composed[1, row] = label
            composed[2, row] = 0
            composed[3, row] = counts[EDGES]
            counts[COMPOSED] += 1
            level = IN_LIST
        else:
            opened = False
        if opened:
            if sign != (LIST if level == IN_LIST else OPEN):
                return STRANGE
            at, due = at + 1, ANYTHING
            continue
        which = 0
        if level == IN_NODE:
            if named(bytes, begin, end, FIELD_KEY, NOTHING_MORE, np.int64(3)):
                which = 1
            elif named(bytes, begin, end, FIELD_TYPE, NOTHING_MORE, np.int64(4)):
                which = 2
            elif named(bytes, begin, end, FIELD_ANSWER, NOTHING_MORE, np.int64(6)):
                which = 4
            elif named(bytes, begin, end, FIELD_PROGRAM, NOTHING_MORE, np.int64(7)):
                which = 8
            if fields & which:
                return STRANGE
            fields |= which
        if sign != QUOTE:
            if few(bytes, at, np.int64(4)) != NULL or which == 1 or which == 2:
                return STRANGE
            at += 4
            continue
        begin, row = at + 1, counts[NODES] - 1
        end, hash = string(bytes, begin, escaped, counts)
        if end < 0:
            return -end
        at = end + 1
        if which == 1:
            nodes[3, row] = number(bytes, begin, end, hash, KEY, slots, strings, counts)
        elif which == 2:
            nodes[2, row] = number(bytes, begin, end, hash, TYPE, slots, strings, counts)
        elif which == 4:
            nodes[4, row] = number(bytes, begin, end, hash, ANSWER, slots, strings, counts)
        elif which == 8 and eight(bytes, begin) == EXISTS and few(bytes, begin + 8, np.int64(2)) == EXISTS_END:
            nodes[5, row] = number(bytes, begin, end, hash, OBJECT, slots, strings, counts)
