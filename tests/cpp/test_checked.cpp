// Contexts whose kernels have their accesses tested. This file is a debug build, as programs that
// are compiled without NDEBUG are.
#undef NDEBUG
#include <cstdint>

#include "support.h"

namespace {

using km_test::error_of;

bool contains(const km::error& error, const char* part) {
  return std::string(error.what()).find(part) != std::string::npos;
}

TEST(Checked, DebugBuildsFindWrongAccesses) {
  const km::context context("cpu");
  EXPECT_TRUE(context.is_checked());
  const km::stream stream(context);
  const km::slice<std::uint32_t> before(context, 1024), out(context, 1024), after(context, 1024);
  const km::function fill = km_test::load(context).function("fill_index");
  stream.launch(fill).grid(5).block(256).args(out, 0u, 1034u).submit();
  const km::error error = error_of([&] { stream.synchronize(); });
  EXPECT_EQ(error.status(), KM_ERROR_ILLEGAL_ADDRESS);
  EXPECT_TRUE(contains(error, "past the end of the 4096-byte allocation")) << error.what();
  EXPECT_TRUE(contains(error, "(parameter 0 'out')")) << error.what();
  EXPECT_NE(std::string(error.suggestion()).find("call context::reset_device."), std::string::npos)
      << error.suggestion();
}

TEST(Checked, FlagsDecideWhereTheyAreGiven) {
  EXPECT_FALSE(km::context("cpu", KM_CONTEXT_ORDERED).is_checked());
  EXPECT_TRUE(km::context("cpu", KM_CONTEXT_CHECKED).is_checked());
}

struct Arguments : km_test::Fixture {
  km::function fill = km_test::load(context).function("fill_index");
  km::slice<std::uint32_t> out{context, 4};
};

TEST_F(Arguments, AreRefusedWhereTheyAreOfAnotherKind) {
  const km::error step =
      error_of([&] { stream.launch(fill).grid(1).block(4).args(out, 1.0f, 4u); });
  EXPECT_EQ(step.status(), KM_ERROR_INVALID_LAUNCH);
  EXPECT_TRUE(
      contains(step,
               "parameter 1 'base' of kernel 'fill_index' is an integer of 4 bytes; 'float' "
               "was given: give an integer of 4 bytes"))
      << step.what();
  const km::error call = error_of([&] { stream.launch_kernel(fill, 1, 4, 0, out, 1u, 4.0f); });
  EXPECT_EQ(call.status(), KM_ERROR_INVALID_LAUNCH);
  EXPECT_TRUE(
      contains(call, "km::launch_kernel: parameter 2 'n' of kernel 'fill_index' is an integer"))
      << call.what();
  const km::error number = error_of([&] { stream.launch_kernel(fill, 1, 4, 0, 1u, 1u, 4u); });
  EXPECT_TRUE(contains(number, "is an address of 8 bytes; 'int' was given: give a slice"))
      << number.what();
  const km::error many = error_of([&] { stream.launch_kernel(fill, 1, 4, 0, out, 1u, 4u, 5u); });
  EXPECT_TRUE(contains(many, "kernel 'fill_index' has 3 parameters")) << many.what();
}

}  // namespace
