# SPDX-License-Identifier: Apache-2.0
"""The monitor under test: its configuration, its process, and what it says."""

import os
import signal
import subprocess
import threading
import time

COLUMNS = "+identity,totals,headers,gap_mean,iat_sd,iat_p99,size_max,rate,tcp_flags"
TASKS = "heavy-hitters,superspreaders,entropy,victims,change,retransmissions,quantiles"
PORTS = {"web": 8080, "prometheus": 9105, "ipfix udp": 4739, "ipfix tcp": 4740, "netflow9": 2055}
ROTATED = {
    "csv": "csv",
    "jsonl": "jsonl",
    "arrow": "arrow",
    "events": "events",
}  # to files, which a reload has it leave


class Configuration:
    """The TOML file; `number` is of the generation of rotated files."""

    def __init__(self, path, exports):
        self.path, self.exports, self.number = path, exports, 0

    def target(self, kind, number=None):
        return self.exports / f"{kind}-{self.number if number is None else number:04}.{ROTATED[kind]}"

    def write(self, wrong="", columns=COLUMNS, idle="10s"):
        tables = [(kind, self.target(kind), "") for kind in ROTATED]
        tables += [
            ("parquet", self.exports / "parquet", 'every = "20s"'),
            ("ipfix", f"udp://127.0.0.1:{PORTS['ipfix udp']}", 'templates = "10s"'),
            ("ipfix", f"tcp://127.0.0.1:{PORTS['ipfix tcp']}", ""),
            ("netflow9", f"udp://127.0.0.1:{PORTS['netflow9']}", 'rate = "20M"'),
        ]
        options = (
            f'idle = "{idle}"\nlinger = "1s"\nactive = "30s"\ncolumns = "{columns}"\ntasks = "{TASKS}"\nwindow = "1s"\n'
        )
        self.path.write_text(
            options
            + "".join(f'\n[[export]]\nkind = "{kind}"\ntarget = "{target}"\n{more}\n' for kind, target, more in tables)
            + wrong
        )


class Monitor:
    """`parshall watch`, running; `tell(what, **more)` hears each line that it says."""

    def __init__(self, parshall, link, configuration, folder, tell):
        self.spool = folder / "spool"
        self.spool.mkdir()
        self.report = folder / "report.json"
        self._tell = tell
        command = [
            parshall,
            "watch",
            "-i",
            "tap0",
            "--config",
            configuration.path,
            "--descriptors",
            "32768",
            "--flows",
            "64Ki",
            "--spool",
            "64M",
            "--web",
            f"127.0.0.1:{PORTS['web']}",
            "--export",
            f"prometheus:127.0.0.1:{PORTS['prometheus']}",
            "--format",
            "json",
            "-o",
            self.report,
        ]
        self.command = [str(word) for word in command]
        self.process = subprocess.Popen(
            link.inside(*self.command),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
            env=os.environ | {"TMPDIR": str(self.spool)},
        )
        self.pid = self.process.pid  # ip becomes it
        self.said = []
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()

    def _listen(self):
        for line in self.process.stderr:
            self.said.append(line.rstrip("\n"))
            self._tell("said", text=line.rstrip("\n"))

    def wait_for(self, words, since=0, seconds=20):
        """Whether it says so in that time, after the line of number `since`."""
        until = time.monotonic() + seconds
        while time.monotonic() < until and self.process.poll() is None:
            if any(words in line for line in self.said[since:]):
                return True
            time.sleep(0.02)
        return any(words in line for line in self.said[since:])

    def reload(self):
        self.process.send_signal(signal.SIGHUP)

    def end(self, seconds=120):
        """Its exit status."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self._tell("hangs", seconds=seconds)
            self.process.kill()
            self.process.wait()
        self._listener.join(10)
        return self.process.returncode
