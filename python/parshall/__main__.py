# SPDX-License-Identifier: Apache-2.0
"""The command line: `python -m parshall watch ...` becomes the program that came with the package, or the one of the
path."""

import os
import shutil
import sys
import sysconfig

if __name__ == "__main__":
    here = os.path.join(sysconfig.get_path("scripts"), "parshall")
    program = here if os.path.exists(here) else shutil.which("parshall") or here
    try:
        os.execv(program, [program, *sys.argv[1:]])
    except OSError as problem:
        sys.exit(f"parshall: {program}: {problem.strerror}: install the package again")
