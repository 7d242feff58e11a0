# SPDX-License-Identifier: Apache-2.0
"""Python packages that a script here needs, in an environment of their own."""

import importlib.metadata
import os
import pathlib
import subprocess
import sys
import venv

WANTED = pathlib.Path(__file__).resolve().parent / "requirements.txt"


def missing():
    lines = [line.strip().split("==") for line in WANTED.read_text().splitlines() if line.strip()]
    absent = []
    for name, version in lines:
        try:
            if importlib.metadata.version(name) != version:
                absent.append(name)
        except importlib.metadata.PackageNotFoundError:
            absent.append(name)
    return absent


def enter(folder):
    """Goes on in an environment in `folder` that has what requirements.txt says; makes it where it is not there yet."""
    if not missing():
        return
    python = folder / "bin" / "python"
    if pathlib.Path(sys.prefix) == folder.resolve():
        sys.exit(f"{', '.join(missing())} cannot be had in {folder}: remove that folder and try again")
    if not python.exists():
        print(f"making {folder}", file=sys.stderr)
        venv.create(folder, with_pip=True)
    subprocess.run([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r", WANTED], check=True)
    os.execv(python, [str(python), *sys.argv])
