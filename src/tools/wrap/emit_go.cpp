// Go: a package for the module kernelmill, with a method for each kernel.
#include <algorithm>
#include <utility>
#include <vector>

#include "tools/wrap/emit.h"

namespace km::tools {
namespace {

constexpr ScalarNames kNames = {
    {nullptr, nullptr,    nullptr,   "uint64",  "Bool",   "uint8",  "int8",      "uint8",
     "int16", "uint16",   "int32",   "uint32",  "int64",  "uint64", "[2]uint64", "[2]uint64",
     "Half",  "BFloat16", "float32", "float64", "F8E4M3", "F8E5M2"}};

std::string type_name(const Wrapper& wrapper, const WrapType& type) {
  switch (type.kind) {
    case WrapType::Kind::structure:
      return camel_name(wrapper.structures[type.structure].name);
    case WrapType::Kind::address:
      return "uint64";
    case WrapType::Kind::scalar: {
      const std::string scalar = kNames.names[type.scalar];
      return type.lanes == 1 ? scalar : "[" + decimal(type.lanes) + "]" + scalar;
    }
    default:
      return "[" + decimal(type.size_bytes) + "]uint8";
  }
}

/// True for elements that cannot be the type parameter of kernelmill.Slice.
bool is_compound(const WrapType& type) {
  return type.kind == WrapType::Kind::structure ||
         (type.kind == WrapType::Kind::scalar &&
          (type.lanes > 1 || type.scalar == KM_ELEMENT_TYPE_I128 ||
           type.scalar == KM_ELEMENT_TYPE_U128));
}

std::string slice_name(const Wrapper& wrapper, const WrapType& type) {
  if (type.kind == WrapType::Kind::structure) {
    return camel_name(wrapper.structures[type.structure].name) + "Slice";
  }
  if (type.lanes == 1) return "Int128Slice";
  return camel_name(vector_name(type)) + "Slice";
}

/// Members of a structure with their types aligned in gofmt's way.
std::string member_lines(const std::vector<std::pair<std::string, std::string>>& members) {
  size_t width = 0;
  for (const auto& [name, type] : members) width = std::max(width, name.size());
  std::string text;
  for (const auto& [name, type] : members) {
    text += "\t" + name + std::string(width + 1 - name.size(), ' ') + type + "\n";
  }
  return text;
}

/// The name of the constant: "F8E4M3", "Named", "Bool".
std::string go_element(const SliceType& kind) {
  if (kind.element == "BOOL") return "Bool";
  if (kind.element == "NAMED") return "Named";
  std::string name;
  for (const char letter : kind.element) {
    if (letter != '_') name += letter;
  }
  return name;
}

std::string scalar_types(const Wrapper& wrapper) {
  std::string text;
  const auto add = [&](km_element_type type, const std::string& name, const char* bits,
                       const char* what) {
    if (!uses_scalar(wrapper, type)) return;
    text += "\n// " + name + " is " + what + ".\ntype " + name + " " + bits +
            "\n\n// DeviceElement is the type that kernels have for it.\nfunc (" + name +
            ") DeviceElement() kernelmill.ElementType { return kernelmill.Element" +
            go_element(slice_type_of(wrapper, {WrapType::Kind::scalar, type, 1, 0, 1})) + " }\n";
  };
  add(KM_ELEMENT_TYPE_BOOL, "Bool", "uint8", "a truth value: 0 or 1");
  add(KM_ELEMENT_TYPE_F16, "Half", "uint16", "the bits of a half-precision number");
  add(KM_ELEMENT_TYPE_BF16, "BFloat16", "uint16", "the bits of a bfloat16 number");
  add(KM_ELEMENT_TYPE_F8_E4M3, "F8E4M3", "uint8", "the bits of an 8-bit number");
  add(KM_ELEMENT_TYPE_F8_E5M2, "F8E5M2", "uint8", "the bits of an 8-bit number");
  return text;
}

/// The lines that make launches check a new slice; a slice without a possible check is closed.
std::string set_type(const SliceType& kind) {
  if (kind.element.empty()) return {};
  return "\tif err == nil {\n\t\tif err = bytes.SetElementType(kernelmill.Element" +
         go_element(kind) + ", " + decimal(kind.lanes) + ", \"" + kind.name +
         "\"); err != nil {\n\t\t\tbytes.Close()\n\t\t\tbytes = nil\n\t\t}\n\t}\n";
}

std::string slice_type(const Wrapper& wrapper, const WrapType& type) {
  const std::string name = slice_name(wrapper, type);
  std::string text = "\n// " + name +
                     " is device memory for elements of the type that its name says.\ntype " +
                     name + " struct{ Bytes *kernelmill.Slice[uint8] }\n";
  if (type.size_bytes == 0) return text;
  return text + "\n// New" + name +
         " allocates device memory for a number of elements, filled with zeros.\nfunc New" + name +
         "(context *kernelmill.Context, count int) (" + name +
         ", error) {\n\tbytes, err := " + "kernelmill.NewZeroedSlice[uint8](context, count*" +
         decimal(type.size_bytes) + ")\n" + set_type(slice_type_of(wrapper, type)) + "\treturn " +
         name + "{bytes}, err\n}\n";
}

std::string structure_text(const Wrapper& wrapper, const WrapStructure& structure) {
  if (structure.size_bytes == 0) return {};
  const std::string name = camel_name(structure.name);
  std::string text =
      "\n// " + name + " is " + structure.cuda_name + ".\ntype " + name + " struct {\n";
  std::string checks =
      "\n// The compiler refuses an index that is not 0: sizes and offsets are those of the "
      "kernels.\n";
  checks += "var _ = [1]struct{}{}[unsafe.Sizeof(" + name + "{})-" + decimal(structure.size_bytes) +
            "]\n";
  std::vector<std::pair<std::string, std::string>> members;
  for (const WrapMember& member : structure.members) {
    std::string type;
    for (const uint64_t count : member.counts) type += "[" + decimal(count) + "]";
    const std::string member_name = camel_name(member.name);
    members.emplace_back(member_name, type + type_name(wrapper, member.type));
    checks += "var _ = [1]struct{}{}[unsafe.Offsetof(" + name + "{}." + member_name + ")-" +
              decimal(member.offset_bytes) + "]\n";
  }
  return text + member_lines(members) + "}\n" + checks;
}

std::string param_type(const Wrapper& wrapper, const WrapParam& param) {
  if (!param.is_pointer) return type_name(wrapper, param.type);
  if (param.type.kind == WrapType::Kind::any) return "kernelmill.Memory";
  if (is_compound(param.type)) return slice_name(wrapper, param.type);
  return "*kernelmill.Slice[" + type_name(wrapper, param.type) + "]";
}

std::string kernel_text(const Wrapper& wrapper, const WrapKernel& kernel) {
  const std::string name = camel_name(kernel.name);
  std::string text = "\n// " + name + " launches " + declaration(kernel) +
                     ".\nfunc (kernels *Kernels) " + name +
                     "(\n\tstream *kernelmill.Stream, grid, block [3]int, sharedBytes uint64,\n";
  std::string arguments;
  for (const WrapParam& param : kernel.params) {
    const std::string param_name = safe_name(param.name);
    text += "\t" + param_name + " " + param_type(wrapper, param) + ",\n";
    std::string value = param_name;
    const bool is_any = param.type.kind == WrapType::Kind::any;
    if (param.is_pointer && is_compound(param.type)) value += ".Bytes";
    if (param.is_pointer && param.is_const && !is_any) value = "kernelmill.ReadOnly(" + value + ")";
    arguments += (arguments.empty() ? "" : ", ") + value;
  }
  return text + ") error {\n\treturn stream.Launch(kernels." + safe_name(kernel.name) +
         ").Grid(grid[:]...).Block(block[:]...).\n\t\tSharedBytes(sharedBytes).Args(" + arguments +
         ").Submit()\n}\n";
}

/// The text as a Go string literal.
std::string literal(const std::string& text) {
  std::string quoted = "`";
  for (const char letter : text) {
    if (letter == '`') {
      quoted += "` + \"`\" + `";
    } else {
      quoted += letter;
    }
  }
  return quoted + "`";
}

std::string object_text(const Wrapper& wrapper) {
  if (wrapper.object.empty()) return {};
  return "\n// Object is object code for the CPU, for the build of the library that made "
         "it.\nconst "
         "Object = \"" +
         byte_escapes(wrapper.object, "") + "\"\n";
}

/// Loads the module from object code if there is some that the library accepts, otherwise from PTX.
std::string load_text(const Wrapper& wrapper) {
  const std::string ptx = "context.LoadPTX(PTX, \"" + wrapper.module + "\")\n";
  if (wrapper.object.empty()) return "\tmodule, err := " + ptx;
  return "\tmodule, err := context.LoadObject([]byte(Object), \"" + wrapper.module +
         "\")\n\tif errors.Is(err, kernelmill.ErrBuildMismatch) || "
         "errors.Is(err, kernelmill.ErrNotSupported) {\n\t\tmodule, err = " +
         ptx + "\t}\n";
}

}  // namespace

std::string emit_go(const Wrapper& wrapper) {
  std::string text = "// Code generated by kernelmill wrap. DO NOT EDIT.\n" +
                     banner(wrapper, "//") + "\n// Package " + wrapper.module +
                     " launches kernels with the types of their source.\npackage " +
                     wrapper.module + "\n\nimport (\n";
  bool has_structures = false;
  for (const WrapStructure& structure : wrapper.structures)
    has_structures |= structure.size_bytes != 0;
  if (!wrapper.object.empty()) text += "\t\"errors\"\n";
  if (has_structures) text += "\t\"unsafe\"\n";
  if (has_structures || !wrapper.object.empty()) text += "\n";
  text +=
      "\t\"github.com/kernelmill/kernelmill/bindings/go/kernelmill\"\n)\n" + scalar_types(wrapper);
  for (const WrapStructure& structure : wrapper.structures)
    text += structure_text(wrapper, structure);
  for (const WrapType& type : element_types(wrapper)) {
    if (is_compound(type)) text += slice_type(wrapper, type);
  }
  text += "\n// PTX is the kernels, compiled.\nconst PTX = " + literal(wrapper.ptx) + "\n" +
          object_text(wrapper);
  text +=
      "\n// Kernels are the kernels in a context, each as a method with the types of its source.\n"
      "type Kernels struct {\n";
  std::string loads;
  std::vector<std::pair<std::string, std::string>> members;
  for (const WrapKernel& kernel : wrapper.kernels) {
    members.emplace_back(safe_name(kernel.name), "*kernelmill.Function");
    loads += "\tif kernels." + safe_name(kernel.name) + ", err = module.Function(\"" +
             kernel.symbol + "\"); err != nil {\n\t\treturn nil, err\n\t}\n";
  }
  text +=
      member_lines(members) +
      "}\n\n// Load makes the kernels ready in a context.\nfunc Load(context *kernelmill.Context) "
      "(*Kernels, error) {\n" +
      load_text(wrapper) +
      "\tif err != nil {\n\t\treturn nil, err\n\t}\n\tdefer module.Close()\n"
      "\tkernels := &Kernels{}\n" +
      loads + "\treturn kernels, nil\n}\n";
  for (const WrapKernel& kernel : wrapper.kernels) text += kernel_text(wrapper, kernel);
  return text;
}

}  // namespace km::tools
