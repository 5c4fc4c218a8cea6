// Which forms are PTX and which are not: what NVIDIA's assembler takes and refuses (ptxas 12.9).
#include "ptx/checks/program_check.h"
#include "ptx/target.h"
#include "support.h"

namespace km::ptx::test {
namespace {

/// `body` in a kernel with an array in each space.
std::string with_arrays(std::string_view body) {
  return kernel(
      ".local .align 16 .b32 lvar[8]; .reg .v2 .u32 v; .reg .v4 .u32 w; .reg .u16 u; "
      ".reg .s16 t; .reg .f16x2 hh; .param .b32 pa;\n" +
      std::string(body));
}

class Taken : public testing::TestWithParam<const char*> {};
TEST_P(Taken, Parses) { parse_good(with_arrays(GetParam())); }

class Refused : public testing::TestWithParam<const char*> {};
TEST_P(Refused, IsInvalid) { EXPECT_NE(error_of(with_arrays(GetParam())), ""); }

constexpr const char* kTakenOperands[] = {
    "vmad.s32.s32.s32 %r1, -%r2, -%r3, -%r4;",
    "vmad.s32.s32.s32.po %r1, -%r2, -%r3, %r4;",
    // Braces around one register, of ld, st and mov.
    "ld.global.b32 {%r1}, [%rd1];",
    "st.global.b32 [%rd1], { %r1 };",
    "st.global.b32 [%rd1], {5};",
    "mov.b32 {%r1}, %r2;",
    "mov.b32 %r1, {%r2};",
    "ldu.global.u32 {%r1}, [%rd1];",
    // Vectors.
    "mov.v2.u32 v, {5, 6};",
    "mov.v2.u32 {%r1, %r2}, {%r2, %r1};",
    "mov.v4.u32 w, %ntid;",
    "mov.v4.f32 {%f1, %f2, _, %f4}, {0f00000000, 1.0, %f1, %f2};",
    "mov.v2.f64 {%fd1, %fd2}, {%fd2, %fd1};",
    "ld.global.v2.u32 v, [%rd1];",
    ".reg .v2 .u32 q<3>; mov.u32 q1.x, q2.y;",
    "ld.global.v2.u32 {%r1, _}, [%rd1];",
    "st.global.v2.b32 [%rd1], {%r1, %f1};",
    "st.global.v8.b8 [%rd1], {%rs1,%rs1,%rs1,%rs1,%rs1,%rs1,%rs1,%rs1};",
    // Negated predicates.
    "mov.pred %p1, !%p2;",
    "not.pred %p1, !%p2;",
    "and.pred %p1, !%p2, %p3;",
    "or.pred %p1, %p2, !%p3;",
    "xor.pred %p1, !%p2, !%p3;",
    "selp.u32 %r1, 0, 1, !%p3;",
    "setp.lt.and.u32 %p1, %r0, 2, !%p2;",
    "vote.sync.ballot.b32 %r1, !%p2, -1;",
    "bar.red.popc.u32 %r1, 0, !%p2;",
    "selp.u32 %r1, 1, 2, 1;",
    "and.pred %p1, 1, %p2;",
    // A register and a constant.
    "mov.u32 %r1, %r2+1;",
    "add.u32 %r1, %r2+1, %r3+3*4;",
    "add.u16 u, u+-1, u;",
    "add.u64 %rd1, %rd2+(1<<3), 5;",
    "bar.sync %r1+1;",
    "mov.u32 %r1, %laneid+1;",
    "selp.u32 %r1, %r2+1, 5, %p1;",
    "st.global.u32 [%rd1], %r1+1;",
    // Elements of arrays.
    "ld.local.b32 %r1, lvar[1];",
    "ld.local.b32 %r1, lvar[%r0];",
    "st.local.b32 lvar[%r0+1], %r1;",
    "ld.global.u32 %r1, gvar[%rd1];",
    "ld.global.u32 %r1, gvar[u];",
    "ld.global.u32 %r1, gvar[t];",
    "ld.global.u32 %r1, gvar[-1];",
    "mov.u64 %rd1, gvar[%r1];",
    "mov.u32 %r1, svar[%r2];",
    "mov.u32 %r1, svar[1];",
    "ld.shared.u8 %r1, svar[%r1];",
    "ld.u32 %r1, lvar[%r1];",
    // Variables without their state space, registers of any integer as addresses.
    "ld.u32 %r1, [svar];",
    "st.u32 [lvar+4], %r1;",
    "ld.u32 %r1, [gvar];",
    "atom.add.u32 %r1, [svar], 1;",
    "atom.add.u32 %r1, [lvar], 1;",
    "red.add.u32 [svar], 1;",
    "ld.global.u32 %r1, [%rs1];",
    "ld.global.u32 %r1, [%b1+4];",
    "ld.local.u32 %r1, [16];",
    "ld.shared.u32 %r1, [%r2];",
    "ld.param.u32 %r1, [%rd1];",
    "ld.global.u32 %r1, [%rd1+-4];",
    "ld.global.u32 %r1, [%rd1+8-4];",
    "mov.u64 %rd1, gvar+8;",
    // Special registers.
    "mov.u16 %rs1, %tid.x;",
    "cvt.u64.u32 %rd1, %tid.x;",
    "mov.u64 %rd1, %clock64;",
    "mov.u32 %r1, %gridid;",
    "mov.u32 %r1, %tid.w;",
    // Constants.
    "mov.b32 %r1, 0f3F800000;",
    "mov.b64 %rd1, 1.0;",
    "mov.f32 %f1, 0d3FF0000000000000;",
    "mov.b32 %r1, !5;",
    "add.u32 %r1, %r2, WARP_SZ+1;",
    "mov.u32 %r1, 1.0 < 2.0;",
    "mov.f32 %f1, 1.0+2.0;",
    "mov.u16 %rs1, 70000;",
    "mov.u32 %r1, 0x5U;",
    // Types and results.
    "add.u32 hh, %r1, %r2;",
    "setp.eq.u32 _, %r1, %r2;",
    "setp.eq.u32 _|%p1, %r1, %r2;",
    "atom.global.add.u32 _, [%rd1], 1;",
    "ld.global.b32 %fd1, [%rd1];",
    "ld.global.f32 %rd1, [%rd1];",
    "popc.b64 %s1, %rd1;",
};

constexpr const char* kRefusedOperands[] = {
    "add.u32 {%r1}, %r2, %r3;",
    "atom.global.add.u32 {%r1}, [%rd1], %r2;",
    "shfl.sync.idx.b32 {%r1}, %r0, 0, 31, -1;",
    "ld.global.v2.b32 {%r1}, [%rd1];",
    "ld.global.b32 {%r1, %r2}, [%rd1];",
    "mov.v4.f64 {%fd1,%fd1,%fd1,%fd1}, {%fd1,%fd1,%fd1,%fd1};",
    "mov.v2.pred {%p1, %p2}, {%p2, %p1};",
    "mov.v2.u32 {%r1, %r2}, {5};",
    "mov.u32 %r1, %tid;",
    "mov.v2.u32 {%r1, %r2}, %ntid;",
    "ld.global.v2.u32 {_, _}, [%rd1];",
    "st.global.v2.b32 [%rd1], {%r1, %rd1};",
    "mov.b64 %rd1, {%r1, _};",
    "mov.b64 %rd1, {%r1, %r2, %r3};",
    "mov.u64 %rd1, {%r1, %r2};",
    "setp.lt.u32 !%p1, %r0, 2;",
    "and.b32 %r1, !%r2, %r3;",
    "mov.b32 %r1, -%r2;",
    "@1 ret;",
    "and.pred %p1, !!%p2, %p3;",
    "add.u32 %r1, %r2, %r3-2;",
    "add.u32 %r1, %r2*2, %r3;",
    "add.u32 %r1, %r2+%r3, 1;",
    "add.u32 %r1+1, %r2, %r3;",
    "mov.u32 %r1, %tid.x+1;",
    "add.f32 %f1, %f2+1, %f3;",
    "st.global.v2.u32 [%rd1], {%r1+1, %r2};",
    "add.u32 %r1, v.x+1, %r3;",
    "ld.global.u32 %r1, [%rd1-4];",
    "ld.global.u32 %r1, [gvar[1]];",
    "mov.u64 %rd1, gvar-8;",
    "ld.global.u32 %r1, gvar[1][2];",
    "ld.global.u32 %r1, gvar[%r1*2];",
    "ld.global.u32 %r1, gvar;",
    "atom.global.add.u32 %r1, gvar[%r2], 1;",
    "ld.global.u32 %r1, [%rd1+%rd2];",
    "ld.u32 %r1, [cvar];",
    "ld.u64 %rd1, [p0];",
    "ld.global.u32 %r1, [svar];",
    "ld.global.u32 %r1, [0x1000];",
    "ld.shared.u32 %r1, [16];",
    "ld.global.u32 %r1, [%r1];",
    "ld.u32 %r1, [%r1];",
    "ld.global.u32 %r1, [%f1];",
    "ld.volatile.param.u32 %r1, [p1];",
    "ld.volatile.const.u32 %r1, [cvar];",
    "ld.relaxed.gpu.local.u32 %r1, [lvar];",
    "st.param.u32 [p1], %r1;",
    "add.u32 %r1, %tid.x, 1;",
    "st.global.u32 [%rd1], %tid.x;",
    "mov.f32 %f1, %tid.x;",
    "mov.u64 %rd1, %tid.x;",
    "mov.u32 %r1, %clock64;",
    "setp.eq.u32 %p1, %laneid, 0;",
    "mov.u32 %r1, 0f3F800000;",
    "mov.b32 %r1, 1.0;",
    "mov.b64 %rd1, 0f3F800000;",
    "selp.u32 %r1, 1, 0f3F800000, %p1;",
    "add.f32 %f1, %f2, 1;",
    "add.f16 %h1, %h2, 1.0;",
    "fma.rn.f16x2 %r1, %r2, 0x3c003c00, %r3;",
    "st.global.b16 [%rd1], 1.0;",
    "max.f32 _, %f1, %f2;",
    "mov.u32 _, 3;",
    "ld.global.f32 _, [%rd1];",
    "shfl.sync.idx.b32 _, %r0, 0, 31, -1;",
    "setp.eq.u32 _|_, %r1, %r2;",
    "setp.lt.b64 %p1, %rd1, %rd2;",
    "setp.lo.s32 %p1, %r1, %r2;",
    "setp.eq.ftz.f64 %p1, %fd1, %fd2;",
    "setp.eq.f16 %p1|%p2, %h1, %h2;",
    "set.lt.u32.b16 %r1, %rs1, %rs2;",
    "atom.global.add.b32 %r1, [%rd1], %r2;",
    "atom.global.and.u32 %r1, [%rd1], %r2;",
    "atom.global.add.s64 %rd1, [%rd1], %rd2;",
    "red.global.min.b32 [%rd1], %r2;",
    "atom.global.cas.u32 %r1, [%rd1], %r2, %r3;",
    "mov.f16 %h1, %h2;",
    "cvt.sat.u8.u8 %rs1, %rs2;",
    "cvt.rn.f32.f32 %f1, %f2;",
    "cvt.rni.u8.bf16 %rs1, %rs2;",
    "fma.rn.bf16 %rs1, u, %rs2, %rs3;",
    "add.f32 hh, %f1, %f2;",
    "bar.sync 16;",
    "bar.sync -1;",
    "bar.sync 0, 33;",
    "barrier.sync 2, 2;",
    "bar.arrive 16, 32;",
    "bar.red.popc.u32 %r1, 0, 33, %p1;",
    "ld.shared.u32 %r1, lvar[%r2];",
    "bfe.u32 %r1, %r2, 3, 256;",
    "mul.u32.lo %r1, %r2, %r3;",
    "mad.f32 %f1, %f2, %f3, %f4;",
    "mbarrier.test_wait.parity.b64 %p1, [svar], 2;",
    "cp.async.ca.shared.global [%r1], [%rd1], 5;",
    "cp.async.cg.shared.global [%r1], [%rd1], 8;",
    "discard.global.L2 [%rd1], 64;",
    "ld.global.ca.L1::evict_last.u32 %r1, [%rd1];",
    "ld.shared.L1::no_allocate.u32 %r1, [%r1];",
    "st.local.L1::evict_last.b64 [lvar], %rd1;",
    "ld.global.unified.u32 %r1, [%rd1];",
    "vadd.u32.u32.u32.add %r1, %r2, %r3;",
    "vadd.u32.u32.u32.add %r1.h0, %r2, %r3, %r4;",
    "vset.u32.u32.eq.min %r1.b3, %r2, %r3, %r4;",
    "vmad.s32.s32.s32.po %r1, -%r2, %r3, %r4;",
    "vmad.s32.s32.s32.po.sat.shr7 %r1, %r2, %r3, -%r4;",
    "vmad.s32.s32.s32 %r1, -%r2, %r3, -%r4;",
    "cvt.rn.satfinite.tf32.f32 %r1, %f1;",
    "vset4.u32.u32.eq.min %r1, %r2, %r3, %r4;",
    "mbarrier.arrive.release.b64 %rd1, [svar];",
    "mbarrier.arrive.shared::cluster.b64 %rd1, [%r1];",
    "wmma.load.a.sync.aligned.row.m16n16k16.f16 {%r1, %r2}, [%rd1];",
    "mma.sync.aligned.m16n8k8.row.col.f32.bf16.f16.f32 "
    "{%f1,%f2,%f3,%f4},{%r1,%r2},{%r3},{%f1,%f2,%f3,%f4};",
    "{ ret; };",
    ".reg .u32 _;",
    ".reg .v2 .pred q;",
    ".reg .bf16 q;",
    ".reg .v4 .f64 q;",
    "vote.ballot.b32 %r1, %p1;",
    "shfl.idx.b32 %r1, %r2, 0, 31;",
};

INSTANTIATE_TEST_SUITE_P(Operands, Taken, testing::ValuesIn(kTakenOperands));
INSTANTIATE_TEST_SUITE_P(Operands, Refused, testing::ValuesIn(kRefusedOperands));

class TakenModule : public testing::TestWithParam<const char*> {};
TEST_P(TakenModule, Parses) { parse_good(std::string(kHeader) + GetParam()); }

class RefusedModule : public testing::TestWithParam<const char*> {};
TEST_P(RefusedModule, IsInvalid) { EXPECT_NE(error_of(std::string(kHeader) + GetParam()), ""); }

#define BEFORE                                                                  \
  ".global .b32 g[3] = {11, 22, 33};\n.const .b32 c[2];\n.shared .b32 sh[2];\n" \
  ".func f() { ret; }\n"

constexpr const char* kTakenModules[] = {
    BEFORE ".global .u64 x = g+4;",
    BEFORE ".global .u64 x = g+-4;",
    BEFORE ".global .u64 x = g+4-4;",
    BEFORE ".global .u64 x = generic(g)+4;",
    BEFORE ".global .u64 x = generic(c);",
    BEFORE ".const .u64 x = f;",
    BEFORE ".global .u32 x = g;",
    BEFORE ".global .u8 x[8] = {0xff(g), 0xff00(g+4), 255(f), 0xff(generic(c)), 1};",
    BEFORE ".global .u32 x[2] = {0xff(g), 0xff00(g)};",
    BEFORE ".global .u64 x[2][2] = {{g, 0}, {1, g+4}};",
    BEFORE ".global .u64 x[2][2] = {{g}, {1}};",
    ".global .b32 x[][3] = {{1, 2}, {3, 4, 5}};",
    ".global .b32 x[2] = {};",
    ".global .v2 .f32 x[2] = {{1.0, 2.0}, {3.0, 4.0}};",
    ".global .b32 x = 1.5;",
    ".global .f64 x = 0f3F800000;",
    ".global .u8 x = -1;",
    ".global .u32 x = (1 == 1) ? 2 : 3;",
    ".extern .global .u32 x; .extern .global .u32 x;",
    ".visible .attribute(.managed) .global .u32 x;",
    ".entry q(.param .u64 .ptr p) { ret; }",
    ".func (.reg .v2 .u32 o) f(.reg .v2 .u32 i) { mov.u32 o.x, i.y; mov.u32 o.y, i.x; ret; }\n"
    ".entry q() { .reg .v2 .u32 v, w; call (w), f, (v); ret; }",
    // Declarations without a semicolon.
    ".func f(.param .u32 a)\n.func f(.param .u32 a) { ret; }",
    ".visible .func (.param .u32 r) f(.param .u32 a)\n.file 1 \"x\"\n.entry q() { ret; }",
    ".extern .func (.param .u32 r) vprintf(.param .u64 a, .param .u64 b)\n.global .u32 x;",
    ".entry q() { ret; }\n.extern .func f",
};

constexpr const char* kRefusedModules[] = {
    BEFORE ".global .u64 x = g-4;",
    BEFORE ".global .u64 x = g[1];",
    BEFORE ".global .u64 x = (g);",
    BEFORE ".global .u64 x = generic(g+4);",
    BEFORE ".global .u64 x = sh;",
    BEFORE ".global .u64 x = f+4;",
    BEFORE ".global .u64 x = generic(f);",
    BEFORE ".global .b64 x = g;",
    BEFORE ".global .u16 x = f;",
    BEFORE ".global .u8 x = g;",
    BEFORE ".global .u8 x[8] = {0xf0(g)};",
    BEFORE ".global .u8 x[8] = {0xffff(g)};",
    BEFORE ".global .b8 x[8] = {0xff(g)};",
    BEFORE ".global .u16 x[4] = {0xff(g)};",
    BEFORE ".global .u64 x[2][2] = {g, 0, 1, g};",
    BEFORE ".global .u64 x[2][2] = {1, {2, 3}};",
    ".global .b32 x[2] = {1, 2,};",
    ".global .b32 x[2] = {{1}, {2}};",
    ".global .b32 x = {1};",
    ".global .b32 x[2] = 1;",
    ".global .v4 .b32 x = {1, 2};",
    ".global .v2 .b32 x = 1;",
    ".global .f32 x = 1;",
    ".global .u32 x = 1.5;",
    ".global .f16 x = 0x3c00;",
    ".global .u64 x = x;",
    ".global .u64 x = later; .global .u32 later;",
    ".extern .global .u32 x = 1;",
    ".global .u32 x[2+2];",
    ".global .u32 x[0];",
    ".global .u32 .align 4 x;",
    ".global .v4 .u64 x;",
    ".global .bf16 x;",
    ".local .b32 x;",
    ".const .attribute(.managed) .u32 x;",
    ".visible .extern .global .u32 x;",
    ".extern .func f() { ret; }",
    ".common .func f() { ret; }",
    ".func f(.param .u64 .ptr p) { ret; }",
    ".func f(.param .v2 .u32 p) { ret; }",
    ".entry q(.param .u32 p[2][2]) { ret; }",
    ".func f(.reg .u32 _) { ret; }",
    ".entry q() .reqntid 32 .maxntid 64 { ret; }",
    ".entry q() .maxntid 0 { ret; }",
    ".entry q() .maxntid 4, 4, 4, 4 { ret; }",
    ".entry q() .maxnctapersm 2 { ret; }",
    ".func f() .maxntid 32 { ret; }",
    ".entry q() .noreturn { ret; }",
    ".entry q()\n.entry r() { ret; }",
    ".entry q() .reqnctapercluster 2 .maxclusterrank 4 { ret; }",
};

INSTANTIATE_TEST_SUITE_P(Modules, TakenModule, testing::ValuesIn(kTakenModules));
INSTANTIATE_TEST_SUITE_P(Modules, RefusedModule, testing::ValuesIn(kRefusedModules));

std::string header_error(const std::string& version, const std::string& target) {
  const auto module =
      parse(".version " + version + "\n.target " + target + "\n.entry k() { ret; }\n", "t.ptx");
  return module ? "" : module.error().message;
}

TEST(Header, Targets) {
  for (const char* target : {"sm_80", "compute_80", "sm_90a", "compute_90a", "sm_50, sm_60",
                             "sm_100f", "sm_20, texmode_independent", "sm_12, map_f64_to_f32"}) {
    EXPECT_EQ(header_error("8.8", target), "") << target;
  }
  for (const char* target :
       {"sm_81", "compute_81", "sm_999", "sm_8", "sm_80b", "sm_80a", "sm_90f", "sm_", "lto_80",
        "gfx90", "sm_80, foo", "sm_80 debug", "sm_80, texmode_unified, texmode_independent",
        "sm_80, map_f64_to_f32"}) {
    EXPECT_NE(header_error("8.8", target), "") << target;
  }
  EXPECT_NE(header_error("7.8", "sm_90a"), "") << "since 8.0";
  EXPECT_NE(header_error("7.0", "sm_90"), "") << "since 7.8";
}

TEST(Header, VersionsThatAreNoneHaveTheirOwnStatus) {
  for (const char* version : {"99.0", "9.9", "1.3", "6.9"}) {
    const auto module = parse(".version " + std::string(version) + "\n.target sm_20\n", "t.ptx");
    ASSERT_FALSE(module) << version;
    EXPECT_EQ(module.error().status, KM_ERROR_UNSUPPORTED_PTX);
  }
}

TEST(Header, WhatTargetsRunOn) {
  const auto runs = [](const char* target, uint32_t capability) {
    return runs_on(*find_target(target), capability);
  };
  EXPECT_TRUE(runs("sm_80", 80));
  EXPECT_TRUE(runs("compute_50", 90));
  EXPECT_FALSE(runs("sm_120", 90));
  EXPECT_TRUE(runs("sm_90a", 90));
  EXPECT_FALSE(runs("sm_90a", 100));
  EXPECT_FALSE(runs("sm_90a", 89));
  EXPECT_TRUE(runs("sm_100f", 103));
  EXPECT_FALSE(runs("sm_100f", 120));
}

/// The error of an instruction in a kernel for a target.
std::string newer_error(const std::string& target, const std::string& instruction) {
  std::string text = kernel(instruction + ";");
  text.replace(text.find("8.3"), 3, "9.5");
  text.replace(text.find("sm_90a"), 6, target);
  const auto module = parse(text, "t.ptx");
  return module ? "" : module.error().message;
}

TEST(Header, TargetsThatHaveAFormMakeNoChain) {
  const auto has = [](const char* target, const char* instruction) {
    return newer_error(target, instruction).empty();
  };
  const char* const pairs = "add.rn.f32x2 %rd1, %rd2, %rd3";
  EXPECT_TRUE(has("sm_100", pairs));
  EXPECT_TRUE(has("sm_120", pairs));
  const char* const narrow = "cvt.rn.satfinite.e2m3x2.f32 %rs1, %f1, %f2";
  EXPECT_FALSE(has("sm_100", narrow));
  for (const char* target : {"sm_100a", "sm_103f", "sm_110f", "sm_120a", "sm_121f"}) {
    EXPECT_TRUE(has(target, narrow)) << target;
  }
  const char* const random = "cvt.rs.bf16x2.f32 %r1, %f1, %f2, %r2";
  EXPECT_TRUE(has("sm_100a", random));
  EXPECT_TRUE(has("sm_103a", random));
  for (const char* target : {"sm_100f", "sm_101a", "sm_110a", "sm_120a"}) {
    EXPECT_FALSE(has(target, random)) << target;
  }
  const char* const extremes = "redux.sync.max.f32 %f1, %f2, %r1";
  EXPECT_TRUE(has("sm_103f", extremes));
  EXPECT_FALSE(has("sm_100", extremes));
  EXPECT_FALSE(has("sm_110a", extremes));
  EXPECT_FALSE(has("sm_100a", "wgmma.fence.sync.aligned")) << "sm_90a alone";
  EXPECT_THAT(newer_error("sm_120a", random),
              testing::HasSubstr("needs '.target sm_100a to sm_103a', the module says sm_120a"));
}

TEST(Header, RowsOf256Bits) {
  const auto error = [](const char* instruction) { return newer_error("sm_100", instruction); };
  const std::string words = "{%r1, %r2, %r3, _, %r5, %r6, %r7, %r8}, [%rd1]";
  EXPECT_EQ(error(("ld.global.v8.b32 " + words).c_str()), "");
  EXPECT_EQ(error(("ld.L2::evict_last.v8.u32 " + words).c_str()), "");
  EXPECT_EQ(error("st.global.L2::evict_first.v4.b64 [%rd1], {%rd1, %rd2, %rd3, %rd4}"), "");
  EXPECT_NE(error(("ld.shared.v8.b32 " + words).c_str()), "") << "in global memory";
  EXPECT_NE(error("ld.global.L2::evict_last.v4.b32 {%r1, %r2, %r3, %r4}, [%rd1]"), "");
  EXPECT_NE(error("st.bulk.shared::cta [%rd1], 7, 0"), "") << "a multiple of 8";
  EXPECT_NE(error("st.bulk.shared::cta [%rd1], 8, 1"), "") << "zeros";
  EXPECT_EQ(error("st.bulk.weak.shared::cta [%rd1], %rd2, 0"), "");
  EXPECT_NE(newer_error("sm_100a", "cvt.rs.f16x2.f32 %r1, %f1, %f2, 5"), "") << "a register";
  EXPECT_NE(newer_error("sm_100a", "cvt.rs.f16x2.f32 %r1, %f1, %f2, %s1"), "") << "of type .b32";
  EXPECT_NE(newer_error("sm_100a", "redux.sync.min.f32 %f1, %f2, %f3"), "") << "a mask";
}

TEST(Header, AsynchronousInstructionsTakeVariablesThatFit) {
  const auto error = [](const std::string& instruction) {
    const std::string text =
        ".version 9.5\n.target sm_100a\n.address_size 64\n"
        ".global .texref tex;\n.global .align 16 .b8 g[16];\n"
        ".shared .align 16 .b8 s[16];\n.entry k() {\n"
        ".reg .b32 %r<3>; .reg .b64 %rd<3>;\n" +
        instruction + ";\nret;\n}\n";
    const auto module = parse(text, "t.ptx");
    return module ? std::string() : module.error().message;
  };
  EXPECT_EQ(error("st.async.release.gpu.b32 [%rd1], %r1"), "");
  EXPECT_NE(error("st.async.release.gpu.b32 [tex], %r1"), "");
  EXPECT_NE(error("red.async.release.gpu.add.u32 [tex], %r1"), "");
  EXPECT_NE(error("st.bulk [tex], %rd1, 0"), "");
  const std::string cancel =
      "clusterlaunchcontrol.try_cancel.async.mbarrier::complete_tx::bytes.b128 ";
  EXPECT_EQ(error(cancel + "[s], [%rd1]"), "");
  EXPECT_THAT(error(cancel + "[g], [%rd1]"),
              testing::HasSubstr("is in .global, expected one in .shared"));
}

std::string program_error(const std::string& text) {
  auto module = parse_good(std::string(kHeader) + text);
  if (!module) return "";
  const Status status = check_program(*module);
  return status ? "" : status.error().message;
}

TEST(Program, MemoriesHaveLimits) {
  const auto shared = [](int bytes) {
    return ".shared .b8 x[" + std::to_string(bytes) +
           "];\n.entry k() { .reg .b32 r; mov.u32 r, x; ret; }\n";
  };
  EXPECT_EQ(program_error(shared(49152)), "");
  EXPECT_THAT(program_error(shared(49153)), testing::HasSubstr("'k' has 49153 bytes of static"));
  EXPECT_EQ(program_error(".shared .b8 x[49153];\n.entry k() { ret; }\n"), "") << "not used";
  EXPECT_NE(program_error(".entry k() { .shared .b8 x[49153]; ret; }\n"), "") << "declared inside";
  const std::string two = ".shared .b8 x[40000]; .shared .b8 y[40000];\n";
  const std::string a = "{ .reg .b32 r; st.shared.u8 [x], r; ret; }\n";
  const std::string b = "{ .reg .b32 r; st.shared.u8 [y], r; ret; }\n";
  EXPECT_EQ(program_error(two + ".entry k() " + a + ".entry l() " + b), "") << "each its own";
  EXPECT_NE(program_error(two + ".func f() " + a +
                          ".entry l() { .reg .b32 r; st.shared.u8 [y], r; call f; ret; }\n"),
            "")
      << "with those of functions";
  EXPECT_EQ(program_error(".const .b8 c[65536];\n"), "");
  EXPECT_THAT(program_error(".const .align 4 .b8 c[65540];\n"),
              testing::HasSubstr("have 65540 bytes together, at most 65536 fit"));
}

TEST(Program, ParametersHaveLimits) {
  const auto fails = [](const char* version, const char* target, int bytes) {
    const std::string text = std::string(".version ") + version + "\n.target " + target +
                             "\n.entry k(.param .align 4 .b8 p[" + std::to_string(bytes) +
                             "]) { ret; }\n";
    return !parse(text, "t.ptx");
  };
  EXPECT_FALSE(fails("7.8", "sm_80", 4352));
  EXPECT_TRUE(fails("7.8", "sm_80", 4356));
  EXPECT_FALSE(fails("8.1", "sm_80", 32764));
  EXPECT_TRUE(fails("8.1", "sm_80", 32768));
  EXPECT_TRUE(fails("8.1", "sm_60", 4356));
}

TEST(Program, WhatIsCalledHasABody) {
  const std::string call = ".entry k() { call f; ret; }\n";
  EXPECT_EQ(program_error(".extern .func f();\n.entry k() { ret; }\n"), "") << "not called";
  EXPECT_THAT(program_error(".extern .func f();\n" + call), testing::HasSubstr("'f' has no body"));
  EXPECT_NE(program_error(".extern .func f();\n.func g() { call f; ret; }\n.entry k() { ret; }\n"),
            "");
  EXPECT_NE(program_error(".func f();\n.entry k() { ret; }\n"), "") << "neither external nor there";
  EXPECT_NE(program_error(".weak .func f();\n" + call), "");
  EXPECT_EQ(program_error(".func g() { ret; }\n.func f();\n.alias f, g;\n" + call), "");
  EXPECT_EQ(
      program_error(".extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);\n"
                    ".entry k() { .param .b32 r; .param .b64 a, b; call (r), vprintf, (a, b); "
                    "ret; }\n"),
      "");
  EXPECT_EQ(
      program_error(".extern .global .u32 x;\n.entry k() { .reg .b32 r; ld.global.u32 r, [x]; "
                    "ret; }\n"),
      "")
      << "external variables become the module's own";
  EXPECT_NE(program_error(".extern .global .u32 x[];\n"), "") << "but need a size";
}

// What is written in these forms becomes instructions that everything else knows.
TEST(Rewritten, SumsElementsAndVectors) {
  const auto code = [](const char* body) {
    auto module = parse_good(with_arrays(body));
    std::string text;
    for (size_t i = 0; module && i < code_of(*module).size(); ++i) {
      text += printed(*module, i) + "; ";
    }
    return text;
  };
  EXPECT_EQ(code("@%p1 mov.u32 %r1, %r2+1;"), "add.u32 %part, %r2, 1; @%p1 mov.u32 %r1, %part; ");
  EXPECT_EQ(code("and.pred %p1, !%p2, %p3;"), "not.pred %part, %p2; and.pred %p1, %part, %p3; ");
  EXPECT_EQ(code("ld.u32 %r1, [svar+4];"), "ld.shared.u32 %r1, [svar+4]; ");
  EXPECT_EQ(code("ld.global.b32 {%r1}, [%rd1];"), "ld.global.b32 %r1, [%rd1]; ");
  EXPECT_EQ(code("ld.global.u32 %r1, gvar[2];"), "ld.global.u32 %r1, [gvar+8]; ");
  EXPECT_EQ(code("ld.global.u32 %r1, gvar[%r2];"),
            "mov.u64 %part, gvar; mad.wide.u32 %part$2, %r2, 4, %part; "
            "ld.global.u32 %r1, [%part$2]; ");
  EXPECT_EQ(code("mov.v2.u32 {%r1, %r2}, {%r2, 7};"),
            "mov.u32 %part, %r2; mov.u32 %r1, %part; mov.u32 %r2, 7; ");
  EXPECT_EQ(code("ld.global.u32 %r1, [%rs1+4];"),
            "cvt.u64.u16 %part, %rs1; ld.global.u32 %r1, [%part+4]; ");
}

TEST(Rewritten, LoadsOfWhatIsUsed) {
  auto module = parse_good(kernel(
      ".pragma \"used_bytes_mask 0xF0F\";\n@%p1 ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%rd1+16];\n"
      "ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%rd1];\n"
      ".pragma \"used_bytes_mask 3\";\nld.global.u32 %r1, [%rd1];\n"));
  ASSERT_TRUE(module);
  const char* const want[] = {"@%p1 ld.global.f32 %part, [%rd1+16]",
                              "@%p1 ld.global.f32 %part$2, [%rd1+24]",
                              "@%p1 mov.b32 %f1, %part",
                              "@%p1 mov.b32 %f3, %part$2",
                              "ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%rd1]",
                              "ld.global.u16 %part$3, [%rd1]",
                              "mov.b32 %r1, %part$3"};
  ASSERT_EQ(code_of(*module).size(), std::size(want));
  for (size_t i = 0; i < std::size(want); ++i) EXPECT_EQ(printed(*module, i), want[i]);
}

TEST(Rewritten, ANoteOfUsedBytesEndsWithItsFunction) {
  auto module = parse_good(std::string(kHeader) +
                           ".entry a() { .pragma \"used_bytes_mask 3\"; }\n"
                           ".entry b() { .reg .b32 %r; .reg .b64 %rd;\n"
                           "ld.global.u32 %r, [%rd]; }\n");
  ASSERT_TRUE(module);
  ASSERT_EQ(code_of(*module).size(), 1u);
  EXPECT_EQ(printed(*module, 0), "ld.global.u32 %r, [%rd]");
}

TEST(Rewritten, AnErrorInASumStandsAtItsOperand) {
  const std::string place = "t.ptx:" + std::to_string(kBodyLine + 1) + ":14: ";
  EXPECT_EQ(body_error("add.u32 %r1, %r2, %r3;\nadd.u32 %r1, %is_explicit_cluster+1, %r2;"),
            place + "found '%is_explicit_cluster', expected a vector in 'mov'");
}

}  // namespace
}  // namespace km::ptx::test
