// Structures of the CUDA driver, with values that keep what a caller promises about host memory.
#pragma once

#include "values.h"

namespace km::fuzz::driver {

enum InputType : int16_t;

/// What structures need of the table.
struct Callbacks {
  Word host_function;
};

/// Writes `count` structures of a type into `memory`, `size_bytes` each.
void fill_structures(InputType type, Values& values, const Callbacks& callbacks, void* memory,
                     size_t count, size_t size_bytes);
/// Whether options of the next call may ask for logs: a linker writes those as long as it lives,
/// and arrays of a call do not live that long.
void allow_link_outputs(bool allowed);
/// An address in the page of numbers that the fuzzer changes while streams wait.
Word wait_address(Values& values);
/// Arguments of a kernel: pointers to values that live as long as the call.
void** kernel_arguments(Values& values);

}  // namespace km::fuzz::driver
