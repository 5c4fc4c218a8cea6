// Decodes the matrix instructions mma and wmma to data.
#pragma once

#include <optional>

#include "ptx/ptx.h"
#include "simt/runtime/mma_form.h"

namespace km::simt::arithmetic {

/// Decodes mma and wmma.mma; none for a form that is not supported.
std::optional<MmaForm> mma_form(const ptx::Instruction& instruction);

/// wmma.load or wmma.store: one operand of an mma in memory.
struct WmmaFragment {
  MmaType type = MmaType::none;
  enum class Matrix : uint8_t { a, b, sums } matrix = Matrix::a;
  uint32_t m = 0, n = 0, k = 0;
  bool by_columns = false;

  uint32_t rows() const { return matrix == Matrix::b ? k : m; }
  uint32_t columns() const { return matrix == Matrix::a ? k : n; }
  /// In memory, a line is a row or a column.
  uint32_t lines() const { return by_columns ? columns() : rows(); }
  uint32_t line_elements() const { return by_columns ? rows() : columns(); }
  uint32_t line_bytes() const { return line_elements() * element_bits(type) / 8; }
  ptx::Type register_type() const { return type == MmaType::f64 ? ptx::Type::b64 : ptx::Type::b32; }
  /// The number of distinct registers per lane; wmma of f16 repeats each of them.
  uint32_t registers() const { return rows() * columns() / (32 * elements_per_register(type)); }
  /// True if the elements of a lane's register are contiguous in memory.
  bool is_contiguous() const;
  /// The position in the matrix of element `element` of register `index` of `lane`.
  MmaBlock place(uint32_t index, uint32_t lane, uint32_t element) const;
};

/// The registers of a fragment as pieces of memory.
struct WmmaPieces {
  explicit WmmaPieces(const WmmaFragment& fragment);

  struct At {
    uint64_t line = 0, offset_bytes = 0;
  };
  At at(uint32_t index, uint32_t lane, uint32_t part) const;

  WmmaFragment fragment;
  uint32_t registers = 0;
  uint32_t parts = 1;       // pieces per register of a lane
  uint32_t size_bytes = 4;  // size of a piece
  uint32_t group = 1;       // consecutive registers whose pieces are contiguous
};

std::optional<WmmaFragment> wmma_fragment(const ptx::Instruction& instruction);

/// True if Matrices can lower the instruction.
bool tensor_is_supported(const ptx::Instruction& instruction);

}  // namespace km::simt::arithmetic
