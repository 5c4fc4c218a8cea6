#include "simt/transform/hoist_variables.h"

#include <algorithm>
#include <map>
#include <string>

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
    // No name of PTX has a colon, and scopes may repeat a name.
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

}  // namespace

std::shared_ptr<const ptx::Module> hoist_variables(std::shared_ptr<const ptx::Module> module) {
  const auto& functions = module->functions;
  if (std::none_of(functions.begin(), functions.end(), declares_storage)) return module;
  auto result = std::make_shared<ptx::Module>(*module);
  for (auto& function : result->functions) hoist(*result, function);
  return result;
}

}  // namespace km::simt
