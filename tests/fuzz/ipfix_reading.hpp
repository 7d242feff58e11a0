// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <map>
#include <utility>
#include <vector>

#include "fuzzing.hpp"

namespace parshall::fuzz {

/// A data record of IPFIX: the bytes of each element, by whose it is and its number.
using IpfixRecord = std::map<std::pair<std::uint32_t, std::uint16_t>, std::vector<std::uint8_t>>;

/// Every data record of flows in whole messages, read by RFC 7011 and nothing else. Requires that they are well-formed.
class IpfixReading {
 public:
  explicit IpfixReading(Bytes file) {
    while (!file.empty()) {
      Big head(file);
      require(head.number(2) == 10);
      const std::size_t length = head.number(2);
      require(length >= 16 && length <= file.size());
      read_message(file.first(length).subspan(16));
      file = file.subspan(length);
    }
  }

  const std::vector<IpfixRecord>& flows() const noexcept { return flows_; }

 private:
  struct Field {
    std::uint32_t pen;
    std::uint16_t element, bytes;
  };
  /// Numbers in network order; requires that they are there.
  struct Big {
    explicit Big(Bytes bytes) noexcept : rest(bytes) {}
    std::size_t number(std::size_t bytes) {
      std::size_t number = 0;
      for (const std::uint8_t byte : take(bytes)) number = number << 8 | byte;
      return number;
    }
    Bytes take(std::size_t bytes) {
      require(bytes <= rest.size());
      const Bytes taken = rest.first(bytes);
      rest = rest.subspan(bytes);
      return taken;
    }
    Bytes rest;
  };

  void read_message(Bytes sets) {
    for (Big message(sets); !message.rest.empty();) {
      const std::size_t id = message.number(2), length = message.number(2);
      require(length >= 4);
      Big set(message.take(length - 4));
      if (id == 2 || id == 3) {
        while (set.rest.size() >= 4) read_template(set, id == 3);
      } else {
        const auto known = templates_.find(id);
        require(id >= 256 && known != templates_.end());
        while (set.rest.size() >= known->second.size()) read_record(set, known->second, is_options_[id]);
      }
    }
  }

  void read_template(Big& set, bool of_options) {
    const std::size_t id = set.number(2), count = set.number(2);
    if (of_options) set.number(2);
    std::vector<Field> fields;
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t element = set.number(2), bytes = set.number(2);
      const std::size_t pen = (element & 0x8000) != 0 ? set.number(4) : 0;
      fields.push_back({static_cast<std::uint32_t>(pen), static_cast<std::uint16_t>(element & 0x7FFF),
                        static_cast<std::uint16_t>(bytes)});
    }
    templates_[id] = std::move(fields);
    is_options_[id] = of_options;
  }

  void read_record(Big& set, const std::vector<Field>& fields, bool of_options) {
    IpfixRecord record;
    for (const Field& field : fields) {
      std::size_t bytes = field.bytes;
      if (bytes == 65535 && (bytes = set.number(1)) == 255) bytes = set.number(2);
      const Bytes value = set.take(bytes);
      record[{field.pen, field.element}].assign(value.begin(), value.end());
    }
    if (!of_options) flows_.push_back(std::move(record));
  }

  std::map<std::size_t, std::vector<Field>> templates_;
  std::map<std::size_t, bool> is_options_;
  std::vector<IpfixRecord> flows_;
};

}  // namespace parshall::fuzz
