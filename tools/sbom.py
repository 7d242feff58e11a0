#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""sbom.py BUILD PROGRAM OUTPUT [DELIVERED]: what PROGRAM of the folder BUILD is made of, as a CycloneDX 1.6 file
(JSON), checked against its schema. The hash is that of the file DELIVERED (the stripped program), else of PROGRAM.

Nothing is listed by hand: linked_packages.py finds the Debian packages of the libraries and headers in it. Takes
cyclonedx-python-lib[json-validation] (`make sbom`).
"""

import hashlib
import pathlib
import sys
from collections import Counter

from cyclonedx.model import HashAlgorithm, HashType, Property
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.output.json import JsonV1Dot6
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from linked_packages import parts_of, said_by
from packageurl import PackageURL


def component(package, version, files, how):
    hashes = (
        [HashType(alg=HashAlgorithm.SHA_256, content=hashlib.sha256(pathlib.Path(files[0]).read_bytes()).hexdigest())]
        if how != "headers compiled in" and len(files) == 1
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
    build, program, output, *delivered = sys.argv[1:]
    path = pathlib.Path(build, program)
    file = pathlib.Path(delivered[0]) if delivered else path
    version = said_by(str(path), "--version").split()[-1]
    bom = Bom()
    root = Component(
        name=program,
        version=version,
        type=ComponentType.APPLICATION,
        bom_ref=program,
        hashes=[HashType(alg=HashAlgorithm.SHA_256, content=hashlib.sha256(file.read_bytes()).hexdigest())],
    )
    bom.metadata.component = root
    found = parts_of(build, program)
    parts = [component(*part) for part in found]
    for part in parts:
        bom.components.add(part)
    bom.register_dependency(root, parts)
    text = JsonV1Dot6(bom).output_as_string(indent=1)
    problem = JsonStrictValidator(SchemaVersion.V1_6).validate_str(text)
    if problem:
        sys.exit(f"what was made is no CycloneDX 1.6: {problem}")
    pathlib.Path(output).write_text(text + "\n")
    print(f"{output}: " + ", ".join(f"{number} × {how}" for how, number in Counter(how for *_, how in found).items()))


if __name__ == "__main__":
    main()
