// cublasLt's descriptors: values that ids refer to, or that cublasLt*Init writes to the program's
// memory.
#pragma once

#include "dropin/cublas/frame/handle.h"
#include "dropin/cublas/generated/lt_api.h"
#include "dropin/library/value_table.h"

namespace km::cublas {

struct MatrixLayout {
  static constexpr uint64_t kMark = 0x9d3b7a514c6d6b01;
  static constexpr library::HandleKind kKind = library::HandleKind::kMatrixLayout;
  using Opaque = cublasLtMatrixLayoutOpaque_t;
  uint64_t mark;
  uint32_t type;
  int32_t order;  // a cublasLtOrder_t
  int32_t batch_count;
  uint32_t batch_mode;  // a cublasLtBatchMode_t
  uint64_t rows, columns;
  int64_t leading, batch_offset, plane_offset;
  bool has_pointers() const { return batch_mode == CUBLASLT_BATCH_MODE_POINTER_ARRAY; }
};
static_assert(sizeof(MatrixLayout) <= 64);  // the size that programs reserve

struct MatmulDescriptor {
  static constexpr uint32_t kMark = 0x7a516b02;  // short, because programs reserve so little
  static constexpr library::HandleKind kKind = library::HandleKind::kMatmulDescriptor;
  using Opaque = cublasLtMatmulDescOpaque_t;
  uint32_t mark;
  uint32_t batch_invariance;  // a cublasLtMatmulBatchInvarianceFlags_t
  int32_t compute_type, scale_type, pointer_mode;
  int32_t operation_a, operation_b, operation_c, fill_mode;
  int32_t epilogue, aux_type, bias_type, sm_count_target;
  int8_t is_accumulation_fast;
  const void* bias;
  int64_t bias_batch_stride;
  void* aux;
  int64_t aux_leading, aux_batch_stride, alpha_batch_stride;
  const void* scales[4];  // scales of a, b, c, d
  void* largest;
  const void *aux_scale, *aux_largest;
  const void* emulation;              // an EmulationDescriptor
  int64_t alpha_stride, beta_stride;  // between scalars in device memory, per matrix
};
static_assert(sizeof(MatmulDescriptor) <= 184);

struct TransformDescriptor {
  static constexpr uint64_t kMark = 0x9d3b7a514c6d6b03;
  static constexpr library::HandleKind kKind = library::HandleKind::kTransformDescriptor;
  using Opaque = cublasLtMatrixTransformDescOpaque_t;
  uint64_t mark;
  int32_t scale_type, pointer_mode, operation_a, operation_b;
};

struct Preference {
  static constexpr uint64_t kMark = 0x9d3b7a514c6d6b04;
  static constexpr library::HandleKind kKind = library::HandleKind::kPreference;
  using Opaque = cublasLtMatmulPreferenceOpaque_t;
  uint64_t mark;
  uint32_t search_mode, reduction_mask, alignments[4];
  float most_waves;
  uint64_t most_workspace_bytes, implementation_mask;
};
static_assert(sizeof(Preference) <= 64);

/// Emulation settings, which have no effect. Products report this by writing -1 to
/// `mantissa_bit_count`.
struct EmulationDescriptor {
  static constexpr uint64_t kMark = 0x9d3b7a514c6d6b05;
  static constexpr library::HandleKind kKind = library::HandleKind::kEmulationDescriptor;
  using Opaque = cublasLtEmulationDescOpaque_t;
  uint64_t mark;
  int32_t strategy, special_values, mantissa_control, most_mantissa_bits, mantissa_bit_offset;
  int32_t* mantissa_bit_count;
};

/// An attribute's position in a descriptor.
struct Attribute {
  int id;
  uint16_t offset, size_bytes;
};

/// An attribute that must be 0, and the message that says how to do without other values.
struct FixedAttribute {
  int id;
  uint16_t size_bytes;
  const char* instead;
};

/// All descriptors of one type that cublasLt*Create has made. Never destroyed, because other
/// threads may make calls during exit.
template <class T>
library::ValueTable<T, T::kKind>& descriptor_table() {
  union Forever {
    library::ValueTable<T, T::kKind> table;
    Forever() : table() {}
    ~Forever() {}
  };
  static Forever forever;
  return forever.table;
}

/// True if the pointer is an id from cublasLt*Create; otherwise it is the descriptor's address.
inline bool is_id(const void* opaque) { return reinterpret_cast<uint64_t>(opaque) >> 62 == 1; }

/// Reads a descriptor. Returns false and logs the reason if it is not of the type: an id that has
/// ended or is of another type, unmapped memory, or memory with other content.
template <class T>
bool read_descriptor(const void* opaque, const char* name, T* out) {
  static_assert(sizeof(T) <= sizeof(typename T::Opaque));
  const bool is_there = is_id(opaque)
                            ? descriptor_table<T>().read(reinterpret_cast<uint64_t>(opaque), out)
                            : opaque != nullptr && library::read_host(out, opaque, sizeof(T));
  if (is_there && out->mark == T::kMark) return true;
  frame::explain("%s is not a live descriptor of its kind", name);
  return false;
}

MatrixLayout make_layout(int type, uint64_t rows, uint64_t columns, int64_t leading);
MatmulDescriptor make_matmul(int compute_type, int scale_type);
TransformDescriptor make_transform(int scale_type);
Preference make_preference();
EmulationDescriptor make_emulation();

}  // namespace km::cublas
