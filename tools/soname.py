#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""soname.py NAME FOLDER COMPILER...: prints the soname of libNAME.so, which is in FOLDER or where COMPILER looks."""

import pathlib
import re
import subprocess
import sys


def main():
    name, folder, *compiler = sys.argv[1:]
    file = f"lib{name}.so"
    found = subprocess.run([*compiler, f"-print-file-name={file}"], capture_output=True, text=True, check=True).stdout
    for path in (pathlib.Path(folder, file), pathlib.Path(found.strip())):
        if path.is_file():
            headers = subprocess.run(["readelf", "-d", path], capture_output=True, text=True, check=True).stdout
            sys.exit(print(re.search(r"\(SONAME\).*\[(.+)\]", headers)[1]))
    sys.exit(f"there is no {file}: link it, with -Dlate_libraries=false")


if __name__ == "__main__":
    main()
