// SPDX-License-Identifier: Apache-2.0
#include "pipeline/capture/pcap_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "pipeline/capture/capture_parser.hpp"
#include "pipeline/capture/compressed/compressed_stream.hpp"
#include "pipeline/capture/descriptor_stream.hpp"
#include "pipeline/capture/mapped_source.hpp"
#include "pipeline/capture/stream_ring.hpp"
#include "pipeline/capture/stream_source.hpp"

namespace parshall {
namespace {

using Sources = std::vector<std::unique_ptr<PacketSource>>;

Error cannot(const char* what, const std::string& name) {
  return {fmt::format("cannot {} {}: {}", what, name, std::strerror(errno))};
}

Error cannot_read(const std::string& name, const std::string& why) {
  return {fmt::format("cannot read {}: {}", name, why)};
}

Result<Sources> map_capture(const std::shared_ptr<const FileMapping>& file, const std::string& name,
                            std::size_t consumers) {
  Sources sources;
  for (std::size_t i = 0; i < consumers; ++i) {
    auto parser = make_capture_parser(file->bytes(), name);
    if (!parser) return parser.error();
    if (!sources.empty()) (*parser)->ignore_losses();
    sources.push_back(std::make_unique<MappedSource>(file, std::move(*parser), name));
  }
  return sources;
}

/// Reads the first bytes of a stream, as many as `wants_more` asks for, unless it is shorter. An error behind the bytes
/// that identify the format is left to the later reader, which reports it.
template <class WantsMore>
Result<std::vector<std::uint8_t>> read_head(ByteStream& stream, const std::string& name, WantsMore wants_more,
                                            std::vector<std::uint8_t> head = {}) {
  constexpr std::size_t kPieceBytes = 4096;
  while (wants_more(head)) {
    const std::size_t have = head.size();
    head.resize(have + kPieceBytes);
    const auto got = stream.read(std::span(head).subspan(have));
    head.resize(have + (got ? got->bytes : 0));
    if (!got && have >= kMagicBytes) break;
    if (!got) return cannot_read(name, got.error().message);
    if (got->outcome == BytesRead::Outcome::interrupted)
      return cannot_read(name, std::strerror(EINTR));  // a signal means that the user wants to stop
    if (got->outcome != BytesRead::Outcome::some) break;
  }
  return head;
}

/// Stream and its first bytes, after decompression if it was compressed.
struct Content {
  std::unique_ptr<ByteStream> stream;
  std::vector<std::uint8_t> head;
  std::string name;
};

Result<Content> open_content(FileHandle file, const std::string& name) {
  auto stream = DescriptorStream::make(std::move(file));
  if (!stream) return cannot_read(name, stream.error().message);
  const auto wants_magic = [](std::span<const std::uint8_t> head) { return head.size() < kMagicBytes; };
  auto head = read_head(**stream, name, wants_magic);
  if (!head) return head.error();
  const CompressedFormat* const format = compressed_format_of(*head);
  if (format == nullptr) {
    head = read_head(**stream, name, wants_longer_head, *std::move(head));
    if (!head) return head.error();
    return Content{*std::move(stream), *std::move(head), name};
  }
  stream = CompressedStream::make(*format, *std::move(stream), *head);
  if (!stream) return cannot_read(name, stream.error().message);
  head = read_head(**stream, name, wants_magic);
  if (!head) return head.error();
  if (const CompressedFormat* const inside = compressed_format_of(*head))
    return Error{
        fmt::format("{} is compressed twice, with {} and inside with {}; take the outer one off on the way: "
                    "{} {} | parshall watch -r -",
                    name, format->name, inside->name, format->decompress, name == kStandardInput ? "FILE" : name)};
  head = read_head(**stream, name, wants_longer_head, *std::move(head));
  if (!head) return head.error();
  return Content{*std::move(stream), *std::move(head), name + std::string(kDecompressed)};
}

Result<Sources> stream_capture(FileHandle file, const std::string& name, std::size_t consumers) {
  auto content = open_content(std::move(file), name);
  if (!content) return content.error();
  std::vector<std::unique_ptr<CaptureParser>> parsers;
  for (std::size_t i = 0; i < consumers + 1; ++i) {
    auto parser = make_capture_parser(content->head, content->name);
    if (!parser) return parser.error();
    parsers.push_back(std::move(*parser));
  }
  auto ring = StreamRing::start(std::move(content->stream), std::move(content->head), std::move(parsers.back()), name,
                                consumers);
  if (!ring) return ring.error();
  Sources sources;
  for (std::size_t i = 0; i < consumers; ++i) {
    if (i != 0) parsers[i]->ignore_losses();
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
  const bool at_start = ::lseek(fd, 0, SEEK_CUR) == 0;  // part of standard input may have been read already
  if (at_start) {
    const auto mapping = FileMapping::map(fd);
    if (mapping && compressed_format_of(mapping->bytes()) == nullptr) return map_capture(mapping, name, consumers);
  }
  return stream_capture(std::move(file), name, consumers);
}

Result<FileHandle> open_capture(const std::string& path) {
  FileHandle file(path == "-" ? ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0) : ::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return path == "-" ? cannot("read", std::string(kStandardInput)) : cannot("open", path);
  return file;
}

Result<Sources> open_capture_file(const std::string& path, std::size_t consumers) {
  auto file = open_capture(path);
  if (!file) return file.error();
  return open_capture_descriptor(file->release(), path == "-" ? std::string(kStandardInput) : path, consumers);
}

}  // namespace parshall
