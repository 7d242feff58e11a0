// SPDX-License-Identifier: Apache-2.0
#include "cli/foreign_option.hpp"

namespace parshall::cli {
namespace {

struct ForeignOption {
  std::string_view name, instead;
};
constexpr ForeignOption kForeign[] = {
    {"-n", "addresses are never resolved: leave it out"},
    {"-nn", "addresses are never resolved: leave it out"},
    {"-c", "give --count"},
    {"--limit", "give --count"},
    {"-f", "give the filter behind the source, or --filter"},
    {"-Y", "give the filter behind the source, in tcpdump's language"},
    {"--tcp", "give the filter tcp behind the source"},
    {"--udp", "give the filter udp behind the source"},
    {"-w", "watch writes flows and no packets: -o FILE for the report, --export KIND:FILE for records"},
    {"--write", "watch writes flows and no packets: -o FILE for the report, --export KIND:FILE for records"},
    {"-a", "give --duration"},
    {"--timeout", "give --duration"},
    {"--interval", "give --every"},
    {"-T", "give --format"},
    {"--json", "give --format json"},
    {"--csv", "give --format csv"},
    {"-t", "times are a choice of --times"},
    {"-O", "give --sort"},
    {"-R", "give -r"},
    {"-s", "packets are never cut: leave it out"},
    {"-v", "the report is as long as --top and --columns say: leave it out"},
    {"-vv", "the report is as long as --top and --columns say: leave it out"},
    {"-e", "packets are not printed: leave it out"},
    {"-A", "packets are not printed: leave it out"},
    {"-x", "packets are not printed: leave it out"},
    {"-X", "packets are not printed: leave it out"},
    {"-D", "ip link lists the interfaces"},
};

}  // namespace

std::string_view in_place_of(std::string_view option) noexcept {
  std::string_view letter;
  for (const ForeignOption& each : kForeign) {
    if (each.name == option) return each.instead;
    if (each.name.size() == 2 && option.starts_with(each.name)) letter = each.instead;
  }
  const bool has_value = option.size() > 2 && option[2] >= '0' && option[2] <= '9';  // such as -s0
  return has_value ? letter : std::string_view();
}

}  // namespace parshall::cli
