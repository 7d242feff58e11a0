#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""test_programs.py BUILD TEST...: what these tests run of what is built there, one a line, as ninja knows it."""

import json
import os
import subprocess
import sys


def main():
    folder, names = os.path.realpath(sys.argv[1]), sys.argv[2:]
    known = json.loads(
        subprocess.run(["meson", "introspect", folder, "--tests"], capture_output=True, text=True, check=True).stdout
    )
    missing = set(names) - {test["name"] for test in known}
    if missing:
        sys.exit(f"no test {', '.join(sorted(missing))} in {folder}")
    for test in known:
        if test["name"] in names:
            inside = (os.path.relpath(os.path.join(folder, word), folder) for word in test["cmd"])
            print(next(word for word in inside if not word.startswith("..")))


if __name__ == "__main__":
    main()
