// The interface of a shader: the module's builder, execution modes, the words of the launch,
// special registers, and the memories by address.
#pragma once

#include <map>
#include <vector>

#include "simt/arithmetic/arithmetic.h"
#include "simt/kernel/kernel.h"
#include "simt/kernel/layout.h"
#include "simt/program/program.h"
#include "spirv/facade/llvm/IR/IRBuilder.h"
#include "spirv/spirv.h"

namespace km::spirv {

using V = llvm::Value*;

/// The kernel and the assumptions that a shader is made of.
struct ShaderInput {
  const simt::ProgramImpl& program;
  const simt::AnalysedKernel& analysed;
  const simt::KernelInfo& info;
  const simt::Kernel& kernel;  // the analysed one, or the same with other basic blocks
  const std::vector<uint64_t>& variable_offsets;
  const DeviceFacts& facts;
  Options options;
  Mode mode = Mode::structured;
};

/// The part of a shader that follows from the launch: what the kernel's code reads and writes by
/// address or by name, with the builder that makes it.
class ShaderInterface {
 public:
  explicit ShaderInterface(const ShaderInput& input);

  const ShaderInput input;
  const simt::Kernel& kernel;
  const DeviceFacts& facts;
  Context context;
  FunctionCode& main;
  llvm::IRBuilder<> b;
  simt::Arithmetic arithmetic;

  V u32(uint32_t value) { return b.getInt32(value); }
  V u64(uint64_t value) { return b.getInt64(value); }

  // ---- Words of the launch.
  V thread_index();               // in the block
  V thread_index(unsigned axis);  // %tid
  V block_index(unsigned axis);   // %ctaid
  V block_size(unsigned axis);    // %ntid
  V block_threads();
  V lane();
  V first_of_warp();
  /// A word of the LaunchRecord, loaded when the shader begins.
  V record_u64(uint32_t offset_bytes);
  V record_u32(uint32_t offset_bytes);
  V special_register(const ptx::Operand& operand);
  V symbol_address(const ptx::Operand& operand);
  V parameter_address(const ptx::Operand& operand);

  // ---- Memory by address; the types are integers.
  V load_global(V address, llvm::Type* type, uint32_t align_bytes, bool is_volatile = false);
  void store_global(V address, V value, uint32_t align_bytes, bool is_volatile = false);
  /// A pointer to a word of shared memory, of the scratch words of each thread or of local memory.
  Id shared_word(V index);
  Id scratch_word(V index);  // 32-bit words, as many as threads
  Id state_word(V index);    // 128 words of the block
  /// The word of the state that is the lock of 64-bit atomics in shared memory.
  static constexpr uint32_t kLockWord = 127, kFenceWord = 126;
  Id local_word(V index);
  V load_word(Id pointer);
  void store_word(Id pointer, V value);
  Id global_pointer(V address, llvm::Type* type);
  /// A pointer for an atomic operation on global memory.
  Id atomic_pointer(V address, llvm::Type* type);
  /// A pointer to a word of the arena, by the lower half of an address.
  Id arena_word(V index);
  /// True if `size_bytes` at an address that is a multiple of that are in the arena.
  V is_in_arena(V address);
  bool uses_local_memory() const { return local_ != 0; }
  /// Bytes of shared memory before the dynamic part.
  uint64_t own_shared_bytes() const;
  /// Bytes of shared memory that a block may access: with a dynamic part all that it was given.
  V shared_bytes();
  /// False in lanes beyond the threads of a block, for which a load by an address of their own
  /// gives zero; one that all lanes have in common is that of the first one.
  V has_thread();
  /// Zero, which no driver's compiler knows.
  V unknown_zero() const { return unknown_zero_; }
  /// Workgroup memory beside the kernel's own, for the largest block.
  uint64_t shared_extra_bytes() const;

 protected:
  /// True if an atomic operation may be on 64 bits of shared memory.
  bool has_wide_shared_atomics() const;
  V unknown_zero_ = nullptr;  // so that no driver keeps an array in registers

 private:
  void declare_interface();
  void declare_block_size();
  void declare_push_constants();
  void declare_arena();
  V low_word(V wide);
  void declare_execution_modes();
  void declare_memory();
  V builtin(spv::BuiltIn kind, unsigned component);
  Id word_in(Id array, spv::StorageClass storage, V index);

  std::map<uint32_t, V> record_words_;
  std::map<std::pair<uint32_t, unsigned>, V> builtins_;
  Id arena_ = 0;
  Id push_constants_ = 0, shared_ = 0, scratch_ = 0, state_ = 0, local_ = 0;
  std::vector<V> block_size_;
  V block_threads_ = nullptr;
  V shared_words_ = nullptr;
  std::vector<V> base_block_;
  V record_ = nullptr;
};

}  // namespace km::spirv
