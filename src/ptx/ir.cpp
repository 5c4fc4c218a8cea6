#include "ptx/ir.h"

namespace km::ptx {

const Function* Module::find_function(std::string_view wanted) const {
  for (const Function& function : functions) {
    if (function.name == wanted) return &function;
  }
  return nullptr;
}

const Symbol* Module::find_symbol(std::string_view wanted) const {
  for (const Symbol& symbol : symbols) {
    if (symbol.name == wanted) return &symbol;
  }
  return nullptr;
}

}  // namespace km::ptx
