#include "simt/transform/carry.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

#include "ptx/ptx.h"

namespace km::simt {
namespace {

using ptx::Instruction;
using ptx::Opcode;
using ptx::Operand;
using Wide = unsigned __int128;

/// Runs straight-line integer code: the instructions that the transformation makes.
class Machine {
 public:
  explicit Machine(const ptx::Function& function) : function_(function) {}

  uint64_t& operator[](const std::string& name) { return values_[name]; }

  void run() {
    for (const Instruction& in : function_.code) {
      if (in.opcode == Opcode::ret) return;
      if (in.guard != ptx::kNone && (named(in.guard) != 0) == in.guard_negated) continue;
      named(in.operands[0].reg) = execute(in);
    }
  }

 private:
  uint64_t& named(ptx::RegisterId reg) { return values_[function_.registers[reg].name]; }

  uint64_t read(const Operand& operand) {
    return operand.kind == Operand::Kind::reg ? named(operand.reg) : operand.bits;
  }

  uint64_t execute(const Instruction& in) {
    const bool narrow = ptx::size_bits(in.type()) == 32;
    const uint64_t mask = narrow ? 0xffffffff : ~uint64_t{0};
    const uint64_t a = read(in.operands[1]), b = in.operand_count > 2 ? read(in.operands[2]) : 0;
    switch (in.opcode) {
      case Opcode::add:
        return (a + b) & mask;
      case Opcode::sub:
        return (a - b) & mask;
      case Opcode::or_:
        return a | b;
      case Opcode::and_:
        return a & b;
      case Opcode::xor_:
        return a ^ b;
      case Opcode::shr:
        return a >> b;
      case Opcode::mov:
        return a;
      case Opcode::cvt:
        return a & 0xffffffff;
      case Opcode::setp:
        return in.has(ptx::Modifier::ge) ? a >= b : a < b;
      case Opcode::selp:
        return read(in.operands[3]) ? a : b;
      case Opcode::mul:
        return multiply(in, a & mask, b & mask) & mask;
      default:
        ADD_FAILURE() << ptx::text_of(in.opcode);
        return 0;
    }
  }

  static uint64_t multiply(const Instruction& in, uint64_t a, uint64_t b) {
    if (!in.has(ptx::Modifier::hi)) return a * b;
    return static_cast<uint64_t>((Wide(a) * b) >> ptx::size_bits(in.type()));
  }

  const ptx::Function& function_;
  std::map<std::string, uint64_t> values_;
};

ptx::Function transformed(const std::string& body) {
  const std::string text =
      ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k() {\n"
      ".reg .u32 %a<4>, %b<4>, %r<8>;\n.reg .u64 %x<4>, %y<4>, %z<4>;\n"
      ".reg .pred %p<2>;\n" +
      body + "\nret;\n}\n";
  auto module = ptx::parse(text, "carry.ptx");
  EXPECT_TRUE(module) << module.error().message;
  ptx::Function function = (*module)->functions[0];
  make_carry_explicit(function);
  return function;
}

std::mt19937_64& random_words() {
  static std::mt19937_64 engine(7);
  return engine;
}

uint64_t word64() {
  const uint64_t word = random_words()();
  const uint64_t edges[] = {0, 1, ~uint64_t{0}, uint64_t{1} << 63, 0xffffffff, word, word};
  return edges[random_words()() % 7];
}
uint64_t word32() { return word64() >> (random_words()() % 2 ? 0 : 32) & 0xffffffff; }

TEST(Carry, LongAdditionAndSubtraction) {
  const ptx::Function sum = transformed(
      "add.cc.u32 %r0, %a0, %b0; addc.cc.u32 %r1, %a1, %b1; addc.cc.u32 %r2, %a2, %b2;"
      "addc.u32 %r3, %a3, %b3;");
  const ptx::Function difference = transformed(
      "sub.cc.u32 %r0, %a0, %b0; subc.cc.u32 %r1, %a1, %b1; subc.cc.u32 %r2, %a2, %b2;"
      "subc.u32 %r3, %a3, %b3;");
  for (int n = 0; n < 20000; ++n) {
    Wide a = 0, b = 0;
    Machine adder(sum), subtractor(difference);
    for (int i = 0; i < 4; ++i) {
      const std::string digit = std::to_string(i);
      const uint64_t x = word32(), y = word32();
      adder["%a" + digit] = subtractor["%a" + digit] = x;
      adder["%b" + digit] = subtractor["%b" + digit] = y;
      a |= Wide(x) << (32 * i);
      b |= Wide(y) << (32 * i);
    }
    adder.run();
    subtractor.run();
    for (int i = 0; i < 4; ++i) {
      const std::string digit = "%r" + std::to_string(i);
      ASSERT_EQ(adder[digit], static_cast<uint32_t>((a + b) >> (32 * i)));
      ASSERT_EQ(subtractor[digit], static_cast<uint32_t>((a - b) >> (32 * i)));
    }
  }
}

TEST(Carry, SixtyFourBits) {
  const ptx::Function code = transformed(
      "add.cc.u64 %z0, %x0, %y0; addc.u64 %z1, %x1, %y1;"
      "sub.cc.s64 %z2, %x0, %y0; subc.s64 %z3, %x1, %y1;");
  for (int n = 0; n < 20000; ++n) {
    Machine machine(code);
    const uint64_t x0 = word64(), x1 = word64(), y0 = word64(), y1 = word64();
    machine["%x0"] = x0, machine["%x1"] = x1, machine["%y0"] = y0, machine["%y1"] = y1;
    machine.run();
    const Wide x = Wide(x1) << 64 | x0, y = Wide(y1) << 64 | y0;
    ASSERT_EQ(machine["%z0"], static_cast<uint64_t>(x + y));
    ASSERT_EQ(machine["%z1"], static_cast<uint64_t>((x + y) >> 64));
    ASSERT_EQ(machine["%z2"], static_cast<uint64_t>(x - y));
    ASSERT_EQ(machine["%z3"], static_cast<uint64_t>((x - y) >> 64));
  }
}

// One flag for sums and differences, as ptxas makes code of it for sm_80: set by sub.cc if nothing
// is borrowed.
TEST(Carry, FlagOfDifferencesInSumsAndBack) {
  const ptx::Function code = transformed(
      "sub.cc.u32 %r0, %a0, %b0; addc.u32 %r1, %a1, %b1;"
      "add.cc.u32 %r2, %a0, %b0; subc.u32 %r3, %a1, %b1;"
      "sub.cc.u64 %z0, %x0, %y0; addc.cc.u64 %z1, %x1, %y1; subc.u64 %z2, %x2, %y2;");
  for (int n = 0; n < 20000; ++n) {
    Machine machine(code);
    const uint64_t a0 = word32(), b0 = word32(), a1 = word32(), b1 = word32();
    machine["%a0"] = a0, machine["%b0"] = b0, machine["%a1"] = a1, machine["%b1"] = b1;
    const uint64_t x0 = word64(), y0 = word64(), x1 = word64(), y1 = word64(), x2 = word64(),
                   y2 = word64();
    machine["%x0"] = x0, machine["%y0"] = y0, machine["%x1"] = x1, machine["%y1"] = y1;
    machine["%x2"] = x2, machine["%y2"] = y2;
    machine.run();
    ASSERT_EQ(machine["%r1"], static_cast<uint32_t>(a1 + b1 + (a0 >= b0 ? 1 : 0)));
    const bool carry = a0 + b0 > 0xffffffff;
    ASSERT_EQ(machine["%r3"], static_cast<uint32_t>(a1 - b1 - (carry ? 0 : 1)));
    const Wide sum = Wide(x1) + y1 + (x0 >= y0 ? 1 : 0);
    ASSERT_EQ(machine["%z1"], static_cast<uint64_t>(sum));
    ASSERT_EQ(machine["%z2"], x2 - y2 - (sum >> 64 ? 0 : 1));
  }
}

/// The 64 x 64 + 64 -> 128 bit sequence of CUDA's sine and cosine.
TEST(Carry, LongMultiplication) {
  const ptx::Function code = transformed(
      "mad.lo.cc.u32 %r0, %a0, %b0, %a2; madc.hi.cc.u32 %r1, %a0, %b0, %a3;"
      "madc.hi.u32 %r2, %a0, %b1, 0; mad.lo.cc.u32 %r1, %a0, %b1, %r1;"
      "madc.hi.cc.u32 %r2, %a1, %b0, %r2; madc.hi.u32 %r3, %a1, %b1, 0;"
      "mad.lo.cc.u32 %r1, %a1, %b0, %r1; madc.lo.cc.u32 %r2, %a1, %b1, %r2;"
      "addc.u32 %r3, %r3, 0;");
  for (int n = 0; n < 20000; ++n) {
    Machine machine(code);
    const uint64_t x = word64(), y = word64(), z = word64();
    machine["%a0"] = x & 0xffffffff, machine["%a1"] = x >> 32;
    machine["%b0"] = y & 0xffffffff, machine["%b1"] = y >> 32;
    machine["%a2"] = z & 0xffffffff, machine["%a3"] = z >> 32;
    machine.run();
    const Wide result = Wide(x) * y + z;
    for (int i = 0; i < 4; ++i) {
      ASSERT_EQ(machine["%r" + std::to_string(i)], static_cast<uint32_t>(result >> (32 * i)));
    }
  }
}

TEST(Carry, LabelsAndGuardsStay) {
  ptx::Function function = transformed(
      "bra L1; L0: @!%p0 add.cc.u32 %r0, %r0, %a0; addc.u32 %r1, %r1, 0; L1: @%p1 bra L0; L2:");
  ASSERT_EQ(function.labels.size(), 3u);
  EXPECT_EQ(function.labels[0].instruction, 1u);
  EXPECT_EQ(function.code[function.labels[1].instruction].opcode, Opcode::bra);
  EXPECT_EQ(function.code[function.labels[2].instruction].opcode, Opcode::ret);
  for (uint32_t i = 1; i < function.labels[1].instruction; ++i) {
    const Instruction& in = function.code[i];
    const bool first = in.location.column == function.code[1].location.column;
    EXPECT_EQ(in.guard != ptx::kNone, first);
    EXPECT_EQ(in.guard_negated, first);
  }
}

TEST(Carry, OtherCodeIsUntouched) {
  const ptx::Function function =
      transformed("add.u32 %r0, %a0, %a1; mad.lo.u32 %r1, %a0, %a1, %a2;");
  EXPECT_EQ(function.code.size(), 3u);
}

}  // namespace
}  // namespace km::simt
