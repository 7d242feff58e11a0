// SPDX-License-Identifier: Apache-2.0
#include "app/compare_live.hpp"

#include <fmt/format.h>

#include <memory>
#include <utility>

#include "app/web/compare_page.hpp"
#include "cli/messages.hpp"

namespace parshall::cli {
namespace {

constexpr const char* kCommand = "compare";
constexpr const char* kClear = "\x1b[H\x1b[2J";

class LiveRun {
 public:
  explicit LiveRun(LiveTaps taps) : taps_(std::move(taps)), pair_(kCommand, taps_.pair) {}

  /// Does all that needs privileges, and gives them up.
  std::optional<Error> open() {
    if (auto error = pair_.open()) return error;
    auto output = Output::open(taps_.output);
    if (!output) return output.error();
    output_ = *std::move(output);
    if (taps_.web) {
      auto page = web::ComparePage::open(*taps_.web);
      if (!page) return page.error();
      page_ = *std::move(page);
    }
    return pair_.confine();
  }

  std::optional<Error> run() {
    if (page_) say(kCommand, page_->begin());
    return pair_.run([this] {
      if (page_) page_->publish(pair_.compared());
      if (taps_.draws) draw();
      return !output_->error();
    });
  }

  ExitStatus finish() {
    if (taps_.draws) output_->write(kClear);
    const Compared compared = pair_.compared();
    if (page_) page_->publish(compared);
    const auto wrong = taps_.report.write(compared, *output_);
    output_->finish();
    if (output_->reader_gone()) return kReaderGone;
    if (const auto& error = output_->error() ? output_->error() : wrong)
      return fail(kCommand, *error, kFailed), kFailed;
    if (const auto damage = pair_.damage()) return fail(kCommand, *damage, kDamaged), kDamaged;
    return kDone;
  }

 private:
  void draw() {
    output_->write(kClear);
    taps_.report.write(pair_.compared(), *output_);
    output_->flush();
  }

  LiveTaps taps_;
  InterfacePair pair_;
  std::unique_ptr<Output> output_;
  std::unique_ptr<web::ComparePage> page_;
};

}  // namespace

ExitStatus compare_live(LiveTaps taps) {
  LiveRun run(std::move(taps));
  auto error = run.open();
  if (!error) error = run.run();
  if (error) return fail(kCommand, *error, kFailed), kFailed;
  return run.finish();
}

}  // namespace parshall::cli
