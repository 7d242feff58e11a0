# SPDX-License-Identifier: Apache-2.0
"""The page in Chromium: what it shows on every screen, and that a keyboard is enough.

usage: test_browser.py PARSHALL [unittest arguments]
"""

import re
import shutil
import sys
import unittest

import web_run
from browser import Browser
from web_run import Run

TASKS = "--task", "heavy-hitters:key=src,top=60,min-packets=0,min-rate=0", "--window", "100ms"
TRAFFIC = ["-g", "flows=80,protocol=sessions,pace=20000", "--idle", "1h"]
FIRST_ROW = "document.querySelector('#flows tr')"
PRESSED = "document.querySelector('#kinds [aria-pressed=true]')?.textContent"


def text_of(element):
    return f"document.getElementById('{element}')?.textContent"


@unittest.skipUnless(shutil.which("chromium"), "SKIPPED: no chromium")
class Page(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.run_ = Run("--export", "csv:/dev/null", "--local", "10.0.0.0/8", *TASKS, traffic=TRAFFIC)
        cls.browser = Browser()

    @classmethod
    def tearDownClass(cls):
        cls.browser.__exit__()
        cls.run_.__exit__()

    def setUp(self):
        self.browser.resize(1000, 900)
        self.open_page()

    def tearDown(self):
        self.assertEqual(self.browser.problems, [])

    def open_page(self):
        self.browser.go("about:blank")
        self.browser.go(f"http://127.0.0.1:{self.run_.port}/")
        self.browser.wait_for(f"{text_of('link')} === 'live' && {FIRST_ROW} !== null")

    def test_every_part_has_its_content_on_every_screen(self):
        for width in (380, 1000, 1600):
            for scheme in ("light", "dark"):
                with self.subTest(width=width, scheme=scheme):
                    self.browser.resize(width, 900)
                    self.browser.show_as(scheme)
                    self.open_page()
                    self.browser.wait_for("document.querySelector('#alarms .alarm svg') !== null")
                    self.assertLessEqual(self.browser.ask("document.documentElement.scrollWidth"), width)
                    self.browser.wait_for(f"/^\\d[\\d.]* kpps$/.test({text_of('pps')})")
                    self.assertRegex(self.browser.ask(text_of("protocols")), r"TCP[\d.]+ [kM]bit/s, [\d.]+ %")
                    self.assertRegex(self.browser.ask(text_of("services")), r"(TCP|UDP) \d+[\d.]+ [kM]bit/s")
                    self.assertRegex(self.browser.ask(text_of("directions")), r"outside[\d.]+ [kM]bit/s")
                    self.assertRegex(
                        self.browser.ask("document.querySelector('#alarms b').textContent"), "heavy-hitters  "
                    )
                    self.assertRegex(self.browser.ask(text_of("outputs")), "csv:/dev/null")
                    self.assertEqual(self.browser.ask(PRESSED), "conversations")
                    bold = self.browser.ask(
                        "[...document.querySelectorAll('#kinds button, #windows button, #idle')]"
                        ".filter(each => getComputedStyle(each).fontWeight >= 600).map(each => each.textContent)"
                    )
                    self.assertEqual(bold, ["conversations", "10 s"])
                    back = self.browser.ask("getComputedStyle(document.body).backgroundColor")
                    self.assertEqual(sum(map(int, re.findall(r"\d+", back))) > 382, scheme == "light")

    def test_on_a_narrow_screen_the_numbers_come_first(self):
        for width, first in ((380, "bit/s"), (1000, "protocol")):
            self.browser.resize(width, 900)
            self.browser.wait_for(f"document.querySelector('#names th').dataset.name === '{first}'")
            self.assertEqual(self.browser.ask(f"{FIRST_ROW}.children.length"), 10)

    def test_a_keyboard_is_enough(self):
        browser = self.browser
        browser.ask(
            "window.asked = []; window.really = fetch;"
            "window.fetch = (...all) => { asked.push(String(all[0])); return really(...all); }; 1"
        )
        browser.press("f")
        browser.wait_for(f"{PRESSED} === 'hosts' && document.querySelector('#names th').dataset.name === 'host'")
        browser.press("f")
        browser.wait_for(f"{PRESSED} === 'services' && document.querySelector('#names th').dataset.name === 'protocol'")
        self.go_to("kinds", "hosts")
        browser.press("Enter")
        browser.wait_for("state.rows.by === 'host'")
        self.go_to("names", "packets")
        browser.press("Enter")
        browser.wait_for("document.querySelector('#names [aria-sort=descending]')?.dataset.name === 'packets'")
        browser.wait_for(f"{FIRST_ROW}.querySelector('button') !== null")
        host = browser.ask(f"{FIRST_ROW}.querySelector('button').textContent")
        self.go_to("flows", host)
        browser.press("Enter")
        browser.wait_for("state.rows.by === 'conversation'")
        browser.wait_for(f"{text_of('within')} === 'host {host}'")
        rows = browser.ask("[...document.querySelectorAll('#flows tr')].map(row => row.textContent)")
        self.assertTrue(rows)
        for row in rows:
            self.assertIn(host, row)
        browser.press("2")
        browser.wait_for("state.rows.window_s === 2")
        browser.press("o")
        browser.wait_for("document.querySelector('#names [aria-sort=descending]').dataset.name === 'bytes'")
        browser.press("z")
        browser.wait_for("document.getElementById('idle').ariaPressed === 'true'")
        browser.wait_for("asked.some(each => each.includes('idle=1'))")
        browser.press("f")
        browser.wait_for("state.rows.by === 'host'")
        browser.press("f")
        browser.press("/")
        browser.write("proto tcp and pps > 1")
        browser.wait_for("state.rows.by === 'service' && state.rows.rows.every(row => row[0] === 'TCP')")
        browser.press("Escape")
        browser.wait_for("document.getElementById('filter').value === '' && document.activeElement === document.body")
        browser.press("Escape")
        browser.wait_for(f"state.rows.by === 'host' && {text_of('within')} === ''")
        self.assertEqual(browser.ask("document.querySelector('#names [aria-sort=descending]').dataset.name"), "packets")
        browser.wait_for(f"document.activeElement.textContent === '{host}'")

    def test_a_row_in_focus_stays_in_focus_when_rows_are_new(self):
        self.go_to("kinds", "hosts")
        self.browser.press("Enter")
        self.browser.wait_for("state.rows.by === 'host'")
        self.go_to("flows", self.browser.ask(f"{FIRST_ROW}.querySelector('button').textContent"))
        name = self.browser.ask("document.activeElement.dataset.name")
        number = self.browser.ask("state.summary.report")
        self.browser.wait_for(f"state.summary.report > {number + 1}")
        self.assertEqual(self.browser.ask("document.activeElement.dataset.name"), name)

    def test_an_opened_host_has_its_alarms_though_they_are_not_the_latest(self):
        self.go_to("kinds", "hosts")
        self.browser.press("Enter")
        self.browser.wait_for("state.rows.by === 'host' && state.alarms.latest.length === 50")
        known = set(self.browser.ask("state.alarms.latest.map(each => each.alarm.key_text)"))
        flows = self.run_.state("by=flow")["rows"]["rows"]
        host = next(end for end in (flow[1].rsplit(":", 1)[0] for flow in flows) if end not in known)
        self.browser.press("/")
        self.browser.write(f"host {host}")
        self.browser.wait_for(f"state.rows.rows.length === 1 && {FIRST_ROW}.textContent.startsWith('{host}')")
        self.go_to("flows", host)
        self.browser.press("Enter")
        self.browser.wait_for(f"{text_of('alarms-told')}.includes('of host {host}')")
        self.browser.wait_for("document.querySelectorAll('#alarms .alarm').length > 0")
        cards = self.browser.ask("[...document.querySelectorAll('#alarms b')].map(card => card.textContent)")
        for card in cards:
            self.assertTrue(card.endswith(f"  {host}"), card)

    def test_a_wrong_filter_is_said(self):
        self.browser.press("/")
        self.browser.write("hosst 10.0.0.1")
        self.browser.wait_for(f"{text_of('problem')}.includes('did you mean host?')")

    def go_to(self, part, text):
        """Presses Tab until the button with this text has the focus."""
        for _ in range(400):
            self.browser.press("Tab")
            if self.browser.ask(
                f"document.activeElement.textContent.replace(/^\u2265 | [\u25be\u25b4]$/g, '') === {text!r}"
                f" && document.getElementById({part!r}).contains(document.activeElement)"
            ):
                return
        self.fail(f"no way by Tab to {text} in {part}")


if __name__ == "__main__":
    web_run.PROGRAM = sys.argv.pop(1)
    unittest.main()
