#include "simt/transform/inline/dynamic_stack.h"

#include <algorithm>
#include <string>

#include "simt/transform/make_instruction.h"

namespace km::simt {

namespace {

using ptx::Instruction;
using ptx::Opcode;
using ptx::Operand;
using ptx::RegisterId;
using ptx::Type;

constexpr const char* kStackName = "%stack";
constexpr uint64_t kLeastAlignBytes = 8;
// Keeps frame sizes from being powers of two, for which all threads' frames would map to the same
// cache sets.
constexpr uint64_t kOddBytes = 64;

/// Requires 64-bit addresses, because local addresses are addresses of the host.
bool uses_stack(const Instruction& in) {
  switch (in.opcode) {
    case Opcode::alloca:
    case Opcode::stacksave:
    case Opcode::stackrestore:
      return in.type() == Type::u64;
    default:
      return false;
  }
}

class Rewriter {
 public:
  Rewriter(ptx::Function& function, uint64_t stack_bytes)
      : function_(function), stack_bytes_(stack_bytes + kOddBytes) {}

  void run() {
    add_stack();
    like_ = &function_.code.front();
    emit_always("mov.u64", {top_, base(stack_bytes_)});
    std::vector<uint32_t> new_index;
    for (const Instruction& in : function_.code) {
      new_index.push_back(static_cast<uint32_t>(code_.size()));
      rewrite(in);
    }
    new_index.push_back(static_cast<uint32_t>(code_.size()));
    for (ptx::Label& label : function_.labels) label.instruction = new_index[label.instruction];
    function_.code = std::move(code_);
  }

 private:
  void add_stack() {
    ptx::Symbol symbol;
    symbol.name = kStackName;
    symbol.space = ptx::Space::local;
    symbol.type = Type::b8;
    symbol.is_array = true;
    symbol.element_count = symbol.size_bytes = stack_bytes_;
    symbol.align_bytes = 16;
    stack_ = static_cast<ptx::SymbolId>(function_.symbols.size());
    function_.symbols.push_back(std::move(symbol));
    top_ = make_register(Type::u64);
  }

  Operand make_register(Type type) {
    function_.registers.push_back({"%stack" + std::to_string(function_.registers.size()), type});
    return register_operand(static_cast<RegisterId>(function_.registers.size() - 1));
  }

  /// The stack's address plus an offset.
  Operand base(uint64_t offset) const {
    Operand operand = address_operand(stack_, static_cast<int64_t>(offset));
    operand.kind = Operand::Kind::symbol;
    return operand;
  }

  void emit(const std::string& mnemonic, std::initializer_list<Operand> operands) {
    code_.push_back(make_instruction(mnemonic, operands, *like_));
  }

  void emit_always(const std::string& mnemonic, std::initializer_list<Operand> operands) {
    emit(mnemonic, operands);
    code_.back().guard = ptx::kNone;
    code_.back().guard_negated = false;
  }

  Operand value(const std::string& mnemonic, Type type, Operand a, Operand b) {
    Operand result = make_register(type);
    emit(mnemonic, {result, a, b});
    return result;
  }

  void rewrite(const Instruction& in) {
    like_ = &in;
    if (!uses_stack(in)) {
      code_.push_back(in);
    } else if (in.opcode == Opcode::stacksave) {
      emit("mov.u64", {in.operands[0], top_});
    } else if (in.opcode == Opcode::stackrestore) {
      emit("mov.u64", {top_, in.operands[0]});
    } else {
      allocate(in);
    }
  }

  /// The stack grows downwards, and alignment may exhaust it. Under a false guard `exceeds` is
  /// false.
  void allocate(const Instruction& in) {
    uint64_t align = kLeastAlignBytes;
    if (in.operand_count > 2) align = std::max(align, in.operands[2].bits);
    Operand bottom = make_register(Type::u64);
    emit("mov.u64", {bottom, base(0)});
    Operand room = value("sub.u64", Type::u64, top_, bottom);
    Operand exceeds_before = value("setp.lt.u64", Type::pred, room, in.operands[1]);
    Operand fresh = value("sub.u64", Type::u64, top_, in.operands[1]);
    fresh = value("and.b64", Type::u64, fresh, immediate_operand(~(align - 1)));
    Operand below = value("setp.lt.u64", Type::pred, fresh, bottom);
    const Operand exceeds = make_register(Type::pred), zero = immediate_operand(0);
    emit_always("setp.ne.u32", {exceeds, zero, zero});
    emit("or.pred", {exceeds, exceeds_before, below});
    Instruction stop = make_trap(FaultKind::stack_overflow, in);
    stop.guard = exceeds.reg;
    code_.push_back(std::move(stop));
    emit("mov.u64", {top_, fresh});
    emit("mov.u64", {in.operands[0], fresh});
  }

  ptx::Function& function_;
  const uint64_t stack_bytes_;
  std::vector<Instruction> code_;
  const Instruction* like_ = nullptr;
  ptx::SymbolId stack_ = ptx::kNone;
  Operand top_;
};

}  // namespace

bool allocates_stack(const ptx::Function& function) {
  return std::any_of(function.code.begin(), function.code.end(), uses_stack);
}

void make_stack_explicit(ptx::Function& function, uint64_t stack_bytes) {
  if (allocates_stack(function)) Rewriter(function, stack_bytes).run();
}

bool is_stack(const ptx::Symbol& symbol) { return symbol.name == kStackName; }

bool has_stack(const ptx::Function& function) {
  return std::any_of(function.symbols.begin(), function.symbols.end(), is_stack);
}

}  // namespace km::simt
