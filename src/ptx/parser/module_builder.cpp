#include "ptx/parser/module_builder.h"

#include <utility>

namespace km::ptx {

ModuleBuilder::ModuleBuilder(std::string_view name) : module_(std::make_shared<Module>()) {
  module_->name = name;
}

std::optional<SymbolId> ModuleBuilder::find(std::string_view name) const {
  const auto known = names_.find(name);
  return known == names_.end() ? std::nullopt : std::optional(known->second);
}

std::optional<SymbolId> ModuleBuilder::find_function(std::string_view name) const {
  const auto known = find(name);
  return known && symbol(*known).is_function ? known : std::nullopt;
}

SymbolId ModuleBuilder::reserve(std::string_view name) {
  const auto id = static_cast<SymbolId>(module_->symbols.size());
  names_.emplace(name, id);
  return id;
}

uint32_t ModuleBuilder::add_function(Function&& function, std::string_view name) {
  Symbol symbol;
  symbol.name = function.name;
  symbol.is_function = true;
  symbol.function = static_cast<uint32_t>(module_->functions.size());
  symbol.linkage = function.linkage;
  symbol.location = function.location;
  const uint32_t index = symbol.function;
  reserve(name);
  module_->symbols.push_back(std::move(symbol));
  module_->functions.push_back(std::move(function));
  return index;
}

}  // namespace km::ptx
