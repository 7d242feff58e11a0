# SPDX-License-Identifier: Apache-2.0
"""A browser without a window, driven by the Chrome DevTools protocol over pipes."""

import json
import os
import subprocess
import tempfile
import time

WITHIN_S = 30
KEYS = {"Enter": (13, "\r"), "Escape": (27, ""), "Tab": (9, ""), "/": (191, "/")}


class Browser:
    """One tab of Chromium. Errors of the page's script are kept in `problems`."""

    def __init__(self):
        self.folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        commands, self.requests = os.pipe()
        self.answers, events = os.pipe()
        self.process = subprocess.Popen(
            ["bash", "-c", f'exec chromium "$@" 3<&{commands} 4>&{events}', "chromium", "--headless=new"]
            + [
                "--no-sandbox",
                "--disable-gpu",
                "--remote-debugging-pipe",
                f"--user-data-dir={self.folder.name}",
                "about:blank",
            ],
            pass_fds=(commands, events),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(commands)
        os.close(events)
        self.read = os.fdopen(self.answers, "rb")
        self.problems = []
        self.number = 0
        self.session = None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.call(f"{domain}.enable")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.read.close()
        os.close(self.requests)
        self.folder.cleanup()

    def call(self, method, **parameters):
        self.number += 1
        request = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            request["sessionId"] = self.session
        os.write(self.requests, json.dumps(request).encode() + b"\0")
        while True:
            message = self.message()
            if message.get("id") == self.number:
                assert "error" not in message, message
                return message["result"]
            if message.get("method") == "Runtime.exceptionThrown":
                self.problems.append(message["params"]["exceptionDetails"])

    def message(self):
        text = bytearray()
        while (byte := self.read.read(1)) not in (b"\0", b""):
            text += byte
        assert text, "the browser has ended"
        return json.loads(text)

    def resize(self, width, height):
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.call("Emulation.setDeviceMetricsOverride", **size)

    def show_as(self, scheme):
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def go(self, address):
        self.call("Page.navigate", url=address)

    def ask(self, expression):
        """The value of an expression of JavaScript in the page."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in answer, (expression, answer)
        return answer["result"].get("value")

    def wait_for(self, expression):
        """Waits until an expression is true, and returns it."""
        give_up = time.monotonic() + WITHIN_S
        while not (value := self.ask(expression)):
            assert time.monotonic() < give_up, f"not within {WITHIN_S} s: {expression}; {self.problems}"
            time.sleep(0.05)
        return value

    def press(self, key, shift=False):
        code, text = KEYS.get(key, (ord(key.upper()[0]), key))
        common = {"key": key, "windowsVirtualKeyCode": code, "modifiers": 8 if shift else 0}
        self.call("Input.dispatchKeyEvent", type="keyDown", text=text, **common)
        self.call("Input.dispatchKeyEvent", type="keyUp", **common)

    def write(self, text):
        self.call("Input.insertText", text=text)
