// Names inside a function: nested scopes with shadowing, parameterised registers expanded on
// first use, and names made unique so that the flat tables of ir.h can hold them.
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
  uint32_t previous = kNone;  // what this one shadows
};

class FunctionScopes {
 public:
  FunctionScopes(Function& function, const ModuleNames& module_names)
      : function_(function), module_names_(module_names) {}

  uint32_t depth() const { return depth_; }
  void open() { scope_starts_.push_back(undo_.size()), ++depth_; }
  void close();

  /// Declares a name in the innermost scope; false where that scope has it already.
  bool declare(std::string_view name, Entity entity);

  /// Declares %r<count>, of vectors of `width` components where that is not 1.
  bool declare_range(std::string_view prefix, Type type, uint8_t width, uint32_t count);

  /// The entity that a name means here, expanding a parameterised register on first use.
  std::optional<Entity> find(std::string_view name);

  /// Only what the innermost scope itself declares.
  const Entity* find_innermost(std::string_view name) const;

  RegisterId add_register(std::string_view name, Type type);

  /// The first register of a vector, whose components follow one another.
  RegisterId add_vector(std::string_view name, Type type, uint8_t width);

  /// `name`, or `name$2` and so on where the function or the module has used it before.
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
