// SPDX-License-Identifier: Apache-2.0
#include "pipeline/measure/name_reader.hpp"

#include <algorithm>
#include <cstring>

namespace parshall {

NameReader::NameReader(NameColumns wanted, IpHeader header, bool can_wait)
    : reader_(ApplicationWishes{.ja4 = wanted.has(NameColumn::ja4)}),
      header_(header),
      streams_(kStreams, /*huge_pages=*/false),
      can_wait_(can_wait) {}

/// Returns whether there is time for something that takes long, and takes it.
bool NameReader::may_take_long(std::uint64_t time_ns) noexcept {
  constexpr std::uint64_t kEachNs = 1'000'000'000 / kPerSecond;
  if (can_wait_) return true;
  if (latest_ns_ == 0)
    spare_ns_ = kAtOnce * kEachNs;
  else if (time_ns > latest_ns_)
    spare_ns_ = std::min(spare_ns_ + (time_ns - latest_ns_), kAtOnce * kEachNs);
  latest_ns_ = std::max(latest_ns_, time_ns);
  if (spare_ns_ < kEachNs) return false;
  spare_ns_ -= kEachNs;
  return true;
}

/// Counts a flow that will have no name.
Reading NameReader::give_up() noexcept {
  not_read_.store(not_read() + 1, std::memory_order_relaxed);
  return Reading::unknown;
}

void NameReader::read(std::uint32_t slot, std::byte* at, std::byte* carries, const RawPacket& packet,
                      const ApplicationNames& names) noexcept {
  State state;
  std::memcpy(&state, at, sizeof state);
  Reading reading = Reading::needs_more;
  if (Payload payload; read_payload(packet, header_, payload))
    reading = payload.is_tcp ? read_segment(slot, state, payload, packet.time_ns)
                             : read_datagram(slot, state, payload, packet.time_ns);
  if (reading == Reading::done) {
    names.write(facts_, carries);
    state.set(State::has_names);
  }
  ++state.packets;
  const bool is_last = state.packets == ApplicationNames::kPackets || state.payloads() == ApplicationNames::kPayloads;
  if (reading != Reading::needs_more || is_last) {
    state.clear(State::is_open);
    end_stream(slot, state);
  }
  std::memcpy(at, &state, sizeof state);
}

/// Reads what came of the stream's beginning. Without a SYN, the first payload is taken for the beginning. Bytes of an
/// unknown protocol are passed over, since TLS may follow them, as after STARTTLS.
Reading NameReader::read_segment(std::uint32_t slot, State& state, const Payload& payload,
                                 std::uint64_t time_ns) noexcept {
  const std::uint32_t seq = payload.seq + (payload.is_syn ? 1 : 0);
  if (payload.is_syn || (!state.is(State::knows_start) && !payload.bytes.empty())) {
    state.first_seq = seq;
    state.set(State::knows_start);
  }
  if (payload.bytes.empty()) return Reading::needs_more;
  state.add_payload();
  const std::uint32_t offset = seq - state.first_seq;
  if (offset >= FirstBytes::kBytes) return Reading::needs_more;
  facts_.clear();
  if (offset == 0 && state.stream == 0) {
    const Reading reading = reader_.read_stream(payload.bytes, payload.src_port, payload.dst_port, facts_);
    if (reading == Reading::unknown) return pass_over(payload.bytes.size(), state);
    if (reading == Reading::done) return reading;
  }
  if (!may_take_long(time_ns)) return give_up();
  Stream* stream = stream_of(slot, state);
  if (stream == nullptr) {
    if (state.stream != 0) return Reading::unknown;  // its bytes were given to another flow
    stream = &begin_stream(slot, state);
  }
  FirstBytes& bytes = stream->bytes.crypto;
  bytes.insert(offset, payload.bytes);
  if (bytes.prefix().empty()) return Reading::needs_more;
  const Reading reading = reader_.read_stream(bytes.prefix(), payload.src_port, payload.dst_port, facts_);
  if (reading != Reading::unknown) return reading;
  const std::size_t passed = bytes.prefix().size();
  end_stream(slot, state);
  return pass_over(passed, state);
}

Reading NameReader::pass_over(std::size_t bytes, State& state) noexcept {
  state.first_seq += static_cast<std::uint32_t>(bytes);
  return Reading::needs_more;
}

/// Reads a datagram. One of an unknown protocol may be followed by one of a known.
Reading NameReader::read_datagram(std::uint32_t slot, State& state, const Payload& payload,
                                  std::uint64_t time_ns) noexcept {
  if (payload.bytes.empty()) return Reading::needs_more;
  state.add_payload();
  facts_.clear();
  if (QuicReader::may_be_initial(payload.bytes) && !may_take_long(time_ns)) return give_up();
  Stream* stream = stream_of(slot, state);
  if (stream == nullptr && state.stream != 0) return Reading::unknown;
  if (stream == nullptr) datagram_.clear();
  QuicFlow& flow = stream == nullptr ? datagram_ : stream->bytes;
  const Reading reading = reader_.read_datagram(payload.bytes, payload.src_port, payload.dst_port, flow, facts_);
  if (reading == Reading::needs_more && stream == nullptr && flow.has_keys) begin_stream(slot, state).bytes = datagram_;
  return reading == Reading::unknown ? Reading::needs_more : reading;
}

NameReader::Stream* NameReader::stream_of(std::uint32_t slot, const State& state) noexcept {
  if (state.stream == 0) return nullptr;
  Stream& stream = streams_[state.stream - 1u];
  return stream.is_used != 0 && stream.slot == slot ? &stream : nullptr;
}

void NameReader::end_stream(std::uint32_t slot, State& state) noexcept {
  if (Stream* const stream = stream_of(slot, state)) stream->is_used = 0;
  state.stream = 0;
}

NameReader::Stream& NameReader::begin_stream(std::uint32_t slot, State& state) noexcept {
  Stream& stream = streams_[next_];
  if (stream.is_used != 0) give_up();
  next_ = (next_ + 1) % kStreams;
  stream.slot = slot;
  stream.is_used = 1;
  stream.bytes.clear();
  state.stream = static_cast<std::uint16_t>(&stream - streams_.data() + 1);
  return stream;
}

void NameReader::flow_ended(std::uint32_t slot, const std::byte* at) noexcept {
  State state;
  std::memcpy(&state, at, sizeof state);
  if (Stream* const stream = stream_of(slot, state)) stream->is_used = 0;
}

void NameReader::flow_moved(const std::byte* at, std::uint32_t from, std::uint32_t to) noexcept {
  State state;
  std::memcpy(&state, at, sizeof state);
  if (Stream* const stream = stream_of(from, state)) stream->slot = to;
}

}  // namespace parshall
