# SPDX-License-Identifier: Apache-2.0
"""Records that may be given away: other addresses stand for those in them."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from . import _native
from ._run import Error

if TYPE_CHECKING:
    import pyarrow

_ADDRESSES = ("src_ip", "dst_ip", "host", "client", "server")
# Columns from which an address can be found without a secret.
_REFUSED = ("community_id", "prefix", "src_name", "dst_name", "server_name", "http_host", "dns_name")


class Anonymizer:
    """A plugin that replaces the addresses of records, for `plugins=`.

    The same key always gives the same addresses, and two addresses with a common prefix still have one of the same
    length (Crypto-PAn: Xu, Fan, Ammar and Moon, ICNP 2002; of IPv6 all 128 bits).

    Columns that name an address are refused. What asn, country, flow_id and flow_key say stays: the last two can be
    found out by trying, if others know seed=. Files of `export=` and findings of tasks have the real addresses.

    key: 32 secret bytes, or a passphrase. Who knows an address and what stands for it can try passphrases, some 20 a
        second with each core, so take a long one.
    Raises Error if the key is not one, or if this build has no OpenSSL.

    >>> import parshall
    >>> anonymizer = parshall.Anonymizer(bytes(range(32)))
    >>> anonymizer.address("192.0.2.1"), anonymizer.address("192.0.2.77")
    ('2.90.93.17', '2.90.93.66')
    """

    def __init__(self, key: bytes | str) -> None:
        if not hasattr(_native, "CryptoPan"):
            raise Error("this build has no OpenSSL, which Anonymizer needs")
        if key == "":
            raise Error("the passphrase is empty")
        if isinstance(key, str):
            key = hashlib.scrypt(key.encode(), salt=b"parshall.Anonymizer", n=1 << 14, r=8, p=1, dklen=32)
        self._pan = _native.CryptoPan(bytes(key))

    def address(self, text: str) -> str:
        """What stands for this address."""
        return self._pan.addresses([text])[0]

    def __call__(self, batch: pyarrow.RecordBatch) -> dict[str, pyarrow.Array]:
        """The address columns of a batch. Raises Error if other columns name an address."""
        import pyarrow

        if refused := [name for name in _REFUSED if name in batch.schema.names]:
            raise Error(f"Anonymizer: {', '.join(refused)} would name addresses; leave out these columns")
        replaced = {}
        for name in _ADDRESSES:
            if name in batch.schema.names:
                column = batch[name].dictionary_encode()
                addresses = pyarrow.array(self._pan.addresses(column.dictionary.to_pylist()), column.dictionary.type)
                replaced[name] = addresses.take(column.indices)
        return replaced
