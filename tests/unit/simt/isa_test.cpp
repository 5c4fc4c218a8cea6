#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "simt/engine.h"

namespace km::simt {
namespace {

using ::testing::HasSubstr;

/// Sets KM_CPU_ISA for one test.
class SelectIsa : public ::testing::Test {
 protected:
  void SetUp() override {
    const char* old = std::getenv("KM_CPU_ISA");
    if (old) old_ = old;
  }
  void TearDown() override { set(old_.empty() ? nullptr : old_.c_str()); }
  static void set(const char* value) {
    value ? setenv("KM_CPU_ISA", value, 1) : unsetenv("KM_CPU_ISA");
  }

 private:
  std::string old_;
};

TEST(Isa, HasTheNamesOfTheEnvironmentTable) {
  EXPECT_EQ(text_of(Isa::x86_64_v2), "x86-64-v2");
  EXPECT_EQ(text_of(Isa::avx2), "avx2");
  EXPECT_EQ(text_of(Isa::avx512), "avx512");
}

TEST_F(SelectIsa, TakesTheBestWhenUnset) {
  set(nullptr);
  const Result<Isa> isa = select_isa();
  ASSERT_TRUE(isa);
  EXPECT_EQ(*isa, best_isa());
}

TEST_F(SelectIsa, AgreesWithTheCompilersViewOfTheMachine) {
  __builtin_cpu_init();
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  const bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
                      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq");
  EXPECT_EQ(best_isa() >= Isa::avx2, avx2);
  EXPECT_EQ(best_isa() == Isa::avx512, avx2 && avx512);
}

TEST_F(SelectIsa, ObeysTheVariable) {
  for (Isa isa : {Isa::x86_64_v2, Isa::avx2, Isa::avx512}) {
    set(std::string(text_of(isa)).c_str());
    const Result<Isa> selected = select_isa();
    ASSERT_EQ(bool(selected), isa <= best_isa()) << text_of(isa);
    if (selected) {
      EXPECT_EQ(*selected, isa);
    } else {
      EXPECT_EQ(selected.error().status, KM_ERROR_NOT_SUPPORTED);
      EXPECT_THAT(selected.error().message, HasSubstr(std::string(text_of(best_isa()))));
    }
  }
}

TEST_F(SelectIsa, NamesWhatItDoesNotKnow) {
  set("avx9");
  const Result<Isa> isa = select_isa();
  ASSERT_FALSE(isa);
  EXPECT_EQ(isa.error().status, KM_ERROR_INVALID_ARGUMENT);
  EXPECT_THAT(isa.error().message, HasSubstr("avx9"));
}

}  // namespace
}  // namespace km::simt
