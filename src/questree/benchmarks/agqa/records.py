"""A released question: its fields in their order, and columns of them as lines of JSON."""

import json
from typing import Annotated, Any

import msgspec
import polars as pl

from questree.benchmarks.agqa.held_out import FLAGS

NOVEL = ("nc_seq", "nc_sup", "nc_dur", "nc_objrel")
INDIRECT = ("i_obj", "i_rel", "i_act", "i_temp")
TRAIN: dict[str, pl.DataType | type[pl.DataType]] = {
    "question": pl.String,
    "answer": pl.String,
    "video_id": pl.String,
    "global": pl.String,  # as JSON: a list of reasoning labels
    "local": pl.String,
    "ans_type": pl.String,
    "steps": pl.UInt8,
    "semantic": pl.String,
    "structural": pl.String,
    "novel_comp": pl.UInt8,
    "more_steps": pl.UInt8,
    "program": pl.String,
    "sg_grounding": pl.String,  # as JSON: an object from spans to vertices
}
TEST: dict[str, pl.DataType | type[pl.DataType]] = (
    TRAIN
    | dict.fromkeys(NOVEL, pl.UInt8)
    | {"indirect": pl.UInt8}
    | dict.fromkeys(INDIRECT, pl.UInt8)
    | {"direct_equiv": pl.String}
)
FIELDS = {"train": TRAIN, "test": TEST}  # per file; the test file says more
AS_JSON = ("global", "sg_grounding")  # columns that hold JSON already
PLAIN = r"^[ !#-\[\]-~]*$"  # text that JSON writes as it is
assert set(FLAGS) == {*NOVEL, *INDIRECT}


Small = Annotated[int, msgspec.Meta(ge=0, le=255)]
Steps = Annotated[int, msgspec.Meta(ge=-(1 << 31), lt=1 << 31)]


def strict(split: str) -> type[msgspec.Struct]:
    """A record of a file: these fields and no others."""

    def kind(name: str) -> Any:
        if name in AS_JSON:
            return msgspec.Raw
        if TEST[name] == pl.UInt8:
            return Small
        return str | None if name == "direct_equiv" else str

    fields = [(name, kind(name)) for name in FIELDS[split]]
    return msgspec.defstruct(f"{split.capitalize()}Record", fields, forbid_unknown_fields=True)


AgqaRecord = (
    msgspec.defstruct(  # as far as scores need it; what a record does not have (train files lack most) is unset
        "AgqaRecord",
        [
            *((name, str) for name in ("answer", "video_id", "ans_type")),
            ("global", list[str], []),
            *((name, str, "") for name in ("semantic", "structural")),
            ("steps", Steps, 0),
            ("direct_equiv", str | None, None),
            *((name, int | bool, 0) for name in ("novel_comp", "more_steps", *NOVEL, *INDIRECT)),
        ],
        namespace={"__doc__": "expected {question id: AGQA record}"},
        gc=False,
    )
)


def lines(records: pl.DataFrame, split: str) -> pl.Series:
    """[record] `"id": {"question": ...}`, spaced as Python's json module does; null becomes null.

    A column `as_is`, if there is one, holds the whole text of records that cannot be put together from columns.
    """
    parts: list[pl.Expr | pl.Series] = [quoted(records["id"]), pl.lit(": {")]
    for at, (name, dtype) in enumerate(FIELDS[split].items()):
        parts.append(pl.lit(f'{", " if at else ""}"{name}": '))
        column = records[name]
        if dtype == pl.String and name not in AS_JSON:
            column = quoted(column)
        parts.append(column.cast(pl.String).fill_null("null"))
    made = pl.concat_str([*parts, pl.lit("}")])
    if "as_is" in records.columns:
        kept = pl.concat_str(parts[0], pl.lit(": "), records["as_is"])
        made = pl.when(records["as_is"].is_null()).then(made).otherwise(kept)
    return pl.select(made).to_series()


def quoted(texts: pl.Series) -> pl.Series:
    """Texts as JSON strings; null stays null."""
    plain = pl.select(pl.concat_str(pl.lit('"'), texts, pl.lit('"'))).to_series()
    odd = (~texts.str.contains(PLAIN)).fill_null(False)
    if not odd.any():
        return plain
    spelled = pl.Series([json.dumps(text) for text in texts.filter(odd)], dtype=pl.String)
    return plain.scatter(odd.arg_true(), spelled)
