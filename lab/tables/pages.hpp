// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <fmt/core.h>
#include <sys/prctl.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>

#include "base/result.hpp"

namespace parshall::lab {

/// Page size: 2 MB if the kernel grants it, or 4 KB.
enum class Pages : std::uint8_t { huge, small };
inline constexpr std::string_view kPagesNames[] = {"2M", "4k"};

/// Selects the pages for memory that this process touches for the first time while this object exists.
class OnPages {
 public:
  explicit OnPages(Pages pages) noexcept : before_(::prctl(PR_GET_THP_DISABLE, 0, 0, 0, 0)) {
    if (::prctl(PR_SET_THP_DISABLE, pages == Pages::small, 0, 0, 0) != 0) errno_ = errno;
  }
  ~OnPages() {
    if (before_ >= 0) ::prctl(PR_SET_THP_DISABLE, before_, 0, 0, 0);
  }
  OnPages(const OnPages&) = delete;
  OnPages& operator=(const OnPages&) = delete;

  /// Returns why the kernel refuses.
  std::optional<Error> refused() const {
    if (errno_ == 0) return std::nullopt;
    return Error{fmt::format("the kernel does not let this process choose its pages: {}", std::strerror(errno_))};
  }

 private:
  int before_, errno_ = 0;
};

}  // namespace parshall::lab
