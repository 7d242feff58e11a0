// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <iosfwd>
#include <string>

#include "classify/labels.hpp"

namespace parshall {

/// Reads CSV of RFC 4180. Its first line names the columns, in any order: class, protocol (a number, or tcp, udp, ...),
/// src_ip, src_port, dst_ip, dst_port, and optionally capture, a file name without folders. Other columns are ignored.
Result<Labels> read_csv_labels(std::istream& csv, LabelReading& reading);

/// Reads Parquet with the same columns, as texts or numbers.
Result<Labels> read_parquet_labels(std::istream& parquet, LabelReading& reading);

/// Reads what `ndpiReader -C FILE` writes. The separator is a comma up to nDPI 4.4, and | after it; cells are never
/// quoted. Source: printCSVHeader() in nDPI's example/ndpiReader.c.
Result<Labels> read_ndpi_labels(std::istream& csv, LabelReading& reading);

/// Returns the class for a name that nDPI gives a flow; empty if it names none. "TLS.Google" is of class Google, but
/// "DNS.Google" of class DNS: a look-up carries no traffic of the application.
std::string ndpi_class(std::string_view name);

/// Reads conn.log of Zeek, as tab-separated values or JSON lines. The class is the registered domain of the server's
/// name in `ssl_log`, joined by uid; without one it is the service. `ssl_log` may be empty, or a file that is missing.
/// Source: https://docs.zeek.org/en/current/log-formats.html
Result<Labels> read_zeek_labels(std::istream& conn_log, const std::string& ssl_log, LabelReading& reading);

/// Returns the path of the ssl.log beside a conn.log; empty if the file's name has no "conn" in it.
std::string ssl_log_beside(const std::string& conn_log);

/// Returns the class for Zeek's services of a flow: "smb,gssapi" becomes "gssapi+smb". Empty if it names none.
std::string zeek_class(std::string_view services);

/// Returns the part of a host's name that someone registers: "a.b.example.com" becomes "example.com", and
/// "a.example.co.uk" becomes "example.co.uk". Empty if it is no host's name, for example an address.
std::string registered_domain(std::string_view host);

}  // namespace parshall
