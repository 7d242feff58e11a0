// SPDX-License-Identifier: Apache-2.0
#include "pipeline/output/files/target_file.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

namespace parshall {
namespace {

namespace fs = std::filesystem;
constexpr std::time_t kTime = 1'767'323'045;  ///< 2026-01-02 03:04:05 UTC

TEST(TargetFile, ItsNameHasTheTimeInUtc) {
  ::setenv("TZ", "Asia/Tokyo", 1);
  ::tzset();
  EXPECT_EQ(name_at(kTime, "/a/flows-%Y%m%dT%H%M%S.csv"), "/a/flows-20260102T030405.csv");
  EXPECT_EQ(name_at(kTime, "%j"), "002");
  ::unsetenv("TZ");
  ::tzset();
}

TEST(TargetFile, APercentSignIsTwoAndInFoldersOne) {
  EXPECT_EQ(name_at(kTime, "100%%"), "100%");
  EXPECT_EQ(name_at(kTime, "/%Y/%%Y%%%%"), "/%Y/%Y%%");
  EXPECT_EQ(name_at(kTime, "flows.csv"), "flows.csv");
  EXPECT_FALSE(has_time("/%Y/100%%"));
  EXPECT_TRUE(has_time("100%%-%Y"));
}

TEST(TargetFile, WhatIsNoTimeIsRefused) {
  for (const char* const target : {"a%", "a%q", "%Y%s", "%%%", "%Ey"}) {
    const auto problem = target_problem(target);
    ASSERT_TRUE(problem) << target;
    EXPECT_NE(problem->message.find("%% for a %"), std::string::npos) << problem->message;
    EXPECT_FALSE(open_target(target));
  }
  for (const char* const target : {"a", "%%", "%Y%m%d%j%H%M%S", "/a%/b", "-"})
    EXPECT_FALSE(target_problem(target)) << target;
}

TEST(TargetFile, WhatWasThereStaysUntilSomethingIsWritten) {
  const fs::path file = fs::temp_directory_path() / "target-file-test.csv";
  const auto now_there = [&] {
    std::string line;
    std::getline(std::ifstream(file), line);
    return line;
  };
  for (const auto& open : {Output::open, Output::open_to_go_on, open_target}) {
    std::ofstream(file) << "of an earlier run";
    { ASSERT_TRUE(open(file)); }  // a start that failed
    EXPECT_EQ(now_there(), "of an earlier run");
    {
      auto output = open(file);
      ASSERT_TRUE(output);
      (*output)->flush();
      EXPECT_EQ(now_there(), "");
    }
    std::ofstream(file) << "of an earlier run";
    {
      auto output = open(file);
      ASSERT_TRUE(output);
      (*output)->begin_with("a: ");
      EXPECT_EQ(now_there(), "of an earlier run");
      (*output)->write("new");
      EXPECT_EQ(now_there(), "of an earlier run") << "it is not handed over yet";
    }
    EXPECT_EQ(now_there(), "a: new");
    std::ofstream(file) << "of an earlier run";
    {
      auto output = open(file);
      ASSERT_TRUE(output);
      (*output)->write(std::string(1 << 20, 'x'));  // longer than what is gathered
      (*output)->flush();
      EXPECT_EQ((*output)->trouble(), "");
      EXPECT_FALSE((*output)->take_emptied());
    }
    EXPECT_EQ(now_there(), std::string(1 << 20, 'x'));
  }
  fs::remove(file);
}

TEST(TargetFile, OneWithATimeNeverTakesThePlaceOfAnother) {
  const fs::path folder = fs::temp_directory_path() / "target-file-test";
  fs::remove_all(folder);
  fs::create_directory(folder);
  for (const char* const text : {"first", "second", "third"}) {
    auto output = open_target(folder / "flows-%Y.csv");
    ASSERT_TRUE(output) << output.error().message;
    (*output)->write(text);
  }
  const std::string first = name_at(std::time(nullptr), folder / "flows-%Y");
  for (const auto& [name, text] :
       {std::pair{first + ".csv", "first"}, {first + "-2.csv", "second"}, {first + "-3.csv", "third"}}) {
    std::string line;
    std::getline(std::ifstream(name) >> std::ws, line);
    EXPECT_EQ(line, text) << name;
  }
  fs::remove_all(folder);
}

TEST(TargetFile, OneWithATimeIsBegunWhereNothingIsInItAndNobodyWritesIt) {
  const fs::path folder = fs::temp_directory_path() / "target-file-test";
  fs::remove_all(folder);
  fs::create_directory(folder);
  const std::string first = name_at(std::time(nullptr), folder / "flows-%Y");
  { ASSERT_TRUE(open_target(folder / "flows-%Y.csv")); }  // a start that failed
  auto running = open_target(folder / "flows-%Y.csv");
  ASSERT_TRUE(running);
  EXPECT_EQ((*running)->name(), first + ".csv");
  auto other = open_target(folder / "flows-%Y.csv");
  ASSERT_TRUE(other);
  EXPECT_EQ((*other)->name(), first + "-2.csv");
  fs::create_symlink("nowhere", first + "-3.csv");
  fs::create_directory(first + "-4.csv");
  ASSERT_EQ(::mkfifo((first + "-5.csv").c_str(), 0600), 0);
  auto behind = open_target(folder / "flows-%Y.csv");
  ASSERT_TRUE(behind);
  EXPECT_EQ((*behind)->name(), first + "-6.csv");
  EXPECT_FALSE(fs::exists(folder / "nowhere"));
  fs::remove_all(folder);
}

TEST(TargetFile, OneWithoutATimeIsBegunAnew) {
  const fs::path path = fs::temp_directory_path() / "target-100%.csv";
  for (const char* const text : {"first", "again"}) {
    auto output = open_target(fs::temp_directory_path() / "target-100%%.csv");
    ASSERT_TRUE(output) << output.error().message;
    (*output)->write(text);
  }
  EXPECT_EQ(fs::file_size(path), 5u);
  fs::remove(path);
}

}  // namespace
}  // namespace parshall
