// SPDX-License-Identifier: Apache-2.0
#include "classify/learning_classifier.hpp"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <exception>
#include <fstream>
#include <limits>
#include <new>
#include <stdexcept>
#include <utility>

#include "classify/registry.hpp"
#include "classify/selection.hpp"

namespace parshall {
namespace {

constexpr std::string_view kKind = "forest", kPart = ".part";

std::string date_now() {
  const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  std::tm utc{};
  ::gmtime_r(&now, &utc);
  return fmt::format("{:04}-{:02}-{:02}", utc.tm_year + 1900, utc.tm_mon + 1, utc.tm_mday);
}

/// Writes the text to a new file, which then takes the place of `path`. Returns what went wrong; empty: nothing.
std::string write_file(const std::string& path, const std::string& text) {
  const std::string part = path + std::string(kPart);
  std::ofstream file(part, std::ios::binary | std::ios::trunc);
  file << text;
  file.close();
  if (!file || std::rename(part.c_str(), path.c_str()) != 0)
    return fmt::format("cannot write {}: {}", path, std::strerror(errno));
  return {};
}

}  // namespace

LearningClassifier::LearningClassifier(Options options) : options_(std::move(options)) {
  samples_.reserve(kMostSamples);
}

LearningClassifier::~LearningClassifier() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  due_.notify_one();
  if (thread_.joinable()) thread_.join();
}

std::size_t LearningClassifier::memory_bytes() const noexcept {
  constexpr std::size_t kNodeBytes = 48, kPortBytes = 64 + kNodeBytes * (kClassesOfPort + 1);
  return kMostSamples * sizeof(Sample) + kJudged * sizeof(Judged) + kMostPorts * kPortBytes;
}

ClassId LearningClassifier::number_of(const std::string& name, ClassId otherwise) const noexcept {
  const auto at = std::ranges::find(options_.classes, name);
  return at == options_.classes.end() ? otherwise : static_cast<ClassId>(at - options_.classes.begin());
}

std::shared_ptr<const LearningClassifier::Taught> LearningClassifier::taught_by(std::unique_ptr<Model> model,
                                                                                const PortClasses& ports) const {
  auto taught = std::make_shared<Taught>();
  for (const std::string& name : model->classes()) taught->numbers.push_back(number_of(name, kUnknownClass));
  taught->ports =
      PortTable(ports, model->reject(), [this](const std::string& name) { return number_of(name, kNotClassified); });
  taught->model = std::move(model);
  return taught;
}

std::optional<Error> LearningClassifier::begin_with(ModelFile file) {
  const Model& model = *file.model;
  if (model.packets() != kPackets || !model.begins_with_ports())
    return Error{
        "this model was not learnt from labels, so it cannot learn more: name another file, or use it with "
        "--model"};
  auto taught = taught_by(std::move(file.model), file.ports);
  if (std::ranges::all_of(taught->numbers, [](ClassId number) { return number == kUnknownClass; }))
    return Error{"this model knows none of the applications of nDPI: name another file"};
  teach(std::move(taught));
  for (const PortClass& each : file.ports.ports) {
    const ClassId number = number_of(each.class_name, kNotClassified);
    if (number == kNotClassified || ports_.size() == kMostPorts) continue;
    const auto count = static_cast<std::uint64_t>(std::llround(each.share * static_cast<double>(each.of)));
    ports_[each.key] = {{number, count}, {kUnknownClass, each.of - count}};
  }
  return std::nullopt;
}

std::optional<Error> LearningClassifier::file_problem() const {
  const std::string part = options_.path + std::string(kPart);
  const bool can_write = std::ofstream(part, std::ios::binary | std::ios::trunc).is_open();
  const int number = errno;
  std::remove(part.c_str());
  return can_write ? std::nullopt : std::optional<Error>{{fmt::format("cannot be written: {}", std::strerror(number))}};
}

std::shared_ptr<const LearningClassifier::Taught> LearningClassifier::taught() const noexcept {
  const std::lock_guard lock(taught_mutex_);
  return taught_;
}

void LearningClassifier::teach(std::shared_ptr<const Taught> taught) noexcept {
  const std::lock_guard lock(taught_mutex_);
  taught_.swap(taught);
}

void LearningClassifier::classify(std::span<const std::uint16_t> sizes, std::span<ClassId> ids) const noexcept {
  const std::shared_ptr<const Taught> taught = this->taught();
  if (!taught) {
    std::ranges::fill(ids, kUnknownClass);
    return;
  }
  taught->model->classify(sizes, ids);
  for (ClassId& id : ids)
    if (id != kUnknownClass) id = taught->numbers[id];
}

void LearningClassifier::learn(std::span<const std::uint16_t> sizes, ClassId told, ClassId label) noexcept try {
  std::unique_lock lock(mutex_);
  Sample sample{.sizes = {}, .label = label};
  std::ranges::copy(sizes.first(kPackets), sample.sizes.begin());
  judge(told, label);
  keep(sample);
  if (++learnt_ < next_training_) return;
  next_training_ = learnt_ + std::min<std::uint64_t>(learnt_ / 2, kMostSamples / 2);
  if (options_.can_wait) {
    lock.unlock();
    train();
    return;
  }
  is_due_ = true;
  if (!thread_.joinable()) thread_ = std::thread([this] { run(); });
  lock.unlock();
  due_.notify_one();
} catch (const std::exception&) {  // without memory or a thread, the flow teaches nothing
}

std::shared_ptr<const PortLookup> LearningClassifier::ports() const noexcept {
  static const PortTable kNone;
  std::shared_ptr<const Taught> taught = this->taught();
  const PortTable& ports = taught ? taught->ports : kNone;
  return {std::move(taught), &ports};
}

void LearningClassifier::learn_port(PortValues ports, ClassId label) noexcept try {
  const PortKey key{.protocol = static_cast<std::uint8_t>(ports[1] / 2), .port = ports[0]};
  const std::lock_guard lock(mutex_);
  if (++learnt_ports_ % kMostSamples == 0 || (ports_.size() >= kMostPorts && !ports_.contains(key))) fade_ports();
  if (ports_.size() >= kMostPorts && !ports_.contains(key)) return;
  PortCounts& counts = ports_[key];
  ++counts[counts.size() < kClassesOfPort || counts.contains(label) ? label : kUnknownClass];
} catch (const std::exception&) {  // as in learn()
}

/// Halves all counts, so that the latest flows count most, and forgets what was counted once.
void LearningClassifier::fade_ports() {
  for (auto& [key, counts] : ports_) {
    for (auto& [number, count] : counts) count /= 2;
    std::erase_if(counts, [](const auto& each) { return each.second == 0; });
  }
  std::erase_if(ports_, [](const auto& port) { return port.second.empty(); });
}

/// Returns the most frequent class of each port so far. PortTable leaves out those that are not frequent enough.
PortClasses LearningClassifier::port_classes() const {
  PortClasses classes;
  const std::lock_guard lock(mutex_);
  for (const auto& [key, counts] : ports_) {
    PortClass usual{.key = key, .class_name = {}};
    std::uint64_t most = 0;
    for (const auto& [number, count] : counts) {
      usual.of += count;
      if (number != kUnknownClass && count > most) most = count, usual.class_name = options_.classes[number];
    }
    usual.share = static_cast<double>(most) / static_cast<double>(std::max<std::uint64_t>(usual.of, 1));
    if (most >= kLeastFlows) classes.ports.push_back(std::move(usual));
  }
  return classes;
}

void LearningClassifier::judge(ClassId told, ClassId label) {
  if (taught() == nullptr || told == kNotClassified) return;
  judged_.push_back({.label = label, .agrees = told == label});
  if (judged_.size() > kJudged) judged_.pop_front();
}

void LearningClassifier::keep(const Sample& sample) {
  if (samples_.size() < kMostSamples)
    samples_.push_back(sample);
  else
    samples_[random_() % kMostSamples] = sample;
}

void LearningClassifier::run() {
  constexpr int kLowPriority = 19;
  ::setpriority(PRIO_PROCESS, 0, kLowPriority);  // of this thread alone
  std::unique_lock lock(mutex_);
  while (true) {
    due_.wait(lock, [this] { return is_due_ || ends_; });
    if (ends_) return;
    is_due_ = false;
    lock.unlock();
    train();
    lock.lock();
  }
}

void LearningClassifier::train() try {
  constexpr std::size_t kParts = 50;
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < kParts; ++i) parts.push_back(fmt::format("part {}", i));
  Samples all;
  all.packets = kPackets;
  {
    const std::lock_guard lock(mutex_);
    // A forest resamples whole captures, so parts of the link stand for those.
    for (std::size_t i = 0; i < samples_.size(); ++i)
      all.add(samples_[i].sizes, options_.classes[samples_[i].label], parts[i % parts.size()]);
  }
  Samples samples = select_classes(all, kLeastFlows, 1).samples;
  if (samples.class_names.size() < 2 || samples.class_names.size() > kMostClasses) return;
  const TrainingOptions options{.longest = std::numeric_limits<std::uint16_t>::max()};  // ports are whole
  samples.cap(options.longest);
  std::unique_ptr<Model> model = find_model_kind(kKind)->train(samples, options);
  model->note_ports();
  const PortClasses ports = port_classes();
  write(*model, samples.flows_by_class(), ports);
  teach(taught_by(std::move(model), ports));
  const std::lock_guard lock(mutex_);
  ++models_;
} catch (const std::length_error& too_large) {
  const std::lock_guard lock(mutex_);
  problem_ = too_large.what();
} catch (const std::bad_alloc&) {
  const std::lock_guard lock(mutex_);
  problem_ = "there is too little memory to train a model";
}

void LearningClassifier::write(const Model& model, const std::vector<std::uint64_t>& flows, const PortClasses& ports) {
  const auto text = model_text(
      model, {.date = date_now(), .command = options_.command, .captures = 1, .flows = flows, .accuracy = {}}, ports);
  std::string problem = text ? write_file(options_.path, *text) : text.error().message;
  const std::lock_guard lock(mutex_);
  problem_ = std::move(problem);
}

LearningState LearningClassifier::state() const {
  const std::lock_guard lock(mutex_);
  LearningState state{.learnt = learnt_, .models = models_, .judged = judged_.size(), .problem = problem_};
  std::vector<std::array<std::uint64_t, 2>> by_class(options_.classes.size());
  for (const Judged& each : judged_) {
    state.agreed += each.agrees;
    ++by_class[each.label][0];
    by_class[each.label][1] += each.agrees;
  }
  for (std::size_t i = 0; i < by_class.size(); ++i)
    if (by_class[i][0] >= kLeastFlows && 2 * by_class[i][1] < by_class[i][0])
      state.indistinct.push_back(options_.classes[i]);
  return state;
}

}  // namespace parshall
