"""`questree predictions check`: whom a file of predictions answers, what can be read in it, and what is odd."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

from cyclopts import App, Parameter

from questree.api.choices import Policy
from questree.cli.read import TEXT
from questree.cli.shared_options import BenchmarkOption, HierarchiesOption, SplitOption
from questree.cli.terminal import output, print_table, say, watching, write_json

app = App(name="predictions", help="Look at a file of predictions before it is scored.")


@app.command
@output
def check(
    file: Annotated[Path, Parameter(help="Predictions of one model.")],
    /,
    *,
    run: Annotated[Path | None, Parameter(help="A run with DAGs (`questree decompose`).")] = None,
    hierarchies: HierarchiesOption = None,
    questions: Annotated[Path | None, Parameter(help="Questions: AGQA's {id: record}, or COVR's.")] = None,
    split: SplitOption = None,
    benchmark: BenchmarkOption = "",
    policy: Annotated[Policy, Parameter(help="Way to read free-form answers.")] = "lenient",
    vocabulary: Annotated[Path | None, Parameter(help="Vocabulary file with synonyms. [default: ours]")] = None,
    synonyms: Annotated[Path | None, Parameter(help="TOML file of further ways to say answers.")] = None,
    id_column: Annotated[str, Parameter(help="Column or field of the question's id.")] = "",
    answer_column: Annotated[str, Parameter(help="Column or field of what was said.")] = "",
) -> None:
    """Coverage, ids nobody asked about, repeated ids, texts that were not read by reason, answers of another kind."""
    from questree.api.checked import check_predictions, form_of

    with watching():
        given, found = check_predictions(
            file,
            run=run,
            hierarchies=hierarchies,
            questions=questions,
            split=split,
            benchmark=benchmark,
            policy=policy,
            vocabulary=vocabulary,
            synonyms=synonyms,
            id_column=id_column,
            answer_column=answer_column,
        )
    say(f"{file}: {len(given.table):,} predictions, read as {form_of(file)}")
    say(f"{given.model}: predictions for {found.coverage}, {found.duplicates:,} repeated ids (the last counts)")
    for what, ids in (("without a prediction", found.coverage.examples), ("for no question here", found.unknown)):
        if ids:
            say(f"{what}, for example: {', '.join(ids[:3])}")
    rules = {"exactly an answer": found.exact, **found.rules}
    print_table("read by rule", [{"rule": rule or policy, "answers": n} for rule, n in rules.items()])
    unread = [{"reason": reason, "times": n, "text": short(repr(text))} for reason, text, n in found.unread]
    print_table("not read, the commonest first", unread)
    odd = [
        {"id": i, "answer": said, "asked for": kind, "question": short(text)} for i, text, said, kind in found.examples
    ]
    print_table("not of the kind that was asked for", odd)
    why = ", ".join(f"{n:,} {reason}" for reason, n in found.reasons.items())
    say(
        f"policy {policy}: {found.predictions - found.unparsed:,} of {found.predictions:,} predictions read"
        f"{f'; not read: {why}' if why else ''}; {found.suspicious:,} of {found.looked:,} looked at are suspicious"
    )
    write_json(asdict(found) | {"unparsed": found.unparsed})


def short(text: str) -> str:
    return text if len(text) <= TEXT else text[: TEXT - 3] + "..."
