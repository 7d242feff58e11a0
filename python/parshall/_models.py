# SPDX-License-Identifier: Apache-2.0
"""Models that tell the application of a flow by the sizes of its first packets."""

from __future__ import annotations

import array
import os
import pathlib
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

from . import _native, _settings, _sklearn

if TYPE_CHECKING:
    from sklearn.base import ClassifierMixin

_UNKNOWN, _NO_CLASS = "unknown", 0xFFFE


class Evaluation(NamedTuple):
    """The accuracy of a model on captures that it was not trained on, by cross-validation.

    `accuracy` is the fraction of flows whose class is right. `precision` and `recall` are dicts by class. A value is
    None if no flow was given this class (precision), or if no flow is of it (recall)."""

    folds: int
    accuracy: float
    precision: dict[str, float | None]
    recall: dict[str, float | None]


def train(source=None, labels=None, *, samples=None, rules=(), **settings):
    """A model of application classes, from captures and who says which class their flows are of.

    source: the path of a capture or a folder of captures, or a list of paths.
    labels: known flows, with the columns class, protocol (a number, tcp or udp), src_ip, src_port, dst_ip, dst_port,
    and maybe capture (a file's name); a row
        goes for both directions. A data frame of pandas, polars or whatever has __arrow_c_stream__; a list of dicts;
        rows, of which the first names the columns; or the path of a file as --labels reads it: CSV, Parquet, CSV of
        ndpiReader, conn.log of Zeek.
    samples: in place of both, what --write-samples of `parshall train` writes, as a path or as labels can be: class,
    capture, size_1, ... (bytes). rules: ["DNS=port 53", ...]: the class of flows without a label whose packets match,
    in libpcap's language. settings: what `parshall train --help` has, with _ for -: model="naive-bayes", "c45" or
    "forest", packets=4, idle="15s", longest=1500 (bytes), reject=0.0, priors=True, strict=True
        (a bad row of labels is an error; without it the row is skipped, and notes of the model say so),
        variance_floor=1/12 (bytes^2), confidence=0.25, least_branch=2, trees=16, least_flows=20, least_captures=2,
        folds=10, seed=1
    Returns Model, which was tried on captures that it had not seen. Raises Error in the words of the command line.
    """
    plan = _native.TrainingPlan()
    if source is not None:
        plan.read = [_path(one) for one in ([source] if _settings.is_path(source) else source)]
    plan.rule = [rules] if isinstance(rules, str) else list(rules)
    for name, table in (("labels", labels), ("samples", samples)):
        if table is None:
            continue
        if _settings.is_path(table):
            setattr(plan, name, _path(table))
        else:
            setattr(plan, name + "_text", _settings.csv_of(table, name))
    trained, notes = _native.train(_settings.fill(plan, "train", settings), "parshall.train(...)")
    return Model(trained, notes)


class Model:
    """Tells the application of a flow by the sizes of its first packets. Of train(), load() or from_sklearn(); any
    number of threads may ask one."""

    def __init__(self, native: _native.Model, notes: Iterable[str] = ()) -> None:
        if not isinstance(native, _native.Model):
            raise TypeError("a Model is made by parshall.train(), Model.load() or Model.from_sklearn()")
        self._native = native
        self.notes = list(notes)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Model:
        """The model in a file of save() or `parshall train`. Raises Error where there is none."""
        return cls(_native.read_model(_path(path)))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes it to a file, for load() and --model of the command line: TOML, every digit kept."""
        pathlib.Path(_path(path)).write_text(self._native.text, encoding="utf-8")

    @property
    def kind(self) -> str:
        """ "naive-bayes", "c45" or "forest"."""
        return self._native.kind

    @property
    def classes(self) -> list[str]:
        """The names of its classes."""
        return self._native.classes

    @property
    def packets(self) -> int:
        """The number of packets whose sizes it goes by."""
        return self._native.packets

    @property
    def longest(self) -> int:
        """Bytes: longer packets count as this long."""
        return self._native.longest

    @property
    def reject(self) -> float:
        """The class is unknown where its probability is lower."""
        return self._native.reject

    @property
    def flows(self) -> dict[str, int]:
        """How many flows of each class it is trained on: a dict."""
        return dict(zip(self.classes, self._native.flows))

    @property
    def evaluation(self) -> Evaluation | None:
        """An Evaluation; None where it was not tried."""
        found = self._native.accuracy
        if found is None:
            return None
        folds, accuracy, precision, recall = found
        return Evaluation(folds, accuracy, dict(zip(self.classes, precision)), dict(zip(self.classes, recall)))

    @property
    def confusion(self) -> dict[str, dict[str, int]] | None:
        """Of a model trained here: by class, how many of its flows were taken for which, "unknown" last; a dict of
        dicts. Else None."""
        counts, columns = self._native.confusion, [*self.classes, _UNKNOWN]
        if not counts:
            return None
        return {name: dict(zip(columns, counts[i * len(columns) :])) for i, name in enumerate(self.classes)}

    def predict(self, sizes: Any) -> Any:
        """The class of each flow, or "unknown".

        sizes: a row for each flow, with IP packet lengths in bytes of its first packets, whole numbers from 1 to 65535;
        None, NaN or 0: there was no packet.
            Sequences, or what NumPy makes an array of shape (flows, packets) of, as of frames of pandas and polars.
        Returns names: a list, or of an array or frame an array. Raises ValueError where sizes are of another shape, or
        out of range.
        """
        is_array = hasattr(sizes, "__array_interface__") or hasattr(sizes, "__array__")
        found = self._native.predict(self._sizes_of_array(sizes) if is_array else self._sizes_of_rows(sizes))
        if not is_array:
            names = self.classes
            return [_UNKNOWN if number == _NO_CLASS else names[number] for number in array.array("H", found)]
        import numpy

        numbers = numpy.frombuffer(found, numpy.uint16)
        names = numpy.array([*self.classes, _UNKNOWN])
        return names[numpy.minimum(numbers, len(names) - 1)]

    def _sizes_of_array(self, sizes):
        import numpy

        sizes = numpy.asarray(sizes)
        if sizes.ndim != 2 or sizes.shape[1] != self.packets:
            raise ValueError(f"sizes are of shape {sizes.shape}: give a row for each flow, of {self.packets} sizes")
        if sizes.dtype.kind == "f":
            sizes = numpy.nan_to_num(sizes, nan=0, posinf=-1, neginf=-1)
        if (
            sizes.dtype.kind not in "uif"
            or (sizes.size and (sizes.min() < 0 or sizes.max() > 0xFFFF))
            or (sizes.dtype.kind == "f" and (sizes % 1).any())
        ):
            raise ValueError("sizes are whole numbers of bytes, from 1 to 65535, or 0 where there was no packet")
        return numpy.ascontiguousarray(sizes, numpy.uint16).reshape(-1)

    def _sizes_of_rows(self, rows):
        flat = array.array("H")
        for row in rows:
            if len(row) != self.packets:
                raise ValueError(f"a row has {len(row)} sizes: give a row for each flow, of {self.packets} sizes")
            try:
                flat.extend(_size(size) for size in row)
            except (OverflowError, TypeError):
                raise ValueError(
                    f"{row!r}: sizes are whole numbers of bytes, from 1 to 65535, or 0 or None where there was no "
                    f"packet"
                ) from None
        return flat

    @classmethod
    def from_sklearn(cls, estimator: ClassifierMixin, *, longest: int = 65535) -> Model:
        """The same model as a fitted GaussianNB, DecisionTreeClassifier or RandomForestClassifier of scikit-learn,
        whose features are the sizes of a flow's first packets in bytes.

        longest: bytes, 64 to 65535: longer packets count as this long. It predicts what the estimator does for whole
        sizes from 1 to that; a lower one takes less
            memory (naive Bayes: 8 bytes by packet, size and class, classes rounded up to eights). Of classes that are
            alike to a millionth to a forest, the first counts, where scikit-learn goes by the last digits.
        Raises Error where no model of parshall says the same.
        """
        toml = _sklearn.model_toml(estimator, longest)
        return cls(_native.parse_model(toml, f"the {type(estimator).__name__}"))

    def to_sklearn(self) -> ClassifierMixin:
        """The same model as a GaussianNB or DecisionTreeClassifier of scikit-learn: fitted, for whole sizes in bytes
        from 1 to `longest`.

        Raises Error where it says what those cannot: "unknown", of a model with reject, or of sizes that training has
        not seen; and of a forest.
        """
        return _sklearn.estimator_of(self)

    def __reduce__(self):
        return _parsed, (self._native.text,)

    def __repr__(self) -> str:
        return f"<parshall.Model: {self.kind}, {len(self.classes)} classes by {self.packets} packets>"


def _parsed(text):
    return Model(_native.parse_model(text, "model"))


def _path(path):
    return os.fsdecode(os.fspath(path))


def _size(size):
    if size is None or size != size:
        return 0
    if isinstance(size, (str, bytes)) or (isinstance(size, float) and not size.is_integer()):
        raise TypeError
    return int(size)
