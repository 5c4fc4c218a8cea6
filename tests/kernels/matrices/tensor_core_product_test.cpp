// A whole product of matrices as programs for compute capability 10.0 make it: copies by tensor
// maps, tcgen05.mma, commits that mbarriers count, sums from tensor memory.
#include <algorithm>
#include <bit>
#include <cstring>

#include <gtest/gtest.h>

#include "base/cuda/tensor_map.h"
#include "harness/compare.h"
#include "harness/inputs.h"
#include "harness/session.h"

namespace km::kernels {
namespace {

using std::vector;

constexpr uint32_t kTile = 128, kStep = 64;  // rows and columns, and k, of one copy
constexpr uint32_t kSharedBytes = (64 << 10) + 64;

/// A small whole number as f16.
uint16_t half_of(int32_t value) {
  if (value == 0) return 0;
  const auto magnitude = static_cast<uint32_t>(std::abs(value));
  const uint32_t exponent = 31 - static_cast<uint32_t>(std::countl_zero(magnitude));
  const uint32_t fraction = (magnitude << (10 - exponent)) & 0x3ff;
  return static_cast<uint16_t>((value < 0 ? 0x8000 : 0) | (exponent + 15) << 10 | fraction);
}

/// Rows of k whole numbers, and their map.
struct Operand {
  uint32_t rows, k;
  vector<int32_t> values;
  vector<uint16_t> halves;

  Operand(uint32_t r, uint32_t columns, uint64_t seed) : rows(r), k(columns) {
    for (const uint32_t some : random_u32(rows * k, seed)) {
      values.push_back(static_cast<int32_t>(some % 33) - 16);
      halves.push_back(half_of(values.back()));
    }
  }

  TensorMap map(uint64_t address) const {
    TensorMap result{};
    result.mark = TensorMap::kMark;
    result.address = address;
    result.element = static_cast<uint8_t>(TensorElement::f16);
    result.last_dimension = 1;
    std::fill(std::begin(result.steps), std::end(result.steps), uint8_t{1});
    result.sizes[0] = k;
    result.sizes[1] = rows;
    result.strides_bytes[0] = uint64_t{k} * sizeof(uint16_t);
    result.box[0] = kStep;
    result.box[1] = kTile;
    result.swizzle = static_cast<uint8_t>(TensorSwizzle::bytes_128);
    return result;
  }
};

bool is_tested() {
  session();
  km_device device{};
  require(km_device_open(device_uri().c_str(), &device), "km_device_open");
  km_device_info info{};
  info.struct_size = sizeof info;
  require(km_device_info_get(device, &info), "km_device_info_get");
  require(km_device_destroy(device), "km_device_destroy");
  return info.compute_capability_major == 10 && info.compute_capability_minor == 0;
}

void check(uint32_t m, uint32_t n, uint32_t k) {
  const Operand a(m, k, 1), b(n, k, 2);
  vector<float> bias(n), want(uint64_t{m} * n);
  for (uint32_t j = 0; j < n; ++j) bias[j] = static_cast<float>(j) - 7;
  const float alpha = 0.5F;
  for (uint32_t i = 0; i < m; ++i) {
    for (uint32_t j = 0; j < n; ++j) {
      int32_t sum = 0;
      for (uint32_t t = 0; t < k; ++t) sum += a.values[i * k + t] * b.values[j * k + t];
      want[i * n + j] = alpha * static_cast<float>(sum) + bias[j];
    }
  }
  Buffer<uint16_t> a_buffer(session(), a.halves), b_buffer(session(), b.halves);
  const TensorMap maps[] = {a.map(a_buffer.address()), b.map(b_buffer.address())};
  vector<uint8_t> bytes(sizeof maps);
  std::memcpy(bytes.data(), maps, sizeof maps);
  Buffer<uint8_t> map_buffer(session(), bytes);
  Buffer<float> c(session(), vector<float>(uint64_t{m} * n, 0)), bias_buffer(session(), bias);
  Module& module = session().ptx_file("tensor_core_product.ptx");
  module.set_dynamic_shared_limit("product", kSharedBytes);
  module.run("product", Shape{{n / kTile, m / kTile}, {kTile}, kSharedBytes}, map_buffer.address(),
             map_buffer.address() + sizeof(TensorMap), c, bias_buffer, k, alpha);
  expect_bits("product", c.read(), want);
}

TEST(Sm100TensorProduct, OfTilesByTensorMaps) {
  if (!is_tested()) GTEST_SKIP() << "KM_CPU_CC=10.0 runs it";
  check(kTile, kTile, kStep);
  check(2 * kTile, kTile, 3 * kStep);
  check(kTile, 2 * kTile, 8 * kStep);
}

}  // namespace
}  // namespace km::kernels
