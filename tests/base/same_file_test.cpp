// SPDX-License-Identifier: Apache-2.0
#include "base/same_file.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace parshall {
namespace {

namespace fs = std::filesystem;

class SameFile : public ::testing::Test {
 protected:
  SameFile() {
    std::string name = fs::temp_directory_path() / "same-file-XXXXXX";
    folder_ = ::mkdtemp(name.data());
    before_ = fs::current_path();
    fs::current_path(folder_);
  }
  ~SameFile() override {
    fs::current_path(before_);
    fs::remove_all(folder_);
  }

  fs::path folder_, before_;
};

TEST_F(SameFile, WhatIsNotThereYetHasManyNames) {
  fs::create_directory("in");
  fs::create_directory_symlink("in", "link");
  EXPECT_TRUE(same_file("a", "./a"));
  EXPECT_TRUE(same_file("a", folder_ / "a"));
  EXPECT_TRUE(same_file("in/../a", "a"));
  EXPECT_TRUE(same_file("in/a", "link/a"));
  EXPECT_TRUE(same_file("absent/a", "./absent/a"));
  EXPECT_FALSE(same_file("a", "b"));
  EXPECT_FALSE(same_file("a", "in/a"));
}

TEST_F(SameFile, ALinkThatLeadsNowhereYetLeadsToTheFile) {
  fs::create_directory("in");
  fs::create_symlink("in/a", "first");
  fs::create_symlink("first", "second");
  fs::create_symlink(folder_ / "in" / "a", "third");
  for (const char* link : {"first", "second", "third"}) EXPECT_TRUE(same_file(link, "in/a")) << link;
  EXPECT_TRUE(same_file("second", "third"));
  EXPECT_FALSE(same_file("first", "in/b"));
  fs::create_symlink("circle", "circle");
  EXPECT_FALSE(same_file("circle", "in/a"));
}

TEST_F(SameFile, WhatIsThereIsToldByItsInode) {
  std::ofstream("a") << "x";
  fs::create_hard_link("a", "b");
  fs::create_symlink("a", "c");
  EXPECT_TRUE(same_file("a", "b"));
  EXPECT_TRUE(same_file("c", "./a"));
  EXPECT_FALSE(same_file("a", "d"));
}

TEST_F(SameFile, StandardStreamsAndDevicesAreNoFiles) {
  EXPECT_FALSE(same_file("-", "-"));
  EXPECT_FALSE(same_file("", ""));
  EXPECT_FALSE(same_file("/dev/null", "/dev/null"));
}

}  // namespace
}  // namespace parshall
