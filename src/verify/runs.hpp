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

/// A file that was looked at.
struct VerifiedFile {
  std::string path;
  ExportedFile read;
};

/// What the files of one run add up to.
struct VerifiedRun {
  std::string name;  ///< or the path of the one file that it is
  std::uint64_t files = 0, records = 0, packets = 0;
  bool has_packets = true;  ///< of each of its records it is known how many
  std::optional<ExportAccount> account;
  std::string problem;  ///< empty: it all adds up
};

struct Verified {
  std::vector<VerifiedFile> files;
  std::vector<VerifiedRun> runs;
  std::vector<Error> unreadable;  ///< files, or what is in them is none of ours

  bool is_good() const noexcept;
};

/// Reads files, and those in folders, and adds each run's up. Files of a folder whose name is of no output are left
/// out. Fails where a folder cannot be read, and where there is nothing to verify.
Result<Verified> verify(std::span<const std::string> paths);

}  // namespace parshall
