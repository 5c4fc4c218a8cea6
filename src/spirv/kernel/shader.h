// The shader that all parts of the generator work on for one kernel: on top of its interface,
// control flow in SPIR-V's structured form and the kernel's values.
//
// A register of PTX holds an integer of its width, whatever its type, so that no driver sees the
// bits of a NaN as a number; predicates are truth values.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "spirv/kernel/interface.h"

namespace km::spirv {

/// The shader of one kernel: control flow, variables and the kernel's values, on its interface.
class Shader : public ShaderInterface {
 public:
  explicit Shader(const ShaderInput& input);

  /// The shader with everything that was made; only without a refusal.
  Code finish();

  // ---- Refusals. Only the first one counts; generation goes on, so that callers need no checks.
  void refuse(const ptx::Instruction& instruction, const std::string& reason);
  const std::string& refusal() const { return refusal_; }
  /// Moves the reason that the arithmetic has noted, if there is one, to the instruction.
  void take_refusal(const ptx::Instruction& instruction);

  // ---- Control flow.
  using Body = std::function<void()>;
  /// Emits code that lanes without a thread skip (`idle_lanes_loop`).
  void in_threads(const Body& body);
  void if_then(V condition, const Body& then);
  void if_else(V condition, const Body& then, const Body& otherwise);
  /// do body while (condition that the body returns). The result is true for threads that would go
  /// round again, because the driver has ended the loop, which is a fault of the kernel's threads.
  V loop(const std::function<V()>& body);
  /// for (i = 0; i < count; ++i) body(i), which may stand there several times.
  void repeat(uint32_t count, const std::function<void(V)>& body);
  /// switch (selector), uniform; other numbers do nothing.
  void choose(V selector, const std::vector<std::pair<uint32_t, Body>>& cases);
  /// The branches and loops, one in the other, around the deepest code.
  uint32_t deepest_nesting() const { return deepest_; }
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

  // ---- The kernel's values.
  llvm::Type* register_type(ptx::Type type);
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
  /// Between these two calls, in straight code of checked kernels, keep_fault() writes to short
  /// variables: a store to one that is kept over loops is a loop over lanes in some drivers, whose
  /// compilers took minutes for a hundred accesses.
  void begin_block_faults();
  void end_block_faults();
  void note_fault(V kind, V line, V address, V size_bytes, const std::vector<V>& words);
  void note_fault(FaultKind kind, const ptx::Instruction& at, V address, V size_bytes,
                  const std::vector<V>& words = {});
  /// Keeps the fault of a thread one of whose loops the driver has ended.
  void keep_ended_loop();
  bool uses_printf = false;
  /// True if accesses to global memory are tested, and skipped if they are stray.
  bool tests_accesses() const { return input.options.checked || facts.has_arena; }

 private:
  Id kept_word(uint32_t slot);
  void declare_kept_words();
  struct Fault {
    Variable kind, line, address, size;
  };
  bool keeps_faults() const { return tests_accesses() || facts.most_loop_iterations != 0; }
  void keep_to_end(V kind, V line, V address, V size_bytes);
  void begin_faults();
  void end_faults();
  void branch(Id to);
  void label(Id id);
  V coerce(V value, ptx::Type to);
  void nested(uint32_t levels, const Body& body);

  std::string refusal_;
  uint32_t nesting_ = 0, deepest_ = 0;
  std::map<std::string, uint32_t> nesting_of_functions_;  // drivers inline them
  Id kept_ = 0;
  uint32_t kept_words_ = 0;
  std::vector<V> values_;
  std::vector<uint8_t> in_variable_;
  std::vector<std::optional<Variable>> variables_, phi_variables_;
  simt::BlockId current_ = 0;
  Fault fault_, block_fault_;
  bool in_block_faults_ = false, has_block_fault_ = false;
};

}  // namespace km::spirv
