// Initial values of variables: numbers, nested lists, addresses.
#include <bit>

#include "ptx/names.h"
#include "ptx/parser/parser.h"

namespace km::ptx {
namespace {

/// Initial data that is no longer than this is always accepted; beyond it must be in proportion
/// to the text, so that a few brackets cannot ask for all memory.
constexpr uint64_t kFreeDataBytes = uint64_t{64} << 20;
constexpr uint64_t kDataBytesPerTextByte = 16;

bool is_byte_mask(uint64_t mask) {
  constexpr uint64_t kByte = 0xff;
  return mask != 0 && std::countr_zero(mask) % 8 == 0 && mask >> std::countr_zero(mask) == kByte;
}

}  // namespace

Status Parser::parse_initialiser(Symbol& symbol, uint32_t function, SymbolId id) {
  Token at = token_;
  if (kind_of(symbol.type) == TypeKind::opaque) return skip_opaque_initialiser();
  if (symbol.space != Space::global && symbol.space != Space::constant) {
    return error_at(
        token_, "a variable in ." + std::string(text_of(symbol.space)) + " cannot be initialised");
  }
  if (symbol.type == Type::f16 || symbol.type == Type::f16x2) {
    return error_at(token_, "a variable of type ." + std::string(text_of(symbol.type)) +
                                " cannot be initialised: declare it .b" +
                                std::to_string(size_bits(symbol.type)));
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
  if (dimensions.empty()) {
    KM_TRY(parse_initialiser_value(state, 0));
  } else {
    KM_TRY(parse_initialiser_list(state, 0, 0));
  }
  if (!symbol.unsized) return {};
  if (state.written_end == 0) return error_at(at, "an array without a size needs initial values");
  const uint64_t row = state.extents[1];
  symbol.dimensions[0] = (state.written_end + row - 1) / row;
  symbol.unsized = false;
  return set_size(symbol, at);
}

/// Reads `{...}` of one dimension, whose first element is number `begin`: values, or the braces of
/// the next dimension. What is left out at the end is zero, but for components of a vector.
Status Parser::parse_initialiser_list(Initialiser& state, size_t level, uint64_t begin) {
  Token open = token_;
  const size_t levels = state.extents.size() - 1;
  const bool is_vector = level + 1 == levels && state.symbol->vector_count > 1;
  KM_TRY(expect('{', is_vector ? "to initialise a vector" : "to initialise an array"));
  const uint64_t extent = state.extents[level], step = state.extents[level + 1];
  uint64_t used = 0;
  while (!token_.is('}')) {
    if (used >= extent || step > extent - used) {
      return error_at(token_, "more initial values than elements");
    }
    if (level + 1 < levels) {
      KM_TRY(parse_initialiser_list(state, level + 1, begin + used));
    } else {
      KM_TRY(parse_initialiser_value(state, begin + used));
    }
    used += step;
    state.written_end = std::max(state.written_end, begin + used);
    if (!accept(',')) break;
    if (token_.is('}')) return unexpected("a value after ','");
  }
  if (is_vector && used != extent) {
    return error_at(open, "a vector of " + std::to_string(extent) +
                              " needs as many values, found " + std::to_string(used));
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
    if (!is_byte_mask(value.bits)) {
      return error_at(at, "a mask selects one byte: 0xFF, 0xFF00 and so on up to 0xFF << 56");
    }
    advance();
    KM_TRY(parse_address_value(state, offset, value.bits));
    return expect(')', "after the address");
  }
  const bool takes_float = is_float(type) || type == Type::b32 || type == Type::b64;
  if (value.is_float() != is_float(type) && !(value.is_float() && takes_float)) {
    return error_at(at, std::string(value.is_float() ? "a floating-point value"
                                                     : "an integer (write 1.0 or 0f3F800000)") +
                            " cannot initialise a variable of type ." + std::string(text_of(type)));
  }
  auto bits = bits_as(value, type);
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
  const Type type = state.symbol->type;
  relocation.size_bytes = static_cast<uint8_t>(size_bytes(type));
  if (name.text == "generic" && accept('(')) {
    relocation.generic = true;
    KM_ASSIGN(name, take_identifier("the name of a variable"));
    KM_TRY(expect(')', "after 'generic(' and a name"));
  }
  KM_ASSIGN(relocation.symbol, find_addressable(name, state, relocation.generic));
  if (module_->symbols[relocation.symbol].is_function && token_.is('+')) {
    return error_at(token_, "nothing can be added to the address of a function");
  }
  KM_ASSIGN(relocation.addend, parse_offset());
  const bool byte = type == Type::u8 && mask != UINT64_MAX;
  if (type != Type::u32 && type != Type::u64 && !byte) {
    return error_at(at, "a variable of type ." + std::string(text_of(type)) +
                            " cannot hold an address: declare it .u64, or .u8 for single bytes");
  }
  KM_TRY(reserve_data(state, at, offset + relocation.size_bytes));
  state.symbol->relocations.push_back(relocation);
  return {};
}

/// The variable or function whose address an initialiser holds: it must have been declared before.
Result<SymbolId> Parser::find_addressable(const Token& name, const Initialiser& state,
                                          bool generic) const {
  const auto known = module_names_.find(name.text);
  const bool itself =
      known != module_names_.end() && state.function == kNone && known->second == state.symbol_id;
  if (known == module_names_.end() || itself) {
    return error_at(name, itself ? quote(name.text) + " cannot hold its own address"
                                 : "undefined name " + quote(name.text) +
                                       " in an initialiser: it must be declared before");
  }
  const Symbol& symbol = module_->symbols[known->second];
  if (symbol.is_function && generic) {
    return error_at(name, "generic() takes a variable, " + quote(name.text) + " is a function");
  }
  const bool in_memory =
      symbol.is_function || symbol.space == Space::global || symbol.space == Space::constant;
  if (!in_memory) {
    return error_at(name,
                    "an initialiser holds addresses of functions and of variables in .global "
                    "and .const, " +
                        quote(name.text) + " is in ." + std::string(text_of(symbol.space)));
  }
  return known->second;
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
