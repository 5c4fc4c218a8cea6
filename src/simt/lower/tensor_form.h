// The matrix instructions mma and wmma as data.
#pragma once

#include <optional>

#include "ptx/ptx.h"
#include "simt/runtime/mma_form.h"

namespace km::simt::lower {

/// mma and wmma.mma; none: a form that this engine does not run.
std::optional<MmaForm> mma_form(const ptx::Instruction& instruction);

/// wmma.load and wmma.store: one operand of an mma in memory.
struct WmmaFragment {
  MmaType type = MmaType::none;
  enum class Matrix : uint8_t { a, b, sums } matrix = Matrix::a;
  uint32_t m = 0, n = 0, k = 0;
  bool by_columns = false;

  uint32_t rows() const { return matrix == Matrix::b ? k : m; }
  uint32_t columns() const { return matrix == Matrix::a ? k : n; }
  /// Registers of a lane that differ; wmma of f16 has each of them several times.
  uint32_t registers() const { return rows() * columns() / (32 * elements_per_register(type)); }
  /// Elements of one lane's register lie side by side in memory.
  bool is_contiguous() const;
  /// Where element `element` of register `index` of `lane` lies.
  MmaBlock place(uint32_t index, uint32_t lane, uint32_t element) const;
};
std::optional<WmmaFragment> wmma_fragment(const ptx::Instruction& instruction);

/// Whether tensor.cpp lowers it.
bool tensor_is_supported(const ptx::Instruction& instruction);

}  // namespace km::simt::lower
