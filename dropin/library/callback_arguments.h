// The parameter of the driver's kernels for callbacks of libraries (LibraryTable::callback_kernel).
#pragma once

#include <cstdint>

namespace km::library {

/// The name of a kernel without the number of its cufftXtCallbackType. A module that takes
/// the address of a function with the parameters of a callback has all of them.
inline constexpr char kCallbackKernelPrefix[] = "__kernelmill_callback_";

/// Each of `count` threads calls the function for one number of an array. A thread's index is split
/// by the axes, the last one first; its offset is the sum of steps, in numbers. A number that a
/// load returns is written to that place of `numbers`, from where one to store is read.
struct CallbackArguments {
  static constexpr int kMostAxes = 4;
  uint64_t function;
  uint64_t array, caller_info;  // given to the function as they are
  uint64_t numbers;
  uint64_t count;
  uint64_t lengths[kMostAxes];
  uint64_t steps[kMostAxes];
};

}  // namespace km::library
