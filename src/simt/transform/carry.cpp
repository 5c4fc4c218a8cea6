#include "simt/transform/carry.h"

#include <algorithm>
#include <string>

#include "simt/transform/make_instruction.h"

namespace km::simt {

namespace {

using ptx::Instruction;
using ptx::Modifier;
using ptx::Opcode;
using ptx::Operand;
using ptx::RegisterId;
using ptx::Type;

bool reads_carry(const Instruction& in) {
  return in.opcode == Opcode::addc || in.opcode == Opcode::subc || in.opcode == Opcode::madc;
}

bool uses_carry(const Instruction& in) { return in.has(Modifier::cc) || reads_carry(in); }

class Rewriter {
 public:
  explicit Rewriter(ptx::Function& function) : function_(function) {}

  void run() {
    std::vector<uint32_t> new_index;
    for (const Instruction& in : function_.code) {
      new_index.push_back(static_cast<uint32_t>(code_.size()));
      if (uses_carry(in)) {
        rewrite(in);
      } else {
        code_.push_back(in);
      }
    }
    new_index.push_back(static_cast<uint32_t>(code_.size()));
    for (ptx::Label& label : function_.labels) label.instruction = new_index[label.instruction];
    function_.code = std::move(code_);
  }

 private:
  RegisterId make_register(Type type) {
    function_.registers.push_back({"%carry" + std::to_string(function_.registers.size()), type});
    return static_cast<RegisterId>(function_.registers.size() - 1);
  }

  void emit(const std::string& mnemonic, std::initializer_list<Operand> operands) {
    code_.push_back(make_instruction(mnemonic, operands, *like_));
  }

  /// Emits `mnemonic` and returns the new register with its result.
  Operand value(const std::string& mnemonic, Type type, Operand a) {
    Operand result = register_operand(make_register(type));
    emit(mnemonic, {result, a});
    return result;
  }
  Operand value(const std::string& mnemonic, Type type, Operand a, Operand b) {
    Operand result = register_operand(make_register(type));
    emit(mnemonic, {result, a, b});
    return result;
  }

  Operand carry() {
    if (carry_ == ptx::kNone) carry_ = make_register(Type::u64);
    return register_operand(carry_);
  }

  void rewrite(const Instruction& in) {
    like_ = &in;
    const bool wide = ptx::size_bits(in.type()) == 64;
    const bool subtract = in.opcode == Opcode::sub || in.opcode == Opcode::subc;
    Operand a = in.operands[1], b = in.operands[2];
    if (in.opcode == Opcode::mad || in.opcode == Opcode::madc) {
      const std::string part = in.has(Modifier::hi) ? "mul.hi." : "mul.lo.";
      a = value(part + std::string(ptx::text_of(in.type())), in.type(), a, b);
      b = in.operands[3];
    }
    if (wide) {
      subtract ? subtract_64(in, a, b) : add_64(in, a, b);
    } else {
      rewrite_32(in, a, b, subtract);
    }
  }

  /// The sum is computed in 64 bits, and the flag is the carry out of the lower half. A difference
  /// adds 2^32 - b, so that its flag is set if nothing was borrowed. Operands of 16 bits only read
  /// the flag.
  void rewrite_32(const Instruction& in, Operand a, Operand b, bool subtract) {
    constexpr uint64_t kTwo32 = uint64_t{1} << 32;
    const bool short_ones = ptx::size_bits(in.type()) == 16;
    const char* const widen = short_ones ? "cvt.u64.u16" : "cvt.u64.u32";
    a = value(widen, Type::u64, a);
    b = value(widen, Type::u64, b);
    const uint64_t offset = !subtract ? 0 : reads_carry(in) ? kTwo32 - 1 : kTwo32;
    if (offset != 0) a = value("add.u64", Type::u64, a, immediate_operand(offset));
    Operand sum = value(subtract ? "sub.u64" : "add.u64", Type::u64, a, b);
    if (reads_carry(in)) sum = value("add.u64", Type::u64, sum, carry());
    emit(short_ones ? "cvt.u16.u64" : "cvt.u32.u64", {in.operands[0], sum});
    if (in.has(Modifier::cc)) emit("shr.u64", {carry(), sum, immediate_operand(32)});
  }

  /// The flag is set if one of the two additions wraps, in which case the sum is below an addend.
  void add_64(const Instruction& in, Operand a, Operand b) {
    Operand sum = value("add.u64", Type::u64, a, b);
    Operand flag = one_if("setp.lt.u64", sum, a);
    if (reads_carry(in)) {
      Operand total = value("add.u64", Type::u64, sum, carry());
      flag = value("or.b64", Type::u64, flag, one_if("setp.lt.u64", total, sum));
      sum = total;
    }
    emit("mov.b64", {in.operands[0], sum});
    if (in.has(Modifier::cc)) emit("mov.b64", {carry(), flag});
  }

  /// The flag is set if neither subtraction borrows.
  void subtract_64(const Instruction& in, Operand a, Operand b) {
    Operand difference = value("sub.u64", Type::u64, a, b);
    Operand flag = one_if("setp.ge.u64", a, b);
    if (reads_carry(in)) {
      const Operand borrow = value("xor.b64", Type::u64, carry(), immediate_operand(1));
      const Operand total = value("sub.u64", Type::u64, difference, borrow);
      flag = value("and.b64", Type::u64, flag, one_if("setp.ge.u64", difference, borrow));
      difference = total;
    }
    emit("mov.b64", {in.operands[0], difference});
    if (in.has(Modifier::cc)) emit("mov.b64", {carry(), flag});
  }

  Operand one_if(const char* comparison, Operand a, Operand b) {
    Operand holds = value(comparison, Type::pred, a, b);
    Operand result = register_operand(make_register(Type::u64));
    emit("selp.u64", {result, immediate_operand(1), immediate_operand(0), holds});
    return result;
  }

  ptx::Function& function_;
  std::vector<Instruction> code_;
  const Instruction* like_ = nullptr;
  RegisterId carry_ = ptx::kNone;
};

}  // namespace

void make_carry_explicit(ptx::Function& function) {
  if (std::any_of(function.code.begin(), function.code.end(), uses_carry)) Rewriter(function).run();
}

}  // namespace km::simt
