// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/live/arrangement.hpp"
#include "app/live/choice.hpp"

namespace parshall::live {

enum class Key : std::uint8_t {
  none,
  text,
  up,
  down,
  left,
  right,
  page_up,
  page_down,
  home,
  end,
  enter,
  escape,
  backspace,
  resize,
};

struct KeyPress {
  Key key = Key::none;
  char character = 0;  ///< set for Key::text
};

/// What rows of the table may be.
struct RowChoice {
  const Grouping* first = find_grouping("conversation");  ///< at the start, unless the user named columns; null: flows
  std::vector<const Grouping*> all = groupings_of({});    ///< those to choose from, besides flows
  bool has_flows = true;                                  ///< flows are among them
  std::shared_ptr<const HostNames> hosts = nullptr;       ///< names of addresses; null if there are none
};

/// Tracks the user's choices key by key. Independent of any terminal.
class State {
 public:
  /// `own_columns`: the user named columns at the start. `packets_only`: this run keeps no flows. `has_states`: flows
  /// have monitoring states.
  State(bool own_columns, bool packets_only, bool has_states = false, RowChoice rows = {});

  void press(KeyPress press, double now_s);

  /// Marks the end of the run: statistics that were not computed until now cannot be any more.
  void end() noexcept { ended_ = true; }

  /// Sets the ranges for moving; call it before every drawing.
  void fit(std::uint64_t matched, std::size_t rows_on_screen, std::size_t columns) noexcept;
  /// Says what Enter opens: the row at the cursor. Call it when that may have changed.
  void point_at(std::optional<Opened> row) noexcept { pointed_at_ = std::move(row); }

  const Arrangement& arrangement() const noexcept { return arrangement_; }
  const Choice& choice() const noexcept { return choice_; }
  std::uint64_t cursor() const noexcept { return cursor_; }  ///< row
  bool has_cursor() const noexcept { return choice_.level == Level::flow && !states_shown_; }
  double chosen_s() const noexcept { return chosen_s_; }  ///< when the choice was made
  bool paused() const noexcept { return paused_; }
  bool editing_filter() const noexcept { return editing_filter_; }
  bool help() const noexcept { return help_; }
  bool events_shown() const noexcept { return events_shown_; }
  bool states_shown() const noexcept { return states_shown_; }  ///< true: states are shown in place of flows
  bool ended() const noexcept { return ended_; }
  bool quit() const noexcept { return quit_; }
  const std::string& message() const noexcept { return message_; }  ///< message about the last key

 private:
  void edit_filter(KeyPress press);
  bool move(Key key) noexcept;
  void keep_in_range() noexcept;
  void command(char character, double now_s);
  void show_states(bool shown) noexcept;
  void toggle_order() noexcept;
  void change_rows(double now_s);
  void open();
  void go_back(double now_s);
  void change_level(double now_s);
  bool is_shown(std::size_t column) const noexcept;
  void show_rows(const Grouping* by, double now_s);
  void choose_columns(const Choice& choice, double now_s);
  void choose(Choice choice, double now_s);
  void go_to_top() noexcept { arrangement_.first = cursor_ = 0; }
  void choose_of(Of of, double now_s);
  void choose_what(What what, double now_s);

  const bool own_columns_, packets_only_, has_states_;
  const RowChoice rows_;
  Arrangement arrangement_;
  struct Before {
    Arrangement arrangement;
    std::uint64_t cursor, last, last_first;
  };
  std::vector<Before> before_;  ///< what rows were opened in
  std::optional<Opened> pointed_at_;
  Choice choice_;
  double chosen_s_ = 0;
  bool ended_ = false, paused_ = false, editing_filter_ = false, help_ = false, quit_ = false;
  bool events_shown_ = true, states_shown_ = false;
  std::string message_;
  std::uint64_t cursor_ = 0, last_ = 0;  ///< row, and the highest one
  std::uint64_t last_first_ = 0;         ///< highest row number allowed at the top
  std::size_t page_ = 1, columns_ = kFixedColumns;
};

}  // namespace parshall::live
