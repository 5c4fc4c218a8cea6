#include "dropin/cublas/lt/descriptors.h"

namespace km::cublas {

MatrixLayout make_layout(int type, uint64_t rows, uint64_t columns, int64_t leading) {
  MatrixLayout layout{};
  layout.mark = MatrixLayout::kMark;
  layout.type = static_cast<uint32_t>(type);
  layout.batch_count = 1;
  layout.rows = rows;
  layout.columns = columns;
  layout.leading = leading;
  return layout;
}

MatmulDescriptor make_matmul(int compute_type, int scale_type) {
  MatmulDescriptor matmul{};
  matmul.mark = MatmulDescriptor::kMark;
  matmul.compute_type = compute_type;
  matmul.scale_type = scale_type;
  matmul.fill_mode = CUBLAS_FILL_MODE_FULL;
  matmul.epilogue = CUBLASLT_EPILOGUE_DEFAULT;
  matmul.aux_type = matmul.bias_type = -1;
  matmul.batch_invariance = CUBLASLT_BATCH_INVARIANCE_UNSET;
  return matmul;
}

TransformDescriptor make_transform(int scale_type) {
  TransformDescriptor transform{};
  transform.mark = TransformDescriptor::kMark;
  transform.scale_type = scale_type;
  return transform;
}

Preference make_preference() {
  Preference preference{};
  preference.mark = Preference::kMark;
  preference.reduction_mask = CUBLASLT_REDUCTION_SCHEME_MASK;
  for (uint32_t& alignment : preference.alignments) alignment = 256;
  preference.implementation_mask = UINT64_MAX;
  return preference;
}

EmulationDescriptor make_emulation() {
  EmulationDescriptor emulation{};
  emulation.mark = EmulationDescriptor::kMark;
  emulation.special_values = CUDA_EMULATION_SPECIAL_VALUES_SUPPORT_DEFAULT;
  return emulation;
}

}  // namespace km::cublas
