// SPDX-License-Identifier: Apache-2.0
// Python's view of a run: batches of records as Arrow structures, and the account of every packet. No thread of the run
// needs the interpreter's lock, and a thread that waits for a batch releases it.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "batch.hpp"
#include "bindings.hpp"
#include "interpreter.hpp"
#include "parshall/plan_settings.hpp"
#include "parshall/record_stream.hpp"

namespace parshall {
namespace {

using namespace std::chrono_literals;

/// True while another library releases a run. It may have the interpreter's lock or not, which the stable ABI does not
/// tell, so that the lock is left as it is.
thread_local bool releases_stream = false;

/// Holds a run for Python objects. After a fork, the run belongs to the parent: a child has its memory, but none of its
/// threads.
class Run {
 public:
  explicit Run(std::unique_ptr<RecordStream> stream) : stream_(std::move(stream)) {}
  ~Run() {
    if (!is_ours()) {
      [[maybe_unused]] const auto* const left_alone = new std::shared_ptr<RecordStream>(stream_);
    } else if (!releases_stream && Py_IsInitialized() != 0 && !interpreter_ends()) {
      const Unlocked unlocked;  // its threads may take a while to end
      stream_.reset();
    }
  }
  Run(const Run&) = delete;
  Run& operator=(const Run&) = delete;

  bool is_ours() const noexcept { return ::getpid() == process_; }

  /// Throws PythonError in a child of the process that started the run.
  RecordStream& stream() const { return *shared(); }
  const std::shared_ptr<RecordStream>& shared() const {
    if (!is_ours()) throw PythonError("this run is of the process that began it, not of its child: begin one here");
    return stream_;
  }

  std::span<const ColumnInfo> columns() const noexcept { return stream_->columns(); }

 private:
  std::shared_ptr<RecordStream> stream_;
  pid_t process_ = ::getpid();
};

constexpr auto kSlice = 50ms;  ///< interval between checks for signals

/// State of a C stream, which must outlive the Python object, since its reader releases it.
struct CStream {
  std::shared_ptr<Run> run;
  std::string error;
};

int next_of(ArrowArrayStream* self, ArrowArray* out) {
  auto& of = *static_cast<CStream*>(self->private_data);
  *out = {};
  const Visit visit;
  try {
    for (RecordStream& stream = of.run->stream();;) {
      if (auto batch = stream.next(kSlice)) return export_batch(stream.columns(), batch->take(), *out), 0;
      if (stream.ended()) {
        if (stream.failure()) return of.error = *stream.failure(), EIO;
        return 0;  // an unset release() marks the end
      }
      if (is_interrupted()) return of.error = "interrupted (Ctrl-C)", ECANCELED;
    }
  } catch (const PythonError& error) {
    of.error = error.what();
    return EINVAL;
  } catch (const std::bad_alloc&) {
    of.error = "no memory for a batch of records";
    return ENOMEM;
  }
}

nb::object c_stream(const std::shared_ptr<Run>& run, nb::handle /*requested_schema*/) {
  auto made = std::make_unique<ArrowArrayStream>();
  made->private_data = new CStream{run, {}};
  made->get_schema = [](ArrowArrayStream* self, ArrowSchema* out) {
    try {
      export_schema(static_cast<CStream*>(self->private_data)->run->columns(), *out);
      return 0;
    } catch (const std::bad_alloc&) {
      return ENOMEM;
    }
  };
  made->get_next = next_of;
  made->get_last_error = [](ArrowArrayStream* self) -> const char* {
    return static_cast<CStream*>(self->private_data)->error.c_str();
  };
  made->release = [](ArrowArrayStream* self) {
    releases_stream = true;
    delete static_cast<CStream*>(self->private_data);
    releases_stream = false;
    self->release = nullptr;
  };
  return capsule_of(std::move(made), "arrow_array_stream");
}

nb::dict dict_of(const OutputSummary::Sum& sum) {
  nb::dict dict;
  dict["records"] = sum.records;
  dict["packets"] = sum.packets;
  dict["findings"] = sum.findings;
  return dict;
}

nb::dict dict_of(const Counters& counters) {
  nb::dict dict;
  for (const CounterLine& line : Counters::kTable)
    if (const auto known = counters.known(line.id)) dict[nb::str(line.name.data(), line.name.size())] = *known;
  return dict;
}

nb::object summary_of(const Run& run) {
  const RunSummary* const summary = run.stream().summary();
  if (summary == nullptr) return nb::none();
  nb::dict dict = dict_of(static_cast<const Counters&>(summary->accounting));
  dict["offered"] = summary->accounting.offered();
  dict["lost"] = summary->accounting.lost();
  dict["malformed"] = summary->accounting.malformed();
  dict["balanced"] = summary->accounting.balanced();
  dict["elapsed_s"] = summary->elapsed_s;
  dict["damage"] = summary->damage ? nb::object(nb::str(summary->damage->c_str())) : nb::none();
  nb::list outputs;
  for (const OutputSummary& output : summary->outputs) {
    nb::dict one;
    one["name"] = output.name;
    one["offered"] = dict_of(output.offered);
    one["written"] = dict_of(output.written);
    one["unconfirmed"] = dict_of(output.unconfirmed);
    one["dropped"] = dict_of(output.dropped);
    outputs.append(one);
  }
  dict["outputs"] = outputs;
  return dict;
}

std::string_view name_of(SettingKind kind) noexcept {
  switch (kind) {
    case SettingKind::flag:
      return "flag";
    case SettingKind::value:
      return "value";
    case SettingKind::list:
    case SettingKind::repeated:
    case SettingKind::words:
      break;
  }
  return "list";
}

/// Returns (name, kind, takes, help, default) of each setting that open() takes. Kind: flag, value or list.
nb::list settings_of_runs() {
  nb::list list;
  for (const PlanSetting& setting : plan_settings()) {
    const std::string_view kind = name_of(setting.kind);
    list.append(
        nb::make_tuple(setting.name, nb::str(kind.data(), kind.size()), setting.takes, setting.help, setting.shown));
  }
  return list;
}

/// Opens a run. `model_text`: content of the model file that `settings` name, or empty.
std::shared_ptr<Run> open_run(const std::string& settings, bool events, const std::string& model_text) {
  auto opened = run_apart([=](const std::function<bool()>&) -> Result<std::shared_ptr<Run>> {
    auto plan = plan_of_toml(settings, "settings");
    if (!plan) return plan.error();
    const auto takes = events ? RecordStream::Takes::events : RecordStream::Takes::records;
    auto stream = RecordStream::start(*plan, takes, {.model = model_text, .states = {}});
    if (!stream) return stream.error();
    return std::make_shared<Run>(*std::move(stream));
  });
  auto run = value_or_raise(std::move(opened));
  at_interpreter_end(run, [run = run.get()] {
    if (run->is_ours()) run->stream().leave();
  });
  return run;
}

nb::object next_batch(const std::shared_ptr<Run>& run) {
  auto batch = [&stream = run->stream()] {
    const Unlocked unlocked;
    return stream.next(kSlice);
  }();
  if (!batch) return nb::none();
  return nb::cast(Batch(run, run->columns(), *std::move(batch)));
}

nb::list next_events(const Run& run) {
  const std::vector<std::string> events = [&stream = run.stream()] {
    const Unlocked unlocked;
    return stream.next_events(kSlice);
  }();
  nb::list texts;
  for (const std::string& event : events) texts.append(nb::str(event.data(), event.size()));
  return texts;
}

/// Ends a run. Does nothing in a child, or once the interpreter has ended it. Large tables take time to free.
void leave(const Run& run, bool waits) {
  if (!run.is_ours() || interpreter_ends()) return;
  const auto work = [stream = run.shared()](const std::function<bool()>&) { stream->leave(); };
  if (waits)
    run_errand(work);
  else
    begin_errand(work);
}

std::optional<std::string> failure_of(const Run& run) {
  const std::string* const failure = run.stream().failure();
  return failure == nullptr ? std::nullopt : std::optional(*failure);
}

}  // namespace

void bind_runs(nb::module_& m) {
  bind_batch(m);
  nb::class_<Run>(m, "Stream")
      .def("next", &next_batch)
      .def("next_events", &next_events)
      .def_prop_ro("ended", [](const Run& run) { return run.stream().ended(); })
      .def_prop_ro("failure", &failure_of)
      .def("leave", &leave, nb::arg("waits") = true)
      .def("counters", [](const Run& run) { return dict_of(run.stream().counters()); })
      .def_prop_ro("share_read", [](const Run& run) { return run.stream().share_read(); })
      .def("summary", &summary_of)
      .def("columns", [](const Run& run) { return list_of(run.columns()); })
      .def("__arrow_c_schema__", [](const Run& run) { return schema_capsule(run.columns()); })
      .def("__arrow_c_stream__", &c_stream, nb::arg("requested_schema").none() = nb::none());
  m.def("settings", &settings_of_runs);
  m.def("open", &open_run, nb::arg("settings"), nb::arg("events") = false, nb::arg("model_text") = "");
}

}  // namespace parshall
