// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <fmt/format.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <fstream>
#include <string>

#include "base/result.hpp"

namespace parshall {

constexpr std::size_t kMostTextBytes = std::size_t{1} << 20;  ///< limit for configuration, state and profile files

/// Reads a whole file of text that a person wrote or could have written. Fails if it cannot be read, such as a folder,
/// or is longer than `most`, such as an endless device. The error begins with the path.
inline Result<std::string> read_text(std::istream& file, const std::string& path, std::size_t most = kMostTextBytes) {
  errno = 0;
  std::string text(most + 1, '\0');
  if (file) file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (file.bad()) return Error{fmt::format("{}: {}", path, std::strerror(errno))};
  text.resize(static_cast<std::size_t>(file.gcount()));
  if (text.size() > most) return Error{fmt::format("{}: it is longer than {} MB", path, most >> 20)};
  return text;
}

inline Result<std::string> read_text_file(const std::string& path, std::size_t most = kMostTextBytes) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return Error{fmt::format("{}: {}", path, std::strerror(errno))};
  return read_text(file, path, most);
}

}  // namespace parshall
