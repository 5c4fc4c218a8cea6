// Types, constants and functions of the facade.
#include "spirv/facade/llvm/IR/IRBuilder.h"

#include <memory>

namespace llvm {

namespace {

constexpr unsigned kLimbBits = 64;

uint64_t low_bits(uint64_t value, unsigned bits) {
  return bits >= 64 ? value : value & ((uint64_t{1} << bits) - 1);
}

km::spirv::Id scalar_constant(Type* type, uint64_t value) {
  auto& writer = type->getContext().writer;
  if (type->is_bool()) return writer.constant_bool(value != 0);
  const uint32_t words[] = {static_cast<uint32_t>(value), static_cast<uint32_t>(value >> 32)};
  return writer.constant(type->id(), std::span(words, type->bits() == 64 ? 2 : 1));
}

bool is_nan(const Type* type, uint64_t bits) {
  if (type->kind() != Type::Kind::real) return false;
  const uint64_t infinity = type->bits() == 64   ? 0x7ff0000000000000
                            : type->bits() == 32 ? 0x7f800000
                                                 : 0x7c00;
  return (bits & ((uint64_t{1} << (type->bits() - 1)) - 1)) > infinity;
}

Value* constant_of(Type* type, uint64_t value) {
  auto& context = type->getContext();
  Value* made = context.new_value();
  made->type = type;
  made->is_constant = true;
  made->content = low_bits(value, type->bits());
  if (is_nan(type, made->content) && context.facts.has_arena) return made;
  if (type->count() == 0) {
    made->id = scalar_constant(type, made->content);
    context.note_known(made->id);
    if (made->content == 0) context.note_zero(made->id);
    return made;
  }
  const std::vector<km::spirv::Id> parts(type->count(),
                                         scalar_constant(type->getScalarType(), made->content));
  made->id = context.writer.composite_constant(type->id(), parts);
  context.note_known(made->id);
  return made;
}

/// A wide constant whose upper limbs are all `upper`.
Value* wide_constant(Type* type, uint64_t low, uint64_t upper) {
  Value* made = type->getContext().new_value();
  made->type = type;
  made->is_constant = true;
  made->content = low;
  Type* limb = Type::getIntNTy(type->getContext(), kLimbBits);
  for (unsigned i = 0; i < type->bits() / kLimbBits; ++i) {
    made->limbs.push_back(constant_of(limb, i == 0 ? low : upper));
  }
  return made;
}

}  // namespace

Type* Type::get(LLVMContext& context, Kind kind, unsigned bits, unsigned count) {
  return context.type(static_cast<uint32_t>(kind), bits, count);
}

bool Type::is_narrow() const {
  if (kind_ != Kind::integer || !context_.facts.has_arena) return false;
  return (bits_ == 8 && !context_.facts.has_int8) || (bits_ == 16 && !context_.facts.has_int16);
}

km::spirv::Id Type::id() const {
  auto& writer = context_.writer;
  if (count_ != 0) return writer.vector_type(getScalarType()->id(), count_);
  if (kind_ == Kind::none) return writer.void_type();
  if (kind_ == Kind::real) return writer.float_type(bits_);
  if (bits_ == 1) return writer.bool_type();
  return writer.int_type(is_narrow() ? 32 : bits_);
}

Value* Constant::getAllOnesValue(Type* type) {
  return type->is_wide() ? wide_constant(type, UINT64_MAX, UINT64_MAX)
                         : constant_of(type, UINT64_MAX);
}

Value* Constant::getNullValue(Type* type) { return ConstantInt::get(type, 0); }

Value* ConstantInt::get(Type* type, uint64_t value) {
  return type->is_wide() ? wide_constant(type, value, 0) : constant_of(type, value);
}

Function* Module::getFunction(const std::string& name) { return context_->find(name); }

FunctionType* FunctionType::get(Type* result, ArrayRef<Type*> parameters, bool) {
  FunctionType* type = result->getContext().new_function_type();
  type->result = result;
  type->parameters.assign(parameters.begin(), parameters.end());
  return type;
}

Function* Function::Create(FunctionType* type, GlobalValue::LinkageTypes, const std::string& name,
                           Module& module) {
  auto& context = module.getContext();
  Function* function = context.add(name);
  std::vector<km::spirv::Id> parameters;
  for (Type* parameter : type->parameters) parameters.push_back(parameter->id());
  function->context_ = &context;
  function->result_ = type->result;
  function->code_ = &context.writer.new_function(type->result->id(), parameters);
  for (size_t i = 0; i < parameters.size(); ++i) {
    Value* argument = context.new_value();
    argument->type = type->parameters[i];
    argument->id = function->code_->parameters[i].second;
    function->arguments_.push_back(argument);
  }
  return function;
}

BasicBlock* BasicBlock::Create(LLVMContext& context, const char*, Function* function) {
  return context.keep(std::make_unique<BasicBlock>(context, function->code()));
}

}  // namespace llvm
