#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""web_pictures.py [PARSHALL]: the page of a run (parshall watch --web) as a browser shows it: light, dark, narrow, and
with an opened host, into docs/web. Needs chromium."""

import base64
import pathlib
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "app"))
import web_run  # noqa: E402
from browser import Browser  # noqa: E402

SECONDS_BEFORE = 20
TRAFFIC = "flows=20000,dist=zipf:1.1,size=imix,protocol=sessions,ipv6=0.1,resend=0.001,pace=50000"
OPTIONS = (
    "--flows 256Ki --idle 5s --columns +size_mean,gap_p99 --local 128.0.0.0/1 --preset office "
    "--task heavy-hitters:threshold=5%"
).split()
OPEN_A_HOST = "showRowsBy('host')", "state.rows.by === 'host'", "document.querySelector('#flows button').click()"


def save(browser, name, size):
    browser.resize(*size)
    time.sleep(2)
    picture = browser.call("Page.captureScreenshot")
    (ROOT / "docs" / "web" / f"{name}.png").write_bytes(base64.b64decode(picture["data"]))


def main():
    web_run.PROGRAM = str(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "build" / "parshall").resolve())
    with tempfile.TemporaryDirectory() as folder:
        outputs = "--export", f"csv:{folder}/flows.csv", "--export", f"jsonl:{folder}/flows.jsonl"
        with web_run.Run(*OPTIONS, *outputs, traffic=["-g", TRAFFIC]) as run, Browser() as browser:
            time.sleep(SECONDS_BEFORE)
            browser.go(f"http://127.0.0.1:{run.port}/")
            for name, size, scheme in (
                ("light", (1280, 1240), "light"),
                ("dark", (1280, 1240), "dark"),
                ("narrow", (380, 1400), "light"),
            ):
                browser.show_as(scheme)
                save(browser, name, size)
            show, is_shown, click = OPEN_A_HOST
            browser.ask(show)
            browser.wait_for(is_shown)
            browser.ask(click)
            browser.wait_for("state.rows.by === 'conversation'")
            save(browser, "opened", (1280, 1240))
            assert not browser.problems, browser.problems


if __name__ == "__main__":
    main()
