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

Emitter::Emitter(const Plan& plan, llvm::TargetMachine& machine, const Interruption& interruption)
    : plan_(plan),
      kernel_(*plan.kernel),
      interruption_(interruption),
      lanes_(plan.lanes),
      module_(plan.kernel->function->name, context_),
      b_(context_),
      arithmetic_(b_, plan.variant.isa),
      cache_(plan.kernel->values.size()),
      vector_cache_(plan.kernel->values.size()),
      edge_slots_(plan.kernel->edge_slots()) {
  prepare_module(module_, machine);
  mask_storage_ = has_avx512() ? vector_of(b_.getInt1Ty()) : vector_of(b_.getInt32Ty());
}

Result<Object> Emitter::run(llvm::TargetMachine& machine) {
  plan_values();
  plan_kept_sums();
  plan_streams();
  plan_entry_masks();
  plan_context();
  if (is_split()) plan_split_values();
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
  cut_function(*entry_, is_split() ? CutLimits() : cut_limits(plan_));
  return emit_object(module_, machine, &interruption_);
}

void Emitter::emit() {
  if (plan_.mode == Mode::run_to_completion) {
    emit_blocks_loop();
  } else if (is_split()) {
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
  auto* result = is_split() ? b_.getInt32Ty() : b_.getVoidTy();
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
  for (auto& [key, slot] : slots_) {
    if (!slot.block_uniform) continue;
    slot.in = variable(slot.type, "in");
    slot.out = variable(slot.type, "out");
  }
  if (!plan_.split) return;
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
  leaves_values_.reset();
  active_before_.clear();
  alike_loads_.clear();
  workers_ = workers();
  const bool is_one = plan_.packets == 1 || (workers_ && workers_->threads <= lanes_);
  b_.CreateStore(i32(UINT32_MAX), next_region_);
  b_.CreateStore(i32(0), packet_);
  for (const auto& key : made_in_[region]) {
    const Slot& slot = slots_.at(key);
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
  if (is_woven(region)) mark_woven(before);
  b_.SetInsertPoint(end);
  set_location(nullptr);
  if (is_one) {
    b_.CreateBr(done);
    return;
  }
  Value* next = b_.CreateAdd(b_.CreateLoad(b_.getInt32Ty(), packet_), i32(1));
  b_.CreateStore(next, packet_);
  Value* packets = workers_ ? i32((workers_->threads + lanes_ - 1) / lanes_) : block_packets();
  auto* again = b_.CreateCondBr(b_.CreateICmpULT(next, packets), loop, done);
  if (const uint32_t row = packets_in_row(region); row > 1) {
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
  if (plan_.mode == Mode::run_to_completion && !is_woven(region)) {
    Value* slot = b_.CreateConstGEP1_64(b_.getInt8Ty(), state_, offsetof(BlockState, first_thread));
    in_context(b_.CreateStore(first, slot));
  }
  const bool keeps = plan_.mode == Mode::run_to_completion;
  const uint64_t own_bytes = keeps ? plan_.layout->local_stride_bytes() * lanes_ : 0;
  Value* wide = b_.CreateZExt(index, b_.getInt64Ty());
  local_base_ = b_.CreateAdd(b_.CreateAdd(scratch_, i64(local_offset_bytes_)),
                             b_.CreateMul(wide, i64(own_bytes)));
  if (entry_masked_[region]) {
    if (region == 0) {
      Value* threads_here = b_.CreateAdd(splat(first), lane_numbers());
      store_mask(entry_mask_, b_.CreateICmpULT(threads_here, splat(block_threads())));
    } else {
      Value* slot = packet_slot(index, *live_offset_bytes_);
      Value* bits = b_.CreateLoad(b_.getInt32Ty(), slot);
      Value* narrow = b_.CreateTrunc(bits, b_.getIntNTy(lanes_));
      store_mask(entry_mask_, b_.CreateBitCast(narrow, vector_of(b_.getInt1Ty())));
    }
  }
  if (region != 0) load_context(region);
}

// ---- Context between regions.

namespace {

constexpr size_t kPlacesTried = 256;  // for each value, when values share places

bool are_disjoint(const std::set<size_t>& a, const std::set<size_t>& b) {
  return std::none_of(a.begin(), a.end(), [&](size_t each) { return b.count(each) != 0; });
}

/// The offset in scratch memory at which the context begins. Scratch memory begins with a page, as
/// shared memory does, and a processor takes a load for one of a value stored before if the lower
/// 12 bits of the two addresses agree.
uint64_t beside_shared(uint64_t shared_bytes) {
  constexpr uint64_t kPageBytes = 4096;
  return (shared_bytes + 63) / 64 * 64 % kPageBytes;
}

}  // namespace

/// Chooses the form in which a packet keeps a value: bits if it is a mask, else one number a lane
/// or one for all.
void Emitter::choose_slot_type(Slot& slot, ValueId value, bool behind_loop) {
  const auto type = kernel_.values[value].type;
  auto* element = type_of(type);
  const bool lanes = behind_loop || plan_.shapes->values[value].is_varying();
  slot.type = element;
  slot.size_bytes = 8;
  if (slot.block_uniform) return;
  const bool is_bit = element->isIntegerTy(1);
  if (lanes) slot.type = vector_of(element);
  if (lanes && is_bit) slot.type = b_.getInt32Ty();
  if (!lanes && is_bit) slot.type = b_.getInt8Ty();
  if (lanes && !is_bit) slot.size_bytes = (ptx::size_bytes(type) * lanes_ + 7) / 8 * 8;
}

/// Which regions make what they keep for others of values that are the same for the whole block.
void Emitter::note_makers() {
  std::map<BlockId, std::vector<std::pair<ValueId, uint32_t>>> made;
  for (const auto& [key, slot] : slots_) {
    if (slot.block_uniform) made[kernel_.values[key.first].block].push_back(key);
  }
  made_in_.resize(plan_.regions.list.size());
  for (size_t r = 0; r < made_in_.size(); ++r) {
    for (BlockId b : plan_.regions.list[r].blocks) {
      const auto here = made.find(b);
      if (here == made.end()) continue;
      made_in_[r].insert(made_in_[r].end(), here->second.begin(), here->second.end());
    }
    std::sort(made_in_[r].begin(), made_in_[r].end());
  }
}

void Emitter::plan_context() {
  kept_behind_.assign(kernel_.values.size(), kNotKept);
  is_needed_.assign(kernel_.values.size(), 0);
  const Shapes& shapes = *plan_.shapes;
  std::map<Slot*, std::set<size_t>> regions;  // that begin with the value
  for (size_t r = 1; r < plan_.regions.list.size(); ++r) {
    const BlockId entry = plan_.regions.list[r].entry;
    for (ValueId value : kept_[r]) {
      const uint32_t loop = shapes.loop_left(kernel_, value, entry);
      const Shape shape = shapes.at(kernel_, value, entry);
      auto [slot, fresh] = slots_.try_emplace({value, loop});
      regions[&slot->second].insert(r);
      bool uniform = shape.is_uniform() && shape.block_uniform;
      slot->second.block_uniform = uniform && (fresh || slot->second.block_uniform);
    }
  }
  std::vector<Slot*> kept;  // by packets
  for (auto& [key, slot] : slots_) {
    choose_slot_type(slot, key.first, key.second != UINT32_MAX);
    if (!slot.block_uniform) kept.push_back(&slot);
  }
  note_makers();
  place_slots(std::move(kept), regions);
  if (plan_.split) context_offset_bytes_ = beside_shared(plan_.layout->shared_static_bytes);
  local_offset_bytes_ = context_offset_bytes_ + packet_bytes_ * plan_.packets;
  if (has_phases() && plan_.waits) {
    progress_offset_bytes_ = local_offset_bytes_;
    local_offset_bytes_ += kProgressBytes;
  }
  const uint64_t stride = plan_.layout->local_stride_bytes();
  const uint64_t packets = plan_.mode == Mode::run_to_completion ? plan_.packets : 1;
  scratch_bytes_ = (local_offset_bytes_ + stride * lanes_ * packets + 63) / 64 * 64;
}

/// Places each value within a packet's context, the largest first. A packet has loaded all that its
/// region begins with before it stores anything, so values of different regions share a place: the
/// context should stay in the first cache.
void Emitter::place_slots(std::vector<Slot*> slots,
                          const std::map<Slot*, std::set<size_t>>& regions) {
  struct Place {
    uint64_t offset_bytes, size_bytes;
    std::set<size_t> regions;
  };
  std::vector<Place> places;
  std::stable_sort(slots.begin(), slots.end(),
                   [](const Slot* a, const Slot* b) { return a->size_bytes > b->size_bytes; });
  size_t first = 0;  // place of the size, or the last few of them
  for (Slot* slot : slots) {
    const auto& own = regions.at(slot);
    while (first < places.size() && places[first].size_bytes != slot->size_bytes) ++first;
    first = std::max(first, places.size() - std::min(places.size(), kPlacesTried));
    const auto begin = places.begin() + static_cast<std::ptrdiff_t>(first);
    auto place = std::find_if(begin, places.end(),
                              [&](const Place& each) { return are_disjoint(each.regions, own); });
    if (place == places.end()) {
      place = places.insert(place, {packet_bytes_, slot->size_bytes, {}});
      packet_bytes_ += slot->size_bytes;
    }
    place->regions.insert(own.begin(), own.end());
    slot->offset_bytes = place->offset_bytes;
  }
  const auto some = std::find(entry_masked_.begin() + 1, entry_masked_.end(), 1);
  if (some != entry_masked_.end()) {
    live_offset_bytes_ = packet_bytes_;
    packet_bytes_ += 8;
  }
  packet_bytes_ = (packet_bytes_ + 63) / 64 * 64;
}

bool Emitter::step_is_masked(uint32_t region, uint32_t step) const {
  const auto& steps = plan_.linear[region].steps;
  const Step& source = steps[steps[step].mask_step];
  return source.mask != Step::Mask::entry || entry_masked_[region] != 0;
}

/// A branch that parts warps leads some of them elsewhere in the region: to their end, since others
/// wait at this barrier.
bool Emitter::is_passed_by(uint32_t region, BlockId barrier) const {
  const auto& blocks = plan_.regions.list[region].blocks;
  const auto parts = [&](BlockId b) { return plan_.shapes->warp_branch[b] != 0 && b != barrier; };
  if (std::none_of(blocks.begin(), blocks.end(), parts)) return false;
  // Blocks that lead to the barrier, by place in `blocks`.
  const auto place = [&](BlockId b) {
    const auto found = std::lower_bound(blocks.begin(), blocks.end(), b);
    return static_cast<size_t>(found - blocks.begin());
  };
  Marks leading(blocks.size());
  std::vector<BlockId> open{barrier};
  leading[place(barrier)] = 1;
  while (!open.empty()) {
    const BlockId b = open.back();
    open.pop_back();
    for (BlockId pred : kernel_.blocks[b].preds) {
      const size_t at = place(pred);
      const bool is_inside = at < blocks.size() && blocks[at] == pred;
      if (!is_inside || leading[at] || kernel_.blocks[pred].end == End::barrier) continue;
      leading[at] = 1;
      open.push_back(pred);
    }
  }
  const auto leads = [&](BlockId b) {
    const size_t at = place(b);
    return at < blocks.size() && blocks[at] == b && leading[at] != 0;
  };
  return std::any_of(blocks.begin(), blocks.end(), [&](BlockId b) {
    const auto& succs = kernel_.blocks[b].succs;
    return parts(b) && leads(b) &&
           std::any_of(succs.begin(), succs.end(), [&](BlockId succ) { return !leads(succ); });
  });
}

void Emitter::plan_entry_masks() {
  const uint64_t threads = plan_.variant.threads();
  entry_masked_.assign(plan_.regions.list.size(), 0);
  entry_masked_[0] = threads == 0 || threads % lanes_ != 0;
  if (!plan_.split) return;
  struct Way {
    uint32_t region, step, next;
    BlockId barrier;
    std::optional<bool> is_passed_by = {};
  };
  std::vector<Way> ways;  // from region to region
  for (uint32_t r = 0; r < plan_.regions.list.size(); ++r) {
    for (uint32_t s = 0; s < plan_.linear[r].steps.size(); ++s) {
      const BlockId b = plan_.linear[r].steps[s].block;
      if (kernel_.blocks[b].end != End::barrier) continue;
      ways.push_back({r, s, plan_.regions.after_barrier[b], b});
    }
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (Way& way : ways) {
      auto& flag = entry_masked_[way.next];
      if (flag != 0) continue;
      if (!step_is_masked(way.region, way.step)) {
        if (!way.is_passed_by) way.is_passed_by = is_passed_by(way.region, way.barrier);
        if (!*way.is_passed_by) continue;
      }
      flag = 1;
      changed = true;
    }
  }
}

/// True if a barrier that not all lanes need reach ends the region.
bool Emitter::leads_to_masked(uint32_t region) const {
  const auto& steps = plan_.linear[region].steps;
  return std::any_of(steps.begin(), steps.end(), [&](const Step& step) {
    const bool barrier = plan_.split && kernel_.blocks[step.block].end == End::barrier;
    return barrier && entry_masked_[plan_.regions.after_barrier[step.block]] != 0;
  });
}

llvm::Value* Emitter::packet_slot(Value* packet, uint64_t offset_bytes) {
  Value* index = b_.CreateMul(b_.CreateZExt(packet, b_.getInt64Ty()), i64(packet_bytes_));
  Value* own = b_.CreateAdd(b_.CreateAdd(scratch_, i64(context_offset_bytes_)), index);
  return b_.CreateIntToPtr(b_.CreateAdd(own, i64(offset_bytes)), b_.getPtrTy());
}

/// Values that the region turns out to need are loaded here once all of it has been made.
void Emitter::load_context(uint32_t region) {
  for (ValueId value : kept_[region]) {
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
  for (ValueId value : kept_[region]) {
    const uint32_t loop = std::exchange(kept_behind_[value], kNotKept);
    if (is_needed_[value] != 0) load_from_context(value, loop);
  }
  context_point_->eraseFromParent();
  context_point_ = nullptr;
}

void Emitter::load_from_context(ValueId value, uint32_t loop) {
  const Slot& slot = slots_.at({value, loop});
  const Place target = loop == UINT32_MAX ? value_variable(value) : loop_variable(value, loop);
  if (slot.block_uniform) {
    b_.CreateStore(b_.CreateLoad(slot.type, slot.in), target.pointer);
    return;
  }
  Value* packet = b_.CreateLoad(b_.getInt32Ty(), packet_);
  Value* content =
      in_context(b_.CreateAlignedLoad(slot.type, packet_slot(packet, slot.offset_bytes),
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
    for (ValueId read : reads_of_address(inst)) need(read);
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
  for (ValueId value : kept_[to_region]) {
    if (barrier_sums_.count(value)) continue;
    const BlockId home = kernel_.values[value].block;
    if (!std::binary_search(from.blocks.begin(), from.blocks.end(), home)) continue;
    const uint32_t loop = plan_.shapes->loop_left(kernel_, value, entry);
    const Slot& slot = slots_.at({value, loop});
    Value* content = loop == UINT32_MAX ? stored(value) : vector(value);
    if (slot.block_uniform) {
      b_.CreateStore(content, slot.out);
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
  for (const auto& key : made_in_[region]) {
    const Slot& slot = slots_.at(key);
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
      b_.getInt32(plan_.waits),        b_.getInt32(!streamed_.empty()),
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
