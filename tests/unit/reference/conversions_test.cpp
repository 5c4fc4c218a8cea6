// Conversions in 64-bit integers against the plain reference: corner cases and random operands.
#include "reference/conversions.h"

#include <gtest/gtest.h>

#include "reference/inputs.h"
#include "reference/variants.h"
#include "unit/reference/mpfr_format.h"

namespace km::reference {
namespace {

void compare(const Variant& variant, const std::vector<uint64_t>& sources,
             const std::vector<uint64_t>& results) {
  std::vector<uint64_t> want(sources.size());
  unary_results(variant, sources, want);
  for (size_t i = 0; i < sources.size(); ++i) {
    ASSERT_EQ(results[i], want[i]) << variant.text << " of " << std::hex << sources[i];
  }
}

TEST(Conversions, AsThePlainReference) {
  const uint64_t count = is_long_run() ? 10'000'000 : 20'000;
  Random random(1);
  size_t converted = 0;
  for (const Variant& variant : all_variants()) {
    if (!is_unary(variant)) continue;
    std::vector<uint64_t> sources = corners(variant.sources[0].type);
    while (sources.size() < count) {
      sources.push_back(any_value(variant.sources[0].type, random));
      sources.push_back(random.bits() & 0xffffffff);
    }
    std::vector<uint64_t> results(sources.size());
    const unsigned bits = register_bits(variant.result);
    if (!convert_all(variant.instruction(), bits, sources, results)) continue;
    ++converted;
    ASSERT_NO_FATAL_FAILURE(compare(variant, sources, results));
  }
  EXPECT_GE(converted, 270u);
}

}  // namespace
}  // namespace km::reference
