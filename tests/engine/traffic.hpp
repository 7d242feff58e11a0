// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <atomic>
#include <cstring>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "base/random.hpp"
#include "pipeline/capture/source.hpp"
#include "pipeline/decode/facts.hpp"

namespace parshall::testing {

inline std::string text_of(const FlowKey& key) {
  return {reinterpret_cast<const char*>(&key), key.significant_bytes()};
}

inline constexpr std::uint64_t kStartNs = 1'600'000'000'000'000'000;

/// A packet as it was put into the traffic; what is not IP has no flow.
struct Sent {
  std::string flow;
  std::uint64_t time_ns;
  std::uint32_t ip_bytes, wire_bytes;
  std::uint64_t position;  ///< packets with a flow before this one
};

/// Frames and the truth about them.
class Traffic {
 public:
  /// UDP from flow number `flow`; every eighth is IPv6. `extra` bytes of payload are on the wire but not captured.
  void add_ip(std::uint64_t flow, std::uint64_t time_ns, std::uint32_t extra) {
    const bool ipv6 = flow % 8 == 7;
    std::vector<std::uint8_t> frame(ipv6 ? 62 : 60);
    frame[0] = frame[6] = 2;
    std::uint8_t* const ip = frame.data() + 14;
    FlowKey key;
    key.protocol = 17;
    key.ip_version = ipv6 ? 6 : 4;
    const std::uint64_t mixed = SplitMix64::mix(flow);
    key.src_port_bytes = {static_cast<std::uint8_t>(mixed), static_cast<std::uint8_t>(mixed >> 8)};
    key.dst_port_bytes = {0, 53};
    const auto number = static_cast<std::uint32_t>(flow);
    std::memcpy(key.address.data(), &number, 4);
    std::memcpy(key.address.data() + key.address_bytes(), &mixed, 4);
    std::uint32_t ip_bytes;
    if (ipv6) {
      ip_bytes = 48 + extra;
      frame[12] = 0x86, frame[13] = 0xDD;
      ip[0] = 0x60, ip[6] = 17, ip[7] = 64;
      put16(ip + 4, 8 + extra);
      std::memcpy(ip + 8, key.address.data(), 32);
    } else {
      ip_bytes = 28 + extra;
      frame[12] = 8;
      ip[0] = 0x45, ip[8] = 64, ip[9] = 17;
      put16(ip + 2, ip_bytes);
      std::memcpy(ip + 12, key.address.data(), 8);
    }
    std::uint8_t* const udp = ip + (ipv6 ? 40 : 20);
    std::memcpy(udp, key.src_port_bytes.data(), 2);
    std::memcpy(udp + 2, key.dst_port_bytes.data(), 2);
    put16(udp + 4, 8 + extra);
    const std::uint32_t wire = std::max<std::uint32_t>(14 + ip_bytes, static_cast<std::uint32_t>(frame.size()));
    add(std::move(frame), time_ns, wire);
    sent_.push_back({text_of(key), time_ns, ip_bytes, wire, sent_.size()});
  }

  void add_arp(std::uint64_t time_ns) {
    std::vector<std::uint8_t> frame(60);
    frame[12] = 8, frame[13] = 6;
    add(std::move(frame), time_ns, 60);
    ++not_ip_;
  }

  /// An IPv4 packet whose header says it is shorter than itself.
  void add_malformed(std::uint64_t time_ns) {
    std::vector<std::uint8_t> frame(60);
    frame[12] = 8, frame[14] = 0x42;
    add(std::move(frame), time_ns, 60);
    ++malformed_;
  }

  const std::vector<RawPacket>& packets() const { return packets_; }
  const std::vector<Sent>& sent() const { return sent_; }
  std::uint64_t not_ip() const { return not_ip_; }
  std::uint64_t malformed() const { return malformed_; }

  using ByFlow = std::unordered_map<std::string, std::vector<const Sent*>>;
  /// The packets of each flow, in order. Made once, after the last packet was added.
  const ByFlow& by_flow() const {
    if (by_flow_.empty())
      for (const Sent& packet : sent_) by_flow_[packet.flow].push_back(&packet);
    return by_flow_;
  }

 private:
  static void put16(std::uint8_t* at, std::uint32_t value) {
    at[0] = static_cast<std::uint8_t>(value >> 8);
    at[1] = static_cast<std::uint8_t>(value);
  }
  void add(std::vector<std::uint8_t> frame, std::uint64_t time_ns, std::uint32_t wire) {
    frames_.push_back(std::move(frame));
    packets_.push_back({.data = frames_.back().data(),
                        .time_ns = time_ns,
                        .captured_bytes = static_cast<std::uint32_t>(frames_.back().size()),
                        .wire_bytes = wire});
  }

  std::deque<std::vector<std::uint8_t>> frames_;
  std::vector<RawPacket> packets_;
  std::vector<Sent> sent_;
  mutable ByFlow by_flow_;
  std::uint64_t not_ip_ = 0, malformed_ = 0;
};

struct Mix {
  std::uint64_t packets = 100'000;
  std::uint64_t flows = 1000;
  double zipf_exponent = 0;
  bool others = true;  ///< one packet in 50 has no flow
};

inline std::shared_ptr<const Traffic> make_traffic(const Mix& mix) {
  auto traffic = std::make_shared<Traffic>();
  SplitMix64 random(mix.packets ^ mix.flows);
  const Zipf zipf(mix.zipf_exponent > 0 ? mix.zipf_exponent : 1, mix.flows);
  std::uint64_t time_ns = kStartNs;
  for (std::uint64_t i = 0; i < mix.packets; ++i) {
    time_ns += 1 + random.below(2000);
    if (mix.others && random.below(50) == 0) {
      if (random.below(2) == 0)
        traffic->add_arp(time_ns);
      else
        traffic->add_malformed(time_ns);
    } else {
      traffic->add_ip(mix.zipf_exponent > 0 ? zipf(random) : random.below(mix.flows), time_ns,
                      static_cast<std::uint32_t>(random.below(1400)));
    }
  }
  return traffic;
}

/// How a source behaves towards who polls it.
struct Behaviour {
  bool lossless = true;
  std::uint64_t pause_every = 0;  ///< packets after which it yields for a while
  std::shared_ptr<const std::atomic<std::uint64_t>> gate =
      nullptr;               ///< hands out no packet from this number on, for now
  bool endless = false;      ///< never exhausted: once all packets are out, none is waiting
  std::uint64_t rounds = 1;  ///< how often the packets are played; times repeat
};

class ListSource final : public PacketSource {
 public:
  ListSource(std::shared_ptr<const Traffic> traffic, Behaviour behaviour)
      : traffic_(std::move(traffic)), behaviour_(std::move(behaviour)) {}

  std::size_t poll(std::span<RawPacket> out) noexcept override {
    const auto& packets = traffic_->packets();
    if (next_ == packets.size() && round_ + 1 < behaviour_.rounds) next_ = 0, ++round_;
    if (behaviour_.pause_every != 0 && since_pause_ >= behaviour_.pause_every) {
      since_pause_ = 0;
      std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
    const std::size_t open = behaviour_.gate ? std::min<std::size_t>(*behaviour_.gate, packets.size()) : packets.size();
    const std::size_t count = std::min(out.size(), open - next_);
    std::copy_n(packets.begin() + static_cast<std::ptrdiff_t>(next_), count, out.begin());
    next_ += count;
    since_pause_ += count;
    return count;
  }
  bool exhausted() const noexcept override {
    return !behaviour_.endless && next_ == traffic_->packets().size() && round_ + 1 >= behaviour_.rounds;
  }
  bool lossless() const noexcept override { return behaviour_.lossless; }

 private:
  std::shared_ptr<const Traffic> traffic_;
  Behaviour behaviour_;
  std::size_t next_ = 0;
  std::uint64_t since_pause_ = 0, round_ = 0;
};

}  // namespace parshall::testing
