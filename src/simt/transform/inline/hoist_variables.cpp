#include "simt/transform/inline/hoist_variables.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <map>
#include <string>

#include "simt/transform/inline/call_graph.h"

namespace km::simt {

namespace {

using ptx::Operand;
using ptx::SymbolId;

bool is_storage(const ptx::Symbol& symbol) {
  return !symbol.is_function &&
         (symbol.space == ptx::Space::global || symbol.space == ptx::Space::constant);
}

bool declares_storage(const ptx::Function& function) {
  return std::any_of(function.symbols.begin(), function.symbols.end(), is_storage);
}

void hoist(ptx::Module& module, ptx::Function& function) {
  std::map<SymbolId, SymbolId> moved;
  for (SymbolId id = 0; id < function.symbols.size(); ++id) {
    if (!is_storage(function.symbols[id])) continue;
    moved[id] = static_cast<SymbolId>(module.symbols.size());
    module.symbols.push_back(function.symbols[id]);
    // The colon keeps the name unique: no PTX name contains one, while scopes may repeat names.
    module.symbols.back().name =
        function.name + "::" + function.symbols[id].name + "#" + std::to_string(id);
  }
  auto redirect = [&](Operand& operand) {
    if (!operand.local_symbol) return;
    const auto found = moved.find(operand.symbol);
    if (found == moved.end()) return;
    operand.local_symbol = false;
    operand.symbol = found->second;
  };
  for (auto& instruction : function.code) {
    for (unsigned i = 0; i < instruction.operand_count; ++i) redirect(instruction.operands[i]);
  }
  for (auto& operand : function.operand_pool) redirect(operand);
}

bool holds_function(const ptx::Module& module, const ptx::Symbol& symbol) {
  return std::any_of(symbol.relocations.begin(), symbol.relocations.end(),
                     [&](const ptx::Relocation& relocation) {
                       return module.symbols[relocation.symbol].is_function;
                     });
}

void write_function_address(const ptx::Module& module, const ptx::Relocation& relocation,
                            std::vector<uint8_t>& data) {
  const ptx::Symbol& named = module.symbols[relocation.symbol];
  if (!named.is_function) return;
  uint64_t value = function_address(resolve_alias(module, named.function));
  value += static_cast<uint64_t>(relocation.addend);
  if (relocation.mask != UINT64_MAX) {
    value = (value & relocation.mask) >> std::countr_zero(relocation.mask);
  }
  data.resize(std::max<size_t>(data.size(), relocation.offset + relocation.size_bytes));
  memcpy(data.data() + relocation.offset, &value, relocation.size_bytes);
}

}  // namespace

std::shared_ptr<const ptx::Module> hoist_variables(std::shared_ptr<const ptx::Module> module) {
  const auto& functions = module->functions;
  const auto& symbols = module->symbols;
  auto holds = [&](const ptx::Symbol& symbol) { return holds_function(*module, symbol); };
  if (std::none_of(functions.begin(), functions.end(), declares_storage) &&
      std::none_of(symbols.begin(), symbols.end(), holds)) {
    return module;
  }
  auto result = std::make_shared<ptx::Module>(*module);
  for (auto& function : result->functions) hoist(*result, function);
  for (auto& symbol : result->symbols) {
    for (const auto& relocation : symbol.relocations) {
      write_function_address(*result, relocation, symbol.data);
    }
  }
  return result;
}

}  // namespace km::simt
