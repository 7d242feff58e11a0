// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <optional>

#include "base/result.hpp"

namespace parshall {

/// Loads a shared library once a run needs it, so that other runs start without it. It stays loaded.
///
/// A struct holds one, as its member `loader`, and the functions that are used, one LATE_FUNCTION a line. With
/// -Dlate_libraries=false the library is linked: the same struct then holds the addresses of linked functions.
class LateLibrary {
 public:
  /// Loads the library with that soname. `user` begins the message of an error, such as "a webhook".
  LateLibrary(const char* soname, const char* user);

  /// Returns the function of that name, or null, which problem() then explains.
  template <class Function>
  Function* function(const char* name) {
    return reinterpret_cast<Function*>(find(name));
  }

  /// Returns why the functions cannot be used: the library is not installed, or lacks one of them.
  const std::optional<Error>& problem() const noexcept { return problem_; }

 private:
  void* find(const char* name);

  [[maybe_unused]] const char* soname_;
  [[maybe_unused]] void* handle_ = nullptr;
  std::optional<Error> problem_;  ///< the first one
};

/// Returns the functions of such a struct, which the first call loads. They stay for what ends after static objects.
template <class Functions>
const Functions& functions_of_library() {
  static const Functions& functions = *new Functions;
  return functions;
}

}  // namespace parshall

/// Declares the member `name`, a pointer to the library's function `symbol`.
#ifdef PARSHALL_LATE_LIBRARIES
#define LATE_FUNCTION(name, symbol) decltype(&::symbol) name = loader.function<decltype(::symbol)>(#symbol)
#else
#define LATE_FUNCTION(name, symbol) decltype(&::symbol) name = &::symbol
#endif
