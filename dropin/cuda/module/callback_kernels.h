// Kernels that call a program's functions for a library: cuFFT's callbacks. A function pointer is
// good in its own module only, so the kernels are appended to the text of modules that have such
// functions; their code is made when the first one is launched.
#pragma once

#include <string>
#include <string_view>

#include "dropin/cuda/module/module.h"

namespace km::dropin {

/// The kernels to append to a module's text; empty unless it takes the address of a function that
/// has the parameters and the result of a callback.
std::string callback_kernels_for(std::string_view ptx);

/// True for a kernel of callback_kernels_for(), which lists of a module's kernels leave out.
bool is_callback_kernel(std::string_view name);

/// Records and forgets a loaded module whose text has the kernels.
void note_callbacks(Module& module, std::string_view ptx);
void forget_callbacks_of(uint64_t module);

/// The kernel that calls the function at an address of device code in the way of a type of callback
/// (library::CallbackArguments). CUDA_ERROR_INVALID_VALUE unless exactly one module of the context
/// has a fitting function there.
CUresult find_callback_kernel(Context& context, uint64_t function, int type, Ref<Function>* out);

}  // namespace km::dropin
