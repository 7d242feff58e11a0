// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "pipeline/output/queue/record_spool.hpp"

namespace parshall {
namespace {

constexpr std::size_t kRecordBytes = 4000;
constexpr std::uint64_t kBeyondMemory = SpoolLimits().memory_bytes / kRecordBytes * 5 / 4;

std::vector<std::byte> numbered_record(std::uint64_t number) {
  std::vector<std::byte> record(kRecordBytes - number % 7, static_cast<std::byte>(number));
  std::memcpy(record.data(), &number, sizeof number);
  return record;
}

std::uint64_t number_of(std::span<const std::byte> bytes) {
  std::uint64_t number;
  std::memcpy(&number, bytes.data(), sizeof number);
  EXPECT_EQ(bytes.size(), kRecordBytes - number % 7);
  EXPECT_EQ(bytes.back(), static_cast<std::byte>(number));
  return number;
}

std::vector<std::uint64_t> numbers_in(RecordSpool& spool) {
  std::vector<std::uint64_t> numbers;
  spool.visit([&numbers](std::span<const std::byte> bytes) { numbers.push_back(number_of(bytes)); });
  return numbers;
}

void expect_all(std::vector<std::uint64_t> numbers, std::uint64_t count) {
  ASSERT_EQ(numbers.size(), count);
  std::ranges::sort(numbers);
  for (std::uint64_t i = 0; i < count; ++i) ASSERT_EQ(numbers[i], i);
}

TEST(RecordSpool, HandsOutRecordsInOrderAlsoBeyondItsMemory) {
  RecordSpool spool;
  for (std::uint64_t i = 0; i < kBeyondMemory; ++i) spool.append(numbered_record(i));
  const auto numbers = numbers_in(spool);
  EXPECT_TRUE(std::ranges::is_sorted(numbers));
  expect_all(numbers, kBeyondMemory);
  expect_all(numbers_in(spool), kBeyondMemory);
  spool.append(numbered_record(kBeyondMemory));
  expect_all(numbers_in(spool), kBeyondMemory + 1);
}

TEST(RecordSpool, ForgetsWhatWasTakenAndNothingElse) {
  RecordSpool spool;
  for (std::uint64_t i = 0; i < kBeyondMemory; ++i) spool.append(numbered_record(i));
  std::uint64_t taken = 0;
  spool.take([&taken](std::span<const std::byte> bytes) { return number_of(bytes) % 3 == 0 && ++taken; });
  EXPECT_EQ(taken, (kBeyondMemory + 2) / 3);
  std::uint64_t left = 0;
  for (const std::uint64_t number : numbers_in(spool)) {
    ASSERT_NE(number % 3, 0u);
    ++left;
  }
  EXPECT_EQ(taken + left, kBeyondMemory);
}

TEST(RecordSpool, RecordsAppendedWhileOthersAreTakenAreNotLost) {
  RecordSpool spool;
  constexpr std::uint64_t kRecords = 20'000;
  std::thread writer([&spool] {
    for (std::uint64_t i = 0; i < kRecords; ++i) spool.append(numbered_record(i));
  });
  std::vector<std::uint64_t> numbers;
  while (numbers.size() < kRecords / 2)
    spool.take([&numbers](std::span<const std::byte> bytes) {
      numbers.push_back(number_of(bytes));
      return true;
    });
  writer.join();
  spool.take([&numbers](std::span<const std::byte> bytes) {
    numbers.push_back(number_of(bytes));
    return true;
  });
  expect_all(numbers, kRecords);
}

/// Files may not grow beyond so many bytes, as if the disk were full.
class DiskLimit {
 public:
  explicit DiskLimit(rlim_t bytes) {
    std::signal(SIGXFSZ, SIG_IGN);
    ::getrlimit(RLIMIT_FSIZE, &before_);
    rlimit limited = before_;
    limited.rlim_cur = bytes;
    ::setrlimit(RLIMIT_FSIZE, &limited);
  }
  ~DiskLimit() { ::setrlimit(RLIMIT_FSIZE, &before_); }

 private:
  rlimit before_;
};

TEST(RecordSpool, LosesNothingWhenNoTemporaryFileCanBeWritten) {
  for (const rlim_t room : {0u, 1u, 100'000u, 3'000'000u}) {
    std::vector<std::uint64_t> numbers;
    {
      RecordSpool spool;
      const DiskLimit limit(room);
      for (std::uint64_t i = 0; i < kBeyondMemory; ++i) spool.append(numbered_record(i));
      numbers = numbers_in(spool);
    }
    SCOPED_TRACE(room);
    expect_all(numbers, kBeyondMemory);
  }
}

TEST(RecordSpool, LosesNothingWhenTheTemporaryFolderDoesNotExist) {
  const char* const before = std::getenv("TMPDIR");
  const std::string kept = before != nullptr ? before : "";
  ::setenv("TMPDIR", "/no/such/folder", 1);
  RecordSpool spool;
  for (std::uint64_t i = 0; i < kBeyondMemory; ++i) spool.append(numbered_record(i));
  if (before != nullptr)
    ::setenv("TMPDIR", kept.c_str(), 1);
  else
    ::unsetenv("TMPDIR");
  expect_all(numbers_in(spool), kBeyondMemory);
}

TEST(RecordSpool, RefusesWhatIsBeyondItsBoundAndKeepsTheRest) {
  constexpr std::size_t kWithLength = kRecordBytes + sizeof(std::uint64_t);
  for (const std::uint64_t room : {0u, 10u, 1'000u, 3'000u}) {
    RecordSpool spool({.memory_bytes = 100 * kWithLength, .all_bytes = room * kWithLength});
    std::uint64_t kept = 0;
    while (spool.append(numbered_record(7 * kept))) ++kept;  // those are kRecordBytes long
    EXPECT_EQ(kept, room);
    EXPECT_FALSE(spool.append(numbered_record(0)));
    EXPECT_EQ(numbers_in(spool).size(), room);
    {
      const auto taken = spool.take([](std::span<const std::byte> bytes) { return number_of(bytes) % 2 == 0; });
      EXPECT_EQ(numbers_in(spool).size(), room / 2);
      EXPECT_FALSE(spool.append(numbered_record(0))) << "what was taken is kept, and takes its room";
      std::uint64_t again = 0;
      taken.visit([&again](std::span<const std::byte>) { ++again; });
      EXPECT_EQ(again, room);
    }
    for (std::uint64_t i = room / 2; i < room; ++i) EXPECT_TRUE(spool.append(numbered_record(0)));
    EXPECT_FALSE(spool.append(numbered_record(0)));
  }
}

TEST(RecordSpool, RefusesWhatNeitherAFileNorMemoryHasRoomFor) {
  RecordSpool spool({.memory_bytes = 2 << 20, .without_file_bytes = 2 << 20});
  const DiskLimit limit(0);
  std::uint64_t kept = 0;
  while (spool.append(numbered_record(kept))) ++kept;
  EXPECT_GT(kept * kRecordBytes, std::size_t{3} << 20);
  EXPECT_LT(kept * kRecordBytes, std::size_t{5} << 20);
  expect_all(numbers_in(spool), kept);
}

}  // namespace
}  // namespace parshall
