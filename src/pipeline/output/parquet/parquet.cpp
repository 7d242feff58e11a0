// SPDX-License-Identifier: Apache-2.0
#include "pipeline/output/parquet/parquet.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <iterator>
#include <optional>
#include <utility>
#include <vector>

#include "base/output_modes.hpp"
#include "pipeline/output/columnar.hpp"
#include "pipeline/output/parquet/file.hpp"
#include "pipeline/output/parquet/target.hpp"
#include "pipeline/output/records/account_columns.hpp"

namespace parshall {
namespace {

using Clock = std::chrono::steady_clock;

class ParquetExporter final : public Exporter {
 public:
  explicit ParquetExporter(ParquetTarget target) : target_(std::move(target)), run_(new_run()) {}
  ~ParquetExporter() override { end_file(); }

  void begin(std::span<const ColumnInfo> columns) override {
    columns_ = {{.name = "probe", .type = kEnum16, .nullable = false, .values = {target_.probe}},
                {.name = "export_sequence", .type = kUint64, .nullable = false}};
    own_columns_ = columns_.size();
    std::ranges::move(columnar(columns), std::back_inserter(columns_));
    has_packets_ = std::ranges::find(columns_, "packets", &ColumnInfo::name) != columns_.end();
    has_reverse_packets_ = std::ranges::find(columns_, "reverse_packets", &ColumnInfo::name) != columns_.end();
  }

  void records(std::span<const ReportFlow> batch) override {
    for (const ReportFlow& flow : batch) write(flow);
  }

  std::uint64_t memory_bytes(std::span<const ColumnInfo> columns) const override {
    return ParquetFile::memory_bytes(columns);
  }

  FlushOutcome flush() override {
    if (file_ != nullptr && Clock::now() - begun_ >= target_.every) end_file();
    FlushOutcome outcome;
    outcome.error = error_;
    outcome.trouble = trouble_;
    outcome.held = in_file_;
    outcome.not_sent = std::exchange(not_sent_, {});
    return outcome;
  }
  void finish() override { end_file(); }

  void accounting(const ReportSummary& summary, const OutputSummary& own) override {
    const auto account = account_columns(summary, own, {target_.probe, run_, sequence_});
    std::vector<ColumnInfo> columns;
    columns.reserve(account.size());
    for (const AccountColumn& each : account) columns.push_back(each.info);
    // The name is not *.parquet and the folder begins with an underscore, so readers of all records skip it. Its
    // columns differ.
    auto file = create(target_.folder + "/_accounting", fmt::format("accounting-{}.pq", run_), columns);
    if (file == nullptr) {
      error_ = Error{"the account is not there: " + trouble_};
      return;
    }
    const FlowKeySettings& keys = summary.flow_keys;
    ParquetFile::Metadata metadata{{"parshall.run", run_},
                                   {"parshall.key", name_of(kKeyNames, keys.key)},
                                   {"parshall.inner", keys.header == IpHeader::innermost ? "true" : "false"},
                                   {"parshall.biflow", keys.is_biflow ? "true" : "false"},
                                   {"parshall.seed_check", fmt::format("{:016x}", keys.seed_check)},
                                   {"parshall.filter", keys.filter}};
    for (std::size_t i = 0; i < account.size(); ++i) {
      const Value& value = account[i].value;
      file->column(i).add(value);
      if (value.present() && value.type() != ValueType::enumeration)
        metadata.emplace_back("parshall." + columns[i].name, fmt::to_string(value.as_unsigned()));
    }
    file->end_row();
    if (const auto error = file->finish(metadata)) error_ = Error{"the account is not there: " + error->message};
  }

 private:
  static constexpr std::uint64_t kNsPerHour = 3'600'000'000'000;
  static constexpr std::int64_t kFewRows = 1000;
  static constexpr std::chrono::seconds kAgain{5};

  void write(const ReportFlow& flow) {
    const std::uint64_t sequence = sequence_++;
    const OutputSummary::Sum one{.records = 1, .packets = flow.record.all_packets()};
    if (is_time_for_another(flow.record.last_ns)) end_file();
    if (file_ == nullptr && !begin_file(flow.record.last_ns, sequence)) {
      not_sent_ += one;
      return;
    }
    file_->column(0).add(Value::of_enumeration(0));
    file_->column(1).add(Value::of_unsigned(sequence));
    for (std::size_t i = 0; i < flow.values.size(); ++i) file_->column(own_columns_ + i).add(flow.values[i]);
    in_file_ += one;
    in_columns_ += (has_packets_ ? flow.record.packets : 0) + (has_reverse_packets_ ? flow.record.reverse_packets : 0);
    file_->end_row();
    if (file_->error()) lose_file(*file_->error());
  }

  /// Returns whether to begin another file. A file belongs to the partition of its first record. A new partition begins
  /// another file only if the present one has more than a few rows, because the times of a capture may be in any order.
  bool is_time_for_another(std::uint64_t last_ns) const noexcept {
    if (file_ == nullptr) return false;
    return file_->bytes() >= target_.bytes || (last_ns >= partition_end_ns_ && file_->rows() >= kFewRows);
  }

  bool begin_file(std::uint64_t last_ns, std::uint64_t sequence) {
    if (Clock::now() < again_at_) return false;
    std::string folder = target_.folder;
    const auto seconds = static_cast<std::time_t>(last_ns / 1'000'000'000);
    using Partition = ParquetTarget::Partition;
    if (target_.partition != Partition::none) folder += fmt::format("/date={:%Y-%m-%d}", fmt::gmtime(seconds));
    if (target_.partition == Partition::hour) folder += fmt::format("/hour={:%H}", fmt::gmtime(seconds));
    const std::uint64_t length = target_.partition == Partition::hour ? kNsPerHour : 24 * kNsPerHour;
    partition_end_ns_ = target_.partition == Partition::none ? ~std::uint64_t{0} : (last_ns / length + 1) * length;
    file_ = create(folder, fmt::format("flows-{}-{:06}.parquet", run_, files_), columns_);
    if (file_ == nullptr) {
      again_at_ = Clock::now() + kAgain;
      return false;
    }
    trouble_.clear();
    ++files_;
    begun_ = Clock::now();
    first_sequence_ = sequence;
    return true;
  }

  std::unique_ptr<ParquetFile> create(const std::string& folder, const std::string& name,
                                      std::span<const ColumnInfo> columns) {
    make_folders(folder);
    auto file = ParquetFile::create(fmt::format("{}/{}", folder, name), columns, target_.level);
    if (file) return *std::move(file);
    trouble_ = file.error().message;
    return nullptr;
  }

  void end_file() {
    if (file_ == nullptr) return;
    const bool has_all = std::exchange(in_columns_, 0) == in_file_.packets;
    const std::string packets = has_all ? "parshall.packets" : "parshall.packets_not_in_columns";
    const ParquetFile::Metadata metadata = {{"parshall.run", run_},
                                            {"parshall.probe", target_.probe},
                                            {"parshall.first_export_sequence", fmt::to_string(first_sequence_)},
                                            {"parshall.records", fmt::to_string(in_file_.records)},
                                            {packets, fmt::to_string(in_file_.packets)}};
    if (const auto error = file_->finish(metadata)) return lose_file(*error);
    file_.reset();
    in_file_ = {};
  }

  void lose_file(const Error& error) {
    trouble_ = error.message;
    file_.reset();
    not_sent_ += std::exchange(in_file_, {});
    in_columns_ = 0;
    again_at_ = Clock::now() + kAgain;
  }

  ParquetTarget target_;
  std::string run_;
  std::vector<ColumnInfo> columns_;
  std::size_t own_columns_ = 0;
  bool has_packets_ = false, has_reverse_packets_ = false;  ///< columns
  std::uint64_t in_columns_ = 0;                            ///< packets that the file's columns hold
  std::unique_ptr<ParquetFile> file_;                       ///< null: the next record begins one
  Clock::time_point begun_{}, again_at_{};
  std::uint64_t partition_end_ns_ = 0, sequence_ = 0, first_sequence_ = 0, files_ = 0;
  OutputSummary::Sum in_file_, not_sent_;
  std::string trouble_;
  std::optional<Error> error_;  ///< error of the account; problems with records are only trouble
};

}  // namespace

Result<std::unique_ptr<Exporter>> open_parquet_exporter(const std::string& target) {
  auto parsed = ParquetTarget::parse(target);
  if (!parsed) return Error{fmt::format("--export parquet:{}: {}", target, parsed.error().message)};
  if (const std::error_code wrong = make_folders(parsed->folder))
    return Error{fmt::format("--export parquet:{}: {}: {}", target, parsed->folder, wrong.message())};
  if (::access(parsed->folder.c_str(), W_OK | X_OK) != 0)
    return Error{fmt::format("--export parquet:{}: {}: {}", target, parsed->folder, std::strerror(errno))};
  return std::unique_ptr<Exporter>(std::make_unique<ParquetExporter>(*std::move(parsed)));
}

Result<OutputNeeds> parquet_needs(const std::string& target) {
  auto parsed = ParquetTarget::parse(target);
  if (!parsed) return parsed.error();
  return OutputNeeds{.folders = {std::move(parsed->folder)}};
}

}  // namespace parshall
