"""COVR's fifteen templates as data: programs with holes for references and words, and the English of each form.

A hole `{R}` of a program is filled by a reference, `{attribute}` by a word. A frame says `{slot:form}`; the forms of a
reference are in english.py. All sentences ask about all images of the set together.
"""

from dataclasses import replace

from questree.benchmarks.covr.forms import ImageTemplate, TemplateForm
from questree.extensions import Registry

# what the program computes, by the words of the question
COUNTED = {"objects": "count({%s})", "images": "count_images(unique_images({%s}))"}
COMPARED = {"exactly": "eq", "at least": "geq", "at most": "leq"}
GROUPED = {  # how many in one image; an image without any is no group, so "at most" must say that there are some
    "exactly": ("exactly {size}", "keep_if_values_count_eq"),
    "at least": ("at least {size}", "keep_if_values_count_geq"),
    "at most": ("{size:up to}", "keep_if_values_count_leq"),
}
MORE = {
    ("more", "gt", "objects"): "Are there more {A:many} than {B:many}?",
    ("fewer", "lt", "objects"): "Are there fewer {A:many} than {B:many}?",
    ("equal", "eq", "objects"): "Is the number of {A:many} equal to the number of {B:many}?",
    ("more", "gt", "images"): "Do more images show {A:a} than {B:a}?",
    ("fewer", "lt", "images"): "Do fewer images show {A:a} than {B:a}?",
    ("equal", "eq", "images"): "Is the number of images that show {A:a} equal to the number of those that show {B:a}?",
}
QUANTIFIERS = {  # short, and clear even if the reference is long
    "all": ("{C:Are} all of the {R:many} {C}?", "Is it true that all of the {R:many} {C:are}?"),
    "some": ("{C:Is} at least one of the {R:many} {C}?", "Is it true that at least one of the {R:many} {C:is}?"),
    "none": ("{C:Are} none of the {R:many} {C}?", "Is it true that none of the {R:many} {C:are}?"),
}
ASKED = "with_relation_object(assert_unique({R}), scene(), {relation})"


def _grouped(how: str) -> str:
    return f"count_images(keys({GROUPED[how][1]}(group_by_images({{R}}), {{size}})))"


TEMPLATES = (
    ImageTemplate(
        "VERIFYATTR",
        "does the one thing have an attribute",
        "an attribute of the root; distractors with another one and a further change",
        (1, 1),
        (
            TemplateForm(
                "attribute",
                "verify_attr(unique({R}), {attribute})",
                ("{R:Is} {R:the} {attribute}?", "Look at {R:the}: {R:is} {R:this} {attribute}?"),
            ),
        ),
        builder="attribute",
    ),
    ImageTemplate(
        "CHOOSEATTR",
        "which of two attributes does the one thing have",
        "as VERIFYATTR; an attribute that excludes the root's",
        (1, 1),
        (
            TemplateForm(
                "attributes",
                "choose_attr(unique({R}), {first}, {second})",
                ("{R:Is} {R:the} {first} or {second}?", "Look at {R:the}: {R:is} {R:this} {first} or {second}?"),
            ),
        ),
        builder="two attributes",
    ),
    ImageTemplate(
        "QUERYATTR",
        "which value of a group of attributes does the one thing have",
        "as VERIFYATTR; the attribute belongs to a group",
        (1, 1),
        tuple(
            TemplateForm(group, "query_attr(unique({R}), {group})", frames)
            for group, frames in {
                "color": ("What color {R:is} {R:the}?", "Which color {R:is} {R:the}?"),
                "shape": ("What shape {R:is} {R:the}?", "Which shape {R:do} {R:the} have?"),
                "material": ("What {R:is} {R:the} made of?", "Which material {R:is} {R:the} made of?"),
                "any group": ("What is the {group} of {R:the}?",),
            }.items()
        ),
        builder="attribute of a group",
    ),
    ImageTemplate(
        "COMPARECOUNT",
        "are there more, fewer or as many of one thing as of another",
        "a second reference that a distractor contains",
        (1, 3),
        tuple(
            TemplateForm(f"{how}, {what}", f"{op}({COUNTED[what] % 'A'}, {COUNTED[what] % 'B'})", (frame,))
            for (how, op, what), frame in MORE.items()
        ),
        builder="compared counts",
    ),
    ImageTemplate(
        "COUNT",
        "how many things, or images with such a thing",
        "two distractors; two sets of images with different counts; a root that can be counted",
        (0, 3),
        (
            TemplateForm("objects", COUNTED["objects"] % "R", ("How many {R:head} are {R:there}?",)),
            TemplateForm(
                "images",
                COUNTED["images"] % "R",
                ("How many images show {R:a}?", "In how many of the images {R:is} there {R:a}?"),
            ),
        ),
        twin=True,
        builder="count",
    ),
    ImageTemplate(
        "VERIFYCOUNT",
        "is the number of things or images exactly, at least or at most so much",
        "as COUNT",
        (0, 3),
        (
            *(
                TemplateForm(
                    f"{how}, objects",
                    f"{op}({COUNTED['objects'] % 'R'}, {{number}})",
                    (f"{{number:Are}} there {how} {{number}} {{number:things}}?",),
                )
                for how, op in COMPARED.items()
            ),
            *(
                TemplateForm(
                    f"{how}, images",
                    f"{op}({COUNTED['images'] % 'R'}, {{number}})",
                    (f"{{number:Do}} {how} {{number}} {{number:images}} show {{R:a}}?",),
                )
                for how, op in COMPARED.items()
            ),
        ),
        twin=True,
        builder="count",
        verifies="COUNT",
        verified_form="{how}, {form}",
    ),
    ImageTemplate(
        "COUNTGROUPBY",
        "how many images have so many of a thing",
        "a reference that one image contains 2 to 4 times; images that contain it less often",
        (0, 3),
        tuple(
            TemplateForm(how, _grouped(how), (f"How many images show {said} {{R:many}}?",))
            for how, (said, _) in GROUPED.items()
        ),
        builder="count by image",
        by_image=True,
    ),
    ImageTemplate(
        "VERIFYCOUNTGROUPBY",
        "is the number of images that have so many of a thing exactly, at least or at most so much",
        "as COUNTGROUPBY",
        (0, 3),
        tuple(
            TemplateForm(
                f"{how} images, {size} objects",
                f"{op}({_grouped(size)}, {{number}})",
                (f"{{number:Do}} {how} {{number}} {{number:images}} show {GROUPED[size][0]} {{R:many}}?",),
            )
            for how, op in COMPARED.items()
            for size in GROUPED
        ),
        builder="count by image",
        by_image=True,
        verifies="COUNTGROUPBY",
        verified_form="{how} images, {form} objects",
    ),
    ImageTemplate(
        "VERIFYLOGIC",
        "are there both things; is there one or the other",
        "a second reference that a distractor contains; images with neither",
        (0, 2),
        (
            TemplateForm(
                "both",
                "logic_and(exists({A}), exists({B}))",
                ("Do the images show {A:a} and also {B:a}?", "Do the images show {A:a} as well as {B:a}?"),
            ),
            TemplateForm(
                "either", "logic_or(exists({A}), exists({B}))", ("Does at least one image show either {A:a} or {B:a}?",)
            ),
        ),
        builder="logic",
    ),
    ImageTemplate(
        "VERIFYQUANT",
        "do all, some or none of the things have an attribute or a relation",
        "the root's attribute, or a relation of the root, becomes the condition; two things to speak of",
        (0, 3),
        tuple(
            TemplateForm(f"{how}, {what}", f"{how}({{R}}, {{C}})", frames)
            for how, frames in QUANTIFIERS.items()
            for what in ("attribute", "relation")
        ),
        builder="quantifier",
    ),
    ImageTemplate(
        "VERIFYQUANTATTR",
        "do all the things have one value of a group of attributes in common",
        "an attribute of the root that belongs to a group; two things to speak of, each with a value",
        (2, 4),
        (
            TemplateForm(
                "group",
                "all_same({R}, {group})",
                ("Do all of the {R:many} share the same {group}?", "Is the {group} the same for all of the {R:many}?"),
            ),
        ),
        builder="attribute of all",
    ),
    ImageTemplate(
        "VERIFYSAMEATTR",
        "do two things have the same value of a group of attributes",
        "an attribute of the root that belongs to a group; a second reference from a distractor, both with a value",
        (1, 1),
        (
            TemplateForm(
                "group",
                "same_attr(query_attr(unique({A}), {group}), query_attr(unique({B}), {group}))",
                ("Is the {group} of {A:the} the same as that of {B:the}?",),
            ),
        ),
        builder="attribute of two",
    ),
    ImageTemplate(
        "QUERYOBJECT",
        "what is the one thing related to",
        "a leaf without attribute; distractors with another leaf and a further change",
        (1, 1),
        (
            TemplateForm(
                "object", f"query_name(unique({ASKED}))", ("{relation:What} {relation:is} {R:the} {relation}?",)
            ),
            TemplateForm(
                "object, two steps",
                f"query_name(unique({ASKED}))",
                ("There {R:is} {R:a}. {relation:What} {relation:is} {R:this} {relation}?",),
            ),
        ),
        builder="related object",
    ),
    ImageTemplate(
        "CHOOSEOBJECT",
        "which of two is the one thing related to",
        "as QUERYOBJECT",
        (1, 1),
        (
            TemplateForm(
                "objects",
                f"choose_name(unique({ASKED}), {{first}}, {{second}})",
                ("{relation:Is} {R:the} {relation} {first} or {second}?",),
            ),
            TemplateForm(
                "objects, two steps",
                f"choose_name(unique({ASKED}), {{first}}, {{second}})",
                ("There {R:is} {R:a}. {relation:Is} {R:this} {relation} {first} or {second}?",),
            ),
        ),
        builder="two related objects",
    ),
    ImageTemplate(
        "CHOOSEREL",
        "which of two relations does the one thing have to another",
        "a relation to a leaf, and one that excludes it",
        (1, 1),
        (
            TemplateForm(
                "relations",
                "choose_relation(query_link(unique_link(relation_between_nouns(unique({R}), {B}))), {first}, {second})",
                (
                    "{first:Is} {R:the} {first} or {second} {B:a}?",
                    "Which is true: {R:the} {first:is} {B:a} or {second:is} {B:it}?",
                ),
            ),
        ),
        builder="two relations",
    ),
)


def as_in_paper(template: ImageTemplate) -> ImageTemplate:
    """ "At most K" is said in so many words, although images without any do not count."""

    def said(form: TemplateForm) -> TemplateForm:
        return replace(
            form, frames=tuple(frame.replace(GROUPED["at most"][0], "at most {size}") for frame in form.frames)
        )

    return replace(template, forms=tuple(map(said, template.forms)))


BY_NAME = Registry[ImageTemplate]("template")  # these, and those of plugins
for _template in TEMPLATES:
    BY_NAME.add(_template.name, _template)
