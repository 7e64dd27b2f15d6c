"""How drafts are made: functions of a source and a template, which names the one it is made by."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

from questree.benchmarks.covr.forms import Template
from questree.columns.draws import Draws
from questree.extensions import Registry
from questree.stages.drafts import about_attributes, about_counts, about_objects, about_things
from questree.stages.drafts.drafts import Draft
from questree.stages.drafts.sources import DraftSource

Builder = Callable[[DraftSource, Template], Draft | None]


def references(source: DraftSource, template: Template) -> Draft | None:
    """Of a template that says only what it refers to: R, or A and B; its two sets have other numbers of them."""
    form = source.draws.choice(template.forms)
    of = about_counts.of_one if form.slots == ("R",) else about_counts.of_two
    made = of(template, form.name, source)
    return made and replace(made, wording=Draws(*source.key, "wording").below(len(form.frames)))


BUILDERS = Registry[Builder]("builder")
for _name, _builder in {
    "references": references,
    "attribute": about_attributes.verify_attribute,
    "two attributes": about_attributes.choose_attribute,
    "attribute of a group": about_attributes.query_attribute,
    "attribute of all": about_attributes.all_same_attribute,
    "attribute of two": about_attributes.same_attribute,
    "compared counts": about_counts.compare_count,
    "count": about_counts.count,
    "count by image": about_counts.count_by_image,
    "logic": about_things.verify_logic,
    "quantifier": about_things.verify_quantifier,
    "related object": about_objects.query_object,
    "two related objects": about_objects.choose_object,
    "two relations": about_objects.choose_relation,
}.items():
    BUILDERS.add(_name, _builder)


def drafts(source: DraftSource, templates: Iterable[Template]) -> Iterator[Draft]:
    """One of every template that the reference and its images allow."""
    for template in templates:
        if template.by_image == (source.times > 1):
            made = BUILDERS[template.builder](source, template)
            if made is not None and made.sets:
                yield made
