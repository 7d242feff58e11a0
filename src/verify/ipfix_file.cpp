// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <map>
#include <utility>
#include <vector>

#include "base/byte_reader.hpp"
#include "pipeline/output/records/column.hpp"
#include "verify/exported_file.hpp"

namespace parshall {
namespace {

constexpr std::uint16_t kVersion = 10, kVariable = 65535, kFirstData = 256;

constexpr std::uint32_t kReversePen = 29305;  // RFC 5103

struct Field {
  std::uint32_t pen = 0;
  std::uint16_t element = 0, bytes = 0;
};

struct Template {
  std::vector<Field> fields;
  bool of_options = false;
};

/// Values of one record by element: the first eight significant bytes.
using Values = std::map<std::pair<std::uint32_t, std::uint16_t>, std::uint64_t>;

class Messages {
 public:
  explicit Messages(ExportedFile& read) noexcept : read_(read) {}

  /// Reads one message, behind its version and length.
  void take(ByteReader message) {
    message.big(4);  // export time
    const auto sequence = static_cast<std::uint32_t>(message.big(4));
    const auto domain = static_cast<std::uint32_t>(message.big(4));
    if (const auto [expected, is_new] = sequences_.try_emplace(domain, sequence);
        !is_new && expected->second != sequence)
      fail(fmt::format("data records are missing: the sequence number is {}, but the file has {} records",
                       expected->second, sequence));
    const std::uint64_t before = data_records_;
    while (message.left() > 0 && message.ok()) {
      const auto id = static_cast<std::uint16_t>(message.big(2)), length = static_cast<std::uint16_t>(message.big(2));
      if (length < 4) return fail("a set is broken");
      ByteReader set(message.take(length - 4u));
      if (!message.ok()) break;
      if (id == 2 || id == 3)
        take_templates(set, domain, id == 3);
      else if (id >= kFirstData)
        take_data(set, domain, id);
    }
    if (!message.ok()) fail("a message is broken");
    sequences_[domain] = sequence + static_cast<std::uint32_t>(data_records_ - before);
  }

  void fail(std::string what) {
    if (read_.problem.empty()) read_.problem = std::move(what);
  }

 private:
  void take_templates(ByteReader& set, std::uint32_t domain, bool of_options) {
    constexpr std::uint16_t kEnterprise = 0x8000;
    while (set.left() >= 4) {
      const auto id = static_cast<std::uint16_t>(set.big(2));
      const auto count = static_cast<std::uint16_t>(set.big(2));
      if (of_options && count != 0) set.big(2);  // number of scope fields
      Template one{.fields = {}, .of_options = of_options};
      for (std::uint16_t i = 0; i < count && set.ok(); ++i) {
        Field field{.element = static_cast<std::uint16_t>(set.big(2)), .bytes = static_cast<std::uint16_t>(set.big(2))};
        if ((field.element & kEnterprise) != 0) field.pen = static_cast<std::uint32_t>(set.big(4));
        field.element &= kEnterprise - 1;
        // Otherwise a record of one byte could have endless fields.
        if (set.ok() && field.bytes == 0) return fail("a template has a field of length 0");
        one.fields.push_back(field);
      }
      if (!set.ok()) return fail("a template is broken");
      templates_[{domain, id}] = std::move(one);
    }
  }

  void take_data(ByteReader& set, std::uint32_t domain, std::uint16_t id) {
    const auto known = templates_.find({domain, id});
    if (known == templates_.end() || known->second.fields.empty()) return fail("data records precede their template");
    std::size_t least = 0;
    for (const Field& field : known->second.fields) least += field.bytes == kVariable ? 1 : field.bytes;
    while (set.left() >= least) {  // fewer bytes are padding
      Values values;
      for (const Field& field : known->second.fields) {
        std::size_t bytes = field.bytes;
        if (bytes == kVariable && (bytes = set.byte()) == 255) bytes = set.big(2);
        values[{field.pen, field.element}] = set.big(bytes);
      }
      if (!set.ok()) return fail("a data record is broken");
      ++data_records_;
      if (known->second.of_options)
        take_account(values);
      else
        take_flow(values);
    }
  }

  void take_flow(const Values& values) {
    ++read_.records;
    for (const std::uint32_t direction : {0u, kReversePen})
      if (const auto packets = values.find({direction, 2}); packets != values.end()) read_.packets += packets->second;
  }

  void take_account(const Values& values) {
    if (!values.contains({kOwnPen, 54})) return;
    const auto value = [&](std::uint32_t pen, std::uint16_t element) {
      const auto at = values.find({pen, element});
      return at == values.end() ? 0 : at->second;
    };
    read_.account = ExportAccount{.counted_in_flows = value(kOwnPen, 54),
                                  .packets_offered = value(kOwnPen, 59),
                                  .whole_run = value(kOwnPen, 60) == 1,
                                  .records_written = value(0, 42),
                                  .packets_written = value(kOwnPen, 59) - value(0, 167),
                                  .records_not_sent = value(0, 166),
                                  .packets_not_sent = value(0, 167),
                                  .has_packets = value(kOwnPen, 63) == 1,
                                  .balanced = value(kOwnPen, 58) == 1};
  }

  ExportedFile& read_;
  std::map<std::pair<std::uint32_t, std::uint16_t>, Template> templates_;
  std::map<std::uint32_t, std::uint32_t> sequences_;  ///< expected in the next message of a domain
  std::uint64_t data_records_ = 0;
};

}  // namespace

ExportedFile read_ipfix(Bytes file) {
  constexpr std::size_t kHead = 4;
  ExportedFile read;
  Messages messages(read);
  for (ByteReader reader(file); reader.left() > 0;) {
    const auto version = static_cast<std::uint16_t>(reader.big(2)), length = static_cast<std::uint16_t>(reader.big(2));
    if (!reader.ok() || version != kVersion || length < kHead || length - kHead > reader.left()) {
      messages.fail("not whole: its last message is truncated");
      break;
    }
    messages.take(ByteReader(reader.take(length - kHead)));
  }
  return read;
}

}  // namespace parshall
