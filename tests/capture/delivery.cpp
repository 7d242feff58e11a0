// SPDX-License-Identifier: Apache-2.0
#include "delivery.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <span>
#include <thread>

#include "pipeline/capture/pcap_file.hpp"

namespace parshall::testing {
namespace {

void write_all(int fd, std::span<const std::uint8_t> bytes, std::size_t piece_bytes) {
  while (!bytes.empty()) {
    const ssize_t wrote = ::write(fd, bytes.data(), std::min(piece_bytes, bytes.size()));
    if (wrote <= 0) return;
    bytes = bytes.subspan(static_cast<std::size_t>(wrote));
  }
}

Delivery read_descriptor(int fd) {
  auto sources = open_capture_descriptor(fd, "capture", 1);
  if (!sources) return {.packets = {}, .damage = sources.error().message};
  return drain(*sources->front());
}

}  // namespace

Delivery drain(PacketSource& source) {
  Delivery delivery;
  std::array<RawPacket, 7> batch;
  while (!source.exhausted()) {
    const std::size_t packets = source.poll(batch);
    for (const RawPacket& packet : std::span(batch).first(packets)) {
      delivery.packets.push_back({packet.time_ns, packet.wire_bytes, packet.link_type,
                                  Bytes(packet.data, packet.data + packet.captured_bytes)});
    }
  }
  EXPECT_EQ(source.poll(batch), 0u) << "a source that is exhausted delivers nothing more";
  delivery.lost = source.counters().known(Counter::nic_missed);
  if (const auto damage = source.damage()) delivery.damage = damage->message;
  return delivery;
}

int file_of(const Bytes& bytes) {
  const int fd = ::memfd_create("capture", MFD_CLOEXEC);
  write_all(fd, bytes, bytes.size());
  ::lseek(fd, 0, SEEK_SET);
  return fd;
}

Delivery read_as_file(const Bytes& bytes) { return read_descriptor(file_of(bytes)); }

Delivery read_as_stream(const Bytes& bytes, std::size_t piece_bytes) {
  std::signal(SIGPIPE, SIG_IGN);
  std::array<int, 2> ends{};
  EXPECT_EQ(::pipe(ends.data()), 0);
  std::thread writer([&] {
    write_all(ends[1], bytes, piece_bytes);
    ::close(ends[1]);
  });
  Delivery delivery = read_descriptor(ends[0]);
  writer.join();
  return delivery;
}

Delivery read_every_way(const Bytes& bytes) {
  const Delivery delivery = read_as_file(bytes);
  for (const std::size_t piece : {std::size_t{1}, std::size_t{13}, std::size_t{1} << 20}) {
    if (piece == 1 && bytes.size() > 10'000) continue;
    EXPECT_EQ(read_as_stream(bytes, piece), delivery) << "as a stream in pieces of " << piece << " bytes";
  }
  return delivery;
}

}  // namespace parshall::testing
