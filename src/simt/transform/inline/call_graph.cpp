#include "simt/transform/inline/call_graph.h"

#include <algorithm>
#include <numeric>

namespace km::simt {

namespace {

using ptx::Function;
using ptx::Instruction;
using ptx::Opcode;
using ptx::Operand;
using ptx::Symbol;

constexpr uint64_t kEndOfParameters = UINT64_MAX;  // a separator, which is not a valid size

bool is_call(const Instruction& instruction) { return instruction.opcode == Opcode::call; }

bool is_pointer_call(const Instruction& instruction) {
  return is_call(instruction) && instruction.operands[1].kind != Operand::Kind::symbol;
}

}  // namespace

uint32_t resolve_alias(const ptx::Module& module, uint32_t function) {
  const uint32_t alias = module.functions[function].alias_of;
  return alias == ptx::kNone ? function : alias;
}

CallGraph::CallGraph(const ptx::Module& module) : module_(module) {
  const auto& functions = module.functions;
  for (uint32_t f = 0; f < functions.size(); ++f) resolved_.push_back(resolve_alias(module, f));
  calls_.resize(functions.size());
  for (uint32_t f = 0; f < functions.size(); ++f) add_calls(f);
  find_cycles();
}

CallGraph::Signature CallGraph::signature_of(const Function& function) {
  Signature result;
  for (ptx::SymbolId id : function.params) result.push_back(function.symbols[id].size_bytes);
  result.push_back(kEndOfParameters);
  for (ptx::SymbolId id : function.returns) result.push_back(function.symbols[id].size_bytes);
  return result;
}

CallGraph::Signature CallGraph::signature_of(const ptx::Prototype& prototype) {
  Signature result;
  for (const Symbol& symbol : prototype.params) result.push_back(symbol.size_bytes);
  result.push_back(kEndOfParameters);
  for (const Symbol& symbol : prototype.returns) result.push_back(symbol.size_bytes);
  return result;
}

bool CallGraph::has_body(uint32_t function) const {
  return !module_.functions[function].is_entry && !module_.functions[function].is_declaration;
}

void CallGraph::note_address(const Symbol& symbol) {
  if (symbol.is_function) has_address_[resolved_[symbol.function]] = 1;
}

/// Only needed if there is a call through a pointer: modules with a thousand kernels rarely have
/// one.
void CallGraph::find_addresses() {
  if (!has_address_.empty()) return;
  has_address_.assign(module_.functions.size(), 0);
  for (const Function& function : module_.functions) {
    for (const Instruction& instruction : function.code) {
      if (is_call(instruction)) continue;
      for (unsigned i = 0; i < instruction.operand_count; ++i) {
        const Operand& operand = instruction.operands[i];
        const bool names_one = operand.kind == Operand::Kind::symbol && !operand.local_symbol;
        if (names_one) note_address(module_.symbols[operand.symbol]);
      }
    }
  }
  for (const Symbol& variable : module_.symbols) {
    for (const ptx::Relocation& relocation : variable.relocations) {
      note_address(module_.symbols[relocation.symbol]);
    }
  }
  for (uint32_t f = 0; f < module_.functions.size(); ++f) {
    if (has_address_[f] == 0 || !has_body(f)) continue;
    by_signature_[signature_of(module_.functions[f])].push_back(f);
  }
}

NodeId CallGraph::add_set(std::vector<uint32_t> functions) {
  const auto node = static_cast<NodeId>(calls_.size());
  calls_.emplace_back(functions.begin(), functions.end());
  sets_.push_back(std::move(functions));
  return node;
}

NodeId CallGraph::set_of(const Signature& signature) {
  find_addresses();
  const auto [known, fresh] = set_of_signature_.try_emplace(signature, kNoNode);
  if (fresh) {
    const auto found = by_signature_.find(signature);
    known->second = add_set(found == by_signature_.end() ? std::vector<uint32_t>() : found->second);
  }
  return known->second;
}

NodeId CallGraph::set_of_list(uint32_t caller, uint32_t list) {
  const auto [known, fresh] = set_of_list_.try_emplace({caller, list}, kNoNode);
  if (!fresh) return known->second;
  std::vector<uint32_t> functions;
  for (ptx::SymbolId id : module_.functions[caller].target_lists[list].functions) {
    const uint32_t f = resolved_[module_.symbols[id].function];
    if (has_body(f)) functions.push_back(f);
  }
  return known->second = add_set(std::move(functions));
}

NodeId CallGraph::set_of_table(ptx::SymbolId table) {
  const auto [known, fresh] = set_of_table_.try_emplace(table, kNoNode);
  if (!fresh) return known->second;
  std::vector<uint32_t> functions;
  for (const ptx::Relocation& relocation : module_.symbols[table].relocations) {
    const Symbol& symbol = module_.symbols[relocation.symbol];
    if (!symbol.is_function) continue;
    const uint32_t f = resolved_[symbol.function];
    if (has_body(f)) functions.push_back(f);
  }
  std::sort(functions.begin(), functions.end());
  functions.erase(std::unique(functions.begin(), functions.end()), functions.end());
  return known->second = add_set(std::move(functions));
}

NodeId CallGraph::node_of(uint32_t caller, const Instruction& call) {
  const Operand& callee = call.operands[1];
  if (!is_pointer_call(call)) return resolved_[module_.symbols[callee.symbol].function];
  const Operand& type = call.operands[3];
  if (type.kind == Operand::Kind::target_list) return set_of_list(caller, type.label);
  if (type.kind == Operand::Kind::symbol) return set_of_table(type.symbol);
  return set_of(signature_of(module_.functions[caller].prototypes[type.label]));
}

void CallGraph::add_calls(uint32_t caller) {
  for (const Instruction& instruction : module_.functions[caller].code) {
    if (!is_call(instruction)) continue;
    const NodeId node = node_of(caller, instruction);
    calls_[caller].push_back(node);
  }
}

std::span<const uint32_t> CallGraph::targets(uint32_t caller, const Instruction& call) const {
  if (!is_pointer_call(call)) {
    return {&resolved_[module_.symbols[call.operands[1].symbol].function], 1};
  }
  const auto set = [&](NodeId node) -> std::span<const uint32_t> {
    return sets_[node - module_.functions.size()];
  };
  const Operand& type = call.operands[3];
  if (type.kind == Operand::Kind::target_list) return set(set_of_list_.at({caller, type.label}));
  if (type.kind == Operand::Kind::symbol) return set(set_of_table_.at(type.symbol));
  const auto& prototype = module_.functions[caller].prototypes[type.label];
  return set(set_of_signature_.at(signature_of(prototype)));
}

/// Components are numbered in topological order, callers first, from a node that calls all
/// functions.
void CallGraph::find_cycles() {
  const auto count = static_cast<NodeId>(calls_.size());
  Graph graph(count + 1);
  for (NodeId node = 0; node < count; ++node) {
    graph.add_edge(count, node);
    for (NodeId callee : calls_[node]) graph.add_edge(node, callee);
  }
  component_ = components(graph, count);
  callees_first_.resize(count);
  std::iota(callees_first_.begin(), callees_first_.end(), NodeId{0});
  std::stable_sort(callees_first_.begin(), callees_first_.end(),
                   [&](NodeId a, NodeId b) { return component_[a] > component_[b]; });
  std::vector<uint32_t> sizes(count + 1);
  for (NodeId node = 0; node < count; ++node) ++sizes[component_[node]];
  is_recursive_.assign(count, 0);
  reaches_recursion_.assign(count, 0);
  for (NodeId node : callees_first_) {
    const auto& callees = calls_[node];
    is_recursive_[node] = sizes[component_[node]] > 1 ||
                          std::find(callees.begin(), callees.end(), node) != callees.end();
    reaches_recursion_[node] =
        is_recursive_[node] != 0 || std::any_of(callees.begin(), callees.end(), [&](NodeId callee) {
          return reaches_recursion_[callee] != 0;
        });
  }
}

}  // namespace km::simt
