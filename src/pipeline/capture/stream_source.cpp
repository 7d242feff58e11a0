// SPDX-License-Identifier: Apache-2.0
#include "pipeline/capture/stream_source.hpp"

#include <fmt/format.h>

#include <limits>

namespace parshall {

StreamSource::~StreamSource() { ring_->release(consumer_, std::numeric_limits<std::uint64_t>::max() / 2); }

std::size_t StreamSource::poll(std::span<RawPacket> out) noexcept {
  // Packets of the last poll are still in use; those of the one before are not.
  if (needed_by_last_poll_ > released_) {
    released_ = needed_by_last_poll_;
    ring_->release(consumer_, released_);
  }
  needed_by_last_poll_ = rest_.empty() ? next_chunk_ : next_chunk_ - 1;
  if (out.empty() || exhausted_) return 0;

  if (rest_.empty()) {
    const auto chunk = ring_->chunk(next_chunk_, kPatience);
    if (!chunk) {
      if (!ring_->ended_before(next_chunk_)) return 0;
      parser_->finish({});
      exhausted_ = true;
      return 0;
    }
    rest_ = *chunk;
    ++next_chunk_;
  }
  Parsed parsed;
  do {
    parsed = parser_->parse(rest_, out);
    rest_ = rest_.subspan(parsed.bytes);
  } while (parsed.packets == 0 && parsed.bytes > 0);
  if (parsed.packets == 0 && !rest_.empty()) {  // only the last chunk may end with an incomplete record
    parser_->finish(rest_);
    exhausted_ = true;
  }
  return parsed.packets;
}

std::optional<Error> StreamSource::damage() const {
  if (exhausted_) {
    // A failed read is the cause; the truncation that the parser found is its consequence.
    if (const auto error = ring_->read_error()) return Error{fmt::format("{}: {}", ring_->name(), *error)};
  }
  if (!parser_->damage()) return std::nullopt;
  return Error{fmt::format("{}: {}", ring_->name(), *parser_->damage())};
}

}  // namespace parshall
