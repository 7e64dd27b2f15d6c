"""The English of sub-questions about image sets."""

from questree.benchmarks.covr.parts import grouped, inner, spoken_of
from questree.benchmarks.covr.templates import BY_NAME
from questree.domains.images import answers, english, things
from questree.domains.images.nouns import after_is
from questree.domains.images.references import reference_of
from questree.program import Node, Word


def text(node: Node) -> str:
    """A sub-question in English."""
    reference = reference_of(spoken_of(node))
    assert reference is not None, "parts() gives only what can be said"
    said = reference.forms
    if node.op is answers.exists:
        return f"{said['Is']} there {said['a']}?"
    if node.op is answers.count:
        return BY_NAME["COUNT"].form("objects").say({"R": said})
    if node.op is not answers.count_images:
        return _of_one_thing(node, said)
    images = inner(node.args[0])
    if images.op is things.unique_images:
        return BY_NAME["COUNT"].form("images").say({"R": said})
    _, how, number = grouped(images)
    return BY_NAME["COUNTGROUPBY"].form(how).say({"R": said, "size": {"": number.name}})


def _of_one_thing(node: Node, said: english.Forms) -> str:
    word = node.args[1]
    assert isinstance(word, Word)
    if node.op is answers.verify_attr:
        return BY_NAME["VERIFYATTR"].form("attribute").say({"R": said, "attribute": {"": after_is(word.name)}})
    template = BY_NAME["QUERYATTR"]
    form = word.name if word.name in {form.name for form in template.forms} else "any group"
    return template.form(form).say({"R": said, "group": {"": word.name}})
