// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/file_handle.hpp"
#include "base/result.hpp"
#include "parshall/plan.hpp"
#include "pipeline/capture/bpf_filter.hpp"
#include "pipeline/capture/packet_socket.hpp"
#include "pipeline/output/records/places.hpp"
#include "web/server.hpp"

namespace parshall {

/// Holds what a plan names and a process can only get before it drops its privileges. wire() and Run::open() get the
/// parts that are missing themselves. An error shows when its part is asked for. No packet is read yet.
struct Held {
  PlanTexts texts;
  std::optional<Result<std::shared_ptr<const Places>>> places;  ///< of --geo
  std::optional<BpfFilter> filter;                              ///< compiled
  std::uint32_t interface_number = 0;                           ///< the kernel's interface index; 0: not asked for
  std::optional<Result<FileHandle>> file;
  std::optional<Result<std::unique_ptr<PacketSocket>>> socket;
  /// Listening metrics servers, opened early because a sandbox forbids listening.
  std::optional<Result<std::vector<std::unique_ptr<web::Server>>>> metrics;

  /// Opens what the source needs privileges for, and the metrics servers, loads libraries, and reads the files. wire()
  /// parses their texts later, and reports any file that could not be read, and any library that could not be loaded.
  static Held of(const Plan& plan);

  /// Resolves the host names in the source's filter. A capture's filter gets addresses in place of names; any other
  /// filter is compiled for all link types that may come. Error: libpcap's message about the filter.
  std::optional<Error> hold_filter(const SourcePlan& source);
};

}  // namespace parshall
