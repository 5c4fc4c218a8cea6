// tcgen05.mma of every kind without scales: matrices lie in shared memory by the canonical layouts
// of the PTX ISA (9.7.16.3) or in tensor memory, results are compared with plain integer
// arithmetic.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <random>

#include <gtest/gtest.h>

#include "harness/compare.h"
#include "harness/mma_reference.h"
#include "harness/session.h"

namespace km::kernels {
namespace {

using std::string;
using std::vector;

using enum Number;

constexpr uint32_t kLanes = 128, kRowBytes = 32, kStartOfB = 16 << 10;
constexpr uint32_t kImageBytes = 46 << 10, kColumns = 256;

/// Formats of 4 and 6 bits; the reference gets them as e4m3.
enum class Narrow { none, e2m3, e3m2, e2m1 };

/// How a matrix lies in shared memory.
struct Layout {
  uint32_t mode = 0;    // of the descriptor: 1, 2: 128 bytes, 4: 64, 6: 32
  bool by_rows = true;  // along k
};

struct Case {
  string kind;  // the words behind .mma
  uint32_t m, n;
  Number a, b, d;
  Layout layout_a = {}, layout_b = {};
  Narrow narrow_a = Narrow::none, narrow_b = Narrow::none;
  bool a_in_tensor = false, negates_a = false, negates_b = false, adds = true, saturates = false;
  bool disables = false;  // lanes 3 and 64 to 95
  uint32_t scale_d = 0, first_lane = 0;
  uint64_t zero_columns = 0;
  bool sparse = false;
  uint32_t selector = 0;     // of the metadata's column
  uint32_t block = 0;        // elements for each scale, 0: none
  uint32_t scale_id = 0;     // of A and B
  bool e4m3_scales = false;  // otherwise ue8m0
  bool any = false;          // infinities, NaNs, numbers of all sizes
  bool is_stationary() const { return kind.starts_with("ws"); }
  uint32_t blocks() const { return kind.find("cta_group::2") == string::npos ? 1 : 2; }
  uint32_t rows() const { return m / blocks(); }
  bool packs() const { return kind.find("kind::mxf4") != string::npos; }  // two of 4 bits a byte
  uint32_t k() const {
    const uint32_t dense = packs() ? 64 : kRowBytes * 8 / traits_of(a).bits;
    return sparse ? 2 * dense : dense;
  }
  uint32_t stored_k() const { return sparse ? k() / 2 : k(); }
};

// ---- Elements

uint32_t bits_of(Narrow narrow) { return narrow == Narrow::e2m1 ? 4 : 6; }

double value_of(uint32_t code, uint32_t exponent_bits, uint32_t fraction_bits) {
  const uint32_t fraction = code & ((1u << fraction_bits) - 1);
  const uint32_t field = code >> fraction_bits & ((1u << exponent_bits) - 1);
  const int bias = (1 << (exponent_bits - 1)) - 1, scale = static_cast<int>(fraction_bits);
  const double size = field == 0 ? std::ldexp(fraction, 1 - bias - scale)
                                 : std::ldexp(fraction + (1u << fraction_bits),
                                              static_cast<int>(field) - bias - scale);
  return code >> (exponent_bits + fraction_bits) & 1 ? -size : size;
}

/// The e4m3 of the same number.
uint64_t as_e4m3(Narrow narrow, uint32_t code) {
  const double value = narrow == Narrow::e2m3   ? value_of(code, 2, 3)
                       : narrow == Narrow::e3m2 ? value_of(code, 3, 2)
                                                : value_of(code, 2, 1);
  for (uint32_t wide = 0; wide < 256; ++wide) {
    const double other = value_of(wide, 4, 3);
    if (other == value && std::signbit(other) == std::signbit(value)) return wide;
  }
  return 255;
}

uint64_t random_element(Number number, bool any, std::mt19937_64& random) {
  const Traits traits = traits_of(number);
  const uint64_t bits = random() & ((uint64_t{1} << traits.bits) - 1);
  if (traits.exponent_bits == 0 || any) return bits;
  const uint32_t fraction_bits = number == tf32 ? 23 : traits.fraction_bits;
  const uint64_t bias = (uint64_t{1} << (traits.exponent_bits - 1)) - 1;
  const uint64_t sign = bits >> (traits.bits - 1) << (traits.bits - 1);
  return sign | (bias + random() % 6 - 3) << fraction_bits |
         (bits & ((uint64_t{1} << fraction_bits) - 1));
}

/// Elements as memory has them.
Matrix random_codes(uint32_t rows, uint32_t columns, Number number, Narrow narrow, bool any,
                    std::mt19937_64& random) {
  Matrix matrix(rows, columns);
  for (uint64_t& element : matrix.bits) {
    element = narrow == Narrow::none ? random_element(number, any, random)
                                     : random() % (1u << bits_of(narrow));
  }
  return matrix;
}

/// The elements as the reference takes them.
Matrix numbers_of(Matrix codes, Number number, Narrow narrow, bool negates) {
  for (uint64_t& element : codes.bits) {
    if (narrow != Narrow::none) element = as_e4m3(narrow, static_cast<uint32_t>(element));
    if (negates) element ^= uint64_t{1} << (traits_of(number).bits - 1);
  }
  return codes;
}

// ---- Shared memory

uint32_t span_of(uint32_t mode) { return mode == 0 ? 16 : mode == 4 ? 64 : mode == 6 ? 32 : 128; }

struct Strides {
  uint32_t leading, stride;
};

Strides strides_of(const Layout& layout, uint32_t rows, uint32_t row_bytes,
                   uint32_t element_bytes) {
  const uint32_t span = span_of(layout.mode), lines = layout.mode == 1 ? 4 : 8;
  if (layout.by_rows && layout.mode == 0) return {128, 8 * row_bytes};
  if (layout.by_rows) return {rows * span, 8 * span};
  const uint32_t across = (rows * element_bytes + span - 1) / span, atom = lines * span;
  return layout.mode == 0 ? Strides{across * atom, atom} : Strides{atom, across * atom};
}

/// The offset of a byte of element (row, k), before and after the swizzle.
uint32_t offset_of(const Layout& layout, const Strides& strides, uint32_t start, uint32_t row,
                   uint32_t k_byte, uint32_t element_bytes) {
  const uint32_t span = span_of(layout.mode);
  uint32_t offset = start;
  if (layout.by_rows) {
    offset +=
        row / 8 * strides.stride + row % 8 * span + k_byte / span * strides.leading + k_byte % span;
  } else {
    const uint32_t k = k_byte / element_bytes, byte = row * element_bytes;
    const uint32_t lines = layout.mode == 1 ? 4 : 8;
    const bool plain = layout.mode == 0;
    offset += byte / span * (plain ? strides.stride : strides.leading) + byte % span +
              k % lines * span + k / lines * (plain ? strides.leading : strides.stride) +
              k_byte % element_bytes;
  }
  const uint32_t line = offset / 128;
  switch (layout.mode) {
    case 1:
      return offset ^ line % 4 << 5;
    case 2:
      return offset ^ line % 8 << 4;
    case 4:
      return offset ^ line % 4 << 4;
    case 6:
      return offset ^ line % 2 << 4;
    default:
      return offset;
  }
}

/// The bytes of a row: narrow elements lie side by side, 16 of them (or 32) in 16 bytes.
vector<uint8_t> bytes_of(const Matrix& codes, uint32_t row, Number number, Narrow narrow) {
  // Rows of 64 elements of 4 bits or more are those of kinds that pack two into a byte.
  const bool packs = codes.columns >= 64 && narrow == Narrow::e2m1;
  const uint32_t piece = packs ? 32 : 16;
  vector<uint8_t> bytes(codes.columns * (packs ? 4 : traits_of(number).bits) / 8);
  const uint32_t bits = traits_of(number).bits;
  for (uint32_t k = 0; k < codes.columns; ++k) {
    const uint64_t code = codes.at(row, k);
    if (narrow == Narrow::none) {
      for (uint32_t i = 0; i < bits / 8; ++i) {
        bytes[k * bits / 8 + i] = static_cast<uint8_t>(code >> 8 * i);
      }
      continue;
    }
    for (uint32_t i = 0; i < bits_of(narrow); ++i) {
      const uint32_t bit = k % piece * bits_of(narrow) + i;
      bytes[k / piece * 16 + bit / 8] |= static_cast<uint8_t>((code >> i & 1) << bit % 8);
    }
  }
  return bytes;
}

/// Writes a matrix into the image of shared memory; returns its descriptor.
uint64_t place(const Layout& layout, uint32_t start, const Matrix& codes, Number number,
               Narrow narrow, vector<uint8_t>& image) {
  const uint32_t element = traits_of(number).bits / 8;
  const auto row_bytes = static_cast<uint32_t>(bytes_of(codes, 0, number, narrow).size());
  const Strides strides = strides_of(layout, codes.rows, row_bytes, element);
  for (uint32_t row = 0; row < codes.rows; ++row) {
    const vector<uint8_t> bytes = bytes_of(codes, row, number, narrow);
    for (uint32_t i = 0; i < row_bytes; ++i) {
      image.at(offset_of(layout, strides, start, row, i, element)) = bytes[i];
    }
  }
  const auto field = [](uint32_t size) { return uint64_t{size & 0x3ffff} >> 4; };
  return field(start) | field(strides.leading) << 16 | field(strides.stride) << 32 |
         uint64_t{1} << 46 | uint64_t{layout.mode} << 61;
}

// ---- Tensor memory

/// A lane of the blocks, and a column.
struct Place {
  uint32_t lane, column;
  uint32_t word() const { return lane * kColumns + column; }
};

/// The place of an element of D (PTX ISA, layouts A, B and D to G).
Place place_of(const Case& test, uint32_t row, uint32_t column) {
  const uint32_t rows = test.rows(), block = row / rows * kLanes, within = row % rows;
  if (rows == 128) return {block + within, column};
  if (test.blocks() == 1 && !test.is_stationary()) {
    return {test.first_lane + row / 16 * 32 + row % 16, column};
  }
  const uint32_t across = test.n * rows / 128;
  return {block + within + column / across * rows, column % across};
}

bool is_disabled(uint32_t lane) { return lane == 3 || lane / 32 == 2 || lane == 128 + 99; }

constexpr uint32_t kOperandWords = 24, kScalesOfA = 8, kScalesOfB = 12, kMetadata = 20;

/// The words of A in tensor memory, 8 of each lane; 4 with scales of A and 8 with scales of B
/// follow.
vector<uint32_t> words_of_a(const Case& test, const Matrix& codes) {
  vector<uint32_t> words(test.blocks() * kLanes * kOperandWords, 0xEEEEEEEE);
  for (uint32_t row = 0; row < codes.rows; ++row) {
    vector<uint8_t> bytes = bytes_of(codes, row, test.a, test.narrow_a);
    if (test.narrow_a != Narrow::none && !test.packs()) {  // a byte each
      for (uint32_t k = 0; k < kRowBytes; ++k) {
        const auto code = static_cast<uint8_t>(codes.at(row, k));
        bytes[k] = test.narrow_a == Narrow::e2m1 ? static_cast<uint8_t>(code << 2) : code;
      }
    }
    std::memcpy(&words[place_of(test, row, 0).lane * kOperandWords], bytes.data(), kRowBytes);
  }
  return words;
}

uint32_t code_of(Number number, Narrow narrow) {
  switch (narrow) {
    case Narrow::e2m3:
      return 3;
    case Narrow::e3m2:
      return 4;
    case Narrow::e2m1:
      return 5;
    case Narrow::none:
      break;
  }
  return number == bf16 || number == e5m2 || number == s8 ? 1 : number == tf32 ? 2 : 0;
}

/// The descriptor of kinds with scales.
uint32_t scaled_descriptor(const Case& test) {
  const auto code = [&](Number number, Narrow narrow) {
    return test.packs() ? 1 : code_of(number, narrow);
  };
  return (test.sparse ? 4 : 0) | test.scale_id << 4 | code(test.a, test.narrow_a) << 7 |
         code(test.b, test.narrow_b) << 10 | (test.negates_a ? 1u << 13 : 0) | test.n / 8 << 17 |
         (test.e4m3_scales ? 0 : 1u << 23) | test.m / 128 << 27 | test.scale_id << 29;
}

uint32_t instruction_descriptor(const Case& test) {
  if (test.block != 0) return scaled_descriptor(test);
  const uint32_t sums = test.d == f16 ? 0 : test.d == f32 ? 1 : 2;
  return (test.sparse ? 4 | test.selector : 0) | (test.saturates ? 8u : 0u) | sums << 4 |
         code_of(test.a, test.narrow_a) << 7 | code_of(test.b, test.narrow_b) << 10 |
         (test.negates_a ? 1u << 13 : 0) | (test.negates_b ? 1u << 14 : 0) |
         (test.layout_a.by_rows ? 0 : 1u << 15) | (test.layout_b.by_rows ? 0 : 1u << 16) |
         test.n / 8 << 17 | test.m / 16 << 24;
}

/// 128 threads copy the image to shared memory, and D and A to tensor memory ...
constexpr const char* kBegin = R"(.version 9.0
.target sm_100a
.address_size 64
.shared .align 1024 .b8 memory[47120];
.visible .entry run(.param .u64 image, .param .u64 a, .param .u64 d, .param .u64 da,
                    .param .u64 db, .param .u64 zeros, .param .u32 idesc, .param .u32 adds)
{
  .reg .b64 %pi, %pa, %pd, %da, %db, %zeros;
  .reg .b32 %t, %i, %s, %bar, %block, %idesc, %word, %x<8>, %td, %ta, %own, %at, %m<4>;
  .reg .pred %p, %adds;
  mov.u32 %t, %tid.x;
  mov.u32 %bar, memory;
  add.u32 %bar, %bar, 47104;
  ld.param.u64 %pi, [image];
  ld.param.u64 %pa, [a];
  ld.param.u64 %pd, [d];
  ld.param.u64 %da, [da];
  ld.param.u64 %db, [db];
  ld.param.u64 %zeros, [zeros];
  ld.param.u32 %idesc, [idesc];
  ld.param.u32 %word, [adds];
  setp.ne.u32 %adds, %word, 0;
  mov.b32 %m0, 8;
  mov.b32 %m1, 0;
  mov.b32 %m2, -1;
  mov.b32 %m3, 0;
  setp.ge.u32 %p, %t, 32;
  @%p bra allocated;
  tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%bar+8], 512;
  tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;
  setp.ne.u32 %p, %t, 0;
  @%p bra allocated;
  mbarrier.init.shared::cta.b64 [%bar], 1;
allocated:
  mov.u32 %s, memory;
  shl.b32 %i, %t, 4;
  add.u32 %s, %s, %i;
  mad.wide.u32 %pi, %t, 16, %pi;
copy:
  ld.global.v4.b32 {%x0, %x1, %x2, %x3}, [%pi];
  st.shared.v4.b32 [%s], {%x0, %x1, %x2, %x3};
  add.u64 %pi, %pi, 2048;
  add.u32 %s, %s, 2048;
  add.u32 %i, %i, 2048;
  setp.lt.u32 %p, %i, 47104;
  @%p bra copy;
  fence.proxy.async;
  bar.sync 0;
  ld.shared.b32 %td, [%bar+8];
  and.b32 %own, %t, 96;
  shl.b32 %own, %own, 16;
  add.u32 %own, %own, %td;
  mad.wide.u32 %pa, %t, 96, %pa;
  mad.wide.u32 %pd, %t, 1024, %pd;
  mov.u32 %i, 0;
operands:
  ld.global.v4.b32 {%x0, %x1, %x2, %x3}, [%pa];
  ld.global.v4.b32 {%x4, %x5, %x6, %x7}, [%pa+16];
  add.u32 %ta, %own, %i;
  tcgen05.st.sync.aligned.32x32b.x8.b32 [%ta+256], {%x0, %x1, %x2, %x3, %x4, %x5, %x6, %x7};
  add.u64 %pa, %pa, 32;
  add.u32 %i, %i, 8;
  setp.lt.u32 %p, %i, 24;
  @%p bra operands;
  mov.u32 %i, 0;
fill:
  ld.global.v4.b32 {%x0, %x1, %x2, %x3}, [%pd];
  ld.global.v4.b32 {%x4, %x5, %x6, %x7}, [%pd+16];
  add.u32 %at, %own, %i;
  tcgen05.st.sync.aligned.32x32b.x8.b32 [%at], {%x0, %x1, %x2, %x3, %x4, %x5, %x6, %x7};
  add.u64 %pd, %pd, 32;
  add.u32 %i, %i, 8;
  setp.lt.u32 %p, %i, 256;
  @%p bra fill;
  tcgen05.wait::st.sync.aligned;
  tcgen05.fence::before_thread_sync;
  bar.sync 0;
  tcgen05.fence::after_thread_sync;
  setp.ne.u32 %p, %t, 0;
  @%p bra multiplied;
  add.u32 %ta, %td, )";

/// ... and read D when one of them has multiplied.
constexpr const char* kEnd = R"(;
  tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%bar];
multiplied:
  mbarrier.try_wait.parity.shared::cta.b64 %p, [%bar], 0;
  @!%p bra multiplied;
  tcgen05.fence::after_thread_sync;
  sub.u64 %pd, %pd, 1024;
  mov.u32 %i, 0;
read:
  add.u32 %at, %own, %i;
  tcgen05.ld.sync.aligned.32x32b.x8.b32 {%x0, %x1, %x2, %x3, %x4, %x5, %x6, %x7}, [%at];
  tcgen05.wait::ld.sync.aligned;
  st.global.v4.b32 [%pd], {%x0, %x1, %x2, %x3};
  st.global.v4.b32 [%pd+16], {%x4, %x5, %x6, %x7};
  add.u64 %pd, %pd, 32;
  add.u32 %i, %i, 8;
  setp.lt.u32 %p, %i, 256;
  @%p bra read;
  tcgen05.fence::before_thread_sync;
  bar.sync 0;
  setp.ge.u32 %p, %t, 32;
  @%p bra over;
  tcgen05.dealloc.cta_group::1.sync.aligned.b32 %td, 512;
over:
  ret;
}
)";

/// For pairs of blocks, of which the first one's thread multiplies.
string of_pair(string text) {
  const std::pair<const char*, const char*> changes[] = {
      {"bar.sync 0;", "barrier.cluster.arrive; barrier.cluster.wait;"},
      {"cta_group::1", "cta_group::2"},
      {".u32 adds)\n", ".u32 adds)\n.explicitcluster\n.reqnctapercluster 2\n"},
      {"  setp.ge.u32 %p, %t, 32;\n  @%p bra allocated;\n",
       "  mov.u32 %block, %ctaid.x;\n  mad.wide.u32 %pi, %block, 47104, %pi;\n"
       "  mad.wide.u32 %pa, %block, 12288, %pa;\n  mad.wide.u32 %pd, %block, 131072, %pd;\n"
       "  setp.ge.u32 %p, %t, 32;\n  @%p bra allocated;\n"},
      {"  tcgen05.fence::after_thread_sync;\n  setp.ne.u32 %p, %t, 0;\n",
       "  tcgen05.fence::after_thread_sync;\n  or.b32 %word, %t, %block;\n"
       "  setp.ne.u32 %p, %word, 0;\n"},
      {"shared::cluster.b64 [%bar]", "shared::cluster.multicast::cluster.b64 [%bar], 3"}};
  for (const auto& [from, to] : changes) {
    for (size_t at = text.find(from); at != string::npos; at = text.find(from, at)) {
      text.replace(at, string(from).size(), to);
      at += string(to).size();
    }
  }
  return text;
}

string kernel_text(const Case& test) {
  string operands = test.a_in_tensor ? "[%ta], " : "%da, ";
  operands += test.sparse ? "%db, [%td+276], %idesc, " : "%db, %idesc, ";
  if (test.block != 0) operands += "[%td+264], [%td+268], ";
  if (test.disables && test.blocks() == 1) operands += "{%m0, %m1, %m2, %m3}, ";
  if (test.disables && test.blocks() == 2) {
    operands += "{%m0, %m1, %m2, %m3, %m1, %m1, %m1, %m0}, ";
  }
  operands += "%adds";
  if (test.scale_d != 0) operands += ", " + std::to_string(test.scale_d);
  if (test.zero_columns != 0) operands += ", %zeros";
  const uint32_t lane = test.first_lane << 16;
  const string text = kBegin + std::to_string(256 + lane) + ";\n  tcgen05.mma." + test.kind +
                      " [%td+" + std::to_string(lane) + "], " + operands + kEnd;
  return test.blocks() == 1 ? text : of_pair(text);
}

/// True if the column of B is zero: example 3 of the manual's zero-column masks.
bool is_zero_column(const Case& test, uint32_t column) {
  if (test.zero_columns == 0) return false;
  const uint32_t across = test.n * test.m / 128, place = column % across;
  return column / across == 0 ? place % 7 < 3 : place % 7 >= 4;
}

Rule rule_of(const Case&) {
  const char* how = std::getenv("KM_CPU_MMA");
  return {.fast = how != nullptr && string(how) == "fast"};
}

Matrix multiply_plain(const Case& test, const Matrix& a, Matrix b, const Matrix& c) {
  MmaCase mma{"", test.m, test.n, test.k(), test.a, test.b, test.d, test.d};
  mma.saturates = test.saturates;
  for (uint32_t j = 0; j < test.n; ++j) {
    for (uint32_t k = 0; k < test.k() && is_zero_column(test, j); ++k) b.at(k, j) = 0;
  }
  return multiply(mma, rule_of(test), a, b, c);
}

/// The words of D after the product.
vector<uint32_t> expected(const Case& test, const Matrix& result, const vector<uint32_t>& before) {
  vector<uint32_t> words = before;
  for (uint32_t i = 0; i < test.m; ++i) {
    for (uint32_t j = 0; j < test.n; ++j) {
      const Place place = place_of(test, i, j);
      if (test.disables && is_disabled(place.lane)) continue;
      words[place.word()] = static_cast<uint32_t>(result.at(i, j));
    }
  }
  return words;
}

// ---- Sparse matrices

/// A with its zeros. Which elements are stored goes to the metadata of each block.
Matrix with_zeros(const Case& test, const Matrix& stored, std::mt19937_64& random,
                  vector<uint32_t>& words) {
  const uint32_t bits = traits_of(test.a).bits, width = test.packs() ? 2 : 1;
  const uint32_t chunk = bits == 32 ? 2 : 4 * width;
  Matrix a(test.m, test.k());
  for (uint32_t i = 0; i < test.m * test.k() / chunk; ++i) {
    const uint32_t row = i / (test.k() / chunk), index = i % (test.k() / chunk);
    uint32_t code = 0;
    if (bits == 32) {
      const uint32_t pick = random() % 2;
      code = pick != 0 ? 0b1110 : 0b0100;
      a.at(row, index * chunk + pick) = stored.at(row, index);
    } else {
      const auto first = static_cast<uint32_t>(random() % 3);
      const uint32_t second = first + 1 + static_cast<uint32_t>(random() % (3 - first));
      code = first | second << 2;
      for (uint32_t e = 0; e < width; ++e) {  // pairs of packed elements
        const uint32_t from = 2 * width * index + e, to = index * chunk + e;
        a.at(row, to + first * width) = stored.at(row, from);
        a.at(row, to + second * width) = stored.at(row, from + width);
      }
    }
    // Eight codes of bytes lie in a word; four of other elements in a half of one.
    const uint32_t block = row / 128 * 128, within = row % 128;
    const bool wide = bits > 8;
    const uint32_t lane = wide ? within / 16 * 16 + within % 8 + index / 4 * 8 : within;
    const uint32_t word = wide ? test.selector : index / 8;
    const uint32_t shift = wide ? index % 4 * 4 + within / 8 % 2 * 16 : index % 8 * 4;
    uint32_t& to = words[(block + lane) * kOperandWords + kMetadata + word];
    to = (to & ~(15u << shift)) | code << shift;
  }
  return a;
}

// ---- Scales

/// The scales of rows of A or columns of B, those of each one side by side.
struct Scales {
  uint32_t count;  // of each row
  vector<uint8_t> codes;
  double at(const Case& test, uint32_t row, uint32_t block) const {
    const uint32_t code = codes[row * count + block];
    return test.e4m3_scales ? value_of(code, 4, 3) : std::ldexp(1.0, static_cast<int>(code) - 127);
  }
};

Scales random_scales(const Case& test, uint32_t rows, std::mt19937_64& random) {
  Scales scales{test.k() / test.block, {}};
  for (uint32_t i = 0; i < rows * scales.count; ++i) {
    const uint64_t some = random();
    scales.codes.push_back(
        static_cast<uint8_t>(test.e4m3_scales ? some % 48 + 40 : 124 + some % 6));
  }
  return scales;
}

/// Writes the scales to the words of one block from word `first` on, in each quarter of the lanes;
/// with halves, those from row 128 on go to the odd quarters only, and the others to the even ones.
void place_scales(const Case& test, const Scales& scales, uint32_t first_row, uint32_t rows,
                  bool halves, uint32_t first_word, uint32_t block, vector<uint32_t>& words) {
  for (uint32_t i = 0; i < rows; ++i) {
    const uint32_t within = halves ? i % 128 : i;
    for (uint32_t quarter = 0; quarter < 4; ++quarter) {
      if (halves && quarter % 2 != i / 128) continue;
      uint32_t& word = words[(block * kLanes + quarter * 32 + i % 32) * kOperandWords + first_word +
                             within / 32];
      for (uint32_t s = 0; s < scales.count; ++s) {
        const uint32_t shift = 8 * (test.scale_id + s);
        word = (word & ~(255u << shift)) |
               uint32_t{scales.codes[(first_row + i) * scales.count + s]} << shift;
      }
    }
  }
}

float cut(long double value) {
  const auto nearest = static_cast<float>(value);
  return std::fabs(static_cast<long double>(nearest)) > std::fabs(value)
             ? std::nextafter(nearest, 0.0F)
             : nearest;
}

/// A's and B's elements as the reference takes them: e4m3 or e5m2.
double number_of(Number number, uint64_t code) {
  return number == e5m2 ? value_of(static_cast<uint32_t>(code), 5, 2)
                        : value_of(static_cast<uint32_t>(code), 4, 3);
}

Matrix multiply_scaled(const Case& test, const Matrix& a, const Matrix& b, const Matrix& c,
                       const Scales& a_scales, const Scales& b_scales) {
  Matrix d(test.m, test.n);
  for (uint32_t i = 0; i < test.m; ++i) {
    for (uint32_t j = 0; j < test.n; ++j) {
      long double sum = std::bit_cast<float>(static_cast<uint32_t>(c.at(i, j)));
      for (uint32_t k = 0; k < test.k(); ++k) {
        const uint32_t block = k / test.block;
        sum += static_cast<long double>(number_of(test.a, a.at(i, k))) *
               number_of(test.b, b.at(k, j)) * a_scales.at(test, i, block) *
               b_scales.at(test, j, block);
      }
      d.at(i, j) = std::bit_cast<uint32_t>(cut(sum));
    }
  }
  return d;
}

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

/// Rows of one of the blocks.
Matrix part_of(const Matrix& codes, uint32_t block, uint32_t blocks) {
  Matrix part(codes.rows / blocks, codes.columns);
  std::copy_n(codes.bits.begin() + static_cast<ptrdiff_t>(block * part.bits.size()),
              part.bits.size(), part.bits.begin());
  return part;
}

void check_round(const Case& test, Module& module, std::mt19937_64& random) {
  const Matrix a = random_codes(test.m, test.stored_k(), test.a, test.narrow_a, test.any, random);
  const Matrix b = random_codes(test.n, test.k(), test.b, test.narrow_b, test.any, random);
  Matrix c = random_codes(test.m, test.n, test.d, Narrow::none, test.any, random);
  vector<uint8_t> images;
  uint64_t da = 0, db = 0;
  for (uint32_t i = 0; i < test.blocks(); ++i) {
    vector<uint8_t> image(kImageBytes, 0xEE);
    da = place(test.layout_a, 0, part_of(a, i, test.blocks()), test.a, test.narrow_a, image);
    db =
        place(test.layout_b, kStartOfB, part_of(b, i, test.blocks()), test.b, test.narrow_b, image);
    images.insert(images.end(), image.begin(), image.end());
  }
  vector<uint32_t> sums(test.blocks() * kLanes * kColumns, 0xABCD);
  for (uint32_t i = 0; i < test.m; ++i) {
    for (uint32_t j = 0; j < test.n; ++j) {
      const Place place = place_of(test, i, j);
      sums[place.word()] = static_cast<uint32_t>(c.at(i, j));
      if (!test.adds) c.at(i, j) = 0;
      if (test.scale_d != 0) c.at(i, j) -= uint64_t{test.scale_d} << 23;
    }
  }
  vector<uint32_t> words = words_of_a(test, a);
  Matrix a_numbers = numbers_of(a, test.a, test.narrow_a, test.negates_a);
  if (test.sparse) a_numbers = with_zeros(test, a_numbers, random, words);
  Scales a_scales{}, b_scales{};
  if (test.block != 0) {
    a_scales = random_scales(test, test.m, random);
    b_scales = random_scales(test, test.n, random);
    for (uint32_t i = 0; i < test.blocks(); ++i) {
      place_scales(test, a_scales, i * test.rows(), test.rows(), false, kScalesOfA, i, words);
      place_scales(test, b_scales, 0, test.n, test.rows() == 64, kScalesOfB, i, words);
    }
  }
  Buffer<uint8_t> image_buffer(session(), images);
  Buffer<uint32_t> a_buffer(session(), words), d_buffer(session(), sums);
  module.run("run", Shape{{test.blocks()}, {kLanes}}, image_buffer, a_buffer, d_buffer, da, db,
             test.zero_columns, instruction_descriptor(test), uint32_t{test.adds});
  Matrix b_of_k(test.k(), test.n);
  const Matrix b_numbers = numbers_of(b, test.b, test.narrow_b, test.negates_b);
  for (uint32_t j = 0; j < test.n; ++j) {
    for (uint32_t k = 0; k < test.k(); ++k) b_of_k.at(k, j) = b_numbers.at(j, k);
  }
  const Matrix result = test.block != 0
                            ? multiply_scaled(test, a_numbers, b_of_k, c, a_scales, b_scales)
                            : multiply_plain(test, a_numbers, b_of_k, c);
  expect_bits(test.kind.c_str(), d_buffer.read(), expected(test, result, sums));
}

void check(const vector<Case>& cases) {
  if (!is_tested()) GTEST_SKIP() << "KM_CPU_CC=10.0 runs it";
  std::mt19937_64 random(7);
  for (const Case& test : cases) {
    SCOPED_TRACE(test.kind + " m" + std::to_string(test.m) + "n" + std::to_string(test.n) +
                 " modes " + std::to_string(test.layout_a.mode) + " " +
                 std::to_string(test.layout_b.mode));
    const auto module = session().ptx_text(kernel_text(test), "tensor_core");
    check_round(test, *module, random);
  }
}

const string kOne = "cta_group::1.kind::";

TEST(Sm100TensorCore, Halves) {
  check({{kOne + "f16", 128, 240, f16, f16, f32, {2}, {2}},
         {kOne + "f16", 128, 64, bf16, bf16, f32, {4}, {6}},
         {kOne + "f16", 128, 48, f16, f16, f16, {6}, {4}},
         {.kind = kOne + "f16", .m = 128, .n = 256, .a = f16, .b = f16, .d = f32, .adds = false},
         {.kind = kOne + "f16", .m = 128, .n = 24, .a = f16, .b = f16, .d = f32, .negates_a = true},
         {.kind = kOne + "f16",
          .m = 128,
          .n = 32,
          .a = bf16,
          .b = bf16,
          .d = f32,
          .negates_b = true,
          .any = true},
         {.kind = kOne + "f16", .m = 128, .n = 32, .a = f16, .b = f16, .d = f32, .any = true},
         {.kind = kOne + "f16", .m = 128, .n = 32, .a = f16, .b = f16, .d = f16, .any = true}});
}

TEST(Sm100TensorCore, Layouts) {
  vector<Case> cases;
  for (const uint32_t mode : {0u, 2u, 4u, 6u}) {
    const Layout turned{mode, false};
    cases.push_back({kOne + "f16", 128, 64, f16, f16, f32, turned, {mode}});
    cases.push_back({kOne + "f16", 128, 128, f16, f16, f32, {mode}, turned});
    cases.push_back({kOne + "f8f6f4", 128, 128, e4m3, e5m2, f32, turned, turned});
    cases.push_back({kOne + "i8", 128, 64, s8, u8, s32, turned, turned});
  }
  cases.push_back({kOne + "f16", 128, 64, f16, f16, f32, {1}, {1}});
  cases.push_back({kOne + "tf32", 128, 64, tf32, tf32, f32, {1, false}, {1, false}});
  check(cases);
}

TEST(Sm100TensorCore, Types) {
  check(
      {{kOne + "tf32", 128, 104, tf32, tf32, f32, {2}, {2}},
       {kOne + "f8f6f4", 128, 64, e4m3, e4m3, f16, {2}, {2}},
       {kOne + "f8f6f4", 128, 96, e5m2, e4m3, f32, {2}, {4}},
       {kOne + "i8", 128, 32, s8, s8, s32, {2}, {2}},
       {kOne + "i8", 128, 240, u8, s8, s32, {2}, {2}},
       {.kind = kOne + "i8", .m = 128, .n = 48, .a = u8, .b = u8, .d = s32, .saturates = true},
       {.kind = kOne + "f8f6f4",
        .m = 128,
        .n = 16,
        .a = e4m3,
        .b = e4m3,
        .d = f32,
        .narrow_a = Narrow::e2m3,
        .narrow_b = Narrow::e2m1},
       {.kind = kOne + "f8f6f4",
        .m = 128,
        .n = 16,
        .a = e4m3,
        .b = e5m2,
        .d = f32,
        .layout_a = {2},
        .narrow_a = Narrow::e3m2},
       {.kind = kOne + "f8f6f4", .m = 128, .n = 16, .a = e4m3, .b = e4m3, .d = f32, .any = true}});
}

TEST(Sm100TensorCore, FactorInTensorMemory) {
  const auto with = [](Case test) {
    test.a_in_tensor = true;
    return test;
  };
  check(
      {with({kOne + "f16", 128, 64, f16, f16, f32}), with({kOne + "f16", 64, 64, bf16, bf16, f32}),
       with({kOne + "tf32", 128, 8, tf32, tf32, f32}),
       with({kOne + "f8f6f4", 128, 64, e4m3, e5m2, f32}), with({kOne + "i8", 128, 64, s8, s8, s32}),
       with({.kind = kOne + "f8f6f4",
             .m = 128,
             .n = 16,
             .a = e4m3,
             .b = e4m3,
             .d = f32,
             .narrow_a = Narrow::e2m1,
             .narrow_b = Narrow::e2m3}),
       with({.kind = kOne + "f8f6f4",
             .m = 128,
             .n = 16,
             .a = e4m3,
             .b = e4m3,
             .d = f32,
             .narrow_a = Narrow::e3m2})});
}

TEST(Sm100TensorCore, RowsAndLanes) {
  check({{kOne + "f16", 64, 64, f16, f16, f32, {2}, {2}},
         {.kind = kOne + "f16", .m = 64, .n = 72, .a = f16, .b = f16, .d = f32, .first_lane = 16},
         {.kind = kOne + "f16", .m = 128, .n = 64, .a = f16, .b = f16, .d = f32, .disables = true},
         {.kind = kOne + "i8", .m = 128, .n = 64, .a = s8, .b = s8, .d = s32, .disables = true},
         {.kind = kOne + "f16", .m = 128, .n = 64, .a = f16, .b = f16, .d = f32, .scale_d = 3}});
}

TEST(Sm100TensorCore, LanesAndScales) {
  vector<Case> cases;
  for (const string group : {"cta_group::1.kind::", "cta_group::2.kind::"}) {
    for (const bool in_tensor : {false, true}) {
      Case test{.kind = group + "f16",
                .m = 128,
                .n = 64,
                .a = f16,
                .b = f16,
                .d = f32,
                .a_in_tensor = in_tensor};
      cases.push_back(test);
      test.disables = true;
      cases.push_back(test);
      test.scale_d = 15;
      cases.push_back(test);
      test.disables = false;
      test.kind = group + "tf32.collector::a::fill";
      test.a = test.b = tf32;
      cases.push_back(test);
    }
  }
  check(cases);
}

/// The case with elements of 4 bits.
Case narrow(Case test) {
  test.a = test.b = e4m3;
  test.narrow_a = test.narrow_b = Narrow::e2m1;
  return test;
}

TEST(Sm100TensorCore, Scales) {
  vector<Case> cases = {{.kind = kOne + "mxf8f6f4.block_scale",
                         .m = 128,
                         .n = 64,
                         .a = e4m3,
                         .b = e5m2,
                         .d = f32,
                         .block = 32,
                         .scale_id = 3},
                        {.kind = kOne + "mxf8f6f4.block_scale.scale_vec::1X",
                         .m = 128,
                         .n = 240,
                         .a = e4m3,
                         .b = e4m3,
                         .d = f32,
                         .layout_a = {2},
                         .layout_b = {2},
                         .narrow_b = Narrow::e3m2,
                         .a_in_tensor = true,
                         .block = 32,
                         .scale_id = 1}};
  for (const bool in_tensor : {false, true}) {
    Case test{.kind = kOne + "mxf4.block_scale.block32",
              .m = 128,
              .n = 32,
              .a = e4m3,
              .b = e4m3,
              .d = f32,
              .a_in_tensor = in_tensor,
              .block = 32,
              .scale_id = 2};
    cases.push_back(narrow(test));
    test.kind = kOne + "mxf4nvf4.block_scale.scale_vec::4X";
    test.block = 16;
    test.scale_id = 0;
    test.e4m3_scales = test.negates_a = true;
    cases.push_back(narrow(test));
    test.kind = "cta_group::2.kind::mxf4nvf4.block_scale.block16.collector::a::use";
    test.m = 256;
    cases.push_back(narrow(test));
    test.m = 128;
    test.n = 192;
    cases.push_back(narrow(test));
  }
  check(cases);
}

// A scale is for twice as many elements of k.
TEST(Sm100TensorCore, SparseWithScales) {
  vector<Case> cases;
  for (const bool in_tensor : {false, true}) {
    Case test{.kind = "sp." + kOne + "mxf8f6f4.block_scale",
              .m = 128,
              .n = 64,
              .a = e5m2,
              .b = e4m3,
              .d = f32,
              .a_in_tensor = in_tensor,
              .sparse = true,
              .block = 64,
              .scale_id = 2};
    cases.push_back(test);
    test.kind = "sp.cta_group::2.kind::mxf4.block_scale";
    test.m = 256;
    cases.push_back(narrow(test));
    test.kind = "sp." + kOne + "mxf4nvf4.block_scale.scale_vec::4X";
    test.m = 128;
    test.block = 32;
    test.scale_id = 0;
    test.e4m3_scales = true;
    cases.push_back(narrow(test));
  }
  check(cases);
}

TEST(Sm100TensorCore, Sparse) {
  vector<Case> cases;
  for (const bool in_tensor : {false, true}) {
    for (const bool of_pair : {false, true}) {
      const string group = of_pair ? "cta_group::2.kind::" : kOne;
      Case test{.kind = "sp." + group + "f16",
                .m = of_pair ? 256u : 128u,
                .n = 64,
                .a = f16,
                .b = f16,
                .d = f32,
                .layout_b = {2},
                .a_in_tensor = in_tensor,
                .sparse = true,
                .selector = 1};
      cases.push_back(test);
      test.disables = true;
      cases.push_back(test);
      test.scale_d = 2;
      cases.push_back(test);
      test.disables = false;
      test.kind = "sp." + group + "tf32";
      test.a = test.b = tf32;
      cases.push_back(test);
      test.scale_d = test.selector = 0;
      test.kind = "sp." + group + "f8f6f4";
      test.a = test.b = e4m3;
      test.narrow_b = Narrow::e3m2;
      test.layout_b = {};
      cases.push_back(test);
      test.kind = "sp." + group + "i8.collector::a::lastuse";
      test.a = test.b = s8;
      test.d = s32;
      test.narrow_b = Narrow::none;
      cases.push_back(test);
    }
    cases.push_back({.kind = "ws.sp.cta_group::1.kind::f16",
                     .m = 128,
                     .n = 128,
                     .a = bf16,
                     .b = bf16,
                     .d = f32,
                     .layout_b = {2, false},
                     .a_in_tensor = in_tensor,
                     .sparse = true});
  }
  check(cases);
}

TEST(Sm100TensorCore, Pairs) {
  const string two = "cta_group::2.kind::";
  check({{two + "f16", 256, 128, f16, f16, f32, {2}, {2}},
         {two + "f16", 256, 32, bf16, bf16, f32, {2, false}, {2, false}},
         {two + "f16", 128, 48, f16, f16, f16},
         {two + "i8", 256, 64, s8, s8, s32},
         {two + "tf32", 128, 256, tf32, tf32, f32},
         {.kind = two + "f8f6f4",
          .m = 256,
          .n = 64,
          .a = e4m3,
          .b = e4m3,
          .d = f32,
          .narrow_b = Narrow::e2m1,
          .a_in_tensor = true}});
}

TEST(Sm100TensorCore, WeightStationary) {
  const string ws = "ws.cta_group::1.kind::";
  // Spans of 3 zero and 4 used columns; the first half begins with a zero span.
  const uint64_t zeros =
      uint64_t{1} << 32 | uint64_t{1} << 39 | uint64_t{2} << 40 | uint64_t{3} << 48;
  check({{ws + "f16", 128, 64, f16, f16, f32, {2}, {2}},
         {ws + "f16", 64, 128, f16, f16, f32, {2}, {2}},
         {ws + "f16", 32, 256, bf16, bf16, f32},
         {ws + "i8", 32, 64, s8, u8, s32},
         {ws + "tf32", 64, 64, tf32, tf32, f32},
         {ws + "f8f6f4.collector::b2::fill", 64, 64, e4m3, e4m3, f32},
         {.kind = ws + "f16", .m = 128, .n = 64, .a = f16, .b = f16, .d = f32, .a_in_tensor = true},
         {.kind = ws + "f16", .m = 32, .n = 64, .a = f16, .b = f16, .d = f32, .a_in_tensor = true},
         {.kind = ws + "f16",
          .m = 64,
          .n = 128,
          .a = f16,
          .b = f16,
          .d = f32,
          .zero_columns = zeros}});
}

}  // namespace
}  // namespace km::kernels
