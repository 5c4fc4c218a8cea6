#include "support/simt/kernel_of_text.h"

#include <gtest/gtest.h>

#include <utility>

#include "ptx/ptx.h"

namespace km::simt::testing {

KernelOfText kernel_of_text(const std::string& text) {
  auto module = ptx::parse(".version 8.0\n.target sm_90\n.address_size 64\n" + text, "test.ptx");
  if (!module) {
    ADD_FAILURE() << module.error().message;
    return {};
  }
  auto kernel = build_kernel(**module, (*module)->functions[0]);
  if (!kernel) {
    ADD_FAILURE() << kernel.error().message;
    return {};
  }
  return {*module, std::move(*kernel)};
}

}  // namespace km::simt::testing
