// How much work a module of a dimension takes, and how that grows with its size.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "dimensions.h"

namespace km::growth {

/// The work of parsing, loading and, where the dimension says so, compiling one module.
struct Work {
  uint32_t size = 0;             // the dimension's n
  double cpu_s = 0;              // of all threads of the process
  uint64_t allocated_bytes = 0;  // by operator new, freed ones included
  uint64_t object_bytes = 0;     // of all kernels; 0: the dimension is about loading
  std::string refusal;           // why the module is refused; empty: it is not
};

Work measure(const Dimension& dimension, uint32_t size);

/// The less of both in each kind: other processes may make some take longer, none less.
Work least(const Work& a, const Work& b);

/// The powers of a size with which each kind of work grows.
struct Exponents {
  double cpu = 0, allocated = 0, object = 0;
};

/// From each size to the next, and of these the lower median: another way to compile, which begins
/// at some size, may make one step large, what grows too fast makes all of them so. A size that is
/// refused does not count. Kinds that are small everywhere, or that are not measured, have 0.
Exponents growth_of(const std::vector<Work>& works);

}  // namespace km::growth
