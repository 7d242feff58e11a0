// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace parshall::sandbox {

/// What may be done with a file, or with all beneath a folder.
enum class Access : std::uint8_t {
  read,
  write,     ///< of a folder: files in it are made and written, too
  own,       ///< of a folder: files and folders in it are made, read, written, renamed and removed
  socket,    ///< of a folder: sockets in it are made, and files removed
  terminal,  ///< read, written, and its modes set
};

struct PathRule {
  std::string path;
  Access access;
};

/// Kinds of sockets that may be opened. Those that are open already can be used anyway.
enum class Sockets : std::uint8_t { local, internet, netlink };

/// What a run may still do once its source is open: nothing else. Plain data.
struct Rules {
  std::vector<PathRule> paths;          ///< those that are not there are left out
  std::vector<std::uint16_t> connects;  ///< TCP ports, of any host
  bool connects_anywhere = false;       ///< ports are not known
  std::vector<Sockets> sockets;
  bool abstract_sockets = false;  ///< of processes outside: by name, without a file
  bool programs = false;          ///< of the kernel (BPF): loaded and detached
  bool schedules = false;         ///< threads are given cores and classes by others
  bool is_device = false;         ///< of DPDK, which makes memory that is a file

  std::vector<std::string> open;  ///< what of it the run needs more of than it should have, and why
  std::string unfit;              ///< why such a run cannot be held at all; empty: it can

  bool opens(Sockets kind) const noexcept { return std::ranges::find(sockets, kind) != sockets.end(); }
};

}  // namespace parshall::sandbox
