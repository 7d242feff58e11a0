#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""late_packages.py PROGRAM: prints the Debian packages of the libraries that PROGRAM loads in runs that need them, as a
list for debian/control."""

import sys

from linked_packages import late_files, packages_of

if __name__ == "__main__":
    packages = sorted(name.split(":")[0] for name in packages_of(late_files(sys.argv[1])))
    print(", ".join(packages) or sys.exit(f"{sys.argv[1]} names no library that it loads"))
