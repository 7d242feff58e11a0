# SPDX-License-Identifier: Apache-2.0
"""Traffic that is made or replayed: into a capture file, or into memory."""

from __future__ import annotations

import operator
import os
import warnings
from typing import TYPE_CHECKING, Any, NamedTuple, overload

from . import _native, _settings
from ._run import LossWarning

if TYPE_CHECKING:
    import numpy
    import numpy.typing


class Sent(NamedTuple):
    """The content of a capture file: frames, their bytes, and the number of packets left out.

    The bytes have no frame check sequence. A packet is left out if no frame can be made of it."""

    frames: int
    bytes: int
    left_out: int


def send(to=None, *, generate=None, read=None, **settings):
    """Sends built-in traffic, or a capture, to a file or to memory, without waiting.

    to: the path of a pcap file to write, or None: memory.
    generate, read: what to send: built-in traffic ("flows=1000,size=64", `parshall list traffic`), or a capture's path.
    settings: what `parshall send --help` has, with _ for -: count=1000, duration="1s", rate="1Mpps" (of the frames'
    time stamps), loops=2,
        fresh_flows=True, fix_checksums=True, cap=..., pad=..., src_mac=..., dst_mac=...
    Returns Frames of what went to memory, which has to have room for all of it; Sent of what went to a file. Raises
    Error in the words of the command line, and warns with LossWarning of a capture that breaks off, of which what was
    there before is sent.

    >>> import parshall
    >>> frames = parshall.send(generate="flows=2,size=100,seed=1", count=10)
    >>> len(frames), bytes(frames[0][12:14]).hex()
    (10, '0800')
    """
    options = _settings.fill(_native.SendOptions(), "send", {"generate": generate, "read": read, **settings})
    if to is None:
        import numpy  # noqa: F401  what its arrays are of: said before all is made

        options.kept = True
    else:
        options.write = os.fsdecode(os.fspath(to))
    sent = _native.send(options)
    if sent["damage"] is not None:
        warnings.warn(f"sent up to where the capture broke: {sent['damage']}", LossWarning, stacklevel=2)
    return Frames(sent) if to is None else Sent(sent["frames"], sent["bytes"], sent["left_out"])


class Frames:
    """Ethernet frames in memory, without frame check sequence: frames[i] is a view of the i-th, frames[i:k] a list of
    views; nothing is copied.

    data: bytes of all frames, one behind the other (numpy uint8). offsets: where each begins in data (int64). lengths:
    bytes of each (uint32). times: when each is sent, in ns since 1970 (int64). left_out: packets of which no frame can
    be made.
    """

    data: numpy.typing.NDArray[numpy.uint8]
    offsets: numpy.typing.NDArray[numpy.int64]
    lengths: numpy.typing.NDArray[numpy.uint32]
    times: numpy.typing.NDArray[numpy.int64]
    left_out: int

    def __init__(self, sent: dict[str, Any]) -> None:
        for name in ("data", "offsets", "lengths", "times", "left_out"):
            setattr(self, name, sent[name])

    def __len__(self) -> int:
        return len(self.offsets)

    @overload
    def __getitem__(self, at: int) -> numpy.typing.NDArray[numpy.uint8]: ...
    @overload
    def __getitem__(self, at: slice) -> list[numpy.typing.NDArray[numpy.uint8]]: ...
    def __getitem__(self, at: Any) -> Any:
        if isinstance(at, slice):
            return [self[i] for i in range(*at.indices(len(self)))]
        at = operator.index(at)
        begin = int(self.offsets[at])
        return self.data[begin : begin + int(self.lengths[at])]

    def __repr__(self) -> str:
        return f"<parshall.Frames: {len(self)} frames, {len(self.data)} bytes>"
