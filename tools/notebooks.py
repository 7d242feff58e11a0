#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs notebooks of docs/notebooks and writes each one's page beside it: NAME.md, and NAME-1.png, ... for its plots.

usage: notebooks.py [NAME...], by a Python that has parshall and docs/notebooks/requirements.txt; all of them where none
is named
"""

import base64
import pathlib
import sys
import tempfile

import jupytext
import nbclient
import nbformat

FOLDER = pathlib.Path(__file__).resolve().parents[1] / "docs/notebooks"
# Pictures without the name of what drew them, frames as wide as a page: no names that a notebook could use.
SETTINGS = """%config InlineBackend.print_figure_kwargs = {'metadata': {'Software': None}, 'dpi': 90, 'bbox_inches': 'tight'}
__import__('pandas').set_option('display.width', 150, 'display.max_columns', 20)"""  # noqa: E501


def run(path, folder, last=""):
    """The notebook with what its cells showed, run from its beginning in the folder; `last` is the code of a last
    cell."""
    notebook = jupytext.read(path)
    notebook.cells = [
        nbformat.v4.new_code_cell(SETTINGS),
        *notebook.cells,
        *([nbformat.v4.new_code_cell(last)] if last else []),
    ]
    nbclient.NotebookClient(
        notebook,
        timeout=600,
        extra_arguments=["--log-level=ERROR"],
        kernel_name="python3",
        resources={"metadata": {"path": str(folder)}},
    ).execute()
    del notebook.cells[0]
    return notebook


def shown(output):
    """The text of an output that is no picture."""
    if output.output_type == "stream":
        return output.text
    return output.data.get("text/plain", "") if output.output_type in ("execute_result", "display_data") else ""


def page(notebook, name):
    """(Markdown, {file name: picture})."""
    parts, pictures = [], {}
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            parts.append(cell.source)
            continue
        parts.append(f"```python\n{cell.source}\n```")
        for output in cell.outputs:
            data = output.get("data", {})
            if "image/png" in data:
                picture = f"{name}-{len(pictures) + 1}.png"
                pictures[picture] = base64.b64decode(data["image/png"])
                parts.append(f"![{name}, plot {len(pictures)}]({picture})")
            elif "text/markdown" in data:
                parts.append(data["text/markdown"])
            elif text := "\n".join(line.rstrip() for line in shown(output).strip("\n").splitlines()):
                parts.append(f"```text\n{text}\n```")
    parts.append(f"*Made from [{name}.py]({name}.py) by `make notebooks`.*")
    return "\n\n".join(parts) + "\n", pictures


def main():
    for name in sys.argv[1:] or sorted(path.stem for path in FOLDER.glob("*.py")):
        with tempfile.TemporaryDirectory() as folder:
            text, pictures = page(run(FOLDER / f"{name}.py", folder), name)
        for old in FOLDER.glob(f"{name}-[0-9]*.png"):
            old.unlink()
        (FOLDER / f"{name}.md").write_text(text)
        for picture, data in pictures.items():
            (FOLDER / picture).write_bytes(data)
        print(f"{name}.md: {len(pictures)} plots")


if __name__ == "__main__":
    main()
