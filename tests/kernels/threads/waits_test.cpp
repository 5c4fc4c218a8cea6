#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "harness/session.h"

namespace km::kernels {
namespace {

/// All blocks come out of the loop, few and more than the machine has threads, and have seen all.
void expect_that_all_come(const char* kernel) {
  for (const uint32_t blocks : {3u, 40u}) {
    Buffer<uint32_t> arrived(session(), std::vector<uint32_t>(4)), out(session(), blocks);
    Buffer<uint32_t> scratch(session(), std::vector<uint32_t>(64 * blocks));
    session()
        .cuda("threads/waits.cu")
        .run(kernel, Shape{{blocks}, {64}}, arrived, out, blocks, scratch);
    EXPECT_EQ(out.read(), std::vector<uint32_t>(blocks, blocks)) << kernel;
  }
}

TEST(Waits, ThroughMemory) {
  for (const char* kernel : {"through_shared", "through_a_flag", "through_a_structure",
                             "through_global", "through_local", "through_a_broadcast"}) {
    expect_that_all_come(kernel);
  }
}

TEST(Waits, ThroughOtherThreads) {
  for (const char* kernel :
       {"through_a_shuffle", "through_votes", "through_barriers", "semaphore", "named_barrier"}) {
    expect_that_all_come(kernel);
  }
}

TEST(Waits, ByOtherLoads) {
  expect_that_all_come("past_the_caches");
  expect_that_all_come("weak_behind_a_fence");
}

TEST(Waits, WithMoreInTheLoop) {
  for (const char* kernel : {"with_back_off", "with_a_bound", "with_a_jump"}) {
    expect_that_all_come(kernel);
  }
}

TEST(Waits, WithinABlock) {
  expect_that_all_come("of_one_warp_for_another");
  expect_that_all_come("of_one_thread_for_the_block");
}

}  // namespace
}  // namespace km::kernels
