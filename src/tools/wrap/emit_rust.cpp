// Rust: a module for the crate `kernelmill`, with a method for each kernel.
#include "tools/wrap/emit.h"

namespace km::tools {
namespace {

constexpr ScalarNames kNames = {{nullptr,
                                 nullptr,
                                 nullptr,
                                 "u64",
                                 "u8",
                                 "u8",
                                 "i8",
                                 "u8",
                                 "i16",
                                 "u16",
                                 "i32",
                                 "u32",
                                 "i64",
                                 "u64",
                                 "[u64; 2]",
                                 "[u64; 2]",
                                 "kernelmill::blas::F16",
                                 "kernelmill::blas::Bf16",
                                 "f32",
                                 "f64",
                                 "F8E4M3",
                                 "F8E5M2"}};

std::string type_name(const Wrapper& wrapper, const WrapType& type) {
  switch (type.kind) {
    case WrapType::Kind::structure:
      return camel_name(wrapper.structures[type.structure].name);
    case WrapType::Kind::address:
      return "u64";
    case WrapType::Kind::scalar: {
      const std::string scalar = kNames.names[type.scalar];
      return type.lanes == 1 ? scalar : "[" + scalar + "; " + decimal(type.lanes) + "]";
    }
    default:
      return "[u8; " + decimal(type.size_bytes) + "]";
  }
}

std::string member_type(const Wrapper& wrapper, const WrapMember& member) {
  std::string text = type_name(wrapper, member.type);
  for (auto count = member.counts.rbegin(); count != member.counts.rend(); ++count) {
    text = "[" + text + "; " + decimal(*count) + "]";
  }
  return text;
}

/// Makes a type an element type of slices, which launches check.
std::string pod_text(const std::string& name, const SliceType& kind) {
  const std::string start = "unsafe impl kernelmill::Pod for " + name + " {";
  if (kind.element.empty()) return start + "}\n";
  const std::string type = kind.name.empty()
                               ? "scalar(kernelmill::ElementType::" + kind.element + ")"
                               : "named(\"" + kind.name + "\")";
  return start +
         "\n    const DEVICE_TYPE: kernelmill::DeviceType = kernelmill::DeviceType::" + type +
         ";\n}\n";
}

/// Types for numbers that Rust lacks, which hold their bits.
std::string scalar_types(const Wrapper& wrapper) {
  struct Own {
    km_element_type type;
    const char *name, *bits, *text;
  };
  constexpr Own kOwn[] = {{KM_ELEMENT_TYPE_F8_E4M3, "F8E4M3", "u8", "8-bit number (E4M3)"},
                          {KM_ELEMENT_TYPE_F8_E5M2, "F8E5M2", "u8", "8-bit number (E5M2)"}};
  std::string text;
  for (const Own& own : kOwn) {
    if (!uses_scalar(wrapper, own.type)) continue;
    const std::string name = own.name;
    text += "\n/// The bits of a " + std::string(own.text) + ".\n#[repr(transparent)]\n" +
            "#[derive(Clone, Copy, Debug, PartialEq)]\npub struct " + name + "(pub " + own.bits +
            ");\n// SAFETY: all patterns of bits are values.\n" +
            pod_text(name, slice_type_of(wrapper, {WrapType::Kind::scalar, own.type, 1, 0, 1}));
  }
  return text;
}

std::string structure_text(const Wrapper& wrapper, const WrapStructure& structure) {
  const std::string name = camel_name(structure.name);
  const std::string& signature = structure.signature_name;
  const SliceType kind = signature.empty() ? SliceType() : SliceType{"NAMED", 1, signature};
  std::string text = "\n/// `" + structure.cuda_name + "`.\n";
  text += "#[repr(C, align(" + decimal(structure.align_bytes) + "))]\n";
  text += "#[allow(dead_code, non_snake_case)]\n#[derive(Clone, Copy, Debug)]\npub struct " + name +
          " {\n";
  std::string checks =
      "    assert!(size_of::<" + name + ">() == " + decimal(structure.size_bytes) + ");\n";
  for (const WrapMember& member : structure.members) {
    const std::string member_name = safe_name(member.name);
    text += "    pub " + member_name + ": " + member_type(wrapper, member) + ",\n";
    checks += "    assert!(offset_of!(" + name + ", " + member_name +
              ") == " + decimal(member.offset_bytes) + ");\n";
  }
  if (structure.size_bytes == 0) {  // an incomplete type still distinguishes slices of it
    return text + "    never: std::convert::Infallible,\n}\n// SAFETY: there are no values.\n" +
           pod_text(name, kind);
  }
  return text + "}\nconst _: () = {\n" + checks +
         "};\n// SAFETY: gaps are members, and numbers take " + "all patterns of bits.\n" +
         pod_text(name, kind);
}

std::string param_text(const Wrapper& wrapper, const WrapParam& param, size_t index) {
  std::string type = type_name(wrapper, param.type);
  if (param.is_pointer) {
    if (param.type.kind == WrapType::Kind::any) type = "T" + decimal(index);
    type = (param.is_const ? "&impl kernelmill::DeviceSlice<"
                           : "&mut impl kernelmill::DeviceSliceMut<") +
           type + ">";
  }
  if (!param.is_pointer && param.type.scalar == KM_ELEMENT_TYPE_BOOL) type = "bool";
  return "        " + safe_name(param.name) + ": " + type + ",\n";
}

std::string generics(const WrapKernel& kernel) {
  std::string text;
  for (size_t i = 0; i < kernel.params.size(); ++i) {
    const WrapParam& param = kernel.params[i];
    if (!param.is_pointer || param.type.kind != WrapType::Kind::any) continue;
    text += (text.empty() ? "" : ", ") + ("T" + decimal(i)) + ": kernelmill::Pod";
  }
  return text.empty() ? text : "<" + text + ">";
}

std::string kernel_text(const Wrapper& wrapper, const WrapKernel& kernel) {
  std::string text = "\n    /// Launches `" + declaration(kernel) +
                     "`.\n    ///\n    /// # Safety\n    ///\n"
                     "    /// The kernel stays inside the slices, whatever numbers it is given.\n"
                     "    #[inline]\n    #[allow(clippy::too_many_arguments, non_snake_case)]\n    "
                     "pub unsafe fn " +
                     safe_name(kernel.name) + generics(kernel) +
                     "(\n        &self,\n        stream: &kernelmill::Stream,\n"
                     "        config: kernelmill::LaunchConfig,\n";
  std::string arguments;
  for (size_t i = 0; i < kernel.params.size(); ++i) {
    const WrapParam& param = kernel.params[i];
    text += param_text(wrapper, param, i);
    const std::string name = safe_name(param.name);
    const bool is_bool = !param.is_pointer && param.type.scalar == KM_ELEMENT_TYPE_BOOL;
    const std::string value = is_bool ? "&u8::from(" + name + ")" : "&" + name;
    const char* const call = !param.is_pointer ? "arg"
                             : param.is_const  ? "arg_slice"
                                               : "arg_slice_mut";
    arguments +=
        "        launch." + std::string(call) + "(" + (param.is_pointer ? name : value) + ");\n";
  }
  return text +
         "    ) -> kernelmill::Result<()> {\n        let mut launch = "
         "stream.launch_builder(&self." +
         safe_name(kernel.name) + ");\n" + arguments +
         "        // SAFETY: the caller's promise.\n        unsafe { launch.launch(config) }\n    "
         "}\n";
}

std::string object_text(const Wrapper& wrapper) {
  if (wrapper.object.empty()) return {};
  return "\n/// Object code for the CPU, for the build of the library that made it.\npub const "
         "OBJECT: &[u8] = b\"" +
         byte_escapes(wrapper.object, "\\\n    ") + "\";\n";
}

/// Loads the module from object code if there is some that the library accepts, otherwise from PTX.
std::string load_text(const Wrapper& wrapper) {
  if (wrapper.object.empty()) return "        let module = context.load_ptx(PTX)?;\n";
  return "        use kernelmill::Status;\n"
         "        // SAFETY: the code was made together with this file.\n"
         "        let made = unsafe { context.load_object(OBJECT, Some(\"" +
         wrapper.module +
         "\")) };\n        let module = match made {\n"
         "            Err(error)\n"
         "                if error.status() == Status::ERROR_BUILD_MISMATCH\n"
         "                    || error.status() == Status::ERROR_NOT_SUPPORTED =>\n"
         "            {\n                context.load_ptx(PTX)?\n            }\n"
         "            made => made?,\n        };\n";
}

/// A raw string literal with enough # that the text does not end it.
std::string raw_literal(const std::string& text) {
  std::string marks = "##";
  while (text.find('"' + marks) != std::string::npos) marks += '#';
  return "r" + marks + '"' + text + '"' + marks;
}

}  // namespace

std::string emit_rust(const Wrapper& wrapper) {
  std::string text = banner(wrapper, "//");
  text +=
      "\n#[allow(unused_imports)]\nuse std::mem::{offset_of, size_of};\n" + scalar_types(wrapper);
  for (const WrapStructure& structure : wrapper.structures)
    text += structure_text(wrapper, structure);
  text += "\n/// The kernels, compiled.\npub const PTX: &str = " +
          raw_literal(without_tabs(wrapper.ptx)) + ";\n" + object_text(wrapper);
  text +=
      "\n/// The kernels in a context, each as a method with the types of its source.\n"
      "#[allow(non_snake_case)]\npub struct Kernels {\n";
  std::string loads;
  for (const WrapKernel& kernel : wrapper.kernels) {
    text += "    " + safe_name(kernel.name) + ": kernelmill::Function,\n";
    loads += "            " + safe_name(kernel.name) + ": module.load_function(\"" + kernel.symbol +
             "\")?,\n";
  }
  text +=
      "}\n\n#[allow(dead_code, non_snake_case)]\nimpl Kernels {\n    /// Loads them.\n    pub fn "
      "load(context: "
      "&kernelmill::Context) -> "
      "kernelmill::Result<Self> {\n" +
      load_text(wrapper) + "        Ok(Self {\n" + loads + "        })\n    }\n";
  for (const WrapKernel& kernel : wrapper.kernels) text += kernel_text(wrapper, kernel);
  return text + "}\n";
}

}  // namespace km::tools
