// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <linux/if_packet.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/file_handle.hpp"
#include "pipeline/capture/interface_set.hpp"
#include "pipeline/capture/kernel_interface.hpp"
#include "pipeline/capture/packet_ring.hpp"
#include "pipeline/capture/source.hpp"

namespace parshall {

/// The ring, mapped into memory while this lives.
class MappedRing {
 public:
  MappedRing(int socket, const PacketRing& shape);
  ~MappedRing();
  MappedRing(const MappedRing&) = delete;
  MappedRing& operator=(const MappedRing&) = delete;

  bool mapped() const noexcept { return at_ != nullptr; }
  std::uint32_t frames() const noexcept { return shape_.frames; }
  std::size_t bytes() const noexcept { return std::size_t{shape_.frames} * shape_.frame_bytes; }
  tpacket2_hdr& frame(std::uint32_t i) const noexcept {
    return *reinterpret_cast<tpacket2_hdr*>(at_ + std::size_t{i} * shape_.frame_bytes);
  }

 private:
  PacketRing shape_;
  std::uint8_t* at_ = nullptr;
};

/// State that the source of a queue shares with its packet socket, such as the ring and the counters.
struct SocketQueue {
  std::shared_ptr<const InterfaceSet> interfaces;
  std::string named;  ///< the interfaces as the user named them
  FileHandle socket;
  std::optional<MappedRing> ring;
  std::optional<SocketDrops> kernel;
  std::atomic<std::uint64_t> joined{0};
  std::vector<std::atomic<std::uint64_t>> packets;  ///< by number of the interface, if there are several
  LinkType link_type = LinkType::ethernet;          ///< `raw` if the kernel states the type of each packet

  bool has_several() const noexcept { return !packets.empty(); }
  std::vector<LinkType> link_types() const;
  Counters counters() noexcept;
};

/// Returns the source of a queue, for one thread.
std::unique_ptr<PacketSource> make_ring_source(std::shared_ptr<SocketQueue> queue);

}  // namespace parshall
