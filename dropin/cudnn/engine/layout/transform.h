// Transformations of tensors: padding, and folding of spatial dimensions into channels.
#pragma once

#include "dropin/cudnn/engine/step.h"

namespace km::cudnn {

/// A transformation. Folding pads first and then moves `fold[i]` neighbours of dimension i to
/// channels of their own, which lie together (the last dimension's neighbours innermost); positions
/// that are missing at the end are zeros. Unfolding is the inverse: it unfolds first and then pads,
/// where negative pads cut off.
struct TransformSettings {
  Extents before{}, after{};
  Extents fold{};  // 1 for dimensions that do not fold, and for the first two
  bool unfolds = false;
};

/// The extents of a transformation's result.
cudnnStatus_t transformed_extents(const TransformSettings& settings, const Shape& from,
                                  Extents* out);
/// y = alpha transform(x) + beta y. The extents of y are those of transformed_extents().
cudnnStatus_t transform(cu::CUstream stream, const TransformSettings& settings, double alpha,
                        const View& x, double beta, const View& y);

/// Brings a filter of INT8x32, and a bias (null: none) of f32, into the order of
/// reordered_filter_place(); or copies them if `reorders` is false.
cudnnStatus_t reorder_filter(cu::CUstream stream, const View& filter, void* reordered,
                             const void* bias, void* reordered_bias, bool reorders);

}  // namespace km::cudnn
