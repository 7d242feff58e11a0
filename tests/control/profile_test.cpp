// SPDX-License-Identifier: Apache-2.0
#include "control/profile.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

namespace parshall {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

MachineIdentity machine() {
  return {.cpu = "A \"quoted\" CPU \\ @ 2.3 GHz\t\n\x01\x7F",
          .cores = 2,
          .l3_bytes = 272629760,
          .page_bytes = 4096,
          .huge_pages = "madvise",
          .program = "0.1.0",
          .x86_level = "x86-64-v4",
          .table = "bucketed"};
}

Profile profile() {
  Profile made;
  made.machine = machine();
  made.time = {.input_ns = 6.9, .new_flow_ns = 211.5, .cached_ns = 90, .uncached_ns = 200.25};
  made.new_flow_batched_ns = 41;
  made.cached = {{RetrievalFamily::gumbel, 85.5, 7.75}, 16384, 12, 11.5};
  made.uncached = {{RetrievalFamily::weibull, 4.5, 219.5}, 16380, 16, 32.6};
  made.states = {{"s1", {"count:window=10ms"}, 0.5, 0.25, 1}, {"s2", {"a='x > \"y\"'", "entropy"}, 1e-7, 0, 123456789}};
  made.work = {{"tcp", {}, 12.5, 11, 13}};
  return made;
}

/// The profile's text with each line that begins with `key` replaced by `by`, from the `nth` on; its first line.
struct Changed {
  std::string text;
  std::size_t line = 0;
};
Changed with(const std::string& key, const std::string& by, std::size_t nth = 0) {
  std::string text = profile().to_toml();
  std::size_t at = text.find("\n" + key);
  while (nth-- != 0) at = text.find("\n" + key, at + 1);
  if (at == std::string::npos) throw std::runtime_error("no line begins with " + key);
  const auto line =
      static_cast<std::size_t>(std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at) + 1, '\n')) + 1;
  text.replace(at + 1, text.find('\n', at + 1) - at - 1, by);
  return {std::move(text), line};
}

std::string error_of(const std::string& text) {
  const auto read = Profile::parse(text, "p.toml");
  return read ? "no error" : read.error().message;
}

/// What is said of it, and in which line.
void expect_wrong(const Changed& changed, const std::string& words) {
  EXPECT_THAT(error_of(changed.text),
              AllOf(StartsWith("p.toml, line " + std::to_string(changed.line) + ", column "), HasSubstr(words)));
}

TEST(Profile, IsReadAsItWasWritten) {
  const Profile before = profile();
  const auto after = Profile::parse(before.to_toml(), "p.toml");
  ASSERT_TRUE(after) << after.error().message;
  EXPECT_EQ(after->to_toml(), before.to_toml());
  EXPECT_EQ(after->machine, before.machine);
  EXPECT_EQ(after->states, before.states);
  EXPECT_EQ(after->work, before.work);
  EXPECT_EQ(after->time.input_ns, 6.9);
  EXPECT_EQ(after->time.new_flow_ns, 211.5);
  EXPECT_EQ(after->time.cached_ns, 90);
  EXPECT_EQ(after->time.uncached_ns, 200.25);
  EXPECT_EQ(after->new_flow_batched_ns, 41);
  EXPECT_EQ(after->cached.model.family, RetrievalFamily::gumbel);
  EXPECT_EQ(after->cached.model.location_or_shape, 85.5);
  EXPECT_EQ(after->cached.model.scale, 7.75);
  EXPECT_EQ(after->uncached.model.family, RetrievalFamily::weibull);
  EXPECT_EQ(after->uncached.model.location_or_shape, 4.5);
  EXPECT_EQ(after->uncached.samples, 16380u);
  EXPECT_EQ(after->uncached.dropped, 16u);
  EXPECT_EQ(after->uncached.batched_ns, 32.6);
}

TEST(Profile, KeepsEveryDigit) {
  Profile before = profile();
  before.time = {.input_ns = 1.0 / 3, .new_flow_ns = 1.0 / 7, .cached_ns = 2.0 / 3, .uncached_ns = 1e9 / 3};
  before.new_flow_batched_ns = 3.0 / 7;
  before.cached = {{RetrievalFamily::normal, 1.0 / 9, 1e-300}, 1, 0, 5.0 / 9};
  before.states[0] = {"s1", {}, 1.0 / 11, 1.0 / 13, 10.0 / 11};
  const auto after = Profile::parse(before.to_toml(), "p.toml");
  ASSERT_TRUE(after) << after.error().message;
  EXPECT_EQ(after->time.input_ns, 1.0 / 3);
  EXPECT_EQ(after->time.new_flow_ns, 1.0 / 7);
  EXPECT_EQ(after->time.cached_ns, 2.0 / 3);
  EXPECT_EQ(after->time.uncached_ns, 1e9 / 3);
  EXPECT_EQ(after->new_flow_batched_ns, 3.0 / 7);
  EXPECT_EQ(after->cached.model.location_or_shape, 1.0 / 9);
  EXPECT_EQ(after->cached.model.scale, 1e-300);
  EXPECT_EQ(after->cached.batched_ns, 5.0 / 9);
  EXPECT_EQ(after->states, before.states);
}

TEST(Profile, NeedsNeitherStatesNorWork) {
  Profile before = profile();
  before.states.clear();
  before.work.clear();
  const auto after = Profile::parse(before.to_toml(), "p.toml");
  ASSERT_TRUE(after) << after.error().message;
  EXPECT_TRUE(after->states.empty() && after->work.empty());
}

TEST(Profile, NamesTheLineOfANumberThatMakesNoSense) {
  for (const char* key :
       {"input_ns", "new_flow_ns", "new_flow_batched_ns", "mean_ns", "scale_ns", "batched_ns", "location_ns", "shape"})
    for (const char* value : {"-1", "-0.0", "0", "nan", "-nan", "inf", "-inf", "1e300", "1_000_000_001", "\"6.9\"",
                              "true", "[6.9]", "{ ns = 6.9 }", "2026-01-01"})
      expect_wrong(with(std::string(key) + " = ", std::string(key) + " = " + value), "above 0, at most");
  for (const char* key : {"cost_ns", "low_ns", "high_ns"})
    for (const char* value : {"-1e-9", "nan", "inf", "1e10", "\"0\""})
      expect_wrong(with(std::string(key) + " = ", std::string(key) + " = " + value, 1), "from 0, at most");
  for (const char* key : {"cores", "page_bytes", "l3_bytes", "samples", "dropped"})
    for (const char* value : {"-1", "1.0", "nan", "\"2\"", "false"})
      expect_wrong(with(std::string(key) + " = ", std::string(key) + " = " + value), "a whole number from");
  for (const char* key : {"cores", "page_bytes", "samples"})
    expect_wrong(with(std::string(key) + " = ", std::string(key) + " = 0"), "a whole number from 1");
  EXPECT_THAT(error_of(with("cores", "cores = 99999999999999999999").text), StartsWith("p.toml, line "));
}

TEST(Profile, NamesTheLineOfATextThatIsNone) {
  for (const char* key : {"cpu", "huge_pages", "program", "x86_level", "table", "name", "model"})
    for (const char* value : {"2", "[\"a\"]", "{ a = 1 }", "nan"})
      expect_wrong(with(std::string(key) + " = ", std::string(key) + " = " + value), "must be a text in quotes");
  expect_wrong(with("tasks", "tasks = \"count\""), "tasks must be a list");
  expect_wrong(with("tasks", "tasks = [1]"), "texts in quotes");
  expect_wrong(with("model", "model = \"cauchy\""), "normal, weibull, gumbel");
}

TEST(Profile, NamesWhatIsMissingAndWhatToDo) {
  const std::string whole = profile().to_toml();
  for (const char* key : {"cpu",
                          "cores",
                          "l3_bytes",
                          "page_bytes",
                          "huge_pages",
                          "program",
                          "x86_level",
                          "table",
                          "input_ns",
                          "new_flow_ns",
                          "new_flow_batched_ns",
                          "model",
                          "location_ns",
                          "shape",
                          "scale_ns",
                          "mean_ns",
                          "batched_ns",
                          "samples",
                          "dropped",
                          "name",
                          "cost_ns",
                          "low_ns",
                          "high_ns"})
    EXPECT_THAT(
        error_of(with(std::string(key) + " = ", "").text),
        AllOf(HasSubstr(std::string(key) + " is missing"), HasSubstr("parshall profile"), StartsWith("p.toml, line ")));
  for (const char* table : {"[machine]", "[packet]", "[retrieval.cached]", "[retrieval.uncached]"})
    EXPECT_THAT(error_of(with(table, "").text), StartsWith("p.toml, line ")) << table;
  EXPECT_THAT(error_of(""), AllOf(HasSubstr("version is missing"), HasSubstr("parshall profile")));
  EXPECT_THAT(error_of("version = 1\n"), HasSubstr("machine is missing"));
}

TEST(Profile, TakesNoKeysThatItDoesNotKnow) {
  expect_wrong(with("cores", "kernels = 2"), "kernels is unknown here; there are cpu, cores");
  expect_wrong(with("input_ns", "input_us = 2"), "input_us is unknown here");
  expect_wrong(with("low_ns", "lowest_ns = 2"), "lowest_ns is unknown here");
  expect_wrong(with("samples", "sample = 2"), "sample is unknown here");
  EXPECT_THAT(error_of(profile().to_toml() + "tasks = [\"count\"]\n"), HasSubstr("tasks is unknown here"))
      << "of [[work]]";
  EXPECT_THAT(error_of("extra = 1\n" + profile().to_toml()), HasSubstr("line 1, column 1: extra is unknown here"));
  expect_wrong(with("[retrieval.cached]", "[retrieval.warm]"), "warm is unknown here");
}

TEST(Profile, TakesNoParameterOfAnotherModel) {
  EXPECT_THAT(error_of(with("shape", "shape = 4.5\nlocation_ns = 3").text), HasSubstr("model weibull has none"));
  EXPECT_THAT(error_of(with("location_ns", "location_ns = 4.5\nshape = 3").text), HasSubstr("model gumbel has none"));
  EXPECT_THAT(error_of(with("shape", "location_ns = 4.5").text), HasSubstr("model weibull has none"));
}

TEST(Profile, TakesNoOtherVersion) {
  for (const char* version : {"2", "0", "-1", "1.0", "\"1\"", "nan", "[1]"})
    expect_wrong(with("version", std::string("version = ") + version), "only profiles of version 1");
  EXPECT_THAT(error_of("unknown = 1\nversion = 2\n"), HasSubstr("only profiles of version 1"))
      << "what else a later version has is no matter";
}

TEST(Profile, TakesNoWrongTables) {
  EXPECT_THAT(error_of("version = 1\nmachine = 2\n"),
              HasSubstr("line 2, column 11: machine must be a table: [machine]"));
  EXPECT_THAT(error_of("version = 1\n[[machine]]\ncpu = \"\"\n"), HasSubstr("machine must be a table"));
  EXPECT_THAT(error_of(with("[[state]]", "[state]").text), StartsWith("p.toml, line "));
  std::string one = profile().to_toml();
  one.replace(one.find("[[work]]"), 8, "[work]");
  EXPECT_THAT(error_of(one), HasSubstr("write [[work]] for each work"));
  EXPECT_THAT(error_of(with("name = \"s2\"", "name = \"s1\"").text), HasSubstr("two of [[state]] have the name s1"));
  EXPECT_THAT(error_of(with("cost_ns", "cost_ns = 5").text), HasSubstr("cost_ns must be between low_ns and high_ns"));
}

TEST(Profile, TellsWhereTomlIsBroken) {
  expect_wrong(with("cores", "cores = "), "");
  expect_wrong(with("cores", "cpu = \"again\""), "");
  EXPECT_THAT(error_of(profile().to_toml() + "\xFF\xFE"), StartsWith("p.toml, line "));
  EXPECT_THAT(error_of(std::string(100'000, '[')), StartsWith("p.toml, line "));
}

TEST(Profile, IsReadFromAFile) {
  const auto path = std::filesystem::temp_directory_path() / "parshall-profile-test.toml";
  std::ofstream(path) << profile().to_toml();
  const auto read = Profile::read(path);
  std::filesystem::remove(path);
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->machine, machine());
  const auto missing = Profile::read(path);
  ASSERT_FALSE(missing);
  EXPECT_THAT(missing.error().message,
              AllOf(HasSubstr("parshall-profile-test.toml"), HasSubstr("No such file"), HasSubstr("parshall profile")));
  EXPECT_FALSE(Profile::read(std::filesystem::temp_directory_path())) << "a folder";
}

TEST(Profile, IsOfTheMachineItWasMeasuredOn) { EXPECT_EQ(profile().difference_from(machine()), std::nullopt); }

TEST(Profile, SaysWhatIsOtherOnAnotherMachine) {
  const auto said = [](auto change) {
    MachineIdentity now = machine();
    change(now);
    return profile().difference_from(now).value_or("nothing");
  };
  EXPECT_THAT(said([](MachineIdentity& now) { now.cores = 4; }),
              AllOf(HasSubstr("the number of cores was \"2\" and is \"4\""), HasSubstr("parshall profile"),
                    Not(HasSubstr("CPU"))));
  EXPECT_THAT(said([](MachineIdentity& now) { now.cpu = "Z80"; }), HasSubstr("and is \"Z80\""));
  EXPECT_THAT(said([](MachineIdentity& now) { now.l3_bytes = 0; }), HasSubstr("L3"));
  EXPECT_THAT(said([](MachineIdentity& now) { now.page_bytes = 65536; }), HasSubstr("a page"));
  EXPECT_THAT(said([](MachineIdentity& now) { now.huge_pages = "never"; }), HasSubstr("huge pages"));
  EXPECT_THAT(said([](MachineIdentity& now) { now.program = "0.2.0"; }), HasSubstr("version was \"0.1.0\""));
  EXPECT_THAT(said([](MachineIdentity& now) { now.x86_level = "x86-64-v3"; }), HasSubstr("x86 level"));
  EXPECT_THAT(said([](MachineIdentity& now) { now.table = "linear"; }), HasSubstr("the table"));
  EXPECT_THAT(said([](MachineIdentity& now) { now.cores = 1, now.table = "linear"; }),
              AllOf(HasSubstr("cores"), HasSubstr("the table")));
}

}  // namespace
}  // namespace parshall
