// The part of RowTranspose that transposes rows and columns in registers.
#include "simt/codegen/lower/memory/row_transpose.h"

#include <llvm/Analysis/VectorUtils.h>

#include <algorithm>
#include <functional>

namespace km::simt {

namespace {

/// Shuffle indices `first`, `first` + `step`, ..., `count` in number.
std::vector<int> every(unsigned first, unsigned step, unsigned count) {
  std::vector<int> picks(count);
  for (unsigned i = 0; i < count; ++i) picks[i] = static_cast<int>(first + i * step);
  return picks;
}

/// Interleaves runs of `width` elements of `a` and `c`, taken from the lower or upper half of every
/// 16 bytes, as unpack instructions do.
llvm::Value* interleaved(llvm::IRBuilder<>& b, llvm::Value* a, llvm::Value* c, unsigned width,
                         bool upper) {
  auto* type = llvm::cast<llvm::FixedVectorType>(a->getType());
  const unsigned count = type->getNumElements(), chunk = 128 / type->getScalarSizeInBits();
  std::vector<int> picks;
  for (unsigned i = 0; i < count; ++i) {
    const unsigned pair = i % chunk / (2 * width), place = i % (2 * width);
    const unsigned at = pair * width + place % width + (upper ? chunk / 2 : 0);
    picks.push_back(static_cast<int>(i / chunk * chunk + at + (place < width ? 0 : count)));
  }
  return b.CreateShuffleVector(a, c, picks);
}

/// Transposes, in every 16 bytes, the matrix whose rows are four vectors of 32-bit elements or two
/// of 64-bit elements.
std::vector<llvm::Value*> turned(llvm::IRBuilder<>& b, const std::vector<llvm::Value*>& rows) {
  const auto both = [&](llvm::Value* a, llvm::Value* c, unsigned width) {
    return std::vector{interleaved(b, a, c, width, false), interleaved(b, a, c, width, true)};
  };
  if (rows.size() == 2) return both(rows[0], rows[1], 1);
  const auto first = both(rows[0], rows[1], 1), second = both(rows[2], rows[3], 1);
  std::vector<llvm::Value*> result = both(first[0], second[0], 2);
  for (llvm::Value* row : both(first[1], second[1], 2)) result.push_back(row);
  return result;
}

}  // namespace

/// The number of 16-byte rows that are transposed together, which is limited by the machine's
/// register size; 0 if rows have another size.
uint32_t RowTranspose::rows_turned(const Access& access) const {
  const uint64_t size = ptx::size_bytes(access.type);
  constexpr uint32_t kRowBytes = 16;
  if (access.count * size != kRowBytes || size < 4) return 0;
  const uint32_t chunks = machine().vector_bytes() / kRowBytes;
  return std::min(chunks * access.count, lanes_);
}

/// The columns: for each place in a row, the vector of all lanes' elements there.
std::vector<llvm::Value*> RowTranspose::columns_of(const std::vector<Value*>& rows,
                                                   const Access& access) {
  const uint32_t group = rows_turned(access);
  std::vector<Value*> results;
  if (group == 0) {
    Value* whole = llvm::concatenateVectors(b_, rows);
    for (unsigned i = 0; i < access.count; ++i) {
      results.push_back(b_.CreateShuffleVector(whole, every(i, access.count, lanes_)));
    }
    return results;
  }
  std::vector<std::vector<Value*>> columns(access.count);
  for (uint32_t first = 0; first < lanes_; first += group) {
    std::vector<Value*> parts;
    for (uint32_t i = 0; i < access.count; ++i) {
      std::vector<Value*> part;
      for (uint32_t l = i; l < group; l += access.count) part.push_back(rows[first + l]);
      parts.push_back(llvm::concatenateVectors(b_, part));
    }
    parts = turned(b_, parts);
    for (uint32_t i = 0; i < access.count; ++i) columns[i].push_back(parts[i]);
  }
  for (const auto& column : columns) results.push_back(llvm::concatenateVectors(b_, column));
  return results;
}

/// The rows of columns, the reverse of columns_of().
std::vector<llvm::Value*> RowTranspose::rows_of(const std::vector<Value*>& columns,
                                                const Access& access) {
  const uint32_t group = rows_turned(access);
  std::vector<Value*> rows(lanes_);
  if (group == 0) {
    Value* whole = llvm::concatenateVectors(b_, columns);
    for (uint32_t l = 0; l < lanes_; ++l) {
      rows[l] = b_.CreateShuffleVector(whole, every(l, lanes_, access.count));
    }
    return rows;
  }
  for (uint32_t first = 0; first < lanes_; first += group) {
    std::vector<Value*> parts;
    for (Value* column : columns) {
      parts.push_back(b_.CreateShuffleVector(column, every(first, 1, group)));
    }
    parts = turned(b_, parts);
    for (uint32_t l = 0; l < group; ++l) {
      const uint32_t chunk = l / access.count * access.count;
      rows[first + l] =
          b_.CreateShuffleVector(parts[l % access.count], every(chunk, 1, access.count));
    }
  }
  return rows;
}

namespace {

// permuted_columns() and permuted_rows() transpose four columns of 32 bits by two permutes per
// register, on machines whose permutes select from two registers.
/// The number of elements of a register.
constexpr unsigned kPermuted = 16;

std::vector<int> picks_of(const std::function<unsigned(unsigned)>& pick) {
  std::vector<int> picks(kPermuted);
  for (unsigned i = 0; i < kPermuted; ++i) picks[i] = static_cast<int>(pick(i));
  return picks;
}

}  // namespace

bool RowTranspose::is_permuted(const Address& address, const Access& access) const {
  constexpr int64_t kBytes = 16;
  for (uint32_t l = 0; l < lanes_; ++l) {
    if ((*address.offsets)[l] != kBytes * l) return false;
  }
  return machine().has_wide_permutes() && access.count == 4 && ptx::size_bytes(access.type) == 4 &&
         lanes_ % kPermuted == 0;
}

std::vector<llvm::Value*> RowTranspose::permuted_columns(Value* whole) {
  // Two registers with eight rows become xxxxxxxxyyyyyyyy and zzzzzzzzwwwwwwww.
  const auto halves = [&](Value* a, Value* c, unsigned column) {
    return b_.CreateShuffleVector(
        a, c, picks_of([&](unsigned i) { return 4 * (i % 8) + column + i / 8; }));
  };
  const auto joined = [&](Value* a, Value* c, unsigned half) {
    return b_.CreateShuffleVector(
        a, c, picks_of([&](unsigned i) { return i % 8 + 8 * half + i / 8 * kPermuted; }));
  };
  std::vector<std::vector<Value*>> columns(4);
  for (unsigned first = 0; first < 4 * lanes_; first += 4 * kPermuted) {
    Value* parts[4];
    for (unsigned i = 0; i < 4; ++i) {
      parts[i] = b_.CreateShuffleVector(whole, every(first + i * kPermuted, 1, kPermuted));
    }
    for (unsigned column : {0u, 2u}) {
      Value* low = halves(parts[0], parts[1], column);
      Value* high = halves(parts[2], parts[3], column);
      for (unsigned half : {0u, 1u}) columns[column + half].push_back(joined(low, high, half));
    }
  }
  std::vector<Value*> results;
  for (const auto& column : columns) results.push_back(llvm::concatenateVectors(b_, column));
  return results;
}

llvm::Value* RowTranspose::permuted_rows(const std::vector<Value*>& columns) {
  const auto pairs = [&](unsigned column, unsigned first) {  // x y x y ... of eight lanes
    return b_.CreateShuffleVector(columns[column], columns[column + 1], picks_of([&](unsigned i) {
                                    return first + i / 2 + i % 2 * lanes_;
                                  }));
  };
  std::vector<Value*> parts;
  for (unsigned first = 0; first < lanes_; first += 8) {
    Value *low = pairs(0, first), *high = pairs(2, first);
    for (unsigned half : {0u, 8u}) {
      parts.push_back(b_.CreateShuffleVector(
          low, high,
          picks_of([&](unsigned i) { return half + i / 4 * 2 + i % 2 + i / 2 % 2 * kPermuted; })));
    }
  }
  return llvm::concatenateVectors(b_, parts);
}

}  // namespace km::simt
