// Transformations: padding, folding, and the order of filters for INT8x32.
#include "dropin/cudnn/descriptors/descriptors.h"
#include "dropin/cudnn/engine/layout/transform.h"
#include "dropin/cudnn/engine/layout/vectors.h"

namespace km::cudnn {
namespace {

cudnnStatus_t get_settings(cudnnTensorTransformDescriptor_t descriptor, int rank,
                           cudnnTensorFormat_t* format, TransformSettings* out) {
  TransformValue value;
  LIB_TRY(Transforms::read(descriptor, &value));
  if (value.rank != static_cast<uint32_t>(rank)) {
    return invalid("a transformation of %u dimensions for a tensor of %d", value.rank, rank);
  }
  *format = value.format;
  out->unfolds = value.direction == CUDNN_TRANSFORM_UNFOLD;
  for (int i = 0; i < rank; ++i) {
    out->before[i] = value.before[i];
    out->after[i] = value.after[i];
    out->fold[i] = i < 2 ? 1 : std::max<int64_t>(value.fold[i - 2], 1);
  }
  return CUDNN_STATUS_SUCCESS;
}

/// The type of a transformation's result: vectors for CUDNN_TENSOR_NCHW_VECT_C alone, of 4 channels
/// if the source has none.
cudnnDataType_t result_type(cudnnTensorFormat_t format, Shape from) {
  if (format != CUDNN_TENSOR_NCHW_VECT_C) return from.type;
  const bool is_bytes = from.type == CUDNN_DATA_INT8 || from.type == CUDNN_DATA_UINT8;
  if (is_bytes && from.vector == 1) from.vector = 4;
  return named_type(from);
}
cudnnStatus_t lay_out_result(cudnnTensorFormat_t format, const Shape& from, const Extents& dims,
                             Shape* out) {
  int narrow[kMostDims];
  for (int i = 0; i < from.rank; ++i) {
    if (dims[i] < 1 || dims[i] > INT32_MAX) {
      return invalid("dimension %d would have %lld elements", i, static_cast<long long>(dims[i]));
    }
    narrow[i] = static_cast<int>(dims[i]);
  }
  return lay_out(format, result_type(format, from), from.rank, narrow, out);
}

template <class H>
cudnnStatus_t transform_data(Handle& h, cudnnTensorTransformDescriptor_t descriptor,
                             const void* alpha, H from, const void* from_data, const void* beta,
                             H to, void* to_data) {
  View x, y;
  LIB_TRY(view_of(from, from_data, &x, Vectors::kTaken));
  LIB_TRY(view_of(to, to_data, &y, Vectors::kTaken));
  TransformSettings settings;
  cudnnTensorFormat_t format{};
  LIB_TRY(get_settings(descriptor, x.rank, &format, &settings));
  double factor = 1, keep = 0;
  LIB_TRY(take_scalar(x.type, alpha, &factor));
  LIB_TRY(take_scalar(x.type, beta, &keep));
  return transform(h.stream, settings, factor, x, keep, y);
}

/// A gradient of the data with steps, as a convolution with steps of 1: neighbours that are a step
/// apart become channels, in the data and in the filter.
struct FoldedConvolution {
  ConvolutionValue convolution;
  Shape filter, diff, grad;
  TransformValue fold_filter, pad_diff, fold_grad, unfold_grad;
  Extents filter_dims{}, diff_dims{}, grad_dims{};

  cudnnStatus_t read(cudnnFilterDescriptor_t filter_desc, cudnnTensorDescriptor_t diff_desc,
                     cudnnConvolutionDescriptor_t convolution_desc,
                     cudnnTensorDescriptor_t grad_desc);
  cudnnStatus_t fold(cudnnTensorFormat_t format);

 private:
  cudnnStatus_t fold_dimension(int i);
};

cudnnStatus_t FoldedConvolution::read(cudnnFilterDescriptor_t filter_desc,
                                      cudnnTensorDescriptor_t diff_desc,
                                      cudnnConvolutionDescriptor_t convolution_desc,
                                      cudnnTensorDescriptor_t grad_desc) {
  FilterValue w;
  TensorValue dy, dx;
  LIB_TRY(Filters::read(filter_desc, &w));
  LIB_TRY(Tensors::read(diff_desc, &dy));
  LIB_TRY(Tensors::read(grad_desc, &dx));
  LIB_TRY(Convolutions::read(convolution_desc, &convolution));
  filter = w.shape;
  diff = dy.shape;
  grad = dx.shape;
  const int rank = convolution.spatial + 2;
  if (convolution.spatial == 0 || filter.rank != rank || diff.rank != rank || grad.rank != rank) {
    return invalid("tensors of %d, %d and %d dimensions for a convolution of %d", filter.rank,
                   diff.rank, grad.rank, convolution.spatial);
  }
  if (diff.dims[0] != grad.dims[0] || diff.dims[1] != filter.dims[0] ||
      grad.dims[1] != filter.dims[1] * convolution.groups) {
    return invalid("the channels of the filter and the gradients do not match");
  }
  if (convolution.mode != CUDNN_CROSS_CORRELATION) {
    return unsupported("folding of a mirrored filter: use CUDNN_CROSS_CORRELATION");
  }
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t FoldedConvolution::fold_dimension(int i) {
  const int at = i + 2;
  const int64_t step = convolution.steps[i], pad = convolution.pads[i];
  if (convolution.dilations[i] != 1) {
    return unsupported("folding of a filter with the dilation %d", convolution.dilations[i]);
  }
  const int64_t most = convolved_extent(grad.dims[at], filter.dims[at], pad, pad, step, 1);
  if (diff.dims[at] > most) {
    return invalid("spatial dimension %d of the gradient has %lld elements, not %lld", i,
                   static_cast<long long>(diff.dims[at]), static_cast<long long>(most));
  }
  filter_dims[at] = (filter.dims[at] + step - 1) / step;
  grad_dims[at] = (grad.dims[at] + 2 * pad + step - 1) / step;
  diff_dims[at] = grad_dims[at] - filter_dims[at] + 1;
  filter_dims[1] *= step;
  grad_dims[1] *= step;
  if (filter_dims[1] > INT32_MAX || grad_dims[1] > INT32_MAX) {
    return invalid("folds make more than 2^31 - 1 channels");
  }
  fold_filter.after[at] = static_cast<int>(filter_dims[at] * step - filter.dims[at]);
  pad_diff.after[at] = static_cast<int>(diff_dims[at] - diff.dims[at]);
  fold_grad.before[at] = static_cast<int>(pad);
  fold_grad.after[at] = static_cast<int>(grad_dims[at] * step - grad.dims[at] - pad);
  unfold_grad.before[at] = -fold_grad.before[at];
  unfold_grad.after[at] = -fold_grad.after[at];
  for (TransformValue* each : {&fold_filter, &fold_grad, &unfold_grad}) {
    each->fold[i] = static_cast<uint32_t>(step);
  }
  convolution.pads[i] = 0;
  convolution.steps[i] = 1;
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t FoldedConvolution::fold(cudnnTensorFormat_t format) {
  filter_dims = filter.dims;
  diff_dims = diff.dims;
  grad_dims = grad.dims;
  for (TransformValue* each : {&fold_filter, &pad_diff, &fold_grad, &unfold_grad}) {
    each->rank = static_cast<uint32_t>(grad.rank);
    each->format = format;
    std::fill_n(each->fold, kMostDims, 1U);
  }
  unfold_grad.direction = CUDNN_TRANSFORM_UNFOLD;
  for (int i = 0; i < convolution.spatial; ++i) LIB_TRY(fold_dimension(i));
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t set(cudnnTensorTransformDescriptor_t descriptor, const TransformValue& value) {
  return Transforms::update(descriptor, [&](TransformValue& to) { to = value; });
}
cudnnStatus_t set(cudnnTensorDescriptor_t descriptor, const Shape& shape) {
  return Tensors::update(descriptor, [&](TensorValue& to) { to.shape = shape; });
}

}  // namespace

extern "C" {

cudnnStatus_t cudnnInitTransformDest(const cudnnTensorTransformDescriptor_t transformDesc,
                                     const cudnnTensorDescriptor_t srcDesc,
                                     cudnnTensorDescriptor_t destDesc, size_t* destSizeInBytes) {
  return call([&]() -> cudnnStatus_t {
    TensorValue value;
    LIB_TRY(Tensors::read(srcDesc, &value));
    if (value.shape.rank == 0) return invalid("the source's descriptor has not been set");
    TransformSettings settings;
    cudnnTensorFormat_t format{};
    Extents dims{};
    Shape shape;
    LIB_TRY(get_settings(transformDesc, value.shape.rank, &format, &settings));
    LIB_TRY(transformed_extents(settings, value.shape, &dims));
    LIB_TRY(lay_out_result(format, value.shape, dims, &shape));
    LIB_TRY(set(destDesc, shape));
    return give(destSizeInBytes, static_cast<size_t>(shape.span_bytes()));
  });
}

cudnnStatus_t cudnnTransformTensorEx(cudnnHandle_t handle,
                                     const cudnnTensorTransformDescriptor_t transDesc,
                                     const void* alpha, const cudnnTensorDescriptor_t srcDesc,
                                     const void* srcData, const void* beta,
                                     const cudnnTensorDescriptor_t destDesc, void* destData) {
  return call(handle, [&](Handle& h) {
    return transform_data(h, transDesc, alpha, srcDesc, srcData, beta, destDesc, destData);
  });
}
cudnnStatus_t cudnnTransformFilter(cudnnHandle_t handle,
                                   const cudnnTensorTransformDescriptor_t transDesc,
                                   const void* alpha, const cudnnFilterDescriptor_t srcDesc,
                                   const void* srcData, const void* beta,
                                   const cudnnFilterDescriptor_t destDesc, void* destData) {
  return call(handle, [&](Handle& h) {
    return transform_data(h, transDesc, alpha, srcDesc, srcData, beta, destDesc, destData);
  });
}

cudnnStatus_t cudnnReorderFilterAndBias(cudnnHandle_t handle,
                                        const cudnnFilterDescriptor_t filterDesc,
                                        cudnnReorderType_t reorderType, const void* filterData,
                                        void* reorderedFilterData, int reorderBias,
                                        const void* biasData, void* reorderedBiasData) {
  return call(handle, [&](Handle& h) -> cudnnStatus_t {
    View filter;
    LIB_TRY(view_of(filterDesc, filterData, &filter, Vectors::kTaken));
    if (filter.vector != 32) return unsupported("reordering of a filter that is not INT8x32");
    if (reorderType != CUDNN_DEFAULT_REORDER && reorderType != CUDNN_NO_REORDER) {
      return invalid("the reordering %d", reorderType);
    }
    LIB_REQUIRE(reorderedFilterData);
    if (reorderBias > 0) {
      LIB_REQUIRE(biasData);
      LIB_REQUIRE(reorderedBiasData);
    }
    const auto from = reinterpret_cast<uint64_t>(filterData);
    const auto to = reinterpret_cast<uint64_t>(reorderedFilterData);
    const auto size_bytes = static_cast<uint64_t>(filter.span_bytes());
    if (reorderType == CUDNN_DEFAULT_REORDER && from < to + size_bytes && to < from + size_bytes) {
      return invalid("the reordered filter overlaps the filter");
    }
    return reorder_filter(h.stream, filter, reorderedFilterData,
                          reorderBias > 0 ? biasData : nullptr, reorderedBiasData,
                          reorderType == CUDNN_DEFAULT_REORDER);
  });
}

cudnnStatus_t cudnnGetFoldedConvBackwardDataDescriptors(
    const cudnnHandle_t handle, const cudnnFilterDescriptor_t filterDesc,
    const cudnnTensorDescriptor_t diffDesc, const cudnnConvolutionDescriptor_t convDesc,
    const cudnnTensorDescriptor_t gradDesc, const cudnnTensorFormat_t transformFormat,
    cudnnFilterDescriptor_t foldedFilterDesc, cudnnTensorDescriptor_t paddedDiffDesc,
    cudnnConvolutionDescriptor_t foldedConvDesc, cudnnTensorDescriptor_t foldedGradDesc,
    cudnnTensorTransformDescriptor_t filterFoldTransDesc,
    cudnnTensorTransformDescriptor_t diffPadTransDesc,
    cudnnTensorTransformDescriptor_t gradFoldTransDesc,
    cudnnTensorTransformDescriptor_t gradUnfoldTransDesc) {
  return call(handle, [&](Handle&) -> cudnnStatus_t {
    FoldedConvolution folded;
    FilterValue filter;
    Shape diff, grad;
    LIB_TRY(folded.read(filterDesc, diffDesc, convDesc, gradDesc));
    LIB_TRY(folded.fold(transformFormat));
    LIB_TRY(lay_out_result(transformFormat, folded.filter, folded.filter_dims, &filter.shape));
    LIB_TRY(lay_out_result(transformFormat, folded.diff, folded.diff_dims, &diff));
    LIB_TRY(lay_out_result(transformFormat, folded.grad, folded.grad_dims, &grad));
    filter.format = transformFormat;
    LIB_TRY(Filters::update(foldedFilterDesc, [&](FilterValue& to) { to = filter; }));
    LIB_TRY(set(paddedDiffDesc, diff));
    LIB_TRY(set(foldedGradDesc, grad));
    LIB_TRY(set(filterFoldTransDesc, folded.fold_filter));
    LIB_TRY(set(diffPadTransDesc, folded.pad_diff));
    LIB_TRY(set(gradFoldTransDesc, folded.fold_grad));
    LIB_TRY(set(gradUnfoldTransDesc, folded.unfold_grad));
    return Convolutions::update(foldedConvDesc,
                                [&](ConvolutionValue& to) { to = folded.convolution; });
  });
}

}  // extern "C"
}  // namespace km::cudnn
