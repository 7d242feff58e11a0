// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include "application_reading.hpp"
#include "pipeline/decode/application/ja4.hpp"
#include "pipeline/decode/application/reader.hpp"
#include "pipeline/decode/application/tls.hpp"
#include "targets.hpp"

namespace parshall::fuzz {
namespace {

void append_record(std::vector<std::uint8_t>& stream, Bytes payload) {
  if (payload.empty()) return;
  const auto bytes = static_cast<std::uint16_t>(payload.size());
  stream.insert(stream.end(), {22, 3, 1, static_cast<std::uint8_t>(bytes >> 8), static_cast<std::uint8_t>(bytes)});
  stream.insert(stream.end(), payload.begin(), payload.end());
}

void check_ja4(const Read& read, bool is_wished) {
  const std::string_view ja4 = read.facts.ja4.view();
  if (!is_wished || read.reading != Reading::done) return require(ja4.empty());
  require(ja4.empty() || (ja4.size() == 36 && ja4[10] == '_' && ja4[23] == '_'));
}

/// However a message is split over records, it says the same.
void check_records(Bytes message, std::size_t split, ApplicationWishes wishes) {
  const auto parser = [&](Bytes bytes, ApplicationFacts& facts) { return read_tls(bytes, wishes, facts); };
  std::vector<std::uint8_t> one, two;
  append_record(one, message);
  append_record(two, message.first(split));
  append_record(two, message.subspan(split));
  const Read whole = read_with(parser, one), in_parts = read_with(parser, two);
  require(whole.reading == in_parts.reading && same_facts(whole.facts, in_parts.facts));
}

}  // namespace

/// Input: what is read and how (0: a stream, 1: a message, 2: one over QUIC; 4: with JA4), where it is cut (2 bytes),
/// it.
void fuzz_tls(Bytes input) {
  Input in(input);
  const std::uint8_t how = in.byte();
  const std::size_t cut = in.number(2);
  const Bytes bytes = in.rest();
  constexpr std::size_t kMostBytes =
      4096;  // beyond kMostHelloBytes a longer stream may be unknown where a shorter is not
  if (bytes.size() > kMostBytes) return;
  const ApplicationWishes wishes{.ja4 = (how & 4) != 0};
  const bool over_quic = (how & 3) == 2;
  if ((how & 3) == 0) {
    const Read read =
        check_cut([&](Bytes some, ApplicationFacts& facts) { return read_tls(some, wishes, facts); }, bytes, cut);
    check_ja4(read, wishes.ja4);
    ApplicationReader reader(wishes);
    ApplicationFacts facts{};
    const bool is_tls = !bytes.empty() && (bytes[0] == 21 || bytes[0] == 22);
    if (is_tls) require(reader.read_stream(bytes, 1, 2, facts) == read.reading);
    require(!is_tls || same_facts(facts, read.facts));
    return;
  }
  const auto parser = [&](Bytes some, ApplicationFacts& facts) { return read_hello(some, over_quic, wishes, facts); };
  check_ja4(check_cut(parser, bytes, cut), wishes.ja4);
  if (!over_quic && !bytes.empty()) check_records(bytes, cut % bytes.size(), wishes);
}

}  // namespace parshall::fuzz
