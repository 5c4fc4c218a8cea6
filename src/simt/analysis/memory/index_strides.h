// The stride of a value: its difference from one thread, or block, to the next.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "simt/analysis/shape.h"

namespace km::simt {

/// Computes strides with respect to one of %tid.x, %ctaid.y and so on. They are estimates for the
/// choice of an order: wraps and clamps are ignored.
class IndexStrides {
 public:
  IndexStrides(const Kernel& kernel, const Shapes& shapes, ptx::SpecialRegister special,
               uint8_t dimension)
      : kernel_(kernel), shapes_(shapes), special_(special), dimension_(dimension) {}

  /// The stride; nothing if it is not constant or not known.
  std::optional<int64_t> of(ValueId value) { return of(value, 0); }

 private:
  using Stride = std::optional<int64_t>;
  Stride of(ValueId value, unsigned depth);
  Stride of(const Inst& inst, unsigned depth);
  Stride of_phi(ValueId value, unsigned depth);
  Stride operand(const Inst& inst, unsigned index, unsigned depth);
  Stride sum(const Inst& inst, int64_t sign, unsigned depth);
  Stride product(const Inst& inst, unsigned depth);
  Stride extreme(const Inst& inst, unsigned depth);
  Stride nothing_moves(const Inst& inst, unsigned depth);
  Stride loaded(const Inst& inst, unsigned depth);

  const Kernel& kernel_;
  const Shapes& shapes_;
  ptx::SpecialRegister special_;
  uint8_t dimension_;
  std::map<ValueId, Stride> known_;
};

}  // namespace km::simt
