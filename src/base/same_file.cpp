// SPDX-License-Identifier: Apache-2.0
#include "base/same_file.hpp"

#include <sys/stat.h>

#include <filesystem>
#include <system_error>

namespace parshall {

namespace fs = std::filesystem;

std::string resolved_path(const std::string& path) {
  constexpr int kMostLinks = 40;  // the limit of Linux
  std::error_code wrong;
  fs::path at = fs::absolute(path, wrong).lexically_normal();
  // weakly_canonical() does not follow a dangling link, so links of the last part are followed here. Opening a file can
  // create only the last part.
  for (int links = 0; links < kMostLinks && fs::is_symlink(fs::symlink_status(at, wrong)); ++links)
    at = (at.parent_path() / fs::read_symlink(at, wrong));
  const fs::path folder = fs::weakly_canonical(at.parent_path(), wrong);
  return ((wrong ? at.parent_path() : folder) / at.filename()).lexically_normal().string();
}

bool same_file(const std::string& one, const std::string& other) {
  if (one.empty() || other.empty() || one == "-" || other == "-") return false;
  struct stat a {
  }, b{};
  const bool has_one = ::stat(one.c_str(), &a) == 0, has_other = ::stat(other.c_str(), &b) == 0;
  if (has_one && has_other) return S_ISREG(b.st_mode) && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
  return !has_one && !has_other && resolved_path(one) == resolved_path(other);
}

}  // namespace parshall
