// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <atomic>
#include <ctime>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "pipeline/capture/capture_parser.hpp"
#include "pipeline/capture/source.hpp"

namespace parshall {

/// Read-only mapping of a regular file.
///
/// Its length is the file's when it was mapped; data appended later is not seen. If another program truncates the file,
/// the missing bytes read as zeros, and change() says how many are left.
class FileMapping {
 public:
  /// Maps the file. Returns null if that is not possible; read it as a stream then.
  static std::shared_ptr<const FileMapping> map(int fd) noexcept;
  FileMapping(const std::uint8_t* data, std::size_t bytes, int file, timespec changed) noexcept;
  FileMapping(const FileMapping&) = delete;
  FileMapping& operator=(const FileMapping&) = delete;
  ~FileMapping();

  std::span<const std::uint8_t> bytes() const noexcept { return bytes_; }

  /// Returns whether a page that no longer existed was read.
  bool page_vanished() const noexcept;

  struct Change {
    std::size_t bytes;  ///< bytes that the file still has
    bool any;           ///< true if the file changed since it was mapped
  };

  /// Checks the file for changes, with a system call.
  Change change() const noexcept;

 private:
  std::span<const std::uint8_t> bytes_;
  int file_;
  timespec changed_;
};

/// Reads a mapped capture. Several sources may share one mapping, each with its own cursor. Only the last 64 to 96 MB
/// read stay resident, so reading a long capture takes no more memory than reading a short one.
class MappedSource final : public PacketSource {
 public:
  MappedSource(std::shared_ptr<const FileMapping> file, std::unique_ptr<CaptureParser> parser, std::string name)
      : file_(std::move(file)), rest_(file_->bytes()), parser_(std::move(parser)), name_(std::move(name)) {}

  std::size_t poll(std::span<RawPacket> out) noexcept override;
  bool exhausted() const noexcept override { return exhausted_; }
  bool keeps_packets() const noexcept override { return true; }
  Counters counters() noexcept override { return parser_->losses(); }
  std::optional<std::uint64_t> most_ip_packets() const noexcept override {
    constexpr std::size_t kLeastRecord = 16, kLeastIp = 20;  // minimum of all formats
    return rest_.size() / (kLeastRecord + kLeastIp);
  }
  std::vector<LinkType> link_types() const override {
    const auto only = parser_->only_link_type(file_->bytes());
    return only ? std::vector{*only} : std::vector<LinkType>();
  }
  std::optional<Error> damage() const override;

  std::optional<double> share_read() const noexcept override {
    return static_cast<double>(taken_.load(std::memory_order_relaxed)) / static_cast<double>(file_->bytes().size());
  }

 private:
  void let_go() noexcept;
  std::size_t without_vanished(std::span<const RawPacket> packets) noexcept;

  std::shared_ptr<const FileMapping> file_;
  std::span<const std::uint8_t> rest_;
  std::size_t let_go_bytes_ = 0;  ///< counted from the beginning of the file
  std::unique_ptr<CaptureParser> parser_;
  std::string name_;
  bool exhausted_ = false;
  std::atomic<std::size_t> taken_{0};  ///< bytes read, as of the last poll()
  std::optional<std::size_t> cut_to_;  ///< bytes left of a file that was truncated while it was read
};

}  // namespace parshall
