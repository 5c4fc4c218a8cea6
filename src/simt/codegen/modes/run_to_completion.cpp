#include "simt/codegen/modes/run_to_completion.h"

#include <algorithm>
#include <map>

#include "base/assert.h"
#include "simt/codegen/shared_end.h"
#include "simt/passes/interleave_packets.h"

namespace km::simt {

void RunToCompletion::run() {
  region_.create_variables();
  emit_grid_loop();
}

/// Generates the loop over the blocks [first, end) of a row of the grid.
void RunToCompletion::emit_grid_loop() {
  Value* first = b_.CreateTrunc(builder_.entry()->getArg(2), b_.getInt32Ty());
  Value* end = b_.CreateTrunc(builder_.entry()->getArg(3), b_.getInt32Ty());
  frame_.load_block();
  b_.CreateStore(first, frame_.block_index_variable(0));
  auto *head = builder_.new_block("block"), *leave = builder_.new_block("leave");
  b_.CreateCondBr(b_.CreateICmpULT(first, end), head, leave);
  b_.SetInsertPoint(head);
  frame_.note_block();
  if (reserves_shared(*kernel_.function)) {
    clear_reserved_shared(builder_, *plan_.layout, frame_.record(), frame_.shared());
  }
  Value* done = i32(1);
  if (code_plan_.side_by_side) {
    done = emit_side_by_side(end);
  } else {
    emit_block();
  }
  Value* following =
      b_.CreateAdd(b_.CreateLoad(b_.getInt32Ty(), frame_.block_index_variable(0)), done);
  b_.CreateStore(following, frame_.block_index_variable(0));
  b_.CreateCondBr(b_.CreateICmpULT(following, end), head, leave);
  b_.SetInsertPoint(leave);
  b_.CreateRetVoid();
}

/// Generates all regions of one block, and after each the jump to the region that its barrier leads
/// to.
void RunToCompletion::emit_block() {
  auto* tail = builder_.new_block("block.end");
  std::vector<llvm::BasicBlock*> starts;
  for (size_t r = 0; r < plan_.regions.list.size(); ++r)
    starts.push_back(builder_.new_block("region"));
  b_.CreateBr(starts[0]);
  for (uint32_t r = 0; r < starts.size(); ++r) {
    b_.SetInsertPoint(starts[r]);
    auto* done = builder_.new_block("region.end");
    emit_region(r, done);
    b_.SetInsertPoint(done);
    if (lowering_.calls().asserts()) leave_abandoned(tail);
    region_.spill().commit(r);
    std::map<uint32_t, bool> targets;  // by region: the block yields before it
    for (BlockId b : plan_.regions.list[r].blocks) {
      if (!plan_.splits_at_barriers || kernel_.blocks[b].terminator != Terminator::barrier)
        continue;
      bool& waits = targets[plan_.regions.after_barrier[b]];
      waits = waits || plan_.is_in_spin_loop(b);
    }
    auto* next = b_.CreateSwitch(b_.CreateLoad(b_.getInt32Ty(), frame_.next_region()), tail);
    for (const auto& [target, waits] : targets) {
      KM_ASSERT(target != 0 && target < starts.size(),
                "a barrier leads to a region other than the first");
      auto* start = waits ? builder_.new_block("wait") : starts[target];
      next->addCase(b_.getInt32(target), start);
      if (!waits) continue;
      b_.SetInsertPoint(start);
      frame_.yield();
      b_.CreateBr(starts[target]);
    }
  }
  b_.SetInsertPoint(tail);
}

/// Generates the loop over the packets of a region.
void RunToCompletion::emit_region(uint32_t region, llvm::BasicBlock* done) {
  auto *loop = builder_.new_block("packet"), *end = builder_.new_block("packet.end");
  position_.region = region;
  lowering_.begin_region();
  region_.idle().begin(region);
  const bool is_one = plan_.packets == 1 ||
                      (region_.idle().workers() && region_.idle().workers()->threads <= lanes_);
  b_.CreateStore(i32(UINT32_MAX), frame_.next_region());
  b_.CreateStore(i32(0), frame_.packet());
  region_.spill().begin_region(region);
  b_.CreateBr(loop);
  b_.SetInsertPoint(loop);
  region_.begin_packet(region, is_one ? i32(0) : b_.CreateLoad(b_.getInt32Ty(), frame_.packet()));
  llvm::BasicBlock* const before = &builder_.entry()->back();
  region_.emit_steps(region, end);
  region_.spill().load_needed(region);
  if (code_plan_.tiling.is_interleaved(region)) mark_interleaved(before);
  b_.SetInsertPoint(end);
  builder_.set_location(nullptr);
  if (is_one) {
    b_.CreateBr(done);
    return;
  }
  Value* next = b_.CreateAdd(b_.CreateLoad(b_.getInt32Ty(), frame_.packet()), i32(1));
  b_.CreateStore(next, frame_.packet());
  Value* packets = region_.idle().workers()
                       ? i32((region_.idle().workers()->threads + lanes_ - 1) / lanes_)
                       : frame_.block_packets();
  auto* again = b_.CreateCondBr(b_.CreateICmpULT(next, packets), loop, done);
  if (const uint32_t row =
          code_plan_.tiling.packets_in_row(region, lowering_.prefetcher().loads_tile());
      row > 1) {
    again->setMetadata(llvm::LLVMContext::MD_loop, unroll_hint(row));
  }
}

/// Ends the block if an assertion failed in one of the region's packets: that packet has not
/// reached the barrier, and later regions may depend on its results.
void RunToCompletion::leave_abandoned(llvm::BasicBlock* tail) {
  Value* slot =
      b_.CreateConstGEP1_64(b_.getInt8Ty(), frame_.state(), offsetof(BlockState, abandoned));
  Value* abandoned = b_.CreateLoad(b_.getInt32Ty(), slot);
  b_.CreateStore(i32(0), slot);
  auto* whole = builder_.new_block("region.whole");
  b_.CreateCondBr(b_.CreateICmpNE(abandoned, i32(0)), tail, whole);
  b_.SetInsertPoint(whole);
}

/// Metadata that makes LLVM unroll a loop by that number of packets.
llvm::MDNode* RunToCompletion::unroll_hint(uint32_t packets) {
  auto* name = llvm::MDString::get(context_, "llvm.loop.unroll.count");
  auto* count = llvm::ConstantAsMetadata::get(b_.getInt32(packets));
  llvm::Metadata* unroll = llvm::MDNode::get(context_, {name, count});
  auto* hint = llvm::MDNode::getDistinct(context_, {nullptr, unroll});
  hint->replaceOperandWith(0, hint);
  return hint;
}

/// Marks the arithmetic in all basic blocks after `before` for the pass interleave_packets().
void RunToCompletion::mark_interleaved(llvm::BasicBlock* before) {
  auto* mark = llvm::MDNode::get(context_, {});
  for (auto block = std::next(before->getIterator()); block != builder_.entry()->end(); ++block) {
    for (llvm::Instruction& each : *block) {
      if (is_interleaved_arithmetic(each)) each.setMetadata(kInterleavedMetadata, mark);
    }
  }
}

/// Runs blocks of a row interleaved, from the current one to at most `row_end`: one row of threads
/// of each block, then the next row. Returns the number of blocks.
llvm::Value* RunToCompletion::emit_side_by_side(Value* row_end) {
  constexpr uint32_t kMaxThreads = 8192;  // so few that adjacent rows stay in the cache
  const uint32_t width = plan_.variant.block[0];
  KM_ASSERT(width != 0 && plan_.regions.list.size() == 1,
            "interleaved blocks have no barriers and a known size");
  const uint32_t row_packets = std::max(width / lanes_, 1u);
  Value* first = b_.CreateLoad(b_.getInt32Ty(), frame_.block_index_variable(0));
  Value* count = b_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, b_.CreateSub(row_end, first),
                                          i32(std::max(kMaxThreads / width, 1u)));
  Value* last = b_.CreateAdd(first, count);
  auto* row = builder_.variable(b_.getInt32Ty(), "row");  // number of its first packet
  auto *rows = builder_.new_block("row"), *blocks = builder_.new_block("beside"),
       *packets = builder_.new_block("packet");
  auto *packet_end = builder_.new_block("packet.end"),
       *block_end = builder_.new_block("beside.end");
  auto *row_done = builder_.new_block("row.end"), *end = builder_.new_block("rows.end");
  b_.CreateStore(i32(0), row);
  b_.CreateBr(rows);
  b_.SetInsertPoint(rows);
  b_.CreateStore(first, frame_.block_index_variable(0));
  b_.CreateBr(blocks);
  b_.SetInsertPoint(blocks);
  frame_.note_block();
  b_.CreateStore(b_.CreateLoad(b_.getInt32Ty(), row), frame_.packet());
  b_.CreateBr(packets);
  b_.SetInsertPoint(packets);
  region_.begin_packet(0, b_.CreateLoad(b_.getInt32Ty(), frame_.packet()));
  region_.emit_steps(0, packet_end);

  const auto next = [&](llvm::AllocaInst* variable, uint32_t by) {
    Value* value = b_.CreateAdd(b_.CreateLoad(b_.getInt32Ty(), variable), i32(by));
    b_.CreateStore(value, variable);
    return value;
  };
  b_.SetInsertPoint(packet_end);
  builder_.set_location(nullptr);
  Value* following = b_.CreateAdd(b_.CreateLoad(b_.getInt32Ty(), row), i32(row_packets));
  b_.CreateCondBr(b_.CreateICmpULT(next(frame_.packet(), 1), following), packets, block_end);
  b_.SetInsertPoint(block_end);
  b_.CreateCondBr(b_.CreateICmpULT(next(frame_.block_index_variable(0), 1), last), blocks,
                  row_done);
  b_.SetInsertPoint(row_done);
  b_.CreateCondBr(b_.CreateICmpULT(next(row, row_packets), frame_.block_packets()), rows, end);
  b_.SetInsertPoint(end);
  b_.CreateStore(first, frame_.block_index_variable(0));
  return count;
}

}  // namespace km::simt
