// Cuts a call into pieces for several threads: each is a call on a part of the output.
#include <algorithm>
#include <cmath>

#include "backend/blas_numbers.h"
#include "backends/cpu/blas/blas.h"
#include "base/assert.h"

namespace km::cpu {
namespace {

constexpr uint64_t kLeastVector = 32768;  // elements of a piece
constexpr uint64_t kLeastMatrix = 64;     // rows or columns of a piece
constexpr uint64_t kGrain = 32;           // the tile size of OpenBLAS's kernels
constexpr float kWorthCuttingNs = 50'000;

bool is_plain(km_blas_operation operation) { return operation == KM_BLAS_OPERATION_NONE; }

void move_vector(const kmb_blas_call& call, kmb_blas_array* array, uint64_t length,
                 const BlasRange& part) {
  const auto distance = static_cast<uint64_t>(std::abs(array->step));
  const uint64_t first = array->step > 0 ? part.begin : length - part.end;
  array->address += first * distance * blas_element_bytes(call.type);
}

void move_matrix(const kmb_blas_call& call, kmb_blas_array* array, uint64_t row, uint64_t column) {
  array->address += blas_element_offset(call, *array, row, column);
}

/// Moves an operand to rows [rows.begin, ...) of op(A), or to columns of op(B).
void move_operand(const kmb_blas_call& call, kmb_blas_array* array, km_blas_operation operation,
                  uint64_t row, uint64_t column) {
  if (is_plain(operation)) {
    move_matrix(call, array, row, column);
  } else {
    move_matrix(call, array, column, row);
  }
}

void take_matrices(kmb_blas_call* call, uint64_t index) {
  for (kmb_blas_array* array : {&call->a, &call->b, &call->c}) {
    array->address += index * array->stride * blas_element_bytes(call->type);
  }
}

struct Block {
  BlasRange rows, columns;
};

kmb_blas_call gemm_piece(const kmb_blas_call& call, const Block& block) {
  kmb_blas_call piece = call;
  move_operand(call, &piece.a, call.operation_a, block.rows.begin, 0);
  move_operand(call, &piece.b, call.operation_b, 0, block.columns.begin);
  move_matrix(call, &piece.c, block.rows.begin, block.columns.begin);
  piece.m = block.rows.size();
  piece.n = block.columns.size();
  return piece;
}

kmb_blas_call gemv_piece(const kmb_blas_call& call, const Block& block) {
  kmb_blas_call piece = call;
  const bool plain = is_plain(call.operation_a);
  move_operand(call, &piece.a, call.operation_a, block.rows.begin, 0);
  move_vector(call, &piece.c, plain ? call.m : call.n, block.rows);
  (plain ? piece.m : piece.n) = block.rows.size();
  return piece;
}

/// The cut of the dimension along which the square matrix does not act.
kmb_blas_call sided_piece(const kmb_blas_call& call, const Block& block) {
  kmb_blas_call piece = call;
  const bool left = call.side == KM_BLAS_SIDE_LEFT;
  const uint64_t row = left ? 0 : block.rows.begin, column = left ? block.rows.begin : 0;
  (left ? piece.n : piece.m) = block.rows.size();
  move_matrix(call, &piece.b, row, column);
  if (call.c.address != 0) move_matrix(call, &piece.c, row, column);
  return piece;
}

kmb_blas_call vector_piece(const kmb_blas_call& call, const Block& block) {
  kmb_blas_call piece = call;
  move_vector(call, &piece.b, call.n, block.rows);
  if (call.c.address != 0) move_vector(call, &piece.c, call.n, block.rows);
  piece.n = block.rows.size();
  return piece;
}

kmb_blas_call ger_piece(const kmb_blas_call& call, const Block& block) {
  kmb_blas_call piece = call;
  const bool by_rows = call.layout == KM_BLAS_LAYOUT_ROWS;  // pieces are whole lines
  move_vector(call, by_rows ? &piece.b : &piece.c, by_rows ? call.m : call.n, block.rows);
  move_matrix(call, &piece.a, by_rows ? block.rows.begin : 0, by_rows ? 0 : block.rows.begin);
  (by_rows ? piece.m : piece.n) = block.rows.size();
  return piece;
}

/// Expresses a block off the diagonal of a rank update as a matrix product of block rows of the
/// operands.
kmb_blas_call update_product(const kmb_blas_call& call, const kmb_blas_array& first,
                             const kmb_blas_array& second, const Block& block) {
  const bool plain = is_plain(call.operation_a);
  const bool is_hermitian = call.routine == KMB_BLAS_HERK || call.routine == KMB_BLAS_HER2K;
  const km_blas_operation other =
      is_hermitian ? KM_BLAS_OPERATION_CONJUGATE_TRANSPOSE : KM_BLAS_OPERATION_TRANSPOSE;
  kmb_blas_call whole = call;
  whole.routine = KMB_BLAS_GEMM;
  whole.operation_a = plain ? KM_BLAS_OPERATION_NONE : other;
  whole.operation_b = plain ? other : KM_BLAS_OPERATION_NONE;
  whole.a = first;
  whole.b = second;
  return gemm_piece(whole, block);
}

void run_rank_update(const OpenBlas& library, const kmb_blas_call& call, const Block& block) {
  if (block.rows.begin == block.columns.begin) {
    kmb_blas_call piece = call;
    const uint64_t first = block.rows.begin;
    move_operand(call, &piece.a, call.operation_a, first, 0);
    if (call.b.address != 0) move_operand(call, &piece.b, call.operation_a, first, 0);
    move_matrix(call, &piece.c, first, first);
    piece.n = block.rows.size();
    run_openblas(library, piece);
    return;
  }
  const bool is_double = call.b.address != 0;
  run_openblas(library, update_product(call, call.a, is_double ? call.b : call.a, block));
  if (!is_double) return;
  kmb_blas_call again = update_product(call, call.b, call.a, block);
  if (call.routine == KMB_BLAS_HER2K) again.alpha[1] = -again.alpha[1];
  again.beta[0] = 1;
  again.beta[1] = 0;
  run_openblas(library, again);
}

/// The blocks of a triangle, numbered line by line: (0,0) (1,0) (1,1) (2,0) ...
Block triangle_block(const kmb_blas_call& call, uint64_t count, uint64_t piece) {
  uint64_t row = 0;
  while ((row + 1) * (row + 2) / 2 <= piece) ++row;
  const uint64_t column = piece - row * (row + 1) / 2;
  KM_ASSERT(row < count && column <= row, "a piece lies outside of its triangle");
  const BlasRange high = blas_range(call.n, count, row, kGrain);
  const BlasRange low = blas_range(call.n, count, column, kGrain);
  return call.triangle == KM_BLAS_TRIANGLE_LOWER ? Block{high, low} : Block{low, high};
}

/// The size that the blocks of one dimension divide.
uint64_t cut_size(const kmb_blas_call& call) {
  switch (call.routine) {
    case KMB_BLAS_GEMV:
      return is_plain(call.operation_a) ? call.m : call.n;
    case KMB_BLAS_GER:
    case KMB_BLAS_GERC:
      return call.layout == KM_BLAS_LAYOUT_ROWS ? call.m : call.n;
    case KMB_BLAS_SYMM:
    case KMB_BLAS_HEMM:
    case KMB_BLAS_TRMM:
    case KMB_BLAS_TRSM:
      return call.side == KM_BLAS_SIDE_LEFT ? call.n : call.m;
    case KMB_BLAS_AXPY:
    case KMB_BLAS_SCAL:
    case KMB_BLAS_COPY:
    case KMB_BLAS_SWAP:
    case KMB_BLAS_ROT:
    case KMB_BLAS_ROTM:
      return call.n;
    default:
      return 0;  // not cut
  }
}

void run_block(const OpenBlas& library, const kmb_blas_call& call, const Block& block) {
  switch (call.routine) {
    case KMB_BLAS_GEMM:
      return run_openblas(library, gemm_piece(call, block));
    case KMB_BLAS_GEMV:
      return run_openblas(library, gemv_piece(call, block));
    case KMB_BLAS_GER:
    case KMB_BLAS_GERC:
      return run_openblas(library, ger_piece(call, block));
    case KMB_BLAS_SYMM:
    case KMB_BLAS_HEMM:
    case KMB_BLAS_TRMM:
    case KMB_BLAS_TRSM:
      return run_openblas(library, sided_piece(call, block));
    default:
      return run_openblas(library, vector_piece(call, block));
  }
}

}  // namespace

uint32_t blas_element_bytes(km_data_type type) {
  KM_ASSERT(data_type_size(type) != 0, "a call of BLAS has a type without a size");
  return data_type_size(type);
}

uint64_t blas_element_offset(const kmb_blas_call& call, const kmb_blas_array& matrix, uint64_t row,
                             uint64_t column) {
  const auto leading = static_cast<uint64_t>(matrix.step);
  const bool by_rows = call.layout == KM_BLAS_LAYOUT_ROWS;
  return (by_rows ? row * leading + column : column * leading + row) *
         blas_element_bytes(call.type);
}

float blas_estimated_ns(const kmb_blas_call& call) {
  constexpr float kFlopsPerNs = 48, kBytesPerNs = 8;
  const auto m = static_cast<float>(call.m), n = static_cast<float>(call.n);
  const auto size = static_cast<float>(blas_element_bytes(call.type));
  if (call.routine <= KMB_BLAS_ROTM) return n * size / kBytesPerNs;
  if (call.routine <= KMB_BLAS_SPR2) return std::max(m, n) * n * size / kBytesPerNs;
  float depth = static_cast<float>(call.k);
  if (call.side != 0) depth = call.side == KM_BLAS_SIDE_LEFT ? m : n;
  const float rows = call.m != 0 ? m : n;
  const float weight = is_complex(call.type) ? 8 : 2;
  return rows * n * (depth + 1) * weight * std::max(size / 4, 1.0F) *
         static_cast<float>(call.batch_count) / kFlopsPerNs;
}

const char* blas_name(const kmb_blas_call& call) {
  struct Names {
    const char* of_type[4];
  };
  static constexpr Names kNames[] = {
#define KMB_BLAS(routine, s, d, c, z, cublas_s, cublas_d, cublas_c, cublas_z) {{#s, #d, #c, #z}},
#include "backend/blas.def"
#undef KMB_BLAS
  };
  if (call.type == KM_DATA_TYPE_F16) return "hgemm";
  if (call.type == KM_DATA_TYPE_BF16) return "bgemm";
  KM_ASSERT(static_cast<size_t>(call.routine) < std::size(kNames), "a routine has no name");
  return kNames[call.routine].of_type[call.type - KM_DATA_TYPE_F32];
}

BlasRange blas_range(uint64_t size, uint64_t count, uint64_t index, uint64_t grain) {
  KM_ASSERT(index < count && grain != 0, "a size is cut into fewer parts than are asked for");
  const uint64_t grains = (size + grain - 1) / grain;
  return {std::min(grains * index / count * grain, size),
          std::min(grains * (index + 1) / count * grain, size)};
}

uint64_t blas_parts(uint64_t size, uint64_t most, uint64_t least) {
  return std::clamp<uint64_t>(size / least, 1, most);
}

void cut_rectangle(uint64_t m, uint64_t n, uint64_t threads, uint64_t least, BlasCut* out) {
  double best = 0;
  for (uint64_t rows = 1; rows <= threads; ++rows) {
    const uint64_t cut_rows = blas_parts(m, rows, least);
    const uint64_t cut_columns = blas_parts(n, threads / rows, least);
    // Each piece reads its rows of one operand and its columns of the other.
    const double pieces = static_cast<double>(cut_rows * cut_columns);
    const double reads = static_cast<double>(m) / static_cast<double>(cut_rows) +
                         static_cast<double>(n) / static_cast<double>(cut_columns);
    const double value = pieces * 1e12 - reads;
    if (rows != 1 && value <= best) continue;
    best = value;
    out->rows = cut_rows;
    out->columns = cut_columns;
  }
}

BlasCut cut_blas(const kmb_blas_call& call, uint32_t threads) {
  BlasCut cut;
  cut.batches =
      blas_parts(call.batch_count, call.batch_count >= threads ? 4 * threads : threads, 1);
  if (threads == 1 || blas_estimated_ns(call) < kWorthCuttingNs) {
    cut.batches = 1;
    return cut;
  }
  const uint64_t each = (threads + cut.batches - 1) / cut.batches;
  switch (call.routine) {
    case KMB_BLAS_GEMM:
      cut_rectangle(call.m, call.n, each, kLeastMatrix, &cut);
      return cut;
    case KMB_BLAS_SYRK:
    case KMB_BLAS_HERK:
    case KMB_BLAS_SYR2K:
    case KMB_BLAS_HER2K:
      cut.is_triangle = true;
      cut.rows = blas_parts(call.n, 2 * uint64_t{threads}, kLeastMatrix);
      return cut;
    default:
      break;
  }
  const uint64_t size = cut_size(call);
  const bool is_vector = call.routine <= KMB_BLAS_ROTM;
  if (size != 0) cut.rows = blas_parts(size, threads, is_vector ? kLeastVector : kLeastMatrix);
  return cut;
}

void run_blas_piece(const OpenBlas& library, const kmb_blas_call& call, const BlasCut& cut,
                    uint64_t piece) {
  if (cut.is_triangle) {
    run_rank_update(library, call, triangle_block(call, cut.rows, piece));
    return;
  }
  const uint64_t place = piece % (cut.rows * cut.columns);
  const BlasRange matrices =
      blas_range(call.batch_count, cut.batches, piece / (cut.rows * cut.columns), 1);
  Block block{{0, 0}, {0, 0}};
  if (call.routine == KMB_BLAS_GEMM) {
    block = {blas_range(call.m, cut.rows, place / cut.columns, kGrain),
             blas_range(call.n, cut.columns, place % cut.columns, kGrain)};
  } else if (cut.rows > 1) {
    block.rows = blas_range(cut_size(call), cut.rows, place, kGrain);
  } else {
    run_openblas(library, call);
    return;
  }
  for (uint64_t i = matrices.begin; i < matrices.end; ++i) {
    kmb_blas_call one = call;
    take_matrices(&one, i);
    run_block(library, one, block);
  }
}

}  // namespace km::cpu
