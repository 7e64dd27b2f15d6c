"""The reference of `import questree`, built from docstrings by pdoc: `make reference` writes it as HTML."""

import sys
from inspect import isclass
from pathlib import Path

import pdoc

import questree


def write(folder: Path) -> None:
    """FOLDER/questree.html, with every name at the top of the package."""
    for name in questree.__all__:
        thing = getattr(questree, name)
        setattr(questree, name, thing)  # names are imported when they are asked for; pdoc looks at what is there
        if isclass(thing):
            unite(thing)
    pdoc.render.configure(docformat="numpy", show_source=False)
    pdoc.pdoc("questree", output_directory=folder)


def unite(kind: type) -> None:
    """Methods of bases of our own belong to the class that people know; special ones with examples are shown."""
    for base in kind.__mro__[1:]:
        if base.__module__.startswith("questree."):
            for name in vars(base).keys() - vars(kind).keys():
                if not name.startswith("_"):
                    setattr(kind, name, vars(base)[name])
    for name, value in vars(kind).items():
        if name.startswith("__") and ">>> " in (getattr(value, "__doc__", None) or ""):
            value.__doc__ += "\n\n@public"  # as pdoc is told


if __name__ == "__main__":
    write(Path(sys.argv[1]))
