// SPDX-License-Identifier: Apache-2.0
#include "parshall/sources/lanes.hpp"

#include <fmt/format.h>

namespace parshall {
namespace {

/// Returns the workers of a device, for each direction.
std::size_t workers_of(const SourcePlan& source, const SessionOptions& session) noexcept {
  return source.forward.empty() ? session.workers : session.workers / 2;
}

}  // namespace

std::size_t lanes_of(const SessionOptions& session) noexcept {
  return session.threads.model == ThreadModel::pipeline ? 1 : session.workers;
}

std::uint64_t limit_of(const SessionOptions& session) noexcept {
  return session.limits.packets != 0 ? session.limits.packets : ~std::uint64_t{0};
}

std::size_t queues_of(const SourcePlan& source, const SessionOptions& session) noexcept {
  if (source.queues != 0) return source.queues;
  return source.forward.empty() ? lanes_of(session) : workers_of(source, session);
}

std::optional<Error> queues_problem(const SourcePlan& source, const SessionOptions& session, bool keeps_directions) {
  const std::size_t workers = workers_of(source, session), queues = queues_of(source, session);
  if (session.threads.model != ThreadModel::pipeline && queues != workers)
    return Error{fmt::format("{} queues for {} workers: give as many of one as of the other, or --threads pipeline",
                             queues, workers)};
  if (session.stage.biflow && lanes_of(session) != 1 && !keeps_directions)
    return Error{
        fmt::format("--biflow: {} may give the two directions of a flow to different workers: give --threads pipeline, "
                    "or one worker",
                    source.interface)};
  if (queues > 1 && session.limits.packets != 0)
    return Error{
        "--count cannot be kept over several receive queues: leave it out, or give --queues 1 and --workers 1"};
  return std::nullopt;
}

std::string remedy_for(std::uint32_t descriptors) {
  return fmt::format(
      "--descriptors above {} outlasts longer pauses, --cores keeps other programs off, --workers shares the work",
      descriptors);
}

}  // namespace parshall
