// ValueCache, which maps the kernel's values to LLVM values at the insertion point. Scopes restore
// the state before a branch from a log, in time proportional to the changes that the branch made.
#pragma once

#include <llvm/IR/Value.h>

#include <utility>
#include <vector>

#include "simt/kernel/kernel.h"

namespace km::simt {

/// The LLVM value of each kernel value that is available at the insertion point.
class ValueCache {
 public:
  explicit ValueCache(size_t values) : held_(values) {}

  /// The LLVM value, or null if none is cached.
  llvm::Value* find(ValueId value) const { return held_[value]; }
  /// Records the LLVM value of a kernel value.
  void set(ValueId value, llvm::Value* content) {
    changes_.emplace_back(value, held_[value]);
    held_[value] = content;
  }
  /// Removes one value.
  void erase(ValueId value) {
    if (held_[value] != nullptr) set(value, nullptr);
  }
  /// Removes all values, and the log with them.
  void clear() {
    for (const auto& change : changes_) held_[change.first] = nullptr;
    changes_.clear();
  }

  /// Restores the cache at its end to its state at construction. The cache must not be cleared in
  /// between, because that discards the log.
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
  std::vector<std::pair<ValueId, llvm::Value*>> changes_;  // log: value and previous content
};

}  // namespace km::simt
