"""Our own notation: operators by name, words as they are, slots with a dollar sign: `doing($relation)`."""

from difflib import get_close_matches

from questree.notation.scan import Call, scan
from questree.program import Kind, Language, Node, ProgramError, Slot, Term, Word

ALONE = "!"  # a slot for an action without an object, or a noun that is not counted: `$action!`
OPTION = "?"  # a slot for the option of a choice that the program confirms: `$color?`


def show(term: Term) -> str:
    if isinstance(term, Slot):
        return f"${term.name}{ALONE if term.alone else ''}{OPTION if term.option else ''}"
    if isinstance(term, Word):
        return term.name
    return f"{term.op.name}({', '.join(map(show, term.args))})"


def parse(text: str, language: Language) -> Node:
    """The program a text spells; the kinds of its words follow from the operators they are given to."""
    return _node(scan(text), language)


def _node(call: Call, language: Language) -> Node:
    if call.args is None or not call.name:
        raise call.wanted("a call of an operator")
    op = language.ops.get(call.name)
    if op is None:
        near = get_close_matches(call.name, language.ops, 3) or sorted(language.ops)
        raise ProgramError(f"no operator {call.name!r} for {language.name}; choose from {', '.join(near)}", call.at)
    if len(call.args) != len(op.params):
        wanted = ", ".join(f"{name}: {kind.name}" for name, kind in op.params.items())
        raise ProgramError(f"{op.name}({wanted}) takes {len(op.params)} arguments, got {len(call.args)}", call.at)
    args = [_term(arg, kind, language) for arg, kind in zip(call.args, op.params.values(), strict=True)]
    try:
        return Node(op, tuple(args))
    except ProgramError as error:
        raise ProgramError(str(error), call.at) from None


def _term(call: Call, kind: Kind, language: Language) -> Term:
    if not call.is_word:
        return _node(call, language)
    if call.name.startswith("$"):
        return slot(call, kind)
    if not kind.words:
        raise call.wanted(f"a program of kind {kind.name}")
    return Word(call.name, kind)


def slot(call: Call, kind: Kind) -> Slot:
    text = call.name[1:].removesuffix(OPTION)
    name = text.removesuffix(ALONE)
    if not name:
        raise call.wanted(f"a slot with a name, like ${kind.name}")
    return Slot(name, kind, alone=text.endswith(ALONE), option=call.name.endswith(OPTION))
