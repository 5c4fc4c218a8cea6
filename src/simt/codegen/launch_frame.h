// LaunchFrame, the code generator's access to the data that the runtime passes to the entry
// function.
#pragma once

#include "simt/codegen/emitter_base.h"

namespace km::simt {

/// Loads fields of the launch record and the block's state, calls functions of the runtime, and
/// holds the variables that identify the running block and packet.
class LaunchFrame : private EmitterBase {
 public:
  LaunchFrame(CodeBuilder& builder, const CodePlan& plan);

  /// Loads the fields that stay constant during the call, once at its start.
  void load();
  /// Creates the variables for the block, packet and region.
  void create_variables();

  /// The pointer to the LaunchRecord, which all blocks of the launch share.
  Value* record() const { return record_; }
  /// The pointer to the BlockState, which belongs to one thread of the runtime.
  Value* state() const { return state_; }
  /// The pointer to the kernel's arguments.
  Value* params() const { return params_; }
  /// The pointer to the addresses of module-scope variables.
  Value* variables() const { return variables_; }
  /// The pointer to the RuntimeTable.
  Value* runtime() const { return runtime_; }
  /// The address of the block's shared memory, an i64.
  Value* shared() const { return shared_; }
  /// The address of scratch memory, an i64.
  Value* scratch() const { return scratch_; }
  /// Modes b and c: moves scratch() to the part of one warp, since the warps of a block divide the
  /// scratch memory.
  void take_scratch_of(Value* warp);

  // ---- The running block and packet.
  /// The variable that holds one dimension of %ctaid.
  llvm::AllocaInst* block_index_variable(unsigned dimension) { return block_index_[dimension]; }
  /// The variable that holds the packet's number in its block.
  llvm::AllocaInst* packet() const { return packet_; }
  /// The variable that holds the linear thread index of the packet's lane 0.
  llvm::AllocaInst* first_thread() const { return first_thread_; }
  /// The variable that holds the number of the region that the block runs next.
  llvm::AllocaInst* next_region() const { return next_region_; }
  /// Loads the block's index from the BlockState into the variables.
  void load_block();
  /// Stores %ctaid.x in the BlockState, from which the runtime reports the block of a fault. The
  /// other dimensions do not change during a call.
  void note_block();
  /// One dimension of %ctaid.
  Value* block_index(unsigned dimension);
  /// True if the code generated so far reads %ctaid.
  bool reads_block() const { return reads_block_; }
  /// One dimension of %ntid: a constant if the variant fixes the block size, so that LLVM can fold
  /// it.
  Value* block_size(unsigned dimension);
  /// The number of threads in a block, a constant if block_size() is one.
  Value* block_threads();
  /// The number of packets in a block; the last one may be partial.
  Value* block_packets();

  // ---- Scratch memory.
  /// The pointer to a packet's spill slot, which is at `offset_bytes` in its part of scratch
  /// memory.
  Value* packet_slot(Value* packet, uint64_t offset_bytes);
  /// The address of the current packet's local memory, an i64.
  Value* local_base() const { return local_base_; }
  /// Sets local_base() at the start of a packet.
  void set_local_base(Value* base) { local_base_ = base; }
  /// The offset of local memory in scratch memory.
  uint64_t local_offset_bytes() const { return local_offset_bytes_; }
  /// The size of scratch memory, of a worker in mode a and of a warp in modes b and c.
  uint64_t scratch_bytes() const { return scratch_bytes_; }
  /// Mode c: sets the layout of scratch memory, which holds the variables of values in place of
  /// spill slots.
  void lay_out(uint64_t local_offset_bytes, uint64_t scratch_bytes);

  // ---- The runtime.
  /// Calls the function at offset `entry` of the RuntimeTable.
  llvm::CallInst* call_runtime(uint64_t entry, llvm::FunctionType* type,
                               std::vector<Value*> arguments);
  /// Modes a and b: calls the runtime in a loop that waits for memory to change, so that other
  /// warps or blocks can run and change it.
  void yield();
  /// Stores the current PTX line in the BlockState before the call of a helper: instructions of a
  /// helper have no line of their own, so a fault is reported with this one.
  void note_line();
  /// Ends the launch with a fault of the lowest active lane. Code after it is unreachable.
  void raise(FaultKind kind);

 private:
  Value *record_ = nullptr, *state_ = nullptr;
  Value *params_ = nullptr, *variables_ = nullptr, *runtime_ = nullptr;
  Value *shared_ = nullptr, *scratch_ = nullptr;
  llvm::AllocaInst* block_index_[3] = {};
  llvm::AllocaInst *packet_ = nullptr, *first_thread_ = nullptr, *next_region_ = nullptr;
  Value* local_base_ = nullptr;
  uint64_t local_offset_bytes_, scratch_bytes_;
  bool reads_block_ = false;
};

}  // namespace km::simt
