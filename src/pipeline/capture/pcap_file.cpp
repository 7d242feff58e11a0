// SPDX-License-Identifier: Apache-2.0
#include "pipeline/capture/pcap_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "pipeline/capture/capture_parser.hpp"
#include "pipeline/capture/file_handle.hpp"
#include "pipeline/capture/mapped_source.hpp"
#include "pipeline/capture/stream_ring.hpp"
#include "pipeline/capture/stream_source.hpp"

namespace parshall {
namespace {

using Sources = std::vector<std::unique_ptr<PacketSource>>;

Error cannot(const char* what, const std::string& name) {
  return {fmt::format("cannot {} {}: {}", what, name, std::strerror(errno))};
}

Result<Sources> map_capture(const std::shared_ptr<const FileMapping>& file, const std::string& name,
                            std::size_t consumers) {
  Sources sources;
  for (std::size_t i = 0; i < consumers; ++i) {
    auto parser = make_capture_parser(file->bytes(), name);
    if (!parser) return parser.error();
    sources.push_back(std::make_unique<MappedSource>(file, std::move(*parser), name));
  }
  return sources;
}

/// The first bytes of a stream: at least kMagicBytes unless it is shorter.
Result<std::vector<std::uint8_t>> read_head(int fd, const std::string& name) {
  std::vector<std::uint8_t> head(4096);
  std::size_t have = 0;
  while (have < kMagicBytes) {
    const ssize_t got = ::read(fd, head.data() + have, head.size() - have);
    if (got == 0) break;
    if (got > 0) {
      have += static_cast<std::size_t>(got);
    } else if (errno == EAGAIN) {
      pollfd ready{fd, POLLIN, 0};
      if (::poll(&ready, 1, -1) < 0) return cannot("read", name);
    } else {
      return cannot("read", name);  // EINTR too: whoever was interrupted wants to stop
    }
  }
  head.resize(have);
  return head;
}

Result<Sources> stream_capture(FileHandle stream, const std::string& name, std::size_t consumers) {
  auto head = read_head(stream.get(), name);
  if (!head) return head.error();
  std::vector<std::unique_ptr<CaptureParser>> parsers;
  for (std::size_t i = 0; i < consumers + 1; ++i) {
    auto parser = make_capture_parser(*head, name);
    if (!parser) return parser.error();
    parsers.push_back(std::move(*parser));
  }
  auto ring = StreamRing::start(std::move(stream), std::move(*head), std::move(parsers.back()), name, consumers);
  if (!ring) return ring.error();
  Sources sources;
  for (std::size_t i = 0; i < consumers; ++i) {
    sources.push_back(std::make_unique<StreamSource>(*ring, i, std::move(parsers[i])));
  }
  return sources;
}

}  // namespace

Result<Sources> open_capture_descriptor(int fd, const std::string& name, std::size_t consumers) {
  FileHandle file(fd);
  struct stat status {};
  if (::fstat(fd, &status) != 0) return cannot("read", name);
  if (S_ISDIR(status.st_mode)) return Error{fmt::format("cannot read {}: it is a directory", name)};
  if (consumers == 0) return Sources{};
  const bool at_start = ::lseek(fd, 0, SEEK_CUR) == 0;  // of standard input, a part may have been read already
  if (at_start) {
    if (auto mapping = FileMapping::map(fd)) return map_capture(mapping, name, consumers);
  }
  return stream_capture(std::move(file), name, consumers);
}

Result<Sources> open_capture_file(const std::string& path, std::size_t consumers) {
  if (path == "-") {
    const int fd = ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0);
    if (fd < 0) return cannot("read", std::string(kStandardInput));
    return open_capture_descriptor(fd, std::string(kStandardInput), consumers);
  }
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return cannot("open", path);
  return open_capture_descriptor(fd, path, consumers);
}

}  // namespace parshall
