# SPDX-License-Identifier: Apache-2.0
from typing import Any, Optional

version: str

class Error(RuntimeError): ...

class Batch:
    @property
    def num_rows(self) -> int: ...
    def __len__(self) -> int: ...
    def lists(self) -> list[list[Any]]: ...
    def addresses(self) -> list[int]: ...
    def __arrow_c_array__(self, requested_schema: Optional[object] = None) -> tuple[object, object]: ...

class CryptoPan:
    """Missing in a build without OpenSSL."""

    def __init__(self, key: bytes) -> None: ...
    def addresses(self, texts: list[str]) -> list[str]: ...

class Stream:
    @property
    def ended(self) -> bool: ...
    @property
    def failure(self) -> Optional[str]: ...
    @property
    def share_read(self) -> Optional[float]:
        """Of a capture file, 0 to 1; None of a stream, or of what is no file."""
    def next(self) -> Optional[Batch]: ...
    def next_events(self) -> list[str]: ...
    def leave(self, waits: bool = True) -> None: ...
    def counters(self) -> dict[str, int]: ...
    def summary(self) -> Optional[dict[str, Any]]: ...
    def columns(self) -> list[tuple[str, str, str, str]]: ...
    def __arrow_c_schema__(self) -> object: ...
    def __arrow_c_stream__(self, requested_schema: Optional[object] = None) -> object: ...

class Points:
    def __len__(self) -> int: ...
    @property
    def damages(self) -> list[str]: ...
    def summary(self) -> str: ...
    def columns(self) -> list[tuple[str, str, str, str]]: ...
    def flows(self) -> Batch: ...
    def __arrow_c_schema__(self) -> object: ...

def compare(up: str, down: str, nat: bool = False, filter: str = "") -> Points: ...

class TrainingPlan:
    """What `parshall train` takes: a path or CSV text for labels and samples, sizes in bytes, times as text with a
    unit."""

    read: list[str]
    labels: str
    labels_text: Optional[str]
    strict: bool
    rule: list[str]
    samples: str
    samples_text: Optional[str]
    idle: str
    model: str
    packets: int
    longest: int
    reject: float
    priors: bool
    variance_floor: float
    confidence: float
    least_branch: int
    trees: int
    least_flows: int
    least_captures: int
    folds: int
    seed: int

class Model:
    @property
    def text(self) -> str: ...
    @property
    def kind(self) -> str: ...
    @property
    def packets(self) -> int: ...
    @property
    def longest(self) -> int: ...
    @property
    def reject(self) -> float: ...
    @property
    def classes(self) -> list[str]: ...
    @property
    def flows(self) -> list[int]: ...
    @property
    def confusion(self) -> list[int]: ...
    @property
    def accuracy(self) -> Optional[tuple[int, float, list[Optional[float]], list[Optional[float]]]]: ...
    def predict(self, sizes: Any) -> bytes:
        """sizes: a buffer of 16-bit numbers, `packets` of each flow, 0: none. The number of each flow's class, 16 bits;
        0xfffe: unknown."""
    def gaussian(self) -> Optional[tuple[list[Optional[float]], list[Optional[float]], list[float]]]:
        """Means (bytes) and variances (bytes^2) by class and packet, and priors."""
    def tree(self) -> Optional[tuple[list[int], list[int], list[int], list[int], list[float]]]:
        """Of each node packet, size (bytes), first child (0: a leaf), class; and flows by node and class."""

class SendOptions:
    """What `parshall send` takes: frames in bytes, times and rates as text with a unit; kept: in memory."""

    write: str
    kept: bool
    read: str
    generate: str
    rate: str
    ramp: str
    line_rate: str
    burst: int
    count: str
    duration: str
    loops: int
    fresh_flows: bool
    fix_checksums: bool
    cap: int
    pad: int
    src_mac: str
    dst_mac: str

def settings() -> list[tuple[str, str, str, str, str]]:
    """Name, kind (flag, value or list), what it takes, help and default of each setting of open()."""

def open(settings: str, events: bool = False, model_text: str = "") -> Stream: ...
def train(plan: TrainingPlan, command: str) -> tuple[Model, list[str]]: ...
def read_model(path: str) -> Model: ...
def parse_model(text: str, name: str) -> Model: ...
def send(options: SendOptions) -> dict[str, Any]: ...
