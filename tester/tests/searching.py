# SPDX-License-Identifier: Apache-2.0
"""Runs `parshall test search`, for tests. They set PARSHALL first."""

import subprocess

PARSHALL = "parshall"
TOKEN_BUCKET = "tbf:rate=10mbit,burst=3000,limit=30000"
QUICK = "name=quick,exceed=50%,trial=200ms,sum=600ms,width=3%,initial=100ms"


def search(*arguments, status=0, settle="150ms"):
    done = subprocess.run(
        [PARSHALL, "test", "search", "--settle", settle, *arguments],
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    if done.returncode != status:
        raise AssertionError(f"{arguments}: status {done.returncode}: {done.stdout}{done.stderr}")
    return done
