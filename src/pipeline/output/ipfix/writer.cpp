// SPDX-License-Identifier: Apache-2.0
#include "pipeline/output/ipfix/writer.hpp"

#include <chrono>
#include <utility>

namespace parshall {
namespace {

constexpr std::uint16_t kVersion = 10, kFirstTemplate = 256, kTemplates = 2, kOptionsTemplates = 3;
constexpr std::size_t kHeaderBytes = 16, kSetHeaderBytes = 4, kLengthAt = 2, kSequenceAt = 8;
constexpr std::size_t kMostMessage = 65535;

void overwrite(std::vector<std::uint8_t>& message, std::size_t at, std::uint64_t value, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; ++i) message[at + i] = static_cast<std::uint8_t>(value >> 8 * (bytes - 1 - i));
}

void add(OutputSummary::Sum& to, const OutputSummary::Sum& more) noexcept {
  to.records += more.records;
  to.packets += more.packets;
}

void take(OutputSummary::Sum& from, const OutputSummary::Sum& less) noexcept {
  from.records -= less.records;
  from.packets -= less.packets;
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

void IpfixWriter::add(std::uint16_t id, std::span<const std::uint8_t> record, std::uint64_t packets, bool of_flow) {
  put(id, record);
  if (!of_flow) return;
  ++in_message_.records;
  in_message_.packets += packets;
}

/// Options count as data records, too (RFC 7011, 3.1).
void IpfixWriter::put(std::uint16_t id, std::span<const std::uint8_t> record) {
  begin_message();
  tell(id);
  if (!has_room_for(record.size() + (set_ == id ? 0 : kSetHeaderBytes))) {
    send();
    begin_message();
    tell(id);
  }
  if (set_ != id) begin_set(id);
  message_.insert(message_.end(), record.begin(), record.end());
  ++records_;
}

bool IpfixWriter::has_room_for(std::size_t bytes) const noexcept {
  return message_.size() + bytes <= options_.message_bytes || message_.size() <= kHeaderBytes;
}

void IpfixWriter::begin_message() {
  if (!message_.empty()) return;
  IpfixBytes bytes(message_);
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  bytes.number(kVersion, 2);
  bytes.number(0, 2);  // length
  bytes.number(static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::seconds>(now).count()), 4);
  bytes.number(sequence_, 4);
  bytes.number(options_.domain, 4);
  const bool is_new = sink_->is_new();
  if (is_new) {
    sequence_ = 0;
    overwrite(message_, kSequenceAt, sequence_, 4);
  }
  const bool is_due = options_.resend.count() != 0 &&
                      (Clock::now() - told_at_ >= options_.resend || messages_since_ >= options_.resend_messages);
  if (!is_new && !is_due) return;
  ++telling_;
  told_at_ = Clock::now();
  messages_since_ = 0;
  tell_all();
}

/// All that are, and what is said of them.
void IpfixWriter::tell_all() {
  for (std::size_t i = 0; i < templates_.size(); ++i) tell(static_cast<std::uint16_t>(kFirstTemplate + i));
  for (const Lasting& lasting : lasting_) {
    if (!has_room_for(lasting.record.size() + kSetHeaderBytes)) {
      send();
      begin_message();
    }
    if (set_ != lasting.id) begin_set(lasting.id);
    message_.insert(message_.end(), lasting.record.begin(), lasting.record.end());
    ++records_;
  }
}

/// Unless it has been.
void IpfixWriter::tell(std::uint16_t id) {
  Template& one = templates_[id - kFirstTemplate];
  if (one.told == telling_) return;
  const std::uint16_t set = one.of_options ? kOptionsTemplates : kTemplates;
  if (!has_room_for(one.record.size() + (set_ == set ? 0 : kSetHeaderBytes))) {
    send();
    begin_message();
  }
  if (set_ != set) begin_set(set);
  message_.insert(message_.end(), one.record.begin(), one.record.end());
  one.told = telling_;
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
  if (set_ == 0) return;
  overwrite(message_, set_begin_ + kLengthAt, message_.size() - set_begin_, 2);
  set_ = 0;
}

void IpfixWriter::send() {
  if (message_.size() <= kHeaderBytes) return;
  end_set();
  overwrite(message_, kLengthAt, std::min(message_.size(), kMostMessage), 2);
  const MessageSink::Sent sent = sink_->send(message_);
  sequence_ += records_;
  if (sent == MessageSink::Sent::no) {
    parshall::add(not_sent_, in_message_);
  } else {
    ++messages_;
    parshall::add(sent_, in_message_);
  }
  if (sent == MessageSink::Sent::not_the_one_before) refuse_the_one_before();
  before_ = sent == MessageSink::Sent::no ? OutputSummary::Sum() : in_message_;
  in_message_ = {};
  records_ = 0;
  ++messages_since_;
  message_.clear();
}

void IpfixWriter::refuse_the_one_before() noexcept {
  --messages_;
  take(sent_, before_);
  parshall::add(not_sent_, std::exchange(before_, {}));
}

void IpfixWriter::flush() {
  send();
  if (sink_->flush()) refuse_the_one_before();
}

OutputSummary::Sum IpfixWriter::take_not_sent() noexcept { return std::exchange(not_sent_, {}); }

}  // namespace parshall
