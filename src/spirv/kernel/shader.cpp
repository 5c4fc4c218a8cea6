#include "spirv/kernel/shader.h"

namespace km::spirv {

Shader::Shader(const ShaderInput& from)
    : ShaderInterface(from),
      values_(kernel.values.size()),
      in_variable_(kernel.values.size()),
      variables_(kernel.values.size()),
      phi_variables_(kernel.values.size()) {
  if (has_wide_shared_atomics()) {
    store_word(state_word(u32(kLockWord)), u32(0));
    barrier();
  }
  if (keeps_faults()) begin_faults();
}

Code Shader::finish() {
  if (keeps_faults()) end_faults();
  declare_kept_words();
  append(main.body, spv::Op::OpReturn, std::initializer_list<uint32_t>{});
  return context.writer.finish(main, facts.spirv_version);
}

}  // namespace km::spirv
