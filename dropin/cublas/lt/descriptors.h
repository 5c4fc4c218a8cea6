// The descriptors of cublasLt, as they lie in the program's memory.
#pragma once

#include "base/log.h"
#include "dropin/cublas/frame/handle.h"
#include "dropin/cublas/lt/types.h"

namespace km::cublas {

struct MatrixLayout {
  static constexpr uint32_t kMark = 0x4c6d6b01;
  uint32_t mark;
  uint32_t type;
  int32_t order;  // 0: columns, 1: rows
  int32_t batch_count;
  uint64_t rows, columns;
  int64_t leading, batch_offset, plane_offset;
  uint32_t batch_mode;  // 0: matrices at an offset, 1: by an array of pointers in device memory
  bool has_pointers() const { return batch_mode == 1; }
};
static_assert(sizeof(MatrixLayout) <= 64);

struct MatmulDescriptor {
  static constexpr uint32_t kMark = 0x4c6d6b02;
  uint32_t mark;
  int32_t compute_type, scale_type, pointer_mode;
  int32_t operation_a, operation_b, operation_c, fill_mode;
  int32_t epilogue, aux_type, bias_type, sm_count_target;
  const void* bias;
  int64_t bias_batch_stride;
  void* aux;
  int64_t aux_leading, aux_batch_stride, alpha_batch_stride;
  const void* scales[4];  // of a, b, c, d
  void* largest;
  const void *aux_scale, *aux_largest;
  const void* emulation;              // an EmulationDescriptor
  int64_t alpha_stride, beta_stride;  // of scalars in device memory, from matrix to matrix
  int8_t is_accumulation_fast;
};
static_assert(sizeof(MatmulDescriptor) <= 184);

struct TransformDescriptor {
  static constexpr uint32_t kMark = 0x4c6d6b03;
  uint32_t mark;
  int32_t scale_type, pointer_mode, operation_a, operation_b;
};

struct Preference {
  static constexpr uint32_t kMark = 0x4c6d6b04;
  uint32_t mark;
  uint32_t search_mode, reduction_mask, alignments[4];
  float most_waves;
  uint64_t most_workspace_bytes, implementation_mask;
};

/// Nothing is emulated; products write -1 to `mantissa_bit_count`, which says so.
struct EmulationDescriptor {
  static constexpr uint32_t kMark = 0x4c6d6b05;
  uint32_t mark;
  int32_t strategy, special_values, mantissa_control, most_mantissa_bits, mantissa_bit_offset;
  int32_t* mantissa_bit_count;
};

/// The place of one attribute in a descriptor.
struct Attribute {
  int id;
  uint16_t offset, size_bytes;
};

/// An attribute that can be 0 alone, and what there is instead of its other values.
struct FixedAttribute {
  int id;
  uint16_t size_bytes;
  const char* instead;
};

/// Null, with a line of the log, for what is no descriptor of the type.
template <class T>
T* descriptor(const void* opaque, const char* name) {
  const bool may_be = opaque != nullptr && reinterpret_cast<uint64_t>(opaque) % alignof(T) == 0;
  auto* const found = const_cast<T*>(static_cast<const T*>(opaque));
  if (may_be && found->mark == T::kMark) return found;
  log(LogLevel::kInfo, "cuda", "%s: %s is no descriptor of its kind", current_function(), name);
  return nullptr;
}

MatrixLayout make_layout(int type, uint64_t rows, uint64_t columns, int64_t leading);
MatmulDescriptor make_matmul(int compute_type, int scale_type);
TransformDescriptor make_transform(int scale_type);
Preference make_preference();
EmulationDescriptor make_emulation();

}  // namespace km::cublas
