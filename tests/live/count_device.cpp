// SPDX-License-Identifier: Apache-2.0
// Polls every queue of a device until --packets have come or none for --idle seconds, then prints what was counted as
// key=value lines: queue N packets, bytes and device counters, device totals. "ready" is printed once packets are seen.
#include <fmt/format.h>
#include <pthread.h>
#include <sys/socket.h>

#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <functional>
#include <map>
#include <thread>

#include "frame_sender.hpp"
#include "pipeline/capture/dpdk/dpdk_port.hpp"
#include "pipeline/capture/kernel_interface.hpp"

namespace {

using namespace parshall;
using Clock = std::chrono::steady_clock;

constexpr std::size_t kBatch = 256;
volatile std::sig_atomic_t g_stop = 0;

struct Tally {
  std::uint64_t packets = 0, wire_bytes = 0, captured_bytes = 0, hashed = 0, checksum = 0;
  std::uint64_t first_ns = 0, last_ns = 0, longest = 0;
  Counters device;
  bool lossless = false, exhausted = false;
};

struct Limits {
  std::uint64_t packets = UINT64_MAX;
  double idle_seconds = 1;
  double slow_microseconds = 0;  ///< waits this long between polls: to make a device drop
};

void add_bytes(std::span<const RawPacket> packets, Tally& tally) {
  for (const RawPacket& packet : packets) {
    for (std::uint32_t at = 0; at < packet.captured_bytes; ++at) tally.checksum += packet.data[at];
  }
}

/// Reads the bytes of a poll's packets only after the next poll: they must still be there.
void count(PacketSource& source, Tally& tally, const Limits& limits, std::atomic<std::uint64_t>& total) {
  std::array<std::array<RawPacket, kBatch>, 2> batches;
  std::size_t in_previous = 0;
  auto last_packet = Clock::now();
  for (unsigned turn = 0;; turn ^= 1) {
    auto& batch = batches[turn];
    const std::size_t got = source.poll(batch);
    add_bytes(std::span(batches[turn ^ 1]).first(in_previous), tally);
    in_previous = got;
    if (got == 0) {
      if (source.exhausted() || g_stop || total >= limits.packets) break;
      if (std::chrono::duration<double>(Clock::now() - last_packet).count() > limits.idle_seconds) break;
      std::this_thread::sleep_for(std::chrono::microseconds(20));
      continue;
    }
    last_packet = Clock::now();
    if (tally.packets == 0) tally.first_ns = batch[0].time_ns;
    tally.last_ns = batch[got - 1].time_ns;
    for (std::size_t i = 0; i < got; ++i) {
      tally.wire_bytes += batch[i].wire_bytes;
      tally.captured_bytes += batch[i].captured_bytes;
      tally.hashed += batch[i].has_nic_hash;
      tally.longest = std::max<std::uint64_t>(tally.longest, batch[i].wire_bytes);
    }
    tally.packets += got;
    total += got;
    if (total >= limits.packets) {
      add_bytes(std::span(batch).first(got), tally);
      break;
    }
    if (limits.slow_microseconds > 0) {
      std::this_thread::sleep_for(std::chrono::duration<double, std::micro>(limits.slow_microseconds));
    }
  }
  tally.exhausted = source.exhausted();
  tally.lossless = source.lossless();
  tally.device = source.counters();
}

void print(const std::string& who, const Counters& counters) {
  const auto text = [](std::optional<std::uint64_t> value) { return value ? std::to_string(*value) : "absent"; };
  fmt::print("{0}.received={1}\n{0}.nic_missed={2}\n{0}.nic_error={3}\n{0}.no_mbuf={4}\n", who,
             text(counters.known(Counter::nic_received)), text(counters.known(Counter::nic_missed)),
             text(counters.known(Counter::nic_error)), text(counters.known(Counter::no_mbuf)));
}

int affinity_count() {
  cpu_set_t set;
  CPU_ZERO(&set);
  ::pthread_getaffinity_np(::pthread_self(), sizeof set, &set);
  return CPU_COUNT(&set);
}

}  // namespace

int main(int argc, char** argv) {
  DpdkOptions options;
  Limits limits;
  std::uint64_t loop = 0;  // frames to send to the device itself first (a ring)
  int opens = 1;           // how often to open the device; it is read the last time
  const std::map<std::string, std::function<void(const char*)>> known{
      {"--via", [&](const char* v) { options.via = v; }},
      {"--eal", [&](const char* v) { options.eal = v; }},
      {"--queues", [&](const char* v) { options.queues = static_cast<std::uint16_t>(std::atoi(v)); }},
      {"--descriptors", [&](const char* v) { options.descriptors = static_cast<std::uint16_t>(std::atoi(v)); }},
      {"--loop", [&](const char* v) { loop = std::strtoull(v, nullptr, 10); }},
      {"--opens", [&](const char* v) { opens = std::atoi(v); }},
      {"--longest", [&](const char* v) { options.longest_frame = static_cast<std::uint32_t>(std::atoi(v)); }},
      {"--packets", [&](const char* v) { limits.packets = std::strtoull(v, nullptr, 10); }},
      {"--idle", [&](const char* v) { limits.idle_seconds = std::atof(v); }},
      {"--slow", [&](const char* v) { limits.slow_microseconds = std::atof(v); }}};
  for (int i = 1; i < argc; ++i) {
    const auto option = known.find(argv[i]);
    if (option == known.end())
      options.device = argv[i];
    else if (i + 1 < argc)
      option->second(argv[++i]);
  }
  options.seed = 42;
  options.transmit_queues = loop > 0 ? 1 : 0;
  std::signal(SIGINT, [](int) { g_stop = 1; });
  std::signal(SIGTERM, [](int) { g_stop = 1; });

  const int cpus_before = affinity_count();
  auto port = DpdkPort::open(options);
  for (; port && opens > 1; --opens) {
    (*port)->close();
    port = DpdkPort::open(options);
  }
  if (!port) {
    fmt::print(stderr, "count_device: {}\n", port.error().message);
    return 1;
  }
  auto queues = (*port)->take_queues();
  fmt::print("description={}\ncpus_kept={}\nready\n", (*port)->description(), cpus_before == affinity_count());
  std::fflush(stdout);
  if (loop > 0) {
    const Sent sent = send_frames((*port)->port_id(), loop, false);
    fmt::print("accepted={}\nrefused={}\n", sent.accepted, sent.refused);
  }

  std::vector<Tally> tallies(queues.size());
  std::vector<std::thread> workers;
  std::atomic<std::uint64_t> total = 0;
  const auto start = Clock::now();
  for (std::size_t i = 0; i < queues.size(); ++i) {
    workers.emplace_back(count, std::ref(*queues[i]), std::ref(tallies[i]), std::cref(limits), std::ref(total));
  }
  for (std::thread& worker : workers) worker.join();
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  (*port)->close();
  const Counters counted = (*port)->counters();
  queues.clear();
  port->reset();
  fmt::print("sockets_left={}\n", parshall::open_sockets(AF_PACKET).size() + parshall::open_sockets(AF_XDP).size());

  std::uint64_t packets = 0, wire_bytes = 0;
  for (std::size_t i = 0; i < tallies.size(); ++i) {
    const Tally& t = tallies[i];
    fmt::print(
        "queue{0}.packets={1}\nqueue{0}.wire_bytes={2}\nqueue{0}.captured_bytes={3}\nqueue{0}.hashed={4}\n"
        "queue{0}.first_ns={5}\nqueue{0}.last_ns={6}\nqueue{0}.longest={7}\nqueue{0}.checksum={8}\n"
        "queue{0}.lossless={9}\nqueue{0}.exhausted={10}\n",
        i, t.packets, t.wire_bytes, t.captured_bytes, t.hashed, t.first_ns, t.last_ns, t.longest, t.checksum,
        t.lossless, t.exhausted);
    print(fmt::format("queue{}", i), t.device);
    packets += t.packets;
    wire_bytes += t.wire_bytes;
  }
  fmt::print("packets={}\nwire_bytes={}\nseconds={:.6f}\n", packets, wire_bytes, seconds);
  print("device", counted);
  return 0;
}
