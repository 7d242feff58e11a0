// SPDX-License-Identifier: Apache-2.0
#include "base/escaped.hpp"

#include <gtest/gtest.h>

namespace parshall {
namespace {

TEST(Escaped, WhatIsPrintableStaysAsItIs) {
  for (const char* name : {"capture.pcap", "/a folder/x-y_z.pcap.gz",
                           "Gr\xc3\xb6\xc3\x9f"
                           "e.pcap",
                           "\xe2\x82\xac", "\xf0\x9f\x93\xa6", "back\\slash", "\"quoted\""})
    EXPECT_EQ(escaped(name), name);
}

TEST(Escaped, ControlCharactersAndBrokenUtf8AreShownAsBytes) {
  EXPECT_EQ(escaped("a\x1b[31mb\nc\xff.pcap"), "a\\x1b[31mb\\nc\\xff.pcap");
  EXPECT_EQ(escaped("\t\r\x7f"), "\\t\\x0d\\x7f");
  EXPECT_EQ(escaped(std::string_view("\0", 1)), "\\x00");
  EXPECT_EQ(escaped("\xc2\x9b"
                    "31m"),
            "\\xc2\\x9b"
            "31m")
      << "a control character of 8 bits";
  EXPECT_EQ(escaped("\xe2\x80\xae"
                    "fdp"),
            "\\xe2\\x80\\xae"
            "fdp")
      << "text from right to left";
  EXPECT_EQ(escaped("\xc0\xaf\xed\xa0\x80\xe2\x82"), "\\xc0\\xaf\\xed\\xa0\\x80\\xe2\\x82") << "no UTF-8";
}

TEST(Escaped, TwiceIsAsOnce) {
  for (const char* name : {"a\x1b[31mb\nc\xff.pcap", "\\x1b", "\\"}) EXPECT_EQ(escaped(escaped(name)), escaped(name));
}

}  // namespace
}  // namespace parshall
