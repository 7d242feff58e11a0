// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

namespace parshall {

/// Ended records that wait for a report: in memory first, then in an unnamed temporary file, so that neither the
/// workers nor the memory limit depend on how fast reports are read.
///
/// Memory: kMemoryBytes; more only where no temporary file can be written.
class RecordSpool {
 public:
  static constexpr std::size_t kMemoryBytes = std::size_t{64} << 20;

  void append(std::span<const std::byte> record);

  /// Hands out every record in the order of append(). Not while another thread appends.
  void visit(const std::function<void(std::span<const std::byte>)>& visit);

  /// The same, and forgets those for which `take` returns true.
  void take(const std::function<bool(std::span<const std::byte>)>& take);

 private:
  struct Close {
    void operator()(std::FILE* file) const noexcept { std::fclose(file); }
  };
  using File = std::unique_ptr<std::FILE, Close>;

  void append_locked(std::span<const std::byte> record);
  bool append_to_file(std::span<const std::byte> record);

  std::mutex mutex_;
  std::vector<std::byte> memory_;
  File file_;
  std::uint64_t file_bytes_ = 0;
  bool file_failed_ = false;
};

}  // namespace parshall
