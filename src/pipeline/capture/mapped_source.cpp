// SPDX-License-Identifier: Apache-2.0
#include "pipeline/capture/mapped_source.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>

namespace parshall {

std::shared_ptr<const FileMapping> FileMapping::map(int fd) noexcept {
  struct stat status {};
  if (::fstat(fd, &status) != 0 || !S_ISREG(status.st_mode) || status.st_size <= 0) return nullptr;
  const auto bytes = static_cast<std::size_t>(status.st_size);
  void* data = ::mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, fd, 0);
  if (data == MAP_FAILED) return nullptr;
  ::madvise(data, bytes, MADV_SEQUENTIAL);
  return std::make_shared<const FileMapping>(static_cast<const std::uint8_t*>(data), bytes);
}

FileMapping::~FileMapping() { ::munmap(const_cast<std::uint8_t*>(bytes_.data()), bytes_.size()); }

std::size_t MappedSource::poll(std::span<RawPacket> out) noexcept {
  if (out.empty()) return 0;
  Parsed parsed;
  do {  // what is not a packet (headers, other blocks) may be all that one call takes
    parsed = parser_->parse(rest_, out);
    rest_ = rest_.subspan(parsed.bytes);
  } while (parsed.packets == 0 && parsed.bytes > 0);
  if (rest_.empty() || parsed.packets == 0) {
    parser_->finish(rest_);
    exhausted_ = true;
  }
  return parsed.packets;
}

std::optional<Error> MappedSource::damage() const {
  if (!parser_->damage()) return std::nullopt;
  return Error{fmt::format("{}: {}", name_, *parser_->damage())};
}

}  // namespace parshall
