#include "simt/runtime/texture.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "simt/runtime/half_bits.h"

namespace km::simt {
namespace {

// The table is in units of 2^-15.
constexpr uint16_t kSrgbSteps[256] = {
    0,     10,    20,    30,    40,    50,    60,    70,    80,    90,    100,   110,   120,
    132,   144,   156,   170,   184,   198,   214,   230,   246,   262,   280,   300,   318,
    338,   360,   380,   402,   426,   448,   472,   500,   524,   552,   580,   608,   636,
    664,   696,   728,   760,   792,   824,   860,   896,   932,   968,   1008,  1048,  1088,
    1128,  1168,  1208,  1248,  1296,  1344,  1384,  1432,  1480,  1528,  1576,  1632,  1680,
    1728,  1792,  1840,  1888,  1952,  2000,  2064,  2128,  2176,  2240,  2304,  2368,  2432,
    2496,  2560,  2624,  2704,  2768,  2832,  2912,  2976,  3056,  3120,  3200,  3280,  3344,
    3424,  3504,  3584,  3664,  3744,  3840,  3904,  4000,  4096,  4160,  4256,  4352,  4448,
    4544,  4640,  4736,  4832,  4928,  5024,  5120,  5216,  5312,  5408,  5504,  5632,  5728,
    5824,  5952,  6048,  6144,  6272,  6368,  6496,  6592,  6720,  6848,  6944,  7072,  7200,
    7328,  7424,  7552,  7680,  7808,  7936,  8064,  8192,  8320,  8448,  8576,  8704,  8832,
    9024,  9152,  9280,  9408,  9536,  9728,  9856,  9984,  10112, 10304, 10432, 10560, 10752,
    10880, 11072, 11200, 11392, 11520, 11648, 11840, 12032, 12160, 12352, 12480, 12672, 12800,
    12992, 13184, 13376, 13504, 13696, 13888, 14016, 14208, 14400, 14592, 14784, 14976, 15168,
    15360, 15488, 15744, 15872, 16128, 16256, 16512, 16640, 16896, 17024, 17280, 17536, 17664,
    17920, 18048, 18304, 18560, 18688, 18944, 19200, 19328, 19584, 19840, 19968, 20224, 20480,
    20608, 20864, 21120, 21376, 21632, 21760, 22016, 22272, 22528, 22784, 22912, 23168, 23424,
    23680, 23936, 24192, 24448, 24704, 24960, 25216, 25472, 25728, 25984, 26240, 26496, 26752,
    27008, 27264, 27520, 27776, 28032, 28288, 28544, 28800, 29056, 29312, 29696, 29952, 30208,
    30464, 30720, 30976, 31232, 31488, 32000, 32256, 32512, 32768,
};

struct SrgbTable {
  float linear[256];
  constexpr SrgbTable() : linear() {
    for (uint32_t i = 0; i < 256; ++i) linear[i] = static_cast<float>(kSrgbSteps[i]) * 0x1p-15f;
  }
};

/// A level of detail in steps of 1/256, truncated; NaN gives the first level.
int32_t steps_of(float detail) {
  if (!(detail == detail)) return 0;
  return static_cast<int32_t>(std::clamp(detail, -256.0f, 256.0f) * kWeightOne);
}

float of_slot(const ImageSlot& slot, uint32_t lane) {
  float value;
  std::memcpy(&value, &slot[lane], sizeof value);
  return value;
}

/// The log2 of the longer gradient, in texels.
float detail_of_gradients(const Image& image, const ImageForm& form, const ImageSlot* slots,
                          uint32_t lane) {
  const ImageLevel& level = image.levels[0];
  const uint32_t sizes[] = {level.width, level.height, level.depth};
  float longest = 0;
  const uint32_t axes = form.is_cube ? 3 : form.dimensions;
  for (uint32_t side = 0; side < 2; ++side) {
    float square = 0;
    for (uint32_t d = 0; d < axes; ++d) {
      float step = of_slot(slots[image_slot::kGradients + 3 * side + d], lane);
      if (image.is_normalized) step *= static_cast<float>(form.is_cube ? level.width : sizes[d]);
      square += step * step;
    }
    longest = std::max(longest, square);
  }
  return longest > 0 ? 0.5f * std::log2(longest) : -256.0f;
}

/// The level of detail of each lane in steps of 1/256.
void find_detail(const Image& image, const ImageForm& form, const ImageSlot* slots, int32_t* out) {
  const int32_t least = steps_of(image.least_level), most = steps_of(image.most_level);
  for (uint32_t lane = 0; lane < kWarpLanes; ++lane) {
    float detail = 0, up = 0;
    if (form.level == LevelChoice::given && form.integer_coordinates) {
      detail = static_cast<float>(static_cast<int32_t>(slots[image_slot::kLevel][lane]));
    } else if (form.level == LevelChoice::given) {
      detail = of_slot(slots[image_slot::kLevel], lane);
    } else if (form.level == LevelChoice::gradients) {
      detail = detail_of_gradients(image, form, slots, lane);
      up = detail > 0 ? 0.5f / kWeightOne : 0;  // rounds to the nearest step
    }
    const int32_t steps = steps_of(detail + up) + steps_of(image.level_bias);
    out[lane] = std::min(std::max(steps, least), most);
  }
}

float fraction_of(float value, float least) { return std::clamp(value, least, 1.0f); }

/// A fraction rounded to the format's precision; ties go down.
float stored_fraction(float value, float least, float whole) {
  return std::ceil(fraction_of(value, least) * whole - 0.5f) / whole + 0.0f;  // never -0
}

}  // namespace

constinit const SrgbTable kSrgbTable{};
const float (&kLinearOfSrgb)[256] = kSrgbTable.linear;

namespace {

void fetch(const Image& image, const ImageForm& form, ImageSlot* slots) {
  int32_t detail[kWarpLanes];
  const bool has_levels = image.level_count > 1;
  if (has_levels) find_detail(image, form, slots, detail);
  const int32_t* const levels = has_levels ? detail : nullptr;
  texture_fetch_of(form.kernel_set)(image, form, levels, slots);
}

}  // namespace

void fetch_texture(const Image& image, const ImageForm& form, ImageSlot* slots) {
  fetch(image, form, slots);
  if (!form.halves && !form.packed_halves) return;
  for (uint32_t lane = 0; lane < kWarpLanes; ++lane) {
    uint32_t halves[kChannels];
    for (uint32_t c = 0; c < kChannels; ++c) halves[c] = half_of(of_slot(slots[c], lane));
    if (form.packed_halves) {
      slots[0][lane] = halves[0] | halves[1] << 16;
      slots[1][lane] = halves[2] | halves[3] << 16;
    } else {
      for (uint32_t c = 0; c < kChannels; ++c) slots[c][lane] = halves[c];
    }
  }
}

void set_border(Image& image, const float (&color)[kChannels]) {
  for (uint32_t c = 0; c < kChannels; ++c) {
    float value = color[c] == color[c] ? color[c] : 0.0f;
    uint32_t bits;
    std::memcpy(&bits, &color[c], sizeof bits);
    if (image.kind != ChannelKind::f32 && image.kind != ChannelKind::f16) {
      const uint32_t width = 8 * bytes_of(image.kind);
      const bool is_signed = image.kind >= ChannelKind::s8;
      // 32-bit words are never read as fractions.
      if (image.read == ReadMode::element || width == 32) {
        const uint32_t kept = width == 32 ? bits : bits & ((1U << width) - 1);
        const uint32_t sign = is_signed && width < 32 ? kept >> (width - 1) : 0;
        bits = sign != 0 ? kept | ~((1U << width) - 1) : kept;
      } else {
        const auto whole = static_cast<float>((1U << (is_signed ? width - 1 : width)) - 1);
        const bool is_linear = image.read == ReadMode::srgb && c < 3;
        value =
            is_linear ? fraction_of(value, 0) : stored_fraction(value, is_signed ? -1 : 0, whole);
        std::memcpy(&bits, &value, sizeof bits);
      }
    }
    image.border[c] = bits;
  }
}

}  // namespace km::simt
