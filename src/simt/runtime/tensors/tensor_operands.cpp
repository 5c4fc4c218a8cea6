#include "simt/runtime/tensors/tensor_operands.h"

#include <algorithm>
#include <cstring>

#include "simt/runtime/tensors/narrow_codes.h"
#include "simt/runtime/tensors/shared_operand.h"
#include "simt/runtime/tensors/tensor_move.h"

namespace km::simt {
namespace {

constexpr uint32_t kStoredBytes = 32;  // of a row of A in shared or tensor memory
constexpr uint32_t kPieceBytes = 16;

bool is_narrow(FactorElement element) { return element_bits(element) < 8; }

/// Replaces a narrow element in its byte, as tensor memory has it, by its e4m3.
uint8_t widened(FactorElement element, uint8_t byte) {
  switch (element) {
    case FactorElement::e2m3:
      return kWidenedCodes<2, 3>[byte & 63];
    case FactorElement::e3m2:
      return kWidenedCodes<3, 2>[byte & 63];
    default:
      return kWidenedCodes<2, 1>[byte >> 2 & 15];
  }
}

/// Widens a row of shared memory.
void widen_row(const TensorProductPlan& plan, FactorElement element, const uint8_t* row,
               uint32_t size_bytes, uint8_t* out) {
  if (plan.packs_pairs) {
    for (uint32_t i = 0; i < size_bytes; ++i) {
      out[2 * i] = kWidenedCodes<2, 1>[row[i] & 15];
      out[2 * i + 1] = kWidenedCodes<2, 1>[row[i] >> 4];
    }
    return;
  }
  if (!is_narrow(element)) {
    std::memcpy(out, row, size_bytes);
    return;
  }
  const auto format =
      element_bits(element) == 6 ? TensorCopyFormat::six_bits : TensorCopyFormat::four_bits;
  for (uint32_t first = 0; first < size_bytes; first += kPieceBytes) {
    widen_piece(format, row + first, out + first);
  }
  for (uint32_t i = 0; i < size_bytes; ++i) out[i] = widened(element, out[i]);
}

void negate(MmaType type, uint8_t* bytes, uint32_t count) {
  const uint32_t element = element_bits(type) / 8;
  for (uint32_t i = element - 1; i < count; i += element) bytes[i] ^= 0x80;
}

/// True if the matrix of these elements may lie transposed, or not, in this swizzle mode.
bool fits(const SharedOperand& operand, bool transposes, FactorElement element) {
  if (!operand.is_valid()) return false;
  return !transposes || operand.has_wide_atoms() == (element == FactorElement::tf32);
}

/// A multiplicand in shared memory.
struct SharedFactor {
  uint64_t descriptor;
  FactorElement element;
  bool transposes;
  uint32_t rows, row_bytes;  // of A, or columns of B
  uint32_t k;                // elements of a row
};

/// Gathers rows from shared memory to `out`.
TensorProblem stage(const TensorProductPlan& plan, const SharedFactor& factor,
                    const uint8_t* shared, TensorCoreScratch* scratch, uint8_t* out) {
  const SharedOperand operand(factor.descriptor);
  if (!fits(operand, factor.transposes, factor.element)) return TensorProblem::swizzle;
  const uint32_t bytes = std::max(1u, element_bits(factor.element) / 8);
  gather(operand, shared, factor.transposes, factor.rows, factor.row_bytes, bytes, scratch->raw);
  const uint32_t width = widened_bytes(factor.k, factor.element);
  for (uint32_t row = 0; row < factor.rows; ++row) {
    widen_row(plan, factor.element, scratch->raw + row * factor.row_bytes, factor.row_bytes,
              out + row * width);
  }
  return TensorProblem::none;
}

/// Reads rows of A from tensor memory.
TensorProblem stage_tensor(const TensorProductPlan& plan, uint32_t address, TensorStorage& storage,
                           uint8_t* out) {
  const uint32_t lane = tensor_lane(address), column = tensor_column(address);
  const bool is_aligned = lane == 0 || (plan.half_lanes && lane == 16);
  if (!is_aligned) return TensorProblem::lane_alignment;
  if (!storage.has(column, kStoredBytes / sizeof(uint32_t))) return TensorProblem::not_allocated;
  const uint32_t width = widened_bytes(plan.stored_k(), plan.a);
  const bool narrow = is_narrow(plan.a) && !plan.packs_pairs;
  for (uint32_t row = 0; row < plan.rows(); ++row) {
    uint8_t bytes[kStoredBytes];
    std::memcpy(bytes, storage.lane(lane + plan.lane_of(row)) + column, kStoredBytes);
    uint8_t* to = out + row * width;
    if (!narrow) {
      widen_row(plan, plan.a, bytes, kStoredBytes, to);
      continue;
    }
    for (uint32_t i = 0; i < kStoredBytes; ++i) to[i] = widened(plan.a, bytes[i]);
  }
  return TensorProblem::none;
}

/// Clears the columns of B that the descriptor of zero columns names. Each group of D's columns has
/// a mask of its own, in which spans of used and of cleared columns alternate.
TensorProblem zero_columns(const TensorProductPlan& plan, uint64_t mask,
                           TensorCoreScratch* scratch) {
  const auto field = [&](uint32_t first, uint32_t bits) {
    return static_cast<uint32_t>(mask >> first & ((1u << bits) - 1));
  };
  if (field(56, 6) != 0) return TensorProblem::column_shift;
  if (field(39, 1) == 0) return TensorProblem::none;
  const uint32_t cleared = field(40, 8) + 1, used = field(48, 8) + 1;
  const uint32_t width = widened_bytes(plan.k, plan.b);
  for (uint32_t group = 0; group < plan.groups; ++group) {
    const bool begins_cleared = field(32 + group, 1) != 0;
    const uint32_t start = field(8 * group, 8), columns = plan.group_columns();
    for (uint32_t i = 0; i < columns; ++i) {
      const uint32_t place = (i + start) % (cleared + used);
      const bool is_zero = begins_cleared ? place < cleared : place >= used;
      if (is_zero) std::memset(scratch->b + (group * columns + i) * width, 0, width);
    }
  }
  return TensorProblem::none;
}

}  // namespace

MmaType widened_type(FactorElement element) {
  switch (element) {
    case FactorElement::f16:
      return MmaType::f16;
    case FactorElement::bf16:
      return MmaType::bf16;
    case FactorElement::tf32:
      return MmaType::tf32;
    case FactorElement::e5m2:
      return MmaType::e5m2;
    case FactorElement::s8:
      return MmaType::s8;
    case FactorElement::u8:
      return MmaType::u8;
    default:
      return MmaType::e4m3;
  }
}

uint32_t widened_bytes(uint32_t k, FactorElement element) {
  return k * element_bits(widened_type(element)) / 8;
}

TensorProblem stage_a(const TensorCoreForm& form, const TensorProductPlan& plan,
                      const TensorCoreOperands& operands, const TensorBlock& block,
                      TensorCoreScratch* scratch) {
  const SharedFactor factor{operands.a,  plan.a,       plan.transposes_a,
                            plan.rows(), kStoredBytes, plan.stored_k()};
  const TensorProblem problem =
      form.a_in_tensor
          ? stage_tensor(plan, static_cast<uint32_t>(operands.a), *block.storage, scratch->a)
          : stage(plan, factor, block.shared, scratch, scratch->a);
  if (problem != TensorProblem::none) return problem;
  const uint32_t size = plan.rows() * widened_bytes(plan.stored_k(), plan.a);
  if (plan.negates_a) negate(widened_type(plan.a), scratch->a, size);
  return TensorProblem::none;
}

TensorProblem stage_b(const TensorCoreForm& form, const TensorProductPlan& plan,
                      const TensorCoreOperands& operands, const TensorBlock* blocks,
                      TensorCoreScratch* scratch) {
  const uint32_t columns = plan.n / plan.blocks, width = widened_bytes(plan.k, plan.b);
  const uint32_t row_bytes = plan.sparse ? 2 * kStoredBytes : kStoredBytes;
  const SharedFactor factor{operands.b, plan.b, plan.transposes_b, columns, row_bytes, plan.k};
  for (uint32_t i = 0; i < plan.blocks; ++i) {
    const TensorProblem problem =
        stage(plan, factor, blocks[i].shared, scratch, scratch->b + i * columns * width);
    if (problem != TensorProblem::none) return problem;
  }
  if (plan.negates_b) negate(widened_type(plan.b), scratch->b, plan.n * width);
  return form.zeros_columns ? zero_columns(plan, operands.zero_columns, scratch)
                            : TensorProblem::none;
}

/// The metadata of .kind::f16 and .kind::tf32 are one column, whose lanes 0 to 7 of each 16 have
/// the first half of k and lanes 8 to 15 the second half, of rows 0 to 7 in the lower and of rows 8
/// to 15 in the upper 16 bits. Those of narrower elements are two columns. A code of 4 bits names
/// two of four elements, or of four pairs of packed ones; that of tf32 names one of two.
uint32_t sparse_column(const TensorProductPlan& plan, TensorStorage& storage, uint32_t address,
                       uint32_t row, uint32_t index) {
  const bool is_single = plan.a == FactorElement::tf32;
  const uint32_t width = plan.packs_pairs ? 2 : 1, unit = index / width;  // pairs move together
  const uint32_t group = is_single ? unit : unit / 2, bit = 4 * group;
  const uint32_t column = tensor_column(address);
  uint32_t code = 0;
  if (element_bits(plan.a) <= 8) {
    code = storage.lane(row)[column + bit / 32] >> bit % 32 & 15;
  } else {
    const uint32_t lane = row % 8 + row / 16 * 16 + bit / 16 * 8;
    const uint32_t word = storage.lane(lane)[column + plan.selector];
    code = word >> (bit % 16 + row / 8 % 2 * 16) & 15;
  }
  if (is_single) return 2 * group + (code >> 1 & 1);
  return (4 * group + (code >> 2 * (unit % 2) & 3)) * width + index % width;
}

}  // namespace km::simt
