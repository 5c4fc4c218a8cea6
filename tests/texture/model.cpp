#include "texture/model.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "simt/runtime/texture.h"

namespace km::simt::model {
namespace {

uint32_t bits_of(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

float float_of(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

/// Where a fetch reads along one dimension: a texel, and the weight of its neighbour in 1/256.
struct Spot {
  int64_t texel = 0;
  int64_t fraction = 0;
};

Spot spot_of(float x, int64_t size, AddressMode mode, bool normalized, bool filters) {
  if (normalized && mode == AddressMode::wrap) x = x - std::floor(x);
  if (normalized && mode == AddressMode::mirror) x = x - 2 * std::floor(x / 2);
  if (std::isnan(x)) x = 0;
  const float far = filters ? 4194304.0F : 1073741824.0F;
  const float texels = std::clamp(normalized ? x * static_cast<float>(size) : x, -far, far);
  if (!filters) return {static_cast<int64_t>(std::floor(texels)), 0};
  const double exact = std::floor((static_cast<double>(texels) - 0.5) * 256 + 0.5);
  const auto steps = static_cast<int64_t>(exact);
  return {steps >> 8, steps & 255};
}

/// The texel that an index means; -1: the border.
int64_t texel_at(int64_t index, int64_t size, AddressMode mode, bool normalized) {
  if (mode == AddressMode::border) return index < 0 || index >= size ? -1 : index;
  if (!normalized || mode == AddressMode::clamp) return std::clamp<int64_t>(index, 0, size - 1);
  if (mode == AddressMode::wrap) return (index % size + size) % size;
  const int64_t round = (index % (2 * size) + 2 * size) % (2 * size);
  return round < size ? round : 2 * size - 1 - round;
}

/// The bits of a channel in memory, sign-extended where it has a sign.
int64_t stored(const Image& image, const uint8_t* texel, uint32_t channel) {
  const uint8_t* from = texel + channel * bytes_of(image.kind);
  uint32_t word = 0;
  std::memcpy(&word, from, bytes_of(image.kind));
  switch (image.kind) {
    case ChannelKind::s8:
      return static_cast<int8_t>(word);
    case ChannelKind::s16:
      return static_cast<int16_t>(word);
    default:
      return word;
  }
}

double half_value(int64_t bits) {
  const int64_t exponent = bits >> 10 & 31, mantissa = bits & 1023;
  const double size = exponent == 0    ? std::ldexp(static_cast<double>(mantissa), -24)
                      : exponent == 31 ? (mantissa != 0 ? std::nan("") : HUGE_VAL)
                                       : std::ldexp(static_cast<double>(mantissa + 1024),
                                                    static_cast<int>(exponent) - 25);
  return (bits & 0x8000) != 0 ? -size : size;
}

enum class Kind { raw, real, half, srgb, fraction };

Kind kind_of(const Image& image, uint32_t channel) {
  if (image.kind == ChannelKind::f32) return Kind::real;
  if (image.kind == ChannelKind::f16) return Kind::half;
  if (image.read == ReadMode::element) return Kind::raw;
  return image.read == ReadMode::srgb && channel < 3 ? Kind::srgb : Kind::fraction;
}

int64_t largest(ChannelKind kind) {
  return kind == ChannelKind::u8    ? 255
         : kind == ChannelKind::s8  ? 127
         : kind == ChannelKind::u16 ? 65535
                                    : 32767;
}

/// A texel's channel: its value, or the integer that a fraction is made of.
double value_of(const Image& image, uint32_t channel, const uint8_t* texel) {
  if (texel == nullptr) {
    const float border = float_of(image.border[channel]);
    if (kind_of(image, channel) != Kind::fraction) return static_cast<double>(border);
    return std::round(static_cast<double>(border) * static_cast<double>(largest(image.kind)));
  }
  const int64_t bits = stored(image, texel, channel);
  switch (kind_of(image, channel)) {
    case Kind::real:
      return static_cast<double>(float_of(static_cast<uint32_t>(bits)));
    case Kind::half:
      return half_value(bits);
    case Kind::srgb:
      return static_cast<double>(kLinearOfSrgb[bits]);
    default:
      return static_cast<double>(bits);
  }
}

struct Tap {
  const uint8_t* texel = nullptr;  // null: the border
  int64_t weight = 0;
};

int64_t nearest(int64_t whole, int64_t weight) { return (whole * weight + 128) >> 8; }
int64_t nearest_down(int64_t whole, int64_t weight) { return (whole * weight + 127) >> 8; }

/// The weights of a corner: the third dimension divides `whole` first, then the first, then the
/// second.
int64_t weight_of(uint32_t corner, int64_t whole, int64_t x, int64_t y, int64_t z) {
  const int64_t far = nearest(whole, z), plane = (corner & 4) != 0 ? far : whole - far;
  const int64_t right = nearest(plane, x), left = plane - right;
  const bool is_right = (corner & 1) != 0;
  const int64_t column = is_right ? right : left;
  const int64_t below = is_right ? nearest(column, y) : nearest_down(column, y);
  return (corner & 2) != 0 ? below : column - below;
}

/// Rounds to `bits` significant ones; halves go away from zero.
double rounded(double value, int bits) {
  if (value == 0 || !std::isfinite(value)) return value;
  int exponent = 0;
  const double part = std::frexp(std::fabs(value), &exponent);
  const double whole = std::floor(std::ldexp(part, bits) + 0.5);
  return std::copysign(std::ldexp(whole, exponent - bits), value);
}

float sum_reals(const Image& image, const std::vector<Tap>& taps, uint32_t channel) {
  double sum = 0;
  for (const Tap& tap : taps) {
    if (tap.weight != 0) {
      sum += value_of(image, channel, tap.texel) * static_cast<double>(tap.weight);
    }
  }
  return static_cast<float>(rounded(sum, 24) / 256);
}

float sum_halves(const Image& image, const std::vector<Tap>& taps, uint32_t channel, int kept) {
  int most = -1000;
  for (const Tap& tap : taps) {
    const double value = value_of(image, channel, tap.texel);
    if (tap.weight != 0 && value != 0) most = std::max(most, std::ilogb(value));
  }
  double sum = 0;
  for (const Tap& tap : taps) {
    const double value = tap.weight != 0 ? value_of(image, channel, tap.texel) : 0;
    const double cut = std::ldexp(std::trunc(std::ldexp(value, kept - most)), most - kept);
    sum += cut * static_cast<double>(tap.weight) / 256;
  }
  return static_cast<float>(rounded(sum, 11));
}

float sum_fractions(const Image& image, const std::vector<Tap>& taps, uint32_t channel) {
  const bool is_signed = image.kind >= ChannelKind::s8;
  double sum = 0;
  for (const Tap& tap : taps) {
    double value = value_of(image, channel, tap.texel);
    if (image.kind == ChannelKind::u8) value *= 257;
    if (image.kind == ChannelKind::s8) value = value * 258 + std::floor(value / 16) / 8;
    sum += value * static_cast<double>(tap.weight) / 256;
  }
  const double whole = is_signed ? 32767 : 65535;
  const double steps = std::max(std::floor(sum + 0.5), -32767.0);
  return static_cast<float>(steps) / static_cast<float>(whole);
}

uint32_t combine(const Image& image, const std::vector<Tap>& taps, uint32_t channel) {
  const Kind kind = kind_of(image, channel);
  const bool single = taps.size() == 1;
  switch (kind) {
    case Kind::raw:
      if (taps[0].texel == nullptr) return image.border[channel];
      return static_cast<uint32_t>(stored(image, taps[0].texel, channel));
    case Kind::fraction: {
      if (!single) return bits_of(sum_fractions(image, taps, channel));
      const auto value = static_cast<float>(value_of(image, channel, taps[0].texel));
      return bits_of(std::max(value / static_cast<float>(largest(image.kind)), -1.0F));
    }
    default:
      if (single) return bits_of(static_cast<float>(value_of(image, channel, taps[0].texel)));
      if (kind == Kind::real) return bits_of(sum_reals(image, taps, channel));
      return bits_of(sum_halves(image, taps, channel, kind == Kind::half ? 14 : 7));
  }
}

/// One level of one lane.
class Level {
 public:
  Level(const Image& image, const ImageForm& form, const Operands& operands, uint32_t index)
      : image_(image), form_(form), operands_(operands), level_(image.levels[index]) {}

  void add(int64_t share, std::vector<Tap>* taps) const {
    const int64_t sizes[] = {level_.width, level_.height, level_.depth};
    Spot spots[3];
    const bool filters = image_.filters && !form_.integer_coordinates;
    const bool flat = filters && image_.dimensions == 1 && image_.address[1] == AddressMode::border;
    const uint32_t axes = flat ? 2 : image_.dimensions;
    for (uint32_t d = 0; d < axes; ++d) spots[d] = find(d, sizes[d], filters, flat && d == 1);
    for (uint32_t corner = 0; corner < (filters ? 1U << axes : 1U); ++corner) {
      int64_t texel[3] = {};
      bool outside = false;
      for (uint32_t d = 0; d < axes; ++d) {
        const int64_t index = spots[d].texel + (corner >> d & 1);
        texel[d] = form_.integer_coordinates ? (index < 0 || index >= sizes[d] ? -1 : index)
                                             : texel_at(index, sizes[d], image_.address[d],
                                                        image_.is_normalized && !(flat && d == 1));
        outside = outside || texel[d] < 0;
      }
      const int64_t weight = filters ? weight_of(corner, share, spots[0].fraction,
                                                 spots[1].fraction, spots[2].fraction)
                                     : share;
      taps->push_back({outside ? nullptr : place(texel), weight});
    }
  }

 private:
  Spot find(uint32_t d, int64_t size, bool filters, bool flat) const {
    if (form_.integer_coordinates) {
      const int32_t offset = form_.has_offsets ? operands_.offset[d] : 0;
      return {int64_t{operands_.texel[d]} + offset, 0};
    }
    const float at = flat ? 0.0F : operands_.at[d];
    const bool normalized = image_.is_normalized && !flat;
    Spot spot = spot_of(at, size, image_.address[d], normalized, filters);
    if (form_.has_offsets && d < image_.dimensions) spot.texel += operands_.offset[d];
    // Where both texels are the edge's, there is nothing to divide.
    const bool clamps = image_.address[d] == AddressMode::clamp ||
                        (!normalized && image_.address[d] != AddressMode::border);
    if (clamps && (spot.texel < 0 || spot.texel >= size - 1)) spot.fraction = 0;
    return spot;
  }

  const uint8_t* place(const int64_t (&texel)[3]) const {
    const uint64_t slice = image_.layers > 1 ? std::min(operands_.layer, image_.layers - 1)
                                             : static_cast<uint64_t>(texel[2]);
    return reinterpret_cast<const uint8_t*>(level_.address + slice * level_.layer_bytes +
                                            static_cast<uint64_t>(texel[1]) * level_.row_bytes +
                                            static_cast<uint64_t>(texel[0]) * image_.texel_bytes);
  }

  const Image& image_;
  const ImageForm& form_;
  const Operands& operands_;
  const ImageLevel& level_;
};

int64_t cut_steps(float detail) {
  return static_cast<int64_t>(std::trunc(static_cast<double>(detail) * 256));
}

}  // namespace

void fetch(const Image& of, const ImageForm& form, const Operands& operands,
           uint32_t (&out)[kChannels]) {
  Image image = of;
  if (form.integer_coordinates) {  // outside there is zero
    for (uint32_t& border : image.border) border = 0;
  }
  std::vector<Tap> taps;
  if (image.level_count == 1) {
    Level(image, form, operands, 0).add(256, &taps);
  } else {
    const int64_t last = image.level_count - 1;
    int64_t steps = cut_steps(form.level == LevelChoice::given ? operands.level : 0) +
                    cut_steps(image.level_bias);
    steps = std::clamp(steps, cut_steps(image.least_level), cut_steps(image.most_level));
    steps = std::clamp<int64_t>(steps, 0, 256 * last);
    if (image.filters_levels) {
      const int64_t blend = steps & 255;
      Level(image, form, operands, static_cast<uint32_t>(steps >> 8)).add(256 - blend, &taps);
      Level(image, form, operands, static_cast<uint32_t>(std::min((steps >> 8) + 1, last)))
          .add(blend, &taps);
    } else {
      Level(image, form, operands, static_cast<uint32_t>((steps + 128) >> 8)).add(256, &taps);
    }
  }
  for (uint32_t c = 0; c < kChannels; ++c) {
    const uint32_t missing = c < 3 ? 0 : kind_of(image, 0) == Kind::raw ? 1 : bits_of(1.0F);
    out[c] = c >= image.channels ? missing : combine(image, taps, c);
  }
}

}  // namespace km::simt::model
