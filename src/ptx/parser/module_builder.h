// The module under construction and its symbol table.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "ptx/ir.h"

namespace km::ptx {

/// Maps names of variables and functions, which are views of the text, to symbols.
using ModuleNames = std::unordered_map<std::string_view, SymbolId>;

/// Owns a module under construction, and finds its symbols by name.
class ModuleBuilder {
 public:
  /// Creates an empty module with this name.
  explicit ModuleBuilder(std::string_view name);

  /// The module as far as it has been parsed.
  Module& module() { return *module_; }
  const Module& module() const { return *module_; }

  /// Shares the module's ownership with the caller.
  std::shared_ptr<Module> share() const { return module_; }

  /// The PTX version, 83 for 8.3.
  uint32_t isa_version() const { return 10 * module_->version_major + module_->version_minor; }

  /// All names in use at module level.
  const ModuleNames& names() const { return names_; }

  /// The symbol with this name; nothing if there is none.
  std::optional<SymbolId> find(std::string_view name) const;

  /// Like find(), but only for functions.
  std::optional<SymbolId> find_function(std::string_view name) const;

  /// The symbol with this id; the reference is valid until a symbol is added.
  Symbol& symbol(SymbolId id) { return module_->symbols[id]; }
  const Symbol& symbol(SymbolId id) const { return module_->symbols[id]; }

  /// Binds a new name to the symbol that will be added next, and returns its id.
  SymbolId reserve(std::string_view name);

  /// Adds a function under a new name, together with its symbol, and returns the function's index.
  uint32_t add_function(Function&& function, std::string_view name);

 private:
  std::shared_ptr<Module> module_;
  ModuleNames names_;
};

}  // namespace km::ptx
