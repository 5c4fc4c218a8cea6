#include "dropin/toolchain/usage.h"

#include <algorithm>
#include <set>

#include "base/integers.h"
#include "dropin/toolchain/device_runtime.h"
#include "ptx/checks/program_check.h"

namespace km::toolchain {
namespace {

using ptx::Function;
using ptx::Instruction;
using ptx::kNone;
using ptx::Module;
using ptx::Operand;
using ptx::Space;

constexpr uint32_t kMostRegisters = 255;
constexpr uint32_t kMostBarriers = 16;

/// Calls `visit` with each operand of an instruction, those in lists included.
template <class Visit>
void for_each_operand(const Function& function, const Instruction& instruction, Visit visit) {
  for (unsigned i = 0; i < instruction.operand_count; ++i) {
    const Operand& operand = instruction.operands[i];
    visit(operand);
    for (uint32_t k = 0; k < operand.count; ++k) visit(function.operand_pool[operand.first + k]);
  }
}

/// Estimates registers as an allocator by linear scan uses them: a value occupies its registers
/// from its first to its last mention, and to the end of each loop that it is alive at the begin
/// of.
class RegisterEstimate {
 public:
  explicit RegisterEstimate(const Function& function)
      : function_(function), spans_(function.registers.size()) {}

  uint32_t most() {
    for (uint32_t i = 0; i < function_.code.size(); ++i) note(i);
    extend_over_loops();
    std::vector<int64_t> change(function_.code.size() + 2);
    for (size_t r = 0; r < spans_.size(); ++r) {
      const ptx::Type type = function_.registers[r].type;
      if (spans_[r].first == kNone || kind_of(type) == ptx::TypeKind::predicate) continue;
      const auto words = static_cast<int64_t>(round_up(size_bits(type), kWordBits) / kWordBits);
      change[spans_[r].first] += words;
      change[spans_[r].last + 1] -= words;
    }
    int64_t live = 0, most = 0;
    for (const int64_t each : change) most = std::max(most, live += each);
    return static_cast<uint32_t>(std::min<int64_t>(most, kMostRegisters));
  }

 private:
  static constexpr uint64_t kWordBits = 32;
  struct Span {
    uint32_t first = kNone, last = 0;
  };
  struct Loop {
    uint32_t begin, end;
  };

  void mention(ptx::RegisterId id, uint32_t at) {
    if (id == kNone) return;
    spans_[id].first = std::min(spans_[id].first, at);
    spans_[id].last = std::max(spans_[id].last, at);
  }
  void note(uint32_t at) {
    const Instruction& instruction = function_.code[at];
    mention(instruction.guard, at);
    for_each_operand(function_, instruction, [&](const Operand& operand) {
      mention(operand.reg, at);
      if (operand.kind == Operand::Kind::label) note_jump(operand.label, at);
      if (operand.kind != Operand::Kind::target_list) return;
      for (const ptx::LabelId label : function_.target_lists[operand.label].labels) {
        note_jump(label, at);
      }
    });
  }
  void note_jump(ptx::LabelId label, uint32_t at) {
    const uint32_t to = function_.labels[label].instruction;
    if (to <= at) loops_.push_back({to, at});
  }
  /// Inner loops come first, so that what they keep alive counts for outer ones.
  void extend_over_loops() {
    std::sort(loops_.begin(), loops_.end(),
              [](const Loop& a, const Loop& b) { return a.end - a.begin < b.end - b.begin; });
    constexpr size_t kMostLoops = 1000;  // time grows by loops times registers
    if (loops_.size() > kMostLoops) loops_.erase(loops_.begin(), loops_.end() - kMostLoops);
    for (const Loop& loop : loops_) {
      for (Span& span : spans_) {
        const bool is_alive = span.first < loop.begin && span.last >= loop.begin;
        if (is_alive) span.last = std::max(span.last, loop.end);
      }
    }
  }

  const Function& function_;
  std::vector<Span> spans_;
  std::vector<Loop> loops_;
};

uint32_t barriers_of(const Function& function) {
  uint32_t most = 0;
  for (const Instruction& instruction : function.code) {
    const bool is_barrier =
        instruction.opcode == ptx::Opcode::bar || instruction.opcode == ptx::Opcode::barrier;
    if (!is_barrier || instruction.has(ptx::Modifier::warp) ||
        instruction.has(ptx::Modifier::cluster)) {
      continue;
    }
    // Reductions give a result before the barrier. One in a register may be any.
    const Operand& barrier = instruction.operands[instruction.has(ptx::Modifier::red) ? 1 : 0];
    uint64_t number = kMostBarriers - 1;
    if (barrier.kind == Operand::Kind::immediate) number = std::min(number, barrier.bits);
    most = std::max(most, static_cast<uint32_t>(number) + 1);
  }
  return most;
}

FunctionUsage usage_of(const Module& module, const Function& function) {
  FunctionUsage usage;
  usage.name = function.name;
  usage.is_entry = function.is_entry;
  usage.registers = RegisterEstimate(function).most();
  if (function.maxnreg != 0) usage.registers = std::min(usage.registers, function.maxnreg);
  usage.barriers = barriers_of(function);
  std::set<ptx::SymbolId> seen;
  for (const ptx::Symbol& symbol : function.symbols) {
    if (symbol.space == Space::local) usage.stack_bytes += symbol.size_bytes;
    if (symbol.space == Space::shared) usage.shared_bytes += symbol.size_bytes;
  }
  for (const Instruction& instruction : function.code) {
    for_each_operand(function, instruction, [&](const Operand& operand) {
      if (operand.symbol == kNone || operand.local_symbol) return;
      const ptx::Symbol& symbol = module.symbols[operand.symbol];
      if (symbol.is_function || symbol.space != Space::shared) return;
      if (seen.insert(operand.symbol).second) usage.shared_bytes += symbol.size_bytes;
    });
  }
  for (const ptx::SymbolId id : function.params) {
    const ptx::Symbol& param = function.symbols[id];
    usage.parameter_bytes =
        round_up(usage.parameter_bytes, std::max(param.align_bytes, 1u)) + param.size_bytes;
  }
  return usage;
}

bool is_provided(std::string_view name) {
  // The engine gives modules the device runtime's functions, whether its library is linked or not.
  return ptx::is_runtime_function(name) || is_device_runtime_function(name);
}

}  // namespace

ModuleUsage measure(const Module& module) {
  ModuleUsage usage;
  for (const ptx::Symbol& symbol : module.symbols) {
    if (symbol.is_function || symbol.linkage == ptx::Linkage::external) continue;
    if (symbol.space == Space::global) usage.global_bytes += symbol.size_bytes;
    if (symbol.space == Space::constant) usage.constant_bytes += symbol.size_bytes;
  }
  for (const Function& function : module.functions) {
    if (!function.is_declaration) usage.functions.push_back(usage_of(module, function));
  }
  return usage;
}

Unresolved find_unresolved(const Module& module) {
  std::vector<char> is_used(module.symbols.size());
  for (const Function& function : module.functions) {
    for (const Instruction& instruction : function.code) {
      for_each_operand(function, instruction, [&](const Operand& operand) {
        if (operand.symbol != kNone && !operand.local_symbol) is_used[operand.symbol] = 1;
      });
    }
    for (const ptx::TargetList& list : function.target_lists) {
      for (const ptx::SymbolId id : list.functions) is_used[id] = 1;
    }
  }
  for (const ptx::Symbol& symbol : module.symbols) {
    for (const ptx::Relocation& each : symbol.relocations) is_used[each.symbol] = 1;
  }
  Unresolved found;
  for (size_t i = 0; i < module.symbols.size(); ++i) {
    const ptx::Symbol& symbol = module.symbols[i];
    if (is_used[i] == 0) continue;
    if (symbol.is_function) {
      const Function& function = module.functions[symbol.function];
      const bool is_missing = function.is_declaration && function.alias_of == kNone;
      if (is_missing && !is_provided(symbol.name)) found.functions.push_back(symbol.name);
    } else if (symbol.linkage == ptx::Linkage::external && symbol.space != Space::shared) {
      found.variables.push_back(symbol.name);
    }
  }
  return found;
}

}  // namespace km::toolchain
