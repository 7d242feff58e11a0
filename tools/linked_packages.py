#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""linked_packages.py BUILD PROGRAM: prints the Debian packages that PROGRAM of the folder BUILD is made of: name,
version, and how it got in.

Nothing is listed by hand. Shared libraries are those that the dynamic loader finds, or that runs load when they need
them (src/base/late_library.hpp). Static ones are those that the linker takes objects from, header-only ones those whose
files the compiler read, as ninja has them. Each is the package that its file is of. A static library of
tools/static_libraries.sh is of the package whose source it was built from.
"""

import json
import os
import pathlib
import re
import subprocess
import sys

TOOLCHAIN = re.compile(r"^(libc6-dev|linux-libc-dev|libstdc\+\+-\d+-dev|libgcc-\d+-dev)$")


def said_by(*command, **options):
    return subprocess.run(command, capture_output=True, text=True, check=True, **options).stdout


def is_static(program):
    return " INTERP " not in said_by("readelf", "--program-headers", "--wide", program)


def late_sonames(program):
    """Sonames of the libraries that runs load when they need them: the program has a note of them."""
    if ".note.dlopen" not in said_by("readelf", "--sections", "--wide", program):
        return []
    copied = ["objcopy", "--dump-section", ".note.dlopen=/dev/stdout", program, "/dev/null"]
    note = subprocess.run(copied, capture_output=True, check=True).stdout
    return [name for library in json.loads(note[note.index(b"[") :].rstrip(b"\0")) for name in library["soname"]]


def late_files(program):
    """Files of these libraries."""
    files = {said_by("g++", f"-print-file-name={name}").strip() for name in late_sonames(program)}
    if missing := [path for path in files if not os.path.exists(path)]:
        sys.exit(f"{missing[0]} is not installed, so its package is not known")
    return {os.path.realpath(path) for path in files}


def loaded_by(program):
    """Files of the shared libraries, theirs among them."""
    if is_static(program):
        return set()
    late = late_files(program)
    linked = "".join(said_by("ldd", path) for path in [program, *late])
    return late | {os.path.realpath(path) for path in re.findall(r" => (/\S+)", linked)}


def archives_of(build, program):
    """Static libraries of others that objects are linked from: the linker is asked again, and says which it opens."""
    link = said_by("ninja", "-C", build, "-t", "commands", program).splitlines()[-1]
    said = said_by("sh", "-c", f"{link} -Wl,--trace,--trace -o /dev/null", cwd=build)
    archives = {os.path.realpath(os.path.join(build, path)) for path in re.findall(r"\(?(\S+\.a)\)\S+", said)}
    archives |= {os.path.realpath(os.path.join(build, path)) for path in re.findall(r"^(\S+\.a)\(", said, re.MULTILINE)}
    own = os.path.realpath(build) + "/"
    return {path for path in archives if not path.startswith(own)}


def objects_of(build, program):
    """Those of ninja that are linked into it."""
    inputs = said_by("ninja", "-C", build, "-t", "inputs", program).splitlines()
    return {name for name in inputs if name.endswith(".o")}


def read_for(build, program):
    """Files outside of the project that the compiler read for it."""
    objects, files, wanted = objects_of(build, program), set(), False
    for line in said_by("ninja", "-C", build, "-t", "deps").splitlines():
        if line.startswith(" "):
            if wanted and line.strip().startswith("/usr/"):
                files.add(os.path.realpath(line.strip()))
        else:
            wanted = line.split(":")[0] in objects
    return files


def built_from(path):
    """Returns the package whose source the library was built from by tools/static_libraries.sh, else None."""
    note = pathlib.Path(path).parent / (pathlib.Path(path).stem.removeprefix("lib") + ".of")
    return note.read_text().split()[0] if note.exists() else None


def packages_of(files):
    """{package: (version, files)}. The files of no package are an error: something is in it that nobody can name."""
    present = sorted(path for path in files if os.path.exists(path))
    owner_of = {path: package for path in present if (package := built_from(path))}
    asked = [path for path in present if path not in owner_of]
    either = asked + [path.removeprefix("/usr") for path in asked]  # /lib is /usr/lib; dpkg knows one of the two names
    said = subprocess.run(["dpkg-query", "-S", *either], capture_output=True, text=True).stdout if asked else ""
    for names, path in (line.split(": ", 1) for line in said.splitlines()):
        owner_of[path if path.startswith("/usr/") else "/usr" + path] = names.split(",")[0]
    strangers = [path for path in present if path not in owner_of]
    if strangers:
        sys.exit(f"{strangers[0]} belongs to no Debian package, so it cannot be listed")
    owners = {}
    for path in present:
        owners.setdefault(owner_of[path], []).append(path)
    return {name: (said_by("dpkg-query", "-W", "-f", "${Version}", name), paths) for name, paths in owners.items()}


def parts_of(build, program):
    """Returns [(package, version, files, how)]."""
    path = pathlib.Path(build, program)
    shared, archives = packages_of(loaded_by(path)), {}
    if is_static(path):
        archives = packages_of(archives_of(build, program))
    # What comes with a shared library's headers is that library; what is left was compiled in.
    headers = {
        name: found
        for name, found in packages_of(read_for(build, program)).items()
        if not TOOLCHAIN.match(name.split(":")[0]) and name.split(":")[0] not in {had.split(":")[0] for had in archives}
    }
    kinds = [("shared library", shared), ("static library", archives), ("headers compiled in", headers)]
    return [(name.split(":")[0], *found, how) for how, some in kinds for name, found in some.items()]


def main():
    for name, version, _, how in parts_of(*sys.argv[1:]):
        print(name, version, how)


if __name__ == "__main__":
    main()
