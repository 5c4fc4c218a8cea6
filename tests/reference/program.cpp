#include "reference/program.h"

#include <algorithm>
#include <cstring>

namespace km::reference {
namespace {

constexpr uint64_t kMapAlign = 256, kMapGap = 65536, kFunctionBytes = 16;

uint64_t align_up(uint64_t value, uint64_t align) { return (value + align - 1) / align * align; }

Step decode_step(const ptx::Function& function, const Instruction& in) {
  Step step{&in, find_handler(in), {}};
  const ptx::Assignment specs = specs_of(in);
  for (unsigned i = 0; i < in.operand_count; ++i) {
    const ptx::Operand& operand = in.operands[i];
    const bool vector = operand.kind == ptx::Operand::Kind::vector;
    if (specs[i]) step.types[i] = ptx::operand_type(*specs[i], in, vector ? operand.count : 1);
  }
  // An address without a type of its own is as wide as its register.
  if (in.opcode == Opcode::isspacep && in.operands[1].kind == ptx::Operand::Kind::reg) {
    step.types[1] = function.registers[in.operands[1].reg].type;
  }
  return step;
}

}  // namespace

Program::Program(std::shared_ptr<const ptx::Module> module) : module_(std::move(module)) {
  codes_.resize(module_->functions.size());
  place_symbols(module_->symbols, places_, nullptr);
  for (size_t i = 0; i < codes_.size(); ++i) {
    Code& code = codes_[i];
    code.function = &module_->functions[i];
    place_symbols(code.function->symbols, code.places, &code);
    if (code.function->is_entry) place_params(code);
    decode(code);
  }
  // Arrays without a size, which the launch gives, begin behind all others.
  shared_bytes_ = align_up(shared_bytes_, 16);
  for (size_t i = 0; i < places_.size(); ++i) {
    if (module_->symbols[i].unsized) places_[i].address = shared_bytes_;
  }
  relocate(module_->symbols, places_);
}

void Program::decode(Code& code) {
  for (const Instruction& in : code.function->code) {
    code.steps.push_back(decode_step(*code.function, in));
  }
}

void Program::place_symbols(const std::vector<ptx::Symbol>& symbols, std::vector<Place>& places,
                            Code* code) {
  for (const ptx::Symbol& symbol : symbols) places.push_back(place_symbol(symbol, code));
}

Place Program::place_symbol(const ptx::Symbol& symbol, Code* code) {
  if (symbol.is_function) {
    return {ptx::Space::generic, kFunctionBase + uint64_t{symbol.function} * kFunctionBytes};
  }
  const uint64_t align = std::max(symbol.align_bytes, 1u);
  if (symbol.space == ptx::Space::shared) {
    if (symbol.unsized) return {symbol.space, 0};
    const uint64_t offset = align_up(shared_bytes_, align);
    shared_bytes_ = offset + symbol.size_bytes;
    return {symbol.space, offset};
  }
  if (code != nullptr && (symbol.space == ptx::Space::local || symbol.space == ptx::Space::param)) {
    const uint64_t offset = align_up(code->frame_bytes, align);
    code->frame_bytes = offset + symbol.size_bytes;
    return {symbol.space, offset};
  }
  std::vector<uint8_t>& bytes = variables_[symbol.name];
  bytes.assign(std::max<uint64_t>(symbol.size_bytes, 1), 0);
  std::copy(symbol.data.begin(), symbol.data.end(), bytes.begin());
  return {symbol.space, map(bytes.data(), bytes.size())};
}

/// Parameters of kernels lie in the launch's memory, in order, aligned by their own rule.
void Program::place_params(Code& code) {
  for (ptx::SymbolId id : code.function->params) {
    const ptx::Symbol& symbol = code.function->symbols[id];
    const uint64_t offset = align_up(code.param_bytes, std::max(symbol.align_bytes, 1u));
    code.places[id] = {ptx::Space::param, kParamBase + offset};
    code.param_bytes = offset + symbol.size_bytes;
  }
}

void Program::relocate(const std::vector<ptx::Symbol>& symbols, const std::vector<Place>& places) {
  for (size_t i = 0; i < symbols.size(); ++i) {
    for (const ptx::Relocation& relocation : symbols[i].relocations) {
      const uint64_t target =
          places[relocation.symbol].address + static_cast<uint64_t>(relocation.addend);
      const uint64_t kept = target & relocation.mask;
      const uint64_t value =
          relocation.mask ? kept >> __builtin_ctzll(relocation.mask) : uint64_t{0};
      std::memcpy(&variables_[symbols[i].name][relocation.offset], &value, relocation.size_bytes);
    }
  }
}

uint64_t Program::map(uint8_t* bytes, uint64_t size_bytes) {
  const uint64_t address = next_global_;
  regions_[address] = {bytes, size_bytes};
  next_global_ = align_up(address + size_bytes + kMapGap, kMapAlign);
  return address;
}

std::vector<uint8_t>* Program::variable(const std::string& name) {
  const auto found = variables_.find(name);
  return found == variables_.end() ? nullptr : &found->second;
}

const Code* Program::entry(const std::string& name) const {
  for (const Code& code : codes_) {
    if (code.function->name == name && code.function->is_entry) return &code;
  }
  return nullptr;
}

const Code* Program::callee(const ptx::Symbol& symbol) const {
  uint32_t index = symbol.function;
  if (index < codes_.size() && codes_[index].function->alias_of != ptx::kNone) {
    index = codes_[index].function->alias_of;
  }
  if (index < codes_.size() && !codes_[index].function->is_declaration) return &codes_[index];
  for (const Code& code : codes_) {
    if (code.function->name == symbol.name && !code.function->is_declaration) return &code;
  }
  return nullptr;
}

const Code* Program::callee_at(uint64_t address) const {
  for (const ptx::Symbol& symbol : module_->symbols) {
    if (!symbol.is_function) continue;
    if (kFunctionBase + uint64_t{symbol.function} * kFunctionBytes == address) {
      return callee(symbol);
    }
  }
  return nullptr;
}

Place Program::place(const Code& code, const ptx::Operand& operand) const {
  Place place = operand.local_symbol ? code.places[operand.symbol] : places_[operand.symbol];
  place.address += static_cast<uint64_t>(operand.offset);
  return place;
}

uint8_t* Program::find(uint64_t address, uint64_t size_bytes) const {
  auto next = regions_.upper_bound(address);
  if (next == regions_.begin()) return nullptr;
  const auto& [base, region] = *--next;
  const uint64_t offset = address - base;
  if (offset > region.size_bytes || size_bytes > region.size_bytes - offset) return nullptr;
  return region.bytes + offset;
}

}  // namespace km::reference
