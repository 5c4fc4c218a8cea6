// The contents of an exception.
#include <cerrno>
#include <stdexcept>
#include <type_traits>

#include "support.h"

using km_test::contains;
using km_test::error_of;

TEST(Error, KeepsAllThatTheLibrarySays) {
  const km::error error = error_of([] { km::device("gpu:0:1"); });
  EXPECT_EQ(error.status(), KM_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(error.category(), KM_ERROR_CATEGORY_USAGE);
  EXPECT_TRUE(contains(error.what(), "km_device_open")) << error.what();
  EXPECT_TRUE(contains(error.what(), "gpu:0:1")) << error.what();
  EXPECT_STRNE(error.suggestion(), "");
  EXPECT_EQ(error.native_code(), 0);
}

TEST(Error, HasTheNativeCode) {
  const km::context context("cpu");
  const km::error error = error_of([&] { km::module::load_file(context, "no/such/file.ptx"); });
  EXPECT_EQ(error.status(), KM_ERROR_NOT_FOUND);
  EXPECT_EQ(error.native_code(), ENOENT) << error.what();
  EXPECT_TRUE(contains(error.what(), "no/such/file.ptx")) << error.what();
}

TEST(Error, IsARuntimeErrorThatCopiesWithoutThrowing) {
  EXPECT_THROW(km::device("nowhere"), std::runtime_error);
  static_assert(std::is_nothrow_copy_constructible_v<km::error>);
  static_assert(std::is_nothrow_copy_constructible_v<km::compile_error>);
  const km::error first = error_of([] { km::device("nowhere"); });
  const km::error copy = first;
  EXPECT_STREQ(copy.what(), first.what());
  EXPECT_EQ(copy.status(), first.status());
}

TEST(Error, TextIsThatOfTheFailureNotOfAnEarlierOne) {
  error_of([] { km::device("nowhere"); });
  const km::error error = error_of([] { km::stream().synchronize(); });
  EXPECT_TRUE(contains(error.what(), "km_stream_synchronize")) << error.what();
  EXPECT_FALSE(contains(error.what(), "nowhere")) << error.what();
}

TEST(Error, StatusesThatAreNoErrorsHaveTextsToo) {
  error_of([] { km::device("nowhere"); });
  const km::error error(KM_NOT_READY);
  EXPECT_TRUE(contains(error.what(), "KM_NOT_READY")) << error.what();
  EXPECT_EQ(error.category(), KM_ERROR_CATEGORY_NONE);
  EXPECT_STREQ(km::status_name(KM_ERROR_TRAP), "KM_ERROR_TRAP");
  EXPECT_STREQ(km::status_name(12345), "unknown status");
}
