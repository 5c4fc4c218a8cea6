// The places where values live, and the reading of operands from them.
#include <llvm/Analysis/ConstantFolding.h>

#include <algorithm>

#include "simt/emit/emitter.h"

namespace km::simt {

using llvm::cast;
using ptx::Modifier;
using ptx::Opcode;
using ptx::Operand;
using ptx::Type;

llvm::Value* Emitter::splat(Value* scalar) {
  if (scalar->getType()->isVectorTy()) return scalar;
  const bool is_mask = has_avx512() && scalar->getType()->isIntegerTy(1);
  if (!is_mask || llvm::isa<llvm::Constant>(scalar)) return b_.CreateVectorSplat(lanes_, scalar);
  // A broadcast would go through a vector of bytes.
  Value* bits = b_.CreateSExt(scalar, b_.getIntNTy(lanes_));
  return b_.CreateBitCast(bits, vector_of(b_.getInt1Ty()));
}

llvm::Value* Emitter::lane_numbers() {
  std::vector<llvm::Constant*> list;
  for (uint32_t l = 0; l < lanes_; ++l) list.push_back(b_.getInt32(l));
  return llvm::ConstantVector::get(list);
}

llvm::Value* Emitter::offsets_constant(const Shape& shape, llvm::Type* element) {
  const Offsets& offsets = plan_.shapes->offsets[shape.offsets];
  std::vector<llvm::Constant*> list;
  for (uint32_t l = 0; l < lanes_; ++l) {
    list.push_back(llvm::ConstantInt::get(element, static_cast<uint64_t>(offsets[l]), true));
  }
  return llvm::ConstantVector::get(list);
}

// ---- Storage.

llvm::Type* Emitter::storage_type(ValueId value) const {
  auto* element = llvm_type(const_cast<llvm::LLVMContext&>(context_), kernel_.values[value].type);
  if (!plan_.shapes->values[value].is_varying()) return element;
  return element->isIntegerTy(1) ? mask_storage_ : vector_of(element);
}

llvm::AllocaInst* Emitter::variable(llvm::Type* type, const char* name) {
  llvm::IRBuilder<> builder(alloca_point_);
  auto* result = builder.CreateAlloca(type, nullptr, name);
  builder.CreateStore(llvm::Constant::getNullValue(type), result);
  return result;
}

/// A constant of the module with this content, the same for all who ask for it.
llvm::GlobalVariable* Emitter::private_constant(llvm::Constant* content, const char* name) {
  llvm::GlobalVariable*& constant = private_constants_[content];
  if (constant != nullptr) return constant;
  const std::string own_name = name + std::string("_") + std::to_string(private_constants_.size());
  constant =
      llvm::cast<llvm::GlobalVariable>(module_.getOrInsertGlobal(own_name, content->getType()));
  constant->setInitializer(content);
  constant->setConstant(true);
  constant->setLinkage(llvm::GlobalValue::PrivateLinkage);
  return constant;
}

/// Memory that is written before it is read.
llvm::AllocaInst* Emitter::bytes(uint64_t size_bytes, const char* name) {
  llvm::IRBuilder<> builder(alloca_point_);
  auto* type = llvm::ArrayType::get(builder.getInt8Ty(), size_bytes);
  auto* result = builder.CreateAlloca(type, nullptr, name);
  result->setAlignment(llvm::Align(64));
  return result;
}

Emitter::Place Emitter::value_variable(ValueId value) {
  auto* type = storage_type(value);
  if (plan_.has_independent_threads()) {
    Value* at = b_.CreateAdd(scratch_, i64(value_offsets_[value]));
    return {b_.CreateIntToPtr(at, b_.getPtrTy()), type};
  }
  if (kept_behind_[value] == UINT32_MAX) is_needed_[value] = 1;
  Place& place = value_variables_[value];
  if (place.pointer == nullptr) place = {variable(type, "v"), type};
  return place;
}

Emitter::Place Emitter::loop_variable(ValueId value, uint32_t loop) {
  if (kept_behind_[value] == loop) is_needed_[value] = 1;
  Place& place = loop_variables_[{value, loop}];
  if (place.pointer == nullptr) {
    auto* element = type_of(kernel_.values[value].type);
    auto* type = element->isIntegerTy(1) ? mask_storage_ : vector_of(element);
    place = {variable(type, "out"), type};
  }
  return place;
}

/// A constant of one number for all lanes, or of one for each.
llvm::Constant* Emitter::constant(llvm::Type* element, const std::vector<uint64_t>& lanes) {
  if (lanes.size() == 1) return llvm::ConstantInt::get(element, lanes[0]);
  std::vector<llvm::Constant*> list;
  for (const uint64_t lane : lanes) list.push_back(llvm::ConstantInt::get(element, lane));
  return llvm::ConstantVector::get(list);
}

llvm::Value* Emitter::stored(ValueId value) {
  const auto& info = kernel_.values[value];
  if (info.block == kNone) return llvm::Constant::getNullValue(type_of(info.type));
  const uint32_t loop = plan_.shapes->loop_left(kernel_, value, block_);
  if (loop == UINT32_MAX) {
    if (const auto* known = code_plan_.constants.find(value)) {
      return constant(type_of(info.type), *known);
    }
    if (Value* const found = cache_.find(value)) return found;
  }
  const Place place = loop == UINT32_MAX ? value_variable(value) : loop_variable(value, loop);
  Value* content = b_.CreateLoad(place.type, place.pointer);
  bool is_mask = info.type == Type::pred && content->getType()->isVectorTy();
  if (is_mask && !has_avx512()) {
    content = b_.CreateICmpSLT(content, llvm::Constant::getNullValue(content->getType()));
  }
  if (loop == UINT32_MAX) cache_.set(value, content);
  return content;
}

void Emitter::store_mask(Value* pointer, Value* content) {
  if (!content->getType()->isVectorTy()) content = splat(content);
  b_.CreateStore(has_avx512() ? content : b_.CreateSExt(content, mask_storage_), pointer);
}

void Emitter::define(ValueId value, Value* content) {
  if (plan_.shapes->values[value].is_varying()) content = splat(content);
  cache_.set(value, content);
  vector_cache_.erase(value);
  if (!code_plan_.lifetimes.is_cross_block(value)) return;
  const Place place = value_variable(value);
  const bool is_mask = place.type == mask_storage_ && kernel_.values[value].type == Type::pred;
  if (is_mask && !has_avx512()) content = b_.CreateSExt(content, mask_storage_);
  if (plan_.has_independent_threads() && place.type->isVectorTy()) {  // other lanes keep theirs
    content = b_.CreateSelect(mask(), content, b_.CreateLoad(place.type, place.pointer));
  }
  b_.CreateStore(content, place.pointer);
}

// ---- Reading.

llvm::Value* Emitter::scalar(ValueId value) { return stored(value); }

llvm::Value* Emitter::vector(ValueId value) {
  if (Value* const found = vector_cache_.find(value)) return found;
  const Shape shape = shape_of(value);
  Value* content = nullptr;
  if (shape.is_varying()) {
    content = splat(stored(value));
  } else if (shape.guarded) {
    return exact_vector(value);
  } else {
    Value* base = stored(value);
    content = splat(base);
    if (shape.is_offset()) {
      content = b_.CreateAdd(content, offsets_constant(shape, base->getType()));
    }
  }
  vector_cache_.set(value, content);
  return content;
}

llvm::Value* Emitter::exact_vector(ValueId value) {
  const auto& info = kernel_.values[value];
  const Inst& inst = kernel_.blocks[info.block].insts[info.instruction];
  const auto& ptx = *inst.ptx;
  if (ptx.opcode == Opcode::mov) return operand(inst, ptx.operands[1], info.type, true, false);
  if (ptx.opcode == Opcode::cvta) {
    Value* lanes = operand(inst, ptx.operands[1], info.type, true, false);
    bool shared = ptx.has(Modifier::shared) || ptx.has(Modifier::shared_cta) ||
                  ptx.has(Modifier::shared_cluster);
    if (!shared) return lanes;
    Value* base = splat(shared_);
    return ptx.has(Modifier::to) ? b_.CreateSub(lanes, base) : b_.CreateAdd(lanes, base);
  }
  std::vector<Value*> sources;
  for (unsigned i = 1; i < ptx.operand_count; ++i) {
    sources.push_back(
        operand(inst, ptx.operands[i], Arithmetic::operand_type(ptx, i), true, false));
  }
  Value* result = arithmetic_.lower(ptx, sources)[0];
  return widen_to_register(result, Arithmetic::operand_type(ptx, 0), info.type);
}

llvm::Value* Emitter::no_wrap(ValueId value) {
  const auto& info = kernel_.values[value];
  if (!plan_.shapes->values[value].guarded) return nullptr;
  const Inst& inst = kernel_.blocks[info.block].insts[info.instruction];
  const auto& ptx = *inst.ptx;
  Value* result = nullptr;
  for (const auto& [reg, read] : inst.reads) result = and_masks(result, no_wrap(read));
  bool widens = ptx.has(Modifier::wide) || ptx.opcode == Opcode::cvt;
  for (unsigned i = 1; widens && i < std::min<unsigned>(ptx.operand_count, 3); ++i) {
    if (ptx.operands[i].kind != Operand::Kind::reg) continue;
    const ValueId source = inst.read(ptx.operands[i].reg);
    const Shape shape = shape_of(source);
    const Type from = ptx.opcode == Opcode::cvt ? ptx.types[1] : ptx.types[0];
    if (!shape.is_offset() || shape.guarded || ptx::size_bits(from) != 32) continue;
    const Offsets& offsets = plan_.shapes->offsets[shape.offsets];
    const int64_t low = *std::min_element(offsets.begin(), offsets.end());
    const int64_t high = *std::max_element(offsets.begin(), offsets.end());
    Value* base = coerce(scalar(source), kernel_.values[source].type, from);
    base = ptx::is_signed(from) ? b_.CreateSExt(base, b_.getInt64Ty())
                                : b_.CreateZExt(base, b_.getInt64Ty());
    const int64_t bottom = ptx::is_signed(from) ? INT32_MIN : 0;
    const int64_t top = ptx::is_signed(from) ? INT32_MAX : int64_t{UINT32_MAX};
    Value* fits = b_.CreateICmpSLE(base, b_.getInt64(static_cast<uint64_t>(top - high)));
    if (low < 0) {
      Value* above = b_.CreateICmpSGE(base, b_.getInt64(static_cast<uint64_t>(bottom - low)));
      fits = b_.CreateAnd(fits, above);
    }
    result = and_masks(result, fits);
  }
  return result;
}

llvm::Value* Emitter::as_type(Value* value, llvm::Type* element) {
  auto* type = value->getType();
  auto* wanted = type->isVectorTy() ? static_cast<llvm::Type*>(vector_of(element)) : element;
  return type == wanted ? value : b_.CreateBitCast(value, wanted);
}

/// Reads a register of type `from` as an operand of type `to`: same bits, the low ones if fewer.
llvm::Value* Emitter::coerce(Value* value, Type from, Type to) {
  auto* wanted = type_of(to);
  if (value->getType()->getScalarType() == wanted) return value;
  const unsigned have = ptx::size_bits(from), want = ptx::size_bits(to);
  value = as_type(value, b_.getIntNTy(have));
  if (want != have) {
    auto* narrow = b_.getIntNTy(want);
    auto* type =
        value->getType()->isVectorTy() ? static_cast<llvm::Type*>(vector_of(narrow)) : narrow;
    value = b_.CreateZExtOrTrunc(value, type);
  }
  return as_type(value, wanted);
}

/// Writes a result of type `type` to a register that may be wider.
llvm::Value* Emitter::widen_to_register(Value* value, Type type, Type reg_type) {
  auto* wanted = type_of(reg_type);
  if (value->getType()->getScalarType() == wanted) return value;
  const unsigned have = value->getType()->getScalarSizeInBits(), want = ptx::size_bits(reg_type);
  value = as_type(value, b_.getIntNTy(have));
  if (want != have) {
    auto* wide = b_.getIntNTy(want);
    auto* to = value->getType()->isVectorTy() ? static_cast<llvm::Type*>(vector_of(wide)) : wide;
    value =
        ptx::is_signed(type) ? b_.CreateSExtOrTrunc(value, to) : b_.CreateZExtOrTrunc(value, to);
  }
  return as_type(value, wanted);
}

llvm::Value* Emitter::immediate(const Operand& operand, Type type) {
  auto* wanted = type_of(type);
  const unsigned bits = std::max(1u, ptx::size_bits(type));
  if (bits > 64) return llvm::ConstantInt::get(wanted, operand.bits);
  auto* integer =
      llvm::ConstantInt::get(b_.getIntNTy(bits), llvm::APInt(64, operand.bits).trunc(bits));
  if (wanted->isIntegerTy()) return integer;
  return llvm::ConstantExpr::getBitCast(integer, wanted);
}

llvm::Value* Emitter::canonical(ValueId value, Value* content) {
  return code_plan_.nans.of(value) == NanClasses::Class::arithmetic ? canonical_bits(content)
                                                                    : content;
}

/// A NaN gets the bits that PTX gives it.
llvm::Value* Emitter::canonical_bits(Value* content) {
  auto* type = content->getType()->getScalarType();
  const unsigned bits = type->getScalarSizeInBits();
  if (bits != 32 && bits != 64) return content;
  Value* real = as_type(content, bits == 32 ? b_.getFloatTy() : b_.getDoubleTy());
  return as_type(arithmetic_.canonical_nan(real), type);
}

llvm::Value* Emitter::operand(const Inst& inst, const Operand& operand, Type type, bool as_vector,
                              bool bits_escape) {
  Value* result = nullptr;
  switch (operand.kind) {
    case Operand::Kind::reg: {
      const ValueId value = inst.read(operand.reg);
      result = as_vector ? vector(value) : scalar(value);
      if (bits_escape) result = canonical(value, result);
      result = coerce(result, kernel_.values[value].type, type);
      break;
    }
    case Operand::Kind::immediate:
      result = immediate(operand, type);
      break;
    case Operand::Kind::special: {
      result = special_register(operand, as_vector);
      const Type own = result->getType()->getScalarSizeInBits() == 64 ? Type::u64 : Type::u32;
      result = widen_to_register(result, own, type);
      break;
    }
    case Operand::Kind::symbol: {
      result = symbol_address(operand, as_vector);
      result = widen_to_register(result, Type::u64, type);
      break;
    }
    default:
      result = llvm::Constant::getNullValue(type_of(type));
      break;
  }
  if (operand.negated && type == Type::pred) result = b_.CreateNot(result);
  return as_vector ? splat(result) : result;
}

bool Emitter::results_are_scalar(const Inst& inst) const {
  return std::none_of(inst.writes.begin(), inst.writes.end(), [&](const auto& write) {
    return plan_.shapes->values[write.second].is_varying();
  });
}

/// Writes one result, under the instruction's own guard if it has one.
void Emitter::define_result(const Inst& inst, ptx::RegisterId reg, Value* content, Type type) {
  const ValueId value = inst.written(reg);
  const Type reg_type = kernel_.values[value].type;
  content = widen_to_register(content, type, reg_type);
  const bool lanes = plan_.shapes->values[value].is_varying();
  // Another result of the instruction varies, so all were computed lane by lane.
  if (!lanes && content->getType()->isVectorTy())
    content = b_.CreateExtractElement(content, i32(0));
  if (inst.guard != kNone) {
    size_t index = 0;
    while (inst.writes[index].first != reg) ++index;
    const ValueId old_value = inst.old_values[index];
    Value* old = lanes ? vector(old_value) : scalar(old_value);
    if (code_plan_.nans.is_mixed(value)) {
      if (makes_float(*inst.ptx)) content = canonical_bits(content);
      old = canonical(old_value, old);
    }
    const bool uniform_guard = shape_of(inst.guard).is_uniform();
    Value* guard = uniform_guard || !lanes ? scalar(inst.guard) : vector(inst.guard);
    if (inst.ptx->guard_negated) guard = b_.CreateNot(guard);
    if (lanes) content = splat(content);
    content = b_.CreateSelect(guard, content, old);
  }
  define(value, content);
}

// ---- Masks.

llvm::Value* Emitter::and_masks(Value* a, Value* b) {
  if (a == nullptr) return b;
  if (b == nullptr) return a;
  return b_.CreateAnd(a, b);
}

llvm::Value* Emitter::bits_of(Value* mask) {
  if (mask == nullptr) return i32(all_lanes());
  auto* type = b_.getIntNTy(lanes_);
  if (auto* known = llvm::dyn_cast<llvm::Constant>(mask)) {
    constexpr auto kCast = llvm::Instruction::BitCast;
    known = llvm::ConstantFoldCastOperand(kCast, known, type, module_.getDataLayout());
    if (auto* number = llvm::dyn_cast_or_null<llvm::ConstantInt>(known)) {
      return i32(static_cast<uint32_t>(number->getZExtValue()));
    }
  }
  Value* bits = b_.CreateBitCast(mask, type);
  return lanes_ == 32 ? bits : b_.CreateZExt(bits, b_.getInt32Ty());
}

llvm::Value* Emitter::any(Value* mask) {
  if (mask == nullptr) return b_.getTrue();
  Value* bits = b_.CreateBitCast(mask, b_.getIntNTy(lanes_));
  return b_.CreateICmpNE(bits, llvm::ConstantInt::get(bits->getType(), 0));
}

llvm::Value* Emitter::all(Value* mask) {
  if (mask == nullptr) return b_.getTrue();
  Value* bits = b_.CreateBitCast(mask, b_.getIntNTy(lanes_));
  return b_.CreateICmpEQ(bits, llvm::ConstantInt::getAllOnesValue(bits->getType()));
}

llvm::Value* Emitter::mask_bits() {
  if (mask_bits_cache_ == nullptr) mask_bits_cache_ = bits_of(mask());
  return mask_bits_cache_;
}

}  // namespace km::simt
