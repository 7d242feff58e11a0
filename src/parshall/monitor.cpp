// SPDX-License-Identifier: Apache-2.0
#include "parshall/monitor.hpp"

#include "parshall/run.hpp"
#include "pipeline/output/json/event_json.hpp"

namespace parshall {
namespace {

class SubscriberExporter final : public Exporter {
 public:
  explicit SubscriberExporter(Subscriber subscriber) : subscriber_(std::move(subscriber)) {}

  void begin(std::span<const ColumnInfo> columns) override { columns_ = columns; }
  void records(std::span<const ReportFlow> batch) override {
    for (std::size_t at = 0; at < batch.size();) at = hand_over(batch, at);
  }
  void event(const Event& event) override { subscriber_.events(event_json(event)); }

 private:
  /// Hands over the rows that lie one after another in memory, starting at `at`; returns where the next ones begin.
  std::size_t hand_over(std::span<const ReportFlow> batch, std::size_t at) {
    const Value* const first = batch[at].values.data();
    std::size_t rows = 1;
    while (at + rows < batch.size() && batch[at + rows].values.data() == first + rows * columns_.size()) ++rows;
    subscriber_.records({columns_, {first, rows * columns_.size()}});
    return at + rows;
  }

  Subscriber subscriber_;
  std::span<const ColumnInfo> columns_;
};

}  // namespace

struct Monitor::State {
  std::vector<std::string> notes;
  std::vector<ColumnInfo> columns;
  std::unique_ptr<Run> run;
};

Monitor::Monitor(std::unique_ptr<State> state) : state_(std::move(state)) {}
Monitor::Monitor(Monitor&&) noexcept = default;
Monitor& Monitor::operator=(Monitor&&) noexcept = default;
Monitor::~Monitor() = default;

Result<Monitor> Monitor::start(const Plan& plan, std::vector<Subscriber> subscribers, PlanTexts texts) {
  const Held held{.texts = std::move(texts)};
  auto wiring = wire(plan, {.snapshots = false, .keeps_ended = false, .counts_bytes = true}, held);
  if (!wiring) return wiring.error();
  auto state = std::make_unique<State>();
  state->notes = wiring->notes;
  state->columns.assign(wiring->columns().begin(), wiring->columns().end());
  auto run = Run::open(plan, *std::move(wiring));
  if (!run) return run.error();
  state->run = *std::move(run);
  try {
    for (Subscriber& subscriber : subscribers) {
      const ExporterTakes takes{.records = static_cast<bool>(subscriber.records),
                                .findings = static_cast<bool>(subscriber.events)};
      std::string name = subscriber.name;
      state->run->outputs().add(std::make_unique<SubscriberExporter>(std::move(subscriber)),
                                {.name = std::move(name), .takes = takes, .waits = state->run->waits()});
    }
  } catch (const std::bad_alloc&) {
    return Error{"no memory for the subscribers: ask for fewer flows"};
  }
  if (auto error = state->run->start()) return *std::move(error);
  return Monitor(std::move(state));
}

std::span<const ColumnInfo> Monitor::columns() const noexcept { return state_->columns; }
const std::string& Monitor::source() const noexcept { return state_->run->description(); }
std::uint64_t Monitor::memory_bytes() const noexcept { return state_->run->memory_bytes(); }
std::span<const std::string> Monitor::notes() const noexcept { return state_->notes; }
Counters Monitor::counters() const { return state_->run->session().counters(); }
std::vector<OutputSummary> Monitor::outputs() const { return state_->run->outputs().summaries(); }
std::optional<double> Monitor::share_read() const noexcept { return state_->run->share_read(); }
void Monitor::stop() noexcept { state_->run->session().stop(); }
bool Monitor::ended_within(std::chrono::milliseconds most) { return state_->run->ended_within(most); }

RunSummary Monitor::finish() {
  Report report = state_->run->finish();
  ReportSummary& summary = report.summary;
  return {.accounting = summary.total,
          .elapsed_s = summary.elapsed_s,
          .outputs = std::move(summary.outputs),
          .damage = std::move(summary.damage)};
}

}  // namespace parshall
