// SPDX-License-Identifier: Apache-2.0
#include "cli/foreign_option.hpp"

namespace parshall::cli {
namespace {

struct ForeignOption {
  std::string_view name, instead;
};
constexpr ForeignOption kForeign[] = {
    {"-n", "parshall never resolves addresses: leave it out"},
    {"-nn", "parshall never resolves addresses: leave it out"},
    {"-c", "give --count"},
    {"--limit", "give --count"},
    {"-f", "give the filter after the source, or use --filter"},
    {"-Y", "give the filter after the source, in tcpdump's language"},
    {"--tcp", "give the filter tcp after the source"},
    {"--udp", "give the filter udp after the source"},
    {"-w", "watch writes flows, not packets: give -o FILE for the report, --export KIND:FILE for records"},
    {"--write", "watch writes flows, not packets: give -o FILE for the report, --export KIND:FILE for records"},
    {"-a", "give --duration"},
    {"--timeout", "give --duration"},
    {"--interval", "give --every"},
    {"-T", "give --format"},
    {"--json", "give --format json"},
    {"--csv", "give --format csv"},
    {"-t", "give --times"},
    {"-O", "give --sort"},
    {"-R", "give -r"},
    {"-s", "parshall never cuts packets: leave it out"},
    {"-v", "--top and --columns set the length of the report: leave it out"},
    {"-vv", "--top and --columns set the length of the report: leave it out"},
    {"-e", "parshall does not print packets: leave it out"},
    {"-A", "parshall does not print packets: leave it out"},
    {"-x", "parshall does not print packets: leave it out"},
    {"-X", "parshall does not print packets: leave it out"},
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
