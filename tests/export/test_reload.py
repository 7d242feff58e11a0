# SPDX-License-Identifier: Apache-2.0
"""Outputs of a configuration: [[export]] tables, which SIGHUP has read again while packets come; no packet and no
record is lost by it.

usage: test_reload.py PARSHALL [unittest arguments]
"""

import csv
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "live"))
import side_by_side

PROGRAM = None
TRAFFIC = ["-g", "flows=20000,pace=20000", "--idle", "1ms", "--duration", "60s"]  # or until it is told to stop


class Configured(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.config = self.folder / "watch.toml"

    def configure(self, *tables):
        self.config.write_text('columns = ["+identity"]\n' + "".join(f"\n[[export]]\n{table}\n" for table in tables))

    def table(self, kind, name, more=""):
        return f'kind = "{kind}"\ntarget = "{self.folder / name}"\n{more}'

    def start(self, *arguments):
        process = subprocess.Popen(
            [PROGRAM, "watch", *TRAFFIC, "--config", self.config, "--format", "json", "--top", "1", *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.addCleanup(lambda: (process.kill(), process.wait(), process.stdout.close(), process.stderr.close()))
        self.said = []
        self.listener = threading.Thread(target=lambda: self.said.extend(iter(process.stderr.readline, "")))
        self.listener.start()
        self.wait_for("at most")  # it is announced when the workers run
        return process

    def wait_for(self, words, times=1):
        until = time.monotonic() + 15
        while sum(words in line for line in self.said) < times:
            self.assertLess(time.monotonic(), until, f"{words}: {self.said}")
            time.sleep(0.01)

    def finish(self, process):
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        summary = json.loads(process.stdout.read())["summary"]
        self.assertEqual(process.wait(30), 0, self.said)
        self.listener.join()
        self.assertTrue(summary["accounting"]["balanced"])
        for output in summary["outputs"]:
            for unit in ("records", "packets"):
                self.assertEqual(output["offered"][unit], output["written"][unit] + output["dropped"][unit], output)
        return summary

    def rows(self, name):
        with open(self.folder / name, newline="") as file:
            return {(row["flow_id"], row["record"]): int(row["packets"]) for row in csv.DictReader(file)}

    def test_tables_are_outputs_beside_those_of_the_command_line(self):
        self.configure(
            self.table("csv", "a.csv"), self.table("parquet", "flows", 'every = "1s"\nlevel = 3\npartition = "none"')
        )
        process = self.start("--export", f"csv:{self.folder / 'b.csv'}")
        summary = self.finish(process)
        names = [output["name"] for output in summary["outputs"]]
        self.assertIn(f"parquet:{self.folder / 'flows'},every=1s,level=3,partition=none", names)
        self.assertEqual(self.rows("a.csv"), self.rows("b.csv"))
        self.assertEqual(sum(self.rows("a.csv").values()), summary["accounting"]["counted"])

    def test_outputs_come_and_go(self):
        self.configure(self.table("csv", "first.csv"), self.table("csv", "always.csv"))
        process = self.start()
        time.sleep(0.7)
        self.configure(self.table("csv", "always.csv"), self.table("csv", "last.csv"))
        process.send_signal(signal.SIGHUP)
        self.wait_for("last.csv was added as an output")
        self.wait_for("first.csv was removed as an output")
        time.sleep(0.7)
        summary = self.finish(process)
        first, always, last = self.rows("first.csv"), self.rows("always.csv"), self.rows("last.csv")
        self.assertEqual(sum(always.values()), summary["accounting"]["counted"], "no packet was lost")
        self.assertEqual({**first, **last}, always, "what one lacks the other has")
        self.assertGreater(len(first), 100)
        self.assertGreater(len(last), 100)
        whole = {
            output["name"].rsplit("/")[-1]: output["whole_run"]
            for output in summary["outputs"]
            if output["name"].startswith("csv:")
        }
        self.assertEqual(whole, {"first.csv": False, "always.csv": True, "last.csv": False})

    def test_an_output_whose_name_has_a_time_says_what_it_is_called_and_stays_the_same(self):
        self.configure(self.table("csv", "flows-%Y.csv"))
        process = self.start()
        name = time.strftime("flows-%Y", time.gmtime())
        self.wait_for(f"flows-%Y.csv is {self.folder / name}.csv\n")
        self.configure(self.table("csv", "flows-%Y.csv"), self.table("jsonl", "%Y.jsonl"))
        process.send_signal(signal.SIGHUP)
        self.wait_for(f"%Y.jsonl was added as an output: {self.folder / time.strftime('%Y', time.gmtime())}.jsonl\n")
        self.configure(self.table("jsonl", "%Y.jsonl"))
        process.send_signal(signal.SIGHUP)
        self.wait_for("flows-%Y.csv was removed as an output")
        self.configure(self.table("csv", "flows-%Y.csv"), self.table("jsonl", "%Y.jsonl"))
        process.send_signal(signal.SIGHUP)
        self.wait_for(f"flows-%Y.csv was added as an output: {self.folder / name}-2.csv\n")
        self.assertEqual(sum("%Y.jsonl was added" in line for line in self.said), 1, "it stayed")
        self.finish(process)

    def test_one_that_comes_does_not_write_where_one_that_goes_still_does(self):
        self.configure(self.table("ipfix", "flows"))
        process = self.start()
        for times, table in enumerate((self.table("ipfix", "flows", 'probe = "other"'), self.table("csv", "flows")), 1):
            self.configure(table)
            process.send_signal(signal.SIGHUP)
            self.wait_for("the old configuration remains", times)
            self.assertIn("name another file", self.said[-1])
        self.configure(self.table("ipfix", "flows-%Y"))
        process.send_signal(signal.SIGHUP)
        self.wait_for("flows was removed as an output")
        self.configure(self.table("ipfix", "flows-%Y", 'probe = "other"'))
        process.send_signal(signal.SIGHUP)
        self.wait_for("flows-%Y was removed as an output")
        self.finish(process)
        files = [path for path in self.folder.iterdir() if path.name.startswith("flows")]
        self.assertEqual(len(files), 3)
        done = subprocess.run([PROGRAM, "verify", *files], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_many_times(self):
        self.configure()
        process = self.start()
        for times in range(1, 7):
            self.configure(self.table("jsonl", f"{times}.jsonl"))
            process.send_signal(signal.SIGHUP)
            self.wait_for("was added as an output", times)
        self.wait_for("was removed as an output", 5)
        summary = self.finish(process)
        self.assertGreater(summary["accounting"]["counted"], 0)
        for times in range(1, 7):
            done = subprocess.run(
                [PROGRAM, "verify", self.folder / f"{times}.jsonl"], capture_output=True, text=True, check=False
            )
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_what_is_wrong_is_told_and_changes_nothing(self):
        self.configure(self.table("csv", "a.csv"))
        process = self.start()
        for times, (text, said) in enumerate(
            (
                ("[[export]]\nkind = 7\n", "takes a kind in quotes"),
                ("[[export]]\nkind = \n", "line 3, column 8"),
                ('[[export]]\nkind="x"\ntarget="y"\n', 'there is no "x"'),
                (
                    '[[export]]\nkind="csv"\ntarget="y"\nevry="60s"\n',
                    "line 5, column 1: csv takes kind and target alone, not evry",
                ),
                (
                    '[[export]]\nkind="parquet"\ntarget="y"\nevry="60s"\n',
                    'there is no option "evry"; did you mean every? There are every, size',
                ),
                (
                    f'[[export]]\nkind="csv"\ntarget="{self.folder}/a"\n[[export]]\nkind="jsonl"\ntarget="{self.folder}'
                    f'/a"\n',
                    "are the same file",
                ),
                (
                    '# all the same\n\nidle = "1s"\n',
                    "line 4, column 8: only [[export]] tables may change while a run goes on; "
                    "idle needs a restart of parshall",
                ),
                ('idle = "1s"\nidle = "2s"\n', "line 3, column"),
                ("idle = 1s\n", "line 2, column"),
                ('idle = "1s" junk\n', "line 2, column"),
                (
                    f'[[exports]]\nkind="csv"\ntarget="{self.folder}/a"\n',
                    "line 2, column 3: exports is a table, and there are none but [[export]]",
                ),
                ("[[[\n", "line 2, column"),
            ),
            1,
        ):
            self.config.write_text('columns = ["+identity"]\n' + text)
            process.send_signal(signal.SIGHUP)
            self.wait_for("the old configuration remains", times)
            self.assertIn(said, self.said[-1])
        self.config.write_text("")
        process.send_signal(signal.SIGHUP)
        self.wait_for("columns is not there any more")
        self.config.unlink()
        process.send_signal(signal.SIGHUP)
        self.wait_for("No such file")
        self.config.write_text(
            f'columns = ["+identity"]\n[[export]]\n{self.table("csv", "a.csv")}'
            f"\n[[export]]\n{self.table('csv', 'absent/b.csv')}"
        )
        process.send_signal(signal.SIGHUP)
        self.wait_for("absent/b.csv")
        summary = self.finish(process)
        self.assertEqual(sum(self.rows("a.csv").values()), summary["accounting"]["counted"])

    def test_a_configuration_that_cannot_be_read_or_would_take_the_stack_changes_nothing(self):
        self.configure(self.table("csv", "a.csv"))
        process = self.start()
        self.config.write_text('columns = ["+identity"]\n[[export]]\n' + ".".join("a" * 200000) + " = 1\n")
        process.send_signal(signal.SIGHUP)
        self.wait_for(
            "column 20002: a line has more than 10000 dots, so a key may have too many parts; "
            "the old configuration remains"
        )
        self.config.unlink()
        self.config.mkdir()
        process.send_signal(signal.SIGHUP)
        self.wait_for("watch.toml: Is a directory; the old configuration remains")
        summary = self.finish(process)
        self.assertEqual(sum(self.rows("a.csv").values()), summary["accounting"]["counted"])

    def test_what_is_gone_goes_on_where_what_is_new_cannot_be_opened(self):
        self.configure(self.table("csv", "a.csv"))
        process = self.start()
        self.configure(self.table("csv", "absent/b.csv"))
        process.send_signal(signal.SIGHUP)
        self.wait_for("a.csv remains open: an output that may replace it could not be opened")
        (self.folder / "absent").mkdir()
        time.sleep(0.3)
        process.send_signal(signal.SIGHUP)
        self.wait_for("absent/b.csv was added as an output")
        self.wait_for("a.csv was removed as an output")
        summary = self.finish(process)
        a, b = self.rows("a.csv"), self.rows("absent/b.csv")
        self.assertEqual(sum({**a, **b}.values()), summary["accounting"]["counted"], "no packet was lost")
        self.assertGreater(len(b), 100)

    def test_a_wrong_table_ends_a_start(self):
        self.configure('kind = "csv"')
        done = subprocess.run(
            [PROGRAM, "watch", *TRAFFIC, "--config", self.config],
            capture_output=True,
            text=True,
            timeout=30,
            check=False,
        )
        self.assertEqual(done.returncode, 2)
        self.assertIn("line 3, column 1: [[export]] takes a target in quotes", done.stderr)


if __name__ == "__main__":
    PROGRAM = os.path.abspath(sys.argv.pop(1))
    side_by_side.main(PROGRAM, lanes=3)
