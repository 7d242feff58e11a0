# SPDX-License-Identifier: Apache-2.0
"""Which of a wheel's native parts the processor can run: _isa/ISA has one each, the best first. What was built here has
one alone, for this processor."""

import functools
import importlib.machinery
import importlib.util
import os
import pathlib
import sys

# As meson.build has them (isas), by the names of /proc/cpuinfo.
_ISAS = {
    "avx512": "avx512f avx512bw avx512cd avx512dq avx512vl aes pclmulqdq vaes vpclmulqdq gfni avx512vbmi avx2 bmi1 "
    "bmi2 fma f16c movbe abm",
    "avx2": "avx2 bmi1 bmi2 fma f16c movbe abm aes pclmulqdq",
    "sse4.2": "sse4_2 sse4_1 ssse3 popcnt cx16",
}


def _flags():
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("flags"):
            return set(line.split())
    return set()


@functools.cache  # an extension that is loaded again is another
def native():
    """The module. PARSHALL_ISA names one; raises ImportError where the processor has not what it asks for."""
    folder = pathlib.Path(__file__).parent / "_isa"
    if not folder.is_dir():
        return importlib.import_module("parshall._native")
    flags = _flags()
    built = {one.name for one in folder.iterdir()}
    here = [isa for isa, needs in _ISAS.items() if isa in built and set(needs.split()) <= flags]
    wanted = os.environ.get("PARSHALL_ISA") or (here[0] if here else "sse4.2")
    if wanted not in here:
        raise ImportError(f"PARSHALL_ISA={wanted}: this processor has {', '.join(here) or 'less than SSE4.2'}")
    (path,) = (folder / wanted).glob("_native*.so")
    name = "parshall._native"
    loader = importlib.machinery.ExtensionFileLoader(name, str(path))
    module = importlib.util.module_from_spec(importlib.util.spec_from_file_location(name, path, loader=loader))
    sys.modules[name] = module
    loader.exec_module(module)
    return module
