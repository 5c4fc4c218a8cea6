#include "simt/transform/inline/param_promotion.h"

#include <algorithm>
#include <string>
#include <vector>

#include "simt/transform/make_instruction.h"

namespace km::simt {
namespace {

using ptx::Function;
using ptx::Instruction;
using ptx::Modifier;
using ptx::Opcode;
using ptx::Operand;
using ptx::RegisterId;
using ptx::SymbolId;
using ptx::Type;

constexpr uint64_t kLargestVariable = 4096;
constexpr uint8_t kNoCell = 0xFF;
constexpr size_t kMostCells = kNoCell;

/// Bytes of a variable that no access crosses the ends of, so they can share a register.
struct Cell {
  uint64_t offset = 0, size = 0;
  bool is_stored_in_part = false;
  bool is_whole = true;  // every access covers the whole cell
  // Common type of the registers that are loaded and stored; none: they differ.
  Type type = Type::none;
  bool has_type = false;
  RegisterId reg = ptx::kNone;

  uint64_t register_bytes() const {
    return std::max<uint64_t>(size, is_stored_in_part ? 4 : 2);  // bfi requires at least 32 bits
  }
};

struct Access {
  uint64_t offset = 0, size = 0;
  bool is_store = false;
  Type type = Type::none;  // type of the register; none for constants
};

struct Variable {
  bool is_candidate = false;
  bool is_promoted = false;
  std::vector<Access> accesses;
  std::vector<Cell> cells;
  std::vector<uint8_t> cell_of_byte;
};

/// True for a load or store of one .param variable at a known offset.
bool is_direct_access(const Instruction& instruction, unsigned operand) {
  const bool load = instruction.opcode == Opcode::ld && operand == 1;
  const bool store = instruction.opcode == Opcode::st && operand == 0;
  return (load || store) && instruction.has(Modifier::param);
}

class Promoter {
 public:
  explicit Promoter(Function& function) : function_(function) {}
  void run();

 private:
  void find_candidates();
  void collect(const Instruction& instruction);
  void collect_access(const Instruction& instruction, const Operand& address);
  void give_up_mentioned(const Operand& operand);
  void decide(SymbolId symbol);
  bool make_cells(Variable& variable) const;
  void describe_cell(Variable& variable, const Access& access) const;
  void choose_register(const std::string& name, Cell& cell);

  void rewrite();
  void rewrite_instruction(const Instruction& instruction);
  Operand copy_operand(const Operand& operand);
  void rewrite_access(const Instruction& instruction, const Variable& variable);
  void load(const Instruction& like, const Operand& target, const Cell& cell, uint64_t offset);
  void store(const Instruction& like, const Operand& source, const Cell& cell, uint64_t offset);
  void store_part(const Instruction& like, Operand source, const Cell& cell, uint64_t offset);
  RegisterId add_register(Type type);
  Operand integer_of(const Instruction& like, const Operand& reg);
  void emit(const std::string& mnemonic, std::initializer_list<Operand> operands,
            const Instruction& like) {
    code_.push_back(make_instruction(mnemonic, operands, like));
  }
  Type type_of(const Operand& reg) const { return function_.registers[reg.reg].type; }
  const Operand& element(const Operand& operand, uint32_t i) const {
    return operand.count == 0 ? operand : function_.operand_pool[operand.first + i];
  }

  Function& function_;
  std::vector<Variable> variables_;  // by symbol
  std::vector<Instruction> code_;
  std::vector<Operand> pool_;
};

void Promoter::run() {
  find_candidates();
  const bool any = std::any_of(variables_.begin(), variables_.end(),
                               [](const Variable& variable) { return variable.is_candidate; });
  if (!any) return;
  for (const Instruction& instruction : function_.code) collect(instruction);
  for (SymbolId id = 0; id < variables_.size(); ++id) decide(id);
  rewrite();
}

void Promoter::find_candidates() {
  variables_.resize(function_.symbols.size());
  for (SymbolId id = 0; id < variables_.size(); ++id) {
    variables_[id].is_candidate = variables_[id].is_promoted =
        function_.symbols[id].space == ptx::Space::param;
  }
  for (const auto* own : {&function_.params, &function_.returns}) {
    for (SymbolId id : *own) variables_[id].is_candidate = variables_[id].is_promoted = false;
  }
}

void Promoter::collect(const Instruction& instruction) {
  for (unsigned i = 0; i < instruction.operand_count; ++i) {
    const Operand& operand = instruction.operands[i];
    const bool is_local = operand.local_symbol && operand.symbol != ptx::kNone;
    if (is_local && is_direct_access(instruction, i)) {
      collect_access(instruction, operand);
    } else {
      give_up_mentioned(operand);
    }
  }
}

void Promoter::give_up_mentioned(const Operand& operand) {
  if (operand.local_symbol && operand.symbol != ptx::kNone) {
    variables_[operand.symbol].is_promoted = false;
  }
  for (uint32_t i = 0; i < operand.count; ++i) {
    give_up_mentioned(function_.operand_pool[operand.first + i]);
  }
}

void Promoter::collect_access(const Instruction& instruction, const Operand& address) {
  Variable& variable = variables_[address.symbol];
  if (!variable.is_promoted) return;
  const bool is_store = instruction.opcode == Opcode::st;
  const Operand& value = instruction.operands[is_store ? 1 : 0];
  const uint64_t size = ptx::size_bytes(instruction.type());
  const uint64_t bytes = function_.symbols[address.symbol].size_bytes;
  const auto first = static_cast<uint64_t>(address.offset);
  const uint32_t count = value.count == 0 ? 1 : value.count;
  const bool fits = bits_type(size) != Type::none && bytes <= kLargestVariable && first < bytes &&
                    count * size <= bytes - first && first % size == 0;
  if (!fits) {
    variable.is_promoted = false;
    return;
  }
  for (uint32_t i = 0; i < count; ++i) {
    const Operand& reg = element(value, i);
    const bool is_register = reg.kind == Operand::Kind::reg;
    variable.accesses.push_back(
        {first + i * size, size, is_store, is_register ? type_of(reg) : Type::none});
  }
}

void Promoter::decide(SymbolId symbol) {
  Variable& variable = variables_[symbol];
  if (!variable.is_candidate) return;
  if (variable.is_promoted) variable.is_promoted = make_cells(variable);
  ptx::Symbol& declared = function_.symbols[symbol];
  if (!variable.is_promoted) {
    declared.space = ptx::Space::local;
    return;
  }
  for (Cell& cell : variable.cells) choose_register(declared.name, cell);
}

/// Naturally aligned accesses nest, so the widest access at a place determines the cell.
bool Promoter::make_cells(Variable& variable) const {
  uint64_t end = 0;
  for (const Access& access : variable.accesses) end = std::max(end, access.offset + access.size);
  variable.cell_of_byte.assign(end, kNoCell);
  for (uint64_t size : {8u, 4u, 2u, 1u}) {
    for (const Access& access : variable.accesses) {
      if (access.size != size || variable.cell_of_byte[access.offset] != kNoCell) continue;
      if (variable.cells.size() == kMostCells) return false;
      const auto first = variable.cell_of_byte.begin() + static_cast<int64_t>(access.offset);
      std::fill_n(first, size, static_cast<uint8_t>(variable.cells.size()));
      variable.cells.emplace_back();
      variable.cells.back().offset = access.offset;
      variable.cells.back().size = size;
    }
  }
  for (const Access& access : variable.accesses) describe_cell(variable, access);
  return true;
}

void Promoter::describe_cell(Variable& variable, const Access& access) const {
  Cell& cell = variable.cells[variable.cell_of_byte[access.offset]];
  if (access.size != cell.size) {
    cell.is_whole = false;
    cell.is_stored_in_part |= access.is_store;
  }
  if (access.type == Type::none) return;
  cell.type = !cell.has_type || cell.type == access.type ? access.type : Type::none;
  cell.has_type = true;
}

void Promoter::choose_register(const std::string& name, Cell& cell) {
  const uint64_t bytes = cell.register_bytes();
  const bool keeps_type =
      cell.is_whole && cell.type != Type::none && ptx::size_bytes(cell.type) == bytes;
  cell.type = keeps_type ? cell.type : bits_type(bytes);
  cell.reg = static_cast<RegisterId>(function_.registers.size());
  function_.registers.push_back(
      {"%" + name + "$" + std::to_string(cell.offset) + "$" + std::to_string(cell.reg), cell.type});
}

void Promoter::rewrite() {
  // Variables that are stored in parts need a defined initial value.
  for (const Variable& variable : variables_) {
    if (!variable.is_promoted) continue;
    for (const Cell& cell : variable.cells) {
      if (!cell.is_stored_in_part) continue;
      emit(move_mnemonic(cell.type, cell.type), {register_operand(cell.reg), immediate_operand(0)},
           Instruction());
    }
  }
  std::vector<uint32_t> starts;
  for (size_t i = 0; i < function_.code.size(); ++i) {
    starts.push_back(static_cast<uint32_t>(code_.size()));
    rewrite_instruction(function_.code[i]);
  }
  starts.push_back(static_cast<uint32_t>(code_.size()));
  for (ptx::Label& label : function_.labels) label.instruction = starts[label.instruction];
  function_.code = std::move(code_);
  function_.operand_pool = std::move(pool_);
}

void Promoter::rewrite_instruction(const Instruction& instruction) {
  bool is_demoted = false;
  for (unsigned i = 0; i < instruction.operand_count; ++i) {
    const Operand& operand = instruction.operands[i];
    if (!operand.local_symbol || operand.symbol == ptx::kNone) continue;
    const Variable& variable = variables_[operand.symbol];
    if (variable.is_promoted) return rewrite_access(instruction, variable);
    is_demoted |= variable.is_candidate;
  }
  Instruction copy = instruction;
  for (unsigned i = 0; i < copy.operand_count; ++i) {
    copy.operands[i] = copy_operand(instruction.operands[i]);
  }
  if (is_demoted) replace_modifier(copy, Modifier::param, Modifier::local);
  code_.push_back(std::move(copy));
}

Operand Promoter::copy_operand(const Operand& operand) {
  Operand copy = operand;
  copy.first = 0;
  if (operand.count == 0) return copy;
  std::vector<Operand> elements;
  for (uint32_t i = 0; i < operand.count; ++i) {
    elements.push_back(copy_operand(function_.operand_pool[operand.first + i]));
  }
  copy.first = static_cast<uint32_t>(pool_.size());
  pool_.insert(pool_.end(), elements.begin(), elements.end());
  return copy;
}

void Promoter::rewrite_access(const Instruction& instruction, const Variable& variable) {
  const bool is_store = instruction.opcode == Opcode::st;
  const Operand& value = instruction.operands[is_store ? 1 : 0];
  const auto first = static_cast<uint64_t>(instruction.operands[is_store ? 0 : 1].offset);
  const uint64_t size = ptx::size_bytes(instruction.type());
  const uint32_t count = value.count == 0 ? 1 : value.count;
  for (uint32_t i = 0; i < count; ++i) {
    const Operand& reg = element(value, i);
    const uint64_t offset = first + i * size;
    const Cell& cell = variable.cells[variable.cell_of_byte[offset]];
    if (is_store) {
      store(instruction, reg, cell, offset - cell.offset);
    } else if (reg.kind == Operand::Kind::reg) {
      load(instruction, reg, cell, offset - cell.offset);
    }
  }
}

std::string integer_text(bool is_signed, uint64_t size_bytes) {
  return (is_signed ? "s" : "u") + std::to_string(8 * size_bytes);
}

void Promoter::load(const Instruction& like, const Operand& target, const Cell& cell,
                    uint64_t offset) {
  const Type type = type_of(target);
  const uint64_t size = ptx::size_bytes(like.type()), width = ptx::size_bytes(type);
  const uint64_t have = cell.register_bytes();
  Operand source = register_operand(cell.reg);
  if (size == have && size == width) {
    emit(move_mnemonic(type, cell.type), {target, source}, like);
    return;
  }
  source = integer_of(like, source);
  if (offset != 0) {
    const Operand shifted = register_operand(add_register(bits_type(have)));
    emit("shr." + integer_text(false, have), {shifted, source, immediate_operand(8 * offset)},
         like);
    source = shifted;
  }
  const bool extends = width > size;
  const bool is_signed = extends && ptx::is_signed(like.type());
  const Operand result =
      ptx::is_integer(type) ? target : register_operand(add_register(bits_type(width)));
  emit("cvt." + integer_text(is_signed, width) + "." +
           integer_text(is_signed, extends ? size : have),
       {result, source}, like);
  if (!ptx::is_integer(type)) emit(move_mnemonic(type, type_of(result)), {target, result}, like);
}

void Promoter::store(const Instruction& like, const Operand& source, const Cell& cell,
                     uint64_t offset) {
  const uint64_t size = ptx::size_bytes(like.type());
  const Operand target = register_operand(cell.reg);
  if (size != cell.size) return store_part(like, source, cell, offset);
  if (source.kind != Operand::Kind::reg) {
    emit(move_mnemonic(cell.type, cell.type), {target, source}, like);
    return;
  }
  const uint64_t width = ptx::size_bytes(type_of(source)), wanted = cell.register_bytes();
  if (width == wanted) {
    emit(move_mnemonic(cell.type, type_of(source)), {target, source}, like);
    return;
  }
  emit("cvt." + integer_text(false, wanted) + "." + integer_text(false, width),
       {target, integer_of(like, source)}, like);
}

void Promoter::store_part(const Instruction& like, Operand source, const Cell& cell,
                          uint64_t offset) {
  const uint64_t size = ptx::size_bytes(like.type()), wanted = cell.register_bytes();
  if (source.kind == Operand::Kind::reg) {
    source = integer_of(like, source);
    const uint64_t width = ptx::size_bytes(type_of(source));
    if (width != wanted) {
      const Operand widened = register_operand(add_register(bits_type(wanted)));
      emit("cvt." + integer_text(false, wanted) + "." + integer_text(false, width),
           {widened, source}, like);
      source = widened;
    }
  }
  const Operand target = register_operand(cell.reg);
  emit("bfi." + std::string(bits_type_text(wanted)),
       {target, source, target, immediate_operand(8 * offset), immediate_operand(8 * size)}, like);
}

RegisterId Promoter::add_register(Type type) {
  const auto id = static_cast<RegisterId>(function_.registers.size());
  function_.registers.push_back({"%part$" + std::to_string(id), type});
  return id;
}

/// The register's bits in a type that integer instructions accept.
Operand Promoter::integer_of(const Instruction& like, const Operand& reg) {
  const Type type = type_of(reg);
  if (ptx::is_integer(type)) return reg;
  const Operand result = register_operand(add_register(bits_type(ptx::size_bytes(type))));
  emit(move_mnemonic(type_of(result), type), {result, reg}, like);
  return result;
}

}  // namespace

void promote_params(Function& function) { Promoter(function).run(); }

}  // namespace km::simt
