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
#include "pipeline/output/output_summary.hpp"
#include "pipeline/output/transport/message_sink.hpp"

namespace parshall {

/// Message format: that of RFC 7011, or that of RFC 3954, which supports neither private elements nor variable lengths.
enum class FlowProtocol : std::uint8_t { ipfix, netflow9 };

/// Collects sets into messages, and puts each template before its records.
///
/// A template is sent before its first record, to each new connection, and again at intervals as `resend` says, because
/// a collector may start later. In that case, messages for some time after it repeat the template with its records,
/// because a collector that reads several messages in parallel may see them first. Absent values of a record have no
/// place in its template.
class IpfixWriter {
 public:
  using Clock = std::chrono::steady_clock;
  struct Options {
    FlowProtocol protocol = FlowProtocol::ipfix;
    std::uint32_t domain = 1;
    std::size_t message_bytes = 1400;     ///< limit, except for a record that is longer by itself
    std::chrono::milliseconds resend{0};  ///< interval, with a minimum number of messages; 0: only to new connections
    std::uint32_t resend_messages = 4096;
  };

  IpfixWriter(std::unique_ptr<MessageSink> sink, Options options) : sink_(std::move(sink)), options_(options) {}

  /// Adds a template and returns its number, from 256 on. `record` is as in RFC 7011, section 3.4, or RFC 3954,
  /// sections 5.2 and 6.1, with any number in front.
  std::uint16_t add_template(std::vector<std::uint8_t> record, bool of_options);

  /// Adds one record; `counts` is its contribution to the account, which is empty for options.
  void add(std::uint16_t id, std::span<const std::uint8_t> record, const OutputSummary::Sum& counts);

  /// Adds a record that is repeated like templates, but far less often: nfcapd 1.7 counts records of options as
  /// missing.
  void add_lasting(std::uint16_t id, std::vector<std::uint8_t> record);

  /// Sets an options template that was added. Receivers that missed records are informed with it, before all other
  /// records.
  void tell_deliveries(std::uint16_t id) noexcept { deliveries_ = id; }

  /// Sets NetFlow's clock for the next record. The clock is that of packets. A message's header has the time of its
  /// latest packet and the clock's uptime, and collectors subtract one from the other. Times in records are 32-bit ms
  /// of uptime. If they do not fit, the message ends and the clock restarts.
  ///
  /// Returns false and sets nothing for a record that is longer than 49 days.
  bool note_time(std::uint64_t first_ns, std::uint64_t last_ns);
  /// Returns a time of that record in ms of the clock.
  std::uint32_t uptime_of(std::uint64_t ns) const noexcept;

  void begin_anew();
  void flush();
  /// Ends the records.
  void finish();

  // These count flow records:

  OutputSummary::Sum waiting() const noexcept { return sink_->deliveries().waiting; }
  OutputSummary::Sum take_not_sent() noexcept;     ///< since the last call
  OutputSummary::Sum take_unconfirmed() noexcept;  ///< since the last call
  /// Returns, once, whether everything between the last two flushes is lost.
  bool take_lost() noexcept;
  std::uint64_t records_sent() const noexcept;  ///< without unconfirmed ones
  std::uint64_t messages_sent() const noexcept { return messages_; }
  const MessageSink& sink() const noexcept { return *sink_; }

 private:
  struct Template {
    std::vector<std::uint8_t> record;
    bool of_options;
    std::uint64_t told = 0;     ///< number of the round it was sent in; 0: never
    std::uint64_t message = 0;  ///< last message that contained it
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
  std::vector<std::uint8_t> message_;  ///< empty if none has begun
  std::optional<std::uint16_t> set_;   ///< the open set
  bool is_telling_ = false;            ///< true while sending all templates, in as many messages as they take
  std::size_t set_begin_ = 0;
  std::uint32_t sequence_ = 0, records_ = 0;  ///< data records before this message, and in it; NetFlow: messages
  std::uint32_t told_in_message_ = 0;         ///< templates in the message
  bool clock_runs_ = false;                   ///< for NetFlow
  std::uint64_t began_ms_ = 0, latest_ms_ = 0, record_ms_ = 0;  ///< for that clock; the latter two are whole seconds
  std::uint64_t telling_ = 1, messages_since_ = 0, messages_ = 0, message_number_ = 1;
  Clock::time_point told_at_{}, lasting_told_at_{};
  OutputSummary::Sum in_message_, given_;         ///< given to the sink
  OutputSummary::Sum not_sent_, unconfirmed_;     ///< amounts already returned
  std::optional<std::uint16_t> deliveries_ = {};  ///< template for these
  bool is_lost_ = false;
  bool tells_again_ = false;  ///< send templates and lasting records again, as messages with them are lost
  struct {
    std::uint32_t sequence = 0;
    std::uint64_t messages = 0;
    OutputSummary::Sum given = {};
  } flushed_;  ///< state at the last flush
};

}  // namespace parshall
