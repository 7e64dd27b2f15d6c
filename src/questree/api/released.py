"""Released questions taken apart without a run."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from questree.api.made import Made
from questree.formats.decomp_released import decompose_released
from questree.places import path_of
from questree.stages.decompose.recipes import record, told_contradictions, told_rules, told_types
from questree.vocabulary.load import default

if TYPE_CHECKING:
    from questree.api.runs import StrPath


def decompose_file(
    questions: "StrPath",
    *,
    out: "StrPath",
    absent: "StrPath | None" = None,
    answers: "Sequence[StrPath]" = (),
    workers: int = 2,
) -> Made:
    """Take apart a question file; its own answers, those of other questions and the rules are all there is.

    As `questree decompose --from-agqa` does; its help says what `absent` and `answers` are.
    """
    given = [path_of(each) for each in answers]
    pairs = None if absent is None else path_of(absent)
    told = decompose_released(path_of(questions), path_of(out), default(), workers, pairs, given)
    said: list[Any] = [*told_types(told.summary)]
    said += [f"no DAG for {count:,}: {why}" for why, count in told.unread.most_common()]
    said += [f"{told.strange_answers:,} answers not of the question's kind, not used"]
    if told.answers:
        used, elsewhere, unread = told.answers
        other = f"{used:,} answers of other questions used; {elsewhere:,} are of videos nobody asks about here"
        said += [f"{other}, {unread:,} have a program or an answer that cannot be read"]
    said += [*told_rules(told.summary), *told_contradictions(told.summary), f"wrote {out}"]
    read = {"answers": told.answers._asdict()} if told.answers else {}
    return Made("decompose", said, record(told.summary) | {"unread": told.unread} | read)
