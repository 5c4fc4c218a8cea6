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

Emitter::Emitter(const CodePlan& plan, llvm::TargetMachine& machine,
                 const Interruption& interruption)
    : code_plan_(plan),
      plan_(plan.base),
      kernel_(*plan_.kernel),
      interruption_(interruption),
      lanes_(plan_.lanes),
      module_(kernel_.function->name, context_),
      b_(context_),
      arithmetic_(b_, plan_.variant.isa),
      cache_(kernel_.values.size()),
      vector_cache_(kernel_.values.size()),
      idle_(plan_, plan.masks, plan.constants, plan.spills),
      value_variables_(kernel_.values.size()),
      kept_behind_(kernel_.values.size(), kNotKept),
      is_needed_(kernel_.values.size()),
      edge_slots_(kernel_.edge_slots()),
      local_offset_bytes_(plan.spills.local_offset_bytes()),
      scratch_bytes_(plan.spills.scratch_bytes()) {
  prepare_module(module_, machine);
  mask_storage_ = has_avx512() ? vector_of(b_.getInt1Ty()) : vector_of(b_.getInt32Ty());
}

Result<Object> Emitter::run(llvm::TargetMachine& machine) {
  if (plan_.has_independent_threads()) plan_split_values();
  create_debug_info();
  create_entry();
  load_record();
  emit();
  if (status_) {
    emit_meta();
    emit_precheck();
  }
  debug_->finalize();
  KM_TRY(std::move(status_));
  cut_function(*entry_, plan_.has_independent_threads() ? CutLimits() : cut_limits(plan_));
  return emit_object(module_, machine, &interruption_);
}

void Emitter::emit() {
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
  auto block = last_counted_ ? last_counted_->getIterator() : entry_->begin();
  for (; &*block != &entry_->back(); ++block) instructions_ += block->size();
  last_counted_ = &entry_->back();
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

llvm::BasicBlock* Emitter::new_block(const char* name) {
  return llvm::BasicBlock::Create(context_, name, entry_);
}

llvm::Value* Emitter::load_field(Value* pointer, uint64_t offset, llvm::Type* type,
                                 bool invariant) {
  Value* address = b_.CreateConstGEP1_64(b_.getInt8Ty(), pointer, offset);
  auto* load = b_.CreateLoad(type, address);
  if (invariant) {
    load->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(context_, {}));
  }
  return load;
}

void Emitter::create_debug_info() {
  debug_ = std::make_unique<llvm::DIBuilder>(module_);
  auto* file = debug_->createFile(kernel_.module->name.empty() ? "ptx" : kernel_.module->name, ".");
  debug_->createCompileUnit(llvm::dwarf::DW_LANG_C, file, "kernelmill", true, "", 0, "",
                            llvm::DICompileUnit::LineTablesOnly);
  module_.addModuleFlag(llvm::Module::Warning, "Debug Info Version", llvm::DEBUG_METADATA_VERSION);
  module_.addModuleFlag(llvm::Module::Warning, "Dwarf Version", 4);
  auto* type = debug_->createSubroutineType(debug_->getOrCreateTypeArray({}));
  const unsigned line = std::max(1u, kernel_.function->location.line);
  subprogram_ =
      debug_->createFunction(file, kernel_.function->name, "", file, line, type, line,
                             llvm::DINode::FlagZero, llvm::DISubprogram::SPFlagDefinition);
}

void Emitter::set_location(const ptx::Instruction* instruction) {
  unsigned line = 0, column = 0;
  if (instruction != nullptr) {
    line = instruction->location.line;
    column = std::min(instruction->location.column, 65535u);
  }
  b_.SetCurrentDebugLocation(llvm::DILocation::get(context_, line, column, subprogram_));
}

void Emitter::create_entry() {
  bool whole = plan_.mode == Mode::run_to_completion;
  auto* pointer = b_.getPtrTy();
  std::vector<llvm::Type*> types{pointer, pointer};
  if (whole) {
    types.insert(types.end(), {b_.getInt64Ty(), b_.getInt64Ty()});
  } else {
    types.push_back(b_.getInt32Ty());
  }
  auto* result = plan_.has_independent_threads() ? b_.getInt32Ty() : b_.getVoidTy();
  auto* type = llvm::FunctionType::get(result, types, false);
  entry_ = llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage, kEntrySymbol, module_);
  entry_->setDoesNotThrow();
  entry_->setSubprogram(subprogram_);
  record_ = entry_->getArg(0);
  state_ = entry_->getArg(1);
  allocas_ = new_block("allocas");
  auto* start = new_block("start");
  b_.SetInsertPoint(allocas_);
  set_location(nullptr);
  alloca_point_ = b_.CreateBr(start);
  b_.SetInsertPoint(start);
}

void Emitter::load_record() {
  auto* pointer = b_.getPtrTy();
  params_ = load_field(record_, offsetof(LaunchRecord, params), pointer, true);
  variables_ = load_field(record_, offsetof(LaunchRecord, variables), pointer, true);
  runtime_ = load_field(record_, offsetof(LaunchRecord, runtime), pointer, true);
  shared_ = load_field(state_, offsetof(BlockState, shared), b_.getInt64Ty(), true);
  scratch_ = load_field(state_, offsetof(BlockState, scratch), b_.getInt64Ty(), true);
  load_streams();
  for (auto*& index : ctaid_) index = variable(b_.getInt32Ty(), "ctaid");
  packet_ = variable(b_.getInt32Ty(), "packet");
  first_thread_ = variable(b_.getInt32Ty(), "first");
  next_region_ = variable(b_.getInt32Ty(), "next");
  entry_mask_ = variable(mask_storage_, "live");
  for (const auto& [key, slot] : code_plan_.spills.slots()) {
    SpillVariables& variables = spill_variables_[key];
    variables.type = spill_type(key, slot);
    if (!slot.block_uniform) continue;
    variables.in = variable(variables.type, "in");
    variables.out = variable(variables.type, "out");
  }
  if (!plan_.splits_at_barriers) return;
  for (const Block& block : kernel_.blocks) {
    if (block.end != End::barrier) continue;
    for (const auto& write : block.insts.back().writes) {
      barrier_sums_[write.second] = variable(b_.getInt32Ty(), "sum");
    }
  }
}

/// Which block it is, as the runtime says.
void Emitter::load_block() {
  for (unsigned d = 0; d < 3; ++d) {
    b_.CreateStore(load_field(state_, offsetof(BlockState, block) + 4 * d, b_.getInt32Ty(), false),
                   ctaid_[d]);
  }
}

/// Mode b: one warp, on a stack of its own.
void Emitter::emit_warp() {
  load_block();
  Value* warp = entry_->getArg(2);
  Value* own = b_.CreateMul(b_.CreateZExt(warp, b_.getInt64Ty()), i64(scratch_bytes_));
  scratch_ = b_.CreateAdd(scratch_, own);
  auto* end = new_block("end");
  begin_packet(0, warp);
  emit_steps(0, end);
  b_.SetInsertPoint(end);
  b_.CreateRetVoid();
}

void Emitter::emit_region(uint32_t region, llvm::BasicBlock* done) {
  auto *loop = new_block("packet"), *end = new_block("packet.end");
  region_ = region;
  alike_loads_.clear();
  idle_.begin(region);
  const bool is_one = plan_.packets == 1 || (idle_.workers() && idle_.workers()->threads <= lanes_);
  b_.CreateStore(i32(UINT32_MAX), next_region_);
  b_.CreateStore(i32(0), packet_);
  for (const auto& key : code_plan_.spills.made_in(region)) {
    const SpillVariables& slot = spill_variables_.at(key);
    b_.CreateStore(b_.CreateLoad(slot.type, slot.in), slot.out);
  }
  for (auto& [value, sum] : barrier_sums_) b_.CreateStore(i32(0), sum);
  b_.CreateBr(loop);
  b_.SetInsertPoint(loop);
  begin_packet(region, is_one ? i32(0) : b_.CreateLoad(b_.getInt32Ty(), packet_));
  llvm::BasicBlock* const before = &entry_->back();
  loads_tile_ = false;
  emit_steps(region, end);
  load_needed_context(region);
  if (code_plan_.tiling.is_woven(region)) mark_woven(before);
  b_.SetInsertPoint(end);
  set_location(nullptr);
  if (is_one) {
    b_.CreateBr(done);
    return;
  }
  Value* next = b_.CreateAdd(b_.CreateLoad(b_.getInt32Ty(), packet_), i32(1));
  b_.CreateStore(next, packet_);
  Value* packets =
      idle_.workers() ? i32((idle_.workers()->threads + lanes_ - 1) / lanes_) : block_packets();
  auto* again = b_.CreateCondBr(b_.CreateICmpULT(next, packets), loop, done);
  if (const uint32_t row = code_plan_.tiling.packets_in_row(region, loads_tile_); row > 1) {
    again->setMetadata(llvm::LLVMContext::MD_loop, row_hint(row));
  }
}

llvm::Value* Emitter::block_packets() {
  return b_.CreateUDiv(b_.CreateAdd(block_threads(), i32(lanes_ - 1)), i32(lanes_));
}

void Emitter::begin_packet(uint32_t region, Value* index) {
  set_location(nullptr);
  region_ = region;
  block_ = plan_.regions.list[region].entry;
  cache_.clear();
  vector_cache_.clear();
  Value* first = b_.CreateMul(index, i32(lanes_));
  b_.CreateStore(first, first_thread_);
  if (plan_.mode == Mode::run_to_completion && !code_plan_.tiling.is_woven(region)) {
    Value* slot = b_.CreateConstGEP1_64(b_.getInt8Ty(), state_, offsetof(BlockState, first_thread));
    in_context(b_.CreateStore(first, slot));
  }
  const bool keeps = plan_.mode == Mode::run_to_completion;
  const uint64_t own_bytes = keeps ? plan_.layout->local_stride_bytes() * lanes_ : 0;
  Value* wide = b_.CreateZExt(index, b_.getInt64Ty());
  local_base_ = b_.CreateAdd(b_.CreateAdd(scratch_, i64(local_offset_bytes_)),
                             b_.CreateMul(wide, i64(own_bytes)));
  if (code_plan_.masks.is_masked(region)) {
    if (region == 0) {
      Value* threads_here = b_.CreateAdd(splat(first), lane_numbers());
      store_mask(entry_mask_, b_.CreateICmpULT(threads_here, splat(block_threads())));
    } else {
      Value* slot = packet_slot(index, *code_plan_.spills.live_offset_bytes());
      Value* bits = b_.CreateLoad(b_.getInt32Ty(), slot);
      Value* narrow = b_.CreateTrunc(bits, b_.getIntNTy(lanes_));
      store_mask(entry_mask_, b_.CreateBitCast(narrow, vector_of(b_.getInt1Ty())));
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

llvm::Value* Emitter::packet_slot(Value* packet, uint64_t offset_bytes) {
  Value* index =
      b_.CreateMul(b_.CreateZExt(packet, b_.getInt64Ty()), i64(code_plan_.spills.packet_bytes()));
  Value* own =
      b_.CreateAdd(b_.CreateAdd(scratch_, i64(code_plan_.spills.context_offset_bytes())), index);
  return b_.CreateIntToPtr(b_.CreateAdd(own, i64(offset_bytes)), b_.getPtrTy());
}

/// Values that the region turns out to need are loaded here once all of it has been made.
void Emitter::load_context(uint32_t region) {
  for (ValueId value : code_plan_.constants.kept(region)) {
    kept_behind_[value] = plan_.shapes->loop_left(kernel_, value, block_);
    is_needed_[value] = 0;
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
    const uint32_t loop = std::exchange(kept_behind_[value], kNotKept);
    if (is_needed_[value] != 0) load_from_context(value, loop);
  }
  context_point_->eraseFromParent();
  context_point_ = nullptr;
}

void Emitter::load_from_context(ValueId value, uint32_t loop) {
  const SpillSlot& slot = code_plan_.spills.slot({value, loop});
  const SpillVariables& variables = spill_variables_.at({value, loop});
  const Place target = loop == UINT32_MAX ? value_variable(value) : loop_variable(value, loop);
  if (slot.block_uniform) {
    b_.CreateStore(b_.CreateLoad(variables.type, variables.in), target.pointer);
    return;
  }
  Value* packet = b_.CreateLoad(b_.getInt32Ty(), packet_);
  Value* content =
      in_context(b_.CreateAlignedLoad(variables.type, packet_slot(packet, slot.offset_bytes),
                                      llvm::Align(slot.size_bytes >= 64 ? 64 : 8)));
  const bool is_predicate = kernel_.values[value].type == ptx::Type::pred;
  if (is_predicate && target.type == mask_storage_) {
    Value* bits = b_.CreateTrunc(content, b_.getIntNTy(lanes_));
    store_mask(target.pointer, b_.CreateBitCast(bits, vector_of(b_.getInt1Ty())));
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
  cache_.clear();
  vector_cache_.clear();
}

/// Makes a value as its own block does: behind a loop, a value made in the loop has another shape.
void Emitter::make_again(const Inst& inst, ValueId value, BlockId entry) {
  block_ = kernel_.values[value].block;
  lower(inst);
  const uint32_t loop = plan_.shapes->loop_left(kernel_, value, entry);
  if (loop != UINT32_MAX) store_loop_value(value, loop, nullptr);
  block_ = entry;
}

/// Stores at a barrier the values that the region leaves to `to_region`.
void Emitter::save_context(uint32_t from_region, uint32_t to_region) {
  const Region& from = plan_.regions.list[from_region];
  const BlockId entry = plan_.regions.list[to_region].entry;
  Value* packet = b_.CreateLoad(b_.getInt32Ty(), packet_);
  for (ValueId value : code_plan_.constants.kept(to_region)) {
    if (barrier_sums_.count(value)) continue;
    const BlockId home = kernel_.values[value].block;
    if (!std::binary_search(from.blocks.begin(), from.blocks.end(), home)) continue;
    const uint32_t loop = plan_.shapes->loop_left(kernel_, value, entry);
    const SpillSlot& slot = code_plan_.spills.slot({value, loop});
    Value* content = loop == UINT32_MAX ? stored(value) : vector(value);
    if (slot.block_uniform) {
      b_.CreateStore(content, spill_variables_.at({value, loop}).out);
      continue;
    }
    if (kernel_.values[value].type == ptx::Type::pred) {
      content = content->getType()->isVectorTy() ? bits_of(content)
                                                 : b_.CreateZExt(content, b_.getInt8Ty());
    }
    in_context(b_.CreateAlignedStore(content, packet_slot(packet, slot.offset_bytes),
                                     llvm::Align(slot.size_bytes >= 64 ? 64 : 8)));
  }
}

llvm::MDNode* Emitter::context_scope() {
  if (context_scope_ == nullptr) {
    llvm::MDBuilder builder(context_);
    auto* domain = builder.createAnonymousAliasScopeDomain("memory");
    auto* scope = builder.createAnonymousAliasScope(domain, "context");
    context_scope_ = llvm::MDNode::get(context_, {scope});
  }
  return context_scope_;
}

/// Memory of the engine's own, which no access of the kernel reaches.
llvm::Instruction* Emitter::in_context(llvm::Instruction* access) {
  access->setMetadata(llvm::LLVMContext::MD_alias_scope, context_scope());
  return access;
}

llvm::Instruction* Emitter::beside_context(llvm::Instruction* access) {
  access->setMetadata(llvm::LLVMContext::MD_noalias, context_scope());
  return access;
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
    Value* was_here = b_.CreateICmpEQ(b_.CreateLoad(b_.getInt32Ty(), next_region_),
                                      i32(plan_.regions.after_barrier[info.block]));
    Value* result = count;
    if (inst.ptx->has(ptx::Modifier::or_)) result = b_.CreateICmpNE(count, i32(0));
    if (inst.ptx->has(ptx::Modifier::and_)) result = b_.CreateICmpEQ(count, i32(0));
    Value* old = b_.CreateLoad(slot.type, slot.in);
    b_.CreateStore(b_.CreateSelect(was_here, result, old), slot.in);
  }
}

void Emitter::emit_meta() {
  std::vector<llvm::Constant*> fields{
      b_.getInt32(ObjectMeta::kMagic), b_.getInt32(static_cast<uint32_t>(plan_.mode)),
      b_.getInt64(scratch_bytes_),     b_.getInt32(256 * 1024),
      b_.getInt32(plan_.waits),        b_.getInt32(!code_plan_.nontemporal.is_empty()),
      b_.getInt32(reads_block_)};
  std::vector<llvm::Type*> types;
  for (const llvm::Constant* each : fields) types.push_back(each->getType());
  auto* type = llvm::StructType::get(context_, types);
  auto* meta = llvm::cast<llvm::GlobalVariable>(module_.getOrInsertGlobal(kMetaSymbol, type));
  meta->setInitializer(llvm::ConstantStruct::get(type, fields));
  meta->setConstant(true);
  meta->setSection(".rodata.km_meta");
}

}  // namespace km::simt
