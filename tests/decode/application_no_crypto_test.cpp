// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "application_bytes.hpp"
#include "pipeline/decode/application/ja4.hpp"
#include "pipeline/decode/application/libcrypto.hpp"
#include "pipeline/decode/application/quic.hpp"
#include "pipeline/decode/application/tls.hpp"

// In builds without OpenSSL; application_ja4_test.cpp and application_quic_test.cpp in others.

namespace parshall::testing {
namespace {

TEST(NoCrypto, QuicIsUnknownAndThereIsNoJa4) {
  EXPECT_TRUE(crypto_problem());
  Bytes datagram(1200);
  datagram[0] = 0xc0, datagram[4] = 1;
  ASSERT_TRUE(QuicReader::may_be_initial(datagram));
  QuicReader reader;
  const auto flow = std::make_unique<QuicFlow>();
  ApplicationFacts facts{};
  EXPECT_EQ(reader.read(datagram, *flow, {}, facts), Reading::unknown);
  EXPECT_EQ(read_tls(tls_record(client_hello_bytes({})), {.ja4 = true}, facts), Reading::done);
  EXPECT_TRUE(facts.ja4.empty());
}

}  // namespace
}  // namespace parshall::testing
