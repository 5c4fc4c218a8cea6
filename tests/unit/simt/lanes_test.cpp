// How many lanes a packet has, by what the kernel does and by the launch.
#include <gtest/gtest.h>

#include <array>
#include <string>

#include "simt/program/program.h"
#include "support/simt/kernel_of_text.h"
#include "support/simt/machines.h"

namespace km::simt {
namespace {

constexpr std::array<uint32_t, 3> kAnyLine = {0, 1, 1};

uint32_t lanes_of(const std::string& body, const Machine& machine,
                  std::array<uint32_t, 3> block = kAnyLine, uint16_t tools = 0) {
  const std::string text =
      ".visible .entry k(.param .u64 out) {\n"
      ".reg .b32 %r<40>; .reg .b64 %rd<3>;\n"
      "mov.u32 %r1, %tid.x;\n" +
      body + "ld.param.u64 %rd1, [out]; st.global.u32 [%rd1], %r1;\nret;\n}\n";
  const auto built = testing::kernel_of_text(text);
  if (!built.kernel) return 0;
  Variant variant;
  variant.block = block;
  variant.machine = machine;
  variant.tools = tools;
  return choose_lanes(*built.kernel, variant);
}

std::string adds(unsigned count) {
  std::string text;
  for (unsigned i = 0; i < count; ++i) text += "add.u32 %r1, %r1, %r1;\n";
  return text;
}

/// 30 values that are all alive before the first is used.
std::string many_values() {
  std::string text;
  for (unsigned r = 2; r < 32; ++r) text += "add.u32 %r" + std::to_string(r) + ", %r1, 1;\n";
  text += "bra $use;\n$use:\n";
  for (unsigned r = 2; r < 32; ++r) text += "xor.b32 %r1, %r1, %r" + std::to_string(r) + ";\n";
  return text;
}

TEST(Lanes, FewerTheLongerTheKernel) {
  EXPECT_EQ(lanes_of(adds(20), testing::machine_named("avx2")), 32u);
  EXPECT_EQ(lanes_of(adds(100), testing::machine_named("avx2")), 16u);
  EXPECT_EQ(lanes_of(adds(1000), testing::machine_named("avx2")), 8u);
  EXPECT_EQ(lanes_of(adds(1000), testing::machine_named("x86-64-v2")), 8u);
  EXPECT_EQ(lanes_of(adds(1000), testing::machine_named("avx512")), 32u);
  EXPECT_EQ(lanes_of(adds(2000), testing::machine_named("avx512")), 16u);
}

TEST(Lanes, FewerTheMoreValuesLive) {
  EXPECT_EQ(lanes_of(many_values() + adds(100), testing::machine_named("avx2")), 8u);
  EXPECT_EQ(lanes_of(many_values() + adds(100), testing::machine_named("avx512")), 32u);
}

TEST(Lanes, WholeWarpsWhereLanesMeet) {
  const std::string more = adds(2000);
  for (const char* first :
       {"mov.u32 %r2, %laneid;\n", "mov.u32 %r2, %warpid;\n", "mov.u32 %r2, %lanemask_lt;\n",
        "bar.warp.sync 0xffffffff;\n", "shfl.sync.idx.b32 %r2, %r1, 0, 31, 0xffffffff;\n"}) {
    EXPECT_EQ(lanes_of(first + more, testing::machine_named("avx2")), 32u) << first;
    EXPECT_EQ(lanes_of(first + more, testing::machine_named("avx512")), 32u) << first;
  }
}

/// Of a kernel with one more instruction, in which %r38 is 4127 and %r39 has all bits set.
uint32_t together_in(const std::string& body) {
  const std::string text =
      ".visible .entry k() {\n.reg .b32 %r<40>; .reg .pred %p<2>;\n"
      "mov.u32 %r1, %tid.x; mov.b32 %r38, 4127; mov.b32 %r39, -1;\n" +
      body + "ret;\n}\n";
  const auto built = testing::kernel_of_text(text);
  if (!built.kernel) return 0;
  ShapeOptions options;
  options.block = {64, 1, 1};
  return threads_together(*built.kernel, analyse_shapes(*built.kernel, options));
}

TEST(Lanes, TogetherInSegments) {
  const auto shuffle = [](const std::string& control, const std::string& members) {
    return together_in("shfl.sync.down.b32 %r2|%p1, %r1, 1, " + control + ", " + members + ";\n");
  };
  EXPECT_EQ(together_in(""), 1u);
  EXPECT_EQ(shuffle("0x1e1f", "0xffffffff"), 2u);
  EXPECT_EQ(shuffle("0x181f", "0xffffffff"), 8u);
  EXPECT_EQ(shuffle("0x100f", "0xffffffff"), 16u);
  EXPECT_EQ(shuffle("%r38", "%r39"), 16u);
  EXPECT_EQ(shuffle("0x081f", "0xffffffff"), 32u);
  EXPECT_EQ(shuffle("0x1f", "0xffffffff"), 32u);
  EXPECT_EQ(shuffle("0x101f", "0xffff"), 32u);
  EXPECT_EQ(shuffle("%r1", "0xffffffff"), 32u);
  EXPECT_EQ(together_in("bar.warp.sync 0xffffffff;\n"), 32u);
  EXPECT_EQ(together_in("mov.u32 %r2, %laneid;\n"), 32u);
}

TEST(Lanes, AllOfAWarpThatRunsInStep) {
  const Machine machine = testing::machine_named("avx2");
  EXPECT_EQ(lanes_of(adds(1000), machine, kAnyLine, check_tool::kInStep), 32u);
  EXPECT_EQ(lanes_of(adds(1000), machine, kAnyLine, check_tool::kRace), 8u);
}

TEST(Lanes, FitTheBlock) {
  const std::string long_code = adds(1000), medium = adds(100), short_code = adds(20);
  EXPECT_EQ(lanes_of(long_code, testing::machine_named("avx2"), {32, 1, 1}), 32u);
  EXPECT_EQ(lanes_of(long_code, testing::machine_named("avx2"), {64, 1, 1}), 8u);
  EXPECT_EQ(lanes_of(short_code, testing::machine_named("avx2"), {8, 4, 1}), 8u);
  EXPECT_EQ(lanes_of(short_code, testing::machine_named("avx2"), {8, 16, 1}), 8u);
  EXPECT_EQ(lanes_of(short_code, testing::machine_named("avx2"), {16, 16, 1}), 16u);
  EXPECT_EQ(lanes_of(medium, testing::machine_named("avx2"), {64, 4, 1}), 16u);
  EXPECT_EQ(lanes_of(short_code, testing::machine_named("avx2"), {0, 0, 0}), 32u);
  EXPECT_EQ(lanes_of(short_code, testing::machine_named("avx2"), {9, 16, 1}), 32u);
}

}  // namespace
}  // namespace km::simt
