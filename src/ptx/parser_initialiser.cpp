// Initial values of variables: numbers, nested lists, addresses.
#include <bit>

#include "ptx/names.h"
#include "ptx/parser.h"

namespace km::ptx {
namespace {

/// Initial data that is no longer than this is always accepted; beyond it must be in proportion
/// to the text, so that a few brackets cannot ask for all memory.
constexpr uint64_t kFreeDataBytes = uint64_t{64} << 20;
constexpr uint64_t kDataBytesPerTextByte = 16;

}  // namespace

Status Parser::parse_initialiser(Symbol& symbol, uint32_t function, SymbolId id) {
  Token at = token_;
  if (kind_of(symbol.type) == TypeKind::opaque) return skip_opaque_initialiser();
  if (symbol.space == Space::shared || symbol.space == Space::local) {
    return error_at(
        token_, "a variable in ." + std::string(text_of(symbol.space)) + " cannot be initialised");
  }
  Initialiser state;
  state.symbol = &symbol;
  state.function = function;
  state.symbol_id = id;
  std::vector<uint64_t> dimensions = symbol.dimensions;
  if (symbol.vector_count > 1) dimensions.push_back(symbol.vector_count);
  state.extents.assign(dimensions.size() + 1, 1);
  for (size_t i = dimensions.size(); i-- > 0;) {
    bool open = i == 0 && symbol.unsized;
    state.extents[i] = open ? UINT64_MAX : state.extents[i + 1] * dimensions[i];
  }
  if (token_.is('{')) {
    KM_TRY(parse_initialiser_list(state, 0, 0));
  } else {
    if (!dimensions.empty()) return unexpected("'{' to initialise an array");
    KM_TRY(parse_initialiser_value(state, 0));
  }
  if (symbol.unsized) {
    uint64_t row = dimensions.size() > 1 ? state.extents[1] : 1;
    if (row == 0) return unexpected("elements of some size");
    symbol.dimensions[0] = (state.written_end + row - 1) / row;
    symbol.unsized = false;
    KM_TRY(set_size(symbol, at));
  }
  return {};
}

/// Reads `{...}` whose first element is number `begin`; `level` counts the braces around it.
Status Parser::parse_initialiser_list(Initialiser& state, size_t level, uint64_t begin) {
  Token open = token_;
  KM_TRY(expect('{', "to open an initialiser"));
  if (level >= state.extents.size()) {
    return error_at(open, "more nested braces than dimensions");
  }
  uint64_t extent = state.extents[level], used = 0;
  uint64_t inner = level + 1 < state.extents.size() ? state.extents[level + 1] : 1;
  while (!token_.is('}')) {
    Token at = token_;
    bool nested = token_.is('{');
    uint64_t step = nested ? inner : 1;
    if (nested && inner != 0 && used % inner != 0) used += inner - used % inner;
    if (used >= extent || step > extent - used) {
      return error_at(at, "more initial values than elements");
    }
    if (nested) {
      KM_TRY(parse_initialiser_list(state, level + 1, begin + used));
    } else {
      KM_TRY(parse_initialiser_value(state, begin + used));
    }
    used += step;
    state.written_end = std::max(state.written_end, begin + used);
    if (!accept(',')) break;
  }
  return expect('}', "to close an initialiser");
}

Status Parser::parse_initialiser_value(Initialiser& state, uint64_t element) {
  Type type = state.symbol->type;
  uint64_t offset = element * size_bytes(type);
  Token at = token_;
  bool name = at.kind == Token::Kind::identifier && at.text != "WARP_SZ";
  if (name) return parse_address_value(state, offset, UINT64_MAX);
  KM_ASSIGN(Constant value, parse_constant());
  if (token_.is('(') && !value.is_float()) {  // 0xFF00(symbol)
    advance();
    KM_TRY(parse_address_value(state, offset, value.bits));
    return expect(')', "after the address");
  }
  auto bits = bits_as(value, type);
  if (!bits && is_float(type) && !value.is_float()) {
    // An initialiser converts as C does; an instruction's operand does not.
    auto raw = std::bit_cast<uint64_t>(value.as_double());
    bits = bits_as({Constant::Kind::f64, raw}, type);
  }
  if (!bits && value.is_float() && !is_float(type)) {
    return error_at(at, "a floating-point value cannot initialise a variable of type ." +
                            std::string(text_of(type)));
  }
  if (!bits) return error_at(at, "no value of type ." + std::string(text_of(type)));
  return store_bits(state, at, offset, *bits);
}

/// `symbol`, `symbol+8`, `generic(symbol)+8`.
Status Parser::parse_address_value(Initialiser& state, uint64_t offset, uint64_t mask) {
  Token at = token_;
  KM_ASSIGN(Token name, take_identifier("the name of a variable or function"));
  Relocation relocation;
  relocation.offset = offset;
  relocation.mask = mask;
  relocation.size_bytes = static_cast<uint8_t>(size_bytes(state.symbol->type));
  if (name.text == "generic" && accept('(')) {
    relocation.generic = true;
    KM_ASSIGN(name, take_identifier("the name of a variable"));
    KM_ASSIGN(relocation.addend, parse_offset());
    KM_TRY(expect(')', "after 'generic(' and a name"));
  }
  KM_ASSIGN(int64_t addend, parse_offset());
  auto sum = static_cast<uint64_t>(relocation.addend) + static_cast<uint64_t>(addend);
  relocation.addend = static_cast<int64_t>(sum);
  bool whole = mask == UINT64_MAX;
  TypeKind kind = kind_of(state.symbol->type);
  bool integer = kind != TypeKind::floating && kind != TypeKind::predicate;
  if (!integer || (whole && relocation.size_bytes * 8u < module_->address_size_bits)) {
    return error_at(at, "a variable of type ." + std::string(text_of(state.symbol->type)) +
                            " cannot hold an address");
  }
  KM_TRY(reserve_data(state, at, offset + relocation.size_bytes));
  PendingRelocation pending;
  pending.token = name;
  pending.function = state.function;
  pending.symbol = state.symbol_id;
  pending.relocation = static_cast<uint32_t>(state.symbol->relocations.size());
  relocations_.push_back(pending);
  state.symbol->relocations.push_back(relocation);
  return {};
}

Status Parser::reserve_data(Initialiser& state, const Token& token, uint64_t end) {
  if (end > kFreeDataBytes + kDataBytesPerTextByte * text_.size()) {
    return error_at(token, "this initial value lies too far behind the ones before it");
  }
  std::vector<uint8_t>& data = state.symbol->data;
  if (data.size() < end) data.resize(end);
  return {};
}

Status Parser::store_bits(Initialiser& state, const Token& token, uint64_t offset, uint64_t bits) {
  uint32_t bytes = size_bytes(state.symbol->type);
  KM_TRY(reserve_data(state, token, offset + bytes));
  for (uint32_t i = 0; i < std::min(bytes, 8u); ++i) {
    state.symbol->data[offset + i] = static_cast<uint8_t>(bits >> (8 * i));
  }
  return {};
}

/// `{ filter_mode = nearest, ... }` of samplers: the engine has its own defaults.
Status Parser::skip_opaque_initialiser() {
  Token open = token_;
  if (!token_.is('{')) return unexpected("'{'");
  if (!lexer_.skip_block()) return error_at(open, "this initialiser has no end");
  advance();
  return {};
}

}  // namespace km::ptx
