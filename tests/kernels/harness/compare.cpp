#include "harness/compare.h"

#include <cinttypes>
#include <cstdio>

#include <gtest/gtest.h>

namespace km::kernels {
namespace {

constexpr uint64_t kShownDifferences = 6;

}  // namespace

std::string text_of(float value) {
  char text[64];
  std::snprintf(text, sizeof text, "0x%08x (%.9g)", bits_of(value), static_cast<double>(value));
  return text;
}

std::string text_of(double value) {
  char text[64];
  std::snprintf(text, sizeof text, "0x%016" PRIx64 " (%.17g)", bits_of(value), value);
  return text;
}

std::string text_of_integer(uint64_t bits, int64_t value) {
  char text[64];
  std::snprintf(text, sizeof text, "0x%" PRIx64 " (%" PRId64 ")", bits, value);
  return text;
}

void report(uint64_t got_count, uint64_t want_count, const char* what,
            const std::function<std::string(uint64_t)>& difference, const Describe& describe) {
  ASSERT_EQ(got_count, want_count) << what;
  uint64_t wrong = 0;
  std::string shown;
  for (uint64_t i = 0; i < got_count; ++i) {
    const std::string text = difference(i);
    if (text.empty()) continue;
    if (++wrong > kShownDifferences) continue;
    shown += "\n  [" + std::to_string(i) + "] " + text;
    if (describe) shown += "  for " + describe(i);
  }
  if (wrong != 0) {
    ADD_FAILURE() << what << ": " << wrong << " of " << got_count << " differ" << shown;
  }
}

}  // namespace km::kernels
