#include "base/env.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <string_view>

namespace km {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

class EnvTest : public ::testing::Test {
 protected:
  void TearDown() override {
    for (const char* name : {"KM_CPU_THREADS", "KM_CPU_PIN", "KM_CPU_THREAD"}) unsetenv(name);
  }
};

TEST_F(EnvTest, EmptyCountsAsUnset) {
  setenv("KM_CPU_THREADS", "", 1);
  EXPECT_EQ(env(EnvVar::KM_CPU_THREADS), std::nullopt);
  setenv("KM_CPU_THREADS", "3", 1);
  EXPECT_EQ(env(EnvVar::KM_CPU_THREADS), "3");
}

TEST_F(EnvTest, IntegersAreCheckedAgainstTheirRange) {
  EXPECT_EQ(*env_integer(EnvVar::KM_CPU_THREADS, 1, 8, 5), 5u);
  setenv("KM_CPU_THREADS", "8", 1);
  EXPECT_EQ(*env_integer(EnvVar::KM_CPU_THREADS, 1, 8, 5), 8u);
  for (const char* bad : {"9", "0", "-1", "2x", "x", " 2", "99999999999999999999999"}) {
    setenv("KM_CPU_THREADS", bad, 1);
    const Result<uint64_t> value = env_integer(EnvVar::KM_CPU_THREADS, 1, 8, 5);
    ASSERT_FALSE(value) << bad;
    EXPECT_EQ(value.error().status, KM_ERROR_INVALID_ARGUMENT);
    EXPECT_THAT(value.error().message, HasSubstr("KM_CPU_THREADS is '" + std::string(bad) + "'"));
  }
}

TEST_F(EnvTest, SwitchesTakeUsualWords) {
  EXPECT_TRUE(*env_flag(EnvVar::KM_CPU_PIN, true));
  for (const char* yes : {"1", "on", "true", "yes"}) {
    setenv("KM_CPU_PIN", yes, 1);
    EXPECT_TRUE(*env_flag(EnvVar::KM_CPU_PIN, false)) << yes;
  }
  for (const char* no : {"0", "off", "false", "no"}) {
    setenv("KM_CPU_PIN", no, 1);
    EXPECT_FALSE(*env_flag(EnvVar::KM_CPU_PIN, true)) << no;
  }
  setenv("KM_CPU_PIN", "maybe", 1);
  EXPECT_FALSE(env_flag(EnvVar::KM_CPU_PIN, true));
}

TEST_F(EnvTest, UnknownNamesAreNamedWithTheNearest) {
  setenv("KM_CPU_THREAD", "1", 1);
  EXPECT_THAT(unknown_env_names(),
              Contains("unknown environment variable 'KM_CPU_THREAD' is ignored. Did you mean "
                       "'KM_CPU_THREADS'?"));
  unsetenv("KM_CPU_THREAD");
  for (const std::string& line : unknown_env_names()) {
    EXPECT_THAT(line, Not(HasSubstr("'KM_CPU_THREAD'")));
  }
}

TEST_F(EnvTest, EveryVariableIsDescribed) {
  for (const EnvEntry& entry : env_table()) {
    EXPECT_EQ(std::string_view(entry.name).substr(0, 3), "KM_");
    EXPECT_NE(*entry.values, '\0') << entry.name;
    EXPECT_EQ(std::string_view(entry.text).back(), '.') << entry.name;
  }
}

}  // namespace
}  // namespace km
