#include "dropin/cudnn/graph/descriptor.h"

#include <algorithm>
#include <cstring>

namespace km::cudnn {
namespace {

/// Attributes with numbers from `first` to `last` belong to one type of descriptors.
struct AttributeRange {
  int first, last;
  cudnnBackendDescriptorType_t type;
};
constexpr AttributeRange kRanges[] = {
    {0, 9, CUDNN_BACKEND_POINTWISE_DESCRIPTOR},
    {100, 106, CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR},
    {200, 205, CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR},
    {300, 304, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR},
    {400, 408, CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR},
    {500, 503, CUDNN_BACKEND_INTERMEDIATE_INFO_DESCRIPTOR},
    {600, 601, CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR},
    {700, 705, CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR},
    {706, 711, CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR},
    {712, 717, CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR},
    {750, 758, CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR},
    {770, 774, CUDNN_BACKEND_OPERATION_GEN_STATS_DESCRIPTOR},
    {780, 796, CUDNN_BACKEND_OPERATION_BN_FINALIZE_STATISTICS_DESCRIPTOR},
    {800, 806, CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR},
    {900, 914, CUDNN_BACKEND_TENSOR_DESCRIPTOR},
    {1000, 1012, CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR},
    {1100, 1101, CUDNN_BACKEND_LAYOUT_INFO_DESCRIPTOR},
    {1200, 1203, CUDNN_BACKEND_KNOB_INFO_DESCRIPTOR},
    {1300, 1309, CUDNN_BACKEND_ENGINE_DESCRIPTOR},
    {1500, 1503, CUDNN_BACKEND_MATMUL_DESCRIPTOR},
    {1520, 1527, CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR},
    {1600, 1602, CUDNN_BACKEND_REDUCTION_DESCRIPTOR},
    {1610, 1613, CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR},
    {1620, 1630, CUDNN_BACKEND_OPERATION_BN_BWD_WEIGHTS_DESCRIPTOR},
    {1640, 1646, CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR},
    {1700, 1708, CUDNN_BACKEND_RESAMPLE_DESCRIPTOR},
    {1710, 1716, CUDNN_BACKEND_OPERATION_RESAMPLE_FWD_DESCRIPTOR},
    {1720, 1727, CUDNN_BACKEND_OPERATION_RESAMPLE_BWD_DESCRIPTOR},
    {1800, 1803, CUDNN_BACKEND_OPERATION_CONCAT_DESCRIPTOR},
    {1900, 1904, CUDNN_BACKEND_OPERATION_SIGNAL_DESCRIPTOR},
    {1950, 1953, CUDNN_BACKEND_OPERATION_PAGED_CACHE_LOAD_DESCRIPTOR},
    {2000, 2014, CUDNN_BACKEND_OPERATION_NORM_FORWARD_DESCRIPTOR},
    {2100, 2110, CUDNN_BACKEND_OPERATION_NORM_BACKWARD_DESCRIPTOR},
    {2200, 2202, CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR},
    {2250, 2257, CUDNN_BACKEND_OPERATION_EXPAND_BAND_MATRIX_DESCRIPTOR},
    {2270, 2276, CUDNN_BACKEND_OPERATION_CONTRACT_BAND_MATRIX_DESCRIPTOR},
    {2300, 2305, CUDNN_BACKEND_RNG_DESCRIPTOR},
    {2310, 2313, CUDNN_BACKEND_OPERATION_RNG_DESCRIPTOR},
    {2400, 2404, CUDNN_BACKEND_KERNEL_CACHE_DESCRIPTOR},
    {2500, 2504, CUDNN_BACKEND_OPERATION_BLOCK_SCALE_QUANTIZE_DESCRIPTOR},
    {2600, 2605, CUDNN_BACKEND_OPERATION_BLOCK_SCALE_DEQUANTIZE_DESCRIPTOR},
    {2700, 2702, CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR},
    {2800, 2829, CUDNN_BACKEND_OPERATION_SDPA_FWD_DESCRIPTOR},
    {2851, 2875, CUDNN_BACKEND_OPERATION_SDPA_BWD_DESCRIPTOR},
    {2900, 2908, CUDNN_BACKEND_OPERATION_MOE_GROUPED_MATMUL_DESCRIPTOR},
    {2951, 2955, CUDNN_BACKEND_OPERATION_MOE_GROUPED_MATMUL_BWD_DESCRIPTOR},
    {3000, 3009, CUDNN_BACKEND_OPERATION_DIAGONAL_BAND_MASK_DESCRIPTOR},
    {3100, 3106, CUDNN_BACKEND_OPERATION_SOFTMAX_DESCRIPTOR},
    {3200, 3202, CUDNN_BACKEND_OPERATION_TRANSPOSE_DESCRIPTOR},
    {3300, 3304, CUDNN_BACKEND_OPERATION_SLICE_DESCRIPTOR},
    {3400, 3404, CUDNN_BACKEND_OPERATION_ROPE_FWD_DESCRIPTOR},
    {3410, 3414, CUDNN_BACKEND_OPERATION_ROPE_BWD_DESCRIPTOR},
};

template <class T>
T stored(const AttributeValue& value, int64_t index) {
  T found;
  std::memcpy(&found, value.bytes.data() + static_cast<size_t>(index) * sizeof(T), sizeof found);
  return found;
}
double number_at(const AttributeValue& value, int64_t index) {
  switch (value.type) {
    case CUDNN_TYPE_FLOAT:
      return static_cast<double>(stored<float>(value, index));
    case CUDNN_TYPE_DOUBLE:
      return stored<double>(value, index);
    case CUDNN_TYPE_INT64:
      return static_cast<double>(stored<int64_t>(value, index));
    case CUDNN_TYPE_BOOLEAN:
    case CUDNN_TYPE_CHAR:
      return stored<uint8_t>(value, index);
    case CUDNN_TYPE_FRACTION: {
      const auto found = stored<Fraction>(value, index);
      if (found.denominator == 0) return 0;
      return static_cast<double>(found.numerator) / static_cast<double>(found.denominator);
    }
    default:
      return element_bytes(value.type) == 4 ? stored<int32_t>(value, index) : 0;
  }
}

}  // namespace

size_t element_bytes(cudnnBackendAttributeType_t type) noexcept {
  switch (type) {
    case CUDNN_TYPE_HANDLE:
    case CUDNN_TYPE_INT64:
    case CUDNN_TYPE_DOUBLE:
    case CUDNN_TYPE_VOID_PTR:
    case CUDNN_TYPE_BACKEND_DESCRIPTOR:
      return 8;
    case CUDNN_TYPE_BOOLEAN:
    case CUDNN_TYPE_CHAR:
      return 1;
    case CUDNN_TYPE_FRACTION:
      return sizeof(Fraction);
    default:
      return type >= CUDNN_TYPE_HANDLE && type <= CUDNN_TYPE_CUDA_GRAPH_RETENTION ? 4 : 0;
  }
}

bool has_attribute(cudnnBackendDescriptorType_t type, cudnnBackendAttributeName_t name) noexcept {
  return std::any_of(std::begin(kRanges), std::end(kRanges), [&](const AttributeRange& each) {
    return each.type == type && name >= each.first && name <= each.last;
  });
}

int64_t Descriptor::integer(cudnnBackendAttributeName_t name, int64_t otherwise) const {
  const AttributeValue* const value = find(name);
  if (value == nullptr || value->bytes.empty()) return otherwise;
  if (value->type == CUDNN_TYPE_INT64 || value->type == CUDNN_TYPE_VOID_PTR) {
    return stored<int64_t>(*value, 0);
  }
  return static_cast<int64_t>(number_at(*value, 0));
}
double Descriptor::number(cudnnBackendAttributeName_t name, double otherwise) const {
  const AttributeValue* const value = find(name);
  return value == nullptr || value->bytes.empty() ? otherwise : number_at(*value, 0);
}
std::vector<int64_t> Descriptor::integers(cudnnBackendAttributeName_t name) const {
  std::vector<int64_t> found;
  const AttributeValue* const value = find(name);
  if (value == nullptr || value->bytes.empty()) return found;
  for (int64_t i = 0; i < value->count; ++i) {
    found.push_back(value->type == CUDNN_TYPE_INT64 || value->type == CUDNN_TYPE_VOID_PTR
                        ? stored<int64_t>(*value, i)
                        : static_cast<int64_t>(number_at(*value, i)));
  }
  return found;
}
std::vector<double> Descriptor::numbers(cudnnBackendAttributeName_t name) const {
  std::vector<double> found;
  const AttributeValue* const value = find(name);
  if (value == nullptr || value->bytes.empty()) return found;
  for (int64_t i = 0; i < value->count; ++i) {
    found.push_back(number_at(*value, i));
  }
  return found;
}
const Descriptor* Descriptor::descriptor(cudnnBackendAttributeName_t name) const {
  const AttributeValue* const value = find(name);
  return value == nullptr || value->descriptors.empty() ? nullptr : value->descriptors[0].get();
}

DescriptorPointer find_descriptor(cudnnBackendDescriptor_t handle) {
  return library::handle_map<Descriptor>().find(reinterpret_cast<uint64_t>(handle));
}
cudnnStatus_t not_live() { return invalid("the descriptor is not live"); }

}  // namespace km::cudnn
