"""`questree answer`: somebody answers the questions of a run."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from questree.api.stored_answers import keep, named
from questree.benchmarks import AGQA, COVR, Benchmark, chosen
from questree.cli.shared_options import BenchmarkOption
from questree.cli.terminal import output, print_table, say, watching, write_json
from questree.faults import BadInput, Fault, refuse
from questree.models.oracle import AGREES, OUTCOMES, OracleTally
from questree.progress import watch
from questree.tables.run import Run

if TYPE_CHECKING:
    from questree.models.bots import BotOptions

SHOWN = 20  # disagreements on the screen; the JSON file has all


@output
def answer(
    run: Path,
    /,
    *,
    model: Annotated[
        str, Parameter(help="Bot to answer, or with --predictions the name of the model. `--model ?` lists the bots.")
    ] = "",
    predictions: Annotated[
        Path | None, Parameter(help="File of predictions to store, with the ids that `export decomp` writes.")
    ] = None,
    id_column: Annotated[
        str, Parameter(help="Column or field of the question's id in --predictions. [default: id, csv_q_id, ...]")
    ] = "",
    answer_column: Annotated[
        str, Parameter(help="Column or field of what was said in --predictions. [default: prediction]")
    ] = "",
    seed: Annotated[int, Parameter(help="Seed of a bot's mistakes and guesses.")] = 0,
    noise: Annotated[float, Parameter(help="Probability that a noisy bot is mistaken.")] = 0.1,
    name: Annotated[str, Parameter(help="Store the bot's answers under another name.")] = "",
    out: Annotated[
        Path | None, Parameter(help='File for {"id", "prediction"} lines, with ids as in `export decomp`.')
    ] = None,
    facts: Annotated[
        Path | None, Parameter(help="Imported questions: facts to answer from, if the run has none.")
    ] = None,
    released_last: Annotated[
        bool, Parameter(help="Imported questions: read `last` as the released generator does.")
    ] = False,
    benchmark: BenchmarkOption = "",
) -> None:
    """Let a bot answer every question and sub-question of a run, or store anybody's predictions in it.

    Without --model, or if the run has imported questions only: answer those again by executing their programs, and
    list where the answers differ.

    Parameters
    ----------
    run
        Run folder with DAGs (`questree decompose`), or with
        imported questions (`questree import`).
    """
    from questree.models.bots import BOTS, BotOptions

    place = Run(run)
    own = chosen(place, benchmark, "decomposed")
    if own is AGQA:
        place.vocabulary()
    if model == "?":
        print_table("Bots", [{"model": name, "answers": bot.says} for name, bot in BOTS.items()])
        return
    if own is AGQA and (not model or (model == "oracle" and not place.decomposed.is_dir())):
        again(place, facts, released_last)
        return
    options, called = BotOptions(model, seed, noise), model if predictions else name or model
    taken = [Fault("--model", f"expected a new name, got {model!r}, which is a bot")] if model in BOTS else []
    faults = taken if predictions else options.faults()
    refuse([*faults, *(named(place, called, own) if predictions or name or not faults else [])])
    with watching():
        columns = id_column, answer_column
        said, record = (
            kept(place, own, predictions, model, columns) if predictions else by_bot(place, own, options, called)
        )
        written = lines(place, own, called, out) if out else None
    say(f"{called}: {said}")
    if out:
        say(f"wrote {written:,} predictions to {out}")
    write_json({"name": called, **record, "lines": written})


def by_bot(run: Run, own: Benchmark, options: "BotOptions", called: str) -> tuple[str, dict[str, Any]]:
    from questree.models.bots import answer_run

    answered = answer_run(run, options, called, own is COVR)
    said = f"{answered:,} nodes of DAGs answered, stored in {run.predictions / called}"
    return said, {**asdict(options), "nodes answered": answered}


def kept(run: Run, own: Benchmark, file: Path, model: str, columns: tuple[str, str]) -> tuple[str, dict[str, Any]]:
    from questree.models.predictions import FieldNames, read_predictions

    given = read_predictions(file, model, FieldNames(*columns))
    if given.table.is_empty():
        raise BadInput.at(file, "there is no prediction in it")
    found = keep(run, own, given, {"file": file.name})
    said = (
        f"predictions for {found.found:,} of {found.questions:,} questions and sub-questions stored in "
        f"{run.predictions / model}, {found.unknown:,} for no question here, {given.duplicates:,} repeated ids"
    )
    return said, {**found._asdict(), "repeated": given.duplicates}


def lines(run: Run, own: Benchmark, model: str, out: Path) -> int:
    """Write predictions that are stored; how many."""
    from questree.models.stored import said, write_lines
    from questree.stages.decompose.hierarchies import hierarchies_in
    from questree.tables.predictions import Stored

    asked = hierarchies_in(run, benchmark=own.name)
    return write_lines(out, asked, said(asked, Stored.of(run, model)))


def again(place: Run, facts: Path | None, released_last: bool) -> None:
    """Execute the programs of imported questions."""
    from questree.domains.video import videos
    from questree.formats.agqa_import import SETS, files, read
    from questree.formats.agqa_run import read_facts
    from questree.models.oracle import reanswer

    if not place.imported.is_dir():
        if place.decomposed.is_dir():
            raise BadInput.at(place.imported, "no imported questions to answer again; give --model to answer the run's")
        what = "no questions with DAGs to answer; `questree decompose` makes them of the run's questions"
        raise BadInput.at(place.decomposed, f"{what}, and `questree import` brings others")
    with watching():
        known = read_facts(facts, place.vocabulary_file.read_text("utf-8")) if facts else place.newest()
        if known is None or not known.told:
            raise BadInput.at(place.folder, "no facts to answer on: give --facts, or import the questions with --facts")
        world, tally = videos(known, place.vocabulary(), released_last), OracleTally()
        asked = [file for name in SETS for file in files(place.imported, name)]
        for file in watch(asked, "oracle", len(asked)):
            tally.add(reanswer(read(place.imported, file), world))
    tell(tally)
    shapes = dict(shape_rows(tally))
    found = {"outcomes": tally.outcomes, "not read": tally.unread, "shapes": shapes}
    write_json(found | {"disagreements": tally.disagreements})


def tell(tally: OracleTally) -> None:
    total = sum(tally.outcomes.values())
    print_table("Oracle", [{"outcome": name, "questions": count} for name, count in tally.outcomes.items()])
    print_table("Not read", [{"questions": count, "why": why} for why, count in tally.unread.items()][:SHOWN])
    odd = [{"shape": name} | own for name, own in shape_rows(tally) if own["asked"] > own[AGREES]]
    print_table("Shapes with other answers", odd[:SHOWN])
    for each in tally.disagreements[:SHOWN]:
        computed = each["computed"] or f"undefined: {each['why']}"
        say(f"{each['id']}: {each['question']} stored {each['stored']}, computed {computed}")
    say(f"{total:,} questions, {len(tally.disagreements):,} answered otherwise")


def shape_rows(tally: OracleTally) -> list[tuple[str, dict[str, int]]]:
    found = [name for name in OUTCOMES if name in tally.outcomes or name == AGREES]
    return [
        (shape, {"asked": sum(own.values())} | {name: own.get(name, 0) for name in found})
        for shape, own in tally.shapes.items()
    ]
