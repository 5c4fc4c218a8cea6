#include "base/cuda/compute_capability.h"

#include <gtest/gtest.h>

#include "base/env.h"

namespace {

TEST(ComputeCapability, HasTwoNumbers) {
  EXPECT_EQ(km::parse_device_capability("8.9"), 89u);
  EXPECT_EQ(km::parse_device_capability("5.0"), 50u);
  EXPECT_EQ(km::parse_device_capability("12.9"), 129u);
  for (const char* text : {"", "8", "8.", ".9", "8.9.1", "8.10", "8,9", " 8.9", "8.9 ", "+8.9",
                           "4.9", "13.0", "-8.9", "sm_89", "99999999999.0"}) {
    EXPECT_FALSE(km::parse_device_capability(text)) << text;
  }
}

TEST(ComputeCapability, TheTableOfVariablesHasTheDefault) {
  const km::EnvEntry& entry = km::env_table()[static_cast<size_t>(km::EnvVar::KM_CPU_CC)];
  EXPECT_EQ(km::parse_device_capability(entry.default_value), km::kDefaultComputeCapability);
}

}  // namespace
