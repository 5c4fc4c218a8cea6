// A kernel built from PTX text, before any transformation.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "simt/engine.h"
#include "simt/kernel/kernel.h"

namespace km::simt::testing {

struct KernelOfText {
  std::shared_ptr<const ptx::Module> module;
  std::optional<Kernel> kernel;  // empty: the test has failed
};

/// The first function of the text, which lacks the lines on version, target and address size.
KernelOfText kernel_of_text(const std::string& text);

/// flatten() of the function with the name.
Result<std::unique_ptr<ptx::Function>> flatten_function(const ptx::Module& module,
                                                        const std::string& name);

/// What its code for AVX2 and blocks of 64 threads says of itself; empty: the test has failed.
std::optional<CodeInfo> code_info_of_text(const std::string& text);

}  // namespace km::simt::testing
