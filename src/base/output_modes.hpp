// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <sys/stat.h>

#include <cerrno>
#include <filesystem>
#include <string>
#include <system_error>

namespace parshall {

/// Permissions of new files and folders. Measurements reveal who talks to whom, so only the user and the group may read
/// them.
inline constexpr mode_t kFileMode = 0640, kFolderMode = 0750;

/// Makes the folder and its missing parents.
inline std::error_code make_folders(const std::filesystem::path& folder) {
  std::error_code wrong;
  if (folder.empty() || std::filesystem::is_directory(folder, wrong)) return {};
  if (const auto above = folder.parent_path(); above != folder)
    if (const std::error_code failed = make_folders(above)) return failed;
  if (::mkdir(folder.c_str(), kFolderMode) == 0) return {};
  const std::error_code failed(errno, std::generic_category());
  if (std::filesystem::is_directory(folder, wrong)) return {};  // another process has just made it
  return failed == std::errc::file_exists ? std::make_error_code(std::errc::not_a_directory) : failed;
}

}  // namespace parshall
