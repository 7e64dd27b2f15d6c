"""One example of every wording, for a person who checks the English."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby, permutations, product
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Literal

from questree.api.vocabularies import read_vocabulary
from questree.benchmarks.agqa.editions import EDITIONS
from questree.benchmarks.agqa.examples import Example, examples
from questree.benchmarks.agqa.templates import ADDED
from questree.benchmarks.covr.forms import ImageTemplate, things
from questree.benchmarks.covr.templates import BY_NAME, TEMPLATES
from questree.domains.images.english import reference
from questree.domains.images.graph import Graph, GraphRelation
from questree.places import path_of
from questree.stages.drafts.given import HOLES
from questree.stages.generate.given import read
from questree.tables.store import new_file

if TYPE_CHECKING:
    from questree.api.runs import StrPath


def wordings(
    *,
    out: "StrPath",
    vocabulary: "StrPath | None" = None,
    edition: Literal["2.0", "1.0"] = "2.0",
    templates: Sequence["StrPath"] | None = None,
) -> list[dict[str, str]]:
    """Write an example of every template, frame, kind of time phrase and kind of reference; the same as records.

    Parameters
    ----------
    out
        Text file to write.
    vocabulary
        Vocabulary file. AGQA's words if left out.
    edition
        Of AGQA.
    templates
        TOML files of templates to show instead.

    >>> questree.wordings(out="wordings.txt")[0]["text"]
    'Were they interacting with a bed before awakening in bed?'
    """
    known = EDITIONS[edition]
    if templates or ADDED:
        given = read([path_of(file) for file in templates or ()])
        known = replace(known, added=(*ADDED.values(), *given), only_added=bool(templates))
    shown = list(examples(read_vocabulary(vocabulary), known))
    programs = {example.template.name: example.template.program for example in shown}
    found = [record(example) for example in shown]
    for template in BY_NAME.values() if not templates else ():
        if template not in TEMPLATES and template.forms[0].slots in HOLES:  # others are filled by their builder alone
            programs[template.name] = template.forms[0].program
            found += of_images(template)
    with new_file(path_of(out)) as work:
        work.write_text("".join(f"{line}\n" for line in lines(found, programs)), "utf-8")
    return found


def record(example: Example) -> dict[str, str]:
    return {**example._asdict(), "template": example.template.name, "frame": example.frame.text}


def of_images(template: ImageTemplate) -> Iterator[dict[str, str]]:
    """Every wording with a thing that has an attribute, and with one that has a relation."""
    (form,) = template.forms
    graphs = {"attribute": Graph("cup", "red"), "relation": Graph("man", None, (GraphRelation("on", Graph("bench")),))}
    for (wording, frame), kinds in product(enumerate(form.frames), permutations(graphs, len(form.slots))):
        meant = {slot: graphs[kind] for slot, kind in zip(form.slots, kinds, strict=True)}
        yield {
            "template": template.name,
            "frame": frame,
            "time": "",
            "reference": ", ".join(kinds),
            "program": form.filled({slot: things(graph) for slot, graph in meant.items()}).text,
            "text": form.say({slot: reference(graph) for slot, graph in meant.items()}, wording),
        }


def lines(found: Iterable[dict[str, str]], programs: Mapping[str, str]) -> Iterator[str]:
    """Template, frame, then per example the question and under it its program."""
    for template, per_template in groupby(found, itemgetter("template")):
        yield from (f"{template}  {programs[template]}", "")
        for frame, per_frame in groupby(per_template, itemgetter("frame")):
            yield f"  {frame}"
            for example in per_frame:
                kind = ", ".join(filter(None, (example["time"], example["reference"])))
                yield from (f"    {kind + ':':<26} {example['text']}", f"    {'':26} {example['program']}")
            yield ""


def counts(found: Iterable[dict[str, str]]) -> list[dict[str, Any]]:
    groups = ((template, list(group)) for template, group in groupby(found, itemgetter("template")))
    return [
        {"template": template, "frames": len({example["frame"] for example in own}), "examples": len(own)}
        for template, own in groups
    ]
