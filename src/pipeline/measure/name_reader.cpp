// SPDX-License-Identifier: Apache-2.0
#include "pipeline/measure/name_reader.hpp"

#include <algorithm>
#include <cstring>
#include <span>
#include <string>

namespace parshall {
namespace {

/// Returns whether a TLS hello or an HTTP request may begin with this byte.
bool may_be_message(std::uint8_t first) noexcept {
  constexpr std::uint8_t kHandshake = 22;
  return first == kHandshake || (first >= 'A' && first <= 'Z');
}

}  // namespace

NameReader::NameReader(const Options& options)
    : options_(options),
      reader_(ApplicationWishes{.ja4 = options.wanted.has(NameColumn::ja4), .quic = options.wanted.has_any_of_quic()}),
      streams_(streams_for(options.can_wait), /*huge_pages=*/false) {}

/// Returns whether there is time for something that takes long.
bool NameReader::has_time(std::uint64_t time_ns) noexcept {
  constexpr std::uint64_t kShare = 5, kSecondNs = 1'000'000'000;
  constexpr std::int64_t kMostNs = 20'000'000;
  if (options_.can_wait) return true;
  if (latest_ns_ == 0) spare_ns_ = kMostNs;
  if (latest_ns_ == 0 || time_ns + kSecondNs < latest_ns_) latest_ns_ = time_ns;  // the clock was set back
  if (time_ns > latest_ns_) {
    const std::uint64_t passed_ns = std::min<std::uint64_t>(time_ns - latest_ns_, kSecondNs);
    spare_ns_ = std::min(spare_ns_ + static_cast<std::int64_t>(passed_ns / kShare), kMostNs);
    latest_ns_ = time_ns;
  }
  return spare_ns_ > 0;
}

void NameReader::take_time(std::uint64_t cost_ns) noexcept { spare_ns_ -= static_cast<std::int64_t>(cost_ns); }

/// Returns about the time that a hostile message of this size takes.
std::uint64_t NameReader::message_ns(std::size_t bytes) const noexcept {
  return bytes * (options_.wanted.has(NameColumn::ja4) ? 7 : 4);
}

/// Counts a flow that will have no name.
Reading NameReader::give_up() noexcept {
  if (options_.not_read != nullptr)
    options_.not_read->store(options_.not_read->load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  return Reading::unknown;
}

void NameReader::read(std::uint32_t slot, std::byte* at, std::byte* carries, const RawPacket& packet,
                      const ApplicationNames& names) noexcept {
  State state;
  std::memcpy(&state, at, sizeof state);
  Reading reading = Reading::needs_more;
  Payload payload;
  facts_.clear();
  const bool has_payload = read_payload(packet, options_.header, payload);
  if (options_.addresses) {
    if (state.is(State::is_open) && state.packets == 0) {
      name_addresses(state, carries, packet, names);
      if (has_payload && is_dns_port(payload.src_port)) state.set(State::answers);
    }
    if (has_payload && state.is(State::answers)) learn_addresses(payload, packet);
    if (!options_.wanted.has_any_of_payload()) state.clear(State::is_open);
    if (!state.is(State::is_open)) {
      std::memcpy(at, &state, sizeof state);
      return;
    }
  }
  if (has_payload)
    reading = payload.is_tcp ? read_segment(slot, state, payload, packet.time_ns)
                             : read_datagram(slot, state, payload, packet.time_ns);
  ++state.packets;
  const bool is_last = state.packets == ApplicationNames::kPackets || state.payloads() == ApplicationNames::kPayloads;
  if (is_last && has_payload && reading == Reading::needs_more) read_rest(slot, state, payload);
  // What a message says before it breaks off counts, if nothing more can come.
  const bool breaks_off = reading == Reading::needs_more && (is_last || (has_payload && payload.is_cut));
  if (reading == Reading::done || (breaks_off && facts_.has_any())) {
    names.write(facts_, state, carries);
    reading = Reading::done;
  }
  if (reading != Reading::needs_more || is_last) {
    state.clear(State::is_open);
    end_stream(slot, state);
  }
  std::memcpy(at, &state, sizeof state);
}

/// Names the addresses of a flow, of which this is the first packet.
void NameReader::name_addresses(State& state, std::byte* carries, const RawPacket& packet,
                                const ApplicationNames& names) noexcept {
  IpPacket found;
  if (!find_ip_packet(packet, options_.header, found)) return;
  const MappedAddress source = mapped(found.key.src_address()), destination = mapped(found.key.dst_address());
  std::string source_name, destination_name;
  options_.addresses->find(destination, source, source_name);
  options_.addresses->find(source, destination, destination_name);
  names.write_addresses(source_name, destination_name, state, carries);
}

/// Learns what an answer of DNS says of addresses. Over TCP, the answer has to be whole in its segment.
void NameReader::learn_addresses(const Payload& payload, const RawPacket& packet) noexcept {
  constexpr std::uint64_t kAnswerNs = 1'000, kAddressNs = 500;
  const DnsKind kind = payload.src_port == kMulticastDnsPort ? DnsKind::multicast : DnsKind::unicast;
  std::span<const std::uint8_t> message = payload.bytes;
  if (payload.is_tcp) message = message.subspan(std::min<std::size_t>(message.size(), 2));  // the length in front
  if (message.empty()) return;
  if (!has_time(packet.time_ns)) {
    give_up();
    return;
  }
  const std::size_t count = read_dns_addresses(message, kind, learnt_);
  take_time(kAnswerNs + count * kAddressNs);
  IpPacket found;
  if (count == 0 || !find_ip_packet(packet, options_.header, found)) return;
  for (const DnsAddress& each : std::span(learnt_).first(count))
    options_.addresses->learn(mapped(found.key.dst_address()), each.address, each.name.view());
}

/// Reads again what came of a TCP stream, after the last packet.
void NameReader::read_rest(std::uint32_t slot, const State& state, const Payload& payload) noexcept {
  Stream* const stream = payload.is_tcp ? stream_of(slot, state) : nullptr;
  if (stream == nullptr || stream->bytes.crypto.prefix().empty()) return;
  if (reader_.read_stream(stream->bytes.crypto.prefix(), payload.src_port, payload.dst_port, facts_) ==
      Reading::unknown)
    facts_.clear();
}

/// Reads what came of the stream's beginning. Without a SYN, the first payload is taken for the beginning. Bytes of an
/// unknown protocol are passed over, since TLS may follow them, as after STARTTLS.
Reading NameReader::read_segment(std::uint32_t slot, State& state, const Payload& payload,
                                 std::uint64_t time_ns) noexcept {
  constexpr std::size_t kShort = 600;
  constexpr std::uint64_t kStreamNs = 2'000;
  const std::uint32_t seq = payload.seq + (payload.is_syn ? 1 : 0);
  if (payload.is_syn || (!state.is(State::knows_start) && !payload.bytes.empty())) {
    state.first_seq = seq;
    state.set(State::knows_start);
  }
  if (payload.bytes.empty()) return Reading::needs_more;
  state.add_payload();
  const std::uint32_t offset = seq - state.first_seq;
  if (offset >= FirstBytes::kBytes) return Reading::needs_more;
  if (offset == 0 && state.stream == 0) {
    const bool is_long = payload.bytes.size() > kShort;
    if (is_long && may_be_message(payload.bytes.front()) && !has_time(time_ns)) return give_up();
    const Reading reading = reader_.read_stream(payload.bytes, payload.src_port, payload.dst_port, facts_);
    // Bytes of another protocol are known by the first of them, and cost nothing.
    if (is_long && reading != Reading::unknown) take_time(message_ns(payload.bytes.size()));
    if (reading == Reading::unknown) return pass_over(payload.bytes.size(), state);
    if (reading == Reading::done || payload.is_cut) return reading;
  }
  Stream* stream = stream_of(slot, state);
  if (stream == nullptr) {
    if (state.stream != 0) return Reading::unknown;  // its bytes were given to another flow
    stream = &begin_stream(slot, state);
  }
  FirstBytes& bytes = stream->bytes.crypto;
  const std::size_t before = bytes.prefix().size();
  bytes.insert(offset, payload.bytes);
  if (bytes.prefix().size() == before) return Reading::needs_more;
  if (!has_time(time_ns)) return give_up();
  take_time(kStreamNs + message_ns(bytes.prefix().size()));
  facts_.clear();
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
  constexpr std::uint64_t kQuicNs = 10'000;
  constexpr std::size_t kIdBytesAt = 5, kLeastIdBytes = 8;  // of a client's first packet
  if (payload.bytes.empty()) return Reading::needs_more;
  state.add_payload();
  Stream* const stream = stream_of(slot, state);
  if (stream == nullptr && state.stream != 0) return Reading::unknown;
  const bool may_be_quic =
      QuicReader::may_be_initial(payload.bytes) && (stream != nullptr || payload.bytes[kIdBytesAt] >= kLeastIdBytes);
  if (may_be_quic && !has_time(time_ns)) return give_up();
  if (may_be_quic) take_time(kQuicNs);
  if (stream == nullptr) datagram_.clear();
  QuicFlow& flow = stream == nullptr ? datagram_ : stream->bytes;
  const Reading reading = reader_.read_datagram(payload.bytes, payload.src_port, payload.dst_port, flow, facts_);
  if (reading == Reading::needs_more && stream == nullptr && flow.has_keys) begin_stream(slot, state).bytes = datagram_;
  return reading == Reading::unknown ? Reading::needs_more : reading;
}

NameReader::Stream* NameReader::stream_of(std::uint32_t slot, const State& state) noexcept {
  if (state.stream == 0) return nullptr;
  Stream& stream = at(state.stream);
  return stream.is_used && stream.slot == slot ? &stream : nullptr;
}

NameReader::Stream& NameReader::begin_stream(std::uint32_t slot, State& state) noexcept {
  if (free_ == 0 && begun_ == streams_.size()) {
    give_up();
    give_back(oldest_);
  }
  const Number number = free_ != 0 ? free_ : ++begun_;
  Stream& stream = at(number);
  if (number == free_) free_ = stream.newer;
  stream.slot = slot;
  stream.is_used = true;
  stream.older = newest_;
  stream.newer = 0;
  stream.bytes.clear();
  (newest_ != 0 ? at(newest_).newer : oldest_) = number;
  newest_ = number;
  state.stream = number;
  return stream;
}

/// Frees a stream in use.
void NameReader::give_back(Number number) noexcept {
  Stream& stream = at(number);
  (stream.older != 0 ? at(stream.older).newer : oldest_) = stream.newer;
  (stream.newer != 0 ? at(stream.newer).older : newest_) = stream.older;
  stream.is_used = false;
  stream.newer = free_;
  free_ = number;
}

void NameReader::end_stream(std::uint32_t slot, State& state) noexcept {
  if (stream_of(slot, state) != nullptr) give_back(state.stream);
  state.stream = 0;
}

void NameReader::flow_ended(std::uint32_t slot, const std::byte* at) noexcept {
  State state;
  std::memcpy(&state, at, sizeof state);
  end_stream(slot, state);
}

void NameReader::flow_moved(const std::byte* at, std::uint32_t from, std::uint32_t to) noexcept {
  State state;
  std::memcpy(&state, at, sizeof state);
  if (Stream* const stream = stream_of(from, state)) stream->slot = to;
}

}  // namespace parshall
