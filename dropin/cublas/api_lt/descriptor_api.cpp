// cublasLt's descriptors: creation, destruction and attributes.
#include <algorithm>
#include <cstddef>
#include <cstring>
#include <span>

#include "dropin/cublas/lt/descriptors.h"

namespace km::cublas {

namespace {

#define KM_AT(Type, member) offsetof(Type, member), sizeof(Type::member)
constexpr Attribute kLayout[] = {
    {CUBLASLT_MATRIX_LAYOUT_TYPE, KM_AT(MatrixLayout, type)},
    {CUBLASLT_MATRIX_LAYOUT_ORDER, KM_AT(MatrixLayout, order)},
    {CUBLASLT_MATRIX_LAYOUT_ROWS, KM_AT(MatrixLayout, rows)},
    {CUBLASLT_MATRIX_LAYOUT_COLS, KM_AT(MatrixLayout, columns)},
    {CUBLASLT_MATRIX_LAYOUT_LD, KM_AT(MatrixLayout, leading)},
    {CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, KM_AT(MatrixLayout, batch_count)},
    {CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, KM_AT(MatrixLayout, batch_offset)},
    {CUBLASLT_MATRIX_LAYOUT_PLANE_OFFSET, KM_AT(MatrixLayout, plane_offset)},
    {CUBLASLT_MATRIX_LAYOUT_BATCH_MODE, KM_AT(MatrixLayout, batch_mode)},
};
constexpr char kNoGroups[] =
    "grouped layouts are not there; call cublasGemmGroupedBatchedEx, or cublasLtMatmul for each "
    "group";
constexpr FixedAttribute kFixedLayout[] = {
    {CUBLASLT_GROUPED_MATRIX_LAYOUT_ROWS_ARRAY, 8, kNoGroups},
    {CUBLASLT_GROUPED_MATRIX_LAYOUT_COLS_ARRAY, 8, kNoGroups},
    {CUBLASLT_GROUPED_MATRIX_LAYOUT_LD_ARRAY, 8, kNoGroups},
    {CUBLASLT_GROUPED_MATRIX_LAYOUT_ROWS_COLS_ARRAY_INTEGER_WIDTH, 4, kNoGroups},
    {CUBLASLT_GROUPED_MATRIX_LAYOUT_LD_ARRAY_INTEGER_WIDTH, 4, kNoGroups},
};
constexpr FixedAttribute kFixedPreference[] = {
    {CUBLASLT_MATMUL_PREF_GROUPED_AVERAGE_REDUCTION_DIM, 4, kNoGroups},
    {CUBLASLT_MATMUL_PREF_GROUPED_DESC_D_AVERAGE_ROWS, 4, kNoGroups},
    {CUBLASLT_MATMUL_PREF_GROUPED_DESC_D_AVERAGE_COLS, 4, kNoGroups},
};
constexpr char kNoBlockScales[] =
    "scales are one f32 for a matrix (CUBLASLT_MATMUL_MATRIX_SCALE_SCALAR_32F); scale blocks or "
    "rows "
    "before the product, or rows by CUBLASLT_POINTER_MODE_ALPHA_DEVICE_VECTOR_BETA_HOST";
constexpr FixedAttribute kFixedMatmul[] = {
    {CUBLASLT_MATMUL_DESC_A_SCALE_MODE, 4, kNoBlockScales},
    {CUBLASLT_MATMUL_DESC_B_SCALE_MODE, 4, kNoBlockScales},
    {CUBLASLT_MATMUL_DESC_C_SCALE_MODE, 4, kNoBlockScales},
    {CUBLASLT_MATMUL_DESC_D_SCALE_MODE, 4, kNoBlockScales},
    {CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_SCALE_MODE, 4, kNoBlockScales},
    {CUBLASLT_MATMUL_DESC_D_OUT_SCALE_POINTER, 8, kNoBlockScales},
    {CUBLASLT_MATMUL_DESC_D_OUT_SCALE_MODE, 4, kNoBlockScales},
};
constexpr Attribute kMatmul[] = {
    {CUBLASLT_MATMUL_DESC_COMPUTE_TYPE, KM_AT(MatmulDescriptor, compute_type)},
    {CUBLASLT_MATMUL_DESC_SCALE_TYPE, KM_AT(MatmulDescriptor, scale_type)},
    {CUBLASLT_MATMUL_DESC_POINTER_MODE, KM_AT(MatmulDescriptor, pointer_mode)},
    {CUBLASLT_MATMUL_DESC_TRANSA, KM_AT(MatmulDescriptor, operation_a)},
    {CUBLASLT_MATMUL_DESC_TRANSB, KM_AT(MatmulDescriptor, operation_b)},
    {CUBLASLT_MATMUL_DESC_TRANSC, KM_AT(MatmulDescriptor, operation_c)},
    {CUBLASLT_MATMUL_DESC_FILL_MODE, KM_AT(MatmulDescriptor, fill_mode)},
    {CUBLASLT_MATMUL_DESC_EPILOGUE, KM_AT(MatmulDescriptor, epilogue)},
    {CUBLASLT_MATMUL_DESC_BIAS_POINTER, KM_AT(MatmulDescriptor, bias)},
    {CUBLASLT_MATMUL_DESC_BIAS_BATCH_STRIDE, KM_AT(MatmulDescriptor, bias_batch_stride)},
    {CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, KM_AT(MatmulDescriptor, aux)},
    {CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, KM_AT(MatmulDescriptor, aux_leading)},
    {CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_BATCH_STRIDE, KM_AT(MatmulDescriptor, aux_batch_stride)},
    {CUBLASLT_MATMUL_DESC_ALPHA_VECTOR_BATCH_STRIDE, KM_AT(MatmulDescriptor, alpha_batch_stride)},
    {CUBLASLT_MATMUL_DESC_SM_COUNT_TARGET, KM_AT(MatmulDescriptor, sm_count_target)},
    {CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, KM_AT(MatmulDescriptor, scales[0])},
    {CUBLASLT_MATMUL_DESC_B_SCALE_POINTER, KM_AT(MatmulDescriptor, scales[1])},
    {CUBLASLT_MATMUL_DESC_C_SCALE_POINTER, KM_AT(MatmulDescriptor, scales[2])},
    {CUBLASLT_MATMUL_DESC_D_SCALE_POINTER, KM_AT(MatmulDescriptor, scales[3])},
    {CUBLASLT_MATMUL_DESC_AMAX_D_POINTER, KM_AT(MatmulDescriptor, largest)},
    {CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_DATA_TYPE, KM_AT(MatmulDescriptor, aux_type)},
    {CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_SCALE_POINTER, KM_AT(MatmulDescriptor, aux_scale)},
    {CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_AMAX_POINTER, KM_AT(MatmulDescriptor, aux_largest)},
    {CUBLASLT_MATMUL_DESC_FAST_ACCUM, KM_AT(MatmulDescriptor, is_accumulation_fast)},
    {CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, KM_AT(MatmulDescriptor, bias_type)},
    {CUBLASLT_MATMUL_DESC_EMULATION_DESCRIPTOR, KM_AT(MatmulDescriptor, emulation)},
    {CUBLASLT_MATMUL_DESC_ALPHA_BATCH_STRIDE, KM_AT(MatmulDescriptor, alpha_stride)},
    {CUBLASLT_MATMUL_DESC_BETA_BATCH_STRIDE, KM_AT(MatmulDescriptor, beta_stride)},
    {CUBLASLT_MATMUL_DESC_BATCH_INVARIANCE_FLAGS, KM_AT(MatmulDescriptor, batch_invariance)},
};
constexpr Attribute kEmulation[] = {
    {CUBLASLT_EMULATION_DESC_STRATEGY, KM_AT(EmulationDescriptor, strategy)},
    {CUBLASLT_EMULATION_DESC_SPECIAL_VALUES_SUPPORT, KM_AT(EmulationDescriptor, special_values)},
    {CUBLASLT_EMULATION_DESC_FIXEDPOINT_MANTISSA_CONTROL,
     KM_AT(EmulationDescriptor, mantissa_control)},
    {CUBLASLT_EMULATION_DESC_FIXEDPOINT_MAX_MANTISSA_BIT_COUNT,
     KM_AT(EmulationDescriptor, most_mantissa_bits)},
    {CUBLASLT_EMULATION_DESC_FIXEDPOINT_MANTISSA_BIT_OFFSET,
     KM_AT(EmulationDescriptor, mantissa_bit_offset)},
    {CUBLASLT_EMULATION_DESC_FIXEDPOINT_MANTISSA_BIT_COUNT_POINTER,
     KM_AT(EmulationDescriptor, mantissa_bit_count)},
};
constexpr Attribute kTransform[] = {
    {CUBLASLT_MATRIX_TRANSFORM_DESC_SCALE_TYPE, KM_AT(TransformDescriptor, scale_type)},
    {CUBLASLT_MATRIX_TRANSFORM_DESC_POINTER_MODE, KM_AT(TransformDescriptor, pointer_mode)},
    {CUBLASLT_MATRIX_TRANSFORM_DESC_TRANSA, KM_AT(TransformDescriptor, operation_a)},
    {CUBLASLT_MATRIX_TRANSFORM_DESC_TRANSB, KM_AT(TransformDescriptor, operation_b)},
};
constexpr Attribute kPreference[] = {
    {CUBLASLT_MATMUL_PREF_SEARCH_MODE, KM_AT(Preference, search_mode)},
    {CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, KM_AT(Preference, most_workspace_bytes)},
    {CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, KM_AT(Preference, reduction_mask)},
    {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, KM_AT(Preference, alignments[0])},
    {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, KM_AT(Preference, alignments[1])},
    {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, KM_AT(Preference, alignments[2])},
    {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, KM_AT(Preference, alignments[3])},
    {CUBLASLT_MATMUL_PREF_MAX_WAVES_COUNT, KM_AT(Preference, most_waves)},
    {CUBLASLT_MATMUL_PREF_IMPL_MASK, KM_AT(Preference, implementation_mask)},
};
#undef KM_AT

/// All attributes of one kind of descriptor.
struct Attributes {
  std::span<const Attribute> stored;
  std::span<const FixedAttribute> fixed;
};
constexpr Attributes kLayouts = {kLayout, kFixedLayout};
constexpr Attributes kMatmuls = {kMatmul, kFixedMatmul};
constexpr Attributes kTransforms = {kTransform, {}};
constexpr Attributes kPreferences = {kPreference, kFixedPreference};
constexpr Attributes kEmulations = {kEmulation, {}};

template <class T>
const T* find(std::span<const T> attributes, int id) {
  for (const T& attribute : attributes) {
    if (attribute.id == id) return &attribute;
  }
  return nullptr;
}

cublasStatus_t no_such_attribute(int id) {
  return unsupported("attribute %d is not there; leave it at its default", id);
}

cublasStatus_t too_small(int id, unsigned needed, size_t given) {
  return invalid("attribute %d has %u bytes; %zu are given", id, needed, given);
}

cublasStatus_t set_fixed(const FixedAttribute* attribute, int id, const void* value,
                         size_t size_bytes) {
  if (attribute == nullptr) return no_such_attribute(id);
  if (size_bytes < attribute->size_bytes) return too_small(id, attribute->size_bytes, size_bytes);
  uint64_t number = 0;  // no attribute is larger
  LIB_TRY(read_place("buf", value, &number, attribute->size_bytes));
  if (number == 0) return CUBLAS_STATUS_SUCCESS;
  return unsupported("attribute %d: %s", id, attribute->instead);
}

/// Sets one attribute of a descriptor to a value of the program's. If this fails for an id, the
/// descriptor has ended meanwhile.
template <class T>
bool write_attribute(void* opaque, const Attribute& attribute, const void* value) {
  if (!is_id(opaque)) {
    char* const place = static_cast<char*>(opaque) + attribute.offset;
    return library::write_host(place, value, attribute.size_bytes);
  }
  return descriptor_table<T>().update(reinterpret_cast<uint64_t>(opaque), [&](T& descriptor) {
    std::memcpy(reinterpret_cast<char*>(&descriptor) + attribute.offset, value,
                attribute.size_bytes);
  });
}

template <class T>
cublasStatus_t set(const Attributes& attributes, void* opaque, const char* name, int id,
                   const void* value, size_t size_bytes) {
  T descriptor;
  if (!read_descriptor(opaque, name, &descriptor)) return CUBLAS_STATUS_INVALID_VALUE;
  const Attribute* const attribute = find(attributes.stored, id);
  if (attribute == nullptr) return set_fixed(find(attributes.fixed, id), id, value, size_bytes);
  LIB_REQUIRE(value);
  if (size_bytes < attribute->size_bytes) return too_small(id, attribute->size_bytes, size_bytes);
  uint64_t copy[4];
  LIB_TRY(read_place("buf", value, copy, attribute->size_bytes));
  if (write_attribute<T>(opaque, *attribute, copy)) return CUBLAS_STATUS_SUCCESS;
  return invalid("%s cannot be written", name);
}

template <class T>
cublasStatus_t get(const Attributes& attributes, const void* opaque, const char* name, int id,
                   void* value, size_t size_bytes, size_t* written) {
  T descriptor;
  if (!read_descriptor(opaque, name, &descriptor)) return CUBLAS_STATUS_INVALID_VALUE;
  const Attribute* const stored = find(attributes.stored, id);
  const FixedAttribute* const fixed = find(attributes.fixed, id);
  if (stored == nullptr && fixed == nullptr) return no_such_attribute(id);
  const uint16_t needed = stored != nullptr ? stored->size_bytes : fixed->size_bytes;
  if (written != nullptr) LIB_TRY(write_value("sizeWritten", written, size_t{needed}));
  if (size_bytes == 0) return CUBLAS_STATUS_SUCCESS;
  LIB_REQUIRE(value);
  if (size_bytes < needed) return too_small(id, needed, size_bytes);
  constexpr uint64_t kZeros[4] = {};
  const void* const from =
      stored == nullptr
          ? kZeros
          : static_cast<const void*>(reinterpret_cast<const char*>(&descriptor) + stored->offset);
  return write_place("buf", value, from, needed);
}

/// Initialises a descriptor in the program's memory.
template <class T>
cublasStatus_t initialize(void* place, size_t size_bytes, const T& value) {
  LIB_REQUIRE(place);
  if (size_bytes < sizeof(T))
    return invalid("size is %zu; at least %zu is needed", size_bytes, sizeof(T));
  if (is_id(place)) return invalid("the place is a descriptor of cublasLt's own");
  typename T::Opaque image{};
  std::memcpy(&image, &value, sizeof value);
  return write_place("the descriptor", place, &image, std::min(size_bytes, sizeof image));
}

/// Creates a descriptor that the library owns until destroy().
template <class Opaque, class T>
cublasStatus_t create(Opaque** out, const T& value) {
  const uint64_t id = descriptor_table<T>().add(value);
  if (id == 0) return CUBLAS_STATUS_ALLOC_FAILED;
  const cublasStatus_t given =
      write_value("the place of the descriptor", out, reinterpret_cast<Opaque*>(id));
  if (given != CUBLAS_STATUS_SUCCESS) descriptor_table<T>().remove(id);
  return given;
}

template <class T>
cublasStatus_t destroy(const void* opaque, const char* name) {
  if (opaque == nullptr) return CUBLAS_STATUS_SUCCESS;
  const bool has_ended =
      is_id(opaque) && descriptor_table<T>().remove(reinterpret_cast<uint64_t>(opaque));
  return has_ended ? CUBLAS_STATUS_SUCCESS
                   : invalid("%s is not a live descriptor of its kind", name);
}

}  // namespace

extern "C" {

#define KM_DESCRIPTOR(Name, Handle, Id, Type, table)                                            \
  cublasStatus_t cublasLt##Name##Destroy(Handle handle) {                                       \
    return call(__func__, [&] { return destroy<Type>(handle, #Name); });                        \
  }                                                                                             \
  cublasStatus_t cublasLt##Name##SetAttribute(Handle handle, Id id, const void* value,          \
                                              size_t size_bytes) {                              \
    return call(__func__, [&] {                                                                 \
      return set<Type>(table, handle, #Name, static_cast<int>(id), value, size_bytes);          \
    });                                                                                         \
  }                                                                                             \
  cublasStatus_t cublasLt##Name##GetAttribute(Handle handle, Id id, void* value,                \
                                              size_t size_bytes, size_t* written) {             \
    return call(__func__, [&] {                                                                 \
      return get<Type>(table, handle, #Name, static_cast<int>(id), value, size_bytes, written); \
    });                                                                                         \
  }
KM_DESCRIPTOR(MatrixLayout, cublasLtMatrixLayout_t, cublasLtMatrixLayoutAttribute_t, MatrixLayout,
              kLayouts)
KM_DESCRIPTOR(MatmulDesc, cublasLtMatmulDesc_t, cublasLtMatmulDescAttributes_t, MatmulDescriptor,
              kMatmuls)
KM_DESCRIPTOR(MatrixTransformDesc, cublasLtMatrixTransformDesc_t,
              cublasLtMatrixTransformDescAttributes_t, TransformDescriptor, kTransforms)
KM_DESCRIPTOR(MatmulPreference, cublasLtMatmulPreference_t, cublasLtMatmulPreferenceAttributes_t,
              Preference, kPreferences)
KM_DESCRIPTOR(EmulationDesc, cublasLtEmulationDesc_t, cublasLtEmulationDescAttributes_t,
              EmulationDescriptor, kEmulations)

cublasStatus_t cublasLtMatrixLayoutInit_internal(cublasLtMatrixLayout_t layout, size_t size_bytes,
                                                 cudaDataType type, uint64_t rows, uint64_t columns,
                                                 int64_t leading) {
  return call(__func__, [&] {
    return initialize(layout, size_bytes, make_layout(type, rows, columns, leading));
  });
}

cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t* layout, cudaDataType type,
                                          uint64_t rows, uint64_t columns, int64_t leading) {
  return call(__func__, [&] { return create(layout, make_layout(type, rows, columns, leading)); });
}

cublasStatus_t cublasLtGroupedMatrixLayoutInit_internal(cublasLtMatrixLayout_t, size_t,
                                                        cudaDataType, int, const void*, const void*,
                                                        const void*) {
  return call(__func__, [&] { return unsupported("%s", kNoGroups); });
}

cublasStatus_t cublasLtGroupedMatrixLayoutCreate(cublasLtMatrixLayout_t*, cudaDataType, int,
                                                 const void*, const void*, const void*) {
  return call(__func__, [&] { return unsupported("%s", kNoGroups); });
}

cublasStatus_t cublasLtMatmulDescInit_internal(cublasLtMatmulDesc_t matmul, size_t size_bytes,
                                               cublasComputeType_t compute_type,
                                               cudaDataType scale_type) {
  return call(__func__, [&] {
    return initialize(matmul, size_bytes, make_matmul(compute_type, scale_type));
  });
}

cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* matmul,
                                        cublasComputeType_t compute_type, cudaDataType scale_type) {
  return call(__func__, [&] { return create(matmul, make_matmul(compute_type, scale_type)); });
}

cublasStatus_t cublasLtMatrixTransformDescInit_internal(cublasLtMatrixTransformDesc_t transform,
                                                        size_t size_bytes,
                                                        cudaDataType scale_type) {
  return call(__func__,
              [&] { return initialize(transform, size_bytes, make_transform(scale_type)); });
}

cublasStatus_t cublasLtMatrixTransformDescCreate(cublasLtMatrixTransformDesc_t* transform,
                                                 cudaDataType scale_type) {
  return call(__func__, [&] { return create(transform, make_transform(scale_type)); });
}

cublasStatus_t cublasLtMatmulPreferenceInit_internal(cublasLtMatmulPreference_t preference,
                                                     size_t size_bytes) {
  return call(__func__, [&] { return initialize(preference, size_bytes, make_preference()); });
}

cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t* preference) {
  return call(__func__, [&] { return create(preference, make_preference()); });
}

cublasStatus_t cublasLtEmulationDescInit_internal(cublasLtEmulationDesc_t emulation,
                                                  size_t size_bytes) {
  return call(__func__, [&] { return initialize(emulation, size_bytes, make_emulation()); });
}

cublasStatus_t cublasLtEmulationDescCreate(cublasLtEmulationDesc_t* emulation) {
  return call(__func__, [&] { return create(emulation, make_emulation()); });
}

}  // extern "C"

}  // namespace km::cublas
