// SPDX-License-Identifier: Apache-2.0
#include "verify/exported_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string_view>
#include <vector>

#include "base/file_handle.hpp"
#include "base/machine.hpp"

namespace parshall {
namespace {

bool begins_with(Bytes bytes, std::string_view text) noexcept {
  return bytes.size() >= text.size() && std::memcmp(bytes.data(), text.data(), text.size()) == 0;
}

}  // namespace

Result<std::vector<std::uint8_t>> read_whole(const std::string& path) {
  const auto wrong = [&](int why) { return Error{fmt::format("cannot read {}: {}", path, std::strerror(why))}; };
  const FileHandle file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat status {};
  if (!file || ::fstat(file.get(), &status) != 0) return wrong(errno);
  if (!S_ISREG(status.st_mode)) return Error{fmt::format("cannot read {}: it is not a regular file", path)};
  auto size = static_cast<std::size_t>(status.st_size);
  if (size > available_bytes()) return wrong(ENOMEM);
  std::vector<std::uint8_t> bytes(size);
  for (std::size_t done = 0; done < size;) {
    const ssize_t got = ::read(file.get(), bytes.data() + done, size - done);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return wrong(errno);
    if (got == 0) bytes.resize(size = done);
    done += static_cast<std::size_t>(got);
  }
  return bytes;
}

Result<ExportedFile> read_exported(const std::string& path) {
  constexpr std::string_view kIpfix{"\0\x0a", 2};
  const auto bytes = read_whole(path);
  if (!bytes) return bytes.error();
  if (begins_with(*bytes, "PAR1")) return read_parquet(*bytes);
  if (begins_with(*bytes, kIpfix)) return read_ipfix(*bytes);
  if (begins_with(*bytes, "{\"")) return read_json_lines(*bytes);
  if (bytes->empty()) return ExportedFile{.problem = "empty"};
  return Error{fmt::format("{}: this kind of file contains no account: give files of parquet, ipfix or jsonl", path)};
}

}  // namespace parshall
