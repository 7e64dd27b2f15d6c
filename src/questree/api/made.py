"""What a stage tells about its work, to a person and to a program."""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import msgspec
import polars as pl

from questree.benchmarks import Said as Said
from questree.faults import BadInput, in_python


@dataclass(frozen=True, repr=False)
class Made:
    """What a stage tells about its work: `record` as `--json` has it, `str()` as the command prints it.

    >>> questree.decompose("images", workers=1)
    <Made by decompose: wrote images/covr/decomposed>
    """

    stage: str
    said: Sequence[Said]
    record: Any
    remarks: Sequence[str] = ()  # lines nobody should miss, which `build` shows too

    @property
    def tables(self) -> dict[str, pl.DataFrame]:
        """Title -> the tables the command prints."""
        listed = [each for each in self.said if not isinstance(each, str)]
        return {title: pl.DataFrame(list(rows), strict=False, infer_schema_length=None) for title, rows in listed}

    @property
    def lines(self) -> list[str]:
        """The lines the command prints beside its tables."""
        return [in_python(each) for each in self.said if isinstance(each, str)]

    def data(self) -> Any:
        """The record as plain dicts and lists.

        >>> questree.answer("images", "always-yes", name="yes").data()["name"]
        'yes'
        """
        return msgspec.to_builtins(self.record)

    def frame(self) -> pl.DataFrame:
        """A record that is a list of rows, as a table.

        >>> questree.power("run", half_width=0.1, resamples=100, missing="skip").frame()["metric"].unique().to_list()
        ['question accuracy']
        """
        rows = self.data()
        if not isinstance(rows, list):
            raise BadInput.at(self.stage, "its record is no list of rows; data() has it, and tables what is printed")
        return pl.DataFrame(rows, infer_schema_length=None)

    def __str__(self) -> str:
        shown = [f"{title}\n{table}" for title, table in self.tables.items()]
        return "\n".join([*shown, *self.lines])

    def __repr__(self) -> str:
        last = self.lines[-1] if self.lines else ", ".join(self.tables)
        return f"<Made by {self.stage}: {last[:100]}>"

    def _repr_html_(self) -> str:
        from questree.api.scores import as_html  # commands start without it

        shown = "".join(f"<p><b>{escape(title)}</b></p>{as_html(table)}" for title, table in self.tables.items())
        return f"<div>{shown}<p>{'<br>'.join(map(escape, self.lines))}</p></div>"
