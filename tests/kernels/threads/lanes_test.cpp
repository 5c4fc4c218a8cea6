// Addresses that differ by lane.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <utility>

#include <gtest/gtest.h>

#include "harness/compare.h"
#include "harness/inputs.h"
#include "harness/session.h"

namespace km::kernels {
namespace {

using std::vector;

Module& kernels() { return session().cuda("threads/lanes.cu"); }

/// A permutation of [0, n) times `step`; every seventh has no place.
vector<int32_t> places(uint32_t n, int32_t step) {
  vector<int32_t> list(n);
  for (uint32_t i = 0; i < n; ++i) list[i] = static_cast<int32_t>(i * 37 % n) * step;
  for (uint32_t i = 3; i < n; i += 7) list[i] = -1 - static_cast<int32_t>(i);
  return list;
}

/// Elements of `words` 32-bit words each.
void expect_moved(const char* kernel, uint32_t words) {
  const uint32_t n = 200;  // 37 and 200 have no common divisor
  const vector<int32_t> to = places(n, 1);
  const vector<uint32_t> in = random_u32(n * words, 51);
  Buffer<uint32_t> input(session(), in), out(session(), vector<uint32_t>(n * words, 9));
  Buffer<int32_t> at(session(), to);
  kernels().run(kernel, cover(n, 96), out, input, at, n);
  vector<uint32_t> want(n * words, 9);
  for (uint32_t i = 0; i < n; ++i) {
    if (to[i] < 0) continue;
    const uint32_t from = to[n - 1 - i] < 0 ? i : static_cast<uint32_t>(to[i]) / 2;
    std::copy_n(in.begin() + from * words, words, want.begin() + to[i] * words);
  }
  expect_bits(kernel, out.read(), want);
}

TEST(Lanes, ElementsOfSeveralWords) {
  expect_moved("move_float2", 2);
  expect_moved("move_short4", 2);
  expect_moved("move_float4", 4);
  expect_moved("move_double2", 4);
}

TEST(Lanes, SomeBitsInSomeLanes) {
  const uint32_t n = 300;
  const auto in = random_u32(n, 53), first = random_u32(n, 54), second = random_u32(n, 55);
  const auto third = random_f32(n, 56, -9.0f, 9.0f);
  Buffer<uint32_t> input(session(), in), low(session(), first), mixed(session(), second);
  Buffer<float> signs(session(), third);
  kernels().run("some_bits", cover(n, 96), low, mixed, signs, input, n);
  vector<uint32_t> want_low = first, want_mixed = second;
  vector<float> want_signs = third;
  for (uint32_t i = 0; i < n; ++i) {
    if ((in[i] & 1) == 0) continue;
    const uint32_t odd = 0x00ff00f0u + i % 96 % 32;
    want_low[i] = (in[i] & 0x00ffff00u) | (first[i] & ~0x00ffff00u);
    want_mixed[i] = (in[i] & odd) | (second[i] & ~odd);
    want_signs[i] = std::copysign(third[i], in[i] >> 31 != 0 ? -1.0f : 1.0f);
  }
  expect_bits("low", low.read(), want_low);
  expect_bits("mixed", mixed.read(), want_mixed);
  expect_bits("signs", signs.read(), want_signs);
}

TEST(Lanes, NeighboursByScalarLoads) {
  const uint32_t n = 150;
  const vector<int32_t> at = places(n, 3);
  const vector<uint32_t> in = random_u32(3 * n + 8, 52);
  Buffer<uint32_t> input(session(), in), out(session(), vector<uint32_t>(n, 7));
  Buffer<int32_t> at_buffer(session(), at);
  kernels().run("neighbours", cover(n, 64), out, input, at_buffer, n);
  vector<uint32_t> want(n, 7);
  for (uint32_t i = 0; i < n; ++i) {
    if (at[i] < 0) continue;
    const uint32_t* from = in.data() + at[i];
    want[i] = from[2] * 3 + from[0] * 5 + from[3] * 7 + from[1] * 11 + from[4] * 13 + from[6] * 17;
  }
  expect_bits("neighbours", out.read(), want);
}

TEST(Lanes, StoresBetweenLoadsOfNeighbours) {
  const uint32_t n = 120;
  const vector<int32_t> at = places(n, 1);
  vector<uint32_t> data = random_u32(4 * n, 53);
  Buffer<uint32_t> buffer(session(), data);
  Buffer<int32_t> at_buffer(session(), at);
  kernels().run("chained", cover(n, 64), buffer, at_buffer, n);
  for (uint32_t i = 0; i < n; ++i) {
    if (at[i] >= 0) {
      uint32_t* own = data.data() + 4 * at[i];
      std::partial_sum(own, own + 4, own);
    }
  }
  expect_bits("chained", buffer.read(), data);
}

/// Where rows of fewer elements than `most` begin.
vector<int32_t> starts_of_rows(uint32_t rows, uint32_t most) {
  vector<int32_t> starts{0};
  for (uint32_t row = 0; row < rows; ++row) {
    starts.push_back(starts.back() + static_cast<int32_t>(row * 13 % most));
  }
  return starts;
}

void expect_rows(const char* kernel, uint32_t threads) {
  const uint32_t rows = 77;
  const vector<int32_t> starts = starts_of_rows(rows, 29);
  const vector<uint32_t> values = random_u32(static_cast<size_t>(starts.back()), 54);
  Buffer<int32_t> at(session(), starts);
  Buffer<uint32_t> in(session(), values), out(session(), rows * threads);
  kernels().run(kernel, cover(rows * threads, 128), out, at, in, rows);
  vector<uint32_t> want(rows * threads);
  for (uint32_t row = 0; row < rows; ++row) {
    for (int32_t k = starts[row]; k < starts[row + 1]; ++k) {
      const uint32_t lane = static_cast<uint32_t>(k - starts[row]) % threads;
      want[row * threads + lane] += values[static_cast<size_t>(k)] * (lane + 1);
    }
  }
  expect_bits(kernel, out.read(), want);
}

TEST(Lanes, RowsSharedByThreads) {
  expect_rows("rows16", 16);
  expect_rows("rows8", 8);
}

void expect_exchanged(const char* kernel, uint32_t threads, uint32_t block) {
  const uint32_t rows = 96, elements = 50, distance = 3;
  const vector<int32_t> starts = starts_of_rows(rows, threads * 5 / 2 + 1);
  vector<int32_t> columns;
  for (int32_t i = 0; i < starts[rows]; ++i) columns.push_back(i * 17 % 50);
  const vector<uint32_t> x = random_u32(elements, 57);
  Buffer<int32_t> in_starts(session(), starts), in_columns(session(), columns);
  Buffer<uint32_t> in_x(session(), x), out(session(), rows * threads);
  kernels().run(kernel, cover(rows * threads, block), out, in_starts, in_columns, in_x, rows,
                distance);
  vector<uint32_t> want;
  for (uint32_t row = 0; row < rows; ++row) {
    vector<uint32_t> sums(threads);
    std::iota(sums.begin(), sums.end(), 0);
    for (int32_t k = starts[row]; k < starts[row + 1]; ++k) {
      const auto lane = static_cast<uint32_t>(k - starts[row]) % threads;
      sums[lane] += x[static_cast<size_t>(columns[static_cast<size_t>(k)])] * 3;
    }
    const uint32_t all = std::accumulate(sums.begin(), sums.end(), uint32_t{0});
    uint32_t before = 0;
    for (uint32_t lane = 0; lane < threads; ++lane) {
      before += sums[lane];
      const uint32_t next = sums[std::min(lane + 1, threads - 1)];
      const uint32_t any = sums[(lane * distance + row) % threads];
      want.push_back(all + before * 5 + next * 7 + any * 11);
    }
  }
  expect_bits(kernel, out.read(), want);
}

TEST(Lanes, ExchangeWithinSegments) {
  for (const uint32_t block : {64u, 96u, 32u, 256u}) {
    expect_exchanged("exchange2", 2, block);
    expect_exchanged("exchange4", 4, block);
    expect_exchanged("exchange8", 8, block);
    expect_exchanged("exchange16", 16, block);
    expect_exchanged("exchange32", 32, block);
  }
}

TEST(Lanes, RunsThatEnd) {
  const uint32_t n = 256, length = 400, rounds = 5;
  vector<int32_t> starts, next;
  for (uint32_t i = 0; i < n / 16; ++i) starts.push_back(static_cast<int32_t>(i * 151 % 380));
  for (uint32_t i = 0; i < length; ++i) next.push_back(static_cast<int32_t>((i * 7 + 5) % length));
  Buffer<int32_t> at(session(), starts), to(session(), next);
  Buffer<uint32_t> out(session(), n);
  kernels().run("chase", Shape{{2}, {n / 2}}, out, at, to, rounds);
  vector<uint32_t> want(n);
  for (uint32_t i = 0; i < n; ++i) {
    int32_t k = starts[i / 16] + static_cast<int32_t>(i % 16);
    for (uint32_t r = 0; r < rounds; ++r) {
      want[i] = want[i] * 31 + static_cast<uint32_t>(k);
      k = next[static_cast<size_t>(k)];
    }
  }
  expect_bits("chase", out.read(), want);
}

TEST(Lanes, QuotientsOfIndices) {
  const uint32_t n = 192;
  for (const auto& [shift, factor] :
       {std::pair{0, 1}, {-100, 1}, {INT32_MAX - 90, 1}, {5, 77}, {INT32_MIN, 1 << 24}, {0, -1}}) {
    Buffer<int32_t> out(session(), 6 * n);
    kernels().run("quotients", Shape{{3}, {n / 3}}, out, shift, factor);
    vector<int32_t> want;
    for (uint32_t t = 0; t < n; ++t) {
      const uint32_t bits = t * static_cast<uint32_t>(factor) + static_cast<uint32_t>(shift);
      const auto i = static_cast<int32_t>(bits);
      for (const int32_t each : {i / 16, i % 16, i / 4, i % 4 * 1024 + i / 4, i >> 31,
                                 static_cast<int32_t>(bits >> 4)}) {
        want.push_back(each);
      }
    }
    expect_bits("quotients", out.read(), want);
  }
}

TEST(Lanes, WordsOfSharedMemory) {
  const uint32_t n = 224;
  const vector<uint32_t> in = random_u32(n, 55);
  for (const uint32_t active : {n, n - 32, 45u, 1u}) {
    Buffer<uint32_t> input(session(), in), out(session(), 192);
    kernels().run("shared_words", Shape{{1}, {n}}, out, input, 3u, active);
    vector<uint32_t> want(192);
    for (const uint32_t row : {2u, 4u}) std::fill_n(want.begin() + 32 * row, 32, UINT32_MAX);
    for (uint32_t t = 0; t < active; ++t) {
      const uint32_t own = in[t];
      want[own % 32] += 3;
      want[32 + own / 32 % 32] += own;
      want[64 + own % 7] &= own | 0xff;
      want[96 + own % 5] |= own;
      want[128 + own % 32] = std::min(want[128 + own % 32], own);
      const auto most = static_cast<int32_t>(want[160 + own % 32]);
      want[160 + own % 32] = static_cast<uint32_t>(std::max(most, static_cast<int32_t>(own)));
    }
    expect_bits("shared_words", out.read(), want);
  }
}

TEST(Lanes, StridesOfTheGrid) {
  const uint32_t n = 10007, threads = 256;
  const vector<uint32_t> values = random_u32(n, 56);
  Buffer<uint32_t> in(session(), values), sums(session(), threads);
  kernels().run("strided_sums", Shape{{2}, {threads / 2}}, sums, in, n);
  vector<uint32_t> want(threads);
  for (uint32_t i = 0; i < n; ++i) want[i % threads] += values[i];
  expect_bits("strided_sums", sums.read(), want);
}

/// A page that starts with 0, 1, 2 ..., with nothing before and behind it.
class LonelyPage {
 public:
  LonelyPage()
      : size_bytes_(static_cast<size_t>(sysconf(_SC_PAGESIZE))),
        all_(static_cast<uint8_t*>(
            mmap(nullptr, 3 * size_bytes_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))) {
    mprotect(all_ + size_bytes_, size_bytes_, PROT_READ | PROT_WRITE);
    for (size_t i = 0; i < size_bytes_; ++i) all_[size_bytes_ + i] = static_cast<uint8_t>(i * 7);
    require(km_host_memory_register(session().context(), all_ + size_bytes_, size_bytes_, 0,
                                    &registered_),
            "km_host_memory_register");
  }
  ~LonelyPage() {
    km_host_memory_destroy(registered_);
    munmap(all_, 3 * size_bytes_);
  }
  LonelyPage(const LonelyPage&) = delete;
  LonelyPage& operator=(const LonelyPage&) = delete;

  size_t size_bytes() const { return size_bytes_; }
  /// Of an element from the page's begin; before and behind the page, too.
  template <typename T>
  uint64_t address(int64_t element) const {
    return reinterpret_cast<uint64_t>(all_ + size_bytes_) +
           static_cast<uint64_t>(element) * sizeof(T);
  }
  template <typename T>
  T read(int64_t element) const {
    T value;
    std::memcpy(&value, reinterpret_cast<const T*>(address<T>(element)), sizeof value);
    return value;
  }

 private:
  size_t size_bytes_;
  uint8_t* all_;
  km_host_memory registered_{};
};

TEST(Lanes, EdgesOfPages) {
  const LonelyPage page;
  constexpr int kThreads = 160;
  const auto count_of = [&](size_t size) { return static_cast<int64_t>(page.size_bytes() / size); };
  for (const auto& [first, last] :
       {std::pair{0, kThreads}, {3, 97}, {33, 34}, {50, 50}, {31, 65}}) {
    for (const bool at_end : {false, true}) {
      // Element 0 of each array, so that [first, last) begin or end with the page.
      const auto origin = [&](size_t size) { return at_end ? count_of(size) - last : -first; };
      Buffer<uint64_t> out(session(), kThreads);
      kernels().run("edges", Shape{{1}, {kThreads}}, out, page.address<uint64_t>(origin(8)),
                    page.address<uint32_t>(origin(4)), page.address<uint16_t>(origin(2)), first,
                    last);
      vector<uint64_t> want(kThreads);
      for (int i = first; i < last; ++i) {
        want[static_cast<size_t>(i)] = page.read<uint64_t>(origin(8) + i) * 3 +
                                       page.read<uint32_t>(origin(4) + i) * 5u +
                                       page.read<uint16_t>(origin(2) + i);
      }
      expect_bits("edges", out.read(), want);
    }
  }
}

TEST(Lanes, RowsOfABlock) {
  const uint32_t tiles = 3, pitch = 32 * tiles;
  const vector<uint32_t> in = random_u32(32 * pitch, 57);
  Buffer<uint32_t> input(session(), in);
  for (const uint32_t height : {32u, 8u, 7u, 1u, 0u}) {
    for (const uint32_t block_rows : {8u, 1u, 5u, 16u, 32u}) {
      Buffer<uint32_t> out(session(), vector<uint32_t>(32 * pitch));
      kernels().run("rows", Shape{{tiles}, {32, block_rows}}, out, input, pitch, height);
      vector<uint32_t> want(32 * pitch);
      for (uint32_t k = 0; k < height; ++k) {
        if (k % 8 >= block_rows) continue;  // no thread starts there
        for (uint32_t i = 0; i < pitch; ++i) {
          want[(i / 32 * 32 + k) * 32 + i % 32] = in[i % 32 * pitch + i / 32 * 32 + k];
        }
      }
      expect_bits("rows", out.read(), want);
    }
  }
}

/// Lists that go up by one to 23 elements at a time, so that all of them end.
vector<int32_t> lists(uint32_t n, uint64_t seed) {
  const auto steps = random_u32(n, seed);
  vector<int32_t> next(n);
  for (uint32_t i = 0; i < n; ++i) {
    const uint32_t to = i + 1 + steps[i] % 23;
    next[i] = to < n ? static_cast<int32_t>(to) : -1;
  }
  return next;
}

template <class T>
T sum_of_list(const vector<int32_t>& next, const vector<T>& weights, int32_t at) {
  T sum = 0;
  for (; at >= 0; at = next[at]) sum += weights[at];
  return sum;
}

template <class T>
void expect_walked(const char* kernel, const Shape& shape, const vector<T>& weights,
                   const vector<int32_t>& heads, uint32_t n) {
  const vector<int32_t> next = lists(static_cast<uint32_t>(weights.size()), 61);
  Buffer<int32_t> next_of(session(), next), head_of(session(), heads);
  Buffer<T> weight_of(session(), weights), out(session(), vector<T>(heads.size(), T{1}));
  kernels().run(kernel, shape, next_of, weight_of, head_of, out, n);
  vector<T> want;
  for (const int32_t head : heads) want.push_back(sum_of_list(next, weights, head));
  expect_bits(kernel, out.read(), want);
}

vector<int32_t> heads(uint32_t n, uint32_t elements) {
  vector<int32_t> list;
  for (const uint32_t x : random_u32(n, 62)) {
    list.push_back(x % 5 == 0 ? -1 : static_cast<int32_t>(x % elements));
  }
  return list;
}

TEST(Lanes, ListsOfTheirOwn) {
  const uint32_t n = 1000, elements = 700;
  const auto weights = random_u32(elements, 63);
  vector<double> wide;
  for (const uint32_t x : weights) wide.push_back(x * 0.37);
  for (const uint32_t block : {32u, 96u, 100u, 256u}) {
    expect_walked("walk_u32", cover(n, block), weights, heads(n, elements), n);
    expect_walked("walk_f64", cover(n, block), wide, heads(n, elements), n);
  }
  const uint32_t edge = 29;
  for (const Dim block : {Dim{16, 4}, Dim{8, 8}, Dim{5, 7}, Dim{32, 8}}) {
    const Shape shape{{(edge + block.x - 1) / block.x, (edge + block.y - 1) / block.y}, block};
    expect_walked("walk_rows", shape, weights, heads(edge * edge, elements), edge);
  }
}

/// Of the thread that left its list.
TEST(Lanes, ListsThatLeadNowhere) {
  KM_NEEDS_FAULTS();
  const uint32_t n = 256;
  vector<int32_t> own_heads(n, -1);
  own_heads[203] = 1 << 30;
  Session own;
  Buffer<int32_t> next(own, vector<int32_t>(64, -1)), head_of(own, own_heads);
  Buffer<uint32_t> weights(own, 64), out(own, n);
  EXPECT_EQ(
      own.cuda("threads/lanes.cu").try_run("walk_u32", cover(n), next, weights, head_of, out, n),
      KM_ERROR_ILLEGAL_ADDRESS);
  EXPECT_NE(last_error_message().find("kernel 'walk_u32', block (1,0,0)"), std::string::npos)
      << last_error_message();
}

}  // namespace
}  // namespace km::kernels
