"""Items of lists by number are what a JSON reader finds there, or the text is left to one."""

import json
from random import Random
from typing import Any

import pytest

from questree.columns import json_lists as module
from questree.columns.json_lists import json_lists
from questree.columns.json_values import NotPlain


def records(text: str) -> list[dict[str, Any]]:
    """What was found, as records again."""
    found, places, made = json_lists(text.encode(), "id", "s", "o"), [0, 0], list[dict[str, Any]]()
    for at, value in enumerate(found.values):
        lists = []
        for which, different in enumerate((found.strings, [json.loads(bytes(raw)) for raw in found.objects])):
            begin, count = places[which], int(found.counts[which, at])
            lists.append([different[number] for number in found.items[which][begin : begin + count].tolist()])
            places[which] = begin + count
        made.append({"id": value, "s": lists[0], "o": lists[1]})
    assert len({*found.strings}) == len(found.strings) or "\\" in text
    return made


def random_record(draw: Random) -> dict[str, Any]:
    texts = [
        "",
        "a",
        "b c",
        'quo"te',
        "\\",
        "é",
        "]}",
        "a long text of more than eight bytes",
        "a long text of more than 8",
    ]
    values = [1, "x", None, [1, {"id": 2}], {"s": []}, -1.5e9, '\\"']
    objects = [{}, {"id": "{"}, {"k": [draw.choice(texts)]}, {"k": {"k": "}"}}, {"n": draw.randrange(9000)}]
    lists = [draw.choices(texts, k=draw.randrange(4)), draw.choices(objects, k=draw.randrange(6))]
    members = [("id", draw.choice(values)), ("s", lists[0]), ("o", lists[1])]
    return dict(draw.sample(members, 3))


@pytest.mark.parametrize("indent", [None, 1])
def test_records_are_found_whatever_their_order_and_their_blanks(indent: int | None) -> None:
    draw = Random(2)
    made = [random_record(draw) for _ in range(3000)]
    for escaped in (True, False):
        assert records(json.dumps(made, indent=indent, ensure_ascii=escaped)) == made
    different = {json.dumps(each) for record in made for each in record["o"]}
    assert len(different) > module.FEW  # than there is room for at first


def test_a_record_may_have_no_value_and_a_list_no_record() -> None:
    assert records(' [ {"s":[ ],"o":[{"a":1} , {"a":1}]} ] ') == [{"id": None, "s": [], "o": [{"a": 1}, {"a": 1}]}]
    assert records("[]") == []


@pytest.mark.parametrize(
    "text",
    [
        *("", "{}", "[", "[1]", "[{}]", '[{"s": []}]', '[{"s": [], "o": []}', '[{"s": [], "o": []}] 1'),
        *('[{"s": [1], "o": []}]', '[{"s": [], "o": ["x"]}]', '[{"s": null, "o": []}]', '[{"s": [], "o": {}}]'),
        *('[{"s": [], "o": [], "s": []}]', '[{"s": [], "o": [], "more": 1}]', '[{"s": [], "o": []}, ]'),
        *('[{"s": [,"a"], "o": []}]', '[{"s": ["a" "b"], "o": []}]', '[{"s": ["a",], "o": []}]', '[{"s" [], "o": []}]'),
        *(
            '[{"s": [], "o": [{]]}]',
            '[{"s": [], "o": [{"a" 1}]}]',
            '[{"s": [], "o": [{"a": [}]}]',
            '[{"s": ["a], "o": []}]',
        ),
        *('[{"id": 1x, "s": [], "o": []}]', '[{"id": , "s": [], "o": []}]', '[{"id": [}, "s": [], "o": []}]'),
        *(
            '[{"s": ["\\x"], "o": []}]',
            '[{"s": [], "o": [{"a": 1}{"a": 1}]}]',
            '[{"s": [], "o": []} {"s": [], "o": []}]',
        ),
    ],
)
def test_anything_else_is_left_to_a_careful_reader(text: str) -> None:
    with pytest.raises(NotPlain):
        json_lists(text.encode(), "id", "s", "o")


def test_the_end_of_a_text_is_not_read_beyond() -> None:
    whole = json.dumps([{"id": "a\\", "s": ["b\\"], "o": [{"k": "\\"}]}]).encode()
    for end in range(len(whole)):
        with pytest.raises(NotPlain):
            json_lists(whole[:end], "id", "s", "o")
