// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "verify/exported_file.hpp"

using namespace parshall;

/// Whatever is read again: it ends, and a few bytes are no account.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Bytes file(data, size);
  for (const auto read : {read_parquet, read_ipfix, read_json_lines}) {
    const ExportedFile found = read(file);
    if (found.problem.empty() && found.account && found.account->records_written > 0 && size < 16) std::abort();
  }
  return 0;
}
