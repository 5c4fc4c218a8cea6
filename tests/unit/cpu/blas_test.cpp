#include <dlfcn.h>
#include <gtest/gtest.h>
#include <link.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>

#include "backends/cpu/blas/blas.h"
#include "backends/cpu/blas/half_gemm.h"
#include "base/half_float.h"
#include "base/process/openblas.h"
#include "simt/engine.h"

namespace km::cpu::test {
namespace {

namespace fs = std::filesystem;

TEST(HalfFloat, EveryHalfSurvivesTheWayThere) {
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    const auto half = static_cast<uint16_t>(bits);
    const float value = float_of_half(half);
    if (std::isnan(value)) {
      EXPECT_TRUE(std::isnan(float_of_half(half_of_float(value))));
    } else {
      EXPECT_EQ(half_of_float(value), half);
    }
    const float other = float_of_bfloat(half);
    if (std::isnan(other)) continue;
    EXPECT_EQ(bfloat_of_float(other), half);
  }
}

TEST(HalfFloat, RoundsToNearestTiesToEven) {
  for (uint32_t bits = 0; bits < 0x7bff; ++bits) {
    const float low = float_of_half(static_cast<uint16_t>(bits));
    const float high = float_of_half(static_cast<uint16_t>(bits + 1));
    const float middle = (low + high) / 2;
    EXPECT_EQ(half_of_float(middle), bits + (bits & 1));
    EXPECT_EQ(half_of_float(std::nextafter(middle, 0.0F)), bits);
    EXPECT_EQ(half_of_float(std::nextafter(middle, HUGE_VALF)), bits + 1);
  }
  EXPECT_EQ(half_of_float(65519.996F), 0x7bff);
  EXPECT_EQ(half_of_float(65520.0F), 0x7c00);
  EXPECT_EQ(bfloat_of_float(std::bit_cast<float>(0x3f808000U)), 0x3f80);
  EXPECT_EQ(bfloat_of_float(std::bit_cast<float>(0x3f818000U)), 0x3f82);
}

/// The same product by each kind of machine that this one can be.
TEST(HalfGemm, MachinesWithFusedMultiplicationGiveTheSameBits) {
  if (simt::Machine::best().kernel_set() != simt::KernelSet::widest) GTEST_SKIP();
  constexpr uint64_t kRows = 61, kColumns = 83, kDepth = 301;
  std::mt19937 random(7);
  std::vector<uint16_t> a(kRows * kDepth), b(kDepth * kColumns), c(kRows * kColumns);
  for (auto* values : {&a, &b, &c}) {
    for (uint16_t& value : *values) value = static_cast<uint16_t>((random() & 0x83ff) | 0x3400);
  }
  const auto work = std::make_unique<HalfWorkspace>();
  for (const int form : {0, 1, 2, 3, 4, 5, 6, 7}) {
    HalfProduct product;
    product.a = a.data();
    product.b = b.data();
    product.a_row = (form & 1) != 0 ? kDepth : 1;
    product.a_depth = (form & 1) != 0 ? 1 : kRows;
    product.b_depth = (form & 2) != 0 ? kColumns : 1;
    product.b_column = (form & 2) != 0 ? 1 : kDepth;
    product.c_row = kColumns;
    product.rows = kRows;
    product.columns = kColumns;
    product.depth = kDepth;
    product.alpha = 1.5F;
    product.beta = -0.25F;
    product.is_bfloat = (form & 4) != 0;
    std::vector<uint16_t> wide = c, narrow = c;
    product.c = wide.data();
    half_kernel_of(simt::KernelSet::widest)(product, *work);
    product.c = narrow.data();
    half_kernel_of(simt::KernelSet::wide)(product, *work);
    EXPECT_EQ(wide, narrow) << form;
    EXPECT_NE(wide, c);
  }
}

TEST(OpenBlas, IsLookedForWhereItIsNamed) {
  char pattern[] = "/tmp/km-blas-XXXXXX";
  ASSERT_NE(mkdtemp(pattern), nullptr);
  const std::string folder = pattern;
  EXPECT_TRUE(openblas_candidates(folder, {}).empty());
  std::ofstream(folder + "/libopenblas.so") << "no library";
  std::ofstream(folder + "/libopenblas.so.0") << "no library";
  const std::vector<std::string> both = {folder + "/libopenblas.so.0", folder + "/libopenblas.so"};
  EXPECT_EQ(openblas_candidates(folder, {"/usr/lib"}), both);
  EXPECT_EQ(openblas_candidates("/some/file.so", {}), std::vector<std::string>{"/some/file.so"});
  EXPECT_EQ(openblas_candidates("", {folder}).front(), both.front());
  const auto loaded = OpenBlas::load(both.front());
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.error().status, KM_ERROR_BLAS_UNAVAILABLE);
  EXPECT_NE(loaded.error().message.find(both.front()), std::string::npos);
  void* const math = dlopen("libm.so.6", RTLD_NOW);
  link_map* place = nullptr;
  ASSERT_EQ(dlinfo(math, RTLD_DI_LINKMAP, &place), 0);
  const auto other = OpenBlas::load(place->l_name);
  ASSERT_FALSE(other);
  EXPECT_NE(other.error().message.find("is not OpenBLAS"), std::string::npos);
  fs::remove_all(folder);
}

TEST(OpenBlas, FunctionsThatAVersionLacksAreNamedByTheirCalls) {
  const auto old = OpenBlas::load(OLD_OPENBLAS);
  ASSERT_TRUE(old) << old.error().message;
  EXPECT_TRUE(old->check(KMB_BLAS_ROT, KM_DATA_TYPE_F32));
  const Status lacking = old->check(KMB_BLAS_SCAL, KM_DATA_TYPE_C64);
  ASSERT_FALSE(lacking);
  EXPECT_EQ(lacking.error().status, KM_ERROR_BLAS_UNAVAILABLE);
  EXPECT_EQ(lacking.error().message, OLD_OPENBLAS
            " has no cblas_zscal, which this call runs on the CPU. Install a newer "
            "OpenBLAS, or set KM_OPENBLAS to one");
}

/// csrot is newer than some OpenBLAS: a rotation of complex numbers needs that of reals only.
TEST(OpenBlas, ComplexRotationsAreThoseOfTheirParts) {
  const auto old = OpenBlas::load(OLD_OPENBLAS);
  ASSERT_TRUE(old) << old.error().message;
  ASSERT_TRUE(old->check(KMB_BLAS_ROT, KM_DATA_TYPE_C32));
  for (const int64_t step : {int64_t{1}, int64_t{2}, int64_t{-2}, int64_t{INT32_MAX}}) {
    const uint64_t count = step == INT32_MAX ? 1 : 2;
    std::array<float, 8> x = {1, 2, 3, 4, 5, 6, 7, 8}, y = {10, 20, 30, 40, 50, 60, 70, 80};
    kmb_blas_call call{};
    call.routine = KMB_BLAS_ROT;
    call.type = KM_DATA_TYPE_C32;
    call.n = count;
    call.b = {reinterpret_cast<uint64_t>(x.data()), step, 0};
    call.c = {reinterpret_cast<uint64_t>(y.data()), step, 0};
    call.rotation[1] = 1;  // (x, y) becomes (y, -x)
    run_openblas(*old, call);
    const std::array<bool, 4> turned = {true, step == 1, std::abs(step) == 2, false};
    for (int i = 0; i < 8; ++i) {
      const auto value = static_cast<float>(i + 1);
      EXPECT_EQ(x[i], turned[i / 2] ? 10 * value : value) << step << ' ' << i;
      EXPECT_EQ(y[i], turned[i / 2] ? -value : 10 * value) << step << ' ' << i;
    }
  }
}

TEST(BlasCut, CoversEverythingOnce) {
  for (uint64_t m : {1, 64, 200, 5000}) {
    for (uint64_t n : {1, 130, 3000}) {
      for (uint32_t threads : {1U, 2U, 7U, 64U}) {
        kmb_blas_call call{};
        call.routine = KMB_BLAS_GEMM;
        call.type = KM_DATA_TYPE_F32;
        call.m = m;
        call.n = n;
        call.k = 1000;
        call.batch_count = 1;
        const BlasCut cut = cut_blas(call, threads);
        EXPECT_LE(cut.pieces(), threads);
        uint64_t rows = 0, columns = 0;
        for (uint64_t i = 0; i < cut.rows; ++i) rows += blas_range(m, cut.rows, i, 32).size();
        for (uint64_t i = 0; i < cut.columns; ++i) {
          columns += blas_range(n, cut.columns, i, 32).size();
        }
        EXPECT_EQ(rows, m);
        EXPECT_EQ(columns, n);
      }
    }
  }
}

}  // namespace
}  // namespace km::cpu::test
