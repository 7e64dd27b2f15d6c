"""`questree read`: what models said in free text -> answers, or why it is none."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from questree.api.free_text import ReadAgain, SecondReader, read_answers
from questree.cli.shared_options import Whole
from questree.cli.terminal import output, print_table, say, watching, write_json
from questree.faults import BadInput

TEXT = 60  # characters of a text that are printed


@output
def read(
    file: Annotated[Path, Parameter(help="JSON Lines with id, question, raw; perhaps options and answer_type.")],
    /,
    *,
    out: Annotated[Path, Parameter(help="JSON Lines to write: id, answer or null, reason, rule.")],
    vocabulary: Annotated[Path | None, Parameter(help="Vocabulary file in TOML. [default: AGQA's words]")] = None,
    synonyms: Annotated[Path | None, Parameter(help="TOML file of further ways to say answers.")] = None,
    second_reader: Annotated[
        str, Parameter(help="Endpoint with OpenAI's chat completions, asked about what stays unread: http://HOST/v1.")
    ] = "",
    second_model: Annotated[str, Parameter(help="Model to ask there.")] = "",
    second_sample: Annotated[Whole, Parameter(help="Texts that were read it is asked about too, to compare.")] = 200,
) -> None:
    """Read every raw text as the answer it states, or say why it states none: refused, unsure, both, none, foreign."""
    if second_reader and not second_model:
        raise BadInput.at("--second-model", "expected the name of a model beside --second-reader")
    asked = SecondReader(second_reader, second_model, second_sample) if second_reader else None
    with watching():
        found, again = read_answers(file, out=out, vocabulary=vocabulary, synonyms=synonyms, second=asked)
    if again:
        say_again(second_model, again)
    print_table("read by rule", [{"rule": rule, "answers": n} for rule, n in found.rules.most_common()])
    unread = [
        {"reason": reason, "times": times, "text": repr(text if len(text) <= TEXT else text[: TEXT - 3] + "...")}
        for reason, text, times in found.unread
    ]
    print_table("not read, the commonest first", unread)
    count, lost = len(found.asked), sum(found.reasons.values())
    why = ", ".join(f"{n:,} {reason}" for reason, n in found.reasons.most_common())
    say(f"{out}: {count - lost:,} of {count:,} texts read as an answer{f'; not read: {why}' if why else ''}")
    told = {"texts": count, "rules": dict(found.rules), "reasons": dict(found.reasons), "unread": found.unread}
    write_json(told | ({"second": again.told} if again else {}))


def say_again(model: str, again: ReadAgain) -> None:
    """What a model reads where the rules do not; what it said stands beside the result."""
    agreement = again.agreement
    share = "" if agreement.share is None else f" ({100 * agreement.share:.2f} %)"
    say(
        f"{model}: reads {again.told['read']:,} of {again.unread:,} unread texts; agrees with the rules on "
        f"{agreement.same:,} of {agreement.read:,}{share} that both read; what it said: {again.store}"
    )
