// SPDX-License-Identifier: Apache-2.0
#include "parshall/plan_settings.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <utility>

namespace parshall {
namespace {

using ::testing::HasSubstr;

Result<Plan> toml(std::string_view text) { return plan_of_toml(text, "plan.toml"); }
std::string complaint(std::string_view text) {
  const auto plan = toml(text);
  return plan ? "nothing" : plan.error().message;
}

TEST(PlanSettings, HaveNamesOfTheirOwnAndNameEachOtherRightly) {
  std::set<std::string> names, letters;
  for (const PlanSetting& one : plan_settings()) {
    EXPECT_TRUE(names.insert(one.name).second) << one.name;
    if (!one.letter.empty()) {
      EXPECT_TRUE(letters.insert(one.letter).second) << one.letter;
    }
    EXPECT_FALSE(one.help.empty()) << one.name;
    // A command line declares in this order, and looks back.
    for (const std::string& other : one.excludes) EXPECT_TRUE(names.contains(other)) << one.name;
    if (!one.needs.empty()) {
      EXPECT_TRUE(names.contains(one.needs)) << one.name;
    }
  }
  EXPECT_GE(names.size(), 40u);
}

TEST(PlanSettings, TheDefaultThatHelpShowsIsTheDefault) {
  std::size_t shown = 0;
  for (const PlanSetting& one : plan_settings()) {
    if (one.shown.empty()) continue;
    ++shown;
    Plan plan;
    const auto wrong = one.set(plan, {one.shown});
    EXPECT_FALSE(wrong) << one.name << ": " << wrong->message;
    if (one.name == "flows") {  // 0 stands for it: of a capture there may be more
      EXPECT_EQ(std::exchange(plan.flows.flows, 0), FlowPlan::kUsual);
      EXPECT_EQ(Plan().flows.flows, 0u);
    }
    EXPECT_TRUE(plan == Plan()) << one.name << " is not " << one.shown << " by default";
  }
  EXPECT_GE(shown, 12u);
}

TEST(PlanOfToml, SaysWhatTheCommandLineWould) {
  const auto plan = toml(R"(
read = "a.pcap"
idle = "15s"
workers = 2
columns = ["+gap_mean", "iat_p99"]
key = "src-dst"
inner = true
busy-poll = false
quantile-error = 0.01
seed = 7
)");
  ASSERT_TRUE(plan) << plan.error().message;
  EXPECT_EQ(plan->source.file, "a.pcap");
  EXPECT_EQ(plan->flows.idle_ns, 15'000'000'000u);
  EXPECT_EQ(plan->threads.workers, 2u);
  EXPECT_EQ(plan->statistics.columns, (std::vector<std::string>{"+gap_mean", "iat_p99"}));
  EXPECT_EQ(plan->flows.key, KeyFields::src_dst);
  EXPECT_EQ(plan->flows.header, IpHeader::innermost);
  EXPECT_FALSE(plan->threads.busy_poll);
  EXPECT_EQ(plan->statistics.quantile_error, 0.01);
  EXPECT_EQ(plan->flows.seed, 7u);
}

TEST(PlanOfToml, SaysWhatIsWrongAndWhere) {
  EXPECT_THAT(complaint("read = \"a\"\nidel = \"1s\"\n"),
              HasSubstr("plan.toml, line 2, column 8: idel is no setting of a plan; did you mean idle?"));
  EXPECT_THAT(complaint("idle = \"soon\"\n"), HasSubstr("line 1, column 8: --idle soon: give a time"));
  EXPECT_THAT(complaint("workers = 0\n"), HasSubstr("--workers 0: give a number from 1 to 256"));
  EXPECT_THAT(complaint("key = \"4tuple\"\n"),
              HasSubstr("there is no 4tuple; did you mean 5tuple? There are 5tuple, src-dst, src, dst"));
  EXPECT_THAT(complaint("inner = \"yes\"\n"), HasSubstr("line 1, column 9: inner takes true or false"));
  EXPECT_THAT(complaint("workers = true\n"), HasSubstr("workers takes a whole number"));
  EXPECT_THAT(complaint("overload = \"mona\"\n"), HasSubstr("there is no mona; there are adapt, off"));
  EXPECT_THAT(complaint("dscp = [\"web=EF\"]\n"), HasSubstr("dscp requires forward"));
  EXPECT_THAT(complaint("columns = []\n"), HasSubstr("columns is an empty list"));
  EXPECT_THAT(complaint("columns = [[\"a\"]]\n"), HasSubstr("columns is a text in quotes, a number"));
  EXPECT_THAT(complaint("read = \n"), HasSubstr("plan.toml, line 1"));
  EXPECT_THAT(complaint("[watch]\nread = \"a\"\n"), HasSubstr("line 1, column 2: watch is a table"));
}

TEST(PlanOfToml, TakesTomlAlone) {
  EXPECT_THAT(complaint("idle = \"1s\"\nidle = \"2s\"\n"), HasSubstr("plan.toml, line 2, column")) << "twice";
  EXPECT_THAT(complaint("idle = \"1s\" junk\n"), HasSubstr("plan.toml, line 1, column 13")) << "behind the value";
  for (const char* text : {"[[[\n", "[+]\n", "[[ [a]]\n", "[", "[["})
    EXPECT_THAT(complaint(text), HasSubstr("plan.toml, line 1, column")) << text;
  EXPECT_THAT(complaint("table = bucketed\n"), HasSubstr("plan.toml, line 1, column 9")) << "no quotes";
  EXPECT_THAT(complaint("workers = \"2\"\ninner = 1\n"), HasSubstr("line 2, column 9: inner takes true or false"));
  EXPECT_THAT(complaint("read = 5\n"), HasSubstr("line 1, column 8: read takes a text in quotes"));
  EXPECT_THAT(complaint("quantile-error = \"0.1\"\n"), HasSubstr("line 1, column 18: quantile-error takes a number"));
  EXPECT_THAT(complaint("workers = 1.5\n"), HasSubstr("line 1, column 11: workers takes a whole number"));
  EXPECT_THAT(complaint("workers = [1, 2]\n"), HasSubstr("line 1, column 11: workers takes one value, and no list"));
  EXPECT_THAT(complaint("idle = 1979-05-27\n"), HasSubstr("line 1, column 8: idle is a text in quotes, a number"));
  EXPECT_THAT(complaint("columns = [\"rate\", 1]\n"), HasSubstr("line 1, column 20: columns is"));
  EXPECT_THAT(complaint("[[exports]]\nkind = \"csv\"\n"), HasSubstr("exports is a table, and there are none but"));
  EXPECT_THAT(complaint("[[export]]\nkind = \"csv\"\n"), HasSubstr("line 1, column 1: [[export]] takes a target"));
  EXPECT_THAT(complaint("[[export]]\nkind = \"cvs\"\ntarget = \"a\"\n"),
              HasSubstr("line 1, column 1: --export: there is no \"cvs\"; did you mean csv?"));
  EXPECT_EQ(complaint("idle = 15\nworkers = \"2\"\nquantile-error = 0.1\ncolumns = \"rate\"\n"), "nothing");
}

}  // namespace
}  // namespace parshall
