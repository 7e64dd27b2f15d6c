"""People are asked about a run; their answers become figures, a model named Human, and files for other stages."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import polars as pl

from questree.api.made import Made
from questree.api.made_up import drawing
from questree.api.people_drawn import candidates_of, mistakes, other_texts, with_texts
from questree.api.reports import web_packages
from questree.api.runs import StrPath
from questree.benchmarks import AGQA, chosen
from questree.faults import BadInput, Fault, at_least, refuse
from questree.people.book import Annotator, Book, TaskOptions
from questree.people.items import Drawn, apart, items
from questree.people.power import plan
from questree.people.sample import drawn
from questree.people.simulated import mistaken, simulated
from questree.people.task import Task, read_task
from questree.places import Place, changed, path_of
from questree.tables.run import Run

USUAL = 25  # of every type, if nobody says
PLAIN = " ._+-:@="  # in names, besides letters and digits


def new(
    run: StrPath,
    task: str = "verify",
    *,
    name: str = "",
    per_type: int = 0,
    per_template: int = 0,
    per_answer: int = 0,
    per_split: int = 0,
    per_category: int = 0,
    sample: int = 0,
    parts: bool | None = None,
    votes: int = 0,
    gold: float = 0.1,
    qualify: int = 0,
    split: str = "test",
    models: str = "",
    annotators: str = "",
    seed: int = 0,
    benchmark: str = "",
) -> Made:
    """Draw what people are asked: a balanced sample, gold questions among it, a round to qualify.

    Parameters
    ----------
    run
        Run folder with DAGs (`questree decompose`).
    task
        verify, choose, free, absent, paraphrase, compare, or a TOML file of your own.
    name
        Name of the task in the run; that of the task, if it is left out.
    per_type
        Least number of every type, sub-questions too; 25, if nothing else is asked for.
    per_template
        Least number of every template.
    per_answer
        Least number of every answer.
    per_split
        Least number of every split.
    per_category
        Videos: least number of every category of AGQA's tables.
    sample
        Least number in all.
    parts
        Ask sub-questions too. [with `per_type`]
    votes
        Answers to every question; as the task says, mostly 3, if it is left out.
    gold
        Share of questions more whose answer is known.
    qualify
        Number of questions with explanations that everybody answers first.
    split
        Split to draw from: train, dev, test, or all.
    models
        compare: two stored models, as in A,B.
    annotators
        Names of people who get a link, as in Ann,Ben.
    seed
        Seed of the draws.
    benchmark
        Benchmark of a run with both: agqa (videos, the default) or covr (image sets).
    """
    called, known_task = read_task(task)
    least = {
        "type": per_type,
        "template": per_template,
        "answer": per_answer,
        "split": per_split,
        "category": per_category,
        "all": sample,
    }
    faults = at_least(0, {"sample": sample, "votes": votes, "qualify": qualify, "gold": gold})
    faults += at_least(0, {f"per_{label}": count for label, count in least.items() if label != "all"})
    refuse([*faults, *names_wrong([name or called], "--name"), *names_wrong(listed(annotators), "--annotators")])
    least = {label: count for label, count in least.items() if count} or {"type": USUAL}
    if known_task.about == "scopes" and "type" in least:
        least = {"all": least["type"]}
    place = Run.at(run)
    own = chosen(place, benchmark, "decomposed")
    if "category" in least and own is not AGQA:
        raise BadInput.at("--per-category", f"expected questions about {AGQA.scopes}, got {own.scopes}")
    side = None if split == "all" else split
    whole = "type" in least if parts is None else parts
    candidates, known, dags = candidates_of(known_task, place, own, side, whole, listed(models))
    asked = drawn(candidates, least, seed)
    if asked.is_empty():
        raise BadInput.at(place.folder, f"nothing to ask about in the split {split}")
    knows, rewords = known_task.about != "scopes", known_task.ask == "paraphrase"
    wrong = mistakes(dags, own) if knows and not rewords and dags is not None and (gold or qualify) else {}
    rest = candidates.filter(pl.col("id").is_in(list(wrong))) if known_task.about == "models" else candidates
    found = apart(rest, asked, round(gold * len(asked)) * knows, qualify * knows, seed)
    if dags is not None:
        found = Drawn(*(with_texts(dags, table) for table in found))
        if rewords:
            known = replace(known, others=other_texts(dags, candidates, found, seed))
    count = votes or known_task.votes
    sizes = {"asked": len(found.asked), "gold": len(found.gold), "qualification": len(found.qualification)}
    options = TaskOptions(own.name, count, seed, **sizes, drawn=least | {"split": split}, models=listed(models))
    made = items(known_task, found, candidates, count, replace(known, seed=seed, wrong=wrong))
    book = Book(place)
    book.add_task(name or called, known_task, options, made)
    people = book.add_annotators(listed(annotators)) if annotators else []
    said = [f"{name or called}: {told(known_task, options)}, in {book.path}", *told_links(people)]
    more = round(gold * len(asked)) * knows + qualify * knows - sizes["gold"] - sizes["qualification"]
    said += [f"warning: nothing is left for {more:,} more gold questions and questions to qualify"] if more else []
    return Made("people new", said, {"task": name or called, **sizes, "votes": count, "drawn": least})


def listed(names: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in names.split(",") if name.strip())


def told(task: Task, options: TaskOptions) -> str:
    sizes = [f"{options.asked:,} items, {options.votes} vote{'s' * (options.votes != 1)} each"]
    sizes += [f"{options.gold:,} gold"] if options.gold else []
    sizes += [f"{options.qualification:,} to qualify"] if options.qualification else []
    return ", ".join(sizes)


def told_links(people: Sequence[Annotator]) -> list[str]:
    return [f"link of {one.name}: /people/{one.token}/" for one in people if one.kind == "person"]


def names_wrong(names: Sequence[str], place: str) -> list[Fault]:
    wanted = f"letters, digits, spaces and {' '.join(PLAIN.strip())}"
    strange = [name for name in names if not name.strip() or not all(sign.isalnum() or sign in PLAIN for sign in name)]
    return [Fault(place, f"expected {wanted}, got {name!r}") for name in strange]


def remove(run: StrPath, *, task: str) -> Made:
    """Take a task and all answers to it out of a run.

    Parameters
    ----------
    run
        Run folder.
    task
        Name of the task.
    """
    count = Book.of(Run.at(run)).remove_task(task)
    return Made("people remove", [f"{task}: removed with {count:,} answers"], {"task": task, "answers": count})


def links(run: StrPath, *, add: str = "") -> Made:
    """The personal links of everybody who answers; they are the only way in, so send each to its person alone.

    Parameters
    ----------
    run
        Run folder.
    add
        Names of people who get a link, as in Ann,Ben.
    """
    names = listed(add)
    refuse(names_wrong(names, "--add"))
    book = Book.of(Run.at(run))
    if names:
        book.add_annotators(names)
    people = [one for one in book.annotators() if one.kind == "person"]
    said = told_links(people) or ["nobody has a link yet; --add names people"]
    return Made("people links", said, [{"name": one.name, "link": f"/people/{one.token}/"} for one in people])


def status(run: StrPath) -> Made:
    """How far every task is: items, answers wanted and given, people.

    Parameters
    ----------
    run
        Run folder.
    """
    book = Book.of(Run.at(run))
    with book.reading() as made:
        given = dict(made.execute("SELECT task, sum(answered) FROM place GROUP BY task").fetchall())
        people = dict(made.execute("SELECT task, count(*) FROM place WHERE answered GROUP BY task").fetchall())
        left = dict(made.execute("SELECT task, sum(room) FROM item WHERE role = 'asked' GROUP BY task").fetchall())
    rows = [
        {
            "task": name,
            "items": options.asked,
            "gold": options.gold,
            "votes": options.votes,
            "answers": given.get(name, 0),
            "still to be given": left.get(name, 0),
            "people": people.get(name, 0),
        }
        for name, (_, options) in book.tasks().items()
    ]
    return Made("people status", [("Tasks", rows)], rows)


def serve(
    run: StrPath,
    *,
    host: str = "127.0.0.1",
    port: int = 8000,
    media: Path | None = None,
    ready: Callable[[str], None] = print,
) -> None:
    """Let people answer in the browser until Ctrl-C, as `questree people serve` does; `ready` hears the address."""
    if isinstance(path_of(run), Place):
        told = "every answer must be on a disk before it is confirmed; copy the run to a folder of this machine"
        raise BadInput.at(run, f"cannot be answered in a store: {told}")
    with web_packages("questree people serve"):
        from questree.people.desk import Desk
        from questree.people.page import application
        from questree.show.page.serving import bound, shown_address
        from questree.show.page.serving import serve as work
    if media is None:
        with drawing("questree people serve without --media"):
            import questree.draw.runs  # noqa: F401
    with bound(host, port) as place:
        app = application(Desk(Run.at(run), media), host)
        ready(shown_address(place))
        work(app, place)


def simulate(run: StrPath, task: str = "verify", *, annotators: int = 3, error: float = 0.1, seed: int = 0) -> Made:
    """Let bots with a known rate of error answer a task to the end, to plan and to test.

    Parameters
    ----------
    run
        Run folder.
    task
        Name of the task.
    annotators
        Number of bots.
    error
        Share of their answers that are mistaken.
    seed
        Seed of their mistakes.
    """
    wrong = [Fault("--error", f"expected a share from 0 to 1, got {error:g}")] if not 0 <= error <= 1 else []
    refuse([*wrong, *at_least(1, {"annotators": annotators})])
    book = Book.of(Run.at(run))
    names = [f"bot {number}" for number in range(1, annotators + 1)]
    with changed(book.path):
        count = simulated(book, task, names, mistaken(error, seed))
    said = f"{task}: {count:,} answers of {annotators} bots that err in {error:.0%}"
    return Made("people simulate", [said], {"task": task, "answers": count, "annotators": annotators, "error": error})


def percent(value: float | None) -> str:
    return "" if value is None else f"{100 * value:.2f}"


def power(
    *, accuracy: float = 0.86, error: float = 0.1, half_width: float = 0.05, seconds: float = 30.0, groups: int = 1
) -> Made:
    """How many votes and items a wanted half-width needs.

    Parameters
    ----------
    accuracy
        Share of the benchmark's answers that are right.
    error
        Share of wrong answers of one person.
    half_width
        Wanted half-width of the 95 % interval.
    seconds
        Seconds that one answer takes.
    groups
        Types or categories, each with this half-width.
    """
    shares = {"accuracy": accuracy, "error": error, "half_width": half_width}
    wrong = [
        Fault(f"--{name.replace('_', '-')}", f"expected a share between 0 and 1, got {value:g}")
        for name, value in shares.items()
        if not 0 < value < 1
    ]
    refuse([*wrong, *at_least(1, {"groups": groups}), *at_least(0, {"seconds": seconds})])
    rows = plan(accuracy, error, half_width, seconds, groups)
    table = [
        {
            "votes": row["votes"],
            "majority right": percent(row["majority right"]),
            "found right": percent(row["found right"]),
            "off by": f"{100 * row['off by']:+.2f}",
            "items per group": row["items per group"],
            "answers": row["answers"],
            "hours": f"{row['hours']:.1f}",
        }
        for row in rows
    ]
    given = f"{accuracy:.0%} are right and people err in {error:.0%}"
    return Made("people power", [(f"Items for a half-width of {100 * half_width:g} points, if {given}", table)], rows)
