#include "journal.h"

#include <algorithm>
#include <chrono>
#include <cstdio>

namespace km::fuzz {
namespace {

void append_peek(std::string& text, const uint8_t* bytes, size_t count) {
  const bool is_text = std::all_of(
      bytes, bytes + count, [](uint8_t c) { return c == '\n' || c == 0 || (c >= ' ' && c < 127); });
  text += is_text ? " \"" : " {";
  for (size_t i = 0; i < count && !(is_text && bytes[i] == 0); ++i) {
    char digits[8];
    std::snprintf(digits, sizeof digits, is_text ? "%c" : "%02x", bytes[i]);
    text += is_text && bytes[i] == '\n' ? " " : digits;
    if (!is_text && i % 8 == 7 && i + 1 < count) text += ' ';
  }
  text += is_text ? "\"" : "}";
}

std::string describe_call(const JournalEntry& entry, const Row& row) {
  char begin[96];
  std::snprintf(begin, sizeof begin, "    %s#%llu ", entry.depth != 0 ? "in a callback: " : "",
                static_cast<unsigned long long>(entry.number));
  std::string text = begin + std::string(row.name) + "(";
  for (size_t i = 0; i < row.parameter_count; ++i) {
    char word[32];
    std::snprintf(word, sizeof word, "%s0x%llx", i == 0 ? "" : ", ",
                  static_cast<unsigned long long>(entry.words[i]));
    text += word;
    if (entry.peek_bytes[i] != 0) append_peek(text, entry.peek[i], entry.peek_bytes[i]);
  }
  const uint64_t started = entry.started_ns.load();
  const unsigned long long lasts_ms = started == 0 ? 0 : (now_ns() - started) / 1'000'000;
  char end[64];
  if (started != 0) {
    std::snprintf(end, sizeof end, ") has not returned in %llu ms\n", lasts_ms);
  } else {
    std::snprintf(end, sizeof end, ") = %lld\n", static_cast<long long>(entry.result));
  }
  return text + end;
}

}  // namespace

uint64_t now_ns() {
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                   std::chrono::steady_clock::now().time_since_epoch())
                                   .count());
}

void Journal::find(const std::string& what) {
  if (has_finding.load()) return;
  std::snprintf(finding, sizeof finding, "%s", what.c_str());
  has_finding.store(true);
}

std::string describe(Journal& journal, std::span<const Row> rows) {
  std::string text;
  for (size_t i = 0; i < Journal::kThreads; ++i) {
    ThreadJournal& thread = journal.threads[i];
    const uint64_t count = thread.count.load();
    if (count == 0) continue;
    text += "  thread " + std::to_string(i) + ", the newest call first:\n";
    for (uint64_t k = 0; k < std::min<uint64_t>(count, ThreadJournal::kKept); ++k) {
      const JournalEntry& entry = thread.entries[(count - 1 - k) % ThreadJournal::kKept];
      text += describe_call(entry, rows[entry.row]);
    }
  }
  return text;
}

const JournalEntry* find_hanging(Journal& journal, uint64_t limit_ns) {
  const uint64_t now = now_ns();
  for (ThreadJournal& thread : journal.threads) {
    for (const JournalEntry& entry : thread.entries) {
      const uint64_t started = entry.started_ns.load();
      if (started != 0 && now > started && now - started > limit_ns) return &entry;
    }
  }
  return nullptr;
}

}  // namespace km::fuzz
