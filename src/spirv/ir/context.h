// The state that all code of one shader shares: the module being written, the device's facts, and
// the values and types of the facade.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <unordered_set>

#include "spirv/spirv.h"
#include "spirv/words/module_writer.h"

namespace llvm {
class Type;
class Value;
class Function;
class BasicBlock;
struct FunctionType;
}  // namespace llvm

namespace km::spirv {

class Context {
 public:
  explicit Context(const DeviceFacts& device);
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  ModuleWriter writer;
  const DeviceFacts& facts;

  llvm::Value* new_value();
  llvm::FunctionType* new_function_type();
  llvm::BasicBlock* keep(std::unique_ptr<llvm::BasicBlock> block);
  llvm::Function* find(const std::string& name) const;
  llvm::Function* add(const std::string& name);
  llvm::Type* type(uint32_t kind, uint32_t bits, uint32_t count);

  /// Notes the first thing that the device cannot compute exactly; the instruction that needs it is
  /// refused.
  void refuse(const char* reason) {
    if (refusal_.empty()) refusal_ = reason;
  }
  const std::string& refusal() const { return refusal_; }
  /// Values that a driver's compiler may compute: constants, sizes of blocks, and what is made of
  /// these alone. A driver that folds zeros may take a sum or a quotient of them for another one.
  void note_known(Id id) { known_.insert(id); }
  bool is_known(Id id) const { return known_.contains(id); }
  /// A known number that is zero whatever it is made of.
  void note_zero(Id id) {
    known_.insert(id);
    zeros_.insert(id);
  }
  bool is_zero(Id id) const { return zeros_.contains(id); }
  /// Zero as a word that no driver's compiler knows, and the function that has it.
  llvm::Value* unknown_zero = nullptr;
  const FunctionCode* unknown_zero_in = nullptr;
  /// True while subnormal f32 are flushed anyhow, so that a device that flushes them is exact.
  bool flushes = false;

 private:
  struct Store;
  std::unique_ptr<Store> store_;
  std::string refusal_;
  std::unordered_set<Id> known_, zeros_;
};

}  // namespace km::spirv
