// Data that work of a stream makes for later work.
#pragma once

#include <atomic>
#include <memory>
#include <utility>

namespace km::cusparse {

/// Data that work makes for later work. Works of two streams may run at once: the data that one
/// reads stays as it is while the other replaces it.
template <class T>
class Published {
 public:
  void set(std::shared_ptr<const T> value) { value_.store(std::move(value)); }
  /// Null before the first set().
  std::shared_ptr<const T> get() const { return value_.load(); }

 private:
  std::atomic<std::shared_ptr<const T>> value_;
};

}  // namespace km::cusparse
