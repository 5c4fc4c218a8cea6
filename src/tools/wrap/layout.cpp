#include "tools/wrap/layout.h"

#include <algorithm>
#include <iterator>

#include "base/text.h"
#include "tools/wrap/emit.h"
#include "tools/wrap/inspect.h"

namespace km::tools {
namespace {

/// Limits nested structures, which damaged entries can make cyclic.
constexpr int kMaxDepth = 32;

/// Fills the gap up to `end` with an array of bytes.
void fill_gap(uint64_t end, WrapStructure* structure) {
  uint64_t used = 0;
  if (!structure->members.empty()) {
    const WrapMember& last = structure->members.back();
    used = last.offset_bytes + last.size_bytes();
  }
  if (used >= end) return;
  WrapMember gap;
  gap.name = "padding" + std::to_string(used);
  gap.type.kind = WrapType::Kind::scalar;
  gap.type.scalar = KM_ELEMENT_TYPE_U8;
  gap.type.size_bytes = 1;
  gap.offset_bytes = used;
  gap.counts = {end - used};
  structure->members.push_back(gap);
}

/// Represents a structure whose members cannot be named individually (bit fields, unions) as an
/// array of words.
void make_opaque(WrapStructure* structure) {
  structure->members.clear();
  const bool has_words = structure->size_bytes % 4 == 0;
  WrapMember all;
  all.name = "data";
  all.type.kind = WrapType::Kind::scalar;
  all.type.scalar = has_words ? KM_ELEMENT_TYPE_U32 : KM_ELEMENT_TYPE_U8;
  all.type.size_bytes = has_words ? 4 : 1;
  structure->align_bytes = all.type.size_bytes;
  all.counts = {structure->size_bytes / all.type.size_bytes};
  structure->members.push_back(all);
}

/// The compiler's types that the debug information shows as structures.
struct BuiltIn {
  std::string_view stem;
  km_element_type type;
  uint64_t size_bytes;  // size of one lane
  bool is_whole;        // the stem is the whole name; false: a number of lanes follows
};
constexpr BuiltIn kBuiltIns[] = {
    {"__half", KM_ELEMENT_TYPE_F16, 2, true},
    {"__half2", KM_ELEMENT_TYPE_F16, 2, true},
    {"__nv_bfloat16", KM_ELEMENT_TYPE_BF16, 2, true},
    {"__nv_bfloat162", KM_ELEMENT_TYPE_BF16, 2, true},
    {"__nv_fp8_e4m3", KM_ELEMENT_TYPE_F8_E4M3, 1, true},
    {"__nv_fp8_e5m2", KM_ELEMENT_TYPE_F8_E5M2, 1, true},
    {"char", KM_ELEMENT_TYPE_I8, 1, false},
    {"uchar", KM_ELEMENT_TYPE_U8, 1, false},
    {"short", KM_ELEMENT_TYPE_I16, 2, false},
    {"ushort", KM_ELEMENT_TYPE_U16, 2, false},
    {"int", KM_ELEMENT_TYPE_I32, 4, false},
    {"uint", KM_ELEMENT_TYPE_U32, 4, false},
    {"long", KM_ELEMENT_TYPE_I64, 8, false},
    {"ulong", KM_ELEMENT_TYPE_U64, 8, false},
    {"longlong", KM_ELEMENT_TYPE_I64, 8, false},
    {"ulonglong", KM_ELEMENT_TYPE_U64, 8, false},
    {"float", KM_ELEMENT_TYPE_F32, 4, false},
    {"double", KM_ELEMENT_TYPE_F64, 8, false},
};

/// The built-in type for a structure's name and size; a type of size 0 if there is none.
WrapType built_in(std::string_view name, uint64_t size_bytes) {
  for (const BuiltIn& each : kBuiltIns) {
    const uint64_t lanes = size_bytes / each.size_bytes;
    const bool is_named = each.is_whole ? name == each.stem
                                        : name.starts_with(each.stem) && lanes <= 4 &&
                                              name.substr(each.stem.size()) == decimal(lanes);
    if (is_named && lanes != 0 && lanes * each.size_bytes == size_bytes) {
      return {WrapType::Kind::scalar, each.type, static_cast<uint32_t>(lanes), 0, size_bytes};
    }
  }
  return {};
}

/// Names that wrappers declare themselves in languages whose names start with capitals.
constexpr std::string_view kOwnNames[] = {"Kernels", "PTX",    "Ptx",    "Object", "OBJECT",
                                          "Load",    "Half",   "Bf16",   "Bool",   "BFloat16",
                                          "F8E4M3",  "F8E5M2", "Module", "Error"};

uint64_t align_of(const WrapType& type, const std::vector<WrapStructure>& structures) {
  switch (type.kind) {
    case WrapType::Kind::structure:
      return structures[type.structure].align_bytes;
    case WrapType::Kind::scalar:
      return std::max<uint64_t>(1, vector_align(type));
    case WrapType::Kind::address:
      return 8;
    default:
      return 1;
  }
}

}  // namespace

uint64_t Layouts::plain(uint64_t offset) const {
  for (int depth = 0; depth < kMaxDepth; ++depth) {
    const DebugEntry* const entry = info_.entry(offset);
    if (entry == nullptr) return 0;
    if (entry->tag != kTagTypedef && entry->tag != kTagConst && entry->tag != kTagVolatile &&
        entry->tag != kTagRestrict) {
      return offset;
    }
    offset = entry->type;
  }
  return 0;
}

uint64_t Layouts::target_of(uint64_t offset) const {
  offset = plain(offset);
  const DebugEntry* const entry = info_.entry(offset);
  if (entry == nullptr) return 0;
  const bool is_pointer = entry->tag == kTagPointer || entry->tag == kTagReference;
  return is_pointer ? plain(entry->type) : offset;
}

WrapType Layouts::base_type(const DebugEntry& entry) const {
  WrapType type;
  type.kind = WrapType::Kind::scalar;
  type.size_bytes = entry.size_bytes;
  const bool is_signed = entry.encoding == kEncodingSigned || entry.encoding == kEncodingSignedChar;
  switch (entry.size_bytes) {
    case 1:
      type.scalar = is_signed ? KM_ELEMENT_TYPE_I8 : KM_ELEMENT_TYPE_U8;
      break;
    case 2:
      type.scalar = is_signed ? KM_ELEMENT_TYPE_I16 : KM_ELEMENT_TYPE_U16;
      break;
    case 4:
      type.scalar = is_signed ? KM_ELEMENT_TYPE_I32 : KM_ELEMENT_TYPE_U32;
      break;
    case 8:
      type.scalar = is_signed ? KM_ELEMENT_TYPE_I64 : KM_ELEMENT_TYPE_U64;
      break;
    default:
      type.kind = WrapType::Kind::bytes;
      break;
  }
  if (entry.encoding == kEncodingFloat && entry.size_bytes == 4) type.scalar = KM_ELEMENT_TYPE_F32;
  if (entry.encoding == kEncodingFloat && entry.size_bytes == 8) type.scalar = KM_ELEMENT_TYPE_F64;
  return type;
}

std::string Layouts::unused_name(const std::string& cuda_name) const {
  std::string name = plain_name(cuda_name);
  const auto is_used = [&](const std::string& each) {
    const std::string camel = camel_name(each);
    if (std::find(std::begin(kOwnNames), std::end(kOwnNames), camel) != std::end(kOwnNames)) {
      return true;
    }
    return std::any_of(structures_->begin(), structures_->end(),
                       [&](const WrapStructure& other) { return camel_name(other.name) == camel; });
  };
  if (!is_used(name)) return name;
  int number = 2;
  while (is_used(name + "_" + std::to_string(number))) ++number;
  return name + "_" + std::to_string(number);
}

WrapType Layouts::named(const std::string& cuda_name, uint64_t size_bytes) {
  WrapType type;
  type.kind = WrapType::Kind::structure;
  type.size_bytes = size_bytes;
  const auto found = known_names_.find(cuda_name);
  if (found != known_names_.end()) {
    type.structure = found->second;
    return type;
  }
  type.structure = structures_->size();
  known_names_[cuda_name] = type.structure;
  WrapStructure structure{cuda_name, unused_name(cuda_name), size_bytes, 1, "", {}};
  if (size_bytes != 0) make_opaque(&structure);
  structures_->push_back(structure);
  return type;
}

WrapType Layouts::enumeration(const std::string& cuda_name, const WrapType& number) {
  WrapType type = named(cuda_name, number.size_bytes);
  WrapStructure& made = (*structures_)[type.structure];
  made.align_bytes = number.size_bytes;
  made.members = {{"value", number, 0, {}}};
  return type;
}

WrapType Layouts::value(uint64_t offset, const std::string& cuda_name, uint64_t size_bytes) {
  const WrapType type = type_at(offset, cuda_name);
  return type.size_bytes != 0 ? type : named(cuda_name, size_bytes);
}

WrapType Layouts::pointed_to(uint64_t offset, const std::string& cuda_name) {
  WrapType type = type_at(offset, cuda_name);
  if (type.size_bytes == 0) {
    type = named(cuda_name, 0);
  } else if (type.kind != WrapType::Kind::structure) {
    type = enumeration(cuda_name, type);
  }
  (*structures_)[type.structure].signature_name = cuda_name;
  return type;
}

bool Layouts::read_member(const DebugEntry& entry, WrapMember* member) {
  if (entry.is_bit_field) return false;
  member->name = entry.tag == kTagInheritance ? "base" : plain_name(entry.name);
  member->offset_bytes = entry.offset_bytes;
  uint64_t offset = plain(entry.type);
  const DebugEntry* type = info_.entry(offset);
  for (int depth = 0; type != nullptr && type->tag == kTagArray && depth < kMaxDepth; ++depth) {
    for (const uint64_t child : type->children) {
      const DebugEntry* const range = info_.entry(child);
      if (range == nullptr || range->tag != kTagSubrange) continue;
      if (!range->has_count || range->count == 0 || range->count > UINT32_MAX) return false;
      member->counts.push_back(range->count);
    }
    offset = plain(type->type);
    type = info_.entry(offset);
  }
  if (type == nullptr) return false;
  member->type = type_at(offset, type->name);
  return member->type.size_bytes != 0;
}

bool Layouts::read_members(const DebugEntry& entry, WrapStructure* structure) {
  std::vector<WrapMember> members;
  for (const uint64_t child : entry.children) {
    const DebugEntry* const each = info_.entry(child);
    if (each == nullptr || (each->tag != kTagMember && each->tag != kTagInheritance)) continue;
    WrapMember member;
    if (!read_member(*each, &member)) return false;
    members.push_back(std::move(member));
  }
  std::stable_sort(members.begin(), members.end(), [](const auto& left, const auto& right) {
    return left.offset_bytes < right.offset_bytes;
  });
  uint64_t used = 0;
  for (WrapMember& member : members) {
    if (member.offset_bytes < used) return false;  // a union, or empty members at the same offset
    fill_gap(member.offset_bytes, structure);
    used = member.offset_bytes + member.size_bytes();
    structure->align_bytes = std::max(structure->align_bytes, align_of(member.type, *structures_));
    for (const WrapMember& other : structure->members) {
      if (camel_name(other.name) == camel_name(member.name)) {
        member.name += "_at" + std::to_string(member.offset_bytes);
      }
    }
    structure->members.push_back(std::move(member));
  }
  if (used > structure->size_bytes) return false;
  fill_gap(structure->size_bytes, structure);
  return true;
}

WrapType Layouts::structure(uint64_t offset, const DebugEntry& entry,
                            const std::string& cuda_name) {
  WrapType type;
  type.kind = WrapType::Kind::structure;
  type.size_bytes = entry.size_bytes;
  const auto found = known_.find(offset);
  if (found != known_.end()) {
    type.structure = found->second;
    return type;
  }
  // Members' types come first, so that a structure follows those that it contains.
  WrapStructure made{cuda_name, "", entry.size_bytes, 1, "", {}};
  if (entry.tag == kTagUnion || !read_members(entry, &made)) make_opaque(&made);
  made.name = unused_name(cuda_name);
  type.structure = structures_->size();
  known_[offset] = type.structure;
  known_names_.emplace(cuda_name, type.structure);
  structures_->push_back(std::move(made));
  return type;
}

WrapType Layouts::type_at(uint64_t offset, const std::string& cuda_name) {
  offset = plain(offset);
  const DebugEntry* const entry = info_.entry(offset);
  if (entry == nullptr) return {};
  switch (entry->tag) {
    case kTagBase:
      return base_type(*entry);
    case kTagEnumeration: {
      DebugEntry number = *entry;
      number.encoding = kEncodingSigned;
      return base_type(number);
    }
    case kTagPointer:
    case kTagReference:
      return {WrapType::Kind::address, KM_ELEMENT_TYPE_U64, 1, 0, 8};
    case kTagStructure:
    case kTagClass:
    case kTagUnion: {
      if (entry->size_bytes == 0) return {};
      const WrapType known = built_in(entry->name, entry->size_bytes);
      if (known.size_bytes != 0) return known;
      // Names in namespaces are mangled: "_ZN2ns1BE".
      std::string name = cuda_name.starts_with("_Z") ? source_name(cuda_name) : cuda_name;
      if (name.empty()) name = "Unnamed";
      return structure(offset, *entry, name);
    }
    default:
      return {};
  }
}

}  // namespace km::tools
