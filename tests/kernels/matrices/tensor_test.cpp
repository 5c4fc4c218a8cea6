// Copies between tensors and shared memory by tensor maps: random tensors and boxes, compared with
// plain loops. Maps are made as the driver makes them, or by tensormap.replace.
#include <cmath>
#include <cstring>
#include <random>

#include <gtest/gtest.h>

#include "base/cuda/tensor_map.h"
#include "harness/compare.h"
#include "harness/session.h"

namespace km::kernels {
namespace {

using std::string;
using std::vector;

constexpr uint32_t kMost = kMostTensorDimensions;
constexpr uint32_t kBoxLimit = 32 << 10;

/// One copy: the map without its address, and where it begins.
struct Copy {
  TensorMap map{};
  int32_t start[kMost] = {};
  uint32_t offsets[kMostPixelDimensions] = {};  // im2col
  bool is_im2col() const { return map.mode == static_cast<uint8_t>(TensorMode::im2col); }
};

uint64_t tensor_bytes(const TensorMap& map) {
  uint64_t end = map.sizes[0] * map.element_bytes();
  for (uint32_t i = 1; i < map.rank(); ++i) end += (map.sizes[i] - 1) * map.strides_bytes[i - 1];
  return end;
}

/// Dense strides, with some bytes between rows.
void lay_out(TensorMap& map, uint64_t gap_bytes) {
  uint64_t stride = (map.sizes[0] * map.element_bytes() + 15) / 16 * 16 + gap_bytes;
  for (uint32_t i = 1; i < map.rank(); ++i) {
    map.strides_bytes[i - 1] = stride;
    stride *= map.sizes[i];
  }
}

TensorMap new_map(TensorElement element, uint32_t rank) {
  TensorMap map{};
  map.mark = TensorMap::kMark;
  map.element = static_cast<uint8_t>(element);
  map.last_dimension = static_cast<uint8_t>(rank - 1);
  std::fill(std::begin(map.steps), std::end(map.steps), uint8_t{1});
  return map;
}

/// The offset in shared memory of byte `byte` of the box: pieces of 16 bytes change places by the
/// number of their line of 128 bytes (PTX ISA, swizzling modes).
uint32_t swizzled(const TensorMap& map, uint32_t byte) {
  constexpr uint32_t kMasks[] = {0, 1, 3, 7};
  const uint32_t line = byte / 128, piece = byte / 16 % 8;
  return line * 128 + (piece ^ (line & kMasks[map.swizzle])) * 16 + byte % 16;
}

struct Element {
  bool inside = false;
  uint64_t tensor_offset = 0;
  uint32_t box_offset = 0;
};

Element element_at(const TensorMap& map, const int64_t* at, uint32_t box_index) {
  Element element;
  element.inside = true;
  element.box_offset = swizzled(map, box_index * map.element_bytes());
  for (uint32_t i = 0; i < map.rank(); ++i) {
    element.inside = element.inside && at[i] >= 0 && at[i] < static_cast<int64_t>(map.sizes[i]);
    const uint64_t stride = i == 0 ? map.element_bytes() : map.strides_bytes[i - 1];
    element.tensor_offset += static_cast<uint64_t>(at[i]) * stride;
  }
  return element;
}

/// All elements of a tiled copy, innermost first.
vector<Element> tile_elements(const Copy& copy) {
  const TensorMap& map = copy.map;
  vector<Element> all;
  uint32_t index[kMost] = {};
  for (;;) {
    int64_t at[kMost];
    for (uint32_t i = 0; i < kMost; ++i) {
      const bool steps = i != 0 || map.interleave != 0;
      at[i] = copy.start[i] + int64_t{index[i]} * (steps ? map.steps[i] : 1);
    }
    all.push_back(element_at(map, at, static_cast<uint32_t>(all.size())));
    uint32_t i = 0;
    for (; i < map.rank(); ++i) {
      const uint32_t step = i == 0 && map.interleave == 0 ? 1 : map.steps[i];
      if (++index[i] * step < map.box[i]) break;
      index[i] = 0;
    }
    if (i == map.rank()) return all;
  }
}

/// All elements of an im2col copy: pixels in the order of the bounding box, their channels inside.
vector<Element> pixel_elements(const Copy& copy) {
  const TensorMap& map = copy.map;
  const uint32_t dimensions = map.rank() - 2;
  // The positions of the bounding box one after the other, from the first one on.
  vector<vector<int64_t>> positions;
  const int64_t images = static_cast<int64_t>(map.sizes[dimensions + 1]);
  for (int64_t n = 0; n < images + map.pixels; ++n) {
    vector<int64_t> low(dimensions), high(dimensions);
    for (uint32_t i = 0; i < dimensions; ++i) {
      low[i] = map.lower_corner[i];
      high[i] = static_cast<int64_t>(map.sizes[i + 1]) + map.upper_corner[i];
    }
    vector<int64_t> at = low;
    for (;;) {
      vector<int64_t> whole = at;
      whole.push_back(n);
      positions.push_back(whole);
      uint32_t i = 0;
      for (; i < dimensions; ++i) {
        at[i] += map.steps[i + 1];
        if (at[i] < high[i]) break;
        at[i] = low[i];
      }
      if (i == dimensions) break;
    }
  }
  const vector<int64_t> first(copy.start + 1, copy.start + dimensions + 2);
  const auto begin = std::find(positions.begin(), positions.end(), first);
  vector<Element> all;
  for (uint32_t pixel = 0; pixel < map.pixels; ++pixel) {
    for (uint32_t c = 0; c < map.channels; ++c) {
      int64_t at[kMost] = {copy.start[0] + int64_t{c}};
      const vector<int64_t>& position = begin[pixel];
      for (uint32_t i = 0; i <= dimensions; ++i) {
        at[i + 1] = position[i] + (i < dimensions ? copy.offsets[i] : 0);
      }
      all.push_back(element_at(map, at, static_cast<uint32_t>(all.size())));
    }
  }
  return all;
}

vector<Element> elements_of(const Copy& copy) {
  return copy.is_im2col() ? pixel_elements(copy) : tile_elements(copy);
}

string coordinates(const Copy& copy) {
  string text = "{";
  for (uint32_t i = 0; i < copy.map.rank(); ++i) {
    text += (i != 0 ? ", " : "") + std::to_string(copy.start[i]);
  }
  return text + "}";
}

/// A block of 32 threads: the box is what `content` holds, thread 0 makes the copy, and the box
/// goes to `content`.
constexpr const char* kBegin = R"(.version 8.6
.target sm_90a
.address_size 64
.shared .align 1024 .b8 box[32768];
.shared .align 8 .b64 barrier;
.visible .entry run(.param .u64 map, .param .u64 content, .param .u32 bytes)
{
  .reg .b64 %map, %content, %to, %state;
  .reg .b32 %t, %i, %bytes, %box, %bar, %x<4>;
  .reg .b16 %o<3>;
  .reg .pred %p, %first;
  ld.param.u64 %map, [map];
  ld.param.u64 %content, [content];
  ld.param.u32 %bytes, [bytes];
  mov.u32 %t, %tid.x;
  mov.u32 %box, box;
  mov.u32 %bar, barrier;
  setp.eq.u32 %first, %t, 0;
  @%first mbarrier.init.shared.b64 [%bar], 1;
  shl.b32 %i, %t, 4;
in:
  cvt.u64.u32 %to, %i;
  add.u64 %to, %content, %to;
  ld.global.v4.b32 {%x0, %x1, %x2, %x3}, [%to];
  add.u32 %x0, %x0, 0;
  {
    .reg .b32 %at;
    add.u32 %at, %box, %i;
    st.shared.v4.b32 [%at], {%x0, %x1, %x2, %x3};
  }
  add.u32 %i, %i, 512;
  setp.lt.u32 %p, %i, 32768;
  @%p bra in;
  fence.proxy.async;
  bar.sync 0;
  @!%first bra wait;
  fence.proxy.tensormap::generic.acquire.gpu [%map], 128;
)";
constexpr const char* kEnd = R"(wait:
  mbarrier.try_wait.parity.shared.b64 %p, [%bar], 0;
  @!%p bra wait;
  shl.b32 %i, %t, 4;
out:
  {
    .reg .b32 %at;
    add.u32 %at, %box, %i;
    ld.shared.v4.b32 {%x0, %x1, %x2, %x3}, [%at];
  }
  cvt.u64.u32 %to, %i;
  add.u64 %to, %content, %to;
  st.global.v4.b32 [%to], {%x0, %x1, %x2, %x3};
  add.u32 %i, %i, 512;
  setp.lt.u32 %p, %i, 32768;
  @%p bra out;
  ret;
}
)";

string load_text(const Copy& copy, const string& dimensions) {
  string text;
  for (uint32_t i = 0; i < kMostPixelDimensions; ++i) {
    text += "  mov.b16 %o" + std::to_string(i) + ", " + std::to_string(copy.offsets[i]) + ";\n";
  }
  if (!copy.is_im2col()) {
    text += "  cp.async.bulk.prefetch.tensor." + dimensions + ".L2.global.tile [%map, " +
            coordinates(copy) + "];\n";
  }
  text += "  mbarrier.arrive.expect_tx.shared.b64 %state, [%bar], %bytes;\n";
  text += "  cp.async.bulk.tensor." + dimensions + ".shared::cluster.global" +
          (copy.is_im2col() ? ".im2col" : ".tile") +
          ".mbarrier::complete_tx::bytes [%box], "
          "[%map, " +
          coordinates(copy) + "], [%bar]";
  if (copy.is_im2col()) {
    constexpr const char* kOffsets[] = {"{%o0}", "{%o0, %o1}", "{%o0, %o1, %o2}"};
    text += string(", ") + kOffsets[copy.map.rank() - 3];
  }
  text += ";\n";
  return text;
}

string store_text(const Copy& copy, const string& dimensions, const string& operation) {
  const bool stores = operation == "store";
  string text = stores ? "  cp.async.bulk.tensor." : "  cp.reduce.async.bulk.tensor.";
  text += dimensions + ".global.shared::cta" + (stores ? "" : "." + operation) +
          (copy.is_im2col() ? ".im2col_no_offs" : ".tile") + ".bulk_group [%map, " +
          coordinates(copy) + "], [%box];\n";
  text += "  cp.async.bulk.commit_group;\n  cp.async.bulk.wait_group 0;\n";
  text += "  mbarrier.arrive.shared.b64 %state, [%bar];\n";
  return text;
}

string kernel_text(const Copy& copy, const string& operation) {
  const string dimensions = std::to_string(copy.map.rank()) + "d";
  const bool loads = operation == "load";
  return kBegin + (loads ? load_text(copy, dimensions) : store_text(copy, dimensions, operation)) +
         kEnd;
}

vector<uint8_t> random_bytes(uint64_t count, std::mt19937_64& random) {
  vector<uint8_t> bytes(count);
  for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random());
  return bytes;
}

/// A warp makes a map from nothing, by tensormap.replace, and copies it to global memory.
string making_text(const TensorMap& map) {
  string text = R"(.version 8.6
.target sm_90a
.address_size 64
.shared .align 128 .b8 map[128];
.visible .entry make(.param .u64 to, .param .u64 tensor)
{
  .reg .b64 %to, %tensor, %wide;
  .reg .b32 %t, %at, %map, %zero, %n;
  .reg .pred %first;
  ld.param.u64 %to, [to];
  ld.param.u64 %tensor, [tensor];
  mov.u32 %t, %tid.x;
  mov.u32 %map, map;
  mov.u32 %zero, 0;
  shl.b32 %at, %t, 2;
  add.u32 %at, %map, %at;
  st.shared.b32 [%at], %zero;
  bar.warp.sync 0xffffffff;
  setp.eq.u32 %first, %t, 0;
  @!%first bra made;
  tensormap.replace.tile.global_address.shared::cta.b1024.b64 [%map], %tensor;
)";
  const auto replace = [&](const string& name, const string& type, const string& operands) {
    text += "  tensormap.replace.tile." + name + ".shared::cta.b1024." + type + " [%map], " +
            operands + ";\n";
  };
  const auto dimension = [&](const string& name, uint32_t index, uint64_t value) {
    text += "  mov.u32 %n, " + std::to_string(value) + ";\n";
    replace(name, "b32", std::to_string(index) + ", %n");
  };
  text += "  mov.u32 %n, " + std::to_string(map.rank() - 1) + ";\n";
  replace("rank", "b32", "%n");
  for (uint32_t i = 0; i < map.rank(); ++i) {
    dimension("box_dim", i, map.box[i]);
    dimension("global_dim", i, map.sizes[i]);
    dimension("element_stride", i, map.steps[i]);
    if (i == 0) continue;
    text += "  mov.u64 %wide, " + std::to_string(map.strides_bytes[i - 1]) + ";\n";
    replace("global_stride", "b64", std::to_string(i - 1) + ", %wide");
  }
  replace("elemtype", "b32", std::to_string(map.element));
  replace("interleave_layout", "b32", std::to_string(map.interleave));
  replace("swizzle_mode", "b32", std::to_string(map.swizzle));
  replace("fill_mode", "b32", std::to_string(map.fill));
  text += R"(made:
  bar.warp.sync 0xffffffff;
  tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned)";
  text += " [%to], [%map], 128;\n  ret;\n}\n";
  return text;
}

/// Maps for pixels are made by the driver only: here as ours makes them.
void make_map(const TensorMap& map, bool is_im2col, Buffer<uint8_t>& out, uint64_t tensor) {
  if (!is_im2col) {
    session().ptx_text(making_text(map), "map")->run("make", {{1}, {32}}, out, tensor);
    return;
  }
  TensorMap made = map;
  made.address = tensor;
  vector<uint8_t> bytes(sizeof made);
  std::memcpy(bytes.data(), &made, sizeof made);
  out.upload(bytes.data());
}

struct Memory {
  vector<uint8_t> tensor, box;
};

/// Runs the kernel, with the map in global memory.
Memory run(const Copy& copy, const string& operation, const Memory& before) {
  auto module = session().ptx_text(kernel_text(copy, operation), operation);
  Buffer<uint8_t> tensor(session(), before.tensor), box(session(), before.box);
  Buffer<uint8_t> in_map(session(), sizeof(TensorMap));
  make_map(copy.map, copy.is_im2col(), in_map, tensor.address());
  module->run("run", {{1}, {32}}, in_map, box, static_cast<uint32_t>(copy.map.box_bytes()));
  return {tensor.read(), box.read()};
}

/// The value of an element outside of the tensor.
vector<uint8_t> outside(const TensorMap& map) {
  vector<uint8_t> bytes(map.element_bytes(), map.fill != 0 ? 0xff : 0);
  if (map.fill != 0) bytes.back() = 0x7f;
  return bytes;
}

void check_load(const Copy& copy) {
  std::mt19937_64 random(copy.map.sizes[0]);
  const Memory before{random_bytes(tensor_bytes(copy.map), random),
                      vector<uint8_t>(kBoxLimit, 0xEE)};
  Memory want = before;
  const vector<uint8_t> nothing = outside(copy.map);
  for (const Element& element : elements_of(copy)) {
    const auto from =
        element.inside ? before.tensor.begin() + element.tensor_offset : nothing.begin();
    std::copy_n(from, copy.map.element_bytes(), want.box.begin() + element.box_offset);
  }
  const Memory got = run(copy, "load", before);
  expect_bits("box", got.box, want.box);
  expect_bits("tensor", got.tensor, want.tensor);
}

void check_store(const Copy& copy) {
  std::mt19937_64 random(copy.map.sizes[0]);
  const Memory before{random_bytes(tensor_bytes(copy.map), random),
                      random_bytes(kBoxLimit, random)};
  Memory want = before;
  for (const Element& element : elements_of(copy)) {
    if (!element.inside) continue;
    std::copy_n(before.box.begin() + element.box_offset, copy.map.element_bytes(),
                want.tensor.begin() + element.tensor_offset);
  }
  const Memory got = run(copy, "store", before);
  expect_bits("tensor", got.tensor, want.tensor);
  expect_bits("box", got.box, want.box);
}

Copy tile(TensorElement element, vector<uint64_t> sizes, vector<uint16_t> box,
          vector<int32_t> start) {
  Copy copy;
  copy.map = new_map(element, static_cast<uint32_t>(sizes.size()));
  std::copy(sizes.begin(), sizes.end(), copy.map.sizes);
  std::copy(box.begin(), box.end(), copy.map.box);
  std::copy(start.begin(), start.end(), copy.start);
  lay_out(copy.map, 32);
  return copy;
}

TEST(Tensor, TilesOfAllRanks) {
  check_load(tile(TensorElement::u8, {100}, {64}, {20}));
  check_load(tile(TensorElement::u8, {100}, {64}, {-5}));
  check_load(tile(TensorElement::f32, {37, 9}, {16, 8}, {3, 4}));
  check_load(tile(TensorElement::u16, {20, 7, 5}, {16, 4, 3}, {10, -2, 3}));
  check_load(tile(TensorElement::f64, {9, 6, 5, 4}, {4, 3, 2, 2}, {-1, 5, 1, 3}));
  check_load(tile(TensorElement::s32, {8, 3, 3, 3, 3}, {4, 2, 2, 3, 2}, {6, -1, 2, 1, 2}));
  check_load(tile(TensorElement::s64, {8, 4}, {4, 4}, {100, 0}));  // nothing of it
}

TEST(Tensor, StoresOfAllRanks) {
  check_store(tile(TensorElement::u8, {100}, {64}, {90}));
  check_store(tile(TensorElement::bf16, {37, 9}, {16, 8}, {-3, 4}));
  check_store(tile(TensorElement::u16, {20, 7, 5}, {16, 4, 3}, {10, -2, 3}));
  check_store(tile(TensorElement::f64, {9, 6, 5, 4}, {4, 3, 2, 2}, {-1, 5, 1, 3}));
  check_store(tile(TensorElement::s32, {8, 3, 3, 3, 3}, {4, 2, 2, 3, 2}, {6, -1, 2, 1, 2}));
}

TEST(Tensor, Swizzles) {
  for (const uint8_t swizzle : {1, 2, 3}) {
    const auto row = static_cast<uint16_t>(16 << swizzle);
    Copy copy = tile(TensorElement::f16, {150, 40}, {static_cast<uint16_t>(row / 2), 24}, {7, 30});
    copy.map.swizzle = swizzle;
    check_load(copy);
    check_store(copy);
    copy.map.fill = 1;
    check_load(copy);
  }
}

TEST(Tensor, StepsAndInterleave) {
  Copy copy = tile(TensorElement::u32, {30, 40, 8}, {16, 9, 6}, {2, 33, 1});
  copy.map.steps[1] = 2;
  copy.map.steps[2] = 4;
  check_load(copy);
  check_store(copy);
  copy.map.interleave = 1;
  copy.map.steps[0] = 4;
  check_load(copy);
  copy.map.interleave = 2;
  copy.map.swizzle = 1;
  copy.map.steps[0] = 2;
  check_load(copy);
  check_store(copy);
}

Copy pixels(vector<uint64_t> sizes, vector<int> lower, vector<int> upper, uint16_t channels,
            uint16_t count) {
  Copy copy;
  copy.map = new_map(TensorElement::f16, static_cast<uint32_t>(sizes.size()));
  copy.map.mode = static_cast<uint8_t>(TensorMode::im2col);
  std::copy(sizes.begin(), sizes.end(), copy.map.sizes);
  for (size_t i = 0; i < lower.size(); ++i) {
    copy.map.lower_corner[i] = static_cast<int16_t>(lower[i]);
    copy.map.upper_corner[i] = static_cast<int16_t>(upper[i]);
    copy.start[i + 1] = lower[i];
  }
  copy.map.channels = channels;
  copy.map.pixels = count;
  lay_out(copy.map, 0);
  return copy;
}

TEST(Tensor, Pixels) {
  if (device_uri().rfind("cpu", 0) != 0) GTEST_SKIP() << "maps are the CPU device's own";
  Copy copy = pixels({24, 9, 7, 3}, {-1, -1}, {-1, -1}, 16, 70);
  check_load(copy);
  copy.start[0] = 8;
  copy.start[1] = 3;
  copy.start[2] = 2;
  copy.start[3] = 1;
  copy.offsets[0] = 2;
  copy.offsets[1] = 1;
  copy.map.swizzle = 1;
  check_load(copy);
  copy.map.steps[1] = 2;
  check_load(copy);
  copy = pixels({8, 11, 2}, {0}, {-2}, 8, 20);
  copy.offsets[0] = 2;
  check_load(copy);
  copy = pixels({16, 4, 3, 3, 2}, {-1, 0, -1}, {1, 0, -1}, 8, 40);
  copy.offsets[2] = 2;
  check_load(copy);
  copy.offsets[2] = 0;
  check_store(copy);
}

TEST(Tensor, RoundedAndFlushed) {
  const vector<uint32_t> bits = {0x3f800fff, 0x3f801000, 0x3f801001, 0x3f803000,
                                 0x00000001, 0x80000fff, 0x7f800000, 0x7fffffff};
  const vector<uint32_t> rounded = {0x3f800000, 0x3f800000, 0x3f802000, 0x3f804000,
                                    0x00000000, 0x80000000, 0x7f800000, 0x7fffffff};
  Memory before{vector<uint8_t>(32), vector<uint8_t>(kBoxLimit)};
  std::memcpy(before.tensor.data(), bits.data(), 32);
  const auto words = [&](TensorElement element) {
    const Memory got = run(tile(element, {8}, {8}, {0}), "load", before);
    vector<uint32_t> result(8);
    std::memcpy(result.data(), got.box.data(), 32);
    return result;
  };
  expect_bits("tf32", words(TensorElement::tf32), rounded);
  vector<uint32_t> flushed = bits;
  flushed[4] = 0;
  flushed[5] = 0x80000000;
  expect_bits("f32.ftz", words(TensorElement::f32_ftz), flushed);
}

template <class T>
void check_reduction(TensorElement element, const char* operation, vector<T> old, vector<T> values,
                     vector<T> want) {
  Memory before{vector<uint8_t>(old.size() * sizeof(T)), vector<uint8_t>(kBoxLimit)};
  std::memcpy(before.tensor.data(), old.data(), before.tensor.size());
  std::memcpy(before.box.data(), values.data(), values.size() * sizeof(T));
  const auto count = static_cast<uint16_t>(old.size());
  const Memory got = run(tile(element, {count}, {count}, {0}), operation, before);
  vector<T> result(old.size());
  std::memcpy(result.data(), got.tensor.data(), got.tensor.size());
  expect_bits(operation, result, want);
}

TEST(Tensor, Reductions) {
  using Words = vector<uint32_t>;
  const Words old = {1, 0xfffffff0, 7, 0}, values = {2, 0x20, 3, 9};
  check_reduction<uint32_t>(TensorElement::u32, "add", old, values, {3, 0x10, 10, 9});
  check_reduction<uint32_t>(TensorElement::u32, "max", old, values, {2, 0xfffffff0, 7, 9});
  check_reduction<uint32_t>(TensorElement::s32, "max", old, values, {2, 0x20, 7, 9});
  check_reduction<uint32_t>(TensorElement::s32, "min", old, values, {1, 0xfffffff0, 3, 0});
  check_reduction<uint32_t>(TensorElement::u32, "inc", old, values, {2, 0, 0, 1});
  check_reduction<uint32_t>(TensorElement::u32, "dec", old, values, {0, 0x20, 3, 9});
  check_reduction<uint32_t>(TensorElement::u32, "and", old, values, {0, 0x20, 3, 0});
  check_reduction<uint32_t>(TensorElement::u32, "or", old, values, {3, 0xfffffff0, 7, 9});
  check_reduction<uint32_t>(TensorElement::u32, "xor", old, values, {3, 0xffffffd0, 4, 9});
  check_reduction<float>(TensorElement::f32, "add", {1, 0.5F, -2, 1e30F}, {2, 0.25F, 2, 1},
                         {3, 0.75F, 0, 1e30F});
  check_reduction<double>(TensorElement::f64, "add", {1, 0.5}, {2, 0x1p-60}, {3, 0.5});
  check_reduction<uint64_t>(TensorElement::s64, "min", {5, ~0ULL}, {3, 1}, {3, ~0ULL});
  const vector<uint16_t> halves = {0x3c00, 0x7bff, 0x0001, 0xbc00, 0x7e01, 0, 0, 0};
  const vector<uint16_t> more = {0x1000, 0x7bff, 0x0001, 0x3c00, 0x3c00, 0, 0, 0};
  check_reduction<uint16_t>(TensorElement::f16, "add", halves, more,
                            {0x3c00, 0x7c00, 0x0002, 0x0000, 0x7fff, 0, 0, 0});
  check_reduction<uint16_t>(
      TensorElement::bf16, "max", {0x3f80, 0xbf80, 0x8000, 0x7fc0, 0, 0, 0, 0},
      {0x4000, 0xc000, 0x0000, 0x3f80, 0, 0, 0, 0}, {0x4000, 0xbf80, 0x0000, 0x3f80, 0, 0, 0, 0});
}

/// The message with which a load by the map ends its launch.
string fault_of(const Copy& copy, const TensorMap& map) {
  Session own;
  auto module = own.ptx_text(kernel_text(copy, "load"), "fault");
  vector<uint8_t> bytes(sizeof map);
  std::memcpy(bytes.data(), &map, sizeof map);
  Buffer<uint8_t> in_map(own, bytes), box(own, kBoxLimit);
  EXPECT_EQ(module->try_run("run", {{1}, {32}}, in_map, box, uint32_t{1024}),
            KM_ERROR_ILLEGAL_ADDRESS);
  return last_error_message();
}

TEST(Tensor, WrongMapsAreFaultsWithReasons) {
  if (device_uri().rfind("cpu", 0) != 0) GTEST_SKIP() << "maps are the CPU device's own";
  Copy copy = tile(TensorElement::f32, {37, 9}, {16, 8}, {3, 4});
  TensorMap map = copy.map;
  map.address = 64;
  map.mark = 0;
  EXPECT_NE(fault_of(copy, map).find("the memory holds none"), string::npos);
  map.mark = TensorMap::kMark;
  map.last_dimension = 2;
  map.sizes[2] = map.box[2] = 1;
  EXPECT_NE(fault_of(copy, map).find("another number of dimensions"), string::npos);
  map = copy.map;
  map.box[1] = 0;
  EXPECT_NE(fault_of(copy, map).find("1 to 256 elements"), string::npos);
  map = copy.map;
  map.address = 4096;  // nothing lies there
  EXPECT_NE(fault_of(copy, map).find("illegal address"), string::npos);
}

}  // namespace
}  // namespace km::kernels
