#include "ptx/checks/program_check.h"

#include <algorithm>
#include <string>
#include <vector>

#include "base/integers.h"
#include "ptx/checks/verifier.h"
#include "ptx/parser/lexer.h"

namespace km::ptx {
namespace {

/// Computes the total size of variables that are laid out in order of decreasing alignment.
class Packing {
 public:
  void add(const Symbol& symbol) { symbols_.push_back(&symbol); }

  uint64_t size_bytes() {
    std::stable_sort(symbols_.begin(), symbols_.end(), [](const Symbol* a, const Symbol* b) {
      return a->align_bytes > b->align_bytes;
    });
    uint64_t end = 0;
    for (const Symbol* symbol : symbols_) {
      const uint64_t align = std::max(symbol->align_bytes, 1u);
      end = round_up(end, align) + symbol->size_bytes;
    }
    return end;
  }

 private:
  std::vector<const Symbol*> symbols_;
};

class ProgramChecker {
 public:
  explicit ProgramChecker(const Module& module) : module_(module) {}

  Status run() {
    KM_TRY(check_constants());
    for (const Symbol& symbol : module_.symbols) {
      const bool missing = symbol.linkage == Linkage::external && symbol.unsized &&
                           !symbol.is_function && symbol.space != Space::shared;
      if (!missing) continue;
      return error_at(symbol.location, "array " + quote(symbol.name) +
                                           " has no size: link the module that defines it");
    }
    for (const Function& function : module_.functions) {
      if (is_missing(function) && function.linkage != Linkage::external) {
        return undefined(function.location, function);
      }
      KM_TRY(check_references(function));
    }
    return all_shared_fit() ? Status() : check_kernels();
  }

 private:
  static bool is_missing(const Function& function) {
    return function.is_declaration && function.alias_of == kNone &&
           !is_runtime_function(function.name);
  }

  Error error_at(Location location, const std::string& message) const {
    return make_error(KM_ERROR_INVALID_PTX, "%s:%u:%u: %s", module_.name.c_str(), location.line,
                      location.column, message.c_str());
  }

  Error undefined(Location location, const Function& function) const {
    return error_at(location,
                    "function " + quote(function.name) +
                        " has no body: link the module that defines it, or define it here");
  }

  Status check_constants() const {
    Packing constants;
    for (const Symbol& symbol : module_.symbols) {
      if (symbol.space == Space::constant && !symbol.is_function) constants.add(symbol);
    }
    for (const Function& function : module_.functions) {
      for (const Symbol& symbol : function.symbols) {
        if (symbol.space == Space::constant) constants.add(symbol);
      }
    }
    const uint64_t size = constants.size_bytes();
    if (size <= kMostConstantBytes) return {};
    return make_error(KM_ERROR_INVALID_PTX,
                      "%s: the variables in .const have %llu bytes together, at most %llu fit: put "
                      "some of them into .global",
                      module_.name.c_str(), static_cast<unsigned long long>(size),
                      static_cast<unsigned long long>(kMostConstantBytes));
  }

  /// True if all shared variables of the module fit together, which saves most modules the check of
  /// each kernel.
  bool all_shared_fit() const {
    Packing shared;
    for (const Symbol& symbol : module_.symbols) {
      if (symbol.space == Space::shared && !symbol.is_function) shared.add(symbol);
    }
    for (const Function& function : module_.functions) {
      for (const Symbol& symbol : function.symbols) {
        if (symbol.space == Space::shared) shared.add(symbol);
      }
    }
    return shared.size_bytes() <= kMostStaticSharedBytes;
  }

  Status check_kernels() {
    function_seen_.assign(module_.functions.size(), kNone);
    symbol_seen_.assign(module_.symbols.size(), kNone);
    for (uint32_t i = 0; i < module_.functions.size(); ++i) {
      if (module_.functions[i].is_entry) KM_TRY(check_shared(i));
    }
    return {};
  }

  template <class Visit>
  static Status for_each_symbol(const Function& function, Visit visit) {
    for (const Instruction& instruction : function.code) {
      for (unsigned i = 0; i < instruction.operand_count; ++i) {
        KM_TRY(visit(instruction, instruction.operands[i]));
        if (instruction.operands[i].count == 0) continue;
        const Operand* first = &function.operand_pool[instruction.operands[i].first];
        for (uint32_t k = 0; k < instruction.operands[i].count; ++k) {
          KM_TRY(visit(instruction, first[k]));
        }
      }
    }
    return {};
  }

  const Function* function_of(const Operand& operand) const {
    if (operand.symbol == kNone || operand.local_symbol) return nullptr;
    const Symbol& symbol = module_.symbols[operand.symbol];
    return symbol.is_function ? &module_.functions[symbol.function] : nullptr;
  }

  Status check_references(const Function& function) const {
    KM_TRY(for_each_symbol(function, [&](const Instruction& at, const Operand& operand) -> Status {
      const Function* target = function_of(operand);
      if (target != nullptr && is_missing(*target)) return undefined(at.location, *target);
      return {};
    }));
    for (const TargetList& list : function.target_lists) {
      for (const SymbolId id : list.functions) {
        const Function& target = module_.functions[module_.symbols[id].function];
        if (is_missing(target)) return undefined(function.location, target);
      }
    }
    return {};
  }

  /// Checks a kernel's static shared memory: its own variables, and those of the module that it or
  /// a function that it calls refers to.
  Status check_shared(uint32_t entry) {
    Packing shared;
    std::vector<uint32_t> open{entry};
    function_seen_[entry] = entry;
    while (!open.empty()) {
      const Function& function = module_.functions[open.back()];
      open.pop_back();
      for (const Symbol& symbol : function.symbols) {
        if (symbol.space == Space::shared) shared.add(symbol);
      }
      KM_TRY(for_each_symbol(function, [&](const Instruction&, const Operand& operand) -> Status {
        if (operand.symbol == kNone || operand.local_symbol) return {};
        if (symbol_seen_[operand.symbol] == entry) return {};
        symbol_seen_[operand.symbol] = entry;
        const Symbol& symbol = module_.symbols[operand.symbol];
        if (symbol.is_function) {
          visit_function(symbol.function, entry, open);
        } else if (symbol.space == Space::shared) {
          shared.add(symbol);
        }
        return {};
      }));
    }
    const uint64_t size = shared.size_bytes();
    if (size <= kMostStaticSharedBytes) return {};
    const Function& kernel = module_.functions[entry];
    return error_at(kernel.location,
                    "kernel " + quote(kernel.name) + " has " + std::to_string(size) +
                        " bytes of static shared memory, at most " +
                        std::to_string(kMostStaticSharedBytes) +
                        " are allowed: declare it '.extern .shared' and give its size at launch");
  }

  void visit_function(uint32_t function, uint32_t entry, std::vector<uint32_t>& open) {
    const uint32_t alias = module_.functions[function].alias_of;
    const uint32_t target = alias == kNone ? function : alias;
    if (function_seen_[target] == entry) return;
    function_seen_[target] = entry;
    open.push_back(target);
  }

  const Module& module_;
  std::vector<uint32_t> function_seen_, symbol_seen_;  // the last kernel that reached each
};

}  // namespace

bool is_runtime_function(std::string_view name) {
  return name == "vprintf" || name == "__assertfail" || name == "malloc" || name == "free" ||
         name == kDeviceCallName;
}

Status check_program(const Module& module) { return ProgramChecker(module).run(); }

}  // namespace km::ptx
