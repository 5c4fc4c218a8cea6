// The variables of a module in device memory.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backend/interface.h"
#include "backends/cpu/memory/heap.h"
#include "simt/engine.h"

namespace km::cpu {

class Context;

/// Gives each variable memory of its own when a program with it is placed. Not thread-safe.
class ModuleVariables {
 public:
  explicit ModuleVariables(Context* context);
  ~ModuleVariables();
  ModuleVariables(const ModuleVariables&) = delete;
  ModuleVariables& operator=(const ModuleVariables&) = delete;

  /// Allocates and initialises those variables of a program that have no memory yet.
  Status place(const simt::Program& program);
  bool has(std::string_view name) const { return placed_.contains(name); }
  /// The addresses of variables that have memory.
  std::vector<uint64_t> addresses_of(std::span<const std::string> names) const;
  /// Null if there is no visible variable of this name in memory.
  const kmb_global_info* find_visible(std::string_view name) const;
  std::vector<std::string_view> visible_names() const;

 private:
  struct Placed {
    kmb_global_info info{};
    bool is_visible = false;
  };

  using PlacedByName = std::map<std::string, Placed, std::less<>>;

  Result<std::vector<uint64_t>> allocate(std::span<const simt::Variable> variables,
                                         const std::vector<uint32_t>& fresh);
  void note_allocations(const PlacedByName& added) const;
  void initialise(std::span<const simt::Variable> variables, uint32_t index) const;

  Context& context_;
  std::vector<Heap::Block> blocks_;
  PlacedByName placed_;
};

}  // namespace km::cpu
