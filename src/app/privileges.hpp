// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <string>

#include "base/result.hpp"

namespace parshall::cli {

/// Privileges that a run keeps once its source is open. Packets are parsed, and outputs written, with no others.
struct Privileges {
  std::string user;             ///< user to become; empty: no change
  bool sets_scheduler = false;  ///< threads that start later set their own scheduling class
  bool detaches_xdp = false;    ///< an XDP program must be detached from a link at the end
  bool is_on_pci = false;       ///< a PCI device, whose driver may need any privilege of root
  bool runs_commands = false;   ///< commands may need privileges of their own, such as sudo or root
};

/// Puts all capabilities that this process is permitted into effect. A program file can so have capabilities that it
/// can be started without, as in a container that was given fewer: `setcap cap_net_raw+p`, not `+ep`.
void use_permitted_capabilities() noexcept;

/// Returns why this process cannot become that user; nullopt if it can, or if no user is named.
std::optional<Error> user_problem(const std::string& user);

/// Becomes the user named, with their groups, and gives up privileges in every thread.
/// A process that is not root then has no capabilities left, with two exceptions. It keeps the one to set scheduling
/// classes where no limit (RLIMIT_RTPRIO) allows them, and the one to detach a program from a link. Programs that it
/// runs get no more, unless it runs commands.
/// Root also keeps those that its outputs need: to read and write all files, and to use any port. Root keeps all
/// capabilities if a driver or commands may need them.
/// Error:  the kernel refuses; the process must end then.
std::optional<Error> drop_privileges(const Privileges& kept);

}  // namespace parshall::cli
