// SPDX-License-Identifier: Apache-2.0
// send_device DEVICE COUNT: sends COUNT frames on a DPDK device, waiting for room; prints what was accepted.
#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <thread>

#include "frame_sender.hpp"
#include "pipeline/capture/dpdk/dpdk_port.hpp"

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  auto port = parshall::DpdkPort::open({.device = argv[1], .transmit_queues = 1});
  if (!port) {
    fmt::print(stderr, "send_device: {}\n", port.error().message);
    return 1;
  }
  const Sent sent = send_frames((*port)->port_id(), std::strtoull(argv[2], nullptr, 10), true);
  std::this_thread::sleep_for(std::chrono::seconds(1));  // the reader empties the ring before it goes
  fmt::print("accepted={}\n", sent.accepted);
  return 0;
}
