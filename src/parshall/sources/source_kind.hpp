// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "engine/session.hpp"
#include "parshall/held.hpp"
#include "parshall/plan.hpp"

namespace parshall {

/// System resources that a source needs once it is open. The sandbox takes away everything else. Plain data.
struct SourceNeeds {
  std::vector<std::string> reads, writes;  ///< files
  std::vector<std::string> binds;          ///< socket files, which it makes and removes
  bool has_driver = false;                 ///< a DPDK driver, with its threads, sockets and device memory
  bool is_on_pci = false;                  ///< a driver on PCI, which may need any privilege
  bool uses_xdp = false;                   ///< it loads an XDP program into the kernel, and detaches it at the end
  bool abstract_sockets = false;           ///< it connects to sockets that have a name but no file
};

/// Kind of source: how it is opened, and the answers to all that the rest of the program asks about a source.
struct SourceKind {
  std::string_view option, value;        ///< how it is named: "-r", "FILE"
  std::string (*help)() = nullptr;       ///< null: it is not listed
  std::string SourcePlan::*name{};       ///< member of a plan that names it
  std::string_view described_as{};       ///< for messages; empty: by its name
  bool is_capture = false;               ///< packets have times of their own, and reading pauses for a report
  bool is_link = false;                  ///< packets are captured on a link, perhaps through several receive queues
  bool has_nic_hashes = false;           ///< packets may carry a hash that the device computed
  bool is_held_wholly = true;            ///< what `hold` opens is all that needs privileges
  bool (*matches)(const SourcePlan&){};  ///< at most one kind matches what a plan names
  bool (*can_wait)(const SourcePlan&) = [](const SourcePlan&) { return true; };  ///< whether it waits for its reader

  /// Returns why it does not go with the threads or the flows of a session. Null: it always does.
  std::optional<Error> (*problem)(const SourcePlan&, const SessionOptions&) = nullptr;
  /// Opens what needs privileges. Null: nothing does.
  void (*hold)(const Plan&, Held&) = nullptr;
  /// Opens the source, or continues with what is held, with as many lanes as the thread model needs.
  Result<Input> (*open)(const SourcePlan&, const SessionOptions&, Held) = nullptr;

  /// Returns the link types that packets may have, before one is read. Null: Ethernet.
  std::vector<LinkType> (*link_types)(const Held&) = nullptr;
  /// Returns the names of the interfaces whose packets it tells apart. Null: it does not.
  std::vector<std::string> (*interfaces)(const SourcePlan&, const Held&) = nullptr;
  /// Returns what it needs once it is open. Null: nothing.
  SourceNeeds (*needs)(const SourcePlan&) = nullptr;

  /// Returns the name that the plan gives it.
  std::string name_in(const SourcePlan& plan) const { return name == nullptr ? std::string() : plan.*name; }
};

/// Returns all kinds of sources.
std::span<const SourceKind* const> source_kinds() noexcept;

/// Returns the kind of source that a plan names. If it names none, the kind has no option, and cannot be opened.
const SourceKind& kind_of(const SourcePlan& plan) noexcept;

/// Returns true if the plan names a source.
bool names_source(const SourcePlan& plan) noexcept;

/// Returns what the plan's source needs once it is open.
SourceNeeds needs_of(const SourcePlan& plan);

}  // namespace parshall
