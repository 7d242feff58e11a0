// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "pipeline/decode/application/libcrypto.hpp"
#include "pipeline/output/records/schema.hpp"

// In builds without OpenSSL.

namespace parshall {
namespace {

TEST(NoCommunityId, IsRefusedAsAColumnAndSaysWhatItTakes) {
  EXPECT_TRUE(crypto_problem());
  const auto schema = Schema::make(std::vector<std::string>{"community_id"}, {});
  ASSERT_FALSE(schema);
  EXPECT_THAT(schema.error().message, testing::HasSubstr("without OpenSSL"));
  EXPECT_TRUE(Schema::make(std::vector<std::string>{"all"}, {}));
}

}  // namespace
}  // namespace parshall
