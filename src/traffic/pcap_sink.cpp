// SPDX-License-Identifier: Apache-2.0
#include "traffic/pcap_sink.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/output_modes.hpp"

namespace parshall {
namespace {

/// File header in this machine's byte order, as the format allows.
struct FileHeader {
  std::uint32_t magic = 0xA1B23C4D;  ///< nanoseconds
  std::uint16_t major = 2, minor = 4;
  std::uint32_t reserved[2] = {};
  std::uint32_t snap_bytes;
  std::uint32_t link_type = 1;  ///< Ethernet
};
static_assert(sizeof(FileHeader) == 24);

struct RecordHeader {
  std::uint32_t seconds, nanoseconds, captured_bytes, wire_bytes;
};
static_assert(sizeof(RecordHeader) == 16);

}  // namespace

Result<std::unique_ptr<PcapSink>> PcapSink::create(const std::string& path) {
  const bool standard = path == "-";
  FileHandle file(standard ? ::dup(STDOUT_FILENO)
                           : ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, kFileMode));
  const std::string name = standard ? "standard output" : path;
  if (!file) return Error{fmt::format("cannot write {}: {}", name, std::strerror(errno))};
  if (::isatty(file.get()) == 1)
    return Error{"a capture is binary and cannot go to a terminal: name a file, or send it to a program"};
  std::unique_ptr<PcapSink> sink(new PcapSink(std::move(file), name));
  const FileHeader header{.snap_bytes = kLongest};
  std::memcpy(sink->buffer_.data(), &header, sizeof header);
  sink->used_ = sink->begins_at_ = sizeof header;
  return sink;
}

std::size_t PcapSink::reserve(std::span<OutFrame> frames) noexcept {
  std::size_t at = used_, count = 0;
  for (OutFrame& frame : frames.first(std::min(frames.size(), ends_.size()))) {
    if (at + kRecordBytes + frame.bytes > kBufferBytes) {
      if (count != 0) break;
      flush();
      at = used_;
    }
    const RecordHeader header{.seconds = static_cast<std::uint32_t>(frame.time_ns / 1'000'000'000),
                              .nanoseconds = static_cast<std::uint32_t>(frame.time_ns % 1'000'000'000),
                              .captured_bytes = frame.bytes,
                              .wire_bytes = frame.bytes};
    std::memcpy(buffer_.data() + at, &header, sizeof header);
    frame.data = buffer_.data() + at + kRecordBytes;
    at += kRecordBytes + frame.bytes;
    ends_[count++] = at;
  }
  return count;
}

std::size_t PcapSink::send(std::size_t count) noexcept {
  if (damage_ || count == 0) return 0;
  used_ = ends_[count - 1];
  frames_ += count;
  return count;
}

void PcapSink::flush() noexcept {
  std::size_t at = 0;
  while (at < used_ && !damage_) {
    const ssize_t written = ::write(file_.get(), buffer_.data() + at, used_ - at);
    if (written > 0) {
      at += static_cast<std::size_t>(written);
    } else if (written == 0 || errno != EINTR) {
      damage_ = Error{fmt::format("cannot write more to {}: {}", name_, std::strerror(errno))};
    }
  }
  if (damage_) end_at_whole_frame(at);
  written_ += at;
  used_ = begins_at_ = 0;
  frames_ = 0;
}

/// Ends the file at a whole frame, after only `bytes` of the buffer were written. The other frames are lost.
void PcapSink::end_at_whole_frame(std::size_t bytes) noexcept {
  std::size_t end = begins_at_;
  for (RecordHeader header; frames_ > 0; --frames_) {
    std::memcpy(&header, buffer_.data() + end, sizeof header);
    const std::size_t next = end + sizeof header + header.captured_bytes;
    if (next > bytes) break;
    end = next;
  }
  lost_ += frames_;
  if (bytes > end) [[maybe_unused]]  // fails on a pipe, which cannot be truncated
    const int refused = ::ftruncate(file_.get(), static_cast<off_t>(written_ + end));
}

}  // namespace parshall
