"""Questions of many chunks put together: none twice, no pair torn, no text in dev and in test."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

import polars as pl

from questree.columns.hashing import seed_of
from questree.progress import report
from questree.stages.drafts.chunk import COLUMNS, DraftedChunk, Reasons

REPEATED, IN_BOTH = "asked before", "text in dev and test"


@dataclass
class SoFar:
    wanted: int
    found: int = 0
    chunks: int = 0

    def needs_more(self, under_way: int) -> bool:
        """Will the chunks that are under way be too few, if they are like those before?"""
        return not self.chunks or self.found + under_way * self.found / self.chunks < self.wanted


def gathered(chunks: Iterable[DraftedChunk], so_far: SoFar, part: str, dropped: Reasons) -> pl.DataFrame:
    """As many different questions as wanted, or all there are."""
    tables, seen, pairs, wanted = [pl.DataFrame(schema=COLUMNS)], set[str](), 0, so_far.wanted
    report(f"asking about {part} images", 0, wanted)
    for made in chunks:
        table = made.questions.with_columns(pl.col("pair") + pairs)
        pairs += made.pairs
        new = _new(table, seen)
        seen.update(table["id"].filter(new))
        dropped.update(made.dropped)
        _tell(dropped, table.filter(~new), REPEATED)
        tables.append(table.filter(new))
        so_far.found, so_far.chunks = len(seen), so_far.chunks + 1
        report(f"asking about {part} images", min(len(seen), wanted), wanted)
        if len(seen) >= wanted:
            break
    return cut(pl.concat(tables), wanted)


def _new(table: pl.DataFrame, seen: set[str]) -> pl.Series:
    """[question] was neither it nor its twin asked before?"""
    unseen = pl.Series([name not in seen for name in table["id"]], dtype=pl.Boolean)
    new = unseen & table["id"].is_first_distinct()
    return table.select("pair", new=new).select(pl.col("new").all().over("pair")).to_series()


def cut(table: pl.DataFrame, wanted: int) -> pl.DataFrame:
    """The first so many questions; a pair that would be torn stays out."""
    if len(table) <= wanted:
        return table
    torn = table["pair"][wanted]
    return table.head(wanted).filter(pl.col("pair") != torn)


def apart(questions: pl.DataFrame, dropped: Reasons) -> pl.DataFrame:
    """No text is in dev and in test: where it is, a hash of it decides which of the two keeps it."""
    texts = {name: set(questions.filter(pl.col("split") == name)["question"]) for name in ("dev", "test")}
    both = sorted(texts["dev"] & texts["test"])
    keeps = pl.DataFrame(
        {"question": both, "keeps": ["dev" if int(seed_of(0, text)) % 2 else "test" for text in both]},
        schema={"question": pl.String, "keeps": pl.String},
    )
    found = questions.join(keeps, on="question", how="left", maintain_order="left")
    stays = found["keeps"].is_null() | (found["split"] == "train") | (found["split"] == found["keeps"])
    _tell(dropped, found.filter(~stays), IN_BOTH)
    return found.filter(stays).drop("keeps")


def numbered(questions: pl.DataFrame) -> pl.DataFrame:
    """Pairs numbered from 0 through all splits; rows of a pair are neighbours."""
    new = (questions["pair"] != questions["pair"].shift()) | (questions["split"] != questions["split"].shift())
    return questions.with_columns(pair=(new.fill_null(True).cast(pl.UInt32).cum_sum() - 1))


def _tell(dropped: Reasons, questions: pl.DataFrame, reason: str) -> None:
    dropped.update(Counter((template, reason) for template in questions["template"]))
