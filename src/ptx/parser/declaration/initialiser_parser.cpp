#include "ptx/parser/declaration/initialiser_parser.h"

#include <algorithm>
#include <bit>
#include <string>

#include "ptx/names.h"
#include "ptx/parser/declaration/declaration_parser.h"

namespace km::ptx {
namespace {

/// Initial data up to this size is always accepted. Beyond it, the size must be in proportion to
/// the text, so that a few brackets cannot exhaust the memory.
constexpr uint64_t kFreeDataBytes = uint64_t{64} << 20;
constexpr uint64_t kDataBytesPerTextByte = 16;

bool is_byte_mask(uint64_t mask) {
  constexpr uint64_t kByte = 0xff;
  return mask != 0 && std::countr_zero(mask) % 8 == 0 && mask >> std::countr_zero(mask) == kByte;
}

}  // namespace

Status InitialiserParser::parse() {
  Token at = tokens_.current();
  if (kind_of(symbol_.type) == TypeKind::opaque) {  // the engine uses its own defaults
    if (!tokens_.at('{')) return tokens_.unexpected("'{'");
    return tokens_.skip_block("this initialiser has no end");
  }
  KM_TRY(check_symbol());
  set_extents();
  if (extents_.size() == 1) {
    KM_TRY(parse_value(0));
  } else {
    KM_TRY(parse_list(0, 0));
  }
  if (!symbol_.unsized) return {};
  if (written_end_ == 0) {
    return tokens_.error_at(at, "an array without a size needs initial values");
  }
  const uint64_t row = extents_[1];
  symbol_.dimensions[0] = (written_end_ + row - 1) / row;
  symbol_.unsized = false;
  return set_size(symbol_, at, tokens_);
}

Status InitialiserParser::check_symbol() const {
  if (symbol_.space != Space::global && symbol_.space != Space::constant) {
    return tokens_.error_here("a variable in ." + std::string(text_of(symbol_.space)) +
                              " cannot be initialised");
  }
  if (symbol_.type == Type::f16 || symbol_.type == Type::f16x2) {
    return tokens_.error_here("a variable of type ." + std::string(text_of(symbol_.type)) +
                              " cannot be initialised: declare it .b" +
                              std::to_string(size_bits(symbol_.type)));
  }
  return {};
}

void InitialiserParser::set_extents() {
  std::vector<uint64_t> dimensions = symbol_.dimensions;
  if (symbol_.vector_count > 1) dimensions.push_back(symbol_.vector_count);
  extents_.assign(dimensions.size() + 1, 1);
  for (size_t i = dimensions.size(); i-- > 0;) {
    bool open = i == 0 && symbol_.unsized;
    extents_[i] = open ? UINT64_MAX : extents_[i + 1] * dimensions[i];
  }
}

Status InitialiserParser::parse_list(size_t level, uint64_t begin) {
  Token open = tokens_.current();
  const size_t levels = extents_.size() - 1;
  const bool is_vector = level + 1 == levels && symbol_.vector_count > 1;
  KM_TRY(tokens_.expect('{', is_vector ? "to initialise a vector" : "to initialise an array"));
  const uint64_t extent = extents_[level], step = extents_[level + 1];
  uint64_t used = 0;
  while (!tokens_.at('}')) {
    if (used >= extent || step > extent - used) {
      return tokens_.error_here("more initial values than elements");
    }
    if (level + 1 < levels) {
      KM_TRY(parse_list(level + 1, begin + used));
    } else {
      KM_TRY(parse_value(begin + used));
    }
    used += step;
    written_end_ = std::max(written_end_, begin + used);
    if (!tokens_.accept(',')) break;
    if (tokens_.at('}')) return tokens_.unexpected("a value after ','");
  }
  if (is_vector && used != extent) {
    return tokens_.error_at(open, "a vector of " + std::to_string(extent) +
                                      " needs as many values, found " + std::to_string(used));
  }
  return tokens_.expect('}', "to close an initialiser");
}

Status InitialiserParser::parse_value(uint64_t element) {
  Type type = symbol_.type;
  uint64_t offset = element * size_bytes(type);
  Token at = tokens_.current();
  bool name = tokens_.at_name();
  if (name) return parse_address(offset, UINT64_MAX);
  KM_ASSIGN(Constant value, expressions_.parse_constant());
  if (tokens_.at('(') && !value.is_float()) {  // 0xFF00(symbol)
    if (!is_byte_mask(value.bits)) {
      return tokens_.error_at(at,
                              "a mask selects one byte: 0xFF, 0xFF00 and so on up to 0xFF << 56");
    }
    tokens_.advance();
    KM_TRY(parse_address(offset, value.bits));
    return tokens_.expect(')', "after the address");
  }
  const bool takes_float = is_float(type) || type == Type::b32 || type == Type::b64;
  if (value.is_float() != is_float(type) && !(value.is_float() && takes_float)) {
    return tokens_.error_at(
        at, std::string(value.is_float() ? "a floating-point value"
                                         : "an integer (write 1.0 or 0f3F800000)") +
                " cannot initialise a variable of type ." + std::string(text_of(type)));
  }
  auto bits = bits_as(value, type);
  if (!bits) return tokens_.error_at(at, "no value of type ." + std::string(text_of(type)));
  return store_bits(at, offset, *bits);
}

Status InitialiserParser::parse_address(uint64_t offset, uint64_t mask) {
  Token at = tokens_.current();
  KM_ASSIGN(Token name, tokens_.take_identifier("the name of a variable or function"));
  Relocation relocation;
  relocation.offset = offset;
  relocation.mask = mask;
  const Type type = symbol_.type;
  relocation.size_bytes = static_cast<uint8_t>(size_bytes(type));
  if (name.text == "generic" && tokens_.accept('(')) {
    relocation.generic = true;
    KM_ASSIGN(name, tokens_.take_identifier("the name of a variable"));
    KM_TRY(tokens_.expect(')', "after 'generic(' and a name"));
  }
  KM_ASSIGN(relocation.symbol, find_addressable(name, relocation.generic));
  if (module_.symbol(relocation.symbol).is_function && tokens_.at('+')) {
    return tokens_.error_here("nothing can be added to the address of a function");
  }
  KM_ASSIGN(relocation.addend, expressions_.parse_offset());
  const bool byte = type == Type::u8 && mask != UINT64_MAX;
  if (type != Type::u32 && type != Type::u64 && !byte) {
    return tokens_.error_at(
        at, "a variable of type ." + std::string(text_of(type)) +
                " cannot hold an address: declare it .u64, or .u8 for single bytes");
  }
  KM_TRY(reserve_data(at, offset + relocation.size_bytes));
  symbol_.relocations.push_back(relocation);
  return {};
}

Result<SymbolId> InitialiserParser::find_addressable(const Token& name, bool generic) const {
  const auto known = module_.find(name.text);
  const bool itself = known && *known == itself_;
  if (!known || itself) {
    return tokens_.error_at(name, itself ? quote(name.text) + " cannot hold its own address"
                                         : "undefined name " + quote(name.text) +
                                               " in an initialiser: it must be declared before");
  }
  const Symbol& symbol = module_.symbol(*known);
  if (symbol.is_function && generic) {
    return tokens_.error_at(name,
                            "generic() takes a variable, " + quote(name.text) + " is a function");
  }
  const bool in_memory =
      symbol.is_function || symbol.space == Space::global || symbol.space == Space::constant;
  if (!in_memory) {
    return tokens_.error_at(
        name,
        "an initialiser holds addresses of functions and of variables in .global "
        "and .const, " +
            quote(name.text) + " is in ." + std::string(text_of(symbol.space)));
  }
  return *known;
}

Status InitialiserParser::reserve_data(const Token& token, uint64_t end) {
  if (end > kFreeDataBytes + kDataBytesPerTextByte * tokens_.text_bytes()) {
    return tokens_.error_at(token, "this initial value lies too far behind the ones before it");
  }
  std::vector<uint8_t>& data = symbol_.data;
  if (data.size() < end) data.resize(end);
  return {};
}

Status InitialiserParser::store_bits(const Token& token, uint64_t offset, uint64_t bits) {
  uint32_t bytes = size_bytes(symbol_.type);
  KM_TRY(reserve_data(token, offset + bytes));
  for (uint32_t i = 0; i < std::min(bytes, 8u); ++i) {
    symbol_.data[offset + i] = static_cast<uint8_t>(bits >> (8 * i));
  }
  return {};
}

}  // namespace km::ptx
