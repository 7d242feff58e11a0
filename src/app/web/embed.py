#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""embed.py NAME PAGE.html PAGE.css SCRIPT.js... HEADER: the page with its style and script as the constant kNAME, and
the policy that lets a browser run what is in it, by its hash, and nothing else."""

import base64
import hashlib
import pathlib
import re
import sys

name = sys.argv[1]
page, style, *scripts = (pathlib.Path(path).read_text() for path in sys.argv[2:-1])
script = "".join(scripts)
page = page.replace("<style></style>", f"<style>{style}</style>")
page = page.replace("<script></script>", f"<script>{script}</script>")


def source(element):
    (text,) = re.findall(f"<{element}>(.*?)</{element}>", page, re.DOTALL)
    return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"


policy = (
    f"default-src 'none'; connect-src 'self'; img-src data:; script-src {source('script')}; style-src "
    f"{source('style')}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
bytes_ = page.encode()
lines = ",\n".join(",".join(map(str, bytes_[at : at + 40])) for at in range(0, len(bytes_), 40))
pathlib.Path(sys.argv[-1]).write_text(
    f"""// SPDX-License-Identifier: Apache-2.0
// Made by embed.py.
#pragma once
#include <string_view>

namespace parshall::web {{
inline constexpr std::string_view k{name}Policy = "{policy}";
inline constexpr unsigned char k{name}Bytes[] = {{
{lines}
}};
inline const std::string_view k{name}(reinterpret_cast<const char*>(k{name}Bytes), sizeof k{name}Bytes);
}}  // namespace parshall::web
"""
)
