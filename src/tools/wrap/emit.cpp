// The steps that the emitters share.
#include "tools/wrap/emit.h"

#include <algorithm>
#include <cctype>
#include <iterator>

#include "base/printable.h"

namespace km::tools {
namespace {

/// Keywords of all languages, and names that the wrappers use themselves.
constexpr std::string_view kReserved[] = {"abstract",     "addrspace",
                                          "align",        "alignas",
                                          "allowzero",    "and",
                                          "anyframe",     "anytype",
                                          "arguments",    "as",
                                          "asm",          "async",
                                          "auto",         "await",
                                          "become",       "block",
                                          "bool",         "box",
                                          "break",        "case",
                                          "catch",        "chan",
                                          "char",         "class",
                                          "comptime",     "config",
                                          "const",        "context",
                                          "continue",     "crate",
                                          "default",      "defer",
                                          "deinit",       "delete",
                                          "do",           "double",
                                          "dyn",          "else",
                                          "enum",         "errdefer",
                                          "error",        "export",
                                          "extern",       "fallthrough",
                                          "false",        "final",
                                          "float",        "fn",
                                          "for",          "func",
                                          "gen",          "go",
                                          "goto",         "grid",
                                          "if",           "impl",
                                          "import",       "in",
                                          "inline",       "int",
                                          "interface",    "kernels",
                                          "launch",       "let",
                                          "load",         "long",
                                          "loop",         "macro",
                                          "map",          "match",
                                          "mod",          "module",
                                          "move",         "mut",
                                          "namespace",    "new",
                                          "noalias",      "not",
                                          "nosuspend",    "null",
                                          "object",       "opaque",
                                          "operands",     "operator",
                                          "or",           "orelse",
                                          "override",     "package",
                                          "packed",       "priv",
                                          "private",      "protected",
                                          "ptx",          "pub",
                                          "public",       "range",
                                          "ref",          "register",
                                          "restrict",     "resume",
                                          "return",       "select",
                                          "self",         "Self",
                                          "shared_bytes", "short",
                                          "signed",       "sizeof",
                                          "static",       "stream",
                                          "struct",       "super",
                                          "suspend",      "switch",
                                          "template",     "test",
                                          "this",         "throw",
                                          "trait",        "true",
                                          "try",          "type",
                                          "typedef",      "typeof",
                                          "undefined",    "union",
                                          "unload",       "unreachable",
                                          "unsafe",       "unsigned",
                                          "unsized",      "use",
                                          "using",        "usingnamespace",
                                          "var",          "virtual",
                                          "void",         "volatile",
                                          "where",        "while",
                                          "yield",        "xor"};

template <class Visit>
void visit_types(const Wrapper& wrapper, Visit&& visit) {
  for (const WrapStructure& structure : wrapper.structures) {
    for (const WrapMember& member : structure.members) visit(member.type);
  }
  for (const WrapKernel& kernel : wrapper.kernels) {
    for (const WrapParam& param : kernel.params) visit(param.type);
  }
}

const char* vector_stem(km_element_type type) {
  switch (type) {
    case KM_ELEMENT_TYPE_I8:
      return "char";
    case KM_ELEMENT_TYPE_U8:
      return "uchar";
    case KM_ELEMENT_TYPE_I16:
      return "short";
    case KM_ELEMENT_TYPE_U16:
      return "ushort";
    case KM_ELEMENT_TYPE_I32:
      return "int";
    case KM_ELEMENT_TYPE_U32:
      return "uint";
    case KM_ELEMENT_TYPE_I64:
      return "longlong";
    case KM_ELEMENT_TYPE_U64:
      return "ulonglong";
    case KM_ELEMENT_TYPE_F16:
      return "half";
    case KM_ELEMENT_TYPE_BF16:
      return "bfloat";
    case KM_ELEMENT_TYPE_F64:
      return "double";
    default:
      return "float";
  }
}

}  // namespace

std::string banner(const Wrapper& wrapper, std::string_view mark) {
  const std::string start(mark);
  // Names are made printable, because a line break in a file's name or a macro would end the
  // comment.
  return start + " Generated by `" + printable_name(wrapper.command) + "`.\n" + start +
         " Changes go into the source of the kernels; this file is made again from it.\n";
}

std::string declaration(const WrapKernel& kernel) {
  std::string text = kernel.cuda_name + "(";
  for (const WrapParam& param : kernel.params) {
    text += (text.back() == '(' ? "" : ", ") + param.cuda_text + " " + param.name;
  }
  // A template's arguments must not end the comment either.
  text = printable_name(text + ")");
  for (size_t at = text.find("*/"); at != std::string::npos; at = text.find("*/", at)) {
    text.insert(at + 1, " ");
  }
  return text;
}

std::string safe_name(const std::string& name) {
  const bool is_reserved =
      std::find(std::begin(kReserved), std::end(kReserved), name) != std::end(kReserved);
  return is_reserved || name == "_" ? name + "_" : name;
}

std::string camel_name(const std::string& name) {
  std::string camel;
  bool is_start = true;
  for (const char letter : name) {
    if (letter == '_') {
      is_start = true;
      continue;
    }
    const auto byte = static_cast<unsigned char>(letter);
    camel += static_cast<char>(is_start ? std::toupper(byte) : byte);
    is_start = false;
  }
  if (camel.empty() || std::isdigit(static_cast<unsigned char>(camel[0])) != 0) camel = "X" + camel;
  return camel;
}

bool uses_scalar(const Wrapper& wrapper, km_element_type type) {
  bool found = false;
  visit_types(wrapper, [&](const WrapType& each) {
    found |= each.kind == WrapType::Kind::scalar && each.scalar == type;
  });
  return found;
}

bool is_same(const WrapType& left, const WrapType& right) {
  return left.kind == right.kind && left.scalar == right.scalar && left.lanes == right.lanes &&
         left.structure == right.structure;
}

std::vector<WrapType> vectors_of(const Wrapper& wrapper) {
  std::vector<WrapType> found;
  visit_types(wrapper, [&](const WrapType& each) {
    if (each.kind != WrapType::Kind::scalar || each.lanes < 2) return;
    const bool is_known = std::any_of(found.begin(), found.end(),
                                      [&](const WrapType& other) { return is_same(each, other); });
    if (!is_known) found.push_back(each);
  });
  return found;
}

std::string vector_name(const WrapType& type) {
  return vector_stem(type.scalar) + decimal(type.lanes);
}

std::vector<WrapType> element_types(const Wrapper& wrapper) {
  std::vector<WrapType> found;
  for (const WrapKernel& kernel : wrapper.kernels) {
    for (const WrapParam& param : kernel.params) {
      if (!param.is_pointer || param.type.kind == WrapType::Kind::any) continue;
      const bool is_known = std::any_of(found.begin(), found.end(), [&](const WrapType& other) {
        return is_same(param.type, other);
      });
      if (!is_known) found.push_back(param.type);
    }
  }
  return found;
}

SliceType slice_type_of(const Wrapper& wrapper, const WrapType& type) {
  constexpr const char* kNames[KM_ELEMENT_TYPE_F8_E5M2 + 1] = {
      "",    "",    "",    "POINTER", "BOOL", "CHAR", "I8",   "U8",  "I16", "U16",     "I32",
      "U32", "I64", "U64", "I128",    "U128", "F16",  "BF16", "F32", "F64", "F8_E4M3", "F8_E5M2"};
  switch (type.kind) {
    case WrapType::Kind::structure: {
      constexpr size_t kMaxNameBytes = 4095;  // the limit of km_slice_set_element_type
      const std::string& name = wrapper.structures[type.structure].signature_name;
      return name.empty() || name.size() > kMaxNameBytes ? SliceType()
                                                         : SliceType{"NAMED", 1, name};
    }
    case WrapType::Kind::scalar:
      return {kNames[type.scalar], type.lanes, ""};
    case WrapType::Kind::address:
      return {"POINTER", 1, ""};
    default:
      return {};
  }
}

std::string without_tabs(const std::string& text) {
  std::string plain;
  for (const char letter : text)
    plain += letter == '\t' ? std::string("  ") : std::string(1, letter);
  return plain;
}

std::string byte_lines(const std::string& bytes, std::string_view indent) {
  constexpr size_t kPerLine = 20;
  std::string text;
  for (size_t i = 0; i < bytes.size(); ++i) {
    if (i % kPerLine == 0) text += (i == 0 ? "" : "\n") + std::string(indent);
    text += decimal(static_cast<unsigned char>(bytes[i])) + ",";
  }
  return text;
}

std::string byte_escapes(const std::string& bytes, std::string_view line_end) {
  constexpr size_t kPerLine = 20;
  constexpr const char* kDigits = "0123456789abcdef";
  std::string text;
  for (size_t i = 0; i < bytes.size(); ++i) {
    if (i % kPerLine == 0 && i != 0) text += line_end;
    const auto byte = static_cast<unsigned char>(bytes[i]);
    text += {'\\', 'x', kDigits[byte >> 4], kDigits[byte & 15]};
  }
  return text;
}

uint64_t vector_align(const WrapType& type) {
  const uint64_t lane = type.size_bytes / type.lanes;
  return std::min<uint64_t>(type.lanes == 3 ? lane : type.size_bytes, 16);
}

}  // namespace km::tools
