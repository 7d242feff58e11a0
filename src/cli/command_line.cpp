// SPDX-License-Identifier: Apache-2.0
#include "cli/command_line.hpp"

#include <fstream>
#include <iterator>

#include "base/escaped.hpp"

namespace parshall::cli {

std::string command_line() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  const std::string words(std::istreambuf_iterator<char>(file), {});
  std::string line = words.substr(0, words.find('\0'));
  line.erase(0, line.rfind('/') + 1);
  for (std::size_t at = words.find('\0'); at != std::string::npos && at + 1 < words.size();) {
    const std::string word(words, at + 1, words.find('\0', at + 1) - at - 1);
    const bool is_plain = !word.empty() && word.find_first_of(" \t\n'\"\\$`&|;<>()*?[]#~!{}") == std::string::npos;
    line += " ";
    if (!is_plain) line += "'";
    for (const char c : word) line += c == '\'' ? std::string("'\\''") : std::string(1, c);
    if (!is_plain) line += "'";
    at = words.find('\0', at + 1);
  }
  return escaped(line);  // a path may hold any bytes, but reports are UTF-8
}

}  // namespace parshall::cli
