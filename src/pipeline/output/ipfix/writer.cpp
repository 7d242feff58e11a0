// SPDX-License-Identifier: Apache-2.0
#include "pipeline/output/ipfix/writer.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace parshall {
namespace {

constexpr std::uint16_t kFirstTemplate = 256;
constexpr std::size_t kSetHeaderBytes = 4, kLengthAt = 2, kWord = 4;
constexpr std::size_t kMostMessage = 65535;
constexpr int kLastingResends = 20;  ///< template resends per resend of lasting records
constexpr std::chrono::milliseconds kSoon{500};
constexpr std::uint64_t kSoonMessages = 64;  ///< limit however long they take
constexpr std::uint64_t kMsNs = 1'000'000, kSecondNs = 1'000'000'000, kSecondMs = 1000;
constexpr std::uint64_t kClockMs = std::uint64_t{1} << 32, kRunningMs = kClockMs / 2;  ///< 49.7 days, and half of that

/// Rounds up to a whole second and returns it in ms.
std::uint64_t second_after(std::uint64_t ns) noexcept { return (ns + kSecondNs - 1) / kSecondNs * kSecondMs; }

struct Layout {
  std::uint16_t version, templates, options_templates;
  std::size_t header_bytes, sequence_at;
};
constexpr Layout kLayouts[] = {{10, 2, 3, 16, 8}, {9, 0, 1, 20, 12}};  // indexed by FlowProtocol

const Layout& layout_of(FlowProtocol protocol) noexcept { return kLayouts[static_cast<std::size_t>(protocol)]; }

void overwrite(std::vector<std::uint8_t>& message, std::size_t at, std::uint64_t value, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; ++i) message[at + i] = static_cast<std::uint8_t>(value >> 8 * (bytes - 1 - i));
}

std::uint64_t system_ns() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(std::chrono::nanoseconds(now).count());
}

}  // namespace

std::uint16_t IpfixWriter::add_template(std::vector<std::uint8_t> record, bool of_options) {
  templates_.push_back({std::move(record), of_options});
  const auto id = static_cast<std::uint16_t>(kFirstTemplate + templates_.size() - 1);
  overwrite(templates_.back().record, 0, id, sizeof id);
  return id;
}

void IpfixWriter::add_lasting(std::uint16_t id, std::vector<std::uint8_t> record) {
  put(id, record);
  lasting_.push_back({id, std::move(record)});
}

void IpfixWriter::add(std::uint16_t id, std::span<const std::uint8_t> record, const OutputSummary::Sum& counts) {
  put(id, record);
  in_message_ += counts;
}

/// Puts a data record into the message. Records of options count, too (RFC 7011, 3.1).
void IpfixWriter::put(std::uint16_t id, std::span<const std::uint8_t> record) {
  make_room(id, record.size());
  if (tell_again(id, record.size())) make_room(id, record.size());
  if (set_ != id) begin_set(id);
  message_.insert(message_.end(), record.begin(), record.end());
  latest_ms_ = std::max(latest_ms_, record_ms_);  // set last, as a message that was full is not as late
  ++records_;
}

/// Makes room for a record in a message that has its template, or that follows it. A new message may be filled by
/// templates that are due.
void IpfixWriter::make_room(std::uint16_t id, std::size_t record_bytes) {
  constexpr int kMostMessages = 8;  // if templates are due with each message
  begin_message();
  tell(id);
  for (int sent = 0; sent < kMostMessages && !has_room_for(record_bytes + (set_ == id ? 0 : kSetHeaderBytes)); ++sent) {
    send();
    begin_message();
    tell(id);
  }
}

bool IpfixWriter::has_room_for(std::size_t bytes) const noexcept {
  const std::size_t padding = is_netflow() ? kWord - 1 : 0;
  return message_.size() + bytes + padding <= options_.message_bytes || message_.size() <= header_bytes();
}

std::size_t IpfixWriter::header_bytes() const noexcept { return layout_of(options_.protocol).header_bytes; }

bool IpfixWriter::note_time(std::uint64_t first_ns, std::uint64_t last_ns) {
  const std::uint64_t first_ms = first_ns / kMsNs, second_ms = second_after(last_ns);
  if (second_ms - first_ms >= kClockMs) return false;
  record_ms_ = second_ms;
  if (clock_runs_ && first_ms >= began_ms_ && second_ms < began_ms_ + kClockMs) return true;
  if (clock_runs_) send();
  tells_again_ |= std::exchange(
      clock_runs_, true);  // a shorter uptime than before means that the exporter restarted (RFC 3954, 5.1)
  began_ms_ = std::min(first_ms, second_ms - std::min(second_ms, kRunningMs));
  latest_ms_ = second_ms;  // also for messages that contain only names
  return true;
}

std::uint32_t IpfixWriter::uptime_of(std::uint64_t ns) const noexcept {
  return static_cast<std::uint32_t>(ns / kMsNs - began_ms_);
}

/// Puts the header. Length, or number of records, and NetFlow's time are filled in later.
void IpfixWriter::put_header() {
  IpfixBytes bytes(message_);
  bytes.number(layout_of(options_.protocol).version, 2);
  bytes.number(0, 2);
  if (is_netflow())
    bytes.number(0, 8);
  else
    bytes.number(system_ns() / kSecondNs, 4);
  bytes.number(sequence_, 4);
  bytes.number(options_.domain, 4);
}

void IpfixWriter::begin_message() {
  if (!message_.empty()) return;
  put_header();
  const MessageSink::Session session = sink_->session();
  if (session == MessageSink::Session::begins) {
    sequence_ = 0;
    overwrite(message_, layout_of(options_.protocol).sequence_at, sequence_, 4);
  }
  if (session == MessageSink::Session::tells_again) tells_again_ = true;
  const bool is_new = session == MessageSink::Session::begins;
  const bool is_due = !is_telling_ && options_.resend.count() != 0 &&
                      (Clock::now() - told_at_ >= options_.resend || messages_since_ >= options_.resend_messages);
  const bool is_lost = !is_telling_ && std::exchange(tells_again_, false);
  if (!is_new && !is_lost && !is_due) return;
  ++telling_;
  told_at_ = Clock::now();
  messages_since_ = 0;
  const bool and_lasting = is_new || is_lost || told_at_ - lasting_told_at_ >= kLastingResends * options_.resend;
  if (and_lasting) lasting_told_at_ = told_at_;
  const bool is_first = !std::exchange(is_telling_, true);
  tell_all(and_lasting);
  if (is_first) is_telling_ = false;
}

/// Sends all templates, and the lasting records if requested.
void IpfixWriter::tell_all(bool and_lasting) {
  for (std::size_t i = 0; i < templates_.size(); ++i) tell(static_cast<std::uint16_t>(kFirstTemplate + i));
  if (!and_lasting) return;
  put_deliveries();
  for (const Lasting& lasting : lasting_) put_lasting(lasting);
}

void IpfixWriter::put_lasting(const Lasting& lasting) {
  if (!has_room_for(lasting.record.size() + kSetHeaderBytes)) {
    send();
    begin_message();
  }
  if (set_ != lasting.id) begin_set(lasting.id);
  message_.insert(message_.end(), lasting.record.begin(), lasting.record.end());
  ++records_;
}

/// Sends the counts of records that did not arrive, or may not have. Source: RFC 7011, section 4.3.
void IpfixWriter::put_deliveries() {
  const Deliveries deliveries = sink_->deliveries();
  if (!deliveries_ || deliveries.not_sent + deliveries.unconfirmed == OutputSummary::Sum()) return;
  Lasting told{*deliveries_, {}};
  IpfixBytes bytes(told.record);
  bytes.number(options_.domain, 4);
  bytes.number(deliveries.not_sent.records, 8);
  bytes.number(deliveries.not_sent.packets, 8);
  if (!is_netflow()) {
    bytes.number(deliveries.unconfirmed.records, 8);
    bytes.number(deliveries.unconfirmed.packets, 8);
  }
  put_lasting(told);
}

/// Sends a template unless it was sent already.
void IpfixWriter::tell(std::uint16_t id) {
  Template& one = templates_[id - kFirstTemplate];
  if (one.told == telling_) return;
  if (!has_room_for(one.record.size() + kSetHeaderBytes)) {
    send();
    begin_message();
  }
  put_template(one);
  if (std::exchange(one.told, telling_) != 0) return;
  one.first_told = Clock::now();
  one.first_message = message_number_;
}

void IpfixWriter::put_template(Template& one) {
  const Layout& layout = layout_of(options_.protocol);
  const std::uint16_t set = one.of_options ? layout.options_templates : layout.templates;
  // nfacctd 1.7 loses its position behind an options template with private elements, so each gets its own set.
  if (set_ != set || one.of_options) begin_set(set);
  message_.insert(message_.end(), one.record.begin(), one.record.end());
  ++told_in_message_;
  one.message = message_number_;
}

/// Repeats a template in a message without it, for some time after its first records. Returns true if that began
/// another message.
bool IpfixWriter::tell_again(std::uint16_t id, std::size_t record_bytes) {
  Template& one = templates_[id - kFirstTemplate];
  if (set_ == id || one.message == message_number_ || options_.resend.count() == 0) return false;
  if (message_number_ - one.first_message >= kSoonMessages && Clock::now() - one.first_told >= kSoon) return false;
  const std::size_t bytes = one.record.size() + record_bytes + 2 * (kSetHeaderBytes + kWord);
  const std::uint64_t before = message_number_;
  if (message_.size() + bytes > options_.message_bytes && header_bytes() + bytes <= options_.message_bytes) {
    send();
    begin_message();
  }
  if (one.message != message_number_ && message_.size() + bytes <= options_.message_bytes) put_template(one);
  return message_number_ != before;
}

void IpfixWriter::begin_set(std::uint16_t id) {
  end_set();
  set_ = id;
  set_begin_ = message_.size();
  IpfixBytes bytes(message_);
  bytes.number(id, 2);
  bytes.number(0, 2);
}

void IpfixWriter::end_set() {
  if (!set_) return;
  if (is_netflow())
    while ((message_.size() - set_begin_) % kWord != 0) message_.push_back(0);
  overwrite(message_, set_begin_ + kLengthAt, message_.size() - set_begin_, 2);
  set_.reset();
}

/// Puts the time: that of the latest record in the message; before any packet, the system's time, with the uptime that
/// the first record will have. Both refer to the same instant, a whole second.
void IpfixWriter::put_time() {
  constexpr std::size_t kUptimeAt = 4, kSecondsAt = 8;
  overwrite(message_, kUptimeAt, clock_runs_ ? latest_ms_ - began_ms_ : kRunningMs, 4);
  overwrite(message_, kSecondsAt, clock_runs_ ? latest_ms_ / kSecondMs : system_ns() / kSecondNs, 4);
}

void IpfixWriter::send() {
  if (message_.size() <= header_bytes()) return;
  end_set();
  if (is_netflow()) put_time();
  overwrite(message_, kLengthAt,
            is_netflow() ? records_ + told_in_message_ : std::min<std::uint64_t>(message_.size(), kMostMessage), 2);
  if (sink_->send(message_, in_message_)) ++messages_;
  sequence_ += is_netflow() ? 1 : records_;
  given_ += std::exchange(in_message_, {});
  records_ = told_in_message_ = 0;
  ++message_number_;
  ++messages_since_;
  message_.clear();
}

void IpfixWriter::begin_anew() { sink_->begin_anew(); }

void IpfixWriter::flush() {
  send();
  if (!sink_->flush()) take_back();
  flushed_ = {sequence_, messages_, given_};
}

void IpfixWriter::finish() {
  flush();
  sink_->finish();
}

/// Resets to the state of the last flush, except for what is known to be lost.
void IpfixWriter::take_back() noexcept {
  message_.clear();
  sequence_ = flushed_.sequence;
  messages_ = flushed_.messages;
  given_ = flushed_.given;
  tells_again_ = is_lost_ = true;
}

bool IpfixWriter::take_lost() noexcept { return std::exchange(is_lost_, false); }

OutputSummary::Sum IpfixWriter::take_not_sent() noexcept {
  const OutputSummary::Sum now = sink_->deliveries().not_sent;
  return now - std::exchange(not_sent_, now);
}

OutputSummary::Sum IpfixWriter::take_unconfirmed() noexcept {
  const OutputSummary::Sum now = sink_->deliveries().unconfirmed;
  return now - std::exchange(unconfirmed_, now);
}

std::uint64_t IpfixWriter::records_sent() const noexcept {
  const Deliveries deliveries = sink_->deliveries();
  return (given_ - deliveries.not_sent - deliveries.unconfirmed).records;
}

}  // namespace parshall
