// Kernels so large that LLVM is asked for less (simt/object/target.cpp, promote.cpp): what they
// compute stays the same.
#include <array>
#include <functional>

#include <gtest/gtest.h>

#include "harness/compare.h"
#include "harness/inputs.h"
#include "harness/session.h"

namespace km::kernels {
namespace {

using std::string;
using std::to_string;

constexpr uint32_t kRegisters = 24, kThreads = 96;

using State = std::array<uint32_t, kRegisters>;

/// Register `to` becomes a * b + c; where `skips`, only in threads whose a is odd.
struct Step {
  uint32_t to, a, b, c;
  bool skips;
};

/// Step `i` of a program in which every `branch_every`-th step is skipped by some threads.
Step step_of(uint32_t i, uint32_t branch_every) {
  const bool skips = branch_every != 0 && i % branch_every == 0;
  return {i * 5 % kRegisters, i * 7 % kRegisters, (i * 11 + 3) % kRegisters,
          (i * 13 + 8) % kRegisters, skips};
}

/// What makes a kernel run in warps however long it is.
constexpr const char* kSeesLane = "  mov.u32 %r63, %laneid;\n";

string ptx_of(uint32_t steps, uint32_t branch_every, const char* more) {
  string text = R"(.version 8.0
.target sm_90
.address_size 64
.visible .entry huge(.param .u64 input, .param .u64 output)
{
  .reg .b32 %r<64>;
  .reg .b64 %rd<8>;
  .reg .pred %p<2>;
  ld.param.u64 %rd0, [input];
  ld.param.u64 %rd1, [output];
  mov.u32 %r60, %ctaid.x;
  mov.u32 %r61, %ntid.x;
  mov.u32 %r62, %tid.x;
  mad.lo.u32 %r60, %r60, %r61, %r62;
  mul.wide.u32 %rd2, %r60, 4;
  add.u64 %rd0, %rd0, %rd2;
  add.u64 %rd1, %rd1, %rd2;
  ld.global.u32 %r0, [%rd0];
)";
  text += more;
  for (uint32_t r = 1; r < kRegisters; ++r) {
    text += "  add.u32 %r" + to_string(r) + ", %r" + to_string(r - 1) + ", %r60;\n";
  }
  for (uint32_t i = 0; i < steps; ++i) {
    const Step step = step_of(i, branch_every);
    const string label = "$next" + to_string(i);
    if (step.skips) {
      text += "  and.b32 %r63, %r" + to_string(step.a) + ", 1;\n  setp.eq.u32 %p0, %r63, 0;\n";
      text += "  @%p0 bra " + label + ";\n";
    }
    text += "  mad.lo.u32 %r" + to_string(step.to) + ", %r" + to_string(step.a) + ", %r" +
            to_string(step.b) + ", %r" + to_string(step.c) + ";\n";
    if (step.skips) text += label + ":\n";
  }
  for (uint32_t r = 1; r < kRegisters; ++r) text += "  xor.b32 %r0, %r0, %r" + to_string(r) + ";\n";
  return text + "  st.global.u32 [%rd1], %r0;\n  ret;\n}\n";
}

uint32_t expected(uint32_t value, uint32_t thread, uint32_t steps, uint32_t branch_every) {
  State r;
  r[0] = value;
  for (uint32_t i = 1; i < kRegisters; ++i) r[i] = r[i - 1] + thread;
  for (uint32_t i = 0; i < steps; ++i) {
    const Step step = step_of(i, branch_every);
    if (!step.skips || r[step.a] % 2 != 0) r[step.to] = r[step.a] * r[step.b] + r[step.c];
  }
  uint32_t result = r[0];
  for (uint32_t i = 1; i < kRegisters; ++i) result ^= r[i];
  return result;
}

void run_huge(uint32_t steps, uint32_t branch_every, const char* more = "") {
  const auto module = session().ptx_text(ptx_of(steps, branch_every, more), "huge.ptx");
  const auto values = random_u32(kThreads, steps);
  Buffer<uint32_t> in(session(), values), out(session(), kThreads);
  module->run("huge", cover(kThreads, 48), in, out);
  std::vector<uint32_t> want;
  for (uint32_t thread = 0; thread < kThreads; ++thread) {
    want.push_back(expected(values[thread], thread, steps, branch_every));
  }
  expect_bits("huge", out.read(), want);
}

TEST(Huge, RegistersByBlock) { run_huge(10'000, 0); }
TEST(Huge, RegistersByBlockInWarps) { run_huge(10'000, 0, kSeesLane); }
TEST(Huge, NotCombined) { run_huge(31'000, 250); }
TEST(Huge, VariablesInMemory) { run_huge(4'500, 3); }

}  // namespace
}  // namespace km::kernels
