// The module around a kernel: entry function, loop over packets, context kept between barrier
// regions.
#include "simt/emit/emitter.h"

#include <llvm/BinaryFormat/Dwarf.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/MDBuilder.h>

#include <algorithm>
#include <set>
#include <utility>

#include "simt/analysis/reach.h"
#include "simt/emit/cut_function.h"
#include "simt/transform/exact_reads.h"

namespace km::simt {

namespace {

/// Instructions of LLVM that a kernel may become, unoptimised: half a gigabyte of them.
constexpr uint64_t kMostInstructions = 4'000'000;
/// Steps of a region with masks of their own, each made from those before: LLVM takes the square of
/// their number, so that functions with more are cut earlier.
constexpr uint32_t kManyMasks = 96;
constexpr uint32_t kMostBlocksWithManyMasks = 150;

bool has_many_masks(const LinearPlan& plan) {
  const auto count = std::count_if(plan.steps.begin(), plan.steps.end(), [](const Step& step) {
    return step.mask == Step::Mask::variable;
  });
  return count > kManyMasks;
}

CutLimits cut_limits(const Plan& plan) {
  CutLimits limits;
  if (std::any_of(plan.linear.begin(), plan.linear.end(), has_many_masks)) {
    limits.most_blocks = kMostBlocksWithManyMasks;
  }
  return limits;
}

}  // namespace

Emitter::Emitter(CodeBuilder& builder, const CodePlan& plan, const Interruption& interruption)
    : Room(builder, plan),
      interruption_(interruption),
      frame_(builder, plan),
      registers_(builder, plan, frame_),
      values_(builder, plan, frame_, registers_),
      split_(builder, plan),
      lowering_(builder, plan, frame_, registers_, values_, split_),
      idle_(plan_, plan.masks, plan.constants, plan.spills),
      edge_slots_(kernel_.edge_slots()) {}

Result<Object> Emitter::run(llvm::TargetMachine& machine) {
  if (plan_.has_independent_threads()) plan_split_values();
  builder_.create_entry();
  create_variables();
  emit();
  if (status_) {
    emit_meta();
    emit_precheck();
  }
  builder_.finish();
  KM_TRY(std::move(status_));
  cut_function(*builder_.entry(),
               plan_.has_independent_threads() ? CutLimits() : cut_limits(plan_));
  return emit_object(builder_.module(), machine, &interruption_);
}

void Emitter::emit() {
  lowering_.calls().set_leave([this] {
    if (plan_.has_independent_threads()) {
      exit_group();
    } else {
      b_.CreateBr(packet_end_);
    }
  });
  if (plan_.mode == Mode::run_to_completion) {
    emit_blocks_loop();
  } else if (plan_.has_independent_threads()) {
    emit_split_warp();
  } else {
    emit_warp();
  }
}

bool Emitter::is_ended() {
  if (!status_) return true;
  // Blocks after those of steps, which emit_step() counts.
  auto block = last_counted_ ? last_counted_->getIterator() : builder_.entry()->begin();
  for (; &*block != &builder_.entry()->back(); ++block) instructions_ += block->size();
  last_counted_ = &builder_.entry()->back();
  status_ = interruption_.check();
  if (status_ && instructions_ > kMostInstructions) {
    status_ = make_error(KM_ERROR_COMPILER,
                         "kernel '%s' would have more than %llu instructions of the code "
                         "generator: make it smaller",
                         kernel_.function->name.c_str(),
                         static_cast<unsigned long long>(kMostInstructions));
  }
  return !status_;
}

/// The variables that the entry function begins with.
void Emitter::create_variables() {
  frame_.load();
  lowering_.begin();
  frame_.create_variables();
  entry_mask_ = builder_.variable(builder_.mask_storage(), "live");
  for (const auto& [key, slot] : code_plan_.spills.slots()) {
    SpillVariables& variables = spill_variables_[key];
    variables.type = spill_type(key, slot);
    if (!slot.block_uniform) continue;
    variables.in = builder_.variable(variables.type, "in");
    variables.out = builder_.variable(variables.type, "out");
  }
  if (!plan_.splits_at_barriers) return;
  for (const Block& block : kernel_.blocks) {
    if (block.end != End::barrier) continue;
    for (const auto& write : block.insts.back().writes) {
      barrier_sums_[write.second] = builder_.variable(b_.getInt32Ty(), "sum");
    }
  }
}

/// Mode c: values lie in scratch memory after the SplitWarp.
void Emitter::plan_split_values() {
  const uint64_t end = values_.lay_out_in_scratch(sizeof(SplitWarp));
  const uint64_t local_offset_bytes = (end + 63) / 64 * 64;
  const uint64_t local_bytes = plan_.layout->local_stride_bytes() * lanes_;
  frame_.lay_out(local_offset_bytes, (local_offset_bytes + local_bytes + 63) / 64 * 64);
}

/// Mode b: one warp, on a stack of its own.
void Emitter::emit_warp() {
  frame_.load_block();
  Value* warp = builder_.entry()->getArg(2);
  frame_.take_scratch_of(warp);
  auto* end = builder_.new_block("end");
  begin_packet(0, warp);
  emit_steps(0, end);
  b_.SetInsertPoint(end);
  b_.CreateRetVoid();
}

void Emitter::emit_region(uint32_t region, llvm::BasicBlock* done) {
  auto *loop = builder_.new_block("packet"), *end = builder_.new_block("packet.end");
  position_.region = region;
  lowering_.begin_region();
  idle_.begin(region);
  const bool is_one = plan_.packets == 1 || (idle_.workers() && idle_.workers()->threads <= lanes_);
  b_.CreateStore(i32(UINT32_MAX), frame_.next_region());
  b_.CreateStore(i32(0), frame_.packet());
  for (const auto& key : code_plan_.spills.made_in(region)) {
    const SpillVariables& slot = spill_variables_.at(key);
    b_.CreateStore(b_.CreateLoad(slot.type, slot.in), slot.out);
  }
  for (auto& [value, sum] : barrier_sums_) b_.CreateStore(i32(0), sum);
  b_.CreateBr(loop);
  b_.SetInsertPoint(loop);
  begin_packet(region, is_one ? i32(0) : b_.CreateLoad(b_.getInt32Ty(), frame_.packet()));
  llvm::BasicBlock* const before = &builder_.entry()->back();
  emit_steps(region, end);
  load_needed_context(region);
  if (code_plan_.tiling.is_woven(region)) mark_woven(before);
  b_.SetInsertPoint(end);
  builder_.set_location(nullptr);
  if (is_one) {
    b_.CreateBr(done);
    return;
  }
  Value* next = b_.CreateAdd(b_.CreateLoad(b_.getInt32Ty(), frame_.packet()), i32(1));
  b_.CreateStore(next, frame_.packet());
  Value* packets = idle_.workers() ? i32((idle_.workers()->threads + lanes_ - 1) / lanes_)
                                   : frame_.block_packets();
  auto* again = b_.CreateCondBr(b_.CreateICmpULT(next, packets), loop, done);
  if (const uint32_t row =
          code_plan_.tiling.packets_in_row(region, lowering_.prefetcher().loads_tile());
      row > 1) {
    again->setMetadata(llvm::LLVMContext::MD_loop, row_hint(row));
  }
}

void Emitter::begin_packet(uint32_t region, Value* index) {
  builder_.set_location(nullptr);
  position_.region = region;
  position_.block = plan_.regions.list[region].entry;
  builder_.forget_values();
  Value* first = b_.CreateMul(index, i32(lanes_));
  b_.CreateStore(first, frame_.first_thread());
  if (plan_.mode == Mode::run_to_completion && !code_plan_.tiling.is_woven(region)) {
    Value* slot =
        b_.CreateConstGEP1_64(b_.getInt8Ty(), frame_.state(), offsetof(BlockState, first_thread));
    builder_.in_context(b_.CreateStore(first, slot));
  }
  const bool keeps = plan_.mode == Mode::run_to_completion;
  const uint64_t own_bytes = keeps ? plan_.layout->local_stride_bytes() * lanes_ : 0;
  Value* wide = b_.CreateZExt(index, b_.getInt64Ty());
  frame_.set_local_base(
      b_.CreateAdd(b_.CreateAdd(frame_.scratch(), i64(frame_.local_offset_bytes())),
                   b_.CreateMul(wide, i64(own_bytes))));
  if (code_plan_.masks.is_masked(region)) {
    if (region == 0) {
      Value* threads_here = b_.CreateAdd(splat(first), builder_.lane_numbers());
      builder_.store_mask(entry_mask_,
                          b_.CreateICmpULT(threads_here, splat(frame_.block_threads())));
    } else {
      Value* slot = frame_.packet_slot(index, *code_plan_.spills.live_offset_bytes());
      Value* bits = b_.CreateLoad(b_.getInt32Ty(), slot);
      Value* narrow = b_.CreateTrunc(bits, b_.getIntNTy(lanes_));
      builder_.store_mask(entry_mask_, b_.CreateBitCast(narrow, vector_of(b_.getInt1Ty())));
    }
  }
  if (region != 0) load_context(region);
}

// ---- Context between regions.

/// The type that a value's slot holds.
llvm::Type* Emitter::spill_type(const SpillKey& key, const SpillSlot& slot) {
  auto* element = type_of(kernel_.values[key.first].type);
  if (slot.block_uniform) return element;
  switch (slot.form) {
    case SpillSlot::Form::flag:
      return b_.getInt8Ty();
    case SpillSlot::Form::lanes:
      return vector_of(element);
    case SpillSlot::Form::lane_bits:
      return b_.getInt32Ty();
    default:
      return element;
  }
}

/// Values that the region turns out to need are loaded here once all of it has been made.
void Emitter::load_context(uint32_t region) {
  for (ValueId value : code_plan_.constants.kept(region)) {
    values_.begin_kept(value, plan_.shapes->loop_left(kernel_, value, position_.block));
  }
  // An instruction that nobody reads marks the place.
  context_point_ = b_.Insert(new llvm::FreezeInst(b_.getTrue()));
  rematerialise(region);
}

void Emitter::load_needed_context(uint32_t region) {
  if (context_point_ == nullptr) return;
  const llvm::IRBuilder<>::InsertPointGuard guard(b_);
  b_.SetInsertPoint(context_point_);
  for (ValueId value : code_plan_.constants.kept(region)) {
    if (const auto loop = values_.end_kept(value)) load_from_context(value, *loop);
  }
  context_point_->eraseFromParent();
  context_point_ = nullptr;
}

void Emitter::load_from_context(ValueId value, uint32_t loop) {
  const SpillSlot& slot = code_plan_.spills.slot({value, loop});
  const SpillVariables& variables = spill_variables_.at({value, loop});
  const Values::Place target =
      loop == UINT32_MAX ? values_.value_variable(value) : values_.loop_variable(value, loop);
  if (slot.block_uniform) {
    b_.CreateStore(b_.CreateLoad(variables.type, variables.in), target.pointer);
    return;
  }
  Value* packet = b_.CreateLoad(b_.getInt32Ty(), frame_.packet());
  Value* content = builder_.in_context(
      b_.CreateAlignedLoad(variables.type, frame_.packet_slot(packet, slot.offset_bytes),
                           llvm::Align(slot.size_bytes >= 64 ? 64 : 8)));
  const bool is_predicate = kernel_.values[value].type == ptx::Type::pred;
  if (is_predicate && target.type == builder_.mask_storage()) {
    Value* bits = b_.CreateTrunc(content, b_.getIntNTy(lanes_));
    builder_.store_mask(target.pointer, b_.CreateBitCast(bits, vector_of(b_.getInt1Ty())));
  } else {
    if (is_predicate) content = b_.CreateTrunc(content, b_.getInt1Ty());
    b_.CreateStore(content, target.pointer);
  }
}

/// Cheap values that the region reads are made again at its start.
void Emitter::rematerialise(uint32_t region) {
  std::set<ValueId> needed;
  std::function<void(ValueId)> need = [&](ValueId value) {
    if (value == kNone || kernel_.values[value].block == kNone) return;
    if (!is_rematerialised(kernel_, value) || !needed.insert(value).second) return;
    const auto& info = kernel_.values[value];
    for (const auto& read : kernel_.blocks[info.block].insts[info.instruction].reads) {
      need(read.second);
    }
  };
  auto need_reads = [&](const Inst& inst) {
    for (const auto& read : inst.reads) need(read.second);
    for (ValueId read : code_plan_.addresses.reads(inst)) need(read);
    for (ValueId old : inst.old_values) need(old);
    need(inst.guard);
  };
  for (BlockId b : plan_.regions.list[region].blocks) {
    for (const Inst& inst : kernel_.blocks[b].insts) need_reads(inst);
    need(kernel_.blocks[b].condition);
    const auto& succs = kernel_.blocks[b].succs;
    for (size_t edge = 0; edge < succs.size(); ++edge) {
      for (const Phi& phi : kernel_.blocks[succs[edge]].phis)
        need(phi.inputs[edge_slots_[b][edge]]);
    }
  }
  // A guarded value that crossed the barrier is made again where it wraps.
  for (ValueId value : plan_.regions.live_in[region]) {
    for (ValueId read : exact_reads(kernel_, *plan_.shapes, value)) need(read);
  }
  std::set<ValueId> done;
  std::function<void(ValueId)> make = [&](ValueId value) {
    if (!needed.count(value) || !done.insert(value).second) return;
    const auto& info = kernel_.values[value];
    const Inst& inst = kernel_.blocks[info.block].insts[info.instruction];
    for (const auto& read : inst.reads) make(read.second);
    make_again(inst, value, plan_.regions.list[region].entry);
  };
  for (ValueId value : needed) make(value);
  builder_.forget_values();
}

/// Makes a value as its own block does: behind a loop, a value made in the loop has another shape.
void Emitter::make_again(const Inst& inst, ValueId value, BlockId entry) {
  position_.block = kernel_.values[value].block;
  lowering_.lower(inst);
  const uint32_t loop = plan_.shapes->loop_left(kernel_, value, entry);
  if (loop != UINT32_MAX) values_.store_loop_value(value, loop, nullptr);
  position_.block = entry;
}

/// Stores at a barrier the values that the region leaves to `to_region`.
void Emitter::save_context(uint32_t from_region, uint32_t to_region) {
  const Region& from = plan_.regions.list[from_region];
  const BlockId entry = plan_.regions.list[to_region].entry;
  Value* packet = b_.CreateLoad(b_.getInt32Ty(), frame_.packet());
  for (ValueId value : code_plan_.constants.kept(to_region)) {
    if (barrier_sums_.count(value)) continue;
    const BlockId home = kernel_.values[value].block;
    if (!std::binary_search(from.blocks.begin(), from.blocks.end(), home)) continue;
    const uint32_t loop = plan_.shapes->loop_left(kernel_, value, entry);
    const SpillSlot& slot = code_plan_.spills.slot({value, loop});
    Value* content = loop == UINT32_MAX ? values_.stored(value) : values_.vector(value);
    if (slot.block_uniform) {
      b_.CreateStore(content, spill_variables_.at({value, loop}).out);
      continue;
    }
    if (kernel_.values[value].type == ptx::Type::pred) {
      content = content->getType()->isVectorTy() ? builder_.bits_of(content)
                                                 : b_.CreateZExt(content, b_.getInt8Ty());
    }
    builder_.in_context(b_.CreateAlignedStore(content,
                                              frame_.packet_slot(packet, slot.offset_bytes),
                                              llvm::Align(slot.size_bytes >= 64 ? 64 : 8)));
  }
}

/// Block-uniform values change only after all packets have run the region.
void Emitter::commit_context(uint32_t region) {
  for (const auto& key : code_plan_.spills.made_in(region)) {
    const SpillVariables& slot = spill_variables_.at(key);
    auto sum = barrier_sums_.find(key.first);
    if (sum == barrier_sums_.end()) {
      b_.CreateStore(b_.CreateLoad(slot.type, slot.out), slot.in);
      continue;
    }
    const auto& info = kernel_.values[key.first];
    const Inst& inst = kernel_.blocks[info.block].insts[info.instruction];
    Value* count = b_.CreateLoad(b_.getInt32Ty(), sum->second);
    Value* was_here = b_.CreateICmpEQ(b_.CreateLoad(b_.getInt32Ty(), frame_.next_region()),
                                      i32(plan_.regions.after_barrier[info.block]));
    Value* result = count;
    if (inst.ptx->has(ptx::Modifier::or_)) result = b_.CreateICmpNE(count, i32(0));
    if (inst.ptx->has(ptx::Modifier::and_)) result = b_.CreateICmpEQ(count, i32(0));
    Value* old = b_.CreateLoad(slot.type, slot.in);
    b_.CreateStore(b_.CreateSelect(was_here, result, old), slot.in);
  }
}

void Emitter::emit_meta() {
  std::vector<llvm::Constant*> fields{b_.getInt32(ObjectMeta::kMagic),
                                      b_.getInt32(static_cast<uint32_t>(plan_.mode)),
                                      b_.getInt64(frame_.scratch_bytes()),
                                      b_.getInt32(256 * 1024),
                                      b_.getInt32(plan_.waits),
                                      b_.getInt32(!code_plan_.nontemporal.is_empty()),
                                      b_.getInt32(frame_.reads_block())};
  std::vector<llvm::Type*> types;
  for (const llvm::Constant* each : fields) types.push_back(each->getType());
  auto* type = llvm::StructType::get(context_, types);
  auto* meta =
      llvm::cast<llvm::GlobalVariable>(builder_.module().getOrInsertGlobal(kMetaSymbol, type));
  meta->setInitializer(llvm::ConstantStruct::get(type, fields));
  meta->setConstant(true);
  meta->setSection(".rodata.km_meta");
}

}  // namespace km::simt
