#include "simt/transform/call_graph.h"

#include <algorithm>

#include "simt/analysis/graph.h"

namespace km::simt {

namespace {

using ptx::Function;
using ptx::Instruction;
using ptx::Opcode;
using ptx::Operand;
using ptx::Symbol;

bool is_call(const Instruction& instruction) { return instruction.opcode == Opcode::call; }

bool has_sizes(const Function& function, const std::vector<ptx::SymbolId>& ids,
               const std::vector<Symbol>& wanted) {
  return std::equal(ids.begin(), ids.end(), wanted.begin(), wanted.end(),
                    [&](ptx::SymbolId id, const Symbol& symbol) {
                      return function.symbols[id].size_bytes == symbol.size_bytes;
                    });
}

bool fits(const Function& function, const ptx::Prototype& prototype) {
  return has_sizes(function, function.params, prototype.params) &&
         has_sizes(function, function.returns, prototype.returns);
}

}  // namespace

uint32_t resolve_alias(const ptx::Module& module, uint32_t function) {
  const uint32_t alias = module.functions[function].alias_of;
  return alias == ptx::kNone ? function : alias;
}

CallGraph::CallGraph(const ptx::Module& module, const Function& kernel)
    : module_(module), is_recursive_(module.functions.size()) {
  if (std::any_of(kernel.code.begin(), kernel.code.end(), is_call)) find_cycles(kernel);
}

void CallGraph::add_address(const Symbol& symbol) const {
  if (symbol.is_function) has_address_[resolve_alias(module_, symbol.function)] = 1;
}

void CallGraph::add_addresses(const Function& function) const {
  for (const Instruction& instruction : function.code) {
    if (is_call(instruction)) continue;
    for (unsigned i = 0; i < instruction.operand_count; ++i) {
      const Operand& operand = instruction.operands[i];
      if (operand.kind != Operand::Kind::symbol || operand.local_symbol) continue;
      add_address(module_.symbols[operand.symbol]);
    }
  }
}

/// Only where there is a call through a pointer: modules with a thousand kernels have few.
void CallGraph::find_addresses() const {
  has_address_.assign(module_.functions.size(), 0);
  for (const Function& function : module_.functions) add_addresses(function);
  for (const Symbol& variable : module_.symbols) {
    for (const ptx::Relocation& relocation : variable.relocations) {
      add_address(module_.symbols[relocation.symbol]);
    }
  }
}

std::vector<uint32_t> CallGraph::targets(const Function& caller, const Instruction& call) const {
  const Operand& callee = call.operands[1];
  if (callee.kind == Operand::Kind::symbol) {
    return {resolve_alias(module_, module_.symbols[callee.symbol].function)};
  }
  std::vector<uint32_t> result;
  const Operand& type = call.operands[3];
  auto has_body = [&](uint32_t f) {
    return !module_.functions[f].is_entry && !module_.functions[f].is_declaration;
  };
  if (type.kind == Operand::Kind::target_list) {
    for (ptx::SymbolId id : caller.target_lists[type.label].functions) {
      const uint32_t f = resolve_alias(module_, module_.symbols[id].function);
      if (has_body(f)) result.push_back(f);
    }
    return result;
  }
  if (has_address_.empty()) find_addresses();
  for (uint32_t f = 0; f < module_.functions.size(); ++f) {
    const bool fits_type = fits(module_.functions[f], caller.prototypes[type.label]);
    if (has_address_[f] && has_body(f) && fits_type) result.push_back(f);
  }
  return result;
}

void CallGraph::find_cycles(const Function& kernel) {
  Graph graph(module_.functions.size() + 1);
  std::vector<uint8_t> seen(module_.functions.size());
  auto add_calls = [&](NodeId node, const Function& caller) {
    for (const Instruction& call : caller.code) {
      if (!is_call(call)) continue;
      for (uint32_t target : targets(caller, call)) {
        const auto& from = graph.succs[node];
        const bool is_known = std::find(from.begin(), from.end(), target + 1) != from.end();
        if (!is_known) graph.add_edge(node, target + 1);
        if (!seen[target]) reached_.push_back(target);
        seen[target] = 1;
      }
    }
  };
  add_calls(0, kernel);
  for (size_t i = 0; i < reached_.size(); ++i) {
    add_calls(reached_[i] + 1, module_.functions[reached_[i]]);
  }
  component_ = components(graph);
  std::vector<uint32_t> sizes(graph.size());
  for (uint32_t f : reached_) ++sizes[component_[f + 1]];
  for (uint32_t f : reached_) {
    const auto& succs = graph.succs[f + 1];
    const bool calls_itself = std::find(succs.begin(), succs.end(), f + 1) != succs.end();
    is_recursive_[f] = calls_itself || sizes[component_[f + 1]] > 1;
  }
}

bool CallGraph::has_recursion() const {
  return std::any_of(reached_.begin(), reached_.end(),
                     [&](uint32_t function) { return is_recursive(function); });
}

}  // namespace km::simt
