"""`questree read`: what models said in free text -> answers, or why it is none."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from questree.cli.terminal import output, print_table, say, write_json
from questree.said.files import read_all, read_raw, write_read
from questree.said.lexicon import possible_answers, read_synonyms, shipped
from questree.said.reading import Reader
from questree.vocabulary import default, load

TEXT = 60  # characters of a text that are printed


@output
def read(
    file: Annotated[Path, Parameter(help="JSON Lines with id, question, raw; perhaps options and answer_type.")],
    /,
    *,
    out: Annotated[Path, Parameter(help="JSON Lines to write: id, answer or null, reason, rule.")],
    vocabulary: Annotated[Path | None, Parameter(help="Vocabulary file in TOML. [default: AGQA's words]")] = None,
    synonyms: Annotated[Path | None, Parameter(help="TOML file of further ways to say answers.")] = None,
) -> None:
    """Read every raw text as the answer it states, or say why it states none: refused, unsure, both, none, foreign."""
    words = default() if vocabulary is None else load(vocabulary)
    reader = Reader(possible_answers(words), words, shipped() if synonyms is None else read_synonyms(synonyms))
    found = read_all(reader, read_raw(file))
    write_read(out, found)
    print_table("read by rule", [{"rule": rule, "answers": n} for rule, n in found.rules.most_common()])
    unread = [
        {"reason": reason, "times": times, "text": repr(text if len(text) <= TEXT else text[: TEXT - 3] + "...")}
        for reason, text, times in found.unread
    ]
    print_table("not read, the commonest first", unread)
    count, lost = len(found.asked), sum(found.reasons.values())
    why = ", ".join(f"{n:,} {reason}" for reason, n in found.reasons.most_common())
    say(f"{out}: {count - lost:,} of {count:,} texts read as an answer{f'; not read: {why}' if why else ''}")
    write_json({"texts": count, "rules": dict(found.rules), "reasons": dict(found.reasons), "unread": found.unread})
