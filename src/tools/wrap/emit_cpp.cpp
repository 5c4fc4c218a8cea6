// C++: a header with a class, based on kernelmill.hpp, that has a method for each kernel.
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

/// Specialisations by which launches check slices of the declared types.
std::string device_types(const Wrapper& wrapper, const CStyle& style) {
  std::string text;
  for (const WrapType& type : element_types(wrapper)) {
    const SliceType kind = slice_type_of(wrapper, type);
    const bool is_own =
        type.kind == WrapType::Kind::structure ||
        (type.kind == WrapType::Kind::scalar && (type.lanes > 1 || is_own_scalar(type.scalar)));
    if (!is_own || kind.element.empty()) continue;
    text += "template <>\nstruct km::device_type<" + wrapper.module +
            "::" + c_type_name(wrapper, type, style) +
            "> {\n  static constexpr km_element_type type = KM_ELEMENT_TYPE_" + kind.element +
            ";\n  static constexpr std::uint32_t lanes = " + decimal(kind.lanes) +
            ";\n  static constexpr const char* name = " +
            (kind.name.empty() ? "nullptr" : "\"" + kind.name + "\"") + ";\n};\n";
  }
  return text.empty() ? text : "\n" + text;
}

std::string object_text(const Wrapper& wrapper) {
  if (wrapper.object.empty()) return {};
  return "/// Object code for the CPU, for the build of the library that made it.\n"
         "inline constexpr unsigned char object[] = {\n" +
         byte_lines(wrapper.object, "    ") + "\n};\n\n";
}

/// The constructor, which loads object code if there is some that the library accepts, otherwise
/// PTX.
std::string load_text(const Wrapper& wrapper) {
  const std::string ptx = "km::module::load_ptx(context, ptx, \"" + wrapper.module + "\")";
  if (wrapper.object.empty()) return "    return " + ptx + ";\n";
  return "    try {\n      return km::module::from_object(context, object, sizeof object, \"" +
         wrapper.module +
         "\");\n    } catch (const km::error& error) {\n"
         "      if (error.status() != KM_ERROR_BUILD_MISMATCH &&\n"
         "          error.status() != KM_ERROR_NOT_SUPPORTED) {\n        throw;\n      }\n    }\n"
         "    return " +
         ptx + ";\n";
}

}  // namespace

std::string emit_cpp(const Wrapper& wrapper) {
  const CStyle style{"", "static_assert"};
  std::string text = banner(wrapper, "//") +
                     "#pragma once\n\n#include <array>\n#include <cstddef>\n#include <cstdint>\n"
                     "#include <kernelmill/kernelmill.hpp>\n\nnamespace " +
                     wrapper.module + " {\n\n" + c_type_texts(wrapper, style) +
                     "\n/// The kernels, compiled.\ninline constexpr char ptx[] =\n" +
                     c_literal(wrapper.ptx) + ";\n\n" + object_text(wrapper) +
                     "/// The kernels in a context, each as a method with the types of "
                     "its source.\nclass kernels {\n public:\n  /// Loads them.\n"
                     "  explicit kernels(const km::context& context) : kernels(load(context)) {}\n";
  std::string members, values;
  for (const WrapKernel& kernel : wrapper.kernels) {
    const std::string name = safe_name(kernel.name);
    text += kernel_text(wrapper, kernel, style);
    members += "  km::function " + name + "_;\n";
    values += (values.empty() ? "" : ",\n        ") + name + "_(module.function(\"" +
              kernel.symbol + "\"))";
  }
  return text + "\n private:\n  static km::module load(const km::context& context) {\n" +
         load_text(wrapper) +
         "  }\n  explicit kernels(const km::module& module)\n      : " + values + " {}\n\n" +
         members + "};\n\n}  // namespace " + wrapper.module + "\n" + device_types(wrapper, style);
}

}  // namespace km::tools
