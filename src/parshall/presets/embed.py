#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""embed.py HEADER PRESET.toml...: the texts of presets as a constant, in the order of the arguments."""

import pathlib
import sys

presets = "".join(
    f'    {{"{path.stem}", R"toml({path.read_text()})toml"}},\n' for path in map(pathlib.Path, sys.argv[2:])
)
pathlib.Path(sys.argv[1]).write_text(
    f"""// SPDX-License-Identifier: Apache-2.0
// Made by embed.py of the .toml files.
#pragma once
#include "parshall/presets/presets.hpp"

namespace parshall {{
inline constexpr Preset kPresets[] = {{
{presets}}};
}}  // namespace parshall
"""
)
