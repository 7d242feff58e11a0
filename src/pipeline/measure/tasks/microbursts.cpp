// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "pipeline/measure/tasks/task.hpp"

namespace parshall {
namespace {

constexpr std::uint64_t kShortestBinNs = 1000;
constexpr std::size_t kMostBins = std::size_t{1} << 20;  // per window

constexpr Parameter kMicroburstsParameters[] = {
    {"bin", "100us", "length of the bins of a window; the same for all tasks of one window length"},
    {"times", "10", "smallest rate of a burst, as a multiple of the window's mean rate"},
    {"packets", "10", "fewest packets of a burst"},
    {"rate", "", "smallest rate of a burst in bits per second, instead of the multiple"},
};

/// Reports short times in which the link carried much more than on average. Error: none.
class Microbursts final : public Task {
 public:
  Microbursts(Arguments& arguments, TaskContext& context)
      : bin_ns_(arguments.duration_ns("bin", kShortestBinNs)),
        times_(arguments.number("times", 1, 1e9)),
        packets_(arguments.count("packets", 1, ~std::uint64_t{0})),
        rate_(arguments.given("rate") ? static_cast<double>(arguments.count("rate", 1, 1'000'000'000'000'000)) : 0) {
    const std::uint64_t window_ns = context.window().amount;
    if (arguments.problem()) return;
    if (context.window().unit != WindowLength::Unit::ns)
      arguments.complain("looks at parts of a second: give it windows of time, such as window=1s");
    else if (window_ns / bin_ns_ >= kMostBins || bin_ns_ >= window_ns)
      arguments.complain("bin: from a window's millionth part to less than a window");
    else if (!context.ask_for_bins(bin_ns_))
      arguments.complain("bin: another task of this window length has another; give one of them another window");
    else
      bins_.resize((window_ns + bin_ns_ - 1) / bin_ns_);
  }

  void bins(std::size_t first, std::span<const LinkBin> bins) override {
    for (std::size_t i = 0; i < bins.size(); ++i) bins_[first + i].add(bins[i]);
  }

  void end(EventWriter& events) override {
    const EventWindow& window = events.window();
    const double least = rate_ != 0 ? bytes_of_rate(rate_) : times_ * mean_bytes(window);
    std::vector<EventValue> error;
    if (window.totals.unlisted_bin_packets != 0) error = {{"packets_missing", window.totals.unlisted_bin_packets}};
    const auto is_burst = [&](const LinkBin& bin) {
      return bin.packets != 0 && static_cast<double>(bin.wire_bytes) >= least;
    };
    for (auto at = bins_.begin(); (at = std::find_if(at, bins_.end(), is_burst)) != bins_.end();) {
      const auto end = std::find_if_not(at, bins_.end(), is_burst);
      write(events, {at, end}, mean_bytes(window), error);
      at = end;
    }
    std::ranges::fill(bins_, LinkBin());
  }

  std::size_t memory_bytes() const noexcept override { return bins_.size() * sizeof(LinkBin); }

 private:
  void write(EventWriter& events, std::span<const LinkBin> burst, double mean, const std::vector<EventValue>& error) {
    LinkBin all, peak;
    for (const LinkBin& bin : burst) {
      all.add(bin);
      if (bin.wire_bytes > peak.wire_bytes) peak = bin;
    }
    if (all.packets < packets_) return;
    const EventWindow& window = events.window();
    const auto first = static_cast<std::uint64_t>(burst.data() - bins_.data());
    events.write({{"peak_bps", rate_of_bytes(static_cast<double>(peak.wire_bytes))},
                  {"begin_ns", window.length.begin_of(window.number) + first * bin_ns_},
                  {"duration_ns", burst.size() * bin_ns_},
                  {"packets", all.packets},
                  {"wire_bytes", all.wire_bytes},
                  {"mean_bps", rate_of_bytes(mean)}},
                 error);
  }

  /// Returns the mean bytes of a bin; for a partial window, over the part that had traffic.
  double mean_bytes(const EventWindow& window) const noexcept {
    const WindowTotals& totals = window.totals;
    const std::uint64_t seen_ns = std::min(totals.last_ns - totals.first_ns + bin_ns_, window.length.amount);
    const std::uint64_t ns = totals.partial ? seen_ns : window.length.amount;
    return static_cast<double>(totals.wire_bytes) * static_cast<double>(bin_ns_) / static_cast<double>(ns);
  }
  double rate_of_bytes(double bytes) const noexcept { return 8e9 * bytes / static_cast<double>(bin_ns_); }
  double bytes_of_rate(double bps) const noexcept { return bps * static_cast<double>(bin_ns_) / 8e9; }

  std::uint64_t bin_ns_;
  double times_;
  std::uint64_t packets_;
  double rate_;
  std::vector<LinkBin> bins_;
};

}  // namespace

extern const TaskEntry kMicrobursts{"microbursts",
                                    "times below a millisecond in which the link carries much more than its average",
                                    "start, length, packets, bytes, peak rate, and mean rate of the window",
                                    "exact, in whole bins",
                                    kMicroburstsParameters,
                                    [](Arguments& arguments, TaskContext& context) -> std::unique_ptr<Task> {
                                      return std::make_unique<Microbursts>(arguments, context);
                                    },
                                    /*finds_any=*/true,
                                    /*looks_at_flows=*/false,
                                    Severity::info};

}  // namespace parshall
