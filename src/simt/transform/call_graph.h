// Which functions a kernel's calls reach, through pointers too.
#pragma once

#include <cstdint>
#include <vector>

#include "ptx/ir.h"

namespace km::simt {

/// What the address of a function is: a number that no variable's address equals, the same in all
/// kernels of a module, as tables of pointers in memory need.
constexpr uint64_t function_address(uint32_t function) { return 16 * (uint64_t{function} + 1); }

/// The function that `function` is another name for, else itself.
uint32_t resolve_alias(const ptx::Module& module, uint32_t function);

class CallGraph {
 public:
  CallGraph(const ptx::Module& module, const ptx::Function& kernel);

  /// Functions that a call may enter: one, or those whose address is taken somewhere in the module
  /// and that have the parameters and results of the call's prototype (or are in its list).
  std::vector<uint32_t> targets(const ptx::Function& caller, const ptx::Instruction& call) const;
  /// It can be called again before it has returned.
  bool is_recursive(uint32_t function) const { return is_recursive_[function]; }
  /// Some function that the kernel reaches is recursive.
  bool has_recursion() const;
  /// The callee, called by the other, may call it in turn.
  bool comes_back(uint32_t caller, uint32_t callee) const {
    return is_recursive_[caller] && component_[caller + 1] == component_[callee + 1];
  }

 private:
  void find_addresses() const;
  void add_addresses(const ptx::Function& function) const;
  void add_address(const ptx::Symbol& symbol) const;
  void find_cycles(const ptx::Function& kernel);

  const ptx::Module& module_;
  mutable std::vector<uint8_t> has_address_;  // by function: its address is taken
  std::vector<uint8_t> is_recursive_;
  std::vector<uint32_t> component_;  // node 0 is the kernel, function f is f + 1
  std::vector<uint32_t> reached_;
};

}  // namespace km::simt
