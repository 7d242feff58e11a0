// SPDX-License-Identifier: Apache-2.0
#include "compare/report/warnings.hpp"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "base/counted.hpp"

namespace parshall {
namespace {

/// Returns what may keep packets from being recognized.
std::string remedies(ComparedBy by) {
  constexpr const char* kOffload = "does a NIC split or join segments (ethtool -K INTERFACE gro off gso off tso off)?";
  if (by == ComparedBy::records)
    return fmt::format("are addresses translated, which records do not tell? Does something rewrite packets? Or {}",
                       kOffload);
  return fmt::format("are addresses translated (--nat)? Or {}", kOffload);
}

/// Returns why there is nothing to compare.
std::string nothing_in_common(const Tap& up, const Tap& down, const Comparison& found) {
  if (up.compared == 0 || down.compared == 0)
    return fmt::format("no packet with an IP header in {}", up.compared == 0 ? up.name : down.name);
  return fmt::format("no packet was seen at both points: is it other traffic? Else {}", remedies(found.by));
}

/// Returns whether packets are lost, and others come from nowhere, in the same direction: more than one in a hundred.
bool seem_changed(const Passed& passed) {
  return passed.unlike_sent > passed.sent / 100 ||
         (passed.lost > passed.sent / 100 && passed.extra > passed.received / 100);
}

}  // namespace

std::string delay_text(double ns) {
  const double size = std::abs(ns);
  if (size < 1e3) return fmt::format("{:.0f} ns", ns);
  if (size < 1e6) return fmt::format("{:.1f} us", ns / 1e3);
  if (size < 1e9) return fmt::format("{:.3f} ms", ns / 1e6);
  return fmt::format("{:.3f} s", ns / 1e9);
}
std::vector<std::string> warnings(const Compared& compared) {
  const auto& [up, down, found, over_time] = compared;
  std::vector<std::string> all;
  const Passed &there = found.there, &back = found.back;
  if (there.delivered + back.delivered == 0)
    all.push_back(nothing_in_common(up, down, found));
  else if (seem_changed(there) || seem_changed(back) || (there.lost > there.sent / 2 && back.lost > back.sent / 2))
    all.push_back("many packets vanish and others come from nowhere: " + remedies(found.by));
  for (const auto& [tap, wrong] :
       {std::pair(&down, "lost there, or extra back"), std::pair(&up, "lost back, or extra there")})
    if (tap->missed != 0)
      all.push_back(fmt::format("{} dropped {} unseen, as this host was too slow: up to so many packets are wrongly {}",
                                tap->name, counted(tap->missed, "packet"), wrong));
  for (const Tap* tap : {&up, &down})
    if (!tap->lacks.empty())
      all.push_back(fmt::format("{} lacks records, so what only the other point saw is not called lost: {}", tap->name,
                                tap->lacks));
  for (const Tap* tap : {&up, &down})
    if (tap->joined != 0)
      all.push_back(
          fmt::format("{} of {} are longer than its MTU allows: segments were joined, and cannot be compared "
                      "(ethtool -K {} gro off gso off tso off)",
                      counted(tap->joined, "packet"), tap->name, tap->name));
  if (found.clocks.kind == Clocks::Kind::uneven)
    all.push_back(
        fmt::format("no offset and drift of the clocks explains all packets: a clock was set, or times are "
                    "coarser than delays; delays are wrong by up to {}",
                    delay_text(found.clocks.error_ns.value_or(0))));
  if (there.lost + there.extra + back.lost + back.extra != 0 && up.cut + down.cut != 0)
    all.push_back(
        fmt::format("{} were captured too short to be compared as a whole; what was captured longer at the other "
                    "point counts as lost (tcpdump -s 256)",
                    counted(up.cut + down.cut, "packet")));
  if (up.later_fragments != down.later_fragments)
    all.push_back(fmt::format("later fragments are not compared, but {} has {} and {} has {}", up.name,
                              up.later_fragments, down.name, down.later_fragments));
  return all;
}

}  // namespace parshall
