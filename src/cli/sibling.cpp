// SPDX-License-Identifier: Apache-2.0
#include "cli/sibling.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string>

#include "base/own_file.hpp"
#include "cli/exit_status.hpp"

namespace parshall::cli {
namespace {

constexpr Sibling kSiblings[] = {
    {"parshall-lab",
     "bench",
     "The lab: measure the costs of methods on this machine",
     {{{"experiments", "experiments of bench"},
       {"tables", "flow tables of the lab"},
       {"hashes", "hashes of flow keys, of the lab"}}}},
    {"parshall-test",
     "test",
     "Test devices, TCP stacks and monitors",
     {{{"goals", "goals of a search for a rate: test search"}, {"scenarios", "devices that test run can make"}}}},
};

}  // namespace

std::span<const Sibling> siblings() noexcept { return kSiblings; }

std::optional<int> become_sibling(int argc, char** argv) {
  if (argc < 2) return std::nullopt;
  const std::string_view command(argv[1]), topic(argc > 2 && command == "list" ? argv[2] : "");
  const auto found = std::ranges::find_if(kSiblings, [&](const Sibling& sibling) {
    return sibling.command == command ||
           (!topic.empty() && std::ranges::count(sibling.topics, topic, &Sibling::Topic::name) != 0);
  });
  if (found == std::end(kSiblings)) return std::nullopt;
  const std::filesystem::path self = own_file();
  const std::string file(found->program), beside = (self.parent_path() / file).string();
  if (!self.empty() && ::access(beside.c_str(), X_OK) == 0) ::execv(beside.c_str(), argv);
  ::execvp(file.c_str(), argv);
  fmt::print(stderr,
             "parshall: `parshall {}` needs the program {}, which cannot be run: {}; put it in the folder of parshall "
             "or in PATH (in a clone: make programs)\n",
             command, file, std::strerror(errno));
  return kFailed;
}

}  // namespace parshall::cli
