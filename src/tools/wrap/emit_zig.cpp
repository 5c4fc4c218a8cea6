// Zig: a file for the module `kernelmill`, with a method for each kernel.
#include <cctype>

#include "tools/wrap/emit.h"

namespace km::tools {
namespace {

constexpr ScalarNames kNames = {{nullptr, nullptr, nullptr,  "u64",    "u8",  "u8",
                                 "i8",    "u8",    "i16",    "u16",    "i32", "u32",
                                 "i64",   "u64",   "[2]u64", "[2]u64", "f16", "Bf16",
                                 "f32",   "f64",   "F8E4M3", "F8E5M2"}};

std::string type_name(const Wrapper& wrapper, const WrapType& type) {
  switch (type.kind) {
    case WrapType::Kind::structure:
      return camel_name(wrapper.structures[type.structure].name);
    case WrapType::Kind::address:
      return "u64";
    case WrapType::Kind::scalar: {
      const std::string scalar = kNames.names[type.scalar];
      return type.lanes == 1 ? scalar : "[" + decimal(type.lanes) + "]" + scalar;
    }
    default:
      return "[" + decimal(type.size_bytes) + "]u8";
  }
}

/// The declaration by which launches check slices of a type.
std::string device_type(const SliceType& kind) {
  if (kind.element.empty()) return {};
  std::string element;
  for (const char letter : kind.element) {
    element += static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  }
  return "    pub const cuda_type: km.DeviceType = .{ ." + std::string("element = .") + element +
         (kind.name.empty() ? "" : ", .name = \"" + kind.name + "\"") + " };\n";
}

std::string scalar_types(const Wrapper& wrapper) {
  std::string text;
  const auto add = [&](km_element_type type, const char* name, const char* bits, const char* what) {
    if (!uses_scalar(wrapper, type)) return;
    text += "\n/// The bits of " + std::string(what) + ".\npub const " + name +
            " = extern struct {\n    bits: " + bits + ",\n\n" +
            device_type(slice_type_of(wrapper, {WrapType::Kind::scalar, type, 1, 0, 1})) + "};\n";
  };
  add(KM_ELEMENT_TYPE_BF16, "Bf16", "u16", "a bfloat16 number");
  add(KM_ELEMENT_TYPE_F8_E4M3, "F8E4M3", "u8", "an 8-bit number (E4M3)");
  add(KM_ELEMENT_TYPE_F8_E5M2, "F8E5M2", "u8", "an 8-bit number (E5M2)");
  return text;
}

std::string structure_text(const Wrapper& wrapper, const WrapStructure& structure) {
  const std::string name = camel_name(structure.name);
  const std::string& signature = structure.signature_name;
  const std::string declared = signature.empty() ? "" : "\n" + device_type({"NAMED", 1, signature});
  std::string text =
      "\n/// " + structure.cuda_name + ".\npub const " + name + " = extern struct {\n";
  if (structure.size_bytes == 0) {  // an incomplete type still distinguishes slices of it
    return text + "    unknown: u8,\n" + declared + "};\n";
  }
  std::string checks =
      "    std.debug.assert(@sizeOf(" + name + ") == " + decimal(structure.size_bytes) + ");\n";
  for (const WrapMember& member : structure.members) {
    std::string type;
    for (const uint64_t count : member.counts) type += "[" + decimal(count) + "]";
    type += type_name(wrapper, member.type);
    const bool is_first = &member == &structure.members[0];
    if (is_first) type += " align(" + decimal(structure.align_bytes) + ")";
    const std::string member_name = safe_name(member.name);
    text += "    " + member_name + ": " + type + ",\n";
    checks += "    std.debug.assert(@offsetOf(" + name + ", \"" + member_name +
              "\") == " + decimal(member.offset_bytes) + ");\n";
  }
  return text + declared + "};\ncomptime {\n" + checks + "}\n";
}

std::string kernel_text(const Wrapper& wrapper, const WrapKernel& kernel) {
  const std::string name = safe_name(kernel.name);
  std::string text = "\n    /// Launches `" + declaration(kernel) + "`.\n    pub fn launch" +
                     camel_name(kernel.name) +
                     "(\n        self: Kernels,\n        stream: km.Stream,\n" +
                     "        config: km.LaunchConfig,\n";
  std::string arguments;
  for (const WrapParam& param : kernel.params) {
    const std::string param_name = safe_name(param.name);
    std::string type = type_name(wrapper, param.type);
    if (param.is_pointer) {
      type = param.type.kind == WrapType::Kind::any ? "anytype" : "km.Slice(" + type + ")";
    } else if (param.type.scalar == KM_ELEMENT_TYPE_BOOL) {
      type = "bool";
    }
    text += "        " + param_name + ": " + type + ",\n";
    const bool is_read = param.is_pointer && param.is_const;
    arguments += (arguments.empty() ? " " : ", ") +
                 (is_read ? "km.readOnly(" + param_name + ")" : param_name);
  }
  return text + "    ) km.Error!void {\n        try stream.launch(self." + name + ", config, .{" +
         arguments + (arguments.empty() ? "" : " ") + "});\n    }\n";
}

/// The text as a multi-line Zig string literal.
std::string literal(const std::string& text) {
  std::string lines = "    \\\\";
  for (const char letter : text) {
    if (letter == '\t') {
      lines += "  ";  // Zig forbids tabs in such lines
    } else if (letter == '\n') {
      lines += "\n    \\\\";
    } else {
      lines += letter;
    }
  }
  return lines;
}

std::string object_text(const Wrapper& wrapper) {
  if (wrapper.object.empty()) return {};
  return "\n/// Object code for the CPU, for the build of the library that made it.\npub const "
         "object = \"" +
         byte_escapes(wrapper.object, "") + "\";\n";
}

/// Loads the module from object code if there is some that the library accepts, otherwise from PTX.
std::string load_text(const Wrapper& wrapper) {
  const std::string ptx = "km.Module.loadPtx(context, ptx, \"" + wrapper.module + "\")";
  if (wrapper.object.empty()) return "        const module = try " + ptx + ";\n";
  return "        const module = km.Module.fromObject(context, object, \"" + wrapper.module +
         "\") catch |failure| switch (failure) {\n"
         "            error.BuildMismatch, error.NotSupported => try " +
         ptx + ",\n            else => return failure,\n        };\n";
}

}  // namespace

std::string emit_zig(const Wrapper& wrapper) {
  std::string text = banner(wrapper, "//!") + "// zig fmt: off\n" +
                     "const std = @import(\"std\");\nconst km = @import(\"kernelmill\");\n" +
                     scalar_types(wrapper);
  for (const WrapStructure& structure : wrapper.structures)
    text += structure_text(wrapper, structure);
  text += "\n/// The kernels, compiled.\npub const ptx =\n" + literal(wrapper.ptx) + "\n;\n" +
          object_text(wrapper);
  text +=
      "\n/// The kernels in a context, each as a method with the types of its source.\n"
      "pub const Kernels = struct {\n";
  std::string loads, drops;
  for (const WrapKernel& kernel : wrapper.kernels) {
    const std::string name = safe_name(kernel.name);
    text += "    " + name + ": km.Function,\n";
    loads += "        const " + name + " = try module.function(\"" + kernel.symbol +
             "\");\n        errdefer " + name + ".deinit();\n";
    drops += "        self." + name + ".deinit();\n";
  }
  std::string fields;
  for (const WrapKernel& kernel : wrapper.kernels) {
    const std::string name = safe_name(kernel.name);
    fields += (fields.empty() ? " ." : ", .") + name + " = " + name;
  }
  text += "\n    /// Loads them.\n    pub fn load(context: km.Context) km.Error!Kernels {\n" +
          load_text(wrapper) + "        defer module.deinit();\n" + loads + "        return .{" +
          fields +
          " };\n    }\n\n    /// Drops them; launches under way go on.\n"
          "    pub fn deinit(self: Kernels) void {\n" +
          drops + "    }\n";
  for (const WrapKernel& kernel : wrapper.kernels) text += kernel_text(wrapper, kernel);
  return text + "};\n";
}

}  // namespace km::tools
