#include "text.h"

namespace km::growth {

std::string module_of(const std::string& items) {
  return ".version 7.8\n.target sm_80\n.address_size 64\n" + items;
}

std::string kernel_of(const std::string& body, const std::string& declarations) {
  return module_of(declarations +
                   ".visible .entry k(.param .u64 out) {\n"
                   ".reg .pred %p<4>;\n.reg .b32 %r<32>;\n.reg .f32 %f<32>;\n.reg .b64 %rd<32>;\n"
                   "ld.param.u64 %rd1, [out];\nmov.u32 %r1, %tid.x;\n"
                   "mul.wide.u32 %rd2, %r1, 4;\nadd.s64 %rd2, %rd1, %rd2;\n"
                   "ld.global.u32 %r2, [%rd2];\nld.global.f32 %f1, [%rd2];\n" +
                   body + "st.global.u32 [%rd2], %r2;\nst.global.f32 [%rd2], %f1;\nret;\n}\n");
}

std::string repeat(uint32_t n, const std::function<std::string(uint32_t)>& text) {
  std::string result;
  for (uint32_t i = 0; i < n; ++i) result += text(i);
  return result;
}

std::string numbered(const std::string& pattern, uint64_t number) {
  std::string result;
  const std::string digits = std::to_string(number);
  for (char c : pattern) {
    if (c == '$') {
      result += digits;
    } else {
      result += c;
    }
  }
  return result;
}

std::string repeat(uint32_t n, const std::string& pattern) {
  return repeat(n, [&](uint32_t i) { return numbered(pattern, i); });
}

}  // namespace km::growth
