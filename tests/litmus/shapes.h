// Litmus tests: a few accesses of each of two to four threads, and an outcome that some orders
// forbid. The names are those of the literature.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace km::litmus {

/// The accesses of a thread are relaxed; loads that acquire and stores that release; or relaxed
/// with a fence between any two of them.
enum class Order { relaxed, acquire_release, acq_rel_fences, sc_fences };
inline constexpr Order kOrders[] = {Order::relaxed, Order::acquire_release, Order::acq_rel_fences,
                                    Order::sc_fences};
const char* name_of(Order order);

/// One access to x or y. A load's result has a number, which is its place in the outcome.
struct Access {
  enum Kind { load, store, add } kind;
  char location;
  uint32_t number;  // of the result, or what is stored
};

/// Results of loads by their numbers; then the last values of x and y, if the shape tells them.
using Results = std::vector<uint32_t>;

struct Shape {
  const char* name;
  std::vector<std::vector<Access>> threads;
  uint32_t results;                // of loads
  bool tells_last_values = false;  // of x and y
  Order forbids_from;              // the weakest order that forbids the outcome
  std::function<bool(const Results&)> is_weak;

  /// True if PTX's memory model forbids the weak outcome.
  bool is_forbidden(Order order) const { return order >= forbids_from; }
};

const std::vector<Shape>& shapes();

/// The threads are in one block, or each in a launch of its own, on a stream of its own, so that
/// they run at the same time; and their accesses have a scope.
struct Scope {
  const char* name;  // of PTX
  bool one_block;
};
inline constexpr Scope kScopes[] = {{"gpu", false}, {"sys", false}, {"cta", true}};

/// The kernel's name, and its text: entry NAME(memory, results, count, every, thread): the threads
/// meet before every so many pairs.
std::string kernel_name(const Shape& shape, Order order, const Scope& scope);
std::string kernel_text(const Shape& shape, Order order, const Scope& scope);

/// The layout of the kernel's memory: a word in which the threads meet, then `count` pairs x and y.
inline constexpr uint64_t kFirst = 256, kStride = 256, kY = 128, kResults = 4;

}  // namespace km::litmus
