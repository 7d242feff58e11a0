// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace parshall {

/// System resources that an output needs to be opened and written, possibly repeatedly for a collector. The sandbox
/// takes away everything else. Plain data.
struct OutputNeeds {
  std::vector<std::string> files;       ///< files to write, made if they are missing
  std::vector<std::string> folders;     ///< folders, made if they are missing, in which files and folders are made
  std::vector<std::string> reads;       ///< files to read, which may be replaced while the program runs
  std::vector<std::uint16_t> connects;  ///< TCP ports
  bool connects_anywhere = false;       ///< true if peers name the TCP ports to connect to
  bool uses_network = false;
  bool asks_for_names = false;  ///< true if host names are looked up, at any time
  bool listens = false;         ///< true if it listens on its own ports
  std::string runs_program;     ///< path of a program; empty: none
};

}  // namespace parshall
