#include "dropin/cudnn/engine/random.h"

#include <cmath>

#include "dropin/cudnn/engine/space.h"

namespace km::cudnn {

std::array<uint32_t, 4> philox(uint64_t seed, uint64_t position) noexcept {
  constexpr uint32_t kMultiplier0 = 0xD2511F53, kMultiplier1 = 0xCD9E8D57;
  constexpr uint32_t kWeyl0 = 0x9E3779B9, kWeyl1 = 0xBB67AE85;
  std::array<uint32_t, 4> c = {static_cast<uint32_t>(position),
                               static_cast<uint32_t>(position >> 32), 0, 0};
  auto k0 = static_cast<uint32_t>(seed), k1 = static_cast<uint32_t>(seed >> 32);
  for (int round = 0; round < 10; ++round) {
    const uint64_t p0 = uint64_t{kMultiplier0} * c[0], p1 = uint64_t{kMultiplier1} * c[2];
    c = {static_cast<uint32_t>(p1 >> 32) ^ c[1] ^ k0, static_cast<uint32_t>(p1),
         static_cast<uint32_t>(p0 >> 32) ^ c[3] ^ k1, static_cast<uint32_t>(p0)};
    k0 += kWeyl0;
    k1 += kWeyl1;
  }
  return c;
}

namespace {

/// The first number that the memory of a by-value or device tensor holds, exactly.
uint64_t integer_of(const View& view, int64_t otherwise) {
  if (view.data == nullptr) return static_cast<uint64_t>(otherwise);
  int64_t found = 0;
  if (view.type == CUDNN_DATA_INT64) {
    __builtin_memcpy(&found, view.data, sizeof found);
    return static_cast<uint64_t>(found);
  }
  return static_cast<uint64_t>(static_cast<int64_t>(read_one(view, 0)));
}

double drawn(const RandomSettings& s, uint64_t seed, uint64_t position) {
  if (s.distribution == CUDNN_RNG_DISTRIBUTION_NORMAL) {
    const double u = 1 - uniform(seed, 2 * position), v = uniform(seed, 2 * position + 1);
    return s.mean + s.deviation * std::sqrt(-2 * std::log(u)) * std::cos(2 * M_PI * v);
  }
  const double number = uniform(seed, position);
  if (s.distribution == CUDNN_RNG_DISTRIBUTION_BERNOULLI) return number < s.probability ? 1 : 0;
  return s.least + (s.most - s.least) * number;
}

}  // namespace

cudnnStatus_t fill_random(cu::CUstream stream, const RandomSettings& settings, int64_t seed_value,
                          const View& seed, const View& offset, const View& y) {
  const Shape numbers = dense_shape(CUDNN_DATA_INT64, y.rank, y.dims.data());
  Space<2> space;
  if (!space.init(y, {&y, &numbers})) return invalid("the extents of y");
  Arrays arrays;
  arrays.reads("seed", seed).reads("offset", offset).writes("y", y);
  const int64_t chunks = y.type == CUDNN_DATA_BOOLEAN ? 1 : space.chunks();
  return submit_step(
      stream, "cudnn rng", arrays, chunks, static_cast<double>(kRow) * 10,
      [=, all = space.chunks()](uint64_t piece, uint64_t pieces) {
        const Part part(all, piece, pieces);
        const uint64_t key = integer_of(seed, seed_value), first = integer_of(offset, 0);
        double row[kRow];
        std::array<int64_t, 2> at{};
        for (int64_t i = part.begin; i < part.end; ++i) {
          const int64_t count = space.chunk(i, &at);
          for (int64_t j = 0; j < count; ++j) {
            row[j] = drawn(settings, key, first + static_cast<uint64_t>(at[1] + j * space.step(1)));
          }
          write_row(y, at[0], space.step(0), count, row);
        }
      });
}

}  // namespace km::cudnn
