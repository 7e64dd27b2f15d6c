"""A paper with tables, compiled by a real LaTeX."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from questree.show.paper.latex import COLUMN

PAGE = r"""\documentclass[twocolumn]{article}
\usepackage{booktabs}
\setlength{\textwidth}{%spt}\setlength{\columnsep}{20pt}\setlength{\textheight}{650pt}\setlength{\hfuzz}{0pt}
\begin{document}
%s
\end{document}
"""
BAD = re.compile(r"^(?:Overfull.*|!.*|LaTeX Warning: Float too large.*)$", re.MULTILINE)


def compiled(folder: Path, text: str, width: float = COLUMN) -> list[str]:
    """What a LaTeX complains about in a paper with two columns so wide."""
    found = shutil.which("pdflatex")
    if found is None:
        assert "QUESTREE_LATEX_REQUIRED" not in os.environ, "pdflatex is not installed"
        pytest.skip("pdflatex is not installed")
    (folder / "paper.tex").write_text(PAGE % (2 * width + 20, text), "utf-8")
    call = [found, "-draftmode", "-interaction=nonstopmode", "-halt-on-error", "paper.tex"]
    done = subprocess.run(call, cwd=folder, capture_output=True, check=False)
    said = done.stdout.decode("utf-8", "replace")
    assert "Output written" in said or "No pages of output" in said or done.returncode == 0, said[-2000:]
    return BAD.findall(said)
