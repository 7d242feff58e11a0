// SPDX-License-Identifier: Apache-2.0
#include "cli/whole_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "base/output_modes.hpp"
#include "pipeline/output/output.hpp"

namespace parshall::cli {
namespace {

namespace fs = std::filesystem;

Error failed(const std::string& path, int number) {
  return {fmt::format("cannot write {}: {}", path, std::strerror(number))};
}

/// Returns the target of a link, or the path itself if nothing exists there.
std::string target_of(const std::string& path) {
  std::error_code none;
  const fs::path target = fs::canonical(path, none);
  return none ? path : target.string();
}

/// Returns true if the path is no regular file, but a device or a pipe.
bool is_special(const std::string& path) {
  struct stat there;
  return path == "-" || (::stat(path.c_str(), &there) == 0 && !S_ISREG(there.st_mode));
}

std::string folder_of(const std::string& path) {
  const fs::path folder = fs::path(path).parent_path();
  return folder.empty() ? "." : folder.string();
}

bool write_all(int fd, const std::string& text) {
  for (std::size_t at = 0; at < text.size();) {
    const ssize_t wrote = ::write(fd, text.data() + at, text.size() - at);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) return false;
    at += static_cast<std::size_t>(wrote);
  }
  return true;
}

/// Returns the mode that open() would give: that of the old file, if there is one.
mode_t mode_for(const std::string& path) {
  struct stat there;
  if (::stat(path.c_str(), &there) == 0) return there.st_mode & 0777;
  const mode_t mask = ::umask(0);
  ::umask(mask);
  return kFileMode & ~mask;
}

}  // namespace

Result<std::string> configuration_path(const std::string& name) {
  const char* const config = std::getenv("XDG_CONFIG_HOME");
  if (config != nullptr && config[0] == '/') return fmt::format("{}/parshall/{}", config, name);
  const char* const home = std::getenv("HOME");
  if (home != nullptr && home[0] != '\0') return fmt::format("{}/.config/parshall/{}", home, name);
  return Error{"neither XDG_CONFIG_HOME nor HOME is set: name a file with -o"};
}

std::optional<Error> prepare_for(const std::string& path) {
  if (path == "-") return std::nullopt;
  struct stat there;
  if (::stat(path.c_str(), &there) == 0 && S_ISDIR(there.st_mode)) return failed(path, EISDIR);
  if (is_special(path)) return ::access(path.c_str(), W_OK) == 0 ? std::nullopt : std::optional(failed(path, errno));
  const std::string folder = folder_of(target_of(path));
  if (const std::error_code wrong = make_folders(folder)) return failed(path, wrong.value());
  if (::access(folder.c_str(), W_OK | X_OK) != 0) return failed(path, errno);
  return std::nullopt;
}

std::optional<Error> write_whole(const std::string& path, const std::string& text) {
  if (is_special(path)) {
    auto output = Output::open(path);
    if (!output) return output.error();
    (*output)->write(text);
    (*output)->flush();
    return (*output)->error();
  }
  const std::string target = target_of(path);
  std::string beside = target + ".XXXXXX";
  const int fd = ::mkstemp(beside.data());
  if (fd < 0) return failed(path, errno);
  const bool wrote = write_all(fd, text) && ::fchmod(fd, mode_for(target)) == 0 && ::fsync(fd) == 0;
  int number = wrote ? 0 : errno;
  if (::close(fd) != 0 && number == 0) number = errno;
  if (number == 0 && ::rename(beside.c_str(), target.c_str()) != 0) number = errno;
  if (number == 0) return std::nullopt;
  ::unlink(beside.c_str());
  return failed(path, number);
}

}  // namespace parshall::cli
