// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <tuple>

#include "pipeline/measure/tcp/compact_connection.hpp"
#include "targets.hpp"

namespace parshall::fuzz {
namespace {

constexpr std::uint16_t kAck = 16;
constexpr std::size_t kChunks = 128;  ///< enough for the most segments of both ends

struct Packet {
  std::size_t from;
  TcpFacts tcp;
  std::uint16_t flags;
  std::uint64_t time_ns;
  bool compares;  ///< compare the connections after it, not only the findings
};

/// Makes packets of a connection. Without odd bytes in the input, they are in order.
class Sender {
 public:
  explicit Sender(Input& input) : input_(input), next_{number(4), number(4)}, now_ns_(input.number(8)) {}

  Packet packet() {
    const std::uint8_t how = input_.byte();
    const std::size_t from = how & 1;
    Packet packet{.from = from, .tcp = {}, .flags = kAck, .time_ns = 0, .compares = (how & 2) != 0};
    packet.tcp = {.seq = next_[from],
                  .ack = next_[1 - from],
                  .payload_bytes = 0,
                  .ts_value = 0,
                  .ts_echo = 0,
                  .window = 500,
                  .present = true};
    if ((how & 4) != 0) packet.tcp.payload_bytes = 1 + number(1) * 6;
    if ((how & 8) != 0) packet.tcp.ack -= number(2) % 4096;
    now_ns_ += std::uint64_t{number(1)} << 12;
    if ((how & 16) != 0) packet.tcp.ts_value = packet.tcp.ts_echo = static_cast<std::uint32_t>(now_ns_ >> 20);
    if ((how & 0xE0) == 0xE0) make_odd(packet);
    packet.time_ns = now_ns_;
    const std::uint32_t end = packet.tcp.seq + packet.tcp.payload_bytes + (packet.flags & 3 ? 1 : 0);
    if (static_cast<std::int32_t>(end - next_[from]) > 0) next_[from] = end;
    return packet;
  }

 private:
  std::uint32_t number(std::size_t bytes) { return static_cast<std::uint32_t>(input_.number(bytes)); }

  void make_odd(Packet& packet) {
    switch (input_.byte() % 10) {
      case 0:
        packet.flags = static_cast<std::uint16_t>(number(2) & 0x1FF);
        break;
      case 1:
        packet.tcp.seq += number(4);
        break;
      case 2:
        packet.tcp.ack += number(4);
        break;
      case 3:
        packet.tcp.seq -= number(2);
        break;
      case 4:
        packet.tcp.payload_bytes = number(3);
        break;
      case 5:
        packet.tcp.window = static_cast<std::uint16_t>(number(1));
        break;
      case 6:
        now_ns_ += input_.number(5);
        break;
      case 7:
        now_ns_ -= input_.number(4);
        break;
      case 8:
        packet.tcp.ts_value = number(4);
        break;
      default:
        packet.tcp.ts_echo -= number(1);
        break;
    }
  }

  Input& input_;
  std::array<std::uint32_t, 2> next_;
  std::uint64_t now_ns_;
};

auto numbers_of(const TcpSender& sender) {
  return std::tuple(sender.base, sender.next_seq, sender.contiguous_end, sender.gap_end, sender.last_ack,
                    sender.next_seq_ns, sender.syn_ns, sender.unacked.count, sender.window, sender.duplicate_acks,
                    sender.duplicate_acks == 0 ? 0 : sender.last_ns, sender.has_base, sender.has_window,
                    sender.answered_syn, sender.opening, sender.kept_alive, sender.probed);
}

}  // namespace

/// Input: packets of a connection.
void fuzz_connection(Bytes bytes) {
  constexpr std::size_t kLongest = 6000;
  if (bytes.size() > kLongest) return;
  Input input(bytes);
  Sender sender(input);
  SegmentPool pool(kChunks), reference_pool(kChunks);
  CompactConnection connection;
  TcpConnection reference;
  while (!input.empty()) {
    const auto [from, tcp, flags, time_ns, compares] = sender.packet();
    TcpFinding finding, expected;
    connection.analyse(from, tcp, flags, time_ns, pool, finding);
    analyse_tcp(reference, from, tcp, flags, time_ns, reference_pool, expected);
    require(finding.marks.bits() == expected.marks.bits());
    require(finding.rtt_ns == expected.rtt_ns);
    require(finding.rtt_ambiguous == expected.rtt_ambiguous);
    require(finding.handshake_ns == expected.handshake_ns);
    if (!compares) continue;
    const TcpConnection unpacked = connection.unpack(pool);
    for (std::size_t end = 0; end != 2; ++end)
      require(numbers_of(unpacked.sender[end]) == numbers_of(reference.sender[end]));
    connection.pack(unpacked, pool);
  }
  require(pool.dropped() == reference_pool.dropped());
}

}  // namespace parshall::fuzz
