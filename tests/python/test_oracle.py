# SPDX-License-Identifier: Apache-2.0
"""Statistics of flows against numpy: parshall.flows(columns=[...]) beside what numpy makes of the same packets, read by
a reader of its own (frames.py).

usage: test_oracle.py [unittest arguments], by a Python that has parshall, pandas and numpy; PARSHALL_THOROUGH=1 takes
all captures
"""

import math
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import warnings

import frames
import numpy

import parshall

TRACES = pathlib.Path(os.environ.get("PARSHALL_TRACES", pathlib.Path(__file__).parents[2] / "../shared/traces"))
FEW = 150  # captures that are tried, where not all are asked for
LEAST = 30  # of these that the plain reader is sure of
FLOAT32 = 2.0**-23  # a rounding to single precision, relative
PERCENTILES = (1, 25, 50, 75, 90, 99)
PERCENTILE_ERROR = 0.05  # docs/accuracy-statistics.md, histogram
PERCENTILE_MOST = 2**40 - 1  # of gap and iat
LONGEST = 2**31 - 1  # a frame's length at most, where a damaged capture says more (docs/accuracy-captures.md)
VARIABLES = {
    "gap": ("packets", lambda of: numpy.diff(of["place"]) - 1),
    "iat": ("ns", lambda of: numpy.maximum(numpy.diff(of["time_ns"]), 0)),
    "size": ("bytes", lambda of: numpy.minimum(of["wire_bytes"], LONGEST)),
    "ip_size": ("bytes", lambda of: of["ip_bytes"]),
    "ttl": ("", lambda of: of["ttl"]),
}
SAMPLES = ("last", "min", "max")
STATISTICS = [
    f"{variable}_{what}" for variable in VARIABLES for what in (*SAMPLES, "mean", "sd", *(f"p{p}" for p in PERCENTILES))
]


def column_of(statistic):
    unit = VARIABLES[statistic.rpartition("_")[0]][0]
    return f"{statistic}_{unit}" if unit else statistic


def nearest_rank(sorted_samples, percent):
    return sorted_samples[max(0, math.ceil(percent * len(sorted_samples) / 100) - 1)]


def expected(samples, most):
    """statistic -> (value or None, relative, absolute error that is allowed)."""
    n = len(samples)
    if n == 0:
        return {what: (None, 0, 0) for what in (*SAMPLES, "mean", "sd", *(f"p{p}" for p in PERCENTILES))}
    exact = samples.astype(numpy.longdouble)
    spread = float(exact.std(ddof=1)) if n > 1 else None
    # One pass in double precision: what is lost is relative to where the samples lie, not to how far they spread.
    lost = 1e-12 * float(numpy.abs(exact).max())
    ordered = numpy.sort(samples)
    return {
        "last": (int(samples[-1]), 0, 0),
        "min": (int(ordered[0]), 0, 0),
        "max": (int(ordered[-1]), 0, 0),
        "mean": (float(exact.mean()), FLOAT32, lost),
        "sd": (spread, FLOAT32, lost),
        **{f"p{p}": (min(int(nearest_rank(ordered, p)), most), PERCENTILE_ERROR + FLOAT32, 0) for p in PERCENTILES},
    }


def present(value):
    return None if value is None or value != value else value


class Oracle(unittest.TestCase):
    def compare(self, path, **settings):
        """How many flows were compared: all of the capture."""
        truth = frames.by_flow(path.read_bytes())
        with parshall.flows(path, columns=["+" + STATISTICS[0], *STATISTICS[1:]], flows=65536, **settings) as flows:
            rows = flows.to_arrow().to_pylist()
        self.assertEqual(flows.accounting["counted"], sum(len(of["place"]) for of in truth.values()))
        ours = {(row["src_ip"], row["src_port"], row["dst_ip"], row["dst_port"], row["protocol"]): row for row in rows}
        self.assertEqual(ours.keys(), truth.keys())
        for flow, of in truth.items():
            for variable, (_, samples_of) in VARIABLES.items():
                samples = samples_of(of)
                for what, (value, relative, absolute) in expected(
                    samples, PERCENTILE_MOST if variable in ("gap", "iat") else LONGEST
                ).items():
                    got = present(ours[flow][column_of(f"{variable}_{what}")])
                    if value is None or got is None:
                        self.assertEqual(got, value, (path.name, flow, variable, what))
                    else:
                        self.assertLessEqual(
                            abs(got - value),
                            relative * abs(value) + absolute,
                            (path.name, flow, variable, what, got, value),
                        )
        return len(truth)

    def test_captures_have_what_numpy_makes_of_them(self):
        if not (TRACES / "pcap").is_dir():
            self.skipTest("PARSHALL_TRACES is not there")
        files = sorted((TRACES / "pcap").glob("*.pcap*"))
        if not os.environ.get("PARSHALL_THOROUGH"):
            files = files[:: max(1, len(files) // FEW)]
        compared = 0
        for path in files:
            try:
                frames.by_flow(path.read_bytes())
            except frames.Unsupported:
                continue
            with self.subTest(path=path.name), warnings.catch_warnings():
                warnings.simplefilter("error", parshall.LossWarning)
                self.assertGreaterEqual(self.compare(path), 0)
                compared += 1
        print(f"{compared} captures", file=sys.stderr)
        self.assertGreaterEqual(compared, LEAST)

    def test_a_generated_capture_has_what_numpy_makes_of_it(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "made.pcap"
            traffic = "flows=300,dist=zipf:1.1,size=64-1518,ipv6=0.3,rate=100000,packets=60000,seed=7"
            subprocess.run(
                [sys.executable, "-m", "parshall", "send", "-g", traffic, "--count", "60000", "-w", str(path)],
                check=True,
                capture_output=True,
            )
            self.assertGreater(self.compare(path), 250)
            self.assertGreater(self.compare(path, workers=2), 250)


if __name__ == "__main__":
    unittest.main()
