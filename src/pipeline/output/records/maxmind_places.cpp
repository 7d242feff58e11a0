// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <fmt/format.h>
#include <maxminddb.h>
#include <netinet/in.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <optional>
#include <vector>

#include "base/escaped.hpp"
#include "base/file_handle.hpp"
#include "base/late_library.hpp"
#include "pipeline/output/records/places.hpp"

namespace parshall {
namespace {

/// Functions of libmaxminddb.
struct Libmaxminddb {
  LateLibrary loader{PARSHALL_LIBMAXMINDDB, "a file of places"};
  LATE_FUNCTION(open, MMDB_open);
  LATE_FUNCTION(close, MMDB_close);
  LATE_FUNCTION(strerror, MMDB_strerror);
  LATE_FUNCTION(lookup_sockaddr, MMDB_lookup_sockaddr);
  LATE_FUNCTION(aget_value, MMDB_aget_value);
};

const Libmaxminddb& maxminddb() { return functions_of_library<Libmaxminddb>(); }

/// Paths of the values in the files that are common.
constexpr std::array<const char*, 2> kAsNumbers[] = {{"autonomous_system_number"}, {"asn"}};
constexpr std::array<const char*, 3> kCountries[] = {
    {"country", "iso_code"}, {"country_code"}, {"country"}, {"registered_country", "iso_code"}};

/// A file in memory, so that nobody can change it during the run.
struct File {
  explicit File(const std::string& path) {
    const FileHandle file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    const FileHandle copy(::memfd_create("places", MFD_CLOEXEC));
    if (file.get() < 0 || copy.get() < 0 || !copy_all(copy.get(), file.get())) {
      problem = fmt::format("{}: {}", escaped(path), std::strerror(errno));
      return;
    }
    const int status = maxminddb().open(fmt::format("/proc/self/fd/{}", copy.get()).c_str(), MMDB_MODE_MMAP, &database);
    if (status == MMDB_SUCCESS)
      is_open = true;
    else
      problem =
          fmt::format("{}: {}; give a file in MaxMind's format (.mmdb)", escaped(path), maxminddb().strerror(status));
  }
  ~File() {
    if (is_open) maxminddb().close(&database);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  static bool copy_all(int to, int from) {
    std::vector<char> buffer(std::size_t{1} << 20);
    while (true) {
      const ssize_t count = ::read(from, buffer.data(), buffer.size());
      if (count <= 0) return count == 0;
      for (ssize_t done = 0; done < count;) {
        const ssize_t written = ::write(to, buffer.data() + done, static_cast<std::size_t>(count - done));
        if (written <= 0) return false;
        done += written;
      }
    }
  }

  MMDB_s database{};
  bool is_open = false;
  std::string problem;
};

std::optional<MMDB_entry_data_s> value_at(MMDB_entry_s entry, std::span<const char* const> path) noexcept {
  std::array<const char*, 4> keys{};  // ends with null
  std::copy(path.begin(), path.end(), keys.begin());
  MMDB_entry_data_s data{};
  if (maxminddb().aget_value(&entry, &data, keys.data()) != MMDB_SUCCESS || !data.has_data) return std::nullopt;
  return data;
}

std::string_view text_of(const MMDB_entry_data_s& data) noexcept {
  return data.type == MMDB_DATA_TYPE_UTF8_STRING ? std::string_view(data.utf8_string, data.data_size)
                                                 : std::string_view();
}

/// Reads a number, or a text such as AS64496.
std::uint32_t as_number_of(const MMDB_entry_data_s& data) noexcept {
  if (data.type == MMDB_DATA_TYPE_UINT32) return data.uint32;
  std::string_view text = text_of(data);
  if (text.starts_with("AS")) text.remove_prefix(2);
  std::uint32_t number = 0;
  const auto [end, wrong] = std::from_chars(text.data(), text.data() + text.size(), number);
  return wrong == std::errc() && end == text.data() + text.size() ? number : 0;
}

class MaxmindPlaces final : public Places {
 public:
  explicit MaxmindPlaces(std::vector<std::unique_ptr<File>> files) : files_(std::move(files)) {}

  AddressPlace find(std::span<const std::uint8_t> address) const noexcept override {
    sockaddr_storage storage{};
    if (address.size() == 4) {
      auto& ipv4 = reinterpret_cast<sockaddr_in&>(storage);
      ipv4.sin_family = AF_INET;
      std::memcpy(&ipv4.sin_addr, address.data(), address.size());
    } else {
      auto& ipv6 = reinterpret_cast<sockaddr_in6&>(storage);
      ipv6.sin6_family = AF_INET6;
      std::memcpy(&ipv6.sin6_addr, address.data(), address.size());
    }
    AddressPlace place;
    for (const auto& file : files_) {
      int wrong = MMDB_SUCCESS;
      const MMDB_lookup_result_s found =
          maxminddb().lookup_sockaddr(&file->database, reinterpret_cast<const sockaddr*>(&storage), &wrong);
      if (wrong == MMDB_SUCCESS && found.found_entry) add(found.entry, place);
    }
    return place;
  }

 private:
  static void add(const MMDB_entry_s& entry, AddressPlace& place) noexcept {
    for (const auto& path : kAsNumbers) {
      if (place.as_number != 0) break;
      if (const auto data = value_at(entry, path)) place.as_number = as_number_of(*data);
    }
    for (const auto& path : kCountries) {
      if (!place.country.empty()) break;
      if (const auto data = value_at(entry, path)) place.country = country_text(country_number(text_of(*data)));
    }
  }

  std::vector<std::unique_ptr<File>> files_;
};

}  // namespace

Result<std::shared_ptr<const Places>> Places::open(std::span<const std::string> paths) {
  if (const auto& problem = maxminddb().loader.problem(); problem) return *problem;
  std::vector<std::unique_ptr<File>> files;
  for (const std::string& path : paths) {
    files.push_back(std::make_unique<File>(path));
    if (!files.back()->is_open) return Error{fmt::format("--geo {}", files.back()->problem)};
  }
  return std::shared_ptr<const Places>(std::make_shared<MaxmindPlaces>(std::move(files)));
}

}  // namespace parshall
