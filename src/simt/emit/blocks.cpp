// Mode a: the loop over blocks, one after the other or those of a row of the grid side by side.
#include <algorithm>
#include <set>

#include "simt/analysis/index_steps.h"
#include "simt/emit/emitter.h"

namespace km::simt {

/// Blocks [first, end) in linear order, x fastest.
void Emitter::emit_blocks_loop() {
  Value *first = entry_->getArg(2), *end = entry_->getArg(3);
  auto* index = variable(b_.getInt64Ty(), "index");
  auto *head = new_block("block"), *leave = new_block("leave");
  Value* grid[2];
  for (unsigned d = 0; d < 2; ++d) {
    grid[d] = load_field(record_, offsetof(LaunchRecord, grid) + 4 * d, b_.getInt32Ty(), true);
  }
  Value* x_count = b_.CreateZExt(grid[0], b_.getInt64Ty());
  Value* y_count = b_.CreateZExt(grid[1], b_.getInt64Ty());
  Value* row = b_.CreateUDiv(first, x_count);
  b_.CreateStore(b_.CreateTrunc(b_.CreateURem(first, x_count), b_.getInt32Ty()), ctaid_[0]);
  b_.CreateStore(b_.CreateTrunc(b_.CreateURem(row, y_count), b_.getInt32Ty()), ctaid_[1]);
  b_.CreateStore(b_.CreateTrunc(b_.CreateUDiv(row, y_count), b_.getInt32Ty()), ctaid_[2]);
  b_.CreateStore(first, index);
  b_.CreateCondBr(b_.CreateICmpULT(first, end), head, leave);

  b_.SetInsertPoint(head);
  for (unsigned d = 0; d < 3; ++d) note_block(d);
  Value* done = i32(1);
  if (runs_side_by_side()) {
    Value* left = b_.CreateSub(end, b_.CreateLoad(b_.getInt64Ty(), index));
    done = emit_side_by_side(grid[0], left);
  } else {
    emit_block();
  }
  advance_block(grid, done);
  Value* following =
      b_.CreateAdd(b_.CreateLoad(b_.getInt64Ty(), index), b_.CreateZExt(done, b_.getInt64Ty()));
  b_.CreateStore(following, index);
  b_.CreateCondBr(b_.CreateICmpULT(following, end), head, leave);
  b_.SetInsertPoint(leave);
  b_.CreateRetVoid();
}

/// For whoever asks where a fault was.
void Emitter::note_block(unsigned dimension) {
  const uint64_t offset = offsetof(BlockState, block) + 4 * dimension;
  Value* slot = b_.CreateConstGEP1_64(b_.getInt8Ty(), state_, offset);
  b_.CreateStore(b_.CreateLoad(b_.getInt32Ty(), ctaid_[dimension]), slot);
}

/// All regions of one block.
void Emitter::emit_block() {
  auto* tail = new_block("block.end");
  std::vector<llvm::BasicBlock*> starts;
  for (size_t r = 0; r < plan_.regions.list.size(); ++r) starts.push_back(new_block("region"));
  b_.CreateBr(starts[0]);
  for (uint32_t r = 0; r < starts.size(); ++r) {
    b_.SetInsertPoint(starts[r]);
    auto* done = new_block("region.end");
    emit_region(r, done);
    b_.SetInsertPoint(done);
    commit_context(r);
    std::set<uint32_t> targets;
    for (BlockId b : plan_.regions.list[r].blocks) {
      if (plan_.split && kernel_.blocks[b].end == End::barrier) {
        targets.insert(plan_.regions.after_barrier[b]);
      }
    }
    auto* next = b_.CreateSwitch(b_.CreateLoad(b_.getInt32Ty(), next_region_), tail);
    for (uint32_t target : targets) next->addCase(b_.getInt32(target), starts[target]);
  }
  b_.SetInsertPoint(tail);
}

/// By `count` blocks, which do not go beyond the row's end.
void Emitter::advance_block(llvm::Value* const (&grid)[2], Value* count) {
  auto *carry_y = new_block("carry"), *carry_z = new_block("carry"), *loop = new_block("next");
  auto advance = [&](unsigned d, Value* by, llvm::BasicBlock* carry) {
    Value* value = b_.CreateAdd(b_.CreateLoad(b_.getInt32Ty(), ctaid_[d]), by);
    Value* wraps = b_.CreateICmpEQ(value, grid[d]);
    b_.CreateStore(b_.CreateSelect(wraps, i32(0), value), ctaid_[d]);
    b_.CreateCondBr(wraps, carry, loop);
  };
  advance(0, count, carry_y);
  b_.SetInsertPoint(carry_y);
  advance(1, i32(1), carry_z);
  b_.SetInsertPoint(carry_z);
  b_.CreateStore(b_.CreateAdd(b_.CreateLoad(b_.getInt32Ty(), ctaid_[2]), i32(1)), ctaid_[2]);
  b_.CreateBr(loop);
  b_.SetInsertPoint(loop);
}

// ---- Blocks side by side: a row of threads of each, then the next row. Memory is gone through
// from its beginning to its end then, which processors see coming; block by block, a row of threads
// ends after a few lines.

bool Emitter::runs_side_by_side() {
  const auto& block = plan_.variant.block;
  const bool is_known = block[0] != 0 && uint64_t{block[1]} * block[2] > 1 &&
                        (block[0] % lanes_ == 0 || lanes_ % block[0] == 0);
  const bool is_whole = plan_.regions.list.size() == 1 && !plan_.split && !plan_.waits &&
                        plan_.linear[0].loops.loops.empty() && kernel_.irreducible == nullptr;
  if (!is_known || !is_whole || plan_.variant.checked) return false;
  IndexSteps by_thread(kernel_, *plan_.shapes, ptx::SpecialRegister::tid, 0);
  IndexSteps by_block(kernel_, *plan_.shapes, ptx::SpecialRegister::ctaid, 0);
  bool any = false;
  for (const Block& b : kernel_.blocks) {
    for (const Inst& inst : b.insts) {
      const ptx::Opcode opcode = inst.ptx->opcode;
      const bool divides = opcode == ptx::Opcode::div || opcode == ptx::Opcode::rem;
      if (!has_effects(*inst.ptx) || divides) continue;
      const auto access = memory_access(inst);
      if (!access || !is_plain_access(inst, *access)) return false;
      if (access->place->reg == ptx::kNone) continue;
      const ValueId address = inst.read(access->place->reg);
      const auto step = by_thread.of(address);
      if (step == 0) continue;
      if (!step || by_block.of(address) != *step * int64_t{block[0]}) return false;
      any = true;
    }
  }
  return any;
}

/// A load or store that does as well in another order of blocks.
bool Emitter::is_plain_access(const Inst& inst, const MemoryAccess& access) const {
  using ptx::Space;
  const bool moves = inst.ptx->opcode == ptx::Opcode::ld || inst.ptx->opcode == ptx::Opcode::ldu ||
                     inst.ptx->opcode == ptx::Opcode::st;
  const bool is_own = access.space == Space::shared || access.space == Space::local;
  return moves && !is_own && !is_strong_access(*inst.ptx);
}

/// From the current block on, at most `left` of its row. Gives how many.
llvm::Value* Emitter::emit_side_by_side(Value* row_blocks, Value* left) {
  constexpr uint32_t kMaxThreads = 8192;  // of a row: neighbouring rows should stay in the cache
  const uint32_t width = plan_.variant.block[0];
  const uint32_t row_packets = std::max(width / lanes_, 1u);
  Value* first = b_.CreateLoad(b_.getInt32Ty(), ctaid_[0]);
  Value* count = b_.CreateZExt(b_.CreateSub(row_blocks, first), b_.getInt64Ty());
  const auto least = [&](Value* a, Value* b) {
    return b_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, a, b);
  };
  count = least(least(count, left), i64(std::max(kMaxThreads / width, 1u)));
  count = b_.CreateTrunc(count, b_.getInt32Ty());
  Value* last = b_.CreateAdd(first, count);
  auto* row = variable(b_.getInt32Ty(), "row");  // its first packet
  auto *rows = new_block("row"), *blocks = new_block("beside"), *packets = new_block("packet");
  auto *packet_end = new_block("packet.end"), *block_end = new_block("beside.end");
  auto *row_end = new_block("row.end"), *end = new_block("rows.end");
  b_.CreateStore(i32(0), row);
  b_.CreateBr(rows);
  b_.SetInsertPoint(rows);
  b_.CreateStore(first, ctaid_[0]);
  b_.CreateBr(blocks);
  b_.SetInsertPoint(blocks);
  note_block(0);
  b_.CreateStore(b_.CreateLoad(b_.getInt32Ty(), row), packet_);
  b_.CreateBr(packets);
  b_.SetInsertPoint(packets);
  begin_packet(0, b_.CreateLoad(b_.getInt32Ty(), packet_));
  emit_steps(0, packet_end);

  const auto next = [&](llvm::AllocaInst* variable, uint32_t by) {
    Value* value = b_.CreateAdd(b_.CreateLoad(b_.getInt32Ty(), variable), i32(by));
    b_.CreateStore(value, variable);
    return value;
  };
  b_.SetInsertPoint(packet_end);
  set_location(nullptr);
  Value* following = b_.CreateAdd(b_.CreateLoad(b_.getInt32Ty(), row), i32(row_packets));
  b_.CreateCondBr(b_.CreateICmpULT(next(packet_, 1), following), packets, block_end);
  b_.SetInsertPoint(block_end);
  b_.CreateCondBr(b_.CreateICmpULT(next(ctaid_[0], 1), last), blocks, row_end);
  b_.SetInsertPoint(row_end);
  b_.CreateCondBr(b_.CreateICmpULT(next(row, row_packets), block_packets()), rows, end);
  b_.SetInsertPoint(end);
  b_.CreateStore(first, ctaid_[0]);
  return count;
}

}  // namespace km::simt
