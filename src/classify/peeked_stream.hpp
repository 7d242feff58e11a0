// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <istream>
#include <streambuf>
#include <string_view>

namespace parshall {

/// A stream whose first bytes can be seen before they are read. It works for pipes too, which cannot go back.
class PeekedStream : private std::streambuf, public std::istream {
 public:
  /// Throws std::ios_base::failure if the stream cannot be read.
  explicit PeekedStream(std::istream& stream) : std::istream(this), source_(*stream.rdbuf()) {
    head_bytes_ = static_cast<std::size_t>(source_.sgetn(bytes_.data(), kHeadBytes));
    setg(bytes_.data(), bytes_.data(), bytes_.data() + head_bytes_);
  }

  /// Returns the first bytes. Valid until the first byte is read.
  std::string_view head() const noexcept { return {bytes_.data(), head_bytes_}; }

  static constexpr std::size_t kHeadBytes = 32;

 private:
  std::streambuf::int_type underflow() override {
    const auto taken = source_.sgetn(bytes_.data(), static_cast<std::streamsize>(bytes_.size()));
    setg(bytes_.data(), bytes_.data(), bytes_.data() + taken);
    return taken > 0 ? std::char_traits<char>::to_int_type(bytes_[0]) : std::char_traits<char>::eof();
  }

  std::streambuf& source_;
  std::array<char, 1 << 14> bytes_;
  std::size_t head_bytes_ = 0;
};

}  // namespace parshall
