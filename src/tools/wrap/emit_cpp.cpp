// C++: a header with a class on kernelmill.hpp that has a method for each kernel.
#include "tools/wrap/emit.h"
#include "tools/wrap/emit_c_types.h"

namespace km::tools {
namespace {

std::string param_text(const Wrapper& wrapper, const WrapParam& param, const CStyle& style) {
  const std::string name = safe_name(param.name);
  if (!param.is_pointer && param.type.kind == WrapType::Kind::bytes) {
    return "const std::array<unsigned char, " + decimal(param.size_bytes) + ">& " + name;
  }
  if (!param.is_pointer) return c_type_name(wrapper, param.type, style) + " " + name;
  if (param.type.kind == WrapType::Kind::any) return "const km::detail::any_slice& " + name;
  return "const km::detail::elements<" + c_type_name(wrapper, param.type, style) + ">& " + name;
}

std::string kernel_text(const Wrapper& wrapper, const WrapKernel& kernel, const CStyle& style) {
  const std::string name = safe_name(kernel.name);
  std::string text = "\n  /// Launches " + declaration(kernel) + ".\n  void " + name +
                     "(const km::stream& stream, km::dim3 grid, km::dim3 block, "
                     "std::uint64_t shared_bytes";
  std::string arguments;
  for (const WrapParam& param : kernel.params) {
    text += ",\n      " + param_text(wrapper, param, style);
    const std::string param_name = safe_name(param.name);
    const bool is_read = param.is_pointer && param.is_const;
    arguments += ", " + (is_read ? "km::read_only(" + param_name + ")" : param_name);
  }
  return text + ") const {\n    stream.launch_kernel(" + name + "_, grid, block, shared_bytes" +
         arguments + ");\n  }\n";
}

}  // namespace

std::string emit_cpp(const Wrapper& wrapper) {
  const CStyle style{"", "static_assert"};
  std::string text = banner(wrapper, "//") +
                     "#pragma once\n\n#include <array>\n#include <cstddef>\n#include <cstdint>\n"
                     "#include <kernelmill/kernelmill.hpp>\n\nnamespace " +
                     wrapper.module + " {\n\n" + c_type_texts(wrapper, style) +
                     "\n/// The kernels, compiled.\ninline constexpr char ptx[] =\n" +
                     c_literal(wrapper.ptx) +
                     ";\n\n/// The kernels in a context, each as a method with the types of "
                     "its source.\nclass kernels {\n public:\n  /// Loads them.\n"
                     "  explicit kernels(const km::context& context)\n      : "
                     "kernels(km::module::load_ptx(context, "
                     "ptx, \"" +
                     wrapper.module + "\")) {}\n";
  std::string members, values;
  for (const WrapKernel& kernel : wrapper.kernels) {
    const std::string name = safe_name(kernel.name);
    text += kernel_text(wrapper, kernel, style);
    members += "  km::function " + name + "_;\n";
    values += (values.empty() ? "" : ",\n        ") + name + "_(module.function(\"" +
              kernel.symbol + "\"))";
  }
  return text + "\n private:\n  explicit kernels(const km::module& module)\n      : " + values +
         " {}\n\n" + members + "};\n\n}  // namespace " + wrapper.module + "\n";
}

}  // namespace km::tools
