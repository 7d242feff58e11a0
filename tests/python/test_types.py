# SPDX-License-Identifier: Apache-2.0
"""Signatures and types of the Python package: they have the settings that the program takes, and mypy finds a setting
that is none.

usage: test_types.py [unittest arguments], by a Python that has parshall; what needs mypy is skipped without it
"""

import importlib.util
import inspect
import json
import pathlib
import pydoc
import subprocess
import sys
import tempfile
import unittest

import parshall
from parshall import _signatures

ROOT = pathlib.Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tools"))
import python_stub

RUNS = ("flows", "classify", "windows", "watch")

GOOD = """
import pathlib

import parshall

flows = parshall.flows("x.pcap", idle="15s", active=60, columns=["+names"], key="src-dst", workers=2, biflow=True)
flows = parshall.flows(pathlib.Path("x.pcap"), columns="all", count=1e6, filter="tcp port 443", idle=None)
columns: list[str] = [f"{column.name} ({column.unit})" for column in flows.schema]
for flow in flows:
    print(flow.src_ip)
for batch in flows.batches():
    rows: int = batch.num_rows
with parshall.flows(interface="eth0", export=["csv:x.csv"]) as live:
    live.close()
account = live.accounting
parshall.flows("x.pcap", plugins=lambda batch: {"two": [2] * batch.num_rows}, idle="15s")
assert account is not None
model: parshall.Model = parshall.train("x", [], rules=["DNS=port 53"], model="forest", trees=8, idle="15s")
evaluation = model.evaluation
accuracy: float = evaluation.accuracy if evaluation else 0.0
parshall.classify("x.pcap", model=model, idle="15s").to_pandas()
model.save("m.toml")
kinds: list[str] = parshall.Model.load("m.toml").classes
windows: parshall.Watch = parshall.watch("x.pcap", every="1s", tasks=["superspreaders"])
for window in windows:
    packets: int = window.packets
account = parshall.watch("x.pcap", on_window=lambda window: window.packets > 0)
for finding in parshall.windows("x.pcap", window="1s", tasks="superspreaders"):
    print(finding["task"])
frames: parshall.Frames = parshall.send(generate="flows=9", count=100, rate="1Mpps")
first: bytes = bytes(frames[0])
sent: int = parshall.send("x.pcap", read="y.pcap", loops=3).left_out
between = parshall.compare("up.pcap", pathlib.Path("down.pcap"), nat=True)
lost: int = between.there["packets_lost"]
between.to_arrow()
"""

# Each line is an error, and mypy's message has the text behind it.
BAD = """
parshall.flows("x.pcap", idel="15s")  # Unexpected keyword argument "idel" for "flows"
parshall.flows("x.pcap", key="src-dest")  # incompatible type "Literal['src-dest']"
parshall.flows("x.pcap", biflow="yes")  # expected "bool | None"
parshall.flows("x.pcap", format="csv")  # Unexpected keyword argument "format"
parshall.classify("x.pcap")  # "classify"
parshall.windows("x.pcap")  # "windows"
parshall.watch("x.pcap", windw="1s")  # "watch"
parshall.train("x", model="c4.5")  # Literal['naive-bayes', 'c45', 'forest']
parshall.train("x", packtes=4)  # Unexpected keyword argument "packtes"
parshall.send("x.pcap", cuont=4)  # "send"
parshall.compare("x.pcap")  # Missing positional argument "down"
parshall.flows("x.pcap").schema[0].nmae  # has no attribute "nmae"
"""


def described(command):
    """The options of a command, by their names in Python, as the program tells them."""
    program = pathlib.Path(sys.executable).parent / "parshall"
    told = subprocess.run([program, "--describe-options"], capture_output=True, text=True, check=True).stdout
    (tree,) = (one for one in json.loads(told)["commands"] if one["name"] == command)
    names = [(name, option) for option in tree["options"] for name in option["names"] if name.startswith("--")]
    return {name[2:].replace("-", "_"): option for name, option in names}


def settings_of(function):
    return set(inspect.signature(getattr(parshall, function)).parameters)


class Signatures(unittest.TestCase):
    def test_the_stub_is_what_the_settings_give(self):
        self.assertEqual(python_stub.STUB.read_text(), python_stub.stub(), "run tools/python_stub.py")

    def test_settings_are_options_of_the_program(self):
        options = described("watch")
        for function, own in (
            ("flows", {"source", "progress", "plugins"}),
            ("classify", {"source", "progress", "plugins"}),
            ("windows", {"source", "progress"}),
            ("watch", {"source", "progress", "on_window"}),
        ):
            self.assertEqual(settings_of(function) - own - set(options), set(), function)
        self.assertEqual(settings_of("train") - {"source", "labels", "rules"} - set(described("train")), set())
        self.assertEqual(settings_of("send") - {"to"} - set(described("send")), set())

    def test_options_that_are_no_settings_are_those_of_the_command_line_alone(self):
        alone = "format output every spool user state sandbox sandbox_allow live web web_token top sort quiet hook"
        missing = set(described("watch")) - settings_of("flows") - {"help", "help_all"}
        self.assertEqual(missing, set(alone.split()))

    def test_every_setting_is_taken(self):
        for name, kind, takes, _, shown in parshall._native.settings():
            name = name.replace("-", "_")
            value = True if kind == "flag" else 0.05 if takes == "NUMBER" else shown or takes.strip("{}").split(",")[0]
            with self.subTest(name):
                try:
                    parshall.flows(**{"generate": "flows=3", "count": 10, name: value}).close()
                except parshall.Error as problem:  # of the value, not of the setting
                    self.assertNotRegex(str(problem), r"no setting|\[\[|takes a")

    def test_choices_of_training_are_those_of_the_program(self):
        takes = described("train")["model"]["takes"]
        annotation = dict(_signatures.signatures())["train"].parameters["model"].annotation
        self.assertEqual(
            eval(annotation.removesuffix(" | None").removeprefix("Literal")),
            takes[takes.index("{") + 1 : -1].split(","),
        )

    def test_help_is_short_and_tells_each_setting(self):
        text = pydoc.render_doc(parshall.flows, renderer=pydoc.plaintext)
        self.assertIn("idle=None", text)
        self.assertIn("        idle: End a record after this time without a packet", text)
        self.assertIn("before idle=", text)  # options as Python names them
        self.assertLess(max(map(len, text.split("Settings, all of them")[1].splitlines())), 120)

    def test_a_setting_that_is_none_is_named_with_the_nearest(self):
        for call, message in (
            (lambda: parshall.flows("x.pcap", idel="15s"), "idel is no setting of a run: did you mean idle=?"),
            (lambda: parshall.watch("x.pcap", wrokers=2), "wrokers is no setting of a run: did you mean workers=?"),
            (lambda: parshall.flows("x.pcap", zzz=2), "zzz is no setting of a run"),
            (lambda: parshall.train("x", tress=2), "tress is no setting of parshall train: did you mean trees=?"),
            (lambda: parshall.send(cuont=2), "cuont is no setting of parshall send: did you mean count=?"),
        ):
            with self.assertRaises(parshall.Error) as raised:
                call()
            self.assertEqual(str(raised.exception), message)


@unittest.skipIf(importlib.util.find_spec("mypy") is None, "SKIPPED: mypy is not installed")
class Types(unittest.TestCase):
    def checked(self, code):
        """mypy's errors by line."""
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "checked.py"
            path.write_text(code)
            done = subprocess.run(
                [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", "--cache-dir", folder, path.name],
                cwd=folder,
                capture_output=True,
                text=True,
                check=False,
            )
        self.assertEqual(done.stderr, "")
        errors = {}
        for line in done.stdout.splitlines():
            _, number, message = line.split(":", 2)
            errors.setdefault(int(number), []).append(message)
        return errors

    def test_good_calls_pass(self):
        self.assertEqual(self.checked(GOOD), {})

    def test_bad_calls_do_not(self):
        errors = self.checked("import parshall" + BAD)
        for number, line in enumerate(BAD.strip().splitlines(), 2):
            with self.subTest(line):
                self.assertIn(line.split("  # ")[1], "\n".join(errors.get(number, [])))


if __name__ == "__main__":
    unittest.main()
