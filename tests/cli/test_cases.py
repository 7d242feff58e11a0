# SPDX-License-Identifier: Apache-2.0
"""Captures of tests/cases whose account is known.

usage: test_cases.py PARSHALL [unittest arguments]
"""

import json
import os
import unittest

from program import DONE, Case, rows, run

CASES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "cases")
ARRANGEMENTS = [[], ["--workers", "2"], ["--workers", "4"], ["--threads", "pipeline"]]


def report_of(name, *arguments, stdin=False):
    path = os.path.join(CASES, name)
    with open(path, "rb") as file:
        done = run(
            "watch",
            "-q",
            "-r",
            "-" if stdin else path,
            "--format",
            "json",
            *arguments,
            stdin=file.read() if stdin else None,
        )
    assert done.status == DONE, done.lines
    return json.loads(done.out)


class Cases(Case):
    def test_a_time_stamp_tag_is_passed(self):
        account = report_of("cisco_ttag.pcap")["summary"]["accounting"]
        self.assertEqual((account["counted"], account["not_ip"]), (1, 0))

    def test_packets_of_a_wlan_aggregate_that_are_not_looked_at_are_in_the_account(self):
        for arrangement in ARRANGEMENTS:
            report = report_of("wlan_amsdu.pcap", *arrangement)
            account = report["summary"]["accounting"]
            self.assertEqual(
                (account["offered"], account["counted"], account["later_msdus"], account["balanced"]),
                (3, 1, 2, True),
                arrangement,
            )
        text = run("watch", "-q", "-r", os.path.join(CASES, "wlan_amsdu.pcap")).out.decode()
        self.assertIn("3 offered = 2 later_msdus + 1 counted", text)

    def test_losses_that_a_capture_tells_are_losses(self):
        name = "losses_told_in_pcapng.pcapng"
        for arrangement in ARRANGEMENTS:
            for stdin in (False, True):
                report = report_of(name, "--columns", "identity", *arrangement, stdin=stdin)
                summary = report["summary"]
                self.assertEqual(
                    (summary["accounting"]["nic_missed"], summary["accounting"]["offered"]), (5, 15), arrangement
                )
                self.assertAlmostEqual(summary["loss_ratio"], 5 / 15)
                for flow in report["flows"]:
                    self.assertEqual((flow["exact"], flow["missed_packets_at_most"]), (False, 5), arrangement)
        done = run("watch", "-q", "-r", os.path.join(CASES, name), "--columns", "identity", "--format", "csv")
        self.assertEqual([(flow["exact"], flow["missed_packets_at_most"]) for flow in rows(done.out)], [("false", "5")])
        text = run("watch", "-q", "-r", os.path.join(CASES, name)).out.decode()
        self.assertIn("15 offered = 5 nic_missed", text)


if __name__ == "__main__":
    unittest.main()
