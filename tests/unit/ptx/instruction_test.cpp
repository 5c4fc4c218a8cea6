// Instructions and operands: what is read, and how it is printed.
#include "ptx/forms.h"
#include "ptx/selector.h"
#include "support.h"

namespace km::ptx::test {
namespace {

TEST(Instruction, IsPrintedAsRead) {
  for (std::string_view text : {"add.s32 %r1, %r2, 5",
                                "add.sat.s32 %r1, %r2, -1",
                                "fma.rn.ftz.sat.f32 %f1, %f2, %f3, %f4",
                                "mad.wide.u32 %rd1, %r1, 4, %rd2",
                                "mul.wide.s16 %r1, %rs1, -2",
                                "@%p1 mov.u32 %r1, %tid.x",
                                "@!%p1 bra L",
                                "ret.uni",
                                "bar.sync 0",
                                "bar.sync 1, 64",
                                "setp.lt.and.s32 %p1|%p2, %r1, %r2, !%p3",
                                "setp.eq.f32 %p1, %f1, 0f3F800000",
                                "ld.global.nc.v4.f32 {%f1, %f2, %f3, %f4}, [%rd1+16]",
                                "ld.param.u64 %rd1, [p0]",
                                "ld.global.v2.b32 {_, %r2}, [gvar+8]",
                                "st.shared.u8 [%r1+-4], %rs1",
                                "st.volatile.global.u64 [%rd1], 7",
                                "ld.local.u32 %r1, [1024]",
                                "mov.u64 %rd1, gvar+4",
                                "mov.b64 %rd1, {%r1, %r2}",
                                "mov.b64 {%r1, _}, %rd1",
                                "mov.pred %p1, 1",
                                "cvt.rzi.s32.f32 %r1, %f1",
                                "cvt.rn.f16x2.f32 %r1, %f1, %f2",
                                "cvta.to.global.u64 %rd1, %rd2",
                                "shfl.sync.bfly.b32 %r1|%p1, %r2, 16, 31, 0xFFFFFFFF",
                                "shfl.sync.idx.b32 %r1, %r2, 0, 31, 0xFFFFFFFF",
                                "vote.sync.ballot.b32 %r1, !%p1, 0xFFFFFFFF",
                                "lop3.or.b32 _|%p1, %r1, %r2, %r3, 63, %p2",
                                "atom.global.cas.b32 %r1, [%rd1], %r2, %r3",
                                "red.shared.add.f32 [%r1], 0f3F800000",
                                "atom.acq_rel.gpu.global.add.u32 %r1, [%rd1], 1",
                                "prmt.b32.f4e %r1, %r2, %r3, %r4",
                                "cp.async.cg.shared.global [%r1], [%rd1], 16",
                                "cp.async.wait_group 0",
                                "trap",
                                "exit",
                                "tex.2d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [tvar, {%r1, %r2}]",
                                "tex.1d.v4.f32.f32 {%f1, %f2, %f3, %f4}|%p1, [%rd1, %rd2, {%f1}]",
                                "suld.b.2d.v2.b32.trap {%r1, %r2}, [%rd1, {%r3, %r4}]",
                                "membar.gl",
                                "fence.acq_rel.sys",
                                "vadd.s32.u32.s32.sat %r1, %r2.b0, %r3.h1",
                                "vadd4.u32.u32.u32.add %r1, %r2.b3210, %r3.b7654, %r4",
                                "vmad.s32.s32.u32.shr7 %r1, -%r2.h0, %r3.b1, %r4",
                                "mov.u64 %rd1, %clock64",
                                "mbarrier.arrive.expect_tx.shared::cta.b64 _, [svar], 512",
                                "nanosleep.u32 100"}) {
    std::string line(text);
    if (text.find(" L") != text.npos) {
      auto module = parse_good(kernel(line + ";\nL: ret;"));
      ASSERT_TRUE(module);
      EXPECT_EQ(printed(*module, 0), line);
    } else {
      std::string expected = line;
      EXPECT_EQ(round_trip(line), expected);
    }
  }
}

TEST(Instruction, CanonicalForm) {
  EXPECT_EQ(round_trip("setp.u32.eq %p1, %r1, 3"), "setp.eq.u32 %p1, %r1, 3");
  EXPECT_EQ(round_trip("ld .global .f32 %f1, [ %rd1 + 4*2 ]"), "ld.global.f32 %f1, [%rd1+8]");
  EXPECT_EQ(round_trip("ld.global.b32 %r1, [%rd1+-8]"), "ld.global.b32 %r1, [%rd1+-8]");
  EXPECT_EQ(round_trip("ld.b32 %r1, [%rd1].unified"), "ld.b32 %r1, [%rd1].unified");
  EXPECT_EQ(round_trip("mov.u64 %rd1, gvar[3]"), "mov.u64 %rd1, gvar+12");
  EXPECT_EQ(round_trip("mov.b32 %r1, 0f3F800000"), "mov.b32 %r1, 0f3F800000");
  EXPECT_EQ(round_trip("add.f64 %fd1, %fd2, 1.0"), "add.f64 %fd1, %fd2, 0d3FF0000000000000");
  EXPECT_EQ(round_trip("add.u32 %r1, %r2, /* three */ 3 // end\n"), "add.u32 %r1, %r2, 3");
}

TEST(Instruction, FieldsAreFilled) {
  auto module = parse_good(kernel("\n  @!%p3 ld.global.v2.u32 {%r5, %r6}, [%rd7+24];"));
  ASSERT_TRUE(module);
  const Instruction& load = code_of(*module)[0];
  const Function& k = module->functions[0];
  EXPECT_EQ(load.opcode, Opcode::ld);
  EXPECT_TRUE(load.has(Modifier::global));
  EXPECT_TRUE(load.has(Modifier::v2));
  EXPECT_FALSE(load.has(Modifier::shared));
  EXPECT_EQ(load.type(), Type::u32);
  EXPECT_EQ(load.type_count, 1);
  EXPECT_EQ(space_of(load), Space::global);
  EXPECT_TRUE(load.guard_negated);
  EXPECT_EQ(k.registers[load.guard].name, "%p3");
  EXPECT_EQ(load.location.line, static_cast<uint32_t>(kBodyLine + 1));
  EXPECT_EQ(load.location.column, 3u);
  ASSERT_EQ(load.operand_count, 2);
  const Operand& vector = load.operands[0];
  ASSERT_EQ(vector.kind, Operand::Kind::vector);
  ASSERT_EQ(vector.count, 2u);
  EXPECT_EQ(k.registers[k.operand_pool[vector.first + 1].reg].name, "%r6");
  EXPECT_EQ(load.operands[1].kind, Operand::Kind::address);
  EXPECT_EQ(k.registers[load.operands[1].reg].name, "%rd7");
  EXPECT_EQ(load.operands[1].offset, 24);
  EXPECT_EQ(load.modifiers, (std::vector{Modifier::global, Modifier::v2}));
}

TEST(Instruction, SpecialRegisters) {
  auto module =
      parse_good(kernel("mov.u32 %r1, %ctaid.z; mov.u32 %r2, %laneid; mov.u16 %rs1, %tid.x;"
                        "cvt.u64.u32 %rd1, %ntid.y; mov.u32 %r3, %envreg31;"));
  ASSERT_TRUE(module);
  EXPECT_EQ(code_of(*module)[0].operands[1].special, SpecialRegister::ctaid);
  EXPECT_EQ(code_of(*module)[0].operands[1].component, 2);
  EXPECT_EQ(code_of(*module)[1].operands[1].special, SpecialRegister::laneid);
  EXPECT_EQ(code_of(*module)[4].operands[1].special, SpecialRegister::envreg31);
  EXPECT_EQ(body_error("mov.u32 %r1, %tid;"),
            "t.ptx:11:14: found a vector of 4, expected a single .u32 in 'mov'");
  EXPECT_EQ(body_error("mov.u64 %rd1, %laneid;"),
            "t.ptx:11:15: found '%laneid', expected a value of type .u64 in 'mov'");
  EXPECT_EQ(body_error("mov.u32 %tid.x, 3;"),
            "t.ptx:11:9: found '%tid', expected a register: special registers are read-only in "
            "'mov'");
}

TEST(Instruction, ImmediatesInVectorsAreConverted) {
  auto module = parse_good(kernel("st.global.v2.f32 [%rd1], {1.0, %f1};"));
  ASSERT_TRUE(module);
  const Function& k = module->functions[0];
  EXPECT_EQ(k.operand_pool[k.code[0].operands[1].first].bits, 0x3f800000u);
}

TEST(Instruction, Selectors) {
  EXPECT_EQ(selector_text(*read_selector("b3210")), "b3210");
  EXPECT_EQ(selector_text(*read_selector("h1")), "h1");
  EXPECT_EQ(selector_digit(*read_selector("b7654"), 0), 4u);
  EXPECT_EQ(selector_digit(*read_selector("h10"), 1), 1u);
  EXPECT_EQ(selector_digits(*read_selector("b20")), 2u);
  for (std::string_view bad : {"b8", "h4", "h321", "b", "x1", "b01234", ""}) {
    EXPECT_FALSE(read_selector(bad)) << bad;
  }
}

TEST(Instruction, OperandTypes) {
  auto type_of = [](std::string_view text, unsigned operand) {
    auto module = parse_good(kernel(std::string(text) + ";"));
    const Instruction& instruction = code_of(*module)[0];
    auto assignment = assign_operands(all_forms()[instruction.form], instruction);
    return operand_type(*(*assignment)[operand], instruction, 2);
  };
  EXPECT_EQ(type_of("mul.wide.s32 %rd1, %r1, %r2", 0), Type::s64);
  EXPECT_EQ(type_of("mul.wide.s32 %rd1, %r1, %r2", 1), Type::s32);
  EXPECT_EQ(type_of("shl.b64 %rd1, %rd2, 3", 2), Type::u32);
  EXPECT_EQ(type_of("selp.f32 %f1, %f2, %f3, %p1", 3), Type::pred);
  EXPECT_EQ(type_of("mov.b64 %rd1, {%r1, %r2}", 1), Type::b32);
  EXPECT_EQ(type_of("cvt.rn.f32.s64 %f1, %rd1", 1), Type::s64);
}

}  // namespace
}  // namespace km::ptx::test
