// The LLVM value of a kernel's value at the place where code is being made. Branches put back what
// was known before them in time that depends on what they added.
#pragma once

#include <llvm/IR/Value.h>

#include <utility>
#include <vector>

#include "simt/kernel/kernel.h"

namespace km::simt {

class ValueCache {
 public:
  explicit ValueCache(size_t values) : held_(values) {}

  /// Null: nothing is known.
  llvm::Value* find(ValueId value) const { return held_[value]; }
  /// Notes the LLVM value that stands for a value.
  void set(ValueId value, llvm::Value* content) {
    changes_.emplace_back(value, held_[value]);
    held_[value] = content;
  }
  /// Forgets one value.
  void erase(ValueId value) {
    if (held_[value] != nullptr) set(value, nullptr);
  }
  /// Forgets all values.
  void clear() {
    for (const auto& change : changes_) held_[change.first] = nullptr;
    changes_.clear();
  }

  /// Puts back what is known now when it ends. Nothing may be cleared in between.
  class Scope {
   public:
    explicit Scope(ValueCache& cache) : cache_(cache), changes_(cache.changes_.size()) {}
    ~Scope() { cache_.undo(changes_); }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    ValueCache& cache_;
    const size_t changes_;
  };

 private:
  void undo(size_t changes) {
    for (; changes_.size() > changes; changes_.pop_back()) {
      held_[changes_.back().first] = changes_.back().second;
    }
  }

  std::vector<llvm::Value*> held_;                         // by value
  std::vector<std::pair<ValueId, llvm::Value*>> changes_;  // since all was cleared
};

}  // namespace km::simt
