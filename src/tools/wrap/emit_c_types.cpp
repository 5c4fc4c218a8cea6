#include "tools/wrap/emit_c_types.h"

#include <algorithm>
#include <iterator>

namespace km::tools {
namespace {

constexpr ScalarNames kNames = {
    {nullptr,   nullptr,    nullptr,   "uint64_t", "bool",    "char",     "int8_t", "uint8_t",
     "int16_t", "uint16_t", "int32_t", "uint32_t", "int64_t", "uint64_t", nullptr,  nullptr,
     nullptr,   nullptr,    "float",   "double",   nullptr,   nullptr}};

struct OwnScalar {
  km_element_type type;
  const char *name, *members;
};
constexpr OwnScalar kOwnScalars[] = {
    {KM_ELEMENT_TYPE_F16, "half", "uint16_t bits;"},
    {KM_ELEMENT_TYPE_BF16, "bfloat16", "uint16_t bits;"},
    {KM_ELEMENT_TYPE_F8_E4M3, "f8_e4m3", "uint8_t bits;"},
    {KM_ELEMENT_TYPE_F8_E5M2, "f8_e5m2", "uint8_t bits;"},
    {KM_ELEMENT_TYPE_I128, "int128", "uint64_t low, high;"},
    {KM_ELEMENT_TYPE_U128, "uint128", "uint64_t low, high;"},
};

std::string scalar_name(km_element_type type, const CStyle& style) {
  for (const OwnScalar& own : kOwnScalars) {
    if (own.type == type) return style.prefix + own.name;
  }
  return kNames.names[type];
}

/// Only the first lane gets the alignment attribute; before the list it would apply to all lanes.
std::string vector_text(const WrapType& type, const CStyle& style) {
  constexpr const char* kLanes[] = {"", "", "y", "y, z", "y, z, w"};
  const std::string name = style.prefix + vector_name(type);
  const std::string scalar = scalar_name(type.scalar, style);
  return "typedef struct " + name + " {\n  __attribute__((aligned(" + decimal(vector_align(type)) +
         "))) " + scalar + " x;\n" +
         (type.lanes > 1 ? "  " + scalar + " " + kLanes[type.lanes] + ";\n" : "") + "} " + name +
         ";\n" + style.assertion + "(sizeof(" + name + ") == " + decimal(type.size_bytes) +
         ", \"size\");\n";
}

std::string structure_text(const Wrapper& wrapper, const WrapStructure& structure,
                           const CStyle& style) {
  const std::string name = style.prefix + safe_name(structure.name);
  // An incomplete type still distinguishes slices of it.
  if (structure.size_bytes == 0) {
    return "/* " + structure.cuda_name + ", whose members are not known */\ntypedef struct " +
           name + " {\n  unsigned char unknown;\n} " + name + ";\n";
  }
  std::string text = "/* " + structure.cuda_name + " */\ntypedef struct " + name + " {\n";
  std::string checks = std::string(style.assertion) + "(sizeof(" + name +
                       ") == " + decimal(structure.size_bytes) + ", \"size\");\n";
  for (const WrapMember& member : structure.members) {
    const std::string member_name = safe_name(member.name);
    const bool is_first = &member == &structure.members[0];
    text += "  " +
            (is_first ? "__attribute__((aligned(" + decimal(structure.align_bytes) + "))) " : "") +
            c_type_name(wrapper, member.type, style) + " " + member_name;
    for (const uint64_t count : member.counts) text += "[" + decimal(count) + "]";
    text += ";\n";
    checks += std::string(style.assertion) + "(offsetof(" + name + ", " + member_name +
              ") == " + decimal(member.offset_bytes) + ", \"offset\");\n";
  }
  return text + "} " + name + ";\n" + checks;
}

}  // namespace

std::string c_type_name(const Wrapper& wrapper, const WrapType& type, const CStyle& style) {
  switch (type.kind) {
    case WrapType::Kind::structure:
      return style.prefix + safe_name(wrapper.structures[type.structure].name);
    case WrapType::Kind::address:
      return "uint64_t";
    case WrapType::Kind::scalar:
      return type.lanes == 1 ? scalar_name(type.scalar, style) : style.prefix + vector_name(type);
    default:
      return "void";
  }
}

std::string c_type_texts(const Wrapper& wrapper, const CStyle& style) {
  std::string text;
  for (const OwnScalar& own : kOwnScalars) {
    if (!uses_scalar(wrapper, own.type)) continue;
    const std::string name = style.prefix + own.name;
    text += "typedef struct " + name + " {\n  " + own.members + "\n} " + name + ";\n";
  }
  for (const WrapType& type : vectors_of(wrapper)) text += vector_text(type, style);
  for (const WrapStructure& structure : wrapper.structures) {
    text += structure_text(wrapper, structure, style);
  }
  return text;
}

bool is_own_scalar(km_element_type type) {
  return std::any_of(std::begin(kOwnScalars), std::end(kOwnScalars),
                     [&](const OwnScalar& own) { return own.type == type; });
}

std::string c_literal(const std::string& text) {
  std::string quoted = "    \"";
  for (const char letter : text) {
    switch (letter) {
      case '\n':
        quoted += "\\n\"\n    \"";
        break;
      case '\t':
        quoted += "\\t";
        break;
      case '"':
        quoted += "\\\"";
        break;
      case '\\':
        quoted += "\\\\";
        break;
      default:
        quoted += letter;
        break;
    }
  }
  return quoted + "\"";
}

}  // namespace km::tools
