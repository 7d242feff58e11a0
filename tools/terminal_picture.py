#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs a command in a terminal of a fixed size, and draws what it shows as an SVG that moves, dark or light as its
reader has it. Needs pyte (tools/site/requirements.txt).

usage: terminal_picture.py PICTURE [--size COLUMNSxROWS] [--after TEXT] [--frames COUNT] [--every SECONDS] [--leave
KEYS] -- COMMAND...
"""

import argparse
import fcntl
import html
import itertools
import os
import pathlib
import pty
import select
import signal
import struct
import sys
import termios
import time

import pyte

CELL, LINE, SIZE, EDGE = 8.4, 18, 14, 12  # px: a column, a row, letters, what is around
# Text, background, then what programs call by name: (light, dark), with a contrast of 4.5 or more.
COLOURS = {
    "default": ("#24292f", "#d8dee6"),
    "ground": ("#f6f8fa", "#15191f"),
    "red": ("#b3261e", "#ff8b84"),
    "green": ("#116329", "#6cd68a"),
    "brown": ("#7a5200", "#e3b341"),
    "blue": ("#0550ae", "#79b8ff"),
    "magenta": ("#8250df", "#d2a8ff"),
    "cyan": ("#136b75", "#6fd6e0"),
    "faint": ("#5d666f", "#929ba6"),
}
LONGEST_WAIT_S = 60
SHADES = {"░": 0.25, "▒": 0.5, "▓": 0.75, "█": 1}
# What part of a cell a block fills: (x, y, width, height), in parts of it.
BLOCKS = {
    **{shade: (0, 0, 1, 1) for shade in SHADES},
    **{chr(0x2588 + i): (0, 0, 1 - i / 8, 1) for i in range(1, 8)},
    **{chr(0x2588 - i): (0, i / 8, 1, 1 - i / 8) for i in range(1, 8)},
}


class Screen(pyte.Screen):
    """A Linux console: pyte knows what it takes, but for faint letters, which are a colour here."""

    def select_graphic_rendition(self, *codes, **more):
        super().select_graphic_rendition(*(90 if code == 2 else code for code in codes), **more)


def colour(name):
    return (
        "faint"
        if name == "brightblack"
        else name.removeprefix("bright")
        if name.removeprefix("bright") in COLOURS
        else "default"
    )


def style(cell):
    """(colour of the letters, whether on a ground of that colour, whether bold) of a cell."""
    return colour(cell.fg), cell.reverse, cell.bold


def rows_of(screen):
    """Each row as a tuple of (column, text, style), of cells that look the same."""
    for y in range(screen.lines):
        row, runs, x = screen.buffer[y], [], 0
        for look, cells in itertools.groupby((row[x] for x in range(screen.columns)), style):
            text = "".join(cell.data or " " for cell in cells)
            if text.strip() or look[1]:
                runs.append((x, text, look))
            x += len(text)
        yield tuple(runs)


def number(value):
    return f"{value:.1f}".removesuffix(".0")


def drawn(runs, y):
    """SVG of a row: grounds, blocks as what they fill, and the letters, held to their columns in any font."""
    top = EDGE + y * LINE
    for x, text, (name, reverse, bold) in runs:
        left = EDGE + x * CELL
        if reverse:
            yield (
                f'<rect class="{name}" x="{number(left)}" y="{top}" width="{number(len(text) * CELL)}" '
                f'height="{LINE}'
                f'"/>'
            )
        for block, same in itertools.groupby(enumerate(text), lambda one: one[1]):
            if block in BLOCKS:
                cells = [column for column, _ in same]
                dx, dy, width, height = BLOCKS[block]
                width = width if width < 1 else len(cells)
                for column in cells[:1] if width >= 1 else cells:
                    yield (
                        f'<rect class="{name}" x="{number(left + (column + dx) * CELL)}" '
                        f'y="{number(top + (0.1 + 0.8 * dy) * LINE)}" '
                        f'width="{number(width * CELL)}" height="{number(0.8 * height * LINE)}"'
                        + (f' opacity="{SHADES[block]}"' if SHADES.get(block, 1) < 1 else "")
                        + "/>"
                    )
        letters = "".join(" " if letter in BLOCKS else letter for letter in text).rstrip()
        begins = len(letters) - len(letters.lstrip())
        if letters.strip():
            looks = " ".join(["ground" if reverse else name, *(["b"] if bold else [])])
            yield (
                f'<text class="{looks}" x="{number(left + begins * CELL)}" y="{top + LINE - 5}" '
                f'textLength="{number((len(letters) - begins) * CELL)}">'
                f"{html.escape(letters[begins:], quote=False)}</text>"
            )


def rules(which):
    return "".join(f".{name}{{fill:{shades[which]}}}" for name, shades in COLOURS.items())


def picture(frames, columns, rows, every, title):
    """The frames, each a list of rows, one after the other for `every` seconds; rows that never change are drawn
    once."""
    still = [len({frame[y] for frame in frames}) == 1 for y in range(rows)]
    lasts = len(frames) * every
    width, height = number(columns * CELL + 2 * EDGE), rows * LINE + 2 * EDGE
    yield (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'role="img"><title>{html.escape(title)}</title>'
    )
    yield (
        f"<style>text{{font:{SIZE}px ui-monospace,'DejaVu Sans "
        f"Mono',Menlo,Consolas,monospace;white-space:pre}}rect{{shape-rendering:crispEdges}}.b{{font-weight:bold}}{rules(0)}"
        f"@media(prefers-color-scheme:dark){{{rules(1)}}}"
        f".f{{visibility:hidden;animation:f {lasts:g}s step-end infinite}}@keyframes "
        f"f{{0%{{visibility:visible}}{100 / len(frames):.4f}%{{visibility:hidden}}}}"
        "@media(prefers-reduced-motion:reduce){.f{animation:none}.f:last-of-type{visibility:visible}}</style>"
    )
    yield f'<rect class="ground" width="{width}" height="{height}" rx="8"/>'
    for y in range(rows):
        if still[y]:
            yield from drawn(frames[0][y], y)
    for i, frame in enumerate(frames):
        yield f'<g class="f" style="animation-delay:{i * every - lasts:g}s">'
        for y in range(rows):
            if not still[y]:
                yield from drawn(frame[y], y)
        yield "</g>"
    yield "</svg>"


def started(command, columns, rows):
    """(process, its terminal)."""
    process, terminal = pty.fork()
    if process == 0:
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        os.environ |= {"TERM": "linux", "LC_ALL": "C.UTF-8", "LINES": str(rows), "COLUMNS": str(columns)}
        try:
            os.execvp(command[0], command)
        except OSError as refused:
            print(f"{command[0]}: {refused.strerror}")
            os._exit(127)
    return process, terminal


def read_until(terminal, stream, end):
    """Whether the program still has its terminal."""
    while (left := end - time.monotonic()) > 0:
        if select.select([terminal], [], [], left)[0]:
            try:
                said = os.read(terminal, 65536)
            except OSError:
                said = b""
            if not said:
                return False
            stream.feed(said)
    return True


def frames_of(command, columns, rows, after, count, every, leave):
    """What the screen shows, so many times, from when the text `after` is there."""
    screen = Screen(columns, rows)
    stream = pyte.ByteStream(screen)
    process, terminal = started(command, columns, rows)

    def wait(end):
        if not read_until(terminal, stream, end):
            raise RuntimeError("it ended before the last picture; it says:\n" + shown(screen))

    try:
        late = time.monotonic() + LONGEST_WAIT_S
        while after not in "\n".join(screen.display):
            if time.monotonic() > late:
                raise RuntimeError(f"no {after!r} in {LONGEST_WAIT_S} s; it shows:\n{shown(screen)}")
            wait(time.monotonic() + 0.1)
        frames, began = [], time.monotonic()
        for i in range(count):
            wait(began + i * every)
            frames.append(list(rows_of(screen)))
        os.write(terminal, leave.encode())
        if read_until(terminal, stream, time.monotonic() + 10):
            os.kill(process, signal.SIGTERM)
    finally:
        os.close(terminal)  # which hangs up
        os.waitpid(process, 0)
    return frames


def shown(screen):
    return "\n".join(line.rstrip() for line in screen.display if line.strip())


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("picture", type=pathlib.Path)
    parser.add_argument("--size", default="100x26", help="COLUMNSxROWS")
    parser.add_argument("--after", default="", help="the first picture is taken once this text is there")
    parser.add_argument("--frames", type=int, default=10, help="pictures")
    parser.add_argument("--every", type=float, default=1, help="seconds from one to the next")
    parser.add_argument("--leave", default="q", help="keys that end the command")
    if "--" not in sys.argv:
        parser.error("the command comes after --")
    split = sys.argv.index("--")
    options, command = parser.parse_args(sys.argv[1:split]), sys.argv[split + 1 :]
    columns, rows = map(int, options.size.split("x"))
    try:
        frames = frames_of(command, columns, rows, options.after, options.frames, options.every, options.leave)
    except RuntimeError as failed:
        sys.exit(f"{command[0]}: {failed}")
    text = (
        "\n".join(
            picture(frames, columns, rows, options.every, " ".join([pathlib.Path(command[0]).name, *command[1:]]))
        )
        + "\n"
    )
    options.picture.write_text(text)
    print(f"{options.picture}: {len(frames)} pictures, {len(text.encode())} bytes")


if __name__ == "__main__":
    main()
