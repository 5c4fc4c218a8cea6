// The call graph of a module, including calls through pointers. It is built once per module in time
// linear in its text: a call through a pointer leads to one node for all functions that fit.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "ptx/ir.h"
#include "simt/kernel/graph.h"

namespace km::simt {

/// The address of a function: a number that no variable's address equals, and that is the same in
/// all kernels of a module, as tables of pointers in memory require.
constexpr uint64_t function_address(uint32_t function) { return 16 * (uint64_t{function} + 1); }

/// The function that `function` is an alias of, otherwise itself.
uint32_t resolve_alias(const ptx::Module& module, uint32_t function);

class CallGraph {
 public:
  /// Keeps a reference to the module.
  explicit CallGraph(const ptx::Module& module);

  /// The functions that a call in the body of `caller` may enter: the named one, those in the
  /// call's list or array, or all functions whose address is taken in the module and that have the
  /// parameters and results of the call's prototype.
  std::span<const uint32_t> targets(uint32_t caller, const ptx::Instruction& call) const;
  /// True if the function can be called again before it has returned.
  bool is_recursive(uint32_t function) const { return is_recursive_[function] != 0; }
  /// True if the function, or a function that it reaches, is recursive.
  bool reaches_recursion(uint32_t function) const { return reaches_recursion_[function] != 0; }
  /// True if the callee may call the caller in turn.
  bool comes_back(uint32_t caller, uint32_t callee) const {
    return is_recursive(caller) && component_[caller] == component_[callee];
  }

  /// Nodes are the module's functions, by their numbers, followed by sets of functions that one
  /// pointer may hold. There is an edge for each call, and from a set to each of its functions.
  const std::vector<std::vector<NodeId>>& calls() const { return calls_; }
  /// Functions and sets, each after those that it calls; within a cycle in any order.
  const std::vector<NodeId>& callees_first() const { return callees_first_; }
  const ptx::Module& module() const { return module_; }

 private:
  using Signature = std::vector<uint64_t>;        // sizes of parameters and results
  using ListKey = std::pair<uint32_t, uint32_t>;  // function and target list

  static Signature signature_of(const ptx::Function& function);
  static Signature signature_of(const ptx::Prototype& prototype);
  bool has_body(uint32_t function) const;
  void find_addresses();
  void note_address(const ptx::Symbol& symbol);
  void add_calls(uint32_t caller);
  NodeId node_of(uint32_t caller, const ptx::Instruction& call);
  NodeId add_set(std::vector<uint32_t> functions);
  NodeId set_of(const Signature& signature);
  NodeId set_of_list(uint32_t caller, uint32_t list);
  NodeId set_of_table(ptx::SymbolId table);
  void find_cycles();

  const ptx::Module& module_;
  std::vector<uint32_t> resolved_;    // aliases, by function
  std::vector<uint8_t> has_address_;  // by function; computed when the module calls a pointer
  std::map<Signature, std::vector<uint32_t>> by_signature_;  // functions with an address
  std::vector<std::vector<uint32_t>> sets_;
  std::map<Signature, NodeId> set_of_signature_;
  std::map<ListKey, NodeId> set_of_list_;
  // The sets by the array of functions that an indirect call names.
  std::map<ptx::SymbolId, NodeId> set_of_table_;
  std::vector<std::vector<NodeId>> calls_;
  std::vector<NodeId> callees_first_;
  std::vector<uint32_t> component_;                        // by node
  std::vector<uint8_t> is_recursive_, reaches_recursion_;  // by node
};

}  // namespace km::simt
