#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The flows of a capture by NFStream, into CSV: nfstream_flows.py CAPTURE CSV. Without dissection, which it does by
default (nDPI), as the others do none; one process, and a conversation stays one record."""

import sys

from nfstream import NFStreamer

WITHOUT_END_S = 7 * 24 * 3600

if __name__ == "__main__":
    capture, table = sys.argv[1:]
    NFStreamer(
        source=capture, n_dissections=0, n_meters=1, idle_timeout=WITHOUT_END_S, active_timeout=WITHOUT_END_S
    ).to_csv(path=table)
