#include "support/simt/kernel_of_text.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "ptx/ptx.h"
#include "simt/transform/inline/flatten.h"
#include "support/simt/machines.h"

namespace km::simt::testing {

KernelOfText kernel_of_text(const std::string& text) {
  auto module = ptx::parse(".version 9.1\n.target sm_90\n.address_size 64\n" + text, "test.ptx");
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

Result<std::unique_ptr<ptx::Function>> flatten_function(const ptx::Module& module,
                                                        const std::string& name) {
  const auto& functions = module.functions;
  const auto found = std::find_if(functions.begin(), functions.end(),
                                  [&](const ptx::Function& each) { return each.name == name; });
  if (found == functions.end()) return make_error(KM_ERROR_NOT_FOUND, "no '%s'", name.c_str());
  const CallGraph calls(module);
  return flatten(InliningCosts(calls), static_cast<uint32_t>(found - functions.begin()),
                 kThreadStackBytes);
}

std::optional<CodeInfo> code_info_of_text(const std::string& text) {
  const KernelOfText built = kernel_of_text(text);
  if (!built.kernel) return std::nullopt;
  const auto program = Program::load(built.module);
  EXPECT_TRUE(program) << program.error().message;
  if (!program) return std::nullopt;
  Variant variant;
  variant.block = {64, 1, 1};
  variant.machine = machine_named("avx2");
  const auto object = compile(**program, 0, variant);
  EXPECT_TRUE(object) << object.error().message;
  if (!object) return std::nullopt;
  const auto code = Code::load(*object);
  EXPECT_TRUE(code) << code.error().message;
  return code ? std::optional((*code)->info()) : std::nullopt;
}

}  // namespace km::simt::testing
