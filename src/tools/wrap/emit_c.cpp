// C: a header with a structure for slices of each element type and a function for each kernel.
#include "tools/wrap/emit.h"
#include "tools/wrap/emit_c_types.h"

namespace km::tools {
namespace {

/// The structure for slices of a type; C can tell structures apart, but not handles.
std::string slice_name(const Wrapper& wrapper, const WrapType& type, const CStyle& style) {
  if (type.kind == WrapType::Kind::any) return "km_slice";
  if (type.kind == WrapType::Kind::address) return style.prefix + "address_slice";
  std::string name = c_type_name(wrapper, type, style);
  if (type.kind == WrapType::Kind::scalar && !name.starts_with(style.prefix))
    name = style.prefix + name;
  return name + "_slice";
}

std::string slice_text(const Wrapper& wrapper, const WrapType& type, const CStyle& style) {
  const std::string name = slice_name(wrapper, type, style);
  std::string text =
      "/* Device memory for such elements; `handle` is any slice of them. */\ntypedef struct " +
      name + " {\n  km_slice handle;\n} " + name + ";\n";
  if (type.size_bytes == 0) return text;
  text += "static inline km_status " + name + "_create(km_context context, uint64_t count, " +
          name + "* out_slice) {\n";
  const std::string create = "km_slice_create(context, count, " + decimal(type.size_bytes) +
                             ", KM_SLICE_ZEROED, &out_slice->handle)";
  const SliceType kind = slice_type_of(wrapper, type);
  if (kind.element.empty()) return text + "  return " + create + ";\n}\n";
  const std::string quoted = kind.name.empty() ? "NULL" : "\"" + kind.name + "\"";
  return text + "  km_status status = " + create +
         ";\n  if (status != KM_SUCCESS) return status;\n"
         "  status = km_slice_set_element_type(out_slice->handle, KM_ELEMENT_TYPE_" +
         kind.element + ", " + decimal(kind.lanes) + ", " + quoted +
         ");\n  if (status != KM_SUCCESS) km_slice_destroy(out_slice->handle);\n"
         "  return status;\n}\n";
}

std::string param_text(const Wrapper& wrapper, const WrapParam& param, const CStyle& style) {
  const std::string name = safe_name(param.name);
  if (param.is_pointer) return slice_name(wrapper, param.type, style) + " " + name;
  if (param.type.kind == WrapType::Kind::bytes) return "const void* " + name;
  return c_type_name(wrapper, param.type, style) + " " + name;
}

std::string operand_text(const WrapParam& param, size_t index) {
  const std::string handle =
      safe_name(param.name) + (param.type.kind == WrapType::Kind::any ? "" : ".handle");
  return "      {" + decimal(index) + ", " +
         (param.is_const ? "KM_ACCESS_READ" : "KM_ACCESS_READ_WRITE") + ", (uint64_t)" + handle +
         ", 0, 0},\n";
}

std::string kernel_text(const Wrapper& wrapper, const WrapKernel& kernel, const CStyle& style) {
  std::string text = "/* Launches " + declaration(kernel) + ". */\nstatic inline km_status " +
                     style.prefix + safe_name(kernel.name) + "(const " + style.prefix +
                     "kernels* kernels, km_stream stream,\n    const km_launch_config* config";
  std::string copies, operands;
  size_t count = 0;
  uint64_t size_bytes = 0;
  for (size_t i = 0; i < kernel.params.size(); ++i) {
    const WrapParam& param = kernel.params[i];
    text += ",\n    " + param_text(wrapper, param, style);
    size_bytes = param.offset_bytes + param.size_bytes;
    if (param.is_pointer) {
      operands += operand_text(param, i);
      ++count;
      continue;
    }
    const bool is_bytes = param.type.kind == WrapType::Kind::bytes;
    copies += "  memcpy(arguments + " + decimal(param.offset_bytes) + ", " + (is_bytes ? "" : "&") +
              safe_name(param.name) + ", " + decimal(param.size_bytes) + ");\n";
  }
  text += ") {\n";
  if (size_bytes != 0) text += "  unsigned char arguments[" + decimal(size_bytes) + "] = {0};\n";
  if (count != 0) text += "  const km_launch_operand operands[] = {\n" + operands + "  };\n";
  return text + copies + "  return km_launch_kernel_operands(stream, kernels->" +
         safe_name(kernel.name) + ", config, " +
         (size_bytes != 0 ? "arguments, sizeof arguments" : "NULL, 0") + ", " +
         (count != 0 ? "operands, " + decimal(count) : "NULL, 0") + ");\n}\n";
}

std::string object_text(const Wrapper& wrapper, const CStyle& style) {
  if (wrapper.object.empty()) return {};
  return "/* Object code for the CPU, for the build of the library that made it. */\nstatic const "
         "unsigned char " +
         style.prefix + "object[] = {\n" + byte_lines(wrapper.object, "    ") + "\n};\n\n";
}

/// Loads the module from object code if there is some that the library accepts, otherwise from PTX.
std::string module_text(const Wrapper& wrapper, const CStyle& style) {
  const std::string end = ", \"" + wrapper.module + "\", &module);\n";
  const std::string ptx = "km_module_load_ptx(context, " + style.prefix + "ptx, sizeof " +
                          style.prefix + "ptx - 1" + end;
  if (wrapper.object.empty()) return "  km_status status = " + ptx;
  return "  km_status status = km_module_from_object(context, " + style.prefix + "object, sizeof " +
         style.prefix + "object" + end +
         "  if (status == KM_ERROR_BUILD_MISMATCH || status == KM_ERROR_NOT_SUPPORTED) {\n"
         "    status = " +
         ptx + "  }\n";
}

std::string load_text(const Wrapper& wrapper, const CStyle& style) {
  std::string text =
      "/* The kernels in a context. */\ntypedef struct " + style.prefix + "kernels {\n";
  std::string loads, drops;
  for (const WrapKernel& kernel : wrapper.kernels) {
    const std::string name = safe_name(kernel.name);
    text += "  km_function " + name + ";\n";
    loads += "  if (status == KM_SUCCESS) {\n    status = km_module_function(module, \"" +
             kernel.symbol + "\", &loaded." + name + ");\n  }\n";
    drops += "  km_function_destroy(kernels->" + name + ");\n";
  }
  text += "} " + style.prefix + "kernels;\n\nstatic inline void " + style.prefix + "unload(" +
          style.prefix + "kernels* kernels) {\n" + drops + "}\n\n/* To be given to " +
          style.prefix +
          "unload(). What fails leaves *out_kernels as it is. */\nstatic inline km_status " +
          style.prefix + "load(km_context context, " + style.prefix +
          "kernels* out_kernels) {\n  " + style.prefix +
          "kernels loaded;\n  km_module module;\n  memset(&loaded, 0, sizeof loaded);\n" +
          module_text(wrapper, style) + "  if (status != KM_SUCCESS) return status;\n" + loads;
  return text +
         "  km_module_destroy(module);\n  if (status == KM_SUCCESS) {\n    *out_kernels = loaded;\n"
         "  } else {\n    " +
         style.prefix + "unload(&loaded);\n  }\n  return status;\n}\n";
}

}  // namespace

std::string emit_c(const Wrapper& wrapper) {
  const CStyle style{wrapper.module + "_", "_Static_assert"};
  const std::string guard = "KM_WRAPPER_" + wrapper.module + "_H";
  std::string text =
      banner(wrapper, "//") + "#ifndef " + guard + "\n#define " + guard +
      "\n\n#include <kernelmill/c_api.h>\n#include <stdbool.h>\n#include <stddef.h>\n"
      "#include <stdint.h>\n#include <string.h>\n\n" +
      c_type_texts(wrapper, style) + "\n";
  for (const WrapType& type : element_types(wrapper)) text += slice_text(wrapper, type, style);
  text += "\n/* The kernels, compiled. */\nstatic const char " + style.prefix + "ptx[] =\n" +
          c_literal(wrapper.ptx) + ";\n\n" + object_text(wrapper, style) +
          load_text(wrapper, style);
  for (const WrapKernel& kernel : wrapper.kernels)
    text += "\n" + kernel_text(wrapper, kernel, style);
  return text + "\n#endif\n";
}

}  // namespace km::tools
