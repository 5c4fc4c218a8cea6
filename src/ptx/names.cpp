#include "ptx/names.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <unordered_map>

#include "ptx/ptx.h"

namespace km::ptx {
namespace {

struct TypeInfo {
  std::string_view text;
  uint32_t size_bits;
  TypeKind kind;
};

constexpr TypeInfo kTypes[] = {
    {"none", 0, TypeKind::none},
#define KM_PTX_TYPE(name, text, size_bits, kind) {text, size_bits, TypeKind::kind},
#include "ptx/types.def"
#undef KM_PTX_TYPE
};

constexpr std::string_view kOpcodes[] = {
#define KM_PTX_OPCODE(name, text) text,
#include "ptx/opcodes.def"
#undef KM_PTX_OPCODE
};

constexpr std::string_view kSpaces[] = {
#define KM_PTX_SPACE(name, text) text,
#define KM_PTX_SPACE_MODIFIER(modifier, space)
#include "ptx/spaces.def"
#undef KM_PTX_SPACE
#undef KM_PTX_SPACE_MODIFIER
};

constexpr std::string_view kModifiers[] = {
#define KM_PTX_MODIFIER(name, text) text,
#include "ptx/modifiers.def"
#undef KM_PTX_MODIFIER
};

constexpr SpecialRegisterInfo kSpecialRegisters[] = {
#define KM_PTX_SPECIAL_REGISTER(name, type, components, min_sm) \
  {#name, Type::type, components, min_sm},
#include "ptx/special_registers.def"
#undef KM_PTX_SPECIAL_REGISTER
};

constexpr std::string_view kDirectives[] = {"version",
                                            "target",
                                            "address_size",
                                            "file",
                                            "loc",
                                            "section",
                                            "extern",
                                            "visible",
                                            "weak",
                                            "common",
                                            "func",
                                            "entry",
                                            "global",
                                            "const",
                                            "shared",
                                            "local",
                                            "param",
                                            "reg",
                                            "align",
                                            "ptr",
                                            "maxntid",
                                            "reqntid",
                                            "maxnreg",
                                            "minnctapersm",
                                            "maxnctapersm",
                                            "pragma",
                                            "noreturn",
                                            "alias",
                                            "attribute",
                                            "branchtargets",
                                            "calltargets",
                                            "callprototype",
                                            "explicitcluster",
                                            "reqnctapercluster",
                                            "maxclusterrank",
                                            "tex",
                                            "blocksareclusters",
                                            "abi_preserve",
                                            "abi_preserve_control"};

template <class Value, class Table, class Text>
std::unordered_map<std::string_view, Value> index_of(const Table& table, Text text) {
  std::unordered_map<std::string_view, Value> map;
  uint32_t i = 0;
  for (const auto& row : table) map.emplace(text(row), static_cast<Value>(i++));
  return map;
}

template <class Map>
auto look_up(const Map& map, std::string_view text) -> std::optional<typename Map::mapped_type> {
  auto found = map.find(text);
  if (found == map.end()) return std::nullopt;
  return found->second;
}

constexpr auto kIdentity = [](std::string_view text) { return text; };

/// The edit distance without transpositions; words longer than 40 are never similar.
size_t distance(std::string_view a, std::string_view b) {
  constexpr size_t kLongest = 40;
  if (a.size() > kLongest || b.size() > kLongest) return kLongest;
  std::array<size_t, kLongest + 1> row{};
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      size_t change = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, change});
    }
  }
  return row[b.size()];
}

}  // namespace

TypeKind kind_of(Type type) { return kTypes[static_cast<size_t>(type)].kind; }
uint32_t size_bits(Type type) { return kTypes[static_cast<size_t>(type)].size_bits; }
std::string_view text_of(Type type) { return kTypes[static_cast<size_t>(type)].text; }
bool is_signed(Type type) { return kind_of(type) == TypeKind::signed_int; }
bool is_packed_integer(Type type) { return type == Type::u16x2 || type == Type::s16x2; }
bool is_integer(Type type) {
  const TypeKind kind = kind_of(type);
  const bool of_bits =
      kind == TypeKind::bits || kind == TypeKind::unsigned_int || kind == TypeKind::signed_int;
  return of_bits && !is_packed_integer(type);
}
bool is_float(Type type) { return kind_of(type) == TypeKind::floating; }

km_param_type param_type(const Symbol& symbol) {
  if (symbol.is_array) return KM_PARAM_TYPE_UNKNOWN;
  switch (kind_of(symbol.type)) {
    case TypeKind::unsigned_int:
    case TypeKind::signed_int:
      return KM_PARAM_TYPE_INTEGER;
    case TypeKind::floating:
      return KM_PARAM_TYPE_FLOAT;
    default:
      return KM_PARAM_TYPE_UNKNOWN;
  }
}

std::string_view text_of(Space space) { return kSpaces[static_cast<size_t>(space)]; }

std::string_view text_of(Opcode opcode) { return kOpcodes[static_cast<size_t>(opcode)]; }
std::string_view text_of(Modifier modifier) { return kModifiers[static_cast<size_t>(modifier)]; }
std::string_view text_of(SpecialRegister special) { return info_of(special).name; }

const SpecialRegisterInfo& info_of(SpecialRegister special) {
  return kSpecialRegisters[static_cast<size_t>(special)];
}

std::optional<Type> find_type(std::string_view text) {
  static const auto map = index_of<Type>(kTypes, [](const TypeInfo& info) { return info.text; });
  auto found = look_up(map, text);
  return found == Type::none ? std::nullopt : found;
}

std::optional<Modifier> find_modifier(std::string_view text) {
  static const auto map = index_of<Modifier>(kModifiers, kIdentity);
  return look_up(map, text);
}

std::optional<Opcode> find_opcode(std::string_view text) {
  static const auto map = index_of<Opcode>(kOpcodes, kIdentity);
  return look_up(map, text);
}

std::optional<SpecialRegister> find_special_register(std::string_view text) {
  static const auto map = index_of<SpecialRegister>(
      kSpecialRegisters, [](const SpecialRegisterInfo& info) { return info.name; });
  return look_up(map, text);
}

std::vector<Modifier> find_modifiers(std::string_view glob) {
  std::vector<Modifier> found;
  size_t star = glob.find('*');
  if (star == std::string_view::npos) {
    if (auto one = find_modifier(glob)) found.push_back(*one);
    return found;
  }
  std::string_view head = glob.substr(0, star), tail = glob.substr(star + 1);
  for (uint32_t i = 0; i < count::kModifiers; ++i) {
    std::string_view text = kModifiers[i];
    if (text.size() <= head.size() + tail.size()) continue;
    if (!text.starts_with(head) || !text.ends_with(tail)) continue;
    auto digits = text.substr(head.size(), text.size() - head.size() - tail.size());
    if (digits.find_first_not_of("0123456789") == std::string_view::npos) {
      found.push_back(static_cast<Modifier>(i));
    }
  }
  return found;
}

std::string suggest_among(std::string_view word, const std::vector<std::string_view>& candidates,
                          std::string_view prefix) {
  std::string_view best;
  size_t best_distance = 3;
  for (std::string_view candidate : candidates) {
    size_t d = distance(word, candidate);
    bool near = d < best_distance && d < std::max(candidate.size(), size_t{2});
    if (!near) continue;
    best_distance = d;
    best = candidate;
  }
  if (best.empty()) return "";
  return ", did you mean '" + std::string(prefix) + std::string(best) + "'?";
}

std::string suggest_opcode(std::string_view word) {
  return suggest_among(word, {std::begin(kOpcodes), std::end(kOpcodes)}, "");
}

std::string suggest_directive(std::string_view word) {
  return suggest_among(word, {std::begin(kDirectives), std::end(kDirectives)}, ".");
}

std::string suggest_special_register(std::string_view word) {
  std::vector<std::string_view> names;
  for (const SpecialRegisterInfo& info : kSpecialRegisters) names.push_back(info.name);
  return suggest_among(word, names, "%");
}

Type bits_type(uint32_t size) {
  switch (size) {
    case 8:
      return Type::b8;
    case 16:
      return Type::b16;
    case 32:
      return Type::b32;
    case 64:
      return Type::b64;
    case 128:
      return Type::b128;
    default:
      return Type::none;
  }
}

}  // namespace km::ptx
