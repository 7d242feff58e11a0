// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>

#include "base/result.hpp"

namespace parshall::cli {

/// What a run keeps of its rights once its source is open: packets are parsed, and outputs written, with no more.
struct Privileges {
  std::string user;             ///< to become; empty: who started it
  bool sets_scheduler = false;  ///< threads that begin later take a scheduling class of their own
  bool detaches_xdp = false;    ///< a program is to be taken off a link in the end
  bool is_on_pci = false;       ///< a device whose driver may want any right of root's
  bool runs_commands = false;   ///< which may have rights of their own, such as sudo, or want root's
};

/// Why this process cannot become that user, if it cannot; nothing where none is named.
std::optional<Error> user_problem(const std::string& user);

/// From now on this process is of that user, where one is named, with his groups. Whoever is not root then has no
/// capability any more, in any thread, but for that to set scheduling classes where no limit (RLIMIT_RTPRIO) allows
/// them, and for that to take a program off a link; and no program that it runs has more, unless it runs commands.
/// Root has those, too, that outputs of root take: to read and write all files, and any port. All are left to root
/// where a driver or commands may want them.
/// Error: the kernel refuses; the process is to end then.
std::optional<Error> drop_privileges(const Privileges& kept);

}  // namespace parshall::cli
