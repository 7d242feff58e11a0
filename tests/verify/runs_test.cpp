// SPDX-License-Identifier: Apache-2.0
#include "verify/runs.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "folder.hpp"
#include "pipeline/output/parquet/file.hpp"

namespace parshall {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// A file of one record, of so many packets.
void write_flow(const std::string& path, const std::string& run, std::uint64_t packets) {
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  const std::vector<ColumnInfo> columns{{.name = "packets", .type = kUint64, .nullable = false}};
  auto file = ParquetFile::create(path, columns, 1);
  ASSERT_TRUE(file);
  (*file)->column(0).add(Value::of_unsigned(packets));
  (*file)->end_row();
  ASSERT_FALSE((*file)->finish(
      {{"parshall.run", run}, {"parshall.records", "1"}, {"parshall.packets", std::to_string(packets)}}));
}

void write_account(const std::string& path, const std::string& run, std::uint64_t counted, std::uint64_t records,
                   std::uint64_t packets, std::uint64_t not_sent) {
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  auto file = ParquetFile::create(path, std::vector<ColumnInfo>{{.name = "x", .type = kUint64, .nullable = false}}, 1);
  ASSERT_TRUE(file);
  ASSERT_FALSE((*file)->finish({{"parshall.run", run},
                                {"parshall.counted_in_flows", std::to_string(counted)},
                                {"parshall.records_written", std::to_string(records)},
                                {"parshall.packets_written", std::to_string(packets)},
                                {"parshall.packets_not_sent", std::to_string(not_sent)},
                                {"parshall.balanced", "1"}}));
}

class Runs : public ::testing::Test {
 protected:
  Verified verified() {
    const auto all = verify(std::vector{folder_.path()});
    EXPECT_TRUE(all) << all.error().message;
    return *all;
  }
  Folder folder_;
};

TEST_F(Runs, FilesOfEachRunAddUpToItsAccount) {
  write_flow(folder_ / "hour=01/a.parquet", "one", 3);
  write_flow(folder_ / "hour=02/b.parquet", "one", 4);
  write_flow(folder_ / "hour=02/c.parquet", "two", 5);
  write_account(folder_ / "_accounting/account-1.pq", "one", 10, 2, 7, 3);
  write_account(folder_ / "_accounting/account-2.pq", "two", 5, 1, 5, 0);
  write_file(folder_ / "notes.txt", "nothing to see");
  const Verified all = verified();
  EXPECT_TRUE(all.is_good());
  ASSERT_EQ(all.runs.size(), 2u);
  for (const VerifiedRun& run : all.runs) EXPECT_THAT(run.problem, IsEmpty());
  EXPECT_EQ(all.files.size(), 5u);
}

TEST_F(Runs, AFileThatIsNamedTwiceOrByALinkCountsOnce) {
  write_flow(folder_ / "a.parquet", "one", 3);
  write_account(folder_ / "_accounting/account.pq", "one", 3, 1, 3, 0);
  std::filesystem::create_symlink(folder_ / "a.parquet", folder_ / "b.parquet");
  const auto all = verify(std::vector{folder_ / "a.parquet", folder_.path(), folder_ / "./a.parquet"});
  ASSERT_TRUE(all);
  EXPECT_TRUE(all->is_good());
  EXPECT_EQ(all->files.size(), 2u);
}

TEST_F(Runs, WhatTasksFoundHasNoAccountAndBreaksNoneAndWhatIsNoneOfOursIsNamedBesideTheOthers) {
  write_flow(folder_ / "a.parquet", "one", 3);
  write_account(folder_ / "_accounting/account.pq", "one", 3, 1, 3, 0);
  write_file(folder_ / "events.jsonl", R"({"type":"finding","window":{},"task":"x"})"
                                       "\n");
  EXPECT_TRUE(verified().is_good());
  write_file(folder_ / "foreign.jsonl", R"(["x"])");
  const Verified all = verified();
  EXPECT_TRUE(all.is_good()) << "but for the one that is none of ours";
  ASSERT_EQ(all.unreadable.size(), 1u);
  EXPECT_THAT(all.unreadable[0].message, HasSubstr("foreign.jsonl"));
  EXPECT_EQ(all.runs.size(), 1u) << "nothing is said of a run that it might be of";
}

TEST_F(Runs, AFileThatIsMissingIsMissed) {
  write_flow(folder_ / "a.parquet", "one", 3);
  write_account(folder_ / "_accounting/account.pq", "one", 7, 2, 7, 0);
  EXPECT_FALSE(verified().is_good());
  EXPECT_THAT(verified().runs[0].problem, HasSubstr("2 records written, 1 found"));
}

TEST_F(Runs, WhatIsNeitherWrittenNorKnownToBeLostIsMissed) {
  write_flow(folder_ / "a.parquet", "one", 3);
  write_account(folder_ / "_accounting/account.pq", "one", 10, 1, 3, 6);
  EXPECT_THAT(verified().runs[0].problem, HasSubstr("10 packets in its records, but 9"));
}

TEST_F(Runs, APartOfAFileIsNamedAndARunWithoutAnAccountIsNotGood) {
  write_flow(folder_ / "a.parquet", "one", 3);
  write_file(folder_ / "_b.parquet.part", "PAR1 and something");
  const Verified all = verified();
  EXPECT_FALSE(all.is_good());
  EXPECT_THAT(all.files[0].read.problem, HasSubstr("not whole"));
  ASSERT_EQ(all.runs.size(), 1u);
  EXPECT_THAT(all.runs[0].problem, HasSubstr("no account"));
}

TEST_F(Runs, WhatCannotBeReadOrIsNothingToVerifyIsSaid) {
  EXPECT_THAT(verify(std::vector{folder_.path()}).error().message, HasSubstr("no file to verify"));
  EXPECT_THAT(verify(std::vector{folder_ / "absent"})->unreadable.at(0).message, HasSubstr("No such file"));
  write_file(folder_ / "x.csv", "packets\n7\n");
  EXPECT_THAT(verify(std::vector{folder_ / "x.csv"})->unreadable.at(0).message,
              HasSubstr("this kind of file contains no account"));
  write_file(folder_ / "empty.jsonl", "");
  EXPECT_FALSE(verify(std::vector{folder_ / "empty.jsonl"})->is_good());
}

}  // namespace
}  // namespace parshall
