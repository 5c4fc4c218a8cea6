// Loading one library, and our prototypes against NVRTC's own header where there is one.
#include "compile/nvrtc.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#if __has_include(<nvrtc.h>)
#include <nvrtc.h>
#define KM_HAS_NVRTC_HEADER 1
#else
#define KM_HAS_NVRTC_HEADER 0
#endif

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

#if KM_HAS_NVRTC_HEADER
/// The header's type as ours spells it: its enum is int, its program an opaque pointer.
template <class T>
struct Plain {
  using Type = T;
};
template <>
struct Plain<nvrtcResult> {
  using Type = int;
};
template <>
struct Plain<nvrtcProgram> {
  using Type = void*;
};
template <>
struct Plain<nvrtcProgram*> {
  using Type = void**;
};
template <class R, class... A>
struct Plain<R (*)(A...)> {
  using Type = typename Plain<R>::Type (*)(typename Plain<A>::Type...);
};

TEST(Prototypes, AreThoseOfTheHeader) {
#define X(required, result, name, parameters) \
  EXPECT_TRUE((std::is_same_v<Plain<decltype(&::name)>::Type, result(*) parameters>)) << #name;
#include "compile/nvrtc_symbols.inc"
#undef X
}

TEST(Prototypes, ResultsAreThoseOfTheHeader) {
  EXPECT_EQ(int{km::kNvrtcSuccess}, int{NVRTC_SUCCESS});
  EXPECT_EQ(int{km::kNvrtcOutOfMemory}, int{NVRTC_ERROR_OUT_OF_MEMORY});
  EXPECT_EQ(int{km::kNvrtcInvalidOption}, int{NVRTC_ERROR_INVALID_OPTION});
  EXPECT_EQ(int{km::kNvrtcCompilation}, int{NVRTC_ERROR_COMPILATION});
  EXPECT_EQ(int{km::kNvrtcBuiltinOperationFailure}, int{NVRTC_ERROR_BUILTIN_OPERATION_FAILURE});
  EXPECT_EQ(int{km::kNvrtcNameExpressionNotValid}, int{NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID});
}
#else
TEST(Prototypes, AreThoseOfTheHeader) { GTEST_SKIP() << "no nvrtc.h on this machine"; }
#endif

}  // namespace
