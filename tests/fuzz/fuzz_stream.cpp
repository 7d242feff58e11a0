// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <utility>
#include <vector>

#include "capture_reading.hpp"
#include "pipeline/capture/stream_ring.hpp"
#include "pipeline/capture/stream_source.hpp"
#include "targets.hpp"

namespace parshall::fuzz {
namespace {

/// A pipe of which each read gives so many bytes at most.
class TricklingStream final : public ByteStream {
 public:
  TricklingStream(Bytes bytes, std::size_t piece_bytes) : rest_(bytes), piece_bytes_(piece_bytes) {}

  Result<BytesRead> read(std::span<std::uint8_t> room) override {
    require(!room.empty());
    if (rest_.empty()) return BytesRead{BytesRead::Outcome::end};
    const std::size_t bytes = std::min({room.size(), rest_.size(), piece_bytes_});
    std::copy_n(rest_.begin(), bytes, room.begin());
    rest_ = rest_.subspan(bytes);
    return BytesRead{BytesRead::Outcome::some, bytes};
  }
  void stop() noexcept override {}

 private:
  Bytes rest_;
  std::size_t piece_bytes_;
};

/// One of those who read it.
struct Consumer {
  std::unique_ptr<StreamSource> source;
  CaptureReading reading = {};

  void poll(std::span<RawPacket> batch) {
    for (const RawPacket& packet : batch.first(source->poll(batch))) reading.packets.push_back(seen(packet));
    if (!source->exhausted()) return;
    if (const auto damage = source->damage()) reading.damage = damage->message;
  }
};

}  // namespace

/// Input: how large the pieces of the stream are, how many packets are asked for at a time and whether two read it; the
/// capture.
void fuzz_stream(Bytes input) {
  if (input.size() < 2) return;
  const std::size_t piece_bytes = 1 + std::size_t{input[0]} * input[0], batch_packets = 1 + input[1] / 2;
  const std::size_t consumers = 1 + input[1] % 2;
  const Bytes bytes = input.subspan(2);
  const Bytes head = head_of(bytes, piece_bytes);
  auto framer = make_capture_parser(head, "fuzz");
  if (!framer) return;
  auto ring = StreamRing::start(std::make_unique<TricklingStream>(bytes.subspan(head.size()), piece_bytes),
                                {head.begin(), head.end()}, *std::move(framer), "fuzz", consumers);
  require(ring.has_value());
  auto truth = read_whole(bytes);
  require(truth.has_value());
  if (truth->damage) truth->damage = "fuzz: " + *truth->damage;
  std::vector<Consumer> all;
  for (std::size_t i = 0; i < consumers; ++i)
    all.push_back({std::make_unique<StreamSource>(*ring, i, *make_capture_parser(head, "fuzz"))});
  // In turns: who does not read holds up the others.
  std::vector<RawPacket> batch(batch_packets);
  while (!std::all_of(all.begin(), all.end(), [](const Consumer& one) { return one.source->exhausted(); }))
    for (Consumer& one : all)
      if (!one.source->exhausted()) one.poll(batch);
  for (const Consumer& one : all) require(one.reading == *truth);
}

}  // namespace parshall::fuzz
