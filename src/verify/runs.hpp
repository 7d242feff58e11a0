// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "verify/exported_file.hpp"

namespace parshall {

/// A file that was verified.
struct VerifiedFile {
  std::string path;
  ExportedFile read;
};

/// Sum over the files of one run.
struct VerifiedRun {
  std::string name;  ///< or the path, for a single file
  std::uint64_t files = 0, records = 0, packets = 0;
  bool has_packets = true;  ///< true if the packets of each record are known
  std::optional<ExportAccount> account;
  std::string problem;  ///< empty: everything adds up
};

struct Verified {
  std::vector<VerifiedFile> files;
  std::vector<VerifiedRun> runs;
  std::vector<Error> unreadable;  ///< files that cannot be read, or that have other contents

  bool is_good() const noexcept;
};

/// Reads files, and the files in folders, and adds up each run. In a folder, files are skipped unless their names are
/// those of an output. Fails if a folder cannot be read, or if there is nothing to verify.
Result<Verified> verify(std::span<const std::string> paths);

}  // namespace parshall
