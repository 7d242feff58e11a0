// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "pipeline/decode/application/facts.hpp"
#include "pipeline/measure/name_columns.hpp"
#include "pipeline/measure/statistic.hpp"

namespace parshall {

/// Names in a record's row, valid as long as the row.
struct NamesOfFlow {
  ApplicationProtocol protocol = ApplicationProtocol::none;
  TlsVersion tls_version = TlsVersion::none;
  std::optional<std::uint8_t> dns_rcode = {};
  std::array<std::string_view, 5> texts = {};  ///< of the source, the destination, and of the protocol

  /// Returns a text; empty if there is none.
  std::string_view text(NameColumn column) const noexcept;
};

/// Names that a flow's first payload packets contain, once NameReader has found them: those of one protocol. With them,
/// the names of its addresses. It has no columns itself; the schema's columns use it.
///
/// Shape: a live flow has 8 bytes for NameReader, and its texts beside the rows. A record's row has the texts. There is
///        room for the columns asked for, of the protocol that takes most: 264 bytes for server_name alone, 520 for
///        all, and 255 for the name of each address. Texts are printable ASCII; other bytes are written as \xNN. Longer
///        ones are cut.
/// Merge: see add_other_way().
class ApplicationNames final : public Statistic {
 public:
  /// Numbers of packets at a flow's beginning that are read, and of those with payload among them.
  static constexpr std::uint8_t kPackets = 32, kPayloads = 8;

  /// State of a live flow for NameReader. All zero: no names are looked for.
  struct State {
    enum Bits : std::uint8_t { is_open = 1, knows_start = 2, has_names = 4, answers = 128 };

    std::uint32_t first_seq = 0;  ///< sequence number of the first byte of payload, if knows_start
    std::uint16_t stream = 0;     ///< number of the stream that lacks bytes; 0: none
    std::uint8_t packets = 0, payloads_and_bits = 0;

    bool is(Bits bit) const noexcept { return (payloads_and_bits & bit) != 0; }
    void set(Bits bit) noexcept { payloads_and_bits = static_cast<std::uint8_t>(payloads_and_bits | bit); }
    void clear(Bits bit) noexcept { payloads_and_bits = static_cast<std::uint8_t>(payloads_and_bits & ~bit); }
    unsigned payloads() const noexcept { return payloads_and_bits >> 3 & 15; }
    void add_payload() noexcept { payloads_and_bits = static_cast<std::uint8_t>(payloads_and_bits + 8); }
  };
  static_assert(sizeof(State) == 8);

  explicit ApplicationNames(NameColumns wanted) noexcept;

  NameColumns wanted() const noexcept { return wanted_; }
  /// Writes what is wanted of `facts` as the flow's names, beside those of its addresses.
  void write(const ApplicationFacts& facts, State& state, std::byte* carries) const noexcept;
  /// Writes the names of a flow's addresses, before all others. Empty ones are absent.
  void write_addresses(std::string_view source, std::string_view destination, State& state,
                       std::byte* carries) const noexcept;
  /// Reads a record's row.
  static NamesOfFlow read_names(const std::byte* row) noexcept;

  Variable variable() const noexcept override { return Variable::ip_size; }
  bool takes_samples() const noexcept override { return false; }
  std::size_t row_bytes() const noexcept override { return row_bytes_; }
  std::size_t state_bytes() const noexcept override { return sizeof(State); }
  std::size_t carry_bytes() const noexcept override { return row_bytes_; }
  bool has_carries(const std::byte* state) const noexcept override;
  void write_row(const std::byte* state, const std::byte* carries, std::byte* row) const noexcept override;
  /// Answers of DNS, which name addresses, may be in later packets, too.
  std::optional<std::uint32_t> first_packets() const noexcept override { return kPackets; }
  void begin(std::byte* row) const noexcept override;
  std::span<const Column> columns() const noexcept override { return {}; }
  void update(const SampleBatch&) const noexcept override {}
  void read(const std::byte*, std::span<std::optional<double>>) const noexcept override {}
  bool mergeable() const noexcept override { return true; }
  void merge(std::byte* into, const std::byte* from) const noexcept override { add(into, from, Way::same); }

  /// Adds the names that the opposite direction has of the same connection. Of a question and its answer, the result
  /// counts: the version and protocol that the server chose, and the code of DNS.
  void add_other_way(std::byte* into, const std::byte* from) const noexcept { add(into, from, Way::opposite); }

 private:
  enum class Way : std::uint8_t { same, opposite };
  void add(std::byte* into, const std::byte* from, Way way) const noexcept;

  NameColumns wanted_;
  std::size_t row_bytes_;
};

}  // namespace parshall
