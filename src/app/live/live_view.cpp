// SPDX-License-Identifier: Apache-2.0
#include "app/live/live_view.hpp"

#include <algorithm>
#include <chrono>

#include "app/live/feed.hpp"
#include "app/live/row_key.hpp"
#include "app/live/screen.hpp"
#include "app/live/terminal.hpp"

namespace parshall::live {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds kTick{50};
constexpr std::chrono::milliseconds kBeat{250};  ///< between two values of the sparkline
constexpr std::size_t kBeats = 512;

/// Samples the elapsed time and the packet rate by the clock.
class PulseMeter {
 public:
  explicit PulseMeter(const Watched& watched)
      : watched_(watched), began_(Clock::now()), last_(began_), polled_(watched.packets_polled()) {}

  double now_s() const { return std::chrono::duration<double>(Clock::now() - began_).count(); }

  /// Takes a sample if one is due; returns true if there is something new to show.
  bool beat(const View* view) {
    if (pulse_.finished) return false;
    const auto now = Clock::now();
    const bool finished = watched_.finished();
    if (now - last_ < kBeat && !finished) return false;
    const std::uint64_t polled = watched_.packets_polled();
    const double seconds = std::chrono::duration<double>(now - last_).count();
    if (pulse_.polled_pps.size() == kBeats) pulse_.polled_pps.erase(pulse_.polled_pps.begin());
    pulse_.polled_pps.push_back(static_cast<double>(polled - std::min(polled, polled_)) / std::max(seconds, 1e-3));
    polled_ = polled;
    last_ = now;
    pulse_.elapsed_s = now_s();
    if (finished && view != nullptr && view->summary.final) pulse_.elapsed_s = view->summary.elapsed_s;
    pulse_.finished = finished;
    return true;
  }

  const Pulse& pulse() const noexcept { return pulse_; }

 private:
  const Watched& watched_;
  const Clock::time_point began_;
  Clock::time_point last_;
  std::uint64_t polled_;
  Pulse pulse_;
};

std::optional<Opened> row_at_cursor(const State& state, const View& view) {
  const std::uint64_t at = state.cursor() - view.first;
  if (!state.has_cursor() || at >= view.rows.size()) return std::nullopt;
  return opened(view.rows[at], view);
}

}  // namespace

Result<LiveOutcome> watch_live(Watched& watched, const LiveOptions& options) {
  auto opened = Terminal::open();
  if (!opened) return opened.error();
  std::unique_ptr<Terminal> terminal = *std::move(opened);
  State state(options.own_columns, options.packets_only, options.has_states, options.rows);
  Feed feed(watched,
            {.own = options.own,
             .statistics = options.statistics,
             .local = options.local,
             .marks = options.marks,
             .keeps_columns = !options.rows.has_flows},
            {.arrangement = state.arrangement(), .choice = state.choice()});
  PulseMeter meter(watched);
  Pulse shown_pulse;
  std::vector<Opened> shown_within;
  std::shared_ptr<const View> view;
  bool stale = true;
  while (!state.quit() && !options.leave()) {
    if (auto latest = feed.latest(); latest != view) {
      view = std::move(latest);
      stale = true;
      if (view->summary.final) state.end();
    }
    const bool beat = meter.beat(view.get());
    const bool is_new = !state.paused() && (beat || stale);
    if (is_new) {
      std::vector<std::string> events = std::move(shown_pulse.events);
      shown_pulse = meter.pulse();
      shown_pulse.events = std::move(events);
      if (options.recalls) shown_pulse.recalls = options.recalls();
      stale = true;
    }
    if (options.events && (is_new || shown_within != state.arrangement().within)) {
      shown_within = state.arrangement().within;
      shown_pulse.events = options.events(shown_within);
    }
    if (stale) {
      const Size size = terminal->size();
      if (view && (!state.has_cursor() || view->is_of(state.arrangement()))) {
        state.fit(body_lines(state, *view, shown_pulse),
                  lay_out(size, view.get(), shown_events(state, shown_pulse)).rows,
                  kFixedColumns + view->columns.size());
        state.point_at(row_at_cursor(state, *view));
      } else {
        state.point_at(std::nullopt);
      }
      if (view) feed.wish({state.arrangement(), state.choice(), state.paused()});
      terminal->paint(draw(state, view.get(), shown_pulse, size, terminal->glyphs()));
      stale = false;
    }
    const auto press = terminal->wait_key(kTick);
    if (!press) break;
    if (press->key == Key::none) continue;
    state.press(*press, meter.now_s());
    stale = true;
  }
  terminal.reset();  // first, so that the user has the terminal again whatever follows
  feed.stop();
  LiveOutcome outcome{
      .final_report = feed.take_final(), .other_columns = feed.has_other_columns(), .chosen_s = state.chosen_s()};
  return outcome;
}

}  // namespace parshall::live
