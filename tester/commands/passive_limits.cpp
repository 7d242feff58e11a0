// SPDX-License-Identifier: Apache-2.0
#include "tester/commands/passive_limits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>

#include "base/parse.hpp"
#include "compare/report/warnings.hpp"

namespace parshall::tester {
/// A share as its two counts, or a time over 1.
struct PassiveLimit::Fraction {
  double part, all = 1;

  double value() const noexcept { return part / all; }
};

/// The measured value: at least, and at most. Both are the same unless this host missed packets.
struct PassiveLimit::Measured {
  Fraction least, most;
};

struct PassiveLimit::Kinds {
  static std::optional<Measured> loss(const ComparedRow& row) {
    const Passed& passed = row.passed;
    const auto known = static_cast<double>(passed.delivered + passed.lost);
    if (known == 0) return std::nullopt;
    const auto unsent = static_cast<double>(row.sender_missed);
    return Measured{{static_cast<double>(passed.lost - std::min(passed.lost, row.receiver_missed)), known},
                    {static_cast<double>(passed.lost) + unsent, known + unsent}};
  }

  static std::optional<Measured> share_of_delivered(const ComparedRow& row, std::uint64_t part) {
    if (row.passed.delivered == 0) return std::nullopt;
    const Fraction share{static_cast<double>(part), static_cast<double>(row.passed.delivered)};
    return Measured{share, share};
  }

  static std::optional<Measured> of_delays(const ComparedRow& row, double ns) {
    if (row.passed.delays.samples == 0) return std::nullopt;
    return Measured{{ns}, {ns}};
  }
};

struct PassiveLimit::Kind {
  std::string_view name, help;
  bool is_time;
  bool is_worst;  ///< of the worst interval, else of all packets
  std::optional<Measured> (*measure)(const ComparedRow& row);
};

constexpr PassiveLimit::Kind PassiveLimit::kKinds[] = {
    {"loss", "share of packets lost", false, false, Kinds::loss},
    {"worst-loss", "share of packets lost in the worst interval", false, true, Kinds::loss},
    {"duplicated", "share of packets that arrived more than once", false, false,
     [](const ComparedRow& row) { return Kinds::share_of_delivered(row, row.passed.duplicated); }},
    {"reordered", "share of packets that others overtook (RFC 4737)", false, false,
     [](const ComparedRow& row) { return Kinds::share_of_delivered(row, row.passed.reordered); }},
    {"delay-mean", "mean delay", true, false,
     [](const ComparedRow& row) { return Kinds::of_delays(row, row.passed.delays.mean); }},
    {"delay-p99", "99th percentile of the delay", true, false,
     [](const ComparedRow& row) { return Kinds::of_delays(row, static_cast<double>(row.passed.delays.p99)); }},
    {"worst-delay-p99", "99th percentile of the delay in the worst interval", true, true,
     [](const ComparedRow& row) { return Kinds::of_delays(row, static_cast<double>(row.passed.delays.p99)); }},
    {"delay-max", "largest delay", true, false,
     [](const ComparedRow& row) { return Kinds::of_delays(row, static_cast<double>(row.passed.delays.most)); }},
    {"jitter", "mean difference between the delays of consecutive packets of a flow (RFC 3393)", true, false,
     [](const ComparedRow& row) {
       const auto& variation = row.passed.delays.variation;
       return variation ? Kinds::of_delays(row, *variation) : std::nullopt;
     }},
};

std::vector<std::string> PassiveLimit::help() {
  std::vector<std::string> lines;
  for (const Kind& kind : kKinds) lines.push_back(fmt::format("{:<16} {}", kind.name, kind.help));
  return lines;
}

Result<PassiveLimit> PassiveLimit::parse(const std::string& text) {
  const std::size_t at = text.find('=');
  const std::string name = text.substr(0, at), value = at == std::string::npos ? "" : text.substr(at + 1);
  const Kind* const kind = std::ranges::find(kKinds, name, &Kind::name);
  if (kind == std::end(kKinds)) {
    std::string names;
    for (const Kind& each : kKinds) names += (names.empty() ? "" : ", ") + std::string(each.name);
    return Error{fmt::format("--limit {}: no limit {}; there are {}", text, name, names)};
  }
  if (kind->is_time) {
    const auto ns = parse_duration_ns(value);
    if (!ns) return Error{fmt::format("--limit {}: give a time, such as {}=5ms", text, name)};
    return PassiveLimit(*kind, static_cast<double>(*ns));
  }
  double percent = -1;
  const auto [end, wrong] = std::from_chars(value.data(), value.data() + value.size(), percent);
  if (wrong != std::errc() || std::string_view(end, value.data() + value.size()) != "%" ||
      !(percent >= 0 && percent <= 100))
    return Error{fmt::format("--limit {}: give a share in percent, such as {}=0.1%", text, name)};
  return PassiveLimit(*kind, percent);
}

std::string PassiveLimit::text_of(double value) const {
  return kind_->is_time ? delay_text(value) : fmt::format("{:.4g} %", value);
}

std::string PassiveLimit::text() const { return fmt::format("{} <= {}", kind_->name, text_of(most_)); }

PassiveLimit::Outcome PassiveLimit::judge(const Compared& compared, Way way) const {
  std::optional<Measured> measured;
  if (!kind_->is_worst)
    measured = kind_->measure(compared.row(way == Way::there ? compared.found.there : compared.found.back, way));
  else
    for (const ComparedInterval& interval : compared.over_time->ended())
      if (const auto one = kind_->measure(compared.row(way == Way::there ? interval.there : interval.back, way));
          one && interval.is_whole) {
        const auto worse = [](Fraction a, Fraction b) { return a.value() < b.value() ? b : a; };
        measured = measured ? Measured{worse(measured->least, one->least), worse(measured->most, one->most)} : *one;
      }
  if (!measured) return {};
  // Products, as the quotient of counts may be a little above the limit that it equals.
  const double unit = kind_->is_time ? 1 : 100;
  const auto keeps = [&](Fraction fraction) { return fraction.part * unit <= most_ * fraction.all; };
  const double least = unit * measured->least.value(), most = unit * measured->most.value();
  return {keeps(measured->most)    ? Verdict::kept
          : keeps(measured->least) ? Verdict::unsure
                                   : Verdict::exceeded,
          least == most ? text_of(most) : fmt::format("{} to {}", text_of(least), text_of(most))};
}

}  // namespace parshall::tester
