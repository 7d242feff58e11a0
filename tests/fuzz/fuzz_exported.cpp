// SPDX-License-Identifier: Apache-2.0
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <map>
#include <string>
#include <string_view>

#include "base/file_handle.hpp"
#include "targets.hpp"
#include "verify/exported_file.hpp"
#include "verify/parquet_rows.hpp"

namespace parshall::fuzz {
namespace {

bool same(const ExportedFile& a, const ExportedFile& b) {
  return a.run == b.run && a.records == b.records && a.packets == b.packets && a.problem == b.problem &&
         a.account.has_value() == b.account.has_value();
}

/// As a file that nobody keeps: what is found by its first bytes is what its own reader says.
void check_as_file(Bytes bytes) {
  const FileHandle file(::memfd_create("fuzz", MFD_CLOEXEC));
  require(file && ::write(file.get(), bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()));
  const auto found = read_exported("/proc/self/fd/" + std::to_string(file.get()));
  if (bytes.empty()) return require(found && found->problem == "empty");
  const std::string_view text = text_of(bytes);
  if (text.starts_with("PAR1")) return require(found && same(*found, read_parquet(bytes)));
  if (text.starts_with(std::string_view("\0\x0a", 2))) return require(found && same(*found, read_ipfix(bytes)));
  if (text.starts_with("{\"")) return require(found && same(*found, read_json_lines(bytes)));
  require(!found && !found.error().message.empty());
}

}  // namespace

/// Whatever is read again: it ends, and more is never said than there is room for.
void fuzz_exported(Bytes input) {
  constexpr std::size_t kLeastRecordBytes = 1;
  for (const auto read : {read_ipfix, read_json_lines}) {
    const ExportedFile found = read(input);
    require(found.records <= input.size() / kLeastRecordBytes);
    if (found.problem.empty() && found.account && found.account->records_written > 0) require(input.size() >= 16);
  }
  // A whole file that lost its last byte is not whole.
  if (read_parquet(input).problem.empty()) require(!read_parquet(input.first(input.size() - 1)).problem.empty());
  std::map<std::string, std::string> metadata;
  std::size_t rows = 0;
  constexpr std::array<std::string_view, 4> kColumns = {"flow_key", "src_ip", "packets", "end_reason"};
  const std::string problem = read_parquet_rows(input, kColumns, metadata, [&](const ParquetRow& row) {
    require(row.numbers.size() == kColumns.size() && row.texts.size() == kColumns.size());
    for (std::size_t i = 0; i < kColumns.size(); ++i) require(row.present[i] || row.texts[i].empty());
    return ++rows < 1000;
  });
  if (read_parquet(input).problem.empty() && rows < 1000) require(problem.empty());
  check_as_file(input);
}

}  // namespace parshall::fuzz
