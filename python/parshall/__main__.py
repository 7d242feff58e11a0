# SPDX-License-Identifier: Apache-2.0
"""The command line: `python -m parshall watch ...` becomes the program that came with the package."""
import os
import sys
import sysconfig

if __name__ == "__main__":
    program = os.path.join(sysconfig.get_path("scripts"), "parshall")
    try:
        os.execv(program, [program, *sys.argv[1:]])
    except OSError as problem:
        sys.exit(f"parshall: {program}: {problem.strerror}: install the package again")
