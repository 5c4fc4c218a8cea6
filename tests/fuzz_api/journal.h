// What the threads of a round have called last, in memory that outlives the process of the round.
#pragma once

#include <atomic>
#include <string>

#include "call_table.h"

namespace km::fuzz {

constexpr size_t kPeekBytes = 40;
constexpr size_t kMostRows = 4096;  // of an interface

struct JournalEntry {
  std::atomic<uint64_t> started_ns;  // 0: the call has returned
  uint64_t number;                   // of the call within its thread
  int64_t result;
  uint32_t row;
  uint32_t depth;  // 1 and more: made by a callback
  Word words[kMostParameters];
  uint8_t peek[kMostParameters][kPeekBytes];  // the begin of what a word points to
  uint8_t peek_bytes[kMostParameters];
};

struct ThreadJournal {
  static constexpr size_t kKept = 32;
  std::atomic<uint64_t> count;
  JournalEntry entries[kKept];

  JournalEntry& last() { return entries[(count.load() - 1) % kKept]; }
};

/// Of one round. Zeroes are its beginning.
struct Journal {
  static constexpr size_t kThreads = 48;
  std::atomic<uint64_t> calls, failures;
  std::atomic<uint64_t> calls_of_row[kMostRows], successes_of_row[kMostRows], ns_of_row[kMostRows];
  std::atomic<bool> has_finding;
  char finding[4096];
  ThreadJournal threads[kThreads];

  /// Something that is wrong without ending the process; the first one counts.
  void find(const std::string& what);
};

uint64_t now_ns();
/// The last calls of each thread, the newest first.
std::string describe(Journal& journal, std::span<const Row> rows);
/// The call that lasts longer than `limit_ns`, or nullptr.
const JournalEntry* find_hanging(Journal& journal, uint64_t limit_ns);

}  // namespace km::fuzz
