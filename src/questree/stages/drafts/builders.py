"""Who makes a draft: functions of a source and a template, which names the one it is made by."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator

from questree.benchmarks.covr.forms import ImageTemplate
from questree.extensions import Registry
from questree.stages.drafts.number_questions import (
    compare_count,
    count,
    count_by_image,
    references,
    verify_logic,
    verify_quantifier,
)
from questree.stages.drafts.sources import NO_SETS, Draft, DraftSource, Made
from questree.stages.drafts.word_questions import (
    all_same_attribute,
    choose_attribute,
    choose_object,
    choose_relation,
    query_attribute,
    query_object,
    same_attribute,
    verify_attribute,
)

Reasons = Counter[tuple[str, str]]  # (template, why a question was dropped or not made)
Builder = Callable[[DraftSource, ImageTemplate], Made]
BUILDERS = Registry[Builder]("builder")
for _name, _builder in {
    "references": references,
    "attribute": verify_attribute,
    "two attributes": choose_attribute,
    "attribute of a group": query_attribute,
    "attribute of all": all_same_attribute,
    "attribute of two": same_attribute,
    "compared counts": compare_count,
    "count": count,
    "count by image": count_by_image,
    "logic": verify_logic,
    "quantifier": verify_quantifier,
    "related object": query_object,
    "two related objects": choose_object,
    "two relations": choose_relation,
}.items():
    BUILDERS.add(_name, _builder)


def drafts(source: DraftSource, templates: Iterable[ImageTemplate], unmade: Reasons) -> Iterator[Draft]:
    """One of every template that the reference and its images allow; the others are counted with their reason."""
    for template in templates:
        if template.by_image == (source.times > 1):
            made = BUILDERS[template.builder](source, template)
            if isinstance(made, Draft) and made.sets:
                yield made
            else:
                unmade[template.name, made if isinstance(made, str) else NO_SETS] += 1
