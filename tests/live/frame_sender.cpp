// SPDX-License-Identifier: Apache-2.0
#include "frame_sender.hpp"

#include <rte_ethdev.h>
#include <rte_mbuf.h>

#include <array>
#include <chrono>
#include <cstring>
#include <thread>

namespace {

constexpr std::array<std::uint8_t, 60> kFrame{0x02, 0, 0,  0,  0, 1,  0x02, 0, 0,  0,  0, 2, 0x08, 0,  // Ethernet
                                              0x45, 0, 0,  46, 0, 1,  0,    0, 64, 17, 0, 0, 10,   0,
                                              0,    1, 10, 1,  0, 1,             // IPv4
                                              0x04, 0, 0,  53, 0, 26, 0,    0};  // UDP
constexpr std::size_t kSourcePort = 34;

}  // namespace

Sent send_frames(std::uint16_t port_id, std::uint64_t count, bool patient) {
  using namespace std::chrono_literals;
  rte_mempool* pool = ::rte_pktmbuf_pool_create("test-tx", 8191, 0, 0, 256, 0);
  Sent sent;
  auto deadline = std::chrono::steady_clock::now() + 30s;
  while (pool && sent.accepted + sent.refused < count) {
    rte_mbuf* mbuf = ::rte_pktmbuf_alloc(pool);
    if (mbuf) {
      auto* bytes = reinterpret_cast<std::uint8_t*>(::rte_pktmbuf_append(mbuf, kFrame.size()));
      std::memcpy(bytes, kFrame.data(), kFrame.size());
      const auto flow = static_cast<std::uint16_t>(1024 + (sent.accepted + sent.refused) % 500);
      bytes[kSourcePort] = static_cast<std::uint8_t>(flow >> 8);
      bytes[kSourcePort + 1] = static_cast<std::uint8_t>(flow);
      if (::rte_eth_tx_burst(port_id, 0, &mbuf, 1) == 1) {
        ++sent.accepted;
        deadline = std::chrono::steady_clock::now() + 30s;
        continue;
      }
      ::rte_pktmbuf_free(mbuf);
    }
    if (!patient) {
      ++sent.refused;
    } else if (std::chrono::steady_clock::now() > deadline) {
      break;
    } else {
      std::this_thread::sleep_for(100us);
    }
  }
  return sent;
}
