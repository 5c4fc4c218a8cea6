// The interpreter's own semantics: barriers, warp operations, calls, memory, faults.
#include <gtest/gtest.h>

#include "ptx/ptx.h"
#include "reference/machine.h"

namespace km::reference {
namespace {

constexpr const char* kHeader = ".version 8.5\n.target sm_90\n.address_size 64\n";

/// Runs `body` with %tid.x in %t and the address of the thread's word of `out` in %o.
struct Trial {
  std::vector<uint32_t> out;
  std::string error;

  Trial(const std::string& body, uint32_t threads, uint32_t blocks = 1,
        const std::string& more = "")
      : out(uint64_t{threads} * blocks) {
    const std::string text = std::string(kHeader) + more +
                             ".visible .entry k(.param .u64 p) {\n"
                             ".reg .pred %p<4>; .reg .b32 %r<12>, %t; .reg .b64 %l<8>, %o, %base;\n"
                             "mov.u32 %t, %tid.x; mov.u32 %r10, %ctaid.x; mov.u32 %r11, %ntid.x;\n"
                             "mad.lo.u32 %r10, %r10, %r11, %t; ld.param.u64 %base, [p];\n"
                             "mad.wide.u32 %o, %r10, 4, %base;\n" +
                             body + "\nret;\n}\n";
    auto module = ptx::parse(text, "test.ptx");
    if (!module) {
      error = module.error().message;
      return;
    }
    Machine machine(*module);
    Launch launch;
    launch.kernel = "k";
    launch.grid[0] = blocks;
    launch.block[0] = threads;
    launch.step_limit = 1000000;
    launch.arguments = {machine.map(reinterpret_cast<uint8_t*>(out.data()), 4 * out.size())};
    if (Status status = machine.run(launch); !status) error = status.error().message;
  }
};

TEST(Machine, ThreadsGoTheirOwnWays) {
  const Trial run(
      "mov.u32 %r1, 0; LOOP: setp.ge.u32 %p1, %r1, %t; @%p1 bra OUT;\n"
      "add.u32 %r1, %r1, 1; bra LOOP; OUT: mul.lo.u32 %r1, %r1, 3;\n"
      "st.global.u32 [%o], %r1;",
      40);
  ASSERT_EQ(run.error, "");
  for (uint32_t i = 0; i < 40; ++i) EXPECT_EQ(run.out[i], 3 * i);
}

TEST(Machine, BarriersSeparateStoresAndLoads) {
  const Trial run(
      ".shared .b32 s[64]; mov.u32 %r1, s; mad.lo.u32 %r2, %t, 4, %r1;\n"
      "st.shared.u32 [%r2], %t; bar.sync 0; xor.b32 %r3, %t, 63;\n"
      "mad.lo.u32 %r3, %r3, 4, %r1; ld.shared.u32 %r4, [%r3]; st.global.u32 [%o], %r4;",
      64, 2);
  ASSERT_EQ(run.error, "");
  for (uint32_t i = 0; i < 128; ++i) EXPECT_EQ(run.out[i], 63 - i % 64);
}

TEST(Machine, ExitedThreadsCountAsArrived) {
  const Trial run(
      "setp.gt.u32 %p1, %t, 5; @%p1 exit; bar.red.popc.u32 %r1, 0, !%p1;\n"
      "st.global.u32 [%o], %r1;",
      40);
  ASSERT_EQ(run.error, "");
  EXPECT_EQ(run.out[0], 6u);
  EXPECT_EQ(run.out[6], 0u);
}

TEST(Machine, ProducersArriveAndConsumersWait) {
  const Trial run(
      ".shared .b32 s; setp.lt.u32 %p1, %t, 32; @%p1 bra WAIT;\n"
      "mov.u32 %r1, s; st.shared.u32 [%r1], 77; bar.arrive 1, 64; bra END;\n"
      "WAIT: bar.sync 1, 64; mov.u32 %r1, s; ld.shared.u32 %r2, [%r1];\n"
      "st.global.u32 [%o], %r2; END:",
      64);
  ASSERT_EQ(run.error, "");
  EXPECT_EQ(run.out[0], 77u);
  EXPECT_EQ(run.out[40], 0u);
}

TEST(Machine, WarpOperationsMeetAtDifferentPlaces) {
  const Trial run(
      "and.b32 %r1, %t, 1; setp.eq.u32 %p1, %r1, 0; @%p1 bra EVEN;\n"
      "redux.sync.add.u32 %r2, %t, 0xffffffff; add.u32 %r2, %r2, 1000; bra OUT;\n"
      "EVEN: redux.sync.add.u32 %r2, %t, 0xffffffff; OUT: st.global.u32 [%o], %r2;",
      32);
  ASSERT_EQ(run.error, "");
  EXPECT_EQ(run.out[0], 496u);
  EXPECT_EQ(run.out[1], 1496u);
}

TEST(Machine, ShufflesVotesAndMatches) {
  const Trial run(
      "shfl.sync.down.b32 %r1|%p1, %t, 4, 0x1f, 0xffffffff;\n"
      "vote.sync.ballot.b32 %r2, %p1, 0xffffffff; and.b32 %r3, %t, 3;\n"
      "match.any.sync.b32 %r4, %r3, 0xffffffff; xor.b32 %r5, %r1, %r2;\n"
      "xor.b32 %r5, %r5, %r4; st.global.u32 [%o], %r5;",
      32);
  ASSERT_EQ(run.error, "");
  for (uint32_t i = 0; i < 32; ++i) {
    const uint32_t from = i + 4 < 32 ? i + 4 : i;
    EXPECT_EQ(run.out[i], from ^ 0x0fffffffu ^ (0x11111111u << i % 4));
  }
}

TEST(Machine, CallsRecursionAndFunctionPointers) {
  const char* const functions =
      ".func (.param .b32 r) fact(.param .b32 n) {\n"
      ".reg .pred %p; .reg .b32 %a<4>;\n"
      "ld.param.b32 %a0, [n]; mov.b32 %a1, 1; setp.le.u32 %p, %a0, 1; @%p bra OUT;\n"
      "sub.u32 %a2, %a0, 1; { .param .b32 x; .param .b32 y; st.param.b32 [x], %a2;\n"
      "call (y), fact, (x); ld.param.b32 %a3, [y]; } mul.lo.u32 %a1, %a3, %a0;\n"
      "OUT: st.param.b32 [r], %a1; ret; }\n";
  const Trial run(
      "and.b32 %r1, %t, 7; mov.u64 %l1, fact;\n"
      "{ .param .b32 x; .param .b32 y; st.param.b32 [x], %r1;\n"
      "P: .callprototype (.param .b32 _) _ (.param .b32 _);\n"
      "call (y), %l1, (x), P; ld.param.b32 %r2, [y]; } st.global.u32 [%o], %r2;",
      8, 1, functions);
  ASSERT_EQ(run.error, "");
  EXPECT_EQ(run.out, (std::vector<uint32_t>{1, 1, 2, 6, 24, 120, 720, 5040}));
}

TEST(Machine, LocksBetweenLanesAndFlagsBetweenBlocks) {
  const Trial run(
      "add.u64 %l1, %base, 4; setp.ne.u32 %p1, %t, 0;\n"
      "LOCK: atom.global.cas.b32 %r1, [%base], 0, 1; setp.ne.u32 %p2, %r1, 0;\n"
      "@%p2 bra LOCK; ld.volatile.global.u32 %r2, [%l1]; add.u32 %r2, %r2, 1;\n"
      "st.volatile.global.u32 [%l1], %r2; membar.gl; atom.global.exch.b32 %r1, [%base], 0;\n"
      "WAIT: ld.volatile.global.u32 %r3, [%l1]; setp.lt.u32 %p3, %r3, 64;\n"
      "@%p3 bra WAIT;",
      32, 2);
  ASSERT_EQ(run.error, "");
  EXPECT_EQ(run.out[1], 64u);
}

TEST(Machine, GenericAddressesOfLocalAndSharedMemory) {
  const Trial run(
      ".local .b32 own[4]; .shared .b32 all[32]; mov.u64 %l1, own;\n"
      "cvta.local.u64 %l2, %l1; st.u32 [%l2+8], %t; ld.local.u32 %r1, [%l1+8];\n"
      "isspacep.local %p1, %l2; mov.u64 %l3, all; cvta.shared.u64 %l4, %l3;\n"
      "mad.wide.u32 %l4, %t, 4, %l4; st.u32 [%l4], %r1; cvta.to.shared.u64 %l5, %l4;\n"
      "ld.shared.u32 %r2, [%l5]; selp.u32 %r3, 100, 0, %p1; add.u32 %r2, %r2, %r3;\n"
      "st.global.u32 [%o], %r2;",
      32);
  ASSERT_EQ(run.error, "");
  for (uint32_t i = 0; i < 32; ++i) EXPECT_EQ(run.out[i], 100 + i);
}

TEST(Machine, FaultsSayWhere) {
  EXPECT_NE(Trial("ld.global.u32 %r1, [%o+65536];", 1).error.find("illegal address"),
            std::string::npos);
  EXPECT_NE(Trial("ld.global.u32 %r1, [%o+2];", 1).error.find("misaligned"), std::string::npos);
  EXPECT_NE(Trial("trap;", 1).error.find("trap"), std::string::npos);
  EXPECT_NE(Trial("L: bra L;", 1).error.find("limit of steps"), std::string::npos);
  EXPECT_NE(Trial("setp.eq.u32 %p1, %t, 0; @%p1 bar.sync 0, 64;", 32).error.find("wait"),
            std::string::npos);
}

}  // namespace
}  // namespace km::reference
