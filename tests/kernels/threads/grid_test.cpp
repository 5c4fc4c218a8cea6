// Blocks of several rows of threads, whose rows may run side by side with those of other blocks.
#include <algorithm>
#include <array>
#include <string>

#include <gtest/gtest.h>

#include "harness/compare.h"
#include "harness/inputs.h"
#include "harness/session.h"

namespace km::kernels {
namespace {

using std::vector;

Module& kernels() { return session().cuda("threads/grid.cu"); }

struct Size {
  int32_t x, y, z;
  uint32_t count() const { return static_cast<uint32_t>(x * y * z); }
};

struct Case {
  Size size;
  Dim block;
};

const std::array kCases{
    Case{{256, 64, 3}, {32, 8, 1}},   Case{{250, 61, 3}, {32, 8, 1}},
    Case{{100, 37, 5}, {16, 16, 1}},  Case{{90, 21, 2}, {16, 3, 1}},
    Case{{300, 20, 2}, {64, 4, 1}},   Case{{40, 30, 9}, {8, 4, 4}},
    Case{{130, 12, 2}, {48, 4, 1}},   Case{{33, 19, 2}, {1, 32, 1}},
    Case{{20000, 19, 1}, {32, 8, 1}}, Case{{9000, 5, 2}, {1024, 1, 1}},
    Case{{700, 3, 40}, {32, 1, 8}},
};

Shape cover(const Case& c) {
  const auto blocks = [](int32_t size, uint32_t block) {
    return (static_cast<uint32_t>(size) + block - 1) / block;
  };
  return {{blocks(c.size.x, c.block.x), blocks(c.size.y, c.block.y), blocks(c.size.z, c.block.z)},
          c.block};
}

std::string name(const char* kernel, const Case& c) {
  return std::string(kernel) + " of " + std::to_string(c.size.x) + " x " +
         std::to_string(c.size.y) + " x " + std::to_string(c.size.z) + " in blocks of " +
         std::to_string(c.block.x) + " x " + std::to_string(c.block.y);
}

template <class Body>
void for_places(const Size& size, const Body& body) {
  for (int32_t z = 0; z < size.z; ++z) {
    for (int32_t y = 0; y < size.y; ++y) {
      for (int32_t x = 0; x < size.x; ++x) body(x, y, z);
    }
  }
}

TEST(Grid, EveryThreadHasItsPlace) {
  for (const Case& c : kCases) {
    const auto values = random_u32(c.size.count(), 61);
    Buffer<uint32_t> in(session(), values), out(session(), values.size());
    kernels().run("places", cover(c), out, in, c.size);
    vector<uint32_t> want;
    for_places(c.size, [&](uint32_t x, uint32_t y, uint32_t z) {
      const Dim& b = c.block;
      const uint32_t block = x / b.x + 1000 * (y / b.y + 1000 * (z / b.z));
      const uint32_t thread = x % b.x + b.x * (y % b.y + b.y * (z % b.z));
      want.push_back(values[want.size()] * 31 + block * 1024 + thread);
    });
    expect_bits(name("places", c).c_str(), out.read(), want);
  }
}

TEST(Grid, Neighbours) {
  for (const Case& c : kCases) {
    const auto values = random_u32(c.size.count(), 62);
    Buffer<uint32_t> in(session(), values), out(session(), values.size());
    kernels().run("blurred", cover(c), out, in, c.size);
    vector<uint32_t> want;
    for_places(c.size, [&](int32_t x, int32_t y, int32_t z) {
      const auto at = [&](int32_t i, int32_t k) {
        i = std::clamp(i, 0, c.size.x - 1);
        return values[(z * c.size.y + std::max(k, 0)) * c.size.x + i];
      };
      want.push_back(at(x - 1, y) + 3 * at(x, y) + 5 * at(x + 1, y) + 7 * at(x, y - 1));
    });
    expect_bits(name("blurred", c).c_str(), out.read(), want);
  }
}

TEST(Grid, ValuesOfRows) {
  for (const Case& c : kCases) {
    const int32_t divisor = 3;
    vector<float> want = random_f32(c.size.count(), 63, -9.0f, 9.0f);
    const auto rows = random_f32(c.size.y, 64, -9.0f, 9.0f);
    Buffer<float> data(session(), want), of_row(session(), rows);
    kernels().run("scaled", cover(c), data, of_row, divisor, c.size);
    size_t i = 0;
    for_places(c.size, [&](int32_t, int32_t y, int32_t) {
      const float factor = y % divisor == 0 ? rows[y] : 1.0f;
      want[i] = want[i] * factor + rows[y / divisor];
      ++i;
    });
    expect_bits(name("scaled", c).c_str(), data.read(), want);
  }
}

TEST(Grid, ColumnsAndTiles) {
  for (const Case& c : kCases) {
    const Size flat{c.size.x, c.size.y, 1};
    const auto values = random_u32(flat.count(), 65);
    Buffer<uint32_t> in(session(), values), out(session(), values.size());
    kernels().run("turned", cover({flat, {c.block.x, c.block.y, 1}}), out, in, flat);
    vector<uint32_t> want(values.size());
    for_places(flat, [&](int32_t x, int32_t y, int32_t) {
      want[x * flat.y + y] = values[y * flat.x + x];
    });
    expect_bits(name("turned", c).c_str(), out.read(), want);
  }
  const Shape shape{{7, 5}, {32, 4}};
  const auto values = random_u32(7 * 5 * 128, 66);
  Buffer<uint32_t> in(session(), values), out(session(), values.size());
  kernels().run("tiles", shape, out, in);
  vector<uint32_t> want;
  for (uint32_t i = 0; i < values.size(); ++i) want.push_back(values[i] ^ (i / 128));
  expect_bits("tiles", out.read(), want);
}

/// All come, whoever is last.
TEST(Grid, OnePlaceForAll) {
  for (const Case& c : kCases) {
    Buffer<uint32_t> out(session(), 1);
    Buffer<uint32_t> own(session(), vector<uint32_t>(c.size.count(), 0));
    kernels().run("last_one", cover(c), out, own, c.size);
    expect_bits(name("last_one", c).c_str(), own.read(), vector<uint32_t>(c.size.count(), 1));
    EXPECT_LT(out.read()[0], c.size.count());
  }
}

/// The message names a block; all of them fault.
TEST(Grid, FaultsAreWhereTheyHappen) {
  KM_NEEDS_FAULTS();
  const Size size{256, 16, 1};
  Session own;
  Buffer<uint32_t> in(own, size.count());
  const Shape shape = cover({size, {32, 8, 1}});
  auto& module = own.cuda("threads/grid.cu");
  EXPECT_EQ(module.try_run("places", shape, uint64_t{16}, in, size), KM_ERROR_ILLEGAL_ADDRESS);
  EXPECT_NE(last_error_message().find("block ("), std::string::npos) << last_error_message();
}

}  // namespace
}  // namespace km::kernels
