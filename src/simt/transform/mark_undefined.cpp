#include "simt/transform/mark_undefined.h"

#include <algorithm>
#include <span>
#include <string>
#include <utility>

#include "base/assert.h"
#include "ptx/forms.h"
#include "simt/transform/make_instruction.h"

namespace km::simt {

using ptx::Family;
using ptx::Instruction;
using ptx::Modifier;
using ptx::Opcode;
using ptx::Operand;
using ptx::RegisterId;

namespace {

/// The predicates that say which registers are undefined, and the code that keeps them right.
class Marker {
 public:
  explicit Marker(ptx::Function& function) : function_(function) {}

  /// Finds the registers that may be undefined.
  void find(const Kernel& kernel) {
    shadows_.assign(function_.registers.size(), ptx::kNone);
    is_seed_.assign(function_.registers.size(), false);
    std::vector<RegisterId> open;
    const auto add = [&](RegisterId reg) {
      if (shadows_[reg] != ptx::kNone) return;
      shadows_[reg] = add_predicate("undefined_" + std::to_string(reg));
      open.push_back(reg);
    };
    for (const Value& value : kernel.values) {
      if (value.block != kNone || value.reg == ptx::kNone) continue;
      is_seed_[value.reg] = has_shadows_ = true;
      add(value.reg);
    }
    std::vector<std::vector<uint32_t>> readers(shadows_.size());
    for (uint32_t i = 0; i < function_.code.size(); ++i) {
      if (!is_computation(function_.code[i])) continue;
      for (const RegisterId reg : sources_of(function_.code[i])) readers[reg].push_back(i);
    }
    while (!open.empty()) {
      const RegisterId reg = open.back();
      open.pop_back();
      for (const uint32_t i : readers[reg]) {
        for (const RegisterId written : registers_of(function_, function_.code[i]).writes) {
          add(written);
        }
      }
    }
  }

  /// Adds marks and the code for the predicates.
  void rewrite(bool has_locals) {
    std::vector<Instruction> old = std::exchange(function_.code, {});
    if (old.empty()) return;
    if (has_locals) emit_mark(UndefinedUse::locals, ptx::kNone, old[0]);
    if (has_shadows_) emit_start(old[0]);
    std::vector<uint32_t> places;
    for (Instruction& instruction : old) {
      places.push_back(static_cast<uint32_t>(function_.code.size()));
      if (has_shadows_) {
        mark_uses(instruction);
        follow(instruction);
      }
      function_.code.push_back(std::move(instruction));
    }
    places.push_back(static_cast<uint32_t>(function_.code.size()));
    for (ptx::Label& label : function_.labels) label.instruction = places[label.instruction];
  }

 private:
  /// True if the instruction only computes results from its operands.
  static bool is_computation(const Instruction& instruction) {
    return !has_effects(instruction) || instruction.opcode == Opcode::div ||
           instruction.opcode == Opcode::rem;
  }
  static bool is_predicate_logic(const Instruction& instruction) {
    const bool is_logic = instruction.opcode == Opcode::and_ || instruction.opcode == Opcode::or_;
    return is_logic && instruction.type_count == 1 && instruction.type() == ptx::Type::pred;
  }
  /// True for x ^ x and x - x of integers, which are 0 whatever x is.
  static bool clears(const Instruction& instruction) {
    const Operand &a = instruction.operands[1], &b = instruction.operands[2];
    const bool subtracts = instruction.opcode == Opcode::sub && !ptx::is_float(instruction.type());
    return (instruction.opcode == Opcode::xor_ || subtracts) && a.kind == Operand::Kind::reg &&
           b.kind == Operand::Kind::reg && a.reg == b.reg;
  }

  /// True if the register may be undefined.
  bool is_followed(RegisterId reg) const {
    return reg != ptx::kNone && shadows_[reg] != ptx::kNone;
  }
  /// The registers from which a computation's results come, its guard included.
  std::vector<RegisterId> sources_of(const Instruction& instruction) const {
    std::vector<RegisterId> reads;
    if (!clears(instruction)) reads = registers_of(function_, instruction).reads;
    const bool selects = instruction.guard != ptx::kNone && !has_effects(instruction);
    if (selects) reads.push_back(instruction.guard);
    return reads;
  }
  std::vector<RegisterId> followed(const std::vector<RegisterId>& list) const {
    std::vector<RegisterId> result;
    std::copy_if(list.begin(), list.end(), std::back_inserter(result),
                 [this](RegisterId reg) { return is_followed(reg); });
    return result;
  }

  RegisterId add_predicate(const std::string& name) {
    function_.registers.push_back({"%" + name, ptx::Type::pred});
    return static_cast<RegisterId>(function_.registers.size() - 1);
  }
  /// The predicate of an operand; one that is always false if it cannot be undefined.
  Operand shadow_of(const Operand& operand) const {
    const bool is_register = operand.kind == Operand::Kind::reg && is_followed(operand.reg);
    return register_operand(is_register ? shadows_[operand.reg] : never_);
  }

  /// Emits an instruction without a guard.
  void emit(std::string_view mnemonic, std::initializer_list<Operand> operands,
            const Instruction& like) {
    function_.code.push_back(make_instruction(mnemonic, operands, like));
    function_.code.back().guard = ptx::kNone;
    function_.code.back().guard_negated = false;
  }
  /// Lets the instruction before be executed only by threads whose predicate holds.
  void guard_by(RegisterId predicate, bool is_negated = false) {
    function_.code.back().guard = predicate;
    function_.code.back().guard_negated = is_negated;
  }
  void emit_mark(UndefinedUse use, RegisterId guard, const Instruction& like) {
    emit("pmevent", {immediate_operand(0)}, like);
    // An unused operand has the use: PTX has no instruction that would say it.
    function_.code.back().operands[1].bits = static_cast<uint64_t>(use);
    guard_by(guard);
  }

  /// Sets the predicates at the begin of the kernel.
  void emit_start(const Instruction& like) {
    sum_ = add_predicate("undefined_sum");
    term_ = add_predicate("undefined_term");
    never_ = add_predicate("never");
    const RegisterId always = add_predicate("always");
    const Operand zero = immediate_operand(0);
    emit("setp.ne.u32", {register_operand(never_), zero, zero}, like);
    emit("setp.eq.u32", {register_operand(always), zero, zero}, like);
    for (RegisterId reg = 0; reg < is_seed_.size(); ++reg) {
      if (shadows_[reg] == ptx::kNone) continue;
      emit("mov.pred",
           {register_operand(shadows_[reg]), register_operand(is_seed_[reg] ? always : never_)},
           like);
    }
  }

  // ---- What results are made of.

  /// Keeps the predicates of an instruction's results right. The code stands before the
  /// instruction, which may write its own guard.
  void follow(const Instruction& instruction) {
    const std::vector<RegisterId> results = followed(registers_of(function_, instruction).writes);
    if (results.empty()) return;
    const Operand undefined = emit_result(instruction);
    for (const RegisterId result : results) {
      const Operand shadow = register_operand(shadows_[result]);
      function_.code.push_back(make_instruction("mov.pred", {shadow, undefined}, instruction));
      const bool selects = is_followed(instruction.guard) && !has_effects(instruction);
      if (!selects) continue;
      emit("or.pred", {shadow, shadow, register_operand(shadows_[instruction.guard])}, instruction);
    }
  }

  /// Computes whether the results are undefined.
  Operand emit_result(const Instruction& instruction) {
    const Operand never = register_operand(never_);
    if (!is_computation(instruction) || clears(instruction)) return never;
    if (instruction.opcode == Opcode::selp) return emit_selection(instruction);
    if (is_predicate_logic(instruction)) return emit_logic(instruction);
    const Operand& from = instruction.operands[1];
    if (instruction.opcode == Opcode::mov && from.kind == Operand::Kind::vector) {
      return emit_all_of(elements_of(from), instruction);
    }
    const std::vector<RegisterId> reads = followed(registers_of(function_, instruction).reads);
    if (reads.empty()) return never;
    Operand sum = register_operand(shadows_[reads[0]]);
    for (size_t i = 1; i < reads.size(); ++i) {
      emit("or.pred", {register_operand(sum_), sum, register_operand(shadows_[reads[i]])},
           instruction);
      sum = register_operand(sum_);
    }
    return sum;
  }

  /// The operands of a vector, or the operand itself. `_` is none.
  std::vector<Operand> elements_of(const Operand& operand) const {
    if (operand.kind != Operand::Kind::vector) return {operand};
    const auto first = function_.operand_pool.begin() + operand.first;
    std::vector<Operand> elements(first, first + operand.count);
    std::erase_if(elements, [](const Operand& one) { return one.kind == Operand::Kind::sink; });
    return elements;
  }

  /// True if all of these are undefined: what is partly defined is a copy of a structure with its
  /// padding, as a rule.
  Operand emit_all_of(std::span<const Operand> elements, const Instruction& like) {
    if (elements.empty()) return register_operand(never_);
    Operand all = shadow_of(elements[0]);
    for (const Operand& element : elements.subspan(1)) {
      emit("and.pred", {register_operand(sum_), all, shadow_of(element)}, like);
      all = register_operand(sum_);
    }
    return all;
  }

  /// selp d, a, b, p: the operand that p does not select does not matter.
  Operand emit_selection(const Instruction& instruction) {
    const Operand sum = register_operand(sum_);
    const Operand& decides = instruction.operands[3];
    emit("mov.pred", {sum, shadow_of(instruction.operands[2])}, instruction);
    if (decides.kind == Operand::Kind::reg) {
      emit("mov.pred", {sum, shadow_of(instruction.operands[1])}, instruction);
      guard_by(decides.reg, decides.negated);
    }
    emit("or.pred", {sum, sum, shadow_of(decides)}, instruction);
    return sum;
  }

  /// and, or: an operand that is defined and decides the result makes it defined. Compilers turn
  /// `a && b`, in which b means nothing if a is false, into one `and`.
  Operand emit_logic(const Instruction& instruction) {
    const Operand sum = register_operand(sum_), term = register_operand(term_);
    const bool is_or = instruction.opcode == Opcode::or_;
    const Operand sides[] = {instruction.operands[1], instruction.operands[2]};
    emit("or.pred", {sum, shadow_of(sides[0]), shadow_of(sides[1])}, instruction);
    for (const Operand& side : sides) {
      if (side.kind != Operand::Kind::reg) continue;
      Operand leaves = side;  // holds if the side does not decide
      if (is_or) leaves.negated = !leaves.negated;
      emit("or.pred", {term, leaves, shadow_of(side)}, instruction);
      emit("and.pred", {sum, sum, term}, instruction);
    }
    return sum;
  }

  // ---- Where it matters.

  void mark_uses(const Instruction& instruction) {
    const bool is_branch = instruction.guard != ptx::kNone && has_effects(instruction);
    if (is_branch && is_followed(instruction.guard)) {
      emit_use(UndefinedUse::branch, {instruction.guard}, nullptr, instruction);
    }
    const Operand& index = instruction.operands[0];
    if (instruction.opcode == Opcode::brx && is_followed(index.reg)) {
      emit_use(UndefinedUse::branch, {index.reg}, &instruction, instruction);
    }
    if (!accesses_memory(instruction)) return;
    for (unsigned i = 0; i < instruction.operand_count; ++i) {
      const Operand& operand = instruction.operands[i];
      if (operand.kind != Operand::Kind::address || !is_followed(operand.reg)) continue;
      emit_use(UndefinedUse::address, {operand.reg}, &instruction, instruction);
    }
    mark_stored(instruction);
  }

  static bool accesses_memory(const Instruction& instruction) {
    switch (ptx::family_of(instruction)) {
      case Family::load:
      case Family::store:
      case Family::atomic:
      case Family::async_copy:
      case Family::matrix_move:
        return true;
      default:
        return false;
    }
  }

  /// Marks values that are stored to memory that others see, or that an atomic takes.
  void mark_stored(const Instruction& instruction) {
    const Family family = ptx::family_of(instruction);
    const bool is_own = instruction.has(Modifier::local) || instruction.has(Modifier::param) ||
                        instruction.has(Modifier::param_func);
    if (is_own || (family != Family::store && family != Family::atomic)) return;
    const unsigned first = instruction.opcode == Opcode::atom ? 2 : 1;
    const unsigned hints = instruction.has(Modifier::L2_cache_hint) ? 1 : 0;
    for (unsigned i = first; i + hints < instruction.operand_count; ++i) {
      if (instruction.operands[i].kind == Operand::Kind::address) continue;  // of an mbarrier
      std::vector<RegisterId> stored;
      for (const Operand& one : elements_of(instruction.operands[i])) stored.push_back(one.reg);
      const bool may_be_undefined =
          !stored.empty() && std::all_of(stored.begin(), stored.end(),
                                         [this](RegisterId reg) { return is_followed(reg); });
      if (may_be_undefined) emit_use(UndefinedUse::store, stored, &instruction, instruction);
    }
  }

  /// Adds a mark for threads for which all of these registers are undefined, and which execute
  /// `guarded` (null: all). The registers then count as defined, so that each is reported once.
  void emit_use(UndefinedUse use, const std::vector<RegisterId>& registers,
                const Instruction* guarded, const Instruction& like) {
    const Operand term = register_operand(term_);
    emit("mov.pred", {term, register_operand(shadows_[registers[0]])}, like);
    for (const RegisterId reg : registers) {
      emit("and.pred", {term, term, register_operand(shadows_[reg])}, like);
    }
    if (guarded != nullptr && guarded->guard != ptx::kNone) {
      Operand guard = register_operand(guarded->guard);
      guard.negated = guarded->guard_negated;
      emit("and.pred", {term, term, guard}, like);
    }
    emit_mark(use, term_, like);
    for (const RegisterId reg : registers) {
      emit("mov.pred", {register_operand(shadows_[reg]), register_operand(never_)}, like);
      guard_by(term_);
    }
  }

  ptx::Function& function_;
  std::vector<RegisterId> shadows_;  // by register: its predicate; kNone: it is never undefined
  std::vector<bool> is_seed_;        // by register: nothing has written it at the kernel's begin
  bool has_shadows_ = false;
  RegisterId sum_ = ptx::kNone, term_ = ptx::kNone, never_ = ptx::kNone;
};

}  // namespace

bool may_read_undefined(const Kernel& kernel) {
  return std::any_of(kernel.values.begin(), kernel.values.end(), [](const Value& value) {
    return value.block == kNone && value.reg != ptx::kNone;
  });
}

void mark_undefined(ptx::Function& function, const Kernel& kernel, bool has_locals) {
  KM_ASSERT(kernel.function == &function, "the kernel is made of another function");
  Marker marker(function);
  marker.find(kernel);
  marker.rewrite(has_locals);
}

UndefinedUse undefined_use(const Instruction& instruction) {
  if (instruction.opcode != Opcode::pmevent) return UndefinedUse::none;
  return static_cast<UndefinedUse>(instruction.operands[1].bits);
}

}  // namespace km::simt
