// Messages: where, what was found, what was expected.
#include "support.h"

namespace km::ptx::test {
namespace {

struct Case {
  const char* body;
  const char* message;  // after "t.ptx:"
};

class BodyError : public testing::TestWithParam<Case> {};

TEST_P(BodyError, IsExact) {
  EXPECT_EQ(body_error(GetParam().body), std::string("t.ptx:") + GetParam().message);
}

constexpr Case kMnemonics[] = {
    {"cvt.rx.f32.s32 %f1, %r1;", "11:4: unknown modifier '.rx' on 'cvt', did you mean '.rn'?"},
    {"\n        cvt.foobar.f32.s32 %f1, %r1;",
     "12:12: unknown modifier '.foobar' on 'cvt', expected one of .u8 .u16 .u32 .u64 .s8 .s16 "
     ".s32 .s64 .sat .rni .rzi .rmi .rpi .ftz ..."},
    {"ad.u32 %r1, %r2, 3;", "11:1: unknown instruction 'ad', did you mean 'add'?"},
    {"frobnicate %r1;", "11:1: unknown instruction 'frobnicate'"},
    {"ret.u32;", "11:4: modifier '.u32' does not fit 'ret.u32', the nearest form is 'ret.uni?'"},
    {"trap.foo;", "11:5: unknown modifier '.foo' on 'trap', which takes no modifiers"},
    {"fma.f32 %f1, %f2, %f3, %f4;",
     "11:8: 'fma.f32' lacks one of .rn .rz .rm .rp, the nearest form is "
     "'fma.{rn,rz,rm,rp}.ftz?.sat?.f32'"},
    {"shl.u32 %r1, %r2, 3;",
     "11:4: modifier '.u32' does not fit 'shl.u32', the nearest form is 'shl.{b16,b32,b64}'"},
    {"tcgen05.alloc.cta_group::1.sync.aligned.b32 [%rd1], 32;",
     "11:1: this form of 'tcgen05' needs '.target sm_100a to sm_110a', the module says sm_90a"},
    {"fma.rn.f32x2 %rd1, %rd2, %rd3, %rd4;",
     "11:1: this form of 'fma' needs '.target sm_100' or later, the module says sm_90a"},
};

constexpr Case kOperands[] = {
    {"add.u32 %r1, %r2;", "11:1: 'add.u32' takes 3 operands, found 2"},
    {"bar.sync;", "11:1: 'bar.sync' takes 1 to 2 operands, found 0"},
    {"add.u32 %r1, %r2, %nope;", "11:19: undefined register '%nope'"},
    {"mov.u32 %r1, %tidd.x;", "11:14: undefined register '%tidd', did you mean '%tid'?"},
    {"ld.global.v8.f32 {%f1,%f2,%f3,%f4,%f5,%f6,%f7,%f8}, [%rd1];",
     "11:1: vectors of more than 128 bits need '.target sm_100' or later"},
    {"st.global.v4.f64 [%rd1], {%fd1, %fd2, %fd3, %fd4};",
     "11:1: vectors of more than 128 bits need '.target sm_100' or later"},
    {"ld.global.u32 %r1, [nope];", "11:21: undefined name 'nope'"},
    {"add.f32 %f1, %r2, %f3;", ""},  // .b32 registers go with .f32
    {"add.f32 %f1, %s2, %f3;",
     "11:14: found '%s2' of type .s32, expected a value of type .f32 in 'add'"},
    {"add.u32 %r1, %rd2, 3;",
     "11:14: found '%rd2' of type .b64, expected a value of type .u32 in 'add'"},
    {"add.u32 %f1, %r2, 3;",
     "11:9: found '%f1' of type .f32, expected a register of type .u32 in 'add'"},
    {"add.u32 3, %r2, 3;", "11:9: found a constant, expected a register in 'add'"},
    {"add.u32 %r1, {%r2, %r3}, 3;", "11:14: found a vector of 2, expected a single .u32 in 'add'"},
    {"ld.global.v4.f32 {%f1, %f2}, [%rd1];",
     "11:18: found a vector of 2, expected a vector of 4 in 'ld'"},
    {"ld.global.v4.f32 %f1, [%rd1];",
     "11:18: found '%f1' of type .f32, expected a vector of 4 in 'ld'"},
    {"ld.global.u32 %r1, %rd1;",
     "11:20: found '%rd1' of type .b64, expected an address in brackets in 'ld'"},
    {"ld.global.u32 %r1, [%f1];",
     "11:20: found the base '%f1' of type .f32, expected a 32-bit or 64-bit integer register"},
    {"ld.global.u32 %r1, [svar];",
     "11:20: variable 'svar' is in .shared, expected one in .global in 'ld'"},
    {"ld.u32 %r1, [cvar];",
     "11:13: variable 'cvar' is in .const, 'ld' without a state space needs a generic address "
     "(cvta)"},
    {"ld.param.u64 %rd1, [gvar];",
     "11:20: variable 'gvar' is in .global, expected one in .param in 'ld'"},
    {"add.u64 %rd1, gvar, 3;",
     "11:15: found 'gvar', expected a value of type .u64 (the address of a variable is taken with "
     "mov or cvta) in 'add'"},
    {"selp.u32 %r1, 1, 2, %r3;",
     "11:21: found '%r3' of type .b32, expected a value of type .pred in 'selp'"},
    {"add.u32 %r1, !%p1, 3;", "11:14: this operand cannot be negated"},
    {"add.u32 %r1, -%r2, 3;", "11:14: this operand cannot be negated"},
    {"add.u32 %r1.b0, %r2, 3;", "11:9: a part of a register cannot be selected in 'add'"},
    {"vadd.u32.u32.u32 %r1, %r2.q0, %r3;",
     "11:26: found '.q0', expected a part of a register such as .b0 or .h1"},
    {"cp.async.cg.shared.global [%r1], [%rd1], %r2;",
     "11:42: found '%r2' of type .b32, expected an integer constant in 'cp'"},
    {"shfl.sync.idx.b32 %r1|%r2, %r3, 0, 31, -1;",
     "11:19: found '%r2' of type .b32, expected a register of type .pred after '|' in 'shfl'"},
    {"add.u32 %r1|%p1, %r2, 3;",
     "11:9: found a pair with '|', expected a single destination in 'add'"},
    {"mov.b64 %rd1, {%r1, %r2, %r3};",
     "11:15: found a vector of 3, expected 2, 4 or 8 parts that make up .b64 in 'mov'"},
    {"mov.u32 _, 3;", "11:9: found '_', expected a register of type .u32 in 'mov'"},
    {"add.u32 %r1, _, 3;", "11:14: found '_', expected a value of type .u32 in 'add'"},
    {"@%r1 mov.u32 %r2, 3;", "11:2: a guard must be a register of type .pred, found '%r1'"},
    {"@%nope ret;", "11:2: undefined register '%nope'"},
    {"mov.u32 %r1, (1+2;", "11:18: found ';', expected ')' to close the constant expression"},
    {"mov.u32 %r1 %r2;", "11:13: found '%r2', expected ';' after the instruction"},
    {"mov.u32 %r1, %r2", "12:1: found '}', expected ';' after the instruction"},
    {"ld.global.u32 %r1, [%rd1;", "11:25: found ';', expected ']' after the address"},
    {"mov.u32 %r1, `;", "11:14: '`': this character has no meaning in PTX"},
    {"mov.u32 %r1, \"abc\";", "11:14: found a string, expected a constant"},
    {"mov.u32 %r1, /* open", "11:14: '/*': this comment has no end"},
};

constexpr Case kStatements[] = {
    {"bra NOWHERE;", "11:5: undefined label 'NOWHERE'"},
    {"L: L: ret;", "11:4: duplicate label 'L'"},
    {"{ L: ret; } bra L;", "11:17: undefined label 'L'"},
    {"bra %r1;", "11:5: undefined label '%r1'"},
    {".reg .b32 x; bra x;", "11:18: 'x' is not a label"},
    {".regs .b32 %x;", "11:1: unknown directive '.regs' in a function, did you mean '.reg'?"},
    {".branchtargets L;", "11:1: '.branchtargets' needs a label before it"},
    {"L: ret; brx.idx %r1, L;", "11:22: 'L' is not a list of branch targets"},
    {"call nothing;",
     "11:6: undefined function 'nothing', a function must be declared before it is called"},
    {"call k, (%rd1, %r1);", "11:1: kernel 'k' cannot be called"},
    {"call gvar;", "11:6: 'gvar' is not a function"},
    {"call %rd1, (%r1);", "11:1: an indirect call needs a '.callprototype' or a list of functions"},
    {"= 3;", "11:1: found '=', expected an instruction, a directive, a label or '}'"},
    {".reg .f16x3 %x;",
     "11:6: found '.f16x3', expected a type such as .b32, '.align', '.v2' or '.v4'"},
};

INSTANTIATE_TEST_SUITE_P(Mnemonic, BodyError, testing::ValuesIn(kMnemonics));
INSTANTIATE_TEST_SUITE_P(Statement, BodyError, testing::ValuesIn(kStatements));

class OperandError : public testing::TestWithParam<Case> {};

TEST_P(OperandError, IsExact) {
  std::string expected = GetParam().message;
  EXPECT_EQ(body_error(GetParam().body), expected.empty() ? "" : "t.ptx:" + expected);
}

INSTANTIATE_TEST_SUITE_P(Operand, OperandError, testing::ValuesIn(kOperands));

TEST(Error, VersionsAndTargets) {
  std::string body = ".entry k() { .reg .b32 %r<9>; .reg .pred %p<2>;\n";
  EXPECT_EQ(
      error_of(".version 5.0\n.target sm_60\n" + body + "shfl.sync.idx.b32 %r1, %r2, 0, 31, -1; }"),
      "t.ptx:4:1: this form of 'shfl' needs '.version 5.1' or later, the module says 5.0");
  EXPECT_EQ(
      error_of(".version 8.0\n.target sm_70\n" + body + "redux.sync.add.u32 %r1, %r2, -1; }"),
      "t.ptx:4:1: this form of 'redux' needs '.target sm_80' or later, the module says sm_70");
  EXPECT_EQ(error_of(".version 8.0\n.target sm_90\n" + body + "wgmma.fence.sync.aligned; }"),
            "t.ptx:4:1: this form of 'wgmma' needs '.target sm_90a', the module says sm_90");
}

TEST(Error, TheMessageIsBounded) {
  std::string name(100000, 'x');
  std::string message = body_error("mov.u32 " + name + ", 3;");
  EXPECT_LT(message.size(), 500u);
  EXPECT_LT(body_error(name + ".u32;").size(), 500u);
  EXPECT_LT(body_error("add." + name + " %r1, %r2, %r3;").size(), 500u);
  EXPECT_LT(body_error("add.u32 %r1, %r2, \x01\xff;").size(), 500u);
}

TEST(Error, NameAndStatus) {
  auto result = parse("nonsense", "sobel.ptx");
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().status, KM_ERROR_INVALID_PTX);
  EXPECT_EQ(result.error().message.find("sobel.ptx:1:1: "), 0u);
}

}  // namespace
}  // namespace km::ptx::test
