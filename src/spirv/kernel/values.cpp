// The kernel's values: identifiers where the definition dominates the use, variables elsewhere.
#include <algorithm>

#include "ptx/names.h"
#include "spirv/kernel/shader.h"

namespace km::spirv {

using ptx::Operand;
using ptx::Type;

void Shader::refuse(const ptx::Instruction& instruction, const std::string& reason) {
  if (!refusal_.empty()) return;
  refusal_ = simt::describe(*kernel.module, instruction) + " is not supported on '" + facts.name +
             "': " + reason;
}

void Shader::take_refusal(const ptx::Instruction& instruction) {
  if (!context.refusal().empty()) refuse(instruction, context.refusal());
}

llvm::Type* Shader::register_type(Type type) {
  return b.getIntNTy(type == Type::pred ? 1 : ptx::size_bits(type));
}

/// Reinterprets or truncates the content of a register for an operand of another type.
V Shader::coerce(V value, Type to) {
  auto* type = simt::llvm_type(context, to);
  if (value->type->bits() > type->bits()) value = b.CreateTrunc(value, b.getIntNTy(type->bits()));
  if (value->type->bits() < type->bits()) {
    value = b.CreateZExt(value, b.getIntNTy(type->bits()));
  }
  return b.CreateBitCast(value, type);
}

V Shader::operand(const simt::Inst& inst, const Operand& operand, Type type) {
  auto* wanted = simt::llvm_type(context, type);
  V result = nullptr;
  switch (operand.kind) {
    case Operand::Kind::reg: {
      result = coerce(read(inst.read(operand.reg)), type);
      break;
    }
    case Operand::Kind::immediate:
      result = llvm::ConstantInt::get(wanted, operand.bits);
      break;
    case Operand::Kind::special:
      result = b.CreateZExtOrTrunc(special_register(operand), register_type(type));
      result = b.CreateBitCast(result, wanted);
      break;
    case Operand::Kind::symbol:
      result = b.CreateZExtOrTrunc(symbol_address(operand), register_type(type));
      break;
    default:
      result = llvm::Constant::getNullValue(wanted);
      break;
  }
  if (operand.negated && type == Type::pred) result = b.CreateNot(result);
  return result;
}

V Shader::read(simt::ValueId value) {
  const simt::Value& info = kernel.values[value];
  if (info.block == simt::kNone) {
    return llvm::Constant::getNullValue(register_type(info.type));
  }
  if (in_variable_[value] && info.block != current_) return load(*variables_[value]);
  if (values_[value] == nullptr) {  // read in its own block before it is defined: a later round
    return variables_[value] ? load(*variables_[value])
                             : llvm::Constant::getNullValue(register_type(info.type));
  }
  return values_[value];
}

void Shader::define(simt::ValueId value, V content) {
  values_[value] = content;
  if (!in_variable_[value]) return;
  store(*variables_[value], content);
}

/// Extends a result to the width of its register, and chooses between it and the old content.
void Shader::define_result(const simt::Inst& inst, ptx::RegisterId reg, V content, Type type) {
  const simt::ValueId value = inst.written(reg);
  const Type own = kernel.values[value].type;
  auto* wanted = register_type(own);
  content = b.CreateBitCast(content, b.getIntNTy(content->type->bits()));
  content = ptx::is_signed(type) ? b.CreateSExtOrTrunc(content, wanted)
                                 : b.CreateZExtOrTrunc(content, wanted);
  if (inst.guard != simt::kNone) {
    size_t index = 0;
    while (inst.writes[index].first != reg) ++index;
    V old = read(inst.old_values[index]);
    V guard = read(inst.guard);
    content = inst.ptx->guard_negated ? b.CreateSelect(guard, old, content)
                                      : b.CreateSelect(guard, content, old);
  }
  define(value, content);
}

V Shader::condition(const simt::BasicBlock& block) {
  V truth = read(block.condition);
  return block.condition_negated ? b.CreateNot(truth) : truth;
}

void Shader::keep_in_variable(simt::ValueId value) {
  if (in_variable_[value]) return;
  in_variable_[value] = 1;
  variables_[value] = new_variable(register_type(kernel.values[value].type));
}

void Shader::keep_all_in_variables() {
  for (simt::ValueId value = 0; value < kernel.values.size(); ++value) {
    if (kernel.values[value].block != simt::kNone) keep_in_variable(value);
  }
}

void Shader::forget_values() { std::fill(values_.begin(), values_.end(), nullptr); }

void Shader::store_phis(simt::BlockId, simt::BlockId to, size_t slot) {
  // All inputs are read before any is replaced.
  std::vector<std::pair<simt::ValueId, V>> moves;
  for (const simt::Phi& phi : kernel.blocks[to].phis) {
    moves.emplace_back(phi.result, read(phi.inputs[slot]));
  }
  for (const auto& [result, content] : moves) {
    auto& variable = phi_variables_[result];
    if (!variable) variable = new_variable(register_type(kernel.values[result].type));
    store(*variable, content);
  }
}

void Shader::load_phis(simt::BlockId block) {
  for (const simt::Phi& phi : kernel.blocks[block].phis) {
    auto& variable = phi_variables_[phi.result];
    if (!variable) variable = new_variable(register_type(kernel.values[phi.result].type));
    define(phi.result, load(*variable));
  }
}

}  // namespace km::spirv
