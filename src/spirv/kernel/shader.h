// What all parts of the generator share for one kernel: the builder, the interface of the shader,
// control flow in SPIR-V's structured form, and the kernel's values.
//
// A register of PTX holds an integer of its width, whatever its type, so that no driver sees the
// bits of a NaN as a number; predicates are truth values.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
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

class Shader {
 public:
  explicit Shader(const ShaderInput& input);

  const ShaderInput input;
  const simt::Kernel& kernel;
  const DeviceFacts& facts;
  Context context;
  FunctionCode& main;
  llvm::IRBuilder<> b;
  simt::Arithmetic arithmetic;

  /// The shader with everything that was made; only without a refusal.
  Code finish();

  // ---- Refusals. Only the first one counts; generation goes on, so that callers need no checks.
  void refuse(const ptx::Instruction& instruction, const std::string& reason);
  const std::string& refusal() const { return refusal_; }
  /// Moves the reason that the arithmetic has noted, if there is one, to the instruction.
  void take_refusal(const ptx::Instruction& instruction);

  // ---- Types and constants.
  llvm::Type* register_type(ptx::Type type);
  V u32(uint32_t value) { return b.getInt32(value); }
  V u64(uint64_t value) { return b.getInt64(value); }

  // ---- Control flow.
  using Body = std::function<void()>;
  void if_then(V condition, const Body& then);
  void if_else(V condition, const Body& then, const Body& otherwise);
  /// do body while (condition that the body returns), of any number of rounds.
  void loop(const std::function<V()>& body);
  /// for (i = 0; i < count; ++i) body(i), at most 65,535 times.
  void repeat(uint32_t count, const std::function<void(V)>& body);
  /// switch (selector), uniform; other numbers do nothing.
  void choose(V selector, const std::vector<std::pair<uint32_t, Body>>& cases);
  /// All threads of the block wait, and see what the others have written.
  void barrier();
  void memory_barrier(spv::Scope scope);
  /// A barrier, and the number of threads of the block for which `truth` holds.
  V count_in_block(V truth);

  // ---- Variables of the function.
  struct Variable {
    llvm::Type* type = nullptr;
    std::vector<Id> ids;  // one; for wide integers one per limb
    uint32_t slot = 0;    // without identifiers: the first word in the array of kept variables
  };
  /// A variable that keeps its content in threads that have left a loop while others go on.
  Variable new_variable(llvm::Type* type);
  /// A variable that is read in the round of a loop that writes it.
  Variable new_short_variable(llvm::Type* type);
  V load(const Variable& variable);
  void store(const Variable& variable, V value);

  // ---- The interface.
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
  /// An atomic operation on a word or on global memory; the operand types decide.
  Id global_pointer(V address, llvm::Type* type);
  bool uses_local_memory() const { return local_ != 0; }

  // ---- The kernel's values.
  V operand(const simt::Inst& inst, const ptx::Operand& operand, ptx::Type type);
  V read(simt::ValueId value);
  void define(simt::ValueId value, V content);
  void define_result(const simt::Inst& inst, ptx::RegisterId reg, V content, ptx::Type type);
  V condition(const simt::BasicBlock& block);
  /// Values outside of `current` are read from variables if their definition need not dominate.
  void begin_block(simt::BlockId block) { current_ = block; }
  void keep_in_variable(simt::ValueId value);
  void keep_all_in_variables();
  /// Values that are read next come from variables.
  void forget_values();
  /// Workgroup memory beside the kernel's own, for the largest block.
  uint64_t shared_extra_bytes() const;
  /// Gives the phis of `to` their values on an edge.
  void store_phis(simt::BlockId from, simt::BlockId to, size_t slot);
  void load_phis(simt::BlockId block);

  // ---- Functions of the generator.
  /// Calls a function of the module; `body`, which gets the parameters and returns the result,
  /// makes it at the first use. It sees nothing of the kernel's own function.
  using FunctionBody = std::function<V(const std::vector<V>&)>;
  V call(const std::string& name, llvm::Type* result, const std::vector<V>& arguments,
         const FunctionBody& body);

  // ---- Faults.
  /// Keeps the thread's first stray access, which finish() notes.
  void keep_fault(V kind, const ptx::Instruction& at, V address, uint32_t size_bytes);
  void note_fault(V kind, V line, V address, V size_bytes, const std::vector<V>& words);
  void note_fault(FaultKind kind, const ptx::Instruction& at, V address, V size_bytes,
                  const std::vector<V>& words = {});
  bool uses_printf = false;

 private:
  Id kept_word(uint32_t slot);
  void declare_kept_words();
  void declare_interface();
  void declare_execution_modes();
  void declare_memory();
  void begin_faults();
  void end_faults();
  bool has_wide_shared_atomics() const;
  V builtin(spv::BuiltIn kind, unsigned component);
  void branch(Id to);
  void label(Id id);
  V coerce(V value, ptx::Type from, ptx::Type to);
  Id word_in(Id array, spv::StorageClass storage, V index);

  std::string refusal_;
  std::map<uint32_t, V> record_words_;
  std::map<std::pair<uint32_t, unsigned>, V> builtins_;
  Id push_constants_ = 0, shared_ = 0, scratch_ = 0, state_ = 0, local_ = 0;
  std::vector<V> block_size_;
  V block_threads_ = nullptr;
  std::vector<V> base_block_;
  V record_ = nullptr;
  V unknown_zero_ = nullptr;  // so that no driver keeps the array in registers
  Id kept_ = 0;
  uint32_t kept_words_ = 0;
  std::vector<V> values_;
  std::vector<uint8_t> in_variable_;
  std::vector<std::optional<Variable>> variables_, phi_variables_;
  simt::BlockId current_ = 0;
  Variable fault_kind_, fault_line_, fault_address_, fault_size_;
};

}  // namespace km::spirv
