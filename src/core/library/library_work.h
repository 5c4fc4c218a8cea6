// Calls of libraries beside BLAS: transforms, sparse products and solvers.
#pragma once

#include <array>
#include <span>

#include "core/blas/blas.h"

namespace km {

/// A checked call, its arrays, and what keeps the backend's object that the call refers to.
struct LibraryWork {
  kmb_library_call call{};
  Ref<ContextChild> holder;
  std::array<BlasOperand, kMostOperands> operands;
  uint32_t operand_count = 0;

  std::span<const BlasOperand> arrays() const { return {operands.data(), operand_count}; }
};

}  // namespace km
