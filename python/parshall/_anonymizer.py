# SPDX-License-Identifier: Apache-2.0
"""Addresses of records that may be given away."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from . import _native
from ._run import Error

if TYPE_CHECKING:
    import pyarrow

_ADDRESSES = ("src_ip", "dst_ip")
# What tells an address, or is computed from both without a secret.
_TELLING = ("community_id", "src_name", "dst_name", "server_name", "http_host", "dns_name")


class Anonymizer:
    """A plugin that replaces the addresses of records. Addresses with a common prefix still have one of the same
    length, and the same key always gives the same addresses (Crypto-PAn, as in nfanon).

    key: 32 secret bytes, or a passphrase.

    >>> import parshall
    >>> with parshall.flows(generate="flows=3", count=9, seed=1, plugins=parshall.Anonymizer("secret")) as flows:
    ...     {flow.src_ip.split(".")[0] for flow in flows} == {"10"}
    False
    """

    def __init__(self, key: bytes | str) -> None:
        if not hasattr(_native, "CryptoPan"):
            raise Error("this build has no OpenSSL, which Anonymizer needs")
        self._pan = _native.CryptoPan(
            hashlib.blake2b(key.encode(), digest_size=32).digest() if isinstance(key, str) else key
        )

    def address(self, text: str) -> str:
        """What stands for this address."""
        return self._pan.addresses([text])[0]

    def __call__(self, batch: pyarrow.RecordBatch) -> dict[str, pyarrow.Array]:
        """The address columns of a batch. Raises Error if other columns tell an address."""
        import pyarrow

        if telling := [name for name in _TELLING if name in batch.schema.names]:
            raise Error(f"Anonymizer: {', '.join(telling)} tell addresses, too; leave these columns out")
        replaced = {}
        for name in _ADDRESSES:
            if name in batch.schema.names:
                column = batch[name].dictionary_encode()
                addresses = pyarrow.array(self._pan.addresses(column.dictionary.to_pylist()), column.dictionary.type)
                replaced[name] = addresses.take(column.indices)
        return replaced
