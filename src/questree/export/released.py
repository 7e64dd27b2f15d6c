"""Released AGQA question files into DAGs, without scene graphs: answers are those of the questions and what follows."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path

import msgspec
import numpy as np
import polars as pl

from questree.benchmarks.agqa.records import quoted
from questree.domains.video import VIDEO
from questree.export.dags import Dags
from questree.export.decomp import ISOLATED, check_target, write_json
from questree.faults import BadInput
from questree.imports.json_records import pieces
from questree.imports.shapes import JOINT, Shapes
from questree.meanings.answer import spell
from questree.notation.own import parse
from questree.notation.spelling import positions
from questree.program import ACTION, UNKNOWN, Array, Kind, Node, Slot, Term, fill
from questree.progress import watch
from questree.stages.decompose.answers import ASKED, ENTAILED, NOT_FOUND
from questree.stages.decompose.expand import Batch, expand
from questree.stages.decompose.forms import Forms, ordered_slots
from questree.stages.decompose.propagate import GIVEN, NOT_KNOWN, Propagation
from questree.stages.decompose.spoken import say
from questree.stages.decompose.texts import Texts
from questree.stages.decompose.told import told
from questree.stages.decompose.work import Summary, coverage, edge_table, form_table, leaves, node_table
from questree.tables.store import new_folder
from questree.vocabulary.words import NONE, Vocabulary

VIDEOS = 256  # taken apart at once
NAMES = ("id", "video", "text", "old", "answer", "shape", "words", "fault")
COLUMNS: dict[str, pl.DataType | type[pl.DataType]] = dict.fromkeys(NAMES, pl.String)


class Record(msgspec.Struct):
    question: str
    answer: str
    video_id: str
    program: str


RECORDS = msgspec.json.Decoder(dict[str, Record])


@dataclass
class Told:
    summary: Summary = field(default_factory=Summary)
    unread: Counter[str] = field(default_factory=Counter)  # why a question has no DAG
    strange_answers: int = 0  # answers that are none of the question's kind; not used


def decompose_released(path: Path, out: Path, vocabulary: Vocabulary) -> Told:
    """A question file into `<name>_hierarchies/`, whole or not at all."""
    if not path.is_file():
        raise BadInput.at(path, "no such file; wanted a question file of AGQA's release")
    check_target(out)
    questions = read(path, vocabulary).sort("video", maintain_order=True)
    forms, texts, result, loose = Forms(vocabulary), Texts(vocabulary), Told(), list[str]()
    names = questions["video"].unique(maintain_order=True)
    with new_folder(out) as folder:
        place = folder / f"{path.stem}_hierarchies"
        place.mkdir()
        for begin in watch(range(0, len(names), VIDEOS), "decompose", -(-len(names) // VIDEOS)):
            few = questions.filter(pl.col("video").is_in(names[begin : begin + VIDEOS].implode()))
            for name, dags, isolated in taken_apart(few, forms, texts, result):
                loose += isolated
                if dags:
                    write_json(place / f"{name}.json", dags, "{}")
        write_json(place / ISOLATED, loose, "[]")
    return result


def read(path: Path, vocabulary: Vocabulary) -> pl.DataFrame:
    """Questions with their programs as shapes and words."""
    shapes, parts = Shapes(vocabulary), []
    for piece in pieces(path):
        try:
            found = RECORDS.decode(piece.text)
        except msgspec.MsgspecError as error:
            raise BadInput.at(path, f"{error}; wanted records with {', '.join(Record.__struct_fields__)}") from error
        rows = [
            (id, r.video_id, r.question, r.program, r.answer, *shapes.program(r.program)) for id, r in found.items()
        ]
        parts.append(pl.DataFrame(rows, schema=COLUMNS, orient="row"))
    table = pl.concat(parts) if parts else pl.DataFrame(schema=COLUMNS)
    twice = table["id"].filter(table["id"].is_duplicated()).unique()
    if len(twice):
        raise BadInput.at(path, f"id {twice[0]!r} is there twice")
    return table


def taken_apart(
    questions: pl.DataFrame, forms: Forms, texts: Texts, result: Told
) -> Iterator[tuple[str, list[str], list[str]]]:
    """(video, its DAGs, its isolated questions) as JSON."""
    unread = questions.filter(pl.col("shape").is_null())
    asked = questions.filter(pl.col("shape").is_not_null())
    result.unread.update(unread["fault"].to_list())
    names = asked["video"].unique(maintain_order=True)
    video = asked["video"].replace_strict(names, pl.Series(range(len(names)), dtype=pl.UInt32), return_dtype=pl.UInt32)
    blocks, tops = expand(forms, batches(asked, video.to_numpy().astype(np.int64), forms), len(asked))
    answers = given(asked, forms.vocabulary)
    sure = np.flatnonzero(answers != UNKNOWN)
    result.strange_answers += len(asked) - len(sure)
    made = Propagation.of(forms, blocks, tops[sure], answers[sure]).run()
    how = np.where(made.by == GIVEN, ASKED, np.where(made.by == NOT_KNOWN, NOT_FOUND, ENTAILED)).astype(np.uint8)
    nodes, table = node_table(blocks, made.answers, how, 0), form_table(blocks)
    edges, _ = edge_table(blocks, np.full(len(how), UNKNOWN))
    clashes = told(made, table, nodes, texts)
    result.summary.add(
        Summary(len(questions), leaves(blocks, tops) + len(unread), len(edges), 0, clashes, coverage(blocks, how))
    )
    top = asked.select("id", "text", "old").with_columns(video=video, node=pl.Series(tops), template=pl.lit(""))
    dags = Dags(top, say(table, nodes, texts), edges, names)
    yield "", [], [isolated(row) for row in unread.iter_rows(named=True)]
    for number, found, loose in dags.videos():
        yield names[number], found, loose


def isolated(row: dict[str, str]) -> str:
    """A question whose program has no decomposition, with the reason."""
    names = {"key": "id", "answer": "answer", "question": "text", "program": "old", "reason": "fault"}
    said = quoted(pl.Series([row[column] for column in names.values()], dtype=pl.String)).to_list()
    parts = ", ".join(f'"{name}": {text}' for name, text in zip(names, said, strict=True))
    return f'{{{parts}, "type": ""}}'


def batches(asked: pl.DataFrame, video: Array, forms: Forms) -> Iterator[Batch]:
    """Questions of one shape at a time; actions without an object are another form."""
    for (shape,), rows in asked.with_row_index("row").group_by("shape", maintain_order=True):
        node = parse(str(shape), VIDEO)
        slots, row = ordered_slots(node), rows["row"].to_numpy().astype(np.int64)
        words = {slot.name: places(slot, rows["words"], forms.vocabulary) for slot in slots}
        deeds = [slot for slot in slots if slot.kind == ACTION]
        for alone in product((False, True), repeat=len(deeds)):
            own = np.ones(len(row), bool)
            said: dict[str, Term] = {}
            for slot, yes in zip(deeds, alone, strict=True):
                own &= (forms.vocabulary.noun_of[words[slot.name]] == NONE) == yes
                said[slot.name] = Slot(slot.name, slot.kind, alone=yes)
            if own.any():
                program = fill(node, said)
                assert isinstance(program, Node)
                form, origins = forms.canonical(program)
                values = tuple(forms.column(origin, words, len(row))[own] for origin in origins)
                yield Batch(form, video[row[own]], values, row[own])


def places(slot: Slot, words: pl.Series, vocabulary: Vocabulary) -> Array:
    """[row] the positions of the words of a slot w0, w1, ..."""
    at = positions(slot.kind, vocabulary)
    own = words.str.split(JOINT).list.get(int(slot.name[1:]))
    return np.asarray(own.replace_strict(at, return_dtype=pl.Int64).to_numpy())


def given(asked: pl.DataFrame, vocabulary: Vocabulary) -> Array:
    """[question] its answer as a number; UNKNOWN if it is none its kind has."""
    found = np.full(len(asked), UNKNOWN, np.int16)
    for (shape,), rows in asked.with_row_index("row").group_by("shape"):
        known = spellings(parse(str(shape), VIDEO).kind, vocabulary)
        own = rows["answer"].str.to_lowercase().replace_strict(known, default=UNKNOWN, return_dtype=pl.Int16)
        found[rows["row"].to_numpy()] = own.to_numpy()
    return found


def spellings(kind: Kind, vocabulary: Vocabulary) -> dict[str, int]:
    """Every answer a kind of question can have -> its number."""
    sizes = {"objects": len(vocabulary.objects), "actions": len(vocabulary.actions)}
    found: dict[str, int] = {}
    for number in range(sizes.get(kind.words, 2)):
        found.setdefault((spell(kind, number, vocabulary) or "").lower(), number)
    return found
