# SPDX-License-Identifier: Apache-2.0
# Written by tools/python_stub.py.
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal, overload

import pyarrow

from ._anonymizer import Anonymizer as Anonymizer
from ._comparisons import Comparison as Comparison
from ._comparisons import compare as compare
from ._flows import Flows as Flows
from ._frames import Frames as Frames
from ._frames import Sent as Sent
from ._models import Evaluation as Evaluation
from ._models import Model as Model
from ._run import Column as Column
from ._run import Error as Error
from ._run import LossWarning as LossWarning
from ._windows import Findings as Findings
from ._windows import Watch as Watch
from ._windows import Window as Window

__version__: str

def flows(
    source: str | os.PathLike[str] | None = None, *, progress: bool = False,
    plugins: Callable[[pyarrow.RecordBatch], Mapping[str, Any]] | Iterable[Callable[[pyarrow.RecordBatch], Mapping[str, Any]]] = (),
    read: str | os.PathLike[str] | None = None, interface: str | None = None, generate: str | None = None,
    filter: str | Sequence[str] | None = None, via: Literal["af_packet", "af_xdp"] | None = None,
    forward: str | None = None, dscp: str | Sequence[str] | None = None, queues: float | str | None = None,
    descriptors: float | str | None = None, mbufs: float | str | None = None, batch: float | str | None = None,
    eal: str | None = None, count: float | str | None = None, duration: float | str | None = None,
    inner: bool | None = None, key: Literal["5tuple", "src-dst", "src", "dst"] | None = None,
    identity: Literal["exact", "fingerprint", "nic-hash"] | None = None, observe_merges: bool | None = None,
    flows: float | str | None = None, flood_filter: float | str | None = None, idle: float | str | None = None,
    active: float | str | None = None, linger: float | str | None = None, biflow: bool | None = None,
    packets_only: bool | None = None, seed: float | str | None = None,
    model: str | os.PathLike[str] | Model | None = None, learn: str | os.PathLike[str] | None = None,
    label: str | None = None,
    by: Literal["conversation", "host", "service", "prefix", "protocol", "direction", "vlan", "interface", "asn", "country", "application", "server_name", "http_host", "dns_name"] | None = None,
    local: str | Sequence[str] | None = None, hosts: str | os.PathLike[str] | None = None,
    geo: str | Sequence[str] | None = None, resolve: bool | None = None, columns: str | Sequence[str] | None = None,
    digest: bool | None = None, times: Literal["ns", "iso"] | None = None,
    integers: Literal["number", "text"] | None = None, quantiles: Literal["histogram", "p2"] | None = None,
    quantile_error: float | None = None, explain: bool | None = None, tasks: str | Sequence[str] | None = None,
    task: str | Sequence[str] | None = None, preset: Literal["office", "server", "uplink", "lab"] | None = None,
    states: str | os.PathLike[str] | None = None, overload: Literal["adapt", "off"] | None = None,
    window: float | str | None = None, alarms: str | None = None, task_keys: float | str | None = None,
    export: str | Sequence[str] | None = None, workers: float | str | None = None,
    threads: Literal["run-to-completion", "pipeline"] | None = None, ring: float | str | None = None,
    cores: int | Sequence[int] | None = None, scheduler: Literal["other", "fifo", "deadline"] | None = None,
    busy_poll: bool | None = None,
) -> Flows: ...
def classify(
    source: str | os.PathLike[str] | None = None, *, model: str | os.PathLike[str] | Model, progress: bool = False,
    plugins: Callable[[pyarrow.RecordBatch], Mapping[str, Any]] | Iterable[Callable[[pyarrow.RecordBatch], Mapping[str, Any]]] = (),
    read: str | os.PathLike[str] | None = None, interface: str | None = None, generate: str | None = None,
    filter: str | Sequence[str] | None = None, via: Literal["af_packet", "af_xdp"] | None = None,
    forward: str | None = None, dscp: str | Sequence[str] | None = None, queues: float | str | None = None,
    descriptors: float | str | None = None, mbufs: float | str | None = None, batch: float | str | None = None,
    eal: str | None = None, count: float | str | None = None, duration: float | str | None = None,
    inner: bool | None = None, key: Literal["5tuple", "src-dst", "src", "dst"] | None = None,
    identity: Literal["exact", "fingerprint", "nic-hash"] | None = None, observe_merges: bool | None = None,
    flows: float | str | None = None, flood_filter: float | str | None = None, idle: float | str | None = None,
    active: float | str | None = None, linger: float | str | None = None, biflow: bool | None = None,
    packets_only: bool | None = None, seed: float | str | None = None, learn: str | os.PathLike[str] | None = None,
    label: str | None = None,
    by: Literal["conversation", "host", "service", "prefix", "protocol", "direction", "vlan", "interface", "asn", "country", "application", "server_name", "http_host", "dns_name"] | None = None,
    local: str | Sequence[str] | None = None, hosts: str | os.PathLike[str] | None = None,
    geo: str | Sequence[str] | None = None, resolve: bool | None = None, columns: str | Sequence[str] | None = None,
    digest: bool | None = None, times: Literal["ns", "iso"] | None = None,
    integers: Literal["number", "text"] | None = None, quantiles: Literal["histogram", "p2"] | None = None,
    quantile_error: float | None = None, explain: bool | None = None, tasks: str | Sequence[str] | None = None,
    task: str | Sequence[str] | None = None, preset: Literal["office", "server", "uplink", "lab"] | None = None,
    states: str | os.PathLike[str] | None = None, overload: Literal["adapt", "off"] | None = None,
    window: float | str | None = None, alarms: str | None = None, task_keys: float | str | None = None,
    export: str | Sequence[str] | None = None, workers: float | str | None = None,
    threads: Literal["run-to-completion", "pipeline"] | None = None, ring: float | str | None = None,
    cores: int | Sequence[int] | None = None, scheduler: Literal["other", "fifo", "deadline"] | None = None,
    busy_poll: bool | None = None,
) -> Flows: ...
def windows(
    source: str | os.PathLike[str] | None = None, *, tasks: str | Iterable[str], progress: bool = False,
    read: str | os.PathLike[str] | None = None, interface: str | None = None, generate: str | None = None,
    filter: str | Sequence[str] | None = None, via: Literal["af_packet", "af_xdp"] | None = None,
    forward: str | None = None, dscp: str | Sequence[str] | None = None, queues: float | str | None = None,
    descriptors: float | str | None = None, mbufs: float | str | None = None, batch: float | str | None = None,
    eal: str | None = None, count: float | str | None = None, duration: float | str | None = None,
    inner: bool | None = None, key: Literal["5tuple", "src-dst", "src", "dst"] | None = None,
    identity: Literal["exact", "fingerprint", "nic-hash"] | None = None, observe_merges: bool | None = None,
    flows: float | str | None = None, flood_filter: float | str | None = None, idle: float | str | None = None,
    active: float | str | None = None, linger: float | str | None = None, biflow: bool | None = None,
    packets_only: bool | None = None, seed: float | str | None = None,
    model: str | os.PathLike[str] | Model | None = None, learn: str | os.PathLike[str] | None = None,
    label: str | None = None,
    by: Literal["conversation", "host", "service", "prefix", "protocol", "direction", "vlan", "interface", "asn", "country", "application", "server_name", "http_host", "dns_name"] | None = None,
    local: str | Sequence[str] | None = None, hosts: str | os.PathLike[str] | None = None,
    geo: str | Sequence[str] | None = None, resolve: bool | None = None, columns: str | Sequence[str] | None = None,
    digest: bool | None = None, times: Literal["ns", "iso"] | None = None,
    integers: Literal["number", "text"] | None = None, quantiles: Literal["histogram", "p2"] | None = None,
    quantile_error: float | None = None, explain: bool | None = None,
    preset: Literal["office", "server", "uplink", "lab"] | None = None, states: str | os.PathLike[str] | None = None,
    overload: Literal["adapt", "off"] | None = None, window: float | str | None = None, alarms: str | None = None,
    task_keys: float | str | None = None, export: str | Sequence[str] | None = None, workers: float | str | None = None,
    threads: Literal["run-to-completion", "pipeline"] | None = None, ring: float | str | None = None,
    cores: int | Sequence[int] | None = None, scheduler: Literal["other", "fifo", "deadline"] | None = None,
    busy_poll: bool | None = None,
) -> Findings: ...
@overload
def watch(
    source: str | os.PathLike[str] | None = None, *, every: float | str = "1s", tasks: str | Iterable[str] = (),
    on_window: None = None, progress: bool = False, read: str | os.PathLike[str] | None = None,
    interface: str | None = None, generate: str | None = None, filter: str | Sequence[str] | None = None,
    via: Literal["af_packet", "af_xdp"] | None = None, forward: str | None = None,
    dscp: str | Sequence[str] | None = None, queues: float | str | None = None, descriptors: float | str | None = None,
    mbufs: float | str | None = None, batch: float | str | None = None, eal: str | None = None,
    count: float | str | None = None, duration: float | str | None = None, inner: bool | None = None,
    key: Literal["5tuple", "src-dst", "src", "dst"] | None = None,
    identity: Literal["exact", "fingerprint", "nic-hash"] | None = None, observe_merges: bool | None = None,
    flows: float | str | None = None, flood_filter: float | str | None = None, idle: float | str | None = None,
    active: float | str | None = None, linger: float | str | None = None, biflow: bool | None = None,
    packets_only: bool | None = None, seed: float | str | None = None,
    model: str | os.PathLike[str] | Model | None = None, learn: str | os.PathLike[str] | None = None,
    label: str | None = None,
    by: Literal["conversation", "host", "service", "prefix", "protocol", "direction", "vlan", "interface", "asn", "country", "application", "server_name", "http_host", "dns_name"] | None = None,
    local: str | Sequence[str] | None = None, hosts: str | os.PathLike[str] | None = None,
    geo: str | Sequence[str] | None = None, resolve: bool | None = None, columns: str | Sequence[str] | None = None,
    digest: bool | None = None, times: Literal["ns", "iso"] | None = None,
    integers: Literal["number", "text"] | None = None, quantiles: Literal["histogram", "p2"] | None = None,
    quantile_error: float | None = None, explain: bool | None = None,
    preset: Literal["office", "server", "uplink", "lab"] | None = None, states: str | os.PathLike[str] | None = None,
    overload: Literal["adapt", "off"] | None = None, alarms: str | None = None, task_keys: float | str | None = None,
    export: str | Sequence[str] | None = None, workers: float | str | None = None,
    threads: Literal["run-to-completion", "pipeline"] | None = None, ring: float | str | None = None,
    cores: int | Sequence[int] | None = None, scheduler: Literal["other", "fifo", "deadline"] | None = None,
    busy_poll: bool | None = None,
) -> Watch: ...
@overload
def watch(
    source: str | os.PathLike[str] | None = None, *, every: float | str = "1s", tasks: str | Iterable[str] = (),
    on_window: Callable[[Window], object], progress: bool = False, read: str | os.PathLike[str] | None = None,
    interface: str | None = None, generate: str | None = None, filter: str | Sequence[str] | None = None,
    via: Literal["af_packet", "af_xdp"] | None = None, forward: str | None = None,
    dscp: str | Sequence[str] | None = None, queues: float | str | None = None, descriptors: float | str | None = None,
    mbufs: float | str | None = None, batch: float | str | None = None, eal: str | None = None,
    count: float | str | None = None, duration: float | str | None = None, inner: bool | None = None,
    key: Literal["5tuple", "src-dst", "src", "dst"] | None = None,
    identity: Literal["exact", "fingerprint", "nic-hash"] | None = None, observe_merges: bool | None = None,
    flows: float | str | None = None, flood_filter: float | str | None = None, idle: float | str | None = None,
    active: float | str | None = None, linger: float | str | None = None, biflow: bool | None = None,
    packets_only: bool | None = None, seed: float | str | None = None,
    model: str | os.PathLike[str] | Model | None = None, learn: str | os.PathLike[str] | None = None,
    label: str | None = None,
    by: Literal["conversation", "host", "service", "prefix", "protocol", "direction", "vlan", "interface", "asn", "country", "application", "server_name", "http_host", "dns_name"] | None = None,
    local: str | Sequence[str] | None = None, hosts: str | os.PathLike[str] | None = None,
    geo: str | Sequence[str] | None = None, resolve: bool | None = None, columns: str | Sequence[str] | None = None,
    digest: bool | None = None, times: Literal["ns", "iso"] | None = None,
    integers: Literal["number", "text"] | None = None, quantiles: Literal["histogram", "p2"] | None = None,
    quantile_error: float | None = None, explain: bool | None = None,
    preset: Literal["office", "server", "uplink", "lab"] | None = None, states: str | os.PathLike[str] | None = None,
    overload: Literal["adapt", "off"] | None = None, alarms: str | None = None, task_keys: float | str | None = None,
    export: str | Sequence[str] | None = None, workers: float | str | None = None,
    threads: Literal["run-to-completion", "pipeline"] | None = None, ring: float | str | None = None,
    cores: int | Sequence[int] | None = None, scheduler: Literal["other", "fifo", "deadline"] | None = None,
    busy_poll: bool | None = None,
) -> dict[str, Any]: ...
def train(
    source: str | os.PathLike[str] | Iterable[str | os.PathLike[str]] | None = None, labels: Any = None, *,
    samples: Any = None, rules: str | Iterable[str] = (), idle: float | str | None = None,
    model: Literal["naive-bayes", "c45", "forest"] | None = None, least_flows: int | None = None,
    least_captures: int | None = None, folds: int | None = None, seed: int | None = None, strict: bool | None = None,
    packets: int | None = None, longest: int | None = None, reject: float | None = None, priors: bool | None = None,
    variance_floor: float | None = None, confidence: float | None = None, least_branch: int | None = None,
    trees: int | None = None,
) -> Model: ...
@overload
def send(
    to: None = None, *, generate: str | None = None, read: str | os.PathLike[str] | None = None,
    rate: str | None = None, ramp: str | None = None, line_rate: str | None = None, burst: int | None = None,
    count: float | str | None = None, duration: float | str | None = None, loops: int | None = None,
    fresh_flows: bool | None = None, fix_checksums: bool | None = None, cap: int | None = None, pad: int | None = None,
    src_mac: str | None = None, dst_mac: str | None = None,
) -> Frames: ...
@overload
def send(
    to: str | os.PathLike[str], *, generate: str | None = None, read: str | os.PathLike[str] | None = None,
    rate: str | None = None, ramp: str | None = None, line_rate: str | None = None, burst: int | None = None,
    count: float | str | None = None, duration: float | str | None = None, loops: int | None = None,
    fresh_flows: bool | None = None, fix_checksums: bool | None = None, cap: int | None = None, pad: int | None = None,
    src_mac: str | None = None, dst_mac: str | None = None,
) -> Sent: ...
