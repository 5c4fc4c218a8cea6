// The launch and the block that code runs for: what the runtime passes to the entry function.
#pragma once

#include "simt/codegen/room.h"

namespace km::simt {

/// Loads the launch record and the block's state, and calls the runtime's functions. It also has
/// the variables that say which block and packet runs.
class LaunchFrame : public Room {
 public:
  LaunchFrame(CodeBuilder& builder, const CodePlan& plan);

  /// Makes the loads of what stays the same for the whole call.
  void load();
  /// Creates the variables of block and packet.
  void create_variables();

  /// The LaunchRecord.
  Value* record() const { return record_; }
  /// The BlockState.
  Value* state() const { return state_; }
  /// The kernel's arguments.
  Value* params() const { return params_; }
  /// The addresses of module-scope variables.
  Value* variables() const { return variables_; }
  /// The RuntimeTable.
  Value* runtime() const { return runtime_; }
  /// i64, the address of shared memory.
  Value* shared() const { return shared_; }
  /// i64, the address of scratch memory.
  Value* scratch() const { return scratch_; }
  /// Takes the part of scratch memory that belongs to a warp with a stack of its own.
  void take_scratch_of(Value* warp);

  // ---- Which block and packet runs.
  /// The variable with %ctaid of one dimension.
  llvm::AllocaInst* block_index_variable(unsigned dimension) { return block_index_[dimension]; }
  /// The variable with the number of the packet in its block.
  llvm::AllocaInst* packet() const { return packet_; }
  /// The variable with the linear index of the packet's lane 0.
  llvm::AllocaInst* first_thread() const { return first_thread_; }
  /// The variable with the region that the block runs next.
  llvm::AllocaInst* next_region() const { return next_region_; }
  /// Loads which block it is, as the runtime says.
  void load_block();
  /// Stores which block it is, for whoever asks where a fault was.
  void note_block();
  /// %ctaid.
  Value* block_index(unsigned dimension);
  /// True if the kernel asks which block it is.
  bool reads_block() const { return reads_block_; }
  /// %ntid, as a constant if the variant is made for it.
  Value* block_size(unsigned dimension);
  /// The number of threads in a block.
  Value* block_threads();
  /// The number of packets in a block.
  Value* block_packets();

  // ---- Scratch memory.
  /// The address of a packet's spill slot, at this offset of its scratch memory.
  Value* packet_slot(Value* packet, uint64_t offset_bytes);
  /// i64, the address of the current packet's local memory.
  Value* local_base() const { return local_base_; }
  /// Sets the address of the current packet's local memory.
  void set_local_base(Value* base) { local_base_ = base; }
  /// The offset of local memory in scratch memory.
  uint64_t local_offset_bytes() const { return local_offset_bytes_; }
  /// The size of scratch memory.
  uint64_t scratch_bytes() const { return scratch_bytes_; }
  /// Mode c: values of lanes lie where packets' contexts lie otherwise.
  void lay_out(uint64_t local_offset_bytes, uint64_t scratch_bytes);

  // ---- The runtime.
  /// Calls a function of the RuntimeTable.
  llvm::CallInst* call_runtime(uint64_t entry, llvm::FunctionType* type,
                               std::vector<Value*> arguments);
  /// Modes a and b: lets other warps or blocks run.
  void yield();
  /// Stores the line, for the call of a helper function that follows: a fault in there has no line
  /// of its own.
  void note_line();
  /// Ends the launch with a fault of the lowest active lane.
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
