// Accesses that every lane makes in turn, with an address and size of its own; and the tests before
// them.
#include "simt/emit/emitter.h"
#include "simt/emit/joined_reductions.h"
#include "simt/lower/loops.h"

namespace km::simt {

/// "mbarrier_arrive_shared_b64": names the helper of a form.
std::string Emitter::form_name(const ptx::Instruction& instruction) const {
  std::string name(ptx::text_of(instruction.opcode));
  for (ptx::Modifier modifier : instruction.modifiers) {
    name += '_';
    name += ptx::text_of(modifier);
  }
  for (unsigned i = 0; i < instruction.type_count; ++i) {
    name += '_';
    name += ptx::text_of(instruction.types[i]);
  }
  return name;
}

/// Calls a function of the module that runs `body` for the active lanes, lowest first, with each
/// lane's elements of `arguments`. Gives the results, zero in other lanes; `result` void: none.
llvm::Value* Emitter::for_lanes(const std::string& name, llvm::Type* result,
                                const std::vector<Value*>& arguments, const LaneBody& body) {
  std::vector<Value*> values;
  std::vector<llvm::Type*> types;
  for (Value* argument : arguments) {
    values.push_back(splat(argument));
    types.push_back(values.back()->getType());
  }
  values.push_back(mask_bits());
  types.push_back(b_.getInt32Ty());
  if (auto found = builder_.helper(name)) {
    return b_.CreateCall(found, values);
  }
  const bool gives = !result->isVoidTy();
  llvm::Type* results = gives ? vector_of(result) : result;
  auto* function = builder_.new_helper(name, results, types);
  llvm::IRBuilder<> builder(llvm::BasicBlock::Create(context_, "start", function));
  std::vector<llvm::AllocaInst*> slots;
  for (size_t i = 0; i < arguments.size(); ++i) {
    slots.push_back(builder.CreateAlloca(types[i]));
    builder.CreateStore(function->getArg(static_cast<unsigned>(i)), slots.back());
  }
  llvm::AllocaInst* out = gives ? builder.CreateAlloca(results) : nullptr;
  if (gives) builder.CreateStore(llvm::Constant::getNullValue(results), out);
  Value* bits = function->getArg(static_cast<unsigned>(arguments.size()));
  emit_lane_loop(builder, bits, [&](llvm::IRBuilder<>& b, Value* lane) {
    std::vector<Value*> own;
    for (size_t i = 0; i < slots.size(); ++i) {
      auto* element = types[i]->getScalarType();
      own.push_back(b.CreateLoad(element, b.CreateGEP(element, slots[i], lane)));
    }
    Value* content = body(b, own);
    if (gives) b.CreateStore(content, b.CreateGEP(result, out, lane));
  });
  if (gives) {
    builder.CreateRet(builder.CreateLoad(results, out));
  } else {
    builder.CreateRetVoid();
  }
  return b_.CreateCall(function, values);
}

/// Ends the launch where a lane of `bits` is misaligned. `addresses` is null where there is an
/// index.
void Emitter::require_aligned(const LaneIndex& index, Value* addresses, Value* bits,
                              uint64_t size_bytes) {
  std::vector<Value*> arguments = addresses_.lane_arguments(index, addresses, 0);
  arguments.insert(arguments.end(),
                   {bits, access_site(size_bytes, 0), frame_.runtime(), frame_.state()});
  b_.CreateCall(alignment_helper(scale_of(index)), arguments);
}

/// Ends the launch for lanes of `bits`, all of which are known to be misaligned.
void Emitter::raise_misaligned(const LaneIndex& index, Value* addresses, Value* bits,
                               uint64_t size_bytes) {
  Value* address = builder_.of_first_lane(index.lanes ? index.lanes : addresses, bits);
  if (index.lanes != nullptr) {
    Value* distance = b_.CreateMul(b_.CreateSExt(address, b_.getInt64Ty()), i64(index.scale));
    address = b_.CreateAdd(index.base, distance);
  }
  call_misaligned(address, bits, access_site(size_bytes, 0));
}

/// Ends the launch for all active lanes of an access.
void Emitter::raise_misaligned(const Address& address, uint64_t size_bytes) {
  int64_t step_bytes = 0;
  bool has_step = address.lanes == nullptr;
  if (address.offsets != nullptr) {
    const Run run = run_of(*address.offsets);
    step_bytes = run.step;
    has_step = run.lanes == lanes_ && step_bytes == static_cast<int16_t>(step_bytes);
  }
  if (has_step) {
    return call_misaligned(address.base, mask_bits(), access_site(size_bytes, step_bytes));
  }
  Value* const lanes = address.index.lanes ? nullptr : addresses_.lanes_of(address);
  raise_misaligned(address.index, lanes, mask_bits(), size_bytes);
}

/// RuntimeTable::misaligned.
void Emitter::call_misaligned(Value* address, Value* bits, Value* site) {
  end_launch(b_, frame_.runtime(), offsetof(RuntimeTable, misaligned),
             {frame_.state(), address, bits, site});
  b_.SetInsertPoint(builder_.new_block("raised"));
}

/// Alignment, and in checked code the memory of `lanes` (null: all), each with its own size.
void Emitter::check_lanes(const Inst& inst, const LaneAccess& access, Value* lanes) {
  auto* zeros = llvm::Constant::getNullValue(access.addresses->getType());
  if (access.align_bytes > 1) {
    Value* low = b_.CreateAnd(access.addresses, splat(i64(access.align_bytes - 1)));
    Value* touches = b_.CreateICmpNE(splat(access.sizes), zeros);
    Value* bad = builder_.and_masks(lanes, b_.CreateAnd(touches, b_.CreateICmpNE(low, zeros)));
    builder_.branch_unlikely(builder_.any(bad), [&] {
      raise_misaligned({}, access.addresses, builder_.bits_of(bad), access.align_bytes);
    });
  }
  check_lane_ranges(inst, access, lanes);
  frame_.note_line();
}

/// Checks one size for all active lanes, which is the alignment as well.
void Emitter::check_lanes(const Inst& inst, const Address& address, uint64_t size_bytes) {
  check_alignment(address, size_bytes);
  frame_.note_line();
  if (!plan_.variant.checked) return;
  check_lane_ranges(inst, {addresses_.lanes_of(address), i64(size_bytes), size_bytes}, mask());
}

/// Each place remembers the memory it touched last.
void Emitter::check_lane_ranges(const Inst& inst, const LaneAccess& access, Value* lanes) {
  if (!plan_.variant.checked) return;
  Value* sizes = splat(access.sizes);
  auto* range = builder_.variable(llvm::ArrayType::get(b_.getInt64Ty(), 2), "range");
  Value* begin = splat(builder_.load_field(range, 0, b_.getInt64Ty(), false));
  Value* extent = splat(builder_.load_field(range, 8, b_.getInt64Ty(), false));
  Value* distance = b_.CreateSub(access.addresses, begin);
  Value* outside = b_.CreateOr(b_.CreateICmpUGT(sizes, extent),
                               b_.CreateICmpUGT(distance, b_.CreateSub(extent, sizes)));
  Value* touches = b_.CreateICmpNE(sizes, llvm::Constant::getNullValue(sizes->getType()));
  outside = builder_.and_masks(lanes, b_.CreateAnd(touches, outside));
  auto* addresses = builder_.variable(sizes->getType(), "addresses");
  auto* counts = builder_.variable(sizes->getType(), "sizes");
  builder_.branch_unlikely(builder_.any(outside), [&] {
    b_.CreateStore(access.addresses, addresses);
    b_.CreateStore(sizes, counts);
    auto* pointer = b_.getPtrTy();
    auto* type = llvm::FunctionType::get(
        b_.getVoidTy(),
        {pointer, pointer, pointer, pointer, b_.getInt32Ty(), b_.getInt32Ty(), pointer}, false);
    frame_.call_runtime(offsetof(RuntimeTable, check_sizes), type,
                        {frame_.record(), frame_.state(), addresses, counts,
                         builder_.bits_of(lanes), i32(inst.ptx->location.line), range});
  });
}

}  // namespace km::simt
