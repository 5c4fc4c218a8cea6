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

  /// A new register that holds the result of `mnemonic`.
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
      rewrite_64(in, subtract ? "sub.u64" : "add.u64", a, b, subtract);
    } else {
      rewrite_32(in, subtract ? "sub.u64" : "add.u64", a, b, subtract);
    }
  }

  /// In 64 bits; the flag is what leaves the lower half.
  void rewrite_32(const Instruction& in, const char* operation, Operand a, Operand b,
                  bool subtract) {
    a = value("cvt.u64.u32", Type::u64, a);
    b = value("cvt.u64.u32", Type::u64, b);
    Operand sum = value(operation, Type::u64, a, b);
    if (reads_carry(in)) sum = value(operation, Type::u64, sum, carry());
    emit("cvt.u32.u64", {in.operands[0], sum});
    const uint64_t top = subtract ? 63 : 32;
    if (in.has(Modifier::cc)) emit("shr.u64", {carry(), sum, immediate_operand(top)});
  }

  /// The flag is set where one of the two steps wraps: sums below an addend, differences of a
  /// smaller number.
  void rewrite_64(const Instruction& in, const char* operation, Operand a, Operand b,
                  bool subtract) {
    Operand sum = value(operation, Type::u64, a, b);
    Operand flag = wrapped(subtract ? a : sum, subtract ? b : a);
    if (reads_carry(in)) {
      Operand total = value(operation, Type::u64, sum, carry());
      Operand second = wrapped(subtract ? sum : total, subtract ? carry() : sum);
      flag = value("or.b64", Type::u64, flag, second);
      sum = total;
    }
    emit("mov.b64", {in.operands[0], sum});
    if (in.has(Modifier::cc)) emit("mov.b64", {carry(), flag});
  }

  /// 1 where a < b.
  Operand wrapped(Operand a, Operand b) {
    Operand less = value("setp.lt.u64", Type::pred, a, b);
    Operand result = register_operand(make_register(Type::u64));
    emit("selp.u64", {result, immediate_operand(1), immediate_operand(0), less});
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
