// Names inside a function: nested scopes with shadowing, register ranges whose registers are
// created at their first use, and unique names for the flat tables of ir.h.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ptx/ir.h"
#include "ptx/parser/module_builder.h"

namespace km::ptx {

struct Entity {
  enum class Kind : uint8_t {
    reg,              // id: RegisterId
    vector_register,  // id: first RegisterId, count
    register_range,   // %r<count>: id indexes ranges
    local_symbol,     // id: SymbolId of Function::symbols
    module_symbol,    // id: SymbolId of Module::symbols
    label,            // id: LabelId
    prototype,        // id: index of Function::prototypes
    target_list,      // id: index of Function::target_lists
  };
  Kind kind = Kind::reg;
  uint32_t id = 0;
  uint32_t count = 0;
  uint32_t depth = 0;
  uint32_t previous = kNone;  // the entity that this one shadows
};

class FunctionScopes {
 public:
  FunctionScopes(Function& function, const ModuleNames& module_names)
      : function_(function), module_names_(module_names) {}

  uint32_t depth() const { return depth_; }
  void open() { scope_starts_.push_back(undo_.size()), ++depth_; }
  void close();

  /// Declares a name in the innermost scope; false if that scope already has it.
  bool declare(std::string_view name, Entity entity);

  /// Declares %r<count>; `width` is the number of components of vector registers, otherwise 1.
  bool declare_range(std::string_view prefix, Type type, uint8_t width, uint32_t count);

  /// The entity that a name refers to here. It creates a register of a range at its first use.
  std::optional<Entity> find(std::string_view name);

  /// Like find(), but only in the innermost scope.
  const Entity* find_innermost(std::string_view name) const;

  RegisterId add_register(std::string_view name, Type type);

  /// Adds a vector register with consecutive components and returns the first.
  RegisterId add_vector(std::string_view name, Type type, uint8_t width);

  /// `name`, or `name$2` and so on if the function or the module uses it already.
  std::string unique(std::string_view name);

 private:
  struct Range {
    Type type;
    uint8_t width;
    uint32_t count;
    std::unordered_map<uint32_t, RegisterId> used;
  };
  using Bindings = std::unordered_map<std::string_view, uint32_t>;
  struct Undo {
    Bindings* bindings;
    std::string_view name;
  };

  bool bind(Bindings& bindings, std::string_view name, Entity entity);
  std::optional<Entity> find_in_range(std::string_view name, uint32_t least_depth);

  Function& function_;
  const ModuleNames& module_names_;
  std::vector<Entity> entities_;
  std::vector<Range> ranges_;
  Bindings names_, prefixes_;
  std::vector<Undo> undo_;
  std::vector<size_t> scope_starts_;
  std::unordered_map<std::string, uint32_t> used_names_;
  uint32_t depth_ = 0;
};

}  // namespace km::ptx
