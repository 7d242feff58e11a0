// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "pipeline/output/ipfix/fields.hpp"
#include "pipeline/output/ipfix/message_sink.hpp"
#include "pipeline/output/output_summary.hpp"

namespace parshall {

/// What messages look like: RFC 7011's, or RFC 3954's, which has no elements of enterprises, and none of a length that
/// is told with it.
enum class FlowProtocol : std::uint8_t { ipfix, netflow9 };

/// Puts sets together into messages, and templates before what they are of.
///
/// A template is sent before the first record of it, to each that connects, and where `resend` says so again now and
/// then: who collects may begin later. There each message that comes soon after has those of its records, too, since
/// who reads several messages at a time may come to it first. What is absent of a record has no place in its template.
class IpfixWriter {
 public:
  using Clock = std::chrono::steady_clock;
  struct Options {
    FlowProtocol protocol = FlowProtocol::ipfix;
    std::uint32_t domain = 1;
    std::size_t message_bytes = 1400;     ///< at most, but for a record that is longer by itself
    std::chrono::milliseconds resend{0};  ///< after so long, and so many messages; 0: only to who connects
    std::uint32_t resend_messages = 4096;
  };

  IpfixWriter(std::unique_ptr<MessageSink> sink, Options options) : sink_(std::move(sink)), options_(options) {}

  /// Its number, from 256 on. `record`: as in RFC 7011, section 3.4, or RFC 3954, sections 5.2 and 6.1, with any number
  /// in front.
  std::uint16_t add_template(std::vector<std::uint8_t> record, bool of_options);

  /// Adds one record; `counts` is what accounts have of it: nothing of options.
  void add(std::uint16_t id, std::span<const std::uint8_t> record, const OutputSummary::Sum& counts);

  /// What is sent again like templates, but far less often: nfcapd 1.7 counts records of options as missing.
  void add_lasting(std::uint16_t id, std::vector<std::uint8_t> record);

  /// Has those who missed something told what, by an options template that was added: first of all records.
  void tell_deliveries(std::uint16_t id) noexcept { deliveries_ = id; }

  /// Sets NetFlow's clock for the record that is added next. It is that of packets: a message's header has the time of
  /// the latest one, and for how long the clock runs, and collectors take the one from the other. Times of records are
  /// in ms of 32 bits since then: where they do not fit, the message ends, and the clock begins at another time.
  ///
  /// Returns false, and sets nothing, for a record longer than these 49 days.
  bool note_time(std::uint64_t first_ns, std::uint64_t last_ns);
  /// Returns a time of that record in ms of the clock.
  std::uint32_t uptime_of(std::uint64_t ns) const noexcept;

  void begin_anew();
  void flush();
  /// No record comes any more.
  void finish();

  // Of flows:

  OutputSummary::Sum waiting() const noexcept { return sink_->deliveries().waiting; }
  OutputSummary::Sum take_not_sent() noexcept;     ///< since it was asked last
  OutputSummary::Sum take_unconfirmed() noexcept;  ///< since it was asked last
  /// Whether all between the last two flushes is lost. Once.
  bool take_lost() noexcept;
  std::uint64_t records_sent() const noexcept;  ///< but for those that are unconfirmed
  std::uint64_t messages_sent() const noexcept { return messages_; }
  const MessageSink& sink() const noexcept { return *sink_; }

 private:
  struct Template {
    std::vector<std::uint8_t> record;
    bool of_options;
    std::uint64_t told = 0;     ///< in which telling; 0: in none
    std::uint64_t message = 0;  ///< that had it last
    Clock::time_point first_told = {};
    std::uint64_t first_message = 0;
  };
  struct Lasting {
    std::uint16_t id;
    std::vector<std::uint8_t> record;
  };

  bool is_netflow() const noexcept { return options_.protocol == FlowProtocol::netflow9; }
  std::size_t header_bytes() const noexcept;
  void put_header();
  void put_time();
  void begin_message();
  void tell(std::uint16_t id);
  bool tell_again(std::uint16_t id, std::size_t record_bytes);
  void make_room(std::uint16_t id, std::size_t record_bytes);
  void put_template(Template& one);
  void tell_all(bool and_lasting);
  void begin_set(std::uint16_t id);
  void end_set();
  bool has_room_for(std::size_t bytes) const noexcept;
  void put(std::uint16_t id, std::span<const std::uint8_t> record);
  void send();
  void put_lasting(const Lasting& lasting);
  void put_deliveries();
  void take_back() noexcept;

  std::unique_ptr<MessageSink> sink_;
  Options options_;
  std::vector<Template> templates_;
  std::vector<Lasting> lasting_;
  std::vector<std::uint8_t> message_;  ///< empty: none has begun
  std::optional<std::uint16_t> set_;   ///< that is open
  bool is_telling_ = false;            ///< all templates, in as many messages as they take
  std::size_t set_begin_ = 0;
  std::uint32_t sequence_ = 0, records_ = 0;  ///< of data records: before this message, and in it; NetFlow: messages
  std::uint32_t told_in_message_ = 0;         ///< templates
  bool clock_runs_ = false;                   ///< NetFlow's
  std::uint64_t began_ms_ = 0, latest_ms_ = 0, record_ms_ = 0;  ///< of it; the latter are whole seconds
  std::uint64_t telling_ = 1, messages_since_ = 0, messages_ = 0, message_number_ = 1;
  Clock::time_point told_at_{}, lasting_told_at_{};
  OutputSummary::Sum in_message_, given_;         ///< to the sink
  OutputSummary::Sum not_sent_, unconfirmed_;     ///< that were taken
  std::optional<std::uint16_t> deliveries_ = {};  ///< the template of that
  bool is_lost_ = false;
  bool tells_again_ = false;  ///< templates and what lasts: what had them is lost
  struct {
    std::uint32_t sequence = 0;
    std::uint64_t messages = 0;
    OutputSummary::Sum given = {};
  } flushed_;  ///< as of the last flush
};

}  // namespace parshall
