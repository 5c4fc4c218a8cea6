// Scalars and vectors of CUDA C++ and their names.
#include <algorithm>
#include <charconv>

#include "compile/signature/signature.h"

namespace km {
namespace {

struct Scalar {
  km_element_type type;
  uint32_t size_bytes;
  const char* name;    // name of the scalar
  const char* vector;  // name of a vector without its number; null: no vectors
};

constexpr Scalar kScalars[] = {
    {KM_ELEMENT_TYPE_VOID, 0, "void", nullptr},
    {KM_ELEMENT_TYPE_BOOL, 1, "bool", nullptr},
    {KM_ELEMENT_TYPE_CHAR, 1, "char", nullptr},
    {KM_ELEMENT_TYPE_I8, 1, "signed char", "char"},
    {KM_ELEMENT_TYPE_U8, 1, "unsigned char", "uchar"},
    {KM_ELEMENT_TYPE_I16, 2, "short", "short"},
    {KM_ELEMENT_TYPE_U16, 2, "unsigned short", "ushort"},
    {KM_ELEMENT_TYPE_I32, 4, "int", "int"},
    {KM_ELEMENT_TYPE_U32, 4, "unsigned int", "uint"},
    {KM_ELEMENT_TYPE_I64, 8, "long long", "longlong"},
    {KM_ELEMENT_TYPE_U64, 8, "unsigned long long", "ulonglong"},
    {KM_ELEMENT_TYPE_I128, 16, "__int128", nullptr},
    {KM_ELEMENT_TYPE_U128, 16, "unsigned __int128", nullptr},
    {KM_ELEMENT_TYPE_F16, 2, "__half", nullptr},
    {KM_ELEMENT_TYPE_BF16, 2, "__nv_bfloat16", nullptr},
    {KM_ELEMENT_TYPE_F32, 4, "float", "float"},
    {KM_ELEMENT_TYPE_F64, 8, "double", "double"},
    {KM_ELEMENT_TYPE_F8_E4M3, 1, "__nv_fp8_e4m3", nullptr},
    {KM_ELEMENT_TYPE_F8_E5M2, 1, "__nv_fp8_e5m2", nullptr},
    {KM_ELEMENT_TYPE_POINTER, 8, "void*", nullptr},
};

/// Other names of the same types.
struct Synonym {
  std::string_view name;
  km_element_type type;
  uint32_t lanes;
};
constexpr Synonym kSynonyms[] = {
    {"long", KM_ELEMENT_TYPE_I64, 1},
    {"unsigned long", KM_ELEMENT_TYPE_U64, 1},
    {"wchar_t", KM_ELEMENT_TYPE_I32, 1},
    {"char8_t", KM_ELEMENT_TYPE_U8, 1},
    {"char16_t", KM_ELEMENT_TYPE_U16, 1},
    {"char32_t", KM_ELEMENT_TYPE_U32, 1},
    {"__half2", KM_ELEMENT_TYPE_F16, 2},
    {"__nv_bfloat162", KM_ELEMENT_TYPE_BF16, 2},
    {"std::nullptr_t", KM_ELEMENT_TYPE_POINTER, 1},
};

const Scalar* find_scalar(km_element_type type) {
  const auto* const found = std::find_if(std::begin(kScalars), std::end(kScalars),
                                         [&](const Scalar& each) { return each.type == type; });
  return found == std::end(kScalars) ? nullptr : found;
}

/// The vector type of a name such as "ulonglong3"; `long` has the size of `long long`.
const Scalar* find_vector(std::string_view stem) {
  if (stem == "long") stem = "longlong";
  if (stem == "ulong") stem = "ulonglong";
  const auto* const found = std::find_if(
      std::begin(kScalars), std::end(kScalars),
      [&](const Scalar& each) { return each.vector != nullptr && stem == each.vector; });
  return found == std::end(kScalars) ? nullptr : found;
}

}  // namespace

uint64_t ElementType::size_bytes() const {
  const Scalar* const scalar = find_scalar(type);
  return scalar == nullptr ? 0 : uint64_t{scalar->size_bytes} * lanes;
}

uint64_t element_size_bytes(km_element_type type, uint32_t lanes) {
  const Scalar* const scalar = find_scalar(type);
  if (scalar == nullptr || lanes == 0 || lanes > kMaxLanes) return 0;
  const bool is_pair = lanes == 2 && (type == KM_ELEMENT_TYPE_F16 || type == KM_ELEMENT_TYPE_BF16);
  const bool exists = lanes == 1 || scalar->vector != nullptr || is_pair;
  return exists ? uint64_t{scalar->size_bytes} * lanes : 0;
}

ElementType element_of(km_element_type type, uint32_t lanes) {
  const Scalar* const scalar = find_scalar(type);
  if (scalar == nullptr || lanes == 0 || lanes > kMaxLanes) return {};
  if (lanes == 1) return {type, 1, scalar->name};
  if (scalar->vector != nullptr) return {type, lanes, scalar->vector + std::to_string(lanes)};
  if (lanes == 2 && type == KM_ELEMENT_TYPE_F16) return {type, 2, "__half2"};
  if (lanes == 2 && type == KM_ELEMENT_TYPE_BF16) return {type, 2, "__nv_bfloat162"};
  return {};
}

ElementType element_named(std::string_view name) {
  for (const Synonym& synonym : kSynonyms) {
    if (synonym.name == name) return {synonym.type, synonym.lanes, std::string(name)};
  }
  for (const Scalar& scalar : kScalars) {
    if (name == scalar.name) return {scalar.type, 1, std::string(name)};
  }
  if (!name.empty() && name.back() >= '1' && name.back() <= '4') {
    const auto lanes = static_cast<uint32_t>(name.back() - '0');
    const Scalar* const scalar = find_vector(name.substr(0, name.size() - 1));
    if (scalar != nullptr) return {scalar->type, lanes, std::string(name)};
  }
  return {KM_ELEMENT_TYPE_NAMED, 1, std::string(name)};
}

std::string ParamType::text() const {
  if (kind == KM_SIGNATURE_KIND_UNKNOWN) return "unknown";
  const std::string name = element.type == KM_ELEMENT_TYPE_UNKNOWN ? "unknown" : element.name;
  if (kind == KM_SIGNATURE_KIND_VALUE) return name;
  return (is_const ? "const " : "") + name + '*';
}

}  // namespace km
