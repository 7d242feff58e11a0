// SPDX-License-Identifier: Apache-2.0
#include "app/live/state.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace parshall::live {
namespace {

constexpr std::size_t kMaxFilter = 64;

}  // namespace

State::State(bool own_columns, bool packets_only, bool has_states, RowChoice rows)
    : own_columns_(own_columns), packets_only_(packets_only), has_states_(has_states), rows_(std::move(rows)) {
  choice_.level = packets_only ? Level::packet : Level::flow;
  choice_.own = own_columns;
  arrangement_ = {.by = own_columns || packets_only || rows_.all.empty() ? nullptr : rows_.first,
                  .within = {},
                  .sort = kBps,
                  .filter = {},
                  .hides_idle = true};
}

void State::press(KeyPress press, double now_s) {
  if (press.key == Key::none || press.key == Key::resize) return;
  message_.clear();
  if (help_) {
    help_ = false;
    quit_ |= press.key == Key::text && press.character == 'q';
    return;
  }
  if (move(press.key)) return;
  if (editing_filter_) return edit_filter(press);
  if (press.key == Key::escape) go_back(now_s);
  if (press.key == Key::enter) open();
  if (press.key == Key::text) command(press.character, now_s);
}

void State::edit_filter(KeyPress press) {
  std::string& filter = arrangement_.filter;
  switch (press.key) {
    case Key::text:
      if (filter.size() < kMaxFilter) filter += press.character;
      break;
    case Key::backspace:
      if (filter.empty())
        editing_filter_ = false;
      else
        filter.pop_back();
      break;
    case Key::escape:
      filter.clear();
      [[fallthrough]];
    default:
      editing_filter_ = false;
      break;
  }
  go_to_top();
}

/// Moves the cursor, and the rows with it where it would leave the screen. Without a cursor, moves the rows.
bool State::move(Key key) noexcept {
  std::uint64_t& first = arrangement_.first;
  std::uint64_t& moved = has_cursor() ? cursor_ : first;
  switch (key) {
    case Key::up:
      moved -= moved != 0;
      break;
    case Key::down:
      ++moved;
      break;
    case Key::page_up:
      first -= std::min<std::uint64_t>(first, page_);
      cursor_ -= std::min<std::uint64_t>(cursor_, page_);
      break;
    case Key::page_down:
      first += page_;
      cursor_ += page_;
      break;
    case Key::home:
      go_to_top();
      break;
    case Key::end:
      first = last_first_;
      cursor_ = last_;
      break;
    case Key::left:
    case Key::right:
      do arrangement_.sort = (arrangement_.sort + (key == Key::left ? columns_ - 1 : 1)) % columns_;
      while (!is_shown(arrangement_.sort));
      break;
    default:
      return false;
  }
  keep_in_range();
  return true;
}

void State::keep_in_range() noexcept {
  std::uint64_t& first = arrangement_.first;
  cursor_ = std::min(cursor_, last_);
  if (has_cursor()) first = std::clamp(first, cursor_ - std::min<std::uint64_t>(cursor_, page_ - 1), cursor_);
  first = std::min(first, last_first_);
}

void State::fit(std::uint64_t matched, std::size_t rows_on_screen, std::size_t columns) noexcept {
  page_ = std::max<std::size_t>(rows_on_screen, 1);
  last_first_ = matched - std::min<std::uint64_t>(matched, page_);
  last_ = matched - (matched != 0);
  keep_in_range();
  columns_ = columns;
  if (arrangement_.sort >= columns_) arrangement_.sort = kBps;
}

void State::command(char character, double now_s) {
  switch (character) {
    case 'q':
      quit_ = true;
      break;
    case 'p':
    case ' ':
      paused_ = !paused_;
      break;
    case '<':
      move(Key::left);
      break;
    case '>':
      move(Key::right);
      break;
    case 'r':
      arrangement_.reversed = !arrangement_.reversed;
      break;
    case '/':
      editing_filter_ = true;
      show_states(false);
      break;
    case 'v':
      events_shown_ = !events_shown_;
      break;
    case 'w':
      if (has_states_)
        show_states(!states_shown_);
      else
        message_ = "w: flows have no monitoring states in this run (--states FILE)";
      break;
    case 'h':
    case '?':
      help_ = true;
      break;
    case 'f':
      change_rows(now_s);
      break;
    case 'd':
      change_level(now_s);
      break;
    case 'z':
      arrangement_.hides_idle = !arrangement_.hides_idle;
      break;
    case 'o':
      toggle_order();
      break;
    case '2':
      arrangement_.window = 0;
      break;
    case '1':
      arrangement_.window = 1;
      break;
    case '6':
      arrangement_.window = 2;
      break;
    case 't':
      choose_of(Of::rate, now_s);
      break;
    case 'g':
      choose_of(Of::gap, now_s);
      break;
    case 'i':
      choose_of(Of::iat, now_s);
      break;
    case 's':
      choose_of(Of::size, now_s);
      break;
    case 'l':
      choose_what(What::last, now_s);
      break;
    case 'c':
      choose_what(What::cumulated, now_s);
      break;
    case 'x':
      choose_what(What::range, now_s);
      break;
    case 'a':
      choose_what(What::mean, now_s);
      break;
    case 'm':
      choose_what(What::moments, now_s);
      break;
    case 'e':
      choose_what(What::percentiles, now_s);
      break;
    case 'u': {
      Choice own = choice_;
      own.own = own_columns_;
      own.level = Level::flow;
      if (own_columns_)
        choose_columns(own, now_s);
      else
        message_ = "u: --columns names no column";
      break;
    }
    default:
      message_ = fmt::format("key {} has no function; h shows the help", character);
  }
}

void State::choose_of(Of of, double now_s) {
  Choice choice = choice_;
  choice.of = of;
  if (!column_names(of, choice.what)) choice.what = What::mean;
  choice.own = false;
  choice.level = Level::flow;
  choose_columns(choice, now_s);
}

void State::choose_what(What what, double now_s) {
  Choice choice = choice_;
  if (choice.of == Of::rate && !column_names(Of::rate, what)) choice.of = Of::gap;
  if (!column_names(choice.of, what)) {
    message_ = "gaps have no sum; choose t rate, i iat or s size first";
    return;
  }
  choice.what = what;
  choice.own = false;
  choice.level = Level::flow;
  choose_columns(choice, now_s);
}

/// Goes to the next kind of rows, in turn.
void State::change_rows(double now_s) {
  if (rows_.all.empty()) {
    message_ = "f: flows of this run are joined, or lack parts of their key";
    return;
  }
  std::vector<const Grouping*> all = rows_.all;
  if (rows_.has_flows) all.insert(all.begin(), nullptr);
  const auto now = std::ranges::find(all, arrangement_.by);
  show_rows(now == all.end() || now + 1 == all.end() ? all.front() : *(now + 1), now_s);
}

/// Shows the flows of the group at the cursor, added up in another way.
void State::open() {
  if (!has_cursor()) return;
  if (!pointed_at_) {
    message_ = rows_.all.empty()            ? "Enter: flows of this run are joined, or lack parts of their key"
               : arrangement_.by == nullptr ? "Enter opens hosts, services, ...: f shows them"
                                            : "no row to open";
    return;
  }
  const Grouping* const by = find_grouping(pointed_at_->by->opens);
  if (by == nullptr && !rows_.has_flows) {
    message_ = "this run keeps what --by needs of its flows: leave out --by to see flows";
    return;
  }
  before_.push_back({arrangement_, cursor_, last_, last_first_});
  arrangement_.within.push_back(*pointed_at_);
  arrangement_.by = by;
  arrangement_.filter.clear();
  arrangement_.sort = kBps;
  arrangement_.reversed = false;
  go_to_top();
}

/// Goes back to flows, or clears the filter, or leaves the row that was opened last.
void State::go_back(double now_s) {
  if (states_shown_) return show_states(false);
  if (choice_.level == Level::packet && !packets_only_) return change_level(now_s);
  if (!arrangement_.filter.empty() || before_.empty()) {
    arrangement_.filter.clear();
    return;
  }
  Before before = std::move(before_.back());
  before_.pop_back();
  before.arrangement.window = arrangement_.window;
  before.arrangement.hides_idle = arrangement_.hides_idle;
  arrangement_ = std::move(before.arrangement);
  cursor_ = before.cursor;
  last_ = before.last;
  last_first_ = before.last_first;
}

/// Goes from flows to counters of the device, or back. After the end this changes only what is shown.
void State::change_level(double now_s) {
  show_states(false);
  Choice other = choice_;
  other.level = choice_.level == Level::flow ? Level::packet : Level::flow;
  if (!ended_ || packets_only_) return choose(other, now_s);
  choice_ = other;
  go_to_top();
}

/// Returns whether the table has the column; groups lack some of those that name a flow.
bool State::is_shown(std::size_t column) const noexcept {
  return column > kDestination || !key_headings(arrangement_.by)[column].empty();
}

/// Changes between rates and totals: from bit/s to bytes, or from packets a second to packets.
void State::toggle_order() noexcept {
  const std::size_t sort = arrangement_.sort;
  arrangement_.sort = sort == kBps ? kBytes : sort == kPps ? kPackets : sort == kPackets ? kPps : kBps;
  go_to_top();
}

void State::show_states(bool shown) noexcept {
  if (shown != states_shown_) go_to_top();
  states_shown_ = shown;
}

/// Shows flows, or groups of them. The run computes the same as before.
void State::show_rows(const Grouping* by, double now_s) {
  show_states(false);
  if (choice_.level == Level::packet) change_level(now_s);
  if (choice_.level == Level::packet) return;
  if (by == nullptr && !rows_.has_flows) {
    message_ = "this run keeps what --by needs of its flows: leave out --by to see them";
    return;
  }
  arrangement_.by = by;
  if (!is_shown(arrangement_.sort) || arrangement_.sort >= kFixedColumns) arrangement_.sort = kBps;
  go_to_top();
}

/// Shows flows, with other columns.
void State::choose_columns(const Choice& choice, double now_s) {
  if (!rows_.has_flows) {
    message_ = "this run keeps what --by needs of its flows: leave out --by to choose statistics";
    return;
  }
  choose(choice, now_s);
  if (choice_ == choice) show_rows(nullptr, now_s);
}

/// Changes what the run computes of each flow.
void State::choose(Choice choice, double now_s) {
  show_states(false);
  if (choice == choice_) return;
  if (ended_) {
    message_ = "the run has ended: you can no longer change what is computed";
  } else if (paused_) {
    message_ = "paused: press p to go on, then choose";
  } else if (packets_only_) {
    message_ = "this run is at packet level (--packets-only): it keeps no flows";
  } else {
    choice_ = choice;
    chosen_s_ = now_s;
    go_to_top();
    if (arrangement_.sort >= kFixedColumns) arrangement_.sort = kBps;
  }
}

}  // namespace parshall::live
