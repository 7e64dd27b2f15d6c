"""The notebooks of examples/ in a Jupyter kernel; as a script (`make notebooks`) it stores their outputs anew."""

import os
import shutil
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import nbformat
from jupyter_client.kernelspec import KernelSpec
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient

EXAMPLES = Path(__file__).parents[2] / "examples"
NOTEBOOKS = sorted(EXAMPLES.glob("*.ipynb"))
SECONDS = 300  # after which a cell is taken for stuck


class OwnKernel(AsyncKernelManager):
    """A kernel of this very Python, whatever kernels are installed on the machine."""

    @property
    def kernel_spec(self) -> KernelSpec:
        command = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}", "--log-level=ERROR"]
        return KernelSpec(argv=command, display_name="Python 3", language="python")


def stored(path: Path) -> Any:
    """The notebook as it is in examples/."""
    return nbformat.read(path, 4)  # type: ignore[no-untyped-call]


def executed(path: Path, folder: Path) -> Any:
    """The notebook with the outputs it has now, run in a copy of examples/."""
    shutil.copytree(EXAMPLES, folder / "examples", ignore=shutil.ignore_patterns("*.ipynb"))
    notebook = stored(path)
    for name in ("COLUMNS", "POLARS_FMT_MAX_ROWS"):  # tables are as wide as anywhere
        os.environ.pop(name, None)
    client = NotebookClient(notebook, kernel_manager_class=OwnKernel, timeout=SECONDS, record_timing=False)
    client.execute(cwd=str(folder / "examples"))
    notebook.metadata.pop("language_info", None)  # has the version of Python
    return notebook


def outputs(notebook: Any) -> list[tuple[str, list[dict[str, Any]]]]:
    """Source and outputs of every cell of code."""
    return [(cell.source, [shown(out) for out in cell.outputs]) for cell in notebook.cells if cell.cell_type == "code"]


def shown(output: Any) -> dict[str, Any]:
    """What a reader sees of an output."""
    return dict(output.data) if "data" in output else {output.get("name", output.output_type): output.get("text")}


if __name__ == "__main__":
    for notebook in NOTEBOOKS:
        with TemporaryDirectory() as place:
            nbformat.write(executed(notebook, Path(place)), notebook)  # type: ignore[no-untyped-call]
