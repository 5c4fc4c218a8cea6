// Textures and surfaces that are none: a launch ends with an error that says so.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "harness/compare.h"
#include "harness/session.h"

namespace km::kernels {
namespace {

constexpr uint64_t kNone[] = {0, 1, 0x3d00000000000000, 0x3d000000003fffff, UINT64_MAX};

TEST(Images, HandlesThatAreNoneEndTheLaunch) {
  if (device_uri().rfind("cpu", 0) != 0) GTEST_SKIP() << "GPUs look at no handle";
  const char* const kernels[] = {"fetch",         "fetch_halves", "gather", "query",
                                 "query_level",   "load",         "store",  "store_formatted",
                                 "query_surface", "reduce"};
  for (const char* kernel : kernels) {
    Session own;
    EXPECT_EQ(own.ptx_file("images.ptx").try_run(kernel, Shape{{2}, {40}}, kNone[3]),
              KM_ERROR_ILLEGAL_ADDRESS)
        << kernel;
    EXPECT_NE(last_error_message().find("0x3d000000003fffff names no texture or surface"),
              std::string::npos)
        << last_error_message();
  }
  for (const uint64_t handle : kNone) {
    Session own;
    EXPECT_EQ(own.ptx_file("images.ptx").try_run("fetch", Shape{{1}, {7}}, handle),
              KM_ERROR_ILLEGAL_ADDRESS);
  }
}

TEST(Images, HandlesThatAreNoneAreOfNoType) {
  if (device_uri().rfind("cpu", 0) != 0) GTEST_SKIP() << "GPUs look at no handle";
  for (const uint64_t handle : kNone) {
    Buffer<uint32_t> out(session(), std::vector<uint32_t>{9, 9});
    session().ptx_file("images.ptx").run("is_one", Shape{{1}, {33}}, handle, out);
    expect_bits("is_one", out.read(), {0, 0});
  }
}

}  // namespace
}  // namespace km::kernels
