// ModuleBuilder: the module that the parser fills, and the names of its symbols.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "ptx/ir.h"

namespace km::ptx {

/// ModuleNames maps the names of variables and functions, which are views of the text.
using ModuleNames = std::unordered_map<std::string_view, SymbolId>;

/// ModuleBuilder owns a module while it grows, and finds its symbols by name.
class ModuleBuilder {
 public:
  /// The module begins empty.
  explicit ModuleBuilder(std::string_view name);

  /// module() is the module as far as it has been read.
  Module& module() { return *module_; }
  const Module& module() const { return *module_; }

  /// share() hands the module to the caller.
  std::shared_ptr<Module> share() const { return module_; }

  /// isa_version() is the version of PTX, 83 for 8.3.
  uint32_t isa_version() const { return 10 * module_->version_major + module_->version_minor; }

  /// names() has the names of all symbols, for those who must avoid them.
  const ModuleNames& names() const { return names_; }

  /// find() is the symbol of a name.
  std::optional<SymbolId> find(std::string_view name) const;

  /// find_function() is the symbol of a name that is a function's.
  std::optional<SymbolId> find_function(std::string_view name) const;

  /// symbol() is a symbol of the module.
  Symbol& symbol(SymbolId id) { return module_->symbols[id]; }
  const Symbol& symbol(SymbolId id) const { return module_->symbols[id]; }

  /// reserve() gives a name that is not in use to the symbol that will be added next.
  SymbolId reserve(std::string_view name);

  /// add_function() adds a function of a fresh name with its symbol and returns its index.
  uint32_t add_function(Function&& function, std::string_view name);

 private:
  std::shared_ptr<Module> module_;
  ModuleNames names_;
};

}  // namespace km::ptx
