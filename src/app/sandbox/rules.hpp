// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace parshall::sandbox {

/// Access to a file, or to everything beneath a folder.
enum class Access : std::uint8_t {
  read,
  write,     ///< in a folder: also create and write files
  own,       ///< in a folder: create, read, write, rename and remove files and folders
  socket,    ///< in a folder: create sockets, remove files
  terminal,  ///< read, write, and set its modes
};

struct PathRule {
  std::string path;
  Access access;
};

/// Kinds of sockets that may be opened. Sockets that are open already stay usable.
enum class Sockets : std::uint8_t { local, internet, netlink };

/// All that a run may still do once its source is open. Plain data.
struct Rules {
  std::vector<PathRule> paths;          ///< paths that do not exist are skipped
  std::vector<std::uint16_t> connects;  ///< TCP ports of any host
  bool connects_anywhere = false;       ///< true: the ports are not known
  std::vector<Sockets> sockets;
  bool abstract_sockets = false;  ///< true: connect to sockets of other processes that have a name but no file
  bool programs = false;          ///< true: load and detach BPF programs
  bool schedules = false;         ///< true: threads set each other's cores and scheduling classes
  bool is_device = false;         ///< true: a DPDK device, whose memory is a file

  std::vector<std::string> open;  ///< rights that are wider than they should be, and why
  std::string unfit;              ///< why such a run cannot be restricted at all; empty: it can

  bool opens(Sockets kind) const noexcept { return std::ranges::find(sockets, kind) != sockets.end(); }
};

}  // namespace parshall::sandbox
