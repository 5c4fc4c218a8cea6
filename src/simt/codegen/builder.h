// CodeBuilder, through which all code of a kernel is generated as LLVM IR.
#pragma once

#include <llvm/IR/DIBuilder.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "simt/arithmetic/arithmetic.h"
#include "simt/codegen/value_cache.h"
#include "simt/plan/plan.h"

namespace km::simt {

/// The name of an element type in the names of helpers, such as "f32" or "i64".
std::string element_name(llvm::Type* type);

/// Generates a call of the runtime function at offset `entry` of the RuntimeTable, which ends the
/// launch. The call is marked as cold and noreturn, so that no value has to survive it and the hot
/// code around it keeps its registers.
void end_launch(llvm::IRBuilder<>& b, llvm::Value* runtime, uint64_t entry,
                const std::vector<llvm::Value*>& arguments);

/// The region and the basic block for which code is being generated. The shape of a value depends
/// on them, since a value varies after a divergent loop even if it is uniform inside.
struct Position {
  uint32_t region = 0;
  BlockId block = 0;
};

/// Creates types, constants, variables, masks and branches in a module with one entry function. It
/// also tracks the state at the insertion point: the active mask, and the LLVM value of each kernel
/// value. A scalar holds for all lanes of a packet; a vector has one element per lane.
class CodeBuilder {
 public:
  using Value = llvm::Value;
  using Values = std::vector<Value*>;

  CodeBuilder(const Plan& plan, llvm::TargetMachine& machine);
  CodeBuilder(const CodeBuilder&) = delete;
  CodeBuilder& operator=(const CodeBuilder&) = delete;

  // ---- The module.
  /// The builder at the insertion point.
  llvm::IRBuilder<>& ir() { return b_; }
  /// The context that owns all types and constants; each kernel has its own, so that threads can
  /// compile in parallel.
  llvm::LLVMContext& context() { return context_; }
  /// The module that is compiled to the object.
  llvm::Module& module() { return module_; }
  /// The lowering of arithmetic, which emits at the insertion point of ir().
  Arithmetic& arithmetic() { return arithmetic_; }
  /// The number of lanes in a packet.
  uint32_t lanes() const { return lanes_; }
  /// The function that the runtime calls, created by create_entry().
  llvm::Function* entry() const { return entry_; }
  /// The region and basic block of the insertion point, which the mode's code sets.
  Position& position() { return position_; }
  /// Creates the entry function with two basic blocks: one for allocas, so that LLVM's mem2reg
  /// finds all variables there, and one in which the code starts.
  void create_entry();
  /// Completes the debug information. It must be called after all code has been generated.
  void finish() { debug_->finalize(); }
  /// The helper with that name, or null if it has not been created.
  llvm::Function* helper(const std::string& name) const;
  /// Creates a function `km_<name>` that is never inlined, so that repeated operations do not
  /// enlarge the entry function. The caller generates its body.
  llvm::Function* new_helper(const std::string& name, llvm::Type* result,
                             const std::vector<llvm::Type*>& parameters);
  /// A constant global variable with this content, shared by all callers that pass equal contents.
  llvm::GlobalVariable* private_constant(llvm::Constant* content, const char* name);

  // ---- Lines of the PTX text.
  /// Attributes the code that follows to the instruction's line, from which faults are reported;
  /// null: to no line.
  void set_location(const ptx::Instruction* instruction);
  /// The PTX line set by set_location(); 0: none.
  uint32_t current_line() const;

  // ---- Basic blocks, variables, memory.
  /// Appends a basic block to the entry function.
  llvm::BasicBlock* new_block(const char* name);
  /// Creates a variable of the entry function that is initialised to zero: a lane that never writes
  /// it must not read poison, which LLVM could propagate to active lanes.
  llvm::AllocaInst* variable(llvm::Type* type, const char* name);
  /// Reserves uninitialised memory in the entry function's frame, aligned to 64 bytes for any
  /// vector. The caller must write it before reading it.
  llvm::AllocaInst* bytes(uint64_t size_bytes, const char* name);
  /// Loads a field of a structure. `invariant` promises that it does not change during the launch,
  /// so LLVM may hoist and merge the loads.
  Value* load_field(Value* pointer, uint64_t offset, llvm::Type* type, bool invariant);
  /// Marks an access to the engine's own memory by an alias scope. No access of the kernel reaches
  /// that memory, so LLVM may keep its contents in registers across the kernel's stores.
  llvm::Instruction* in_context(llvm::Instruction* access);
  /// Marks an access of the kernel as not aliasing the engine's own memory, the counterpart of
  /// in_context().
  llvm::Instruction* beside_context(llvm::Instruction* access);

  // ---- Types and constants.
  /// The LLVM type that represents a PTX type.
  llvm::Type* type_of(ptx::Type type) { return llvm_type(context_, type); }
  /// A vector type with one element per lane.
  llvm::FixedVectorType* vector_of(llvm::Type* element) const {
    return llvm::FixedVectorType::get(element, lanes_);
  }
  /// The target machine, which selects between forms of code.
  const Machine& machine() const { return plan_.machine(); }
  /// An i32 constant with the low 32 bits of `value`.
  Value* i32(uint64_t value) { return b_.getInt32(static_cast<uint32_t>(value)); }
  /// An i64 constant.
  Value* i64(uint64_t value) { return b_.getInt64(value); }
  /// The constant vector <0, 1, 2, ...> of i32.
  Value* lane_numbers();
  /// The constant that an immediate operand represents if the instruction reads it as `type`.
  Value* immediate(const ptx::Operand& operand, ptx::Type type);

  // ---- Lanes.
  /// Broadcasts a scalar to all lanes; a vector is returned unchanged.
  Value* splat(Value* scalar);
  /// The element of one lane. A scalar is returned unchanged, because it holds for every lane.
  Value* lane_of(Value* vector_or_scalar, Value* lane);
  /// The element of the lowest lane set in `bits`; lane 0's if `bits` is empty, so that no index is
  /// out of range.
  Value* of_first_lane(Value* lanes, Value* bits);
  /// Generates a loop that runs `body` once for each set bit, lowest lane first.
  void for_each_lane(Value* bits, const std::function<void(Value* lane)>& body);

  // ---- Bits of values.
  /// Reinterprets the bits of a scalar or vector as elements of another type of equal size.
  Value* as_type(Value* value, llvm::Type* element);
  /// Reads a register of type `from` as an operand of type `to`. PTX keeps the bits: a narrower
  /// operand takes the low ones, a wider one is zero-extended.
  Value* coerce(Value* value, ptx::Type from, ptx::Type to);
  /// Converts a result of type `type` to the type of its register, which may be wider: PTX then
  /// sign-extends signed results and zero-extends all others.
  Value* widen_to_register(Value* value, ptx::Type type, ptx::Type reg_type);
  /// Replaces the NaNs in f32 and f64 contents by PTX's canonical NaN, since the host's arithmetic
  /// produces other NaN bits. Contents of other sizes are returned unchanged.
  Value* canonical_bits(Value* content);

  // ---- Masks are vectors of i1, and null means that all lanes are active. As bits they are an i32
  // with lane 0 in the lowest bit.
  /// The mask of the lanes that are active at the insertion point.
  Value* mask() const { return mask_; }
  /// mask() as bits, computed once for each mask; a null mask gives all bits.
  Value* mask_bits();
  /// Sets the mask for the code that follows.
  void set_mask(Value* mask);
  /// The type of variables that hold masks. Its elements are i1 on machines with mask registers. On
  /// others they are i32, because LLVM would pack a vector of i1 at each store and unpack it at
  /// each load.
  llvm::Type* mask_storage() const { return mask_storage_; }
  /// Stores a mask in a variable of type mask_storage().
  void store_mask(Value* pointer, Value* mask);
  /// The bits of a full mask.
  uint32_t all_lanes() const { return UINT32_MAX >> (32 - lanes_); }
  /// True if at least one lane of the mask is active.
  Value* any(Value* mask);
  /// True if all lanes of the mask are active.
  Value* all(Value* mask);
  /// Converts a mask to bits, folding constant masks.
  Value* bits_of(Value* mask);
  /// Converts an integer with one bit per lane to a mask.
  Value* mask_of(Value* bits);
  /// The intersection of two masks.
  Value* and_masks(Value* a, Value* b);

  // ---- Branches.
  /// Generates `then` under a condition that is marked as unlikely. Values cached inside `then` are
  /// forgotten after it, because they do not dominate the code that follows.
  void branch_unlikely(Value* condition, const std::function<void()>& then);
  /// Generates a branch to `fast` if the condition holds, otherwise to `slow`, and merges their
  /// results by phis. If the condition is a constant, only the side that is taken is generated.
  Values choose(Value* condition, const std::function<Values()>& fast,
                const std::function<Values()>& slow);

  // ---- The kernel's values that are available at the insertion point.
  /// The values in the form in which they are stored: a scalar for uniform values and bases of
  /// offset shapes, a vector for varying ones.
  ValueCache& values() { return values_; }
  /// The values as vectors with one element per lane.
  ValueCache& vectors() { return vectors_; }
  /// Forgets all cached values, at the start of code that several predecessors reach and that the
  /// earlier definitions therefore need not dominate.
  void forget_values();

 private:
  void create_debug_info();
  llvm::MDNode* context_scope();

  const Plan& plan_;
  const Kernel& kernel_;
  const uint32_t lanes_;
  llvm::LLVMContext context_;
  llvm::Module module_;
  llvm::IRBuilder<> b_;
  Arithmetic arithmetic_;
  llvm::Type* mask_storage_ = nullptr;
  llvm::Function* entry_ = nullptr;
  llvm::Instruction* alloca_point_ = nullptr;  // all allocas precede it
  std::unique_ptr<llvm::DIBuilder> debug_;
  llvm::DISubprogram* subprogram_ = nullptr;
  std::map<std::string, llvm::Function*> helpers_;
  std::map<llvm::Constant*, llvm::GlobalVariable*> private_constants_;  // by content
  llvm::MDNode* context_scope_ = nullptr;
  Position position_;
  Value *mask_ = nullptr, *mask_bits_ = nullptr;
  ValueCache values_, vectors_;
};

}  // namespace km::simt
