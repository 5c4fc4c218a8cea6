#include "reference/inputs.h"

#include <map>

#include "reference/values.h"

namespace km::reference {
namespace {

using ptx::Type;

/// Zeros, ones, subnormals, limits, halves, integers' limits, infinities, NaNs, of both signs.
std::vector<uint64_t> real_corners(const Format& format) {
  std::vector<uint64_t> result;
  const uint64_t sign = sign_bit(format), step = uint64_t{1} << format.low_zeros;
  const uint64_t least_normal = step << format.fraction_bits;
  const uint64_t infinity = ((uint64_t{1} << format.exponent_bits) - 1) * least_normal;
  const auto number = [&](int64_t significand, int exponent) {
    Number value = from_integer(false, static_cast<Bits>(significand));
    value.exponent = exponent;
    return encode(format, value, Round::rn);
  };
  for (uint64_t word : {uint64_t{0},         step,
                        least_normal / 2,    least_normal - step,
                        least_normal,        least_normal + step,
                        infinity - step,     infinity,
                        infinity + step,     infinity + least_normal / 2,
                        sign - step,         number(1, 0),
                        number(1, 0) + step, number(1, 0) - step,
                        number(3, -1),       number(1, -1),
                        number(5, -1),       number(3, 0),
                        number(1, 31),       number(1, 32),
                        number(1, 63),       number(1, 64),
                        number(1, 7),        number(255, 0),
                        number(1, 15),       number(1, -24),
                        number(1, -25),      number(1, 16) - step,
                        number(1, 23),       number(1, 52)}) {
    result.push_back(word & (sign - 1));
    result.push_back((word & (sign - 1)) | sign);
  }
  return result;
}

std::vector<uint64_t> integer_corners(unsigned bits) {
  const uint64_t ones = static_cast<uint64_t>(low_mask(bits)), top = uint64_t{1} << (bits - 1);
  std::vector<uint64_t> result;
  for (uint64_t word : {uint64_t{0},
                        uint64_t{1},
                        uint64_t{2},
                        uint64_t{3},
                        uint64_t{7},
                        uint64_t{8},
                        uint64_t{15},
                        uint64_t{16},
                        uint64_t{24},
                        uint64_t{31},
                        uint64_t{32},
                        uint64_t{33},
                        uint64_t{63},
                        uint64_t{64},
                        uint64_t{65},
                        uint64_t{127},
                        uint64_t{128},
                        uint64_t{255},
                        uint64_t{256},
                        uint64_t{0x7fff},
                        uint64_t{0x8000},
                        uint64_t{0xffff},
                        uint64_t{0x10000},
                        uint64_t{0x7fffff},
                        uint64_t{0x800000},
                        ones / 3,
                        ones / 3 * 2,
                        top - 1,
                        top,
                        top + 1,
                        ones - 1,
                        ones}) {
    result.push_back(word & ones);
  }
  return result;
}

std::vector<uint64_t> packed_corners(const Format& format, Type type) {
  const unsigned place = ptx::size_bits(type) / element_count(type);
  const std::vector<uint64_t> single = real_corners(format);
  std::vector<uint64_t> result;
  for (size_t i = 0; i < single.size(); ++i) {
    result.push_back(single[i] << place | single[(i * 7 + 3) % single.size()]);
  }
  return result;
}

std::vector<uint64_t> make_corners(Type type) {
  if (type == Type::pred) return {0, 1};
  if (const Format* format = format_of(type)) {
    return is_packed(type) ? packed_corners(*format, type) : real_corners(*format);
  }
  return integer_corners(ptx::size_bits(type));
}

}  // namespace

const std::vector<uint64_t>& corners(Type type) {
  static std::map<Type, std::vector<uint64_t>> known;
  auto& list = known[type];
  if (list.empty()) list = make_corners(type);
  return list;
}

uint64_t any_value(Type type, Random& random) {
  const auto& list = corners(type);
  const uint64_t mask = static_cast<uint64_t>(low_mask(ptx::size_bits(type)));
  switch (random.below(4)) {
    case 0:
    case 1:
      return list[random.below(list.size())];
    case 2:
      return random.bits() & mask;
    default:
      // Small integers; for reals few bits of fraction, which meet and cancel.
      if (const Format* format = format_of(type); format && !is_packed(type)) {
        const uint64_t kept =
            format->width > 16 ? ~uint64_t{0} << (format->fraction_bits - 6) : mask;
        const uint64_t near_one = encode(*format, from_integer(false, 1), Round::rn);
        const uint64_t spread = random.below(24) << (format->fraction_bits + format->low_zeros);
        const uint64_t fraction =
            random.bits() & ((uint64_t{1} << format->fraction_bits) - 1) & kept;
        const uint64_t sign = random.below(2) ? sign_bit(*format) : 0;
        return ((near_one + spread / 2 + fraction) & (sign_bit(*format) - 1)) | sign;
      }
      return (random.bits() >> random.below(ptx::size_bits(type) < 64 ? 64 : 63)) & mask;
  }
}

std::vector<std::vector<uint64_t>> input_columns(const std::vector<Type>& types, uint64_t count,
                                                 uint64_t seed) {
  std::vector<std::vector<uint64_t>> columns(types.size());
  Random random(seed);
  uint64_t combinations = 1;
  for (Type type : types) combinations *= corners(type).size();
  for (uint64_t i = 0; i < count; ++i) {
    uint64_t rest = i;
    for (size_t k = 0; k < types.size(); ++k) {
      const auto& list = corners(types[k]);
      const bool exhaustive = combinations <= count && i < combinations;
      columns[k].push_back(exhaustive ? list[rest % list.size()] : any_value(types[k], random));
      rest /= list.size();
    }
  }
  return columns;
}

}  // namespace km::reference
