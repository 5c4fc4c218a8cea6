// Loading one library.
#include "compile/nvrtc.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace {

using testing::HasSubstr;

TEST(LoadNvrtc, AnotherLibraryIsNamed) {
  const auto loaded = km::load_nvrtc("libm.so.6");
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.error().status, KM_ERROR_NVRTC_UNAVAILABLE);
  EXPECT_THAT(loaded.error().message, HasSubstr("libm.so.6 is not NVRTC"));
}

TEST(LoadNvrtc, MissingLibraryIsNamed) {
  const auto loaded = km::load_nvrtc("/nowhere/libnvrtc.so");
  ASSERT_FALSE(loaded);
  EXPECT_THAT(loaded.error().message, HasSubstr("/nowhere/libnvrtc.so"));
}

}  // namespace
