// The size of a block's shared memory, and what CUDA reserves behind it, which groups of several
// warps use for their barriers.
#include <gtest/gtest.h>

#include "harness/compare.h"
#include "harness/session.h"

namespace km::kernels {
namespace {

using std::vector;

constexpr uint32_t kReserved = 1024;

/// Where the reserved memory lies on other devices, and what for, is their drivers' to say.
bool is_ours() { return device_uri().rfind("cpu", 0) == 0; }

void check_shared_end(uint32_t blocks, uint32_t threads, uint32_t dynamic_bytes) {
  const uint32_t own = (260 + 15) / 16 * 16 + dynamic_bytes, total = (own + 127) / 128 * 128;
  Buffer<uint32_t> out(session(), 12 * blocks * threads);
  Shape shape{{blocks}, {threads}};
  shape.shared_bytes = dynamic_bytes;
  session().ptx_file("shared_end.ptx").run("shared_end", shape, out);
  const vector<uint32_t> found = out.read();
  for (uint32_t i = 0; i < blocks * threads; ++i) {
    const uint32_t* const x = &found[size_t{12} * i];
    EXPECT_EQ(x[1] - x[0], x[2]);  // begin, end, cap
    EXPECT_EQ(x[2], kReserved);
    EXPECT_LE(x[3] + 4, x[1]);
    EXPECT_LE(x[4] + 288, x[1]) << "cooperative groups use 288 bytes";
    EXPECT_EQ(x[7], dynamic_bytes);
    EXPECT_EQ(x[6], x[5] + kReserved);
    EXPECT_EQ(x[5], total);
    EXPECT_EQ(x[8], 0u);
    EXPECT_EQ(x[9], 0u);
    EXPECT_EQ(x[10], i) << "the block's own element";
    EXPECT_EQ(x[11], i | 0x80000000);
  }
}

TEST(SharedEnd, ReservedMemoryIsNobodyElses) {
  if (!is_ours()) GTEST_SKIP();
  check_shared_end(5, 64, 0);
  check_shared_end(3, 40, 1);
  check_shared_end(2, 64, 4096);
}

TEST(SharedEnd, ReservedMemoryIsZeroWhenABlockBegins) {
  if (!is_ours()) GTEST_SKIP();
  const uint32_t blocks = 100;
  Buffer<uint32_t> out(session(), 2 * blocks);
  session().ptx_file("shared_end.ptx").run("zeros", Shape{{blocks}, {1}}, out);
  vector<uint32_t> want;
  for (uint32_t i = 0; i < blocks; ++i) want.insert(want.end(), {0, kReserved});
  expect_bits("zeros", out.read(), want);
}

}  // namespace
}  // namespace km::kernels
