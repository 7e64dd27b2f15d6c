"""Which function makes the questions of which template; a plugin's template adds one."""

from collections.abc import Callable, Iterator
from functools import partial

from questree.benchmarks.covr.forms import Template
from questree.stages.drafts import about_attributes, about_counts, about_objects, about_things
from questree.stages.drafts.drafts import Draft
from questree.stages.drafts.sources import Source

Builder = Callable[[Source], Draft | None]

BUILDERS: dict[str, Builder] = {
    "VERIFYATTR": about_attributes.verify_attribute,
    "CHOOSEATTR": about_attributes.choose_attribute,
    "QUERYATTR": about_attributes.query_attribute,
    "COMPARECOUNT": about_counts.compare_count,
    "COUNT": about_counts.count,
    "VERIFYCOUNT": partial(about_counts.count, probe=True),
    "VERIFYLOGIC": about_things.verify_logic,
    "VERIFYQUANT": about_things.verify_quantifier,
    "VERIFYQUANTATTR": about_attributes.all_same_attribute,
    "VERIFYSAMEATTR": about_attributes.same_attribute,
    "QUERYOBJECT": about_objects.query_object,
    "CHOOSEOBJECT": about_objects.choose_object,
    "CHOOSEREL": about_objects.choose_relation,
}
BY_IMAGE: dict[str, Builder] = {  # for references that an image contains several times
    "COUNTGROUPBY": about_counts.count_by_image,
    "VERIFYCOUNTGROUPBY": partial(about_counts.count_by_image, probe=True),
}


def by_references(template: Template) -> Builder:
    """Of a template that says only what it refers to: R, or A and B; its two sets have other numbers of them."""

    def build(source: Source) -> Draft | None:
        form = source.draws.choice(template.forms)
        if form.slots == ("R",):
            return about_counts.of_one(template.name, form.name, source)
        return about_counts.of_two(template.name, form.name, source)

    return build


def drafts(source: Source) -> Iterator[Draft]:
    """One of every template that the reference and its images allow."""
    for builder in (BY_IMAGE if source.times > 1 else BUILDERS).values():
        made = builder(source)
        if made is not None and made.sets:
            yield made
