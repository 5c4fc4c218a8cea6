#include "support/simt/scalar_run.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace km::simt::testing {
namespace {

using ptx::Instruction;
using ptx::Modifier;
using ptx::Opcode;
using ptx::Operand;
using ptx::Type;

constexpr size_t kMostSteps = 100000;
constexpr uint64_t kMemoryBase = 0x10000;

uint64_t low(uint64_t value, uint64_t bits) {
  return bits >= 64 ? value : value & ((uint64_t{1} << bits) - 1);
}

int64_t extend(uint64_t value, uint64_t bits) {
  const uint64_t shift = 64 - bits;
  return static_cast<int64_t>(value << shift) >> shift;
}

float as_float(uint64_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits)); }
uint64_t as_bits(float value) { return std::bit_cast<uint32_t>(value); }

class Runner {
 public:
  Runner(const ptx::Module& module, const ptx::Function& kernel, uint32_t thread,
         const std::vector<uint8_t>& params)
      : module_(module), kernel_(kernel), thread_(thread), params_(params) {
    registers_.resize(kernel.registers.size());
    // .local and .shared variables one after the other, and their addresses.
    for (const ptx::Symbol& symbol : kernel.symbols) {
      while (memory_.size() % 16 != 0) memory_.push_back(0);
      bases_.push_back(kMemoryBase + memory_.size());
      memory_.resize(memory_.size() + symbol.size_bytes);
    }
  }

  ScalarRun run() {
    size_t at = 0;
    for (size_t step = 0; at < kernel_.code.size(); ++step) {
      if (step == kMostSteps) fail(kernel_.code[at], "endless");
      if (!result_.error.empty()) break;
      const Instruction& instruction = kernel_.code[at++];
      if (instruction.guard != ptx::kNone &&
          (registers_[instruction.guard] != 0) == instruction.guard_negated) {
        continue;
      }
      if (instruction.opcode == Opcode::ret || instruction.opcode == Opcode::exit) break;
      if (instruction.opcode == Opcode::bra) {
        at = kernel_.labels[instruction.operands[0].label].instruction;
        continue;
      }
      execute(instruction);
    }
    return std::move(result_);
  }

 private:
  void fail(const Instruction& instruction, const std::string& why) {
    result_.error = std::string(ptx::text_of(instruction.opcode)) + " in line " +
                    std::to_string(instruction.location.line) + ": " + why;
  }

  uint64_t bits_of(const Operand& operand) const {
    return operand.kind == Operand::Kind::reg ? ptx::size_bits(kernel_.registers[operand.reg].type)
                                              : 64;
  }

  uint64_t read(const Operand& operand) const {
    switch (operand.kind) {
      case Operand::Kind::reg:
        return registers_[operand.reg];
      case Operand::Kind::special:
        return thread_;
      case Operand::Kind::symbol:
        return operand.local_symbol ? bases_[operand.symbol] + uint64_t(operand.offset)
                                    : 0xC0DE0000 + operand.symbol;
      default:
        return operand.bits;
    }
  }

  void write(const Operand& operand, uint64_t value) {
    if (operand.kind == Operand::Kind::reg) registers_[operand.reg] = low(value, bits_of(operand));
  }

  uint8_t* locate(const Instruction& instruction, const Operand& address, uint64_t size) {
    uint64_t at = static_cast<uint64_t>(address.offset);
    const auto& own = kernel_.params;
    if (address.symbol != ptx::kNone && instruction.has(Modifier::param)) {
      uint64_t offset = 0;
      for (ptx::SymbolId id : own) {
        const ptx::Symbol& param = kernel_.symbols[id];
        offset = (offset + param.align_bytes - 1) / param.align_bytes * param.align_bytes;
        if (id == address.symbol) return within(params_, offset + at, size);
        offset += param.size_bytes;
      }
      return nullptr;
    }
    if (address.reg != ptx::kNone) at += registers_[address.reg];
    if (address.symbol != ptx::kNone) at += bases_[address.symbol];
    return within(memory_, at - kMemoryBase, size);
  }

  static uint8_t* within(std::vector<uint8_t>& bytes, uint64_t at, uint64_t size) {
    return at <= bytes.size() && size <= bytes.size() - at ? bytes.data() + at : nullptr;
  }

  void access(const Instruction& instruction) {
    const bool is_store = instruction.opcode == Opcode::st;
    const Operand& address = instruction.operands[is_store ? 0 : 1];
    const Operand& value = instruction.operands[is_store ? 1 : 0];
    const uint64_t size = ptx::size_bytes(instruction.type());
    const uint32_t count = value.count == 0 ? 1 : value.count;
    if (is_store && instruction.has(Modifier::global)) {
      const uint64_t base = address.reg == ptx::kNone ? 0 : registers_[address.reg];
      result_.stored[base + uint64_t(address.offset)] = low(read(value), 8 * size);
      return;
    }
    uint8_t* memory = locate(instruction, address, size * count);
    if (!memory) return fail(instruction, "out of bounds");
    for (uint32_t i = 0; i < count; ++i) {
      const Operand& element = value.count == 0 ? value : kernel_.operand_pool[value.first + i];
      if (is_store) {
        const uint64_t bits = read(element);
        std::memcpy(memory + i * size, &bits, size);
      } else {
        uint64_t bits = 0;
        std::memcpy(&bits, memory + i * size, size);
        const bool sign = ptx::is_signed(instruction.type());
        write(element, sign ? uint64_t(extend(bits, 8 * size)) : bits);
      }
    }
  }

  void convert(const Instruction& instruction) {
    const uint64_t from = ptx::size_bits(instruction.type(1));
    const uint64_t value = low(read(instruction.operands[1]), from);
    const bool sign = ptx::is_signed(instruction.type(1));
    write(instruction.operands[0],
          low(sign ? uint64_t(extend(value, from)) : value, ptx::size_bits(instruction.type(0))));
  }

  bool compare(const Instruction& instruction) {
    const uint64_t bits = ptx::size_bits(instruction.type());
    const uint64_t a = read(instruction.operands[1]), b = read(instruction.operands[2]);
    const bool sign = ptx::is_signed(instruction.type());
    const bool less = sign ? extend(a, bits) < extend(b, bits) : low(a, bits) < low(b, bits);
    const bool equal = low(a, bits) == low(b, bits);
    if (instruction.has(Modifier::lt)) return less;
    if (instruction.has(Modifier::le)) return less || equal;
    if (instruction.has(Modifier::gt)) return !less && !equal;
    if (instruction.has(Modifier::ge)) return !less;
    return instruction.has(Modifier::eq) == equal;
  }

  void call(const Instruction& instruction) {
    ScalarRun::Call call;
    call.name = module_.symbols[instruction.operands[1].symbol].name;
    const Operand& arguments = instruction.operands[2];
    for (uint32_t i = 0; i < arguments.count; ++i) {
      const Operand& argument = kernel_.operand_pool[arguments.first + i];
      if (argument.kind == Operand::Kind::symbol) return fail(instruction, "a variable is passed");
      call.arguments.push_back(read(argument));
    }
    const Operand& results = instruction.operands[0];
    for (uint32_t i = 0; i < results.count; ++i) write(kernel_.operand_pool[results.first + i], 77);
    result_.calls.push_back(std::move(call));
  }

  uint64_t compute(const Instruction& instruction) {
    const auto& o = instruction.operands;
    const uint64_t a = read(o[1]), b = read(o[2]), c = read(o[3]);
    const uint64_t bits = instruction.type_count ? ptx::size_bits(instruction.type()) : 64;
    const bool real = instruction.type() == Type::f32;
    switch (instruction.opcode) {
      case Opcode::add:
        return real ? as_bits(as_float(a) + as_float(b)) : a + b;
      case Opcode::sub:
        return real ? as_bits(as_float(a) - as_float(b)) : a - b;
      case Opcode::mul:
        if (real) return as_bits(as_float(a) * as_float(b));
        return instruction.has(Modifier::wide) ? uint64_t(extend(a, bits) * extend(b, bits))
                                               : a * b;
      case Opcode::fma:
        return as_bits(std::fma(as_float(a), as_float(b), as_float(c)));
      case Opcode::and_:
        return a & b;
      case Opcode::or_:
        return a | b;
      case Opcode::xor_:
        return a ^ b;
      case Opcode::shl:
        return b >= bits ? 0 : a << b;
      case Opcode::shr:
        return b >= bits ? 0 : low(a, bits) >> b;
      case Opcode::selp:
        return c ? a : b;
      case Opcode::bfi: {
        const uint64_t length = read(o[4]);
        const uint64_t mask = low(~uint64_t{0}, length) << c;
        return (b & ~mask) | ((a << c) & mask);
      }
      default:
        fail(instruction, "unknown");
        return 0;
    }
  }

  void execute(const Instruction& instruction) {
    switch (instruction.opcode) {
      case Opcode::ld:
      case Opcode::st:
        return access(instruction);
      case Opcode::cvt:
        return convert(instruction);
      case Opcode::call:
        return call(instruction);
      case Opcode::bar:
        return;
      case Opcode::mov:
      case Opcode::cvta:
        return write(instruction.operands[0], read(instruction.operands[1]));
      case Opcode::setp:
        return write(instruction.operands[0], compare(instruction));
      default:
        return write(instruction.operands[0], compute(instruction));
    }
  }

  const ptx::Module& module_;
  const ptx::Function& kernel_;
  uint32_t thread_;
  std::vector<uint8_t> params_, memory_;
  std::vector<uint64_t> registers_, bases_;
  ScalarRun result_;
};

}  // namespace

ScalarRun run_scalar(const ptx::Module& module, const ptx::Function& kernel, uint32_t thread,
                     const std::vector<uint8_t>& params) {
  return Runner(module, kernel, thread, params).run();
}

}  // namespace km::simt::testing
