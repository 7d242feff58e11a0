// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "pipeline/output/exporters.hpp"
#include "pipeline/output/queue/export_queue.hpp"
#include "record_bytes.hpp"

namespace {
bool server_is_full = false;
}

/// As of a file of a server, which tells only then that it had no room.
extern "C" int close(int fd) {
  const auto closed = static_cast<int>(::syscall(SYS_close, fd));
  if (!server_is_full) return closed;
  errno = EDQUOT;
  return -1;
}

namespace parshall {
namespace {

using namespace std::chrono_literals;
constexpr std::uint64_t kPart = 400;  ///< records, of some 100 bytes a line

/// As a full disk does, files can have no more bytes than that.
class LongestFile {
 public:
  explicit LongestFile(std::uint64_t bytes) {
    ::signal(SIGXFSZ, SIG_IGN);
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~LongestFile() { ::setrlimit(RLIMIT_FSIZE, &before_); }
  LongestFile(const LongestFile&) = delete;
  LongestFile& operator=(const LongestFile&) = delete;

 private:
  rlimit before_{};
};

/// A queue into a file, which gets records while there is room, none, and room again.
class FullDisk : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    path_ = std::filesystem::temp_directory_path() / ("full-disk-" + GetParam());
    auto exporter = open_exporter(*find_exporter(GetParam()), path_);
    ASSERT_TRUE(exporter) << exporter.error().message;
    queue_.emplace(*std::move(exporter), schema_, ExportOptions{.name = GetParam()});
  }
  void TearDown() override { std::filesystem::remove(path_); }

  void put_some() {
    for (std::uint64_t i = 0; i < kPart; ++i) queue_->put(record_bytes(i + 1));
    for (int i = 0; i < 10'000 && queue_->summary().waiting() != OutputSummary::Sum(); ++i)
      std::this_thread::sleep_for(1ms);
    ASSERT_EQ(queue_->summary().waiting(), OutputSummary::Sum());
  }
  void finish() {
    ASSERT_TRUE(queue_->finished_within(10s));
    queue_->finish_live();
  }

  void write_live(std::uint64_t flows) {
    FlowRecord record{.key = {}, .packets = 1};
    std::vector<Value> values(schema_.columns().size());
    read_base_columns(record, std::span(values).first<kBaseColumns>());
    for (std::uint64_t i = 0; i < flows; ++i) queue_->write_live({record, values});
  }

  /// With so many records, and nothing else but what is in front of them.
  void expect_whole(std::uint64_t records) const {
    ASSERT_EQ(lines().size(), records + header_lines());
    for (const std::string& line : lines()) EXPECT_EQ(line.find('\0'), std::string::npos);
    if (GetParam() == "csv") {
      EXPECT_TRUE(lines().front().starts_with("ip_version,")) << lines().front();
    }
  }
  std::vector<std::string> lines() const {
    std::vector<std::string> lines;
    std::ifstream file(path_);
    for (std::string line; std::getline(file, line);) lines.push_back(line);
    return lines;
  }
  std::size_t header_lines() const { return GetParam() == "csv" ? 1 : 0; }

  std::string path_;
  Schema schema_;
  std::optional<ExportQueue> queue_;
};

INSTANTIATE_TEST_SUITE_P(Kinds, FullDisk, ::testing::Values("csv", "jsonl"));

TEST_P(FullDisk, WhatWasWrittenStaysTheRestIsToldAndItGoesOn) {
  put_some();
  const std::size_t whole = std::filesystem::file_size(path_);
  {
    const LongestFile limit(whole + 10);
    put_some();
    EXPECT_NE(queue_->trouble().find("cannot write " + path_), std::string::npos) << queue_->trouble();
  }
  EXPECT_EQ(std::filesystem::file_size(path_), whole) << "no record in part, and none that was not told";
  put_some();
  EXPECT_EQ(queue_->trouble(), "");
  finish();
  const OutputSummary summary = queue_->summary();
  EXPECT_FALSE(queue_->failed());
  EXPECT_TRUE(queue_->lost_some());
  EXPECT_EQ(summary.offered.records, 3 * kPart);
  EXPECT_EQ(summary.written.records, 2 * kPart);
  EXPECT_EQ(summary.dropped, (OutputSummary::Sum{.records = kPart, .packets = kPart * (kPart + 1) / 2}));
  EXPECT_EQ(lines().size(), summary.written.records + header_lines());
}

TEST_P(FullDisk, OneThatIsFullFromTheStartBeginsTheFileLater) {
  {
    const LongestFile limit(10);
    put_some();
  }
  EXPECT_EQ(queue_->summary().dropped.records, kPart);
  put_some();
  finish();
  EXPECT_EQ(queue_->summary().written.records, kPart);
  ASSERT_EQ(lines().size(), kPart + header_lines());
  if (GetParam() == "csv") {
    EXPECT_TRUE(lines().front().starts_with("ip_version,")) << lines().front();
  }
}

TEST_P(FullDisk, OfFlowsThatAreLiveInTheEndWhatFindsRoomIsWritten) {
  constexpr std::uint64_t kLive = 12'000;
  ASSERT_TRUE(queue_->finished_within(10s));
  {
    const LongestFile limit(GetParam() == "csv" ? 200'000 : 2'000'000);
    write_live(kLive);
    queue_->finish_live();
  }
  const OutputSummary summary = queue_->summary();
  EXPECT_GT(summary.written.records, 0u);
  EXPECT_GT(summary.dropped.records, 0u);
  EXPECT_EQ(summary.written.records + summary.dropped.records, kLive);
  EXPECT_EQ(lines().size(), summary.written.records + header_lines());
}

/// As logrotate's copytruncate does, and who makes room.
TEST_P(FullDisk, OneThatSomebodyElseCutsGoesOnFromThere) {
  put_some();
  std::filesystem::resize_file(path_, 0);
  put_some();
  EXPECT_NE(queue_->trouble().find("somebody else cut " + path_), std::string::npos) << queue_->trouble();
  finish();
  EXPECT_EQ(queue_->summary().written.records, 2 * kPart) << "what others cut stays counted";
  EXPECT_FALSE(queue_->lost_some());
  expect_whole(kPart);
}

TEST_P(FullDisk, ThatSomebodyElseCutItIsToldForAWhileThoughNothingComes) {
  put_some();
  std::filesystem::resize_file(path_, 0);
  const auto waits_for = [&](bool is_told) {
    for (int i = 0; i < 5'000 && queue_->trouble().empty() == is_told; ++i) std::this_thread::sleep_for(1ms);
    return queue_->trouble().empty() != is_told;
  };
  EXPECT_TRUE(waits_for(true));
  EXPECT_TRUE(waits_for(false)) << queue_->trouble();
}

TEST_P(FullDisk, OneThatSomebodyElseCutsToMakeRoomGoesOnFromThere) {
  put_some();
  {
    const LongestFile limit(std::filesystem::file_size(path_) + 10);
    put_some();
  }
  std::filesystem::resize_file(path_, 0);
  put_some();
  finish();
  expect_whole(kPart);
}

TEST_P(FullDisk, LinesThatOthersAddStayWhereItIsFull) {
  put_some();
  std::ofstream(path_, std::ios::app) << "theirs\n";
  put_some();
  const std::size_t whole = std::filesystem::file_size(path_);
  {
    const LongestFile limit(whole + 10);
    put_some();
  }
  EXPECT_EQ(std::filesystem::file_size(path_), whole);
  put_some();
  finish();
  EXPECT_EQ(lines().size(), 3 * kPart + header_lines() + 1);
  EXPECT_EQ(lines().at(kPart + header_lines()), "theirs");
}

TEST_P(FullDisk, WhatAServerTellsOnlyWhenItIsClosedIsToldInTheEnd) {
  put_some();
  ASSERT_TRUE(queue_->finished_within(10s));
  server_is_full = true;
  queue_->finish_live();
  server_is_full = false;
  ASSERT_TRUE(queue_->failed());
  EXPECT_TRUE(queue_->lost_some());
  EXPECT_NE(queue_->error()->message.find("quota exceeded, which shows only now"), std::string::npos);
}

TEST(ArrowFile, ItsLastRowsAreWrittenBeforeItIsClosed) {
  const std::string path = std::filesystem::temp_directory_path() / "full-disk-arrow";
  auto exporter = open_exporter(*find_exporter("arrow"), path);
  ASSERT_TRUE(exporter) << exporter.error().message;
  const Schema schema;
  (*exporter)->begin(schema.columns());
  EXPECT_FALSE((*exporter)->flush().error);
  const auto before = std::filesystem::file_size(path);
  const FlowRecord record{.key = {}, .packets = 1};
  std::vector<Value> values(schema.columns().size());
  schema.read(record, {}, {}, values);
  const ReportFlow flow{record, values};
  (*exporter)->records({&flow, 1});
  (*exporter)->finish();
  EXPECT_GT(std::filesystem::file_size(path), before);
  std::filesystem::remove(path);
}

TEST(IpfixFile, OneThatSomebodyEmptiesWhileNothingComesHasLostNothing) {
  const std::string path = std::filesystem::temp_directory_path() / "full-disk-ipfix";
  auto exporter = open_exporter(*find_exporter("ipfix"), path);
  ASSERT_TRUE(exporter) << exporter.error().message;
  ExportQueue queue(*std::move(exporter), Schema(), ExportOptions{.name = "ipfix"});
  const auto wait_until = [](const auto& is_so) {
    for (int i = 0; i < 10'000 && !is_so(); ++i) std::this_thread::sleep_for(1ms);
    return is_so();
  };
  const auto put_one = [&] {
    queue.put(record_bytes(1));
    return wait_until([&] { return queue.summary().waiting() == OutputSummary::Sum(); });
  };
  ASSERT_TRUE(put_one());
  const std::size_t whole = std::filesystem::file_size(path);
  std::filesystem::resize_file(path, 0);
  ASSERT_TRUE(wait_until([&] { return !queue.trouble().empty(); }));
  ASSERT_TRUE(put_one());
  EXPECT_GE(std::filesystem::file_size(path), whole) << "with its templates again";
  EXPECT_EQ(queue.summary().written.records, 2u);
  EXPECT_FALSE(queue.lost_some());
  std::filesystem::remove(path);
}

TEST(CreateTemporary, AnEmptyTmpdirIsNone) {
  const std::string before = std::getenv("TMPDIR") == nullptr ? "" : std::getenv("TMPDIR");
  ::setenv("TMPDIR", "", 1);
  const auto output = Output::create_temporary(".csv");
  before.empty() ? ::unsetenv("TMPDIR") : ::setenv("TMPDIR", before.c_str(), 1);
  ASSERT_TRUE(output);
  EXPECT_TRUE((*output)->name().starts_with("/tmp/")) << (*output)->name();
  std::filesystem::remove((*output)->name());
}

}  // namespace
}  // namespace parshall
