// Inliner: arguments and results of calls.
#include <algorithm>

#include "simt/kernel/kernel.h"
#include "simt/transform/inline/inliner.h"
#include "simt/transform/make_instruction.h"

namespace km::simt {

using ptx::Instruction;
using ptx::Operand;
using ptx::Space;
using ptx::Symbol;
using ptx::SymbolId;

/// Checks that arguments and results are registers, constants or whole .param variables of this
/// function.
Status Inliner::check_lists(const Call& call) const {
  for (const Operand* list : {&call.copy.operands[0], &call.copy.operands[2]}) {
    for (uint32_t i = 0; i < list->count; ++i) {
      const Operand& operand = out_.operand_pool[list->first + i];
      if (operand.kind != Operand::Kind::symbol) continue;
      if (!operand.local_symbol || operand.offset != 0 ||
          out_.symbols[operand.symbol].space != Space::param) {
        return error(call.copy, "an argument is not a variable in .param of this function");
      }
    }
  }
  return {};
}

/// The copies of a function's own variables are shared by all its calls (.shared variables above
/// all), because a function that is not recursive has only one activation at a time.
const std::vector<SymbolId>& Inliner::variables_of(uint32_t function) {
  auto [entry, is_new] = variables_.try_emplace(function);
  if (!is_new) return entry->second;
  for (const Symbol& symbol : module_.functions[function].symbols) {
    const bool is_variable = symbol.space != Space::param && symbol.space != Space::reg;
    entry->second.push_back(is_variable ? static_cast<SymbolId>(out_.symbols.size()) : kNone);
    if (!is_variable) continue;
    out_.symbols.push_back(symbol);
    out_.symbols.back().name = unique(symbol.name);
  }
  return entry->second;
}

void Inliner::bind_variables(Frame& callee) {
  callee.symbols = variables_of(callee.function);
  const std::vector<Symbol>& symbols = callee.source->symbols;
  std::vector<uint8_t> is_param(symbols.size());
  for (SymbolId id : callee.source->params) is_param[id] = 1;
  for (SymbolId id = 0; id < symbols.size(); ++id) {
    if (symbols[id].space == Space::param && is_param[id] == 0) {
      callee.symbols[id] = add_param(symbols[id]);  // results, and variables of nested calls
    }
  }
}

Status Inliner::check_signature(const Call& call, const ptx::Function& callee) const {
  const bool open = !callee.params.empty() && callee.symbols[callee.params.back()].unsized;
  if (open || callee.params.size() != call.copy.operands[2].count ||
      callee.returns.size() != call.copy.operands[0].count) {
    return error(call.copy, "functions with variable arguments are not supported");
  }
  return {};
}

Status Inliner::bind_params(const Call& call, Frame& callee) {
  const ptx::Function& source = *callee.source;
  KM_TRY(check_signature(call, source));
  const Operand& arguments = call.copy.operands[2];
  for (uint32_t i = 0; i < arguments.count; ++i) {
    const Operand argument = out_.operand_pool[arguments.first + i];
    const Symbol& param = source.symbols[source.params[i]];
    KM_TRY(bind_param(call, argument, param, callee, callee.symbols[source.params[i]]));
  }
  return {};
}

Status Inliner::bind_param(const Call& call, const Operand& argument, const Symbol& param,
                           Frame& callee, SymbolId& out_symbol) {
  // A function only reads its parameters, so the caller's variable can be used directly. A kernel's
  // own parameters are copied, because the callee may take the address.
  const bool is_own = argument.symbol < is_own_param_.size() && is_own_param_[argument.symbol] != 0;
  if (param.space != Space::reg && argument.kind == Operand::Kind::symbol && !is_own) {
    out_symbol = argument.symbol;
    return {};
  }
  if (param.space != Space::reg) out_symbol = add_param(param);
  KM_ASSIGN(const std::vector<Piece> pieces, read_argument(call, argument, param));
  write_param(call, pieces, callee, param.space == Space::reg ? kNone : out_symbol, param.reg);
  return {};
}

/// Splits a variable into pieces as large as its alignment allows, without values.
std::vector<Inliner::Piece> Inliner::pieces_of(SymbolId variable) const {
  std::vector<Piece> pieces;
  const uint64_t size = out_.symbols[variable].size_bytes;
  const uint64_t align = std::clamp<uint64_t>(out_.symbols[variable].align_bytes, 1, 8);
  for (uint64_t offset = 0; offset < size;) {
    uint64_t piece = align;
    while (piece > size - offset) piece /= 2;
    pieces.push_back({offset, piece, {}});
    offset += piece;
  }
  return pieces;
}

std::vector<Inliner::Piece> Inliner::read_variable(const Instruction& like, SymbolId from) {
  std::vector<Piece> pieces = pieces_of(from);
  for (Piece& piece : pieces) {
    piece.value = register_operand(add_register(bits_type(piece.size_bytes)));
    load(like, piece.value, from, piece.offset_bytes, piece.size_bytes);
  }
  return pieces;
}

/// The value of an argument, in registers or constants; no pieces for `_`.
Result<std::vector<Inliner::Piece>> Inliner::read_argument(const Call& call,
                                                           const Operand& argument,
                                                           const Symbol& param) {
  if (argument.kind == Operand::Kind::sink) return std::vector<Piece>{};
  if (argument.kind != Operand::Kind::symbol) {
    if (param.space != Space::reg && bits_type(param.size_bytes) == ptx::Type::none) {
      return error(call.copy, "an argument of this size must be a variable in .param");
    }
    return std::vector<Piece>{{0, param.size_bytes, argument}};
  }
  if (param.space != Space::reg) return read_variable(call.copy, argument.symbol);
  const Operand reg = register_operand(add_register(bits_type(param.size_bytes)));
  load(call.copy, reg, argument.symbol, 0, param.size_bytes);
  return std::vector<Piece>{{0, param.size_bytes, reg}};
}

/// Writes a parameter to its variable or, if there is none, to the callee's register.
void Inliner::write_param(const Call& call, const std::vector<Piece>& pieces, const Frame& callee,
                          SymbolId variable, ptx::RegisterId reg) {
  for (const Piece& piece : pieces) {
    if (variable == kNone) {
      move_register(call.copy, register_operand(reg + callee.first_register), piece.value);
    } else {
      store(call.copy, variable, piece.offset_bytes, piece.value, piece.size_bytes);
    }
  }
}

/// The caller's variable is used directly for the result, unless it is an argument too.
void Inliner::bind_results(const Call& call, Frame& callee) {
  const Operand &results = call.copy.operands[0], &arguments = call.copy.operands[2];
  for (uint32_t i = 0; i < results.count; ++i) {
    const Operand& target = out_.operand_pool[results.first + i];
    const SymbolId id = callee.source->returns[i];
    if (target.kind != Operand::Kind::symbol || callee.symbols[id] == kNone) continue;
    bool shared = false;
    for (uint32_t k = 0; k < arguments.count; ++k) {
      shared |= out_.operand_pool[arguments.first + k].symbol == target.symbol;
    }
    if (!shared) callee.symbols[id] = target.symbol;
  }
}

void Inliner::take_results(const Call& call, const Frame& callee) {
  const Instruction& like = call.copy;
  const Operand results = like.operands[0];
  for (uint32_t i = 0; i < results.count; ++i) {
    const Operand target = out_.operand_pool[results.first + i];
    const SymbolId id = callee.source->returns[i];
    const Symbol& result = callee.source->symbols[id];
    const bool is_variable = target.kind == Operand::Kind::symbol;
    if (target.kind == Operand::Kind::sink) continue;
    if (result.space == Space::reg) {
      const Operand from = register_operand(result.reg + callee.first_register);
      if (is_variable) {
        store(like, target.symbol, 0, from, result.size_bytes);
      } else {
        move_register(like, target, from);
      }
    } else if (!is_variable) {
      load(like, target, callee.symbols[id], 0, result.size_bytes);
    } else if (callee.symbols[id] != target.symbol) {
      copy_variable(like, callee.symbols[id], target.symbol);
    }
  }
}

void Inliner::move_register(const Instruction& like, const Operand& to, const Operand& from) {
  const ptx::Type type = out_.registers[to.reg].type;
  const bool is_register = from.kind == Operand::Kind::reg;
  const ptx::Type from_type = is_register ? out_.registers[from.reg].type : type;
  emit(make_instruction(move_mnemonic(type, from_type), {to, from}, like));
}

void Inliner::load(const Instruction& like, const Operand& to, SymbolId from, uint64_t offset_bytes,
                   uint64_t size_bytes) {
  const std::string mnemonic = "ld.param." + std::string(bits_type_text(size_bytes));
  emit(make_instruction(mnemonic, {to, address_operand(from, int64_t(offset_bytes))}, like));
}

void Inliner::store(const Instruction& like, SymbolId to, uint64_t offset_bytes,
                    const Operand& from, uint64_t size_bytes) {
  const std::string mnemonic = "st.param." + std::string(bits_type_text(size_bytes));
  emit(make_instruction(mnemonic, {address_operand(to, int64_t(offset_bytes)), from}, like));
}

void Inliner::copy_variable(const Instruction& like, SymbolId from, SymbolId to) {
  for (const Piece& piece : read_variable(like, from)) {
    store(like, to, piece.offset_bytes, piece.value, piece.size_bytes);
  }
}

}  // namespace km::simt
