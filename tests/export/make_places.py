# SPDX-License-Identifier: Apache-2.0
"""Makes places.mmdb and more_places.mmdb, with mmdb_writer of PyPI: documentation networks, their autonomous systems
and countries.

usage: make_places.py FOLDER
"""

import pathlib
import sys

from mmdb_writer import MMDBWriter
from netaddr import IPSet

PLACES = {
    "places.mmdb": {
        "192.0.2.0/24": {"autonomous_system_number": 64496, "country": {"iso_code": "DE"}},
        "198.51.100.0/25": {"asn": "AS4200000000", "country_code": "FR"},
        "198.51.100.128/25": {"asn": "none", "country": "nowhere"},
        "203.0.113.0/24": {"country": "US"},
        "2001:db8:1::/48": {"autonomous_system_number": 64496, "registered_country": {"iso_code": "JP"}},
    },
    "more_places.mmdb": {
        "192.0.2.0/24": {"autonomous_system_number": 64511, "country": {"iso_code": "CH"}},
        "203.0.113.0/24": {"autonomous_system_number": 64500, "country": {"iso_code": "CH"}},
    },
}

for name, places in PLACES.items():
    writer = MMDBWriter(6, "Test", languages=["en"], description="places", ipv4_compatible=True, int_type="u32")
    for network, place in places.items():
        writer.insert_network(IPSet([network]), place)
    writer.to_db_file(str(pathlib.Path(sys.argv[1]) / name))
