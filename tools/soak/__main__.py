# SPDX-License-Identifier: Apache-2.0
"""Runs a monitor for hours while everything around it goes wrong, and reports whether it stays what it was. As root, in
network namespaces of its own.

usage: soak run PARSHALL FOLDER [--hours N] [--seed N] [--kpps N] [--captures FOLDER]
       soak report FOLDER

Status 0: it holds; 1: something grows, or is not equal, or the run has not ended. Ctrl-C ends a run, with its report.
"""

import argparse
import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import data
import network
import report
import run


def main():
    parser = argparse.ArgumentParser(
        prog="soak", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    soak = commands.add_parser("run", help="run, then report")
    soak.add_argument("parshall", type=os.path.abspath)
    soak.add_argument("folder", type=pathlib.Path, help="is made; has all data, and the report")
    soak.add_argument("--hours", type=float, default=2)
    soak.add_argument("--seed", type=int, default=1)
    soak.add_argument(
        "--kpps",
        type=float,
        default=4,
        help="thousand packets a second of ordinary traffic; floods are up to five times that",
    )
    soak.add_argument(
        "--captures", default=os.environ.get("PARSHALL_TRACES"), help="folder of captures to replay (PARSHALL_TRACES)"
    )
    soak.add_argument("--alone", action="store_true", help="without other monitors that come and go on the same link")
    again = commands.add_parser("report", help="of what a run has written so far")
    again.add_argument("folder", type=pathlib.Path)
    arguments = parser.parse_args()
    if arguments.command == "run":
        if why := network.why_not():
            sys.exit(f"soak: {why}")
        run.soak(
            arguments.parshall,
            arguments.folder,
            arguments.hours,
            arguments.seed,
            arguments.kpps,
            arguments.captures,
            visits=not arguments.alone,
        )
    try:
        holds = report.write(data.Data(arguments.folder))
    except FileNotFoundError as error:
        sys.exit(f"soak: {error}")
    print(f"{arguments.folder / 'report.md'}: {'it holds' if holds else 'it does not hold'}")
    sys.exit(0 if holds else 1)


if __name__ == "__main__":
    main()
