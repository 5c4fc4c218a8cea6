#include "simt/codegen/values.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "base/integers.h"
#include "simt/analysis/memory/memory_access.h"
#include "simt/codegen/parameter_addresses.h"

namespace km::simt {

using ptx::Modifier;
using ptx::Opcode;
using ptx::Operand;
using ptx::Type;

Values::Values(CodeBuilder& builder, const CodePlan& plan, LaunchFrame& frame,
               SpecialRegisters& registers)
    : EmitterBase(builder, plan),
      frame_(frame),
      registers_(registers),
      value_variables_(kernel_.values.size()),
      kept_after_(kernel_.values.size(), kNotKept),
      is_needed_(kernel_.values.size()) {}

void Values::begin_kept(ValueId value, uint32_t loop) {
  KM_ASSERT(kept_after_[value] == kNotKept, "a value enters a region from only one spill slot");
  kept_after_[value] = loop;
  is_needed_[value] = 0;
}

std::optional<uint32_t> Values::end_kept(ValueId value) {
  KM_ASSERT(kept_after_[value] != kNotKept, "end_kept() follows begin_kept() for the value");
  const uint32_t loop = std::exchange(kept_after_[value], kNotKept);
  if (is_needed_[value] == 0) return std::nullopt;
  return loop;
}

uint64_t Values::lay_out_in_scratch(uint64_t offset) {
  value_offsets_.assign(kernel_.values.size(), 0);
  const auto& layout = builder_.module().getDataLayout();
  for (ValueId value = 0; value < kernel_.values.size(); ++value) {
    if (!code_plan_.lifetimes.is_cross_block(value)) continue;
    auto* type = storage_type(value);
    const uint64_t align = layout.getABITypeAlign(type).value();
    offset = round_up(offset, align);
    KM_ASSERT(offset % align == 0, "a variable in scratch memory is aligned to its type");
    value_offsets_[value] = offset;
    offset += layout.getTypeAllocSize(type);
  }
  return offset;
}

/// A constant vector with each lane's distance from the base of an offset shape.
llvm::Value* Values::offsets_constant(const Shape& shape, llvm::Type* element) {
  KM_ASSERT(shape.is_offset() && element->isIntegerTy(), "only integers have offset shapes");
  const Offsets& offsets = plan_.shapes->offsets[shape.offsets];
  std::vector<llvm::Constant*> list;
  for (uint32_t l = 0; l < lanes_; ++l) {
    list.push_back(llvm::ConstantInt::get(element, static_cast<uint64_t>(offsets[l]), true));
  }
  return llvm::ConstantVector::get(list);
}

llvm::Type* Values::storage_type(ValueId value) const {
  auto* element = llvm_type(const_cast<llvm::LLVMContext&>(context_), kernel_.values[value].type);
  if (!plan_.shapes->values[value].is_varying()) return element;
  return element->isIntegerTy(1) ? builder_.mask_storage() : vector_of(element);
}

Values::Place Values::value_variable(ValueId value) {
  auto* type = storage_type(value);
  if (plan_.has_independent_threads()) {
    Value* at = b_.CreateAdd(frame_.scratch(), i64(value_offsets_[value]));
    return {b_.CreateIntToPtr(at, b_.getPtrTy()), type};
  }
  if (kept_after_[value] == UINT32_MAX) is_needed_[value] = 1;
  Place& place = value_variables_[value];
  if (place.pointer == nullptr) place = {builder_.variable(type, "v"), type};
  KM_ASSERT(place.type == type, "the type of a value's variable does not change");
  return place;
}

Values::Place Values::loop_variable(ValueId value, uint32_t loop) {
  if (kept_after_[value] == loop) is_needed_[value] = 1;
  KM_ASSERT(plan_.shapes->divergent_loop[loop] != 0,
            "only divergent loops have variables for the values that lanes leave with");
  Place& place = loop_variables_[{value, loop}];
  if (place.pointer == nullptr) {
    auto* element = type_of(kernel_.values[value].type);
    auto* type = element->isIntegerTy(1) ? builder_.mask_storage() : vector_of(element);
    place = {builder_.variable(type, "out"), type};
  }
  return place;
}

/// A constant with one number for all lanes, or with one per lane.
llvm::Constant* Values::lane_constant(llvm::Type* element, const std::vector<uint64_t>& lanes) {
  if (lanes.size() == 1) return llvm::ConstantInt::get(element, lanes[0]);
  std::vector<llvm::Constant*> list;
  for (const uint64_t lane : lanes) list.push_back(llvm::ConstantInt::get(element, lane));
  return llvm::ConstantVector::get(list);
}

llvm::Value* Values::stored(ValueId value) {
  const auto& info = kernel_.values[value];
  if (info.block == kNone) return llvm::Constant::getNullValue(type_of(info.type));
  const uint32_t loop = plan_.shapes->loop_left(kernel_, value, position_.block);
  if (loop == UINT32_MAX) {
    if (const auto* known = code_plan_.constants.find(value)) {
      return lane_constant(type_of(info.type), *known);
    }
    if (Value* const found = builder_.values().find(value)) {
      KM_ASSERT(found->getType()->getScalarType() == type_of(info.type),
                "a cached value has the type of its register");
      return found;
    }
  }
  const Place place = loop == UINT32_MAX ? value_variable(value) : loop_variable(value, loop);
  Value* content = b_.CreateLoad(place.type, place.pointer);
  bool is_mask = info.type == Type::pred && content->getType()->isVectorTy();
  if (is_mask && !machine().has_mask_registers()) {
    content = b_.CreateICmpSLT(content, llvm::Constant::getNullValue(content->getType()));
  }
  KM_ASSERT(content->getType()->getScalarType() == type_of(info.type),
            "a loaded value has the type of its register");
  if (loop == UINT32_MAX) builder_.values().set(value, content);
  return content;
}

void Values::define(ValueId value, Value* content) {
  if (plan_.shapes->values[value].is_varying()) content = splat(content);
  KM_ASSERT(content->getType()->getScalarType() == type_of(kernel_.values[value].type),
            "a result has the type of its register");
  KM_ASSERT(content->getType()->isVectorTy() == plan_.shapes->values[value].is_varying(),
            "exactly the varying values are vectors");
  builder_.values().set(value, content);
  builder_.vectors().erase(value);
  if (!code_plan_.lifetimes.is_cross_block(value)) return;
  const Place place = value_variable(value);
  const bool is_mask =
      place.type == builder_.mask_storage() && kernel_.values[value].type == Type::pred;
  if (is_mask && !machine().has_mask_registers())
    content = b_.CreateSExt(content, builder_.mask_storage());
  // Lanes outside the mask keep their content.
  if (plan_.has_independent_threads() && place.type->isVectorTy()) {
    content = b_.CreateSelect(mask(), content, b_.CreateLoad(place.type, place.pointer));
  }
  b_.CreateStore(content, place.pointer);
}

llvm::Value* Values::scalar(ValueId value) { return stored(value); }

llvm::Value* Values::vector(ValueId value) {
  if (Value* const found = builder_.vectors().find(value)) return found;
  const Shape shape = shape_of(value);
  Value* content = nullptr;
  if (shape.is_varying()) {
    content = splat(stored(value));
  } else if (shape.speculative) {
    content = splat(exact_vector(value));
  } else {
    Value* base = stored(value);
    content = splat(base);
    if (shape.is_offset()) {
      content = b_.CreateAdd(content, offsets_constant(shape, base->getType()));
    }
  }
  KM_ASSERT(content->getType()->isVectorTy(), "a value with all lanes is a vector");
  builder_.vectors().set(value, content);
  return content;
}

/// Recomputes a speculative value as a vector from its operands, since base + offsets is wrong if a
/// 32-bit expression wrapped.
llvm::Value* Values::exact_vector(ValueId value) {
  const auto& info = kernel_.values[value];
  KM_ASSERT(info.block != kNone && info.instruction != kNone,
            "a speculative value is the result of an instruction");
  const Inst& inst = kernel_.blocks[info.block].insts[info.instruction];
  const auto& ptx = *inst.ptx;
  if (ptx.opcode == Opcode::mov) return operand(inst, ptx.operands[1], info.type, true, false);
  if (ptx.opcode == Opcode::cvta) {
    Value* lanes = operand(inst, ptx.operands[1], info.type, true, false);
    bool shared = ptx.has(Modifier::shared) || ptx.has(Modifier::shared_cta) ||
                  ptx.has(Modifier::shared_cluster);
    if (completes_parameter_address(kernel_, inst)) {
      return whole_parameter_address(b_, frame_.params(), lanes);
    }
    if (!shared) return lanes;
    Value* base = splat(frame_.shared());
    return ptx.has(Modifier::to) ? b_.CreateSub(lanes, base) : b_.CreateAdd(lanes, base);
  }
  std::vector<Value*> sources;
  for (unsigned i = 1; i < ptx.operand_count; ++i) {
    sources.push_back(
        operand(inst, ptx.operands[i], Arithmetic::operand_type(ptx, i), true, false));
  }
  Value* result = builder_.arithmetic().lower(ptx, sources)[0];
  return builder_.widen_to_register(result, Arithmetic::operand_type(ptx, 0), info.type);
}

/// The first and the last of the lanes' numbers, base + offsets, in 64 bits, where no 32-bit number
/// wraps.
Values::LaneEnds Values::ends_of(const Inst& inst, const Operand& operand, Type type) {
  const ValueId source = inst.read(operand.reg);
  const Offsets& offsets = plan_.shapes->offsets[shape_of(source).offsets];
  Value* base =
      as_64_bits(builder_.coerce(scalar(source), kernel_.values[source].type, type), type);
  const auto moved = [&](int64_t by) {
    return by == 0 ? base : b_.CreateAdd(base, b_.getInt64(static_cast<uint64_t>(by)));
  };
  return {moved(*std::min_element(offsets.begin(), offsets.end())),
          moved(*std::max_element(offsets.begin(), offsets.end()))};
}

llvm::Value* Values::as_64_bits(Value* content, Type type) {
  return ptx::is_signed(type) ? b_.CreateSExt(content, b_.getInt64Ty())
                              : b_.CreateZExt(content, b_.getInt64Ty());
}

/// True if no lane's number is beyond those of the type.
llvm::Value* Values::are_numbers_of(const LaneEnds& ends, Type type) {
  const int64_t bottom = ptx::is_signed(type) ? INT32_MIN : 0;
  const int64_t top = ptx::is_signed(type) ? INT32_MAX : int64_t{UINT32_MAX};
  Value* above = b_.CreateICmpSGE(ends.first, b_.getInt64(static_cast<uint64_t>(bottom)));
  Value* below = b_.CreateICmpSLE(ends.last, b_.getInt64(static_cast<uint64_t>(top)));
  return b_.CreateAnd(above, below);
}

bool Values::has_lane_ends(const Inst& inst, const Operand& operand, Type type) {
  if (operand.kind != Operand::Kind::reg || ptx::size_bits(type) != 32) return false;
  const Shape shape = shape_of(inst.read(operand.reg));
  return shape.is_offset() && shape.offsets != 0;
}

/// The condition under which base + offsets of a 32-bit source is right in a result of more bits,
/// or of other ones (shifts).
llvm::Value* Values::no_wrap_of(const Inst& inst, const Operand& operand, ValueId result) {
  const auto& ptx = *inst.ptx;
  const Type from = ptx.opcode == Opcode::cvt ? ptx.types[1] : ptx.types[0];
  if (!has_lane_ends(inst, operand, from)) return nullptr;
  const LaneEnds ends = ends_of(inst, operand, from);
  if (ptx.opcode != Opcode::shr || plan_.shapes->values[result].offsets != 0) {
    return are_numbers_of(ends, from);
  }
  // All lanes have one result: no boundary lies between them, which those of the type are, too.
  const auto count = plan_.shapes->constant(inst, ptx.operands[2]);
  KM_ASSERT(count.has_value(), "a speculative shift is one by a constant");
  const auto by = static_cast<uint64_t>(*count);
  return b_.CreateICmpEQ(b_.CreateAShr(ends.first, by), b_.CreateAShr(ends.last, by));
}

/// True if a minimum or maximum with a bound clamps no lane. Null: its lanes are equal, and so is
/// the result.
llvm::Value* Values::clamps_none(const Inst& inst) {
  const auto& ptx = *inst.ptx;
  const Type type = ptx.type();
  const auto is_offset = [&](unsigned i) {
    const Operand& operand = ptx.operands[i];
    return operand.kind == Operand::Kind::reg && shape_of(inst.read(operand.reg)).is_offset();
  };
  const bool is_first = is_offset(1);
  KM_ASSERT(is_first != is_offset(2), "a speculative clamp is one of an index by a bound");
  const Operand &index = ptx.operands[is_first ? 1 : 2], &bound = ptx.operands[is_first ? 2 : 1];
  if (!has_lane_ends(inst, index, type)) return nullptr;
  const LaneEnds ends = ends_of(inst, index, type);
  Value* limit = as_64_bits(operand(inst, bound, type, false, false), type);
  Value* within = ptx.opcode == Opcode::min ? b_.CreateICmpSLE(ends.last, limit)
                                            : b_.CreateICmpSGE(ends.first, limit);
  return b_.CreateAnd(within, are_numbers_of(ends, type));
}

llvm::Value* Values::no_wrap(ValueId value) {
  const auto& info = kernel_.values[value];
  if (!plan_.shapes->values[value].speculative) return nullptr;
  const Inst& inst = kernel_.blocks[info.block].insts[info.instruction];
  const auto& ptx = *inst.ptx;
  Value* result = nullptr;
  for (const auto& [reg, read] : inst.reads) result = builder_.and_masks(result, no_wrap(read));
  if (ptx.opcode == Opcode::min || ptx.opcode == Opcode::max) {
    return builder_.and_masks(result, clamps_none(inst));
  }
  const bool widens =
      ptx.has(Modifier::wide) || ptx.opcode == Opcode::cvt || ptx.opcode == Opcode::shr;
  for (unsigned i = 1; widens && i < std::min<unsigned>(ptx.operand_count, 3); ++i) {
    if (ptx.operands[i].kind != Operand::Kind::reg) continue;
    result = builder_.and_masks(result, no_wrap_of(inst, ptx.operands[i], value));
  }
  return result;
}

llvm::Value* Values::canonical(ValueId value, Value* content) {
  return code_plan_.nans.of(value) == NanClasses::Class::arithmetic
             ? builder_.canonical_bits(content)
             : content;
}

llvm::Value* Values::operand(const Inst& inst, const Operand& operand, Type type, bool as_vector,
                             bool bits_escape) {
  Value* result = nullptr;
  switch (operand.kind) {
    case Operand::Kind::reg: {
      const ValueId value = inst.read(operand.reg);
      result = as_vector ? vector(value) : scalar(value);
      if (bits_escape) result = canonical(value, result);
      result = builder_.coerce(result, kernel_.values[value].type, type);
      break;
    }
    case Operand::Kind::immediate:
      result = builder_.immediate(operand, type);
      break;
    case Operand::Kind::special: {
      result = registers_.special_register(operand, as_vector);
      const Type own = result->getType()->getScalarSizeInBits() == 64 ? Type::u64 : Type::u32;
      result = builder_.widen_to_register(result, own, type);
      break;
    }
    case Operand::Kind::symbol: {
      result = registers_.symbol_address(operand, as_vector);
      result = builder_.widen_to_register(result, Type::u64, type);
      break;
    }
    default:
      result = llvm::Constant::getNullValue(type_of(type));
      break;
  }
  if (operand.negated && type == Type::pred) result = b_.CreateNot(result);
  return as_vector ? splat(result) : result;
}

bool Values::results_are_scalar(const Inst& inst) const {
  return std::none_of(inst.writes.begin(), inst.writes.end(), [&](const auto& write) {
    return plan_.shapes->values[write.second].is_varying();
  });
}

void Values::define_result(const Inst& inst, ptx::RegisterId reg, Value* content, Type type) {
  const ValueId value = inst.written(reg);
  const Type reg_type = kernel_.values[value].type;
  content = builder_.widen_to_register(content, type, reg_type);
  const bool lanes = plan_.shapes->values[value].is_varying();
  // The operation was computed for all lanes, because another of its results varies. This result is
  // equal in all lanes, so lane 0's is taken.
  if (!lanes && content->getType()->isVectorTy())
    content = b_.CreateExtractElement(content, i32(0));
  if (inst.guard != kNone) {
    size_t index = 0;
    KM_ASSERT(inst.old_values.size() == inst.writes.size(),
              "an instruction with a guard has an old value for each result");
    while (inst.writes[index].first != reg) ++index;
    const ValueId old_value = inst.old_values[index];
    Value* old = lanes ? vector(old_value) : scalar(old_value);
    if (code_plan_.nans.is_mixed(value)) {
      if (makes_float(*inst.ptx)) content = builder_.canonical_bits(content);
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

void Values::store_loop_value(ValueId value, uint32_t loop, Value* mask) {
  const Place target = loop_variable(value, loop);
  Value* content = vector(value);
  const bool is_mask =
      kernel_.values[value].type == ptx::Type::pred && !machine().has_mask_registers();
  if (is_mask) content = b_.CreateSExt(content, builder_.mask_storage());
  if (mask != nullptr) {
    Value* old = b_.CreateLoad(target.type, target.pointer);
    content = b_.CreateSelect(mask, content, old);
  }
  b_.CreateStore(content, target.pointer);
}

}  // namespace km::simt
