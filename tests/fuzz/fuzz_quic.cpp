// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <bitset>
#include <memory>
#include <vector>

#include "application_reading.hpp"
#include "pipeline/decode/application/libcrypto.hpp"
#include "pipeline/decode/application/quic.hpp"
#include "pipeline/decode/application/quic_frames.hpp"
#include "pipeline/decode/application/tls.hpp"
#include "targets.hpp"

namespace parshall::fuzz {
namespace {

/// A flow that is used again, so that what another input left is seen.
QuicFlow& cleared_flow() {
  static const auto flow = std::make_unique<QuicFlow>();
  flow->clear();
  return *flow;
}

/// Datagrams of one flow: each has its length (2 bytes) before it, and is filled up with zeros.
void read_datagrams(Input in) {
  require(!is_built_with_crypto() || !crypto_problem());
  static QuicReader reader;
  QuicFlow& flow = cleared_flow();
  while (!in.empty()) {
    const Bytes part = in.take(in.number(2));
    std::vector<std::uint8_t> datagram(part.begin(), part.end());
    const bool is_filled = in.byte() != 0;
    if (is_filled) datagram.resize(std::max(datagram.size(), QuicReader::kLeastBytes));
    const Read read = read_with(
        [&](Bytes bytes, ApplicationFacts& facts) { return reader.read(bytes, flow, {.ja4 = true}, facts); }, datagram);
    require(QuicReader::may_be_initial(datagram) || read.reading == Reading::unknown);
    if (read.reading == Reading::done) return require(read.facts.protocol == ApplicationProtocol::quic);
  }
}

/// Payloads of packets as they are once decrypted, each with its length before it.
void read_frames(Input in) {
  QuicFlow& flow = cleared_flow();
  while (!in.empty()) {
    const Block payload(in.take(in.number(2)));
    const std::size_t before = flow.crypto.prefix().size();
    read_initial_frames(payload.bytes(), flow.crypto);
    require(flow.crypto.prefix().size() >= before && flow.crypto.prefix().size() <= FirstBytes::kBytes);
    read_with([](Bytes bytes, ApplicationFacts& facts) { return read_hello(bytes, true, {.ja4 = true}, facts); },
              flow.crypto.prefix());
  }
}

/// Pieces of a stream (offset, length, both of 2 bytes), against an array that knows of each byte whether it is there.
void insert_pieces(Input in) {
  static std::array<std::uint8_t, FirstBytes::kBytes> expected;
  std::bitset<FirstBytes::kBytes> there;
  QuicFlow& flow = cleared_flow();
  std::size_t prefix = 0;
  for (std::uint8_t number = 1; !in.empty() && number <= FirstBytes::kMostRanges; ++number) {  // so all find a range
    const auto offset = static_cast<std::uint32_t>(in.number(2)) % (FirstBytes::kBytes + 100);
    const std::vector<std::uint8_t> piece(in.number(2) % 1000, number);
    flow.crypto.insert(offset, piece);
    for (std::size_t i = offset; i < std::min<std::size_t>(offset + piece.size(), FirstBytes::kBytes); ++i) {
      if (!there[i]) expected[i] = number;
      there[i] = true;
    }
    while (prefix < FirstBytes::kBytes && there[prefix]) ++prefix;
    require(std::ranges::equal(flow.crypto.prefix(), Bytes(expected.data(), prefix)));
  }
}

}  // namespace

/// Input: what is read (0: datagrams, 1: payloads of packets, 2: pieces of a stream), several of them.
void fuzz_quic(Bytes input) {
  Input in(input);
  const std::uint8_t what = in.byte() % 3;
  if (what == 0) read_datagrams(in);
  if (what == 1) read_frames(in);
  if (what == 2) insert_pieces(in);
}

}  // namespace parshall::fuzz
