// SPDX-License-Identifier: Apache-2.0
// send_device DEVICE COUNT: sends COUNT frames on a DPDK device, of memif the client, waiting for room; prints what was
// accepted.
#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <thread>

#include "frame_sender.hpp"
#include "pipeline/capture/dpdk/dpdk_port.hpp"
#include "pipeline/capture/dpdk/memif_rings.hpp"

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  auto port = parshall::DpdkPort::open({.device = argv[1], .transmit_queues = 1});
  if (!port) {
    fmt::print(stderr, "send_device: {}\n", port.error().message);
    return 1;
  }
  const Sent sent = send_frames((*port)->port_id(), std::strtoull(argv[2], nullptr, 10), true);
  const auto rings = parshall::dpdk::MemifRings::find();  // they go with the device: the reader empties them before
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (rings && rings->waiting(0, false) != 0 && std::chrono::steady_clock::now() < until)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  fmt::print("accepted={}\n", sent.accepted);
  return 0;
}
