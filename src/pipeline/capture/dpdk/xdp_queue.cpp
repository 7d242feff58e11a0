// SPDX-License-Identifier: Apache-2.0
#include "pipeline/capture/dpdk/xdp_queue.hpp"

#include <fmt/format.h>
#include <linux/if_xdp.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <thread>

namespace parshall::dpdk {
namespace {

constexpr std::uint32_t kChunkBytes = 4096, kDescriptors = 2;
constexpr int kTries = 60;
constexpr std::chrono::milliseconds kPatience(50);

bool set(int socket, int option, const void* value, socklen_t bytes) noexcept {
  return ::setsockopt(socket, SOL_XDP, option, value, bytes) == 0;
}

/// Tests for a user of the queue by binding a socket to it for a moment. No XDP program sends packets to this socket.
bool is_taken(const KernelInterface& interface, std::uint16_t queue) noexcept {
  const int socket = ::socket(AF_XDP, SOCK_RAW | SOCK_CLOEXEC, 0);
  if (socket < 0) return false;
  void* const chunk =
      ::mmap(nullptr, kChunkBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  bool is_taken = false;
  if (chunk != MAP_FAILED) {
    xdp_umem_reg memory{};
    memory.addr = reinterpret_cast<std::uintptr_t>(chunk);
    memory.len = memory.chunk_size = kChunkBytes;
    sockaddr_xdp address{};
    address.sxdp_family = AF_XDP;
    address.sxdp_flags = XDP_COPY;
    address.sxdp_ifindex = static_cast<std::uint32_t>(interface.index);
    address.sxdp_queue_id = queue;
    is_taken = set(socket, XDP_UMEM_REG, &memory, sizeof memory) &&
               set(socket, XDP_UMEM_FILL_RING, &kDescriptors, sizeof kDescriptors) &&
               set(socket, XDP_UMEM_COMPLETION_RING, &kDescriptors, sizeof kDescriptors) &&
               set(socket, XDP_RX_RING, &kDescriptors, sizeof kDescriptors) &&
               ::bind(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 && errno == EBUSY;
  }
  ::close(socket);
  if (chunk != MAP_FAILED) ::munmap(chunk, kChunkBytes);
  return is_taken;
}

}  // namespace

std::optional<Error> wait_for_xdp_queue(const KernelInterface& interface, std::uint16_t queue) {
  for (int tries = 0; is_taken(interface, queue); ++tries) {
    if (tries == kTries)
      return Error{
          fmt::format("cannot open {} with af_xdp: another program has its receive queue {}; end that first, "
                      "or use af_packet, which many can use at once",
                      interface.name, queue)};
    std::this_thread::sleep_for(kPatience);  // the kernel releases the queue of a closed socket a little later
  }
  return std::nullopt;
}

}  // namespace parshall::dpdk
