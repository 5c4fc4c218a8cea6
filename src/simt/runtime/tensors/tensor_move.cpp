#include "simt/runtime/tensors/tensor_move.h"

#include <bit>
#include <cmath>
#include <cstring>

#include "simt/runtime/tensors/shared_operand.h"

namespace km::simt {
namespace {

struct Cell {
  uint32_t lane, column;
};

/// The lane and the column, from the address on, of register `r` of lane `t`. Packed registers have
/// two columns, of which this is half the first.
Cell cell_of(const TensorMoveForm& form, uint32_t r, uint32_t t) {
  const uint32_t half = form.packs ? static_cast<uint32_t>(form.half_offset) / 2
                                   : static_cast<uint32_t>(form.half_offset);
  switch (form.shape) {
    case TensorMoveShape::_16x64b:
      return {t / 4 + 8 * (t % 2), 2 * r + t / 2 % 2};
    case TensorMoveShape::_16x128b:
      return {t / 4 + 8 * (r % 2), 4 * (r / 2) + t % 4};
    case TensorMoveShape::_16x256b:
      return {t / 4 + 8 * (r / 2 % 2), 8 * (r / 4) + 2 * (t % 4) + r % 2};
    case TensorMoveShape::_16x32bx2:
      return {t % 16, t / 16 * half + r};
    case TensorMoveShape::_32x32b:
      break;
  }
  return {t, r};
}

/// The number of columns that registers of this shape span.
uint32_t columns_of(const TensorMoveForm& form) {
  uint32_t columns = form.registers;
  if (form.shape == TensorMoveShape::_16x64b || form.shape == TensorMoveShape::_16x128b ||
      form.shape == TensorMoveShape::_16x256b) {
    columns *= 2;
  }
  return form.packs ? 2 * columns : columns;
}

TensorProblem check(const TensorMoveForm& form, const TensorStorage& storage, uint32_t quarter,
                    uint32_t address) {
  const uint32_t lane = tensor_lane(address), column = tensor_column(address);
  const bool is_whole = form.shape == TensorMoveShape::_32x32b;
  if (lane >= kTensorLanes) return TensorProblem::out_of_range;
  // Addresses without a quarter mean the warp's own.
  if (lane / kWarpLanes != 0 && lane / kWarpLanes != quarter) return TensorProblem::other_lanes;
  if (lane % (is_whole ? 32 : 16) != 0) return TensorProblem::lane_alignment;
  if (!storage.has(column, columns_of(form))) return TensorProblem::not_allocated;
  if (form.shape == TensorMoveShape::_16x32bx2 &&
      !storage.has(column + static_cast<uint32_t>(form.half_offset), columns_of(form))) {
    return TensorProblem::not_allocated;
  }
  return TensorProblem::none;
}

void load(const TensorMoveForm& form, TensorStorage& storage, uint32_t lane, uint32_t column,
          uint32_t* registers) {
  for (uint32_t t = 0; t < kWarpLanes; ++t) {
    for (uint32_t r = 0; r < form.registers; ++r) {
      const Cell cell = cell_of(form, r, t);
      const uint32_t* row = storage.lane(lane + cell.lane) + column;
      uint32_t& out = registers[r * kWarpLanes + t];
      out = form.packs ? (row[2 * cell.column] & 0xffff) | row[2 * cell.column + 1] << 16
                       : row[cell.column];
    }
  }
}

void store(const TensorMoveForm& form, TensorStorage& storage, uint32_t lane, uint32_t column,
           const uint32_t* registers) {
  for (uint32_t t = 0; t < kWarpLanes; ++t) {
    for (uint32_t r = 0; r < form.registers; ++r) {
      const Cell cell = cell_of(form, r, t);
      uint32_t* row = storage.lane(lane + cell.lane) + column;
      const uint32_t content = registers[r * kWarpLanes + t];
      if (form.packs) {
        row[2 * cell.column] = content & 0xffff;
        row[2 * cell.column + 1] = content >> 16;
      } else {
        row[cell.column] = content;
      }
    }
  }
}

float magnitude_of(const TensorMoveForm& form, uint32_t word) {
  const auto value = std::bit_cast<float>(word);
  return form.by_magnitude ? std::fabs(value) : value;
}

/// min or max of two f32, as the instructions of that name have them: -0 is less than +0.
uint32_t better_float(const TensorMoveForm& form, uint32_t first, uint32_t second) {
  const float a = magnitude_of(form, first), b = magnitude_of(form, second);
  constexpr uint32_t kNan = 0x7fffffff;
  if (std::isnan(a) || std::isnan(b)) {
    if (form.keeps_nan || (std::isnan(a) && std::isnan(b))) return kNan;
    return std::bit_cast<uint32_t>(std::isnan(a) ? b : a);
  }
  const bool a_is_less = a == b ? std::signbit(a) : a < b;
  return std::bit_cast<uint32_t>(a_is_less == form.finds_maximum ? b : a);
}

uint32_t better(const TensorMoveForm& form, uint32_t first, uint32_t second) {
  if (form.reduction == TensorReduction::f32) return better_float(form, first, second);
  const bool is_less = form.reduction == TensorReduction::s32
                           ? static_cast<int32_t>(first) < static_cast<int32_t>(second)
                           : first < second;
  return is_less == form.finds_maximum ? second : first;
}

void reduce(const TensorMoveForm& form, uint32_t* registers) {
  for (uint32_t t = 0; t < kWarpLanes; ++t) {
    uint32_t result = registers[t];
    if (form.reduction == TensorReduction::f32) {
      result = std::bit_cast<uint32_t>(magnitude_of(form, result));
    }
    for (uint32_t r = 1; r < form.registers; ++r) {
      result = better(form, result, registers[r * kWarpLanes + t]);
    }
    registers[kTensorReduction * kWarpLanes + t] = result;
  }
}

constexpr uint32_t kPieceBytes = 16;

/// The lanes, pieces of 16 bytes and copies of a shape.
struct CopyShape {
  uint32_t lanes, pieces;
};

CopyShape shape_of(TensorCopyShape shape) {
  switch (shape) {
    case TensorCopyShape::_128x256b:
      return {128, 2};
    case TensorCopyShape::_4x256b:
      return {4, 2};
    case TensorCopyShape::_128x128b:
      return {128, 1};
    case TensorCopyShape::_64x128b:
      return {64, 1};
    case TensorCopyShape::_32x128b:
      break;
  }
  return {32, 1};
}

/// The first lane of each of the copies that a row of the source gets.
uint32_t targets_of(const TensorCoreForm& form, uint32_t row, uint32_t* lanes) {
  switch (form.shape) {
    case TensorCopyShape::_64x128b: {
      // Both pairs of warps get the whole source, each warp of a pair a half of it.
      const uint32_t half = row / 32, within = row % 32;
      lanes[0] = within + (form.pairs_02_13 ? 64 : 32) * half;
      lanes[1] = lanes[0] + (form.pairs_02_13 ? 32 : 64);
      return 2;
    }
    case TensorCopyShape::_32x128b:
      for (uint32_t i = 0; i < 4; ++i) lanes[i] = row + 32 * i;
      return 4;
    default:
      lanes[0] = row;
      return 1;
  }
}

}  // namespace

TensorProblem move_tensor(const TensorMoveForm& form, TensorStorage& storage, uint32_t quarter,
                          uint32_t address, uint32_t* registers) {
  const TensorProblem problem = check(form, storage, quarter, address);
  if (problem != TensorProblem::none) return problem;
  const uint32_t lane = kWarpLanes * quarter + tensor_lane(address) % kWarpLanes;
  const uint32_t column = tensor_column(address);
  if (form.move == TensorMove::store) {
    store(form, storage, lane, column, registers);
  } else {
    load(form, storage, lane, column, registers);
  }
  if (form.move == TensorMove::load_reduce) reduce(form, registers);
  return TensorProblem::none;
}

void widen_piece(TensorCopyFormat format, const uint8_t* packed, uint8_t* out) {
  if (format == TensorCopyFormat::plain) {
    std::memcpy(out, packed, kPieceBytes);
    return;
  }
  const uint32_t bits = format == TensorCopyFormat::six_bits ? 6 : 4;
  uint8_t bytes[kPieceBytes];
  for (uint32_t i = 0; i < kPieceBytes; ++i) {
    const uint32_t first = i * bits, byte = first / 8;
    const uint32_t word = packed[byte] | uint32_t{packed[byte + 1]} << 8;
    const uint32_t code = word >> first % 8 & ((1u << bits) - 1);
    bytes[i] = static_cast<uint8_t>(bits == 4 ? code << 2 : code);
  }
  std::memcpy(out, bytes, kPieceBytes);
}

TensorProblem copy_to_tensor(const TensorCoreForm& form, TensorStorage& storage,
                             const uint8_t* shared, uint32_t address, uint64_t descriptor) {
  const SharedOperand source(descriptor);
  const CopyShape shape = shape_of(form.shape);
  const uint32_t lane = tensor_lane(address), column = tensor_column(address);
  constexpr uint32_t kPieceColumns = kPieceBytes / sizeof(uint32_t);
  if (!source.is_valid()) return TensorProblem::swizzle;
  const uint32_t most = form.shape == TensorCopyShape::_4x256b ? kTensorLanes - 4 : 0;
  if (lane > most) return TensorProblem::lane_alignment;
  if (!storage.has(column, shape.pieces * kPieceColumns)) return TensorProblem::not_allocated;
  for (uint32_t row = 0; row < shape.lanes; ++row) {
    uint32_t lanes[4];
    const uint32_t copies = targets_of(form, row, lanes);
    for (uint32_t piece = 0; piece < shape.pieces; ++piece) {
      uint8_t bytes[kPieceBytes];
      widen_piece(form.format, shared + source.offset_in_row(row, piece), bytes);
      for (uint32_t i = 0; i < copies; ++i) {
        std::memcpy(storage.lane(lane + lanes[i]) + column + piece * kPieceColumns, bytes,
                    kPieceBytes);
      }
    }
  }
  return TensorProblem::none;
}

TensorProblem shift_tensor(TensorStorage& storage, uint32_t address) {
  constexpr uint32_t kColumns = 8;
  const uint32_t lane = tensor_lane(address), column = tensor_column(address);
  if (lane % kWarpLanes != 0) return TensorProblem::lane_alignment;
  if (lane >= kTensorLanes) return TensorProblem::out_of_range;
  if (!storage.has(column, kColumns)) return TensorProblem::not_allocated;
  for (uint32_t row = kWarpLanes - 1; row > 0; --row) {
    std::memcpy(storage.lane(lane + row) + column, storage.lane(lane + row - 1) + column,
                kColumns * sizeof(uint32_t));
  }
  return TensorProblem::none;
}

}  // namespace km::simt
