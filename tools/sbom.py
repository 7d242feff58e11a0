#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""sbom.py BUILD PROGRAM OUTPUT: what PROGRAM of the folder BUILD is made of, as a CycloneDX 1.6 file (JSON), checked
against its schema.

Nothing is listed by hand: shared libraries are those that the dynamic loader finds, header-only ones those whose files
the compiler read, as ninja has them. Each is the Debian package that its file is of. Takes
cyclonedx-python-lib[json-validation] (`make sbom`).
"""

import hashlib
import os
import pathlib
import re
import subprocess
import sys

from cyclonedx.model import HashAlgorithm, HashType, Property
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.output.json import JsonV1Dot6
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from packageurl import PackageURL

TOOLCHAIN = re.compile(r"^(libc6-dev|linux-libc-dev|libstdc\+\+-\d+-dev|libgcc-\d+-dev)$")


def said_by(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def loaded_by(program):
    """Files of the shared libraries, theirs among them."""
    return {os.path.realpath(path) for path in re.findall(r" => (/\S+)", said_by("ldd", program))}


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


def packages_of(files):
    """{package: (version, files)}. The files of no package are an error: something is in it that nobody can name."""
    present = sorted(path for path in files if os.path.exists(path))
    either = present + [
        path.removeprefix("/usr") for path in present
    ]  # /lib is /usr/lib; dpkg knows one of the two names
    said = subprocess.run(["dpkg-query", "-S", *either], capture_output=True, text=True).stdout
    owner_of = {
        path if path.startswith("/usr/") else "/usr" + path: names.split(",")[0]
        for names, path in (line.split(": ", 1) for line in said.splitlines())
    }
    strangers = [path for path in present if path not in owner_of]
    if strangers:
        sys.exit(f"{strangers[0]} is of no package: sbom.py cannot tell what it is")
    owners = {}
    for path in present:
        owners.setdefault(owner_of[path], []).append(path)
    return {name: (said_by("dpkg-query", "-W", "-f", "${Version}", name), paths) for name, paths in owners.items()}


def component(name, version, files, how):
    package = name.split(":")[0]
    hashes = (
        [HashType(alg=HashAlgorithm.SHA_256, content=hashlib.sha256(pathlib.Path(files[0]).read_bytes()).hexdigest())]
        if how == "shared library" and len(files) == 1
        else []
    )
    return Component(
        name=package,
        version=version,
        type=ComponentType.LIBRARY,
        bom_ref=f"{package}@{version}",
        hashes=hashes,
        purl=PackageURL("deb", "debian", package, version),
        properties=[Property(name="parshall:how", value=how)],
    )


def main():
    build, program, output = sys.argv[1:]
    path = pathlib.Path(build, program)
    version = said_by(str(path), "--version").split()[-1]
    bom = Bom()
    root = Component(
        name=program,
        version=version,
        type=ComponentType.APPLICATION,
        bom_ref=program,
        hashes=[HashType(alg=HashAlgorithm.SHA_256, content=hashlib.sha256(path.read_bytes()).hexdigest())],
    )
    bom.metadata.component = root
    shared = packages_of(loaded_by(path))
    # What comes with a shared library's headers is that library; what is left was compiled in.
    compiled = {
        name: found
        for name, found in packages_of(read_for(build, program)).items()
        if not TOOLCHAIN.match(name.split(":")[0])
    }
    parts = [component(name, *found, "shared library") for name, found in shared.items()]
    parts += [component(name, *found, "headers compiled in") for name, found in compiled.items()]
    for part in parts:
        bom.components.add(part)
    bom.register_dependency(root, parts)
    text = JsonV1Dot6(bom).output_as_string(indent=1)
    problem = JsonStrictValidator(SchemaVersion.V1_6).validate_str(text)
    if problem:
        sys.exit(f"what was made is no CycloneDX 1.6: {problem}")
    pathlib.Path(output).write_text(text + "\n")
    print(f"{output}: {len(shared)} packages of shared libraries, {len(compiled)} of headers")


if __name__ == "__main__":
    main()
