// Fetches of the engine's against the model's: random images of all formats, dimensions, modes and
// levels, on each set of instructions that this machine has.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>

#include "simt/runtime/texture.h"
#include "texture/model.h"

namespace {

using namespace km::simt;  // NOLINT

constexpr uint32_t kMostTexels = 24 * 24 * 24;

uint32_t instruction_sets() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512dq") != 0 && __builtin_cpu_supports("avx512vl") != 0) return 3;
  if (__builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0) return 2;
#endif
  return 1;
}

class Random {
 public:
  explicit Random(uint32_t first) : engine_(first) {}
  uint32_t below(uint32_t end) { return engine_() % end; }
  float between(float low, float high) {
    return low + (high - low) * static_cast<float>(engine_() >> 8) * 0x1p-24F;
  }
  uint32_t word() { return engine_(); }

 private:
  std::mt19937 engine_;
};

/// An image with random texels, all finite.
class Subject {
 public:
  explicit Subject(Random& random) : memory_(kMostTexels * 16 * 2) {
    image.kind = static_cast<ChannelKind>(random.below(8));
    image.channels = 1U << random.below(3);
    image.texel_bytes = image.channels * bytes_of(image.kind);
    const bool small = bytes_of(image.kind) < 4 && image.kind != ChannelKind::f16;
    image.read = static_cast<ReadMode>(!small                          ? 0
                                       : image.kind == ChannelKind::u8 ? random.below(3)
                                                                       : random.below(2));
    const bool floats = image.kind >= ChannelKind::f16;
    image.filters = (floats || image.read != ReadMode::element) && random.below(2) != 0;
    image.is_normalized = random.below(2) != 0;
    image.dimensions = static_cast<uint8_t>(1 + random.below(3));
    image.layers = image.dimensions < 3 && random.below(3) == 0 ? 1 + random.below(5) : 1;
    for (AddressMode& mode : image.address) mode = static_cast<AddressMode>(random.below(4));
    image.level_count = random.below(3) == 0 ? 1 + random.below(4) : 1;
    image.filters_levels = random.below(2) != 0;
    image.level_bias = random.below(2) != 0 ? random.between(-1, 1) : 0;
    image.most_level = random.between(0, 5);
    const float border[] = {random.between(-2, 2), random.between(0, 1), 0.5F, 1};
    set_border(image, border);
    lay_out(random);
    fill(random);
  }

  Image image{};

 private:
  void lay_out(Random& random) {
    const uint32_t sizes[] = {1 + random.below(24), 1 + random.below(24), 1 + random.below(8)};
    uint64_t at = reinterpret_cast<uint64_t>(memory_.data());
    for (uint32_t i = 0; i < image.level_count; ++i) {
      ImageLevel& level = image.levels[i];
      level.width = std::max(sizes[0] >> i, 1U);
      level.height = image.dimensions > 1 ? std::max(sizes[1] >> i, 1U) : 1;
      level.depth = image.dimensions > 2 ? std::max(sizes[2] >> i, 1U) : 1;
      level.row_bytes = uint64_t{level.width} * image.texel_bytes;
      level.layer_bytes = level.row_bytes * level.height;
      level.address = at;
      at += level.layer_bytes * std::max(image.layers, level.depth);
    }
  }

  void fill(Random& random) {
    for (size_t i = 0; i + 4 <= memory_.size(); i += 4) {
      uint32_t word = random.word();
      if (image.kind == ChannelKind::f32) {
        const float value =
            random.between(-1, 1) * std::ldexp(1.0F, static_cast<int>(random.below(12)) - 6);
        std::memcpy(&word, &value, sizeof word);
      } else if (image.kind == ChannelKind::f16) {
        word &= 0xbfffbfff;  // no infinities
      }
      std::memcpy(&memory_[i], &word, sizeof word);
    }
  }

  std::vector<uint8_t> memory_;
};

ImageForm form_for(const Image& image, Random& random) {
  ImageForm form;
  form.dimensions = image.dimensions;
  form.is_layered = image.layers > 1;
  form.integer_coordinates = random.below(4) == 0;
  form.has_offsets = random.below(4) == 0;
  form.level = random.below(2) != 0 ? LevelChoice::given : LevelChoice::base;
  if (form.integer_coordinates) form.level = LevelChoice::base;
  return form;
}

float coordinate(Random& random, float size, bool normalized) {
  constexpr float kSpecial[] = {0, -0.0F, 0.5F, 1, -1, 1e10F, -3e38F, 2};
  const uint32_t choice = random.below(40);
  if (choice < 8) return kSpecial[choice];
  if (choice == 8) return std::numeric_limits<float>::quiet_NaN();
  if (choice == 9) return std::numeric_limits<float>::infinity();
  const float scale = normalized ? 1 : size;
  if (choice < 20) return std::floor(random.between(-1, 2) * size * 512) / 512 / size * scale;
  return random.between(-1.5F, 2.5F) * scale;
}

model::Operands operands_for(const Image& image, Random& random) {
  model::Operands made;
  const uint32_t sizes[] = {image.levels[0].width, image.levels[0].height, image.levels[0].depth};
  for (uint32_t d = 0; d < 3; ++d) {
    made.at[d] = coordinate(random, static_cast<float>(sizes[d]), image.is_normalized);
    made.texel[d] = static_cast<int32_t>(random.below(sizes[d] + 4)) - 2;
    made.offset[d] = static_cast<int32_t>(random.below(16)) - 8;
  }
  made.layer = random.below(8) == 0 ? UINT32_MAX : random.below(6);
  made.level = random.between(-1, 4);
  return made;
}

void set_lane(const model::Operands& operands, const ImageForm& form, uint32_t lane,
              ImageSlot* slots) {
  for (uint32_t d = 0; d < 3; ++d) {
    uint32_t bits;
    std::memcpy(&bits, &operands.at[d], sizeof bits);
    slots[image_slot::kX + d][lane] =
        form.integer_coordinates ? static_cast<uint32_t>(operands.texel[d]) : bits;
    slots[image_slot::kOffsets + d][lane] = static_cast<uint32_t>(operands.offset[d]);
  }
  slots[image_slot::kLayer][lane] = operands.layer;
  std::memcpy(&slots[image_slot::kLevel][lane], &operands.level, sizeof operands.level);
}

std::string describe(const Image& image, const ImageForm& form) {
  std::string text = "kind " + std::to_string(static_cast<int>(image.kind)) + ", read " +
                     std::to_string(static_cast<int>(image.read)) + ", channels " +
                     std::to_string(image.channels) + ", dimensions " +
                     std::to_string(image.dimensions) + ", layers " + std::to_string(image.layers) +
                     ", levels " + std::to_string(image.level_count) + ", filters " +
                     std::to_string(image.filters) + std::to_string(image.filters_levels) +
                     ", normalized " + std::to_string(image.is_normalized) + ", address";
  for (const AddressMode mode : image.address) text += " " + std::to_string(static_cast<int>(mode));
  return text + ", integers " + std::to_string(form.integer_coordinates) + ", offsets " +
         std::to_string(form.has_offsets);
}

TEST(Texture, FetchesAreTheModels) {
  constexpr uint32_t kImages = 1500;
  Random random(7);
  const uint32_t sets = instruction_sets();
  for (uint32_t i = 0; i < kImages; ++i) {
    const Subject subject(random);
    ImageForm form = form_for(subject.image, random);
    model::Operands lanes[kWarpLanes];
    alignas(64) ImageSlot operands[image_slot::kCount] = {};
    for (uint32_t lane = 0; lane < kWarpLanes; ++lane) {
      lanes[lane] = operands_for(subject.image, random);
      set_lane(lanes[lane], form, lane, operands);
    }
    for (uint32_t set = 0; set < sets; ++set) {
      form.kernel_set = static_cast<KernelSet>(set);
      form.lanes = static_cast<uint8_t>(8U << (i % 3));
      alignas(64) ImageSlot slots[image_slot::kCount];
      std::memcpy(slots, operands, sizeof slots);
      fetch_texture(subject.image, form, slots);
      for (uint32_t lane = 0; lane < form.lanes; ++lane) {
        uint32_t expected[kChannels];
        model::fetch(subject.image, form, lanes[lane], expected);
        for (uint32_t c = 0; c < kChannels; ++c) {
          ASSERT_EQ(expected[c], slots[c][lane])
              << "image " << i << ", instruction set " << set << ", lane " << lane << ", channel "
              << c << ", at " << lanes[lane].at[0] << " " << lanes[lane].at[1] << " "
              << lanes[lane].at[2] << ", level " << lanes[lane].level << ": "
              << describe(subject.image, form);
        }
      }
    }
  }
}

TEST(Texture, HalvesArePackedAsTheFormSays) {
  Random random(3);
  const float texel[] = {1.5F, -0.25F, 65504, 0x1p-24F};
  Image image{};
  image.kind = ChannelKind::f32;
  image.channels = 4;
  image.texel_bytes = 16;
  image.dimensions = 1;
  image.layers = image.level_count = 1;
  image.levels[0] = {reinterpret_cast<uint64_t>(texel), 16, 16, 1, 1, 1, 0};
  ImageForm form;
  form.dimensions = 1;
  alignas(64) ImageSlot slots[image_slot::kCount] = {};
  form.halves = true;
  fetch_texture(image, form, slots);
  EXPECT_EQ(slots[0][5], 0x3e00U);
  EXPECT_EQ(slots[1][5], 0xb400U);
  EXPECT_EQ(slots[2][5], 0x7bffU);
  EXPECT_EQ(slots[3][5], 0x0001U);
  form.halves = false;
  form.packed_halves = true;
  std::memset(slots, 0, sizeof slots);
  fetch_texture(image, form, slots);
  EXPECT_EQ(slots[0][31], 0xb4003e00U);
  EXPECT_EQ(slots[1][31], 0x00017bffU);
}

}  // namespace
