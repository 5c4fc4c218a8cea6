// The builder of a kernel's LLVM module: what all code is made with.
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

/// "f32", "i64": names helpers.
std::string element_name(llvm::Type* type);

/// Ends the launch by a function of the runtime that never returns, so that nothing needs to
/// survive the call, and the code around it keeps its registers.
void end_launch(llvm::IRBuilder<>& b, llvm::Value* runtime, uint64_t entry,
                const std::vector<llvm::Value*>& arguments);

/// The place in the kernel for which code is being made.
struct Position {
  uint32_t region = 0;
  BlockId block = 0;
};

/// Makes types, constants, variables, masks and branches in a module with one entry function. It
/// holds what is known at the place where code is being made: the mask, and the LLVM values of the
/// kernel's values. A scalar stands for all lanes of a packet; a vector has an element for each.
class CodeBuilder {
 public:
  using Value = llvm::Value;
  using Values = std::vector<Value*>;

  CodeBuilder(const Plan& plan, llvm::TargetMachine& machine);
  CodeBuilder(const CodeBuilder&) = delete;
  CodeBuilder& operator=(const CodeBuilder&) = delete;

  // ---- The module.
  /// The builder at the place where code is being made.
  llvm::IRBuilder<>& ir() { return b_; }
  /// The context of all types and constants.
  llvm::LLVMContext& context() { return context_; }
  /// The module that becomes the object.
  llvm::Module& module() { return module_; }
  /// The computations on values, which emit at the same place.
  Arithmetic& arithmetic() { return arithmetic_; }
  /// The lanes of a packet.
  uint32_t lanes() const { return lanes_; }
  /// The entry function.
  llvm::Function* entry() const { return entry_; }
  /// The region, step and block whose code is being made.
  Position& position() { return position_; }
  /// Creates the entry function, with a block for variables and one in which code begins.
  void create_entry();
  /// Completes the debug information, once all code has been made.
  void finish() { debug_->finalize(); }
  /// The function of the module that a helper's name stands for; null: it has not been made.
  llvm::Function* helper(const std::string& name) const;
  /// Creates an out-of-line function of the module, `km_` and the name. The caller makes its code.
  llvm::Function* new_helper(const std::string& name, llvm::Type* result,
                             const std::vector<llvm::Type*>& parameters);
  /// A constant of the module with this content, the same for all who ask for it.
  llvm::GlobalVariable* private_constant(llvm::Constant* content, const char* name);

  // ---- Lines of the PTX text.
  /// Attributes the code that follows to an instruction; null: to none.
  void set_location(const ptx::Instruction* instruction);
  /// The line of the instruction that code is made for; 0: of none.
  uint32_t current_line() const;

  // ---- Blocks, variables, memory.
  /// A new basic block at the end of the entry function.
  llvm::BasicBlock* new_block(const char* name);
  /// A variable of the entry function, which begins as zero.
  llvm::AllocaInst* variable(llvm::Type* type, const char* name);
  /// Memory of the entry function that is written before it is read, aligned to 64 bytes.
  llvm::AllocaInst* bytes(uint64_t size_bytes, const char* name);
  /// Loads a field of a structure; `invariant`: it stays the same throughout the launch.
  Value* load_field(Value* pointer, uint64_t offset, llvm::Type* type, bool invariant);
  /// Marks an access to memory of the engine's own, which no access of the kernel reaches.
  llvm::Instruction* in_context(llvm::Instruction* access);
  /// Marks an access of the kernel, which reaches no memory of the engine's own.
  llvm::Instruction* beside_context(llvm::Instruction* access);

  // ---- Types and constants.
  llvm::Type* type_of(ptx::Type type) { return llvm_type(context_, type); }
  /// The type of a vector with an element for each lane.
  llvm::FixedVectorType* vector_of(llvm::Type* element) const {
    return llvm::FixedVectorType::get(element, lanes_);
  }
  /// The machine that the code is made for.
  const Machine& machine() const { return plan_.machine(); }
  /// A constant of 32 bits.
  Value* i32(uint64_t value) { return b_.getInt32(static_cast<uint32_t>(value)); }
  /// A constant of 64 bits.
  Value* i64(uint64_t value) { return b_.getInt64(value); }
  /// <0, 1, 2 ...> of i32.
  Value* lane_numbers();
  /// The number that an immediate operand is when it is read as this type.
  Value* immediate(const ptx::Operand& operand, ptx::Type type);

  // ---- Lanes.
  /// A vector with the scalar in every lane; a vector stays as it is.
  Value* splat(Value* scalar);
  /// The element of one lane; a scalar stands for all lanes.
  Value* lane_of(Value* vector_or_scalar, Value* lane);
  /// The element of the lowest lane of `bits`.
  Value* of_first_lane(Value* lanes, Value* bits);
  /// Makes a loop that runs `body` once for every set bit, lowest lane first.
  void for_each_lane(Value* bits, const std::function<void(Value* lane)>& body);

  // ---- Bits of values.
  /// Makes a scalar, or vector, of another type of that size of the same bits.
  Value* as_type(Value* value, llvm::Type* element);
  /// Reads a register of type `from` as an operand of type `to`: same bits, the low ones if fewer.
  Value* coerce(Value* value, ptx::Type from, ptx::Type to);
  /// Turns a result of type `type` into what a register holds that may be wider.
  Value* widen_to_register(Value* value, ptx::Type type, ptx::Type reg_type);
  /// Gives a NaN the bits that PTX gives it.
  Value* canonical_bits(Value* content);

  // ---- Masks: vectors of i1; null stands for all lanes. As bits they are i32, lane 0 lowest.
  /// The mask of the code that is being made.
  Value* mask() const { return mask_; }
  /// mask() as bits; all lanes are all bits.
  Value* mask_bits();
  /// Begins code under another mask.
  void set_mask(Value* mask);
  /// The type of a variable that holds a mask.
  llvm::Type* mask_storage() const { return mask_storage_; }
  /// Stores a mask in a variable of the type mask_storage().
  void store_mask(Value* pointer, Value* mask);
  /// The lanes of a packet, as bits.
  uint32_t all_lanes() const { return UINT32_MAX >> (32 - lanes_); }
  /// True if a lane of the mask is set.
  Value* any(Value* mask);
  /// True if all lanes of the mask are set.
  Value* all(Value* mask);
  /// The mask as bits.
  Value* bits_of(Value* mask);
  /// The mask whose bits these are.
  Value* mask_of(Value* bits);
  /// The lanes of both masks.
  Value* and_masks(Value* a, Value* b);

  // ---- Branches.
  /// Makes code that runs `then` if the condition holds, which it seldom does.
  void branch_unlikely(Value* condition, const std::function<void()>& then);
  /// Makes code that takes one of two ways, and gives the results of the one that was taken.
  Values choose(Value* condition, const std::function<Values()>& fast,
                const std::function<Values()>& slow);

  // ---- The kernel's values, as far as they are known here.
  /// The form in which each is stored: a scalar, or a vector.
  ValueCache& values() { return values_; }
  /// All lanes of each.
  ValueCache& vectors() { return vectors_; }
  /// Forgets all values: code begins that others may jump to.
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
  llvm::Instruction* alloca_point_ = nullptr;  // all variables lie before it
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
