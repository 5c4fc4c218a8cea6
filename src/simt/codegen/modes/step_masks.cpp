#include "simt/codegen/modes/step_masks.h"

#include "base/assert.h"

namespace km::simt {

void StepMasks::create_entry_mask() {
  entry_mask_ = builder_.variable(builder_.mask_storage(), "live");
}

void StepMasks::begin_region(uint32_t region) {
  mask_variables_.clear();
  known_masks_.clear();
  for (const Step& step : plan_.linear[region].steps) {
    if (step.mask != Step::Mask::variable) continue;
    mask_variables_[step.block] = builder_.variable(builder_.mask_storage(), "mask");
  }
}

void StepMasks::clear(uint32_t step) {
  b_.CreateStore(llvm::Constant::getNullValue(builder_.mask_storage()),
                 mask_variables_.at(plan_.linear[position_.region].steps[step].block));
}

void StepMasks::begin_packet(uint32_t region, llvm::BasicBlock* packet_end) {
  const LinearPlan& plan = plan_.linear[region];
  for (uint32_t step : plan.clear_at_start) clear(step);
  const bool starts_masked = code_plan_.masks.is_masked(region) && region != 0;
  if (starts_masked || code_plan_.masks.leads_to_masked(region)) {
    Value* packet = b_.CreateLoad(b_.getInt32Ty(), frame_.packet());
    Value* slot = frame_.packet_slot(packet, *code_plan_.spills.live_offset_bytes());
    if (starts_masked) {
      Value* live = b_.CreateLoad(b_.getInt32Ty(), slot);
      auto* start = builder_.new_block("live");
      b_.CreateCondBr(b_.CreateICmpNE(live, i32(0)), start, packet_end);
      b_.SetInsertPoint(start);
    }
    b_.CreateStore(i32(0), slot);  // no lane reaches a barrier until one stores its mask
  }
  if (plan.steps[0].mask != Step::Mask::variable) return;
  Value* entry = code_plan_.masks.is_masked(region)
                     ? static_cast<Value*>(b_.CreateLoad(builder_.mask_storage(), entry_mask_))
                     : llvm::Constant::getAllOnesValue(builder_.mask_storage());
  b_.CreateStore(entry, mask_variables_.at(plan.steps[0].block));
}

void StepMasks::begin_copy(uint32_t index) {
  copied_step_ = index;
  const Step& step = plan_.linear[position_.region].steps[index];
  if (step.mask != Step::Mask::variable) return;
  // Later steps may share this mask.
  b_.CreateStore(llvm::Constant::getAllOnesValue(builder_.mask_storage()),
                 mask_variables_.at(step.block));
}

llvm::Value* StepMasks::load(uint32_t index) {
  const LinearPlan& plan = plan_.linear[position_.region];
  const Step& step = plan.steps[index];
  if (!code_plan_.masks.step_is_masked(position_.region, index) || index == copied_step_)
    return nullptr;
  KM_ASSERT(step.mask != Step::Mask::same || step.mask_step < index,
            "a step shares the mask of an earlier step");
  if (step.mask == Step::Mask::same) return load(step.mask_step);
  if (const auto known = known_masks_.find(step.block); known != known_masks_.end()) {
    return known->second;
  }
  auto* slot = step.mask == Step::Mask::entry ? entry_mask_ : mask_variables_.at(step.block);
  Value* content = b_.CreateLoad(builder_.mask_storage(), slot);
  if (machine().has_mask_registers()) return content;
  return b_.CreateICmpSLT(content, llvm::Constant::getNullValue(builder_.mask_storage()));
}

void StepMasks::contribute(uint32_t index, BlockId successor, Value* edge_mask) {
  const LinearPlan& plan = plan_.linear[position_.region];
  const uint32_t target = plan.step_of[successor];
  if (target == kEndOfRegion || plan.steps[target].mask != Step::Mask::variable) return;
  auto* slot = mask_variables_.at(successor);
  Value* content = edge_mask;
  if (content == nullptr) content = llvm::Constant::getAllOnesValue(vector_of(b_.getInt1Ty()));
  KM_ASSERT(content->getType() == vector_of(b_.getInt1Ty()),
            "an edge mask is a vector with one i1 per lane");
  const bool back_edge = target <= index;
  // The mask is the same in all packets if it is a constant and the working branch is the only way
  // to the successor, since no branch before it diverges.
  auto* const known = llvm::dyn_cast<llvm::Constant>(content);
  const bool is_only_way = kernel_.blocks[successor].preds.size() == 1;
  if (known && is_only_way && idle_.workers() && idle_.workers()->branch == position_.block) {
    known_masks_[successor] = known;
  }
  if (plan.steps[target].mask_accumulates && !back_edge) {
    Value* old = b_.CreateLoad(builder_.mask_storage(), slot);
    Value* fresh =
        machine().has_mask_registers() ? content : b_.CreateSExt(content, builder_.mask_storage());
    b_.CreateStore(b_.CreateOr(old, fresh), slot);
    return;
  }
  builder_.store_mask(slot, content);
}

}  // namespace km::simt
