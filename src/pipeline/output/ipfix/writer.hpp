// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "pipeline/output/ipfix/fields.hpp"
#include "pipeline/output/ipfix/message_sink.hpp"
#include "pipeline/output/output_summary.hpp"

namespace parshall {

/// Puts sets together into messages, and templates before what they are of. Source: RFC 7011.
///
/// A template is sent before the first record of it, to each that connects, and where `resend` says so again now and
/// then: who collects may begin later. What is absent of a record has no place in its template.
class IpfixWriter {
 public:
  struct Options {
    std::uint32_t domain = 1;
    std::size_t message_bytes = 1400;     ///< at most, but for a record that is longer by itself
    std::chrono::milliseconds resend{0};  ///< after so long, and so many messages; 0: only to who connects
    std::uint32_t resend_messages = 4096;
  };
  using Clock = std::chrono::steady_clock;

  IpfixWriter(std::unique_ptr<MessageSink> sink, Options options) : sink_(std::move(sink)), options_(options) {}

  /// Its number, from 256 on. `record`: as in RFC 7011, section 3.4, with any number in front.
  std::uint16_t add_template(std::vector<std::uint8_t> record, bool of_options);

  /// One record; `packets` are in it. Of options it has none, and is none of the flows'.
  void add(std::uint16_t id, std::span<const std::uint8_t> record, std::uint64_t packets, bool of_flow = true);

  /// What is sent again with templates: of options, too.
  void add_lasting(std::uint16_t id, std::vector<std::uint8_t> record);

  void flush();

  /// Of flows, since it was asked last.
  OutputSummary::Sum take_not_sent() noexcept;
  std::uint64_t records_sent() const noexcept { return sent_.records; }
  std::uint64_t messages_sent() const noexcept { return messages_; }
  const MessageSink& sink() const noexcept { return *sink_; }

 private:
  struct Template {
    std::vector<std::uint8_t> record;
    bool of_options;
    std::uint64_t told = 0;  ///< in which telling; 0: in none
  };
  struct Lasting {
    std::uint16_t id;
    std::vector<std::uint8_t> record;
  };

  void begin_message();
  void tell(std::uint16_t id);
  void tell_all();
  void begin_set(std::uint16_t id);
  void end_set();
  bool has_room_for(std::size_t bytes) const noexcept;
  void put(std::uint16_t id, std::span<const std::uint8_t> record);
  void send();
  void refuse_the_one_before() noexcept;

  std::unique_ptr<MessageSink> sink_;
  Options options_;
  std::vector<Template> templates_;
  std::vector<Lasting> lasting_;
  std::vector<std::uint8_t> message_;  ///< empty: none has begun
  std::uint16_t set_ = 0;              ///< that is open; 0: none
  std::size_t set_begin_ = 0;
  std::uint32_t sequence_ = 0, records_ = 0;  ///< of data records: before this message, and in it
  std::uint64_t telling_ = 1, messages_since_ = 0, messages_ = 0;
  Clock::time_point told_at_{};
  OutputSummary::Sum in_message_, before_, sent_, not_sent_;
};

}  // namespace parshall
