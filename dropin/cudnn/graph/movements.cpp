// Operations of graphs that move elements: reshape, transpose, slice, concat.
#include "dropin/cudnn/engine/pointwise.h"
#include "dropin/cudnn/graph/operation.h"

namespace km::cudnn {
namespace {

/// A part of a tensor that begins at element `offset` of its memory.
View part_of(const View& view, const Shape& shape, int64_t offset) {
  View part = view;
  static_cast<Shape&>(part) = shape;
  part.data = view.data + offset * type_bytes(view.type);
  return part;
}

/// Copies the elements in the order of memory, as a view of other extents and strides has them.
cudnnStatus_t copy_memory(const Execution& execution, const View& x, const View& y) {
  if (x.data == y.data) return CUDNN_STATUS_SUCCESS;
  const int64_t span[] = {x.span()};
  const View from = part_of(x, dense_shape(x.type, 1, span), 0);
  return copy_scaled(execution.stream, 1, from, 0, part_of(y, dense_shape(y.type, 1, span), 0));
}

int64_t offset_of(const Shape& shape, int64_t index) {
  int64_t found = 0;
  for (int d = shape.rank - 1; d >= 0; --d) {
    found += index % shape.dims[d] * shape.strides[d];
    index /= shape.dims[d];
  }
  return found;
}

}  // namespace

cudnnStatus_t run_reshape(const Execution& execution, const Descriptor& operation) {
  View x, y;
  LIB_TRY(execution.view(operation, CUDNN_ATTR_OPERATION_RESHAPE_XDESC, &x));
  LIB_TRY(execution.view(operation, CUDNN_ATTR_OPERATION_RESHAPE_YDESC, &y));
  if (x.count() != y.count()) return invalid("a reshape to another number of elements");
  const bool is_view = operation.integer(CUDNN_ATTR_OPERATION_RESHAPE_MODE,
                                         CUDNN_RESHAPE_VIEW_ONLY) == CUDNN_RESHAPE_VIEW_ONLY;
  if (is_view && x.span() == y.span()) return copy_memory(execution, x, y);
  Arrays arrays;
  arrays.reads("x", x).writes("y", y);
  return submit_step(execution.stream, "cudnn reshape", arrays, 1,
                     static_cast<double>(x.count()) * 10, [x, y](uint64_t, uint64_t) {
                       for (int64_t i = 0; i < x.count(); ++i) {
                         write_one(y, offset_of(y, i), read_one(x, offset_of(x, i)));
                       }
                     });
}

cudnnStatus_t run_transpose(const Execution& execution, const Descriptor& operation) {
  View x, y;
  LIB_TRY(execution.view(operation, CUDNN_ATTR_OPERATION_TRANSPOSE_XDESC, &x));
  LIB_TRY(execution.view(operation, CUDNN_ATTR_OPERATION_TRANSPOSE_YDESC, &y));
  const auto order = operation.integers(CUDNN_ATTR_OPERATION_TRANSPOSE_PERMUTATION);
  if (order.size() != static_cast<size_t>(x.rank)) return invalid("a permutation of other rank");
  Shape shape = x;
  for (size_t i = 0; i < order.size(); ++i) {
    if (order[i] < 0 || order[i] >= x.rank) return invalid("a wrong permutation");
    shape.dims[i] = x.dims[static_cast<size_t>(order[i])];
    shape.strides[i] = x.strides[static_cast<size_t>(order[i])];
  }
  if (!shape.has_dims(y)) return invalid("a transposition to other extents");
  return copy_scaled(execution.stream, 1, part_of(x, shape, 0), 0, y);
}

cudnnStatus_t run_slice(const Execution& execution, const Descriptor& operation) {
  View x, y;
  LIB_TRY(execution.view(operation, CUDNN_ATTR_OPERATION_SLICE_XDESC, &x));
  LIB_TRY(execution.view(operation, CUDNN_ATTR_OPERATION_SLICE_YDESC, &y));
  if (type_bits(x.type) < 8) return unsupported("slices of bits");
  const auto begins = operation.integers(CUDNN_ATTR_OPERATION_SLICE_START_INDICES);
  const auto ends = operation.integers(CUDNN_ATTR_OPERATION_SLICE_LIMIT_INDICES);
  const auto steps = operation.integers(CUDNN_ATTR_OPERATION_SLICE_STRIDES);
  const auto rank = static_cast<size_t>(x.rank);
  if (begins.size() != rank || ends.size() != rank) return invalid("a slice of other rank");
  Shape shape = x;
  int64_t offset = 0;
  for (size_t i = 0; i < rank; ++i) {
    const int64_t step = i < steps.size() ? steps[i] : 1;
    if (begins[i] < 0 || ends[i] > x.dims[i] || begins[i] >= ends[i] || step < 1) {
      return invalid("a slice that does not lie in x");
    }
    offset += begins[i] * x.strides[i];
    shape.dims[i] = (ends[i] - begins[i] + step - 1) / step;
    shape.strides[i] = x.strides[i] * step;
  }
  if (!shape.has_dims(y)) return invalid("a slice of other extents than y");
  return copy_scaled(execution.stream, 1, part_of(x, shape, offset), 0, y);
}

cudnnStatus_t run_concat(const Execution& execution, const Descriptor& operation) {
  View y;
  LIB_TRY(execution.view(operation, CUDNN_ATTR_OPERATION_CONCAT_OUTPUT_DESC, &y));
  if (type_bits(y.type) < 8) return unsupported("concatenation of bits");
  const auto axis = static_cast<int>(operation.integer(CUDNN_ATTR_OPERATION_CONCAT_AXIS));
  const AttributeValue* const inputs = operation.find(CUDNN_ATTR_OPERATION_CONCAT_INPUT_DESCS);
  if (inputs == nullptr || axis < 0 || axis >= y.rank) return invalid("the axis %d", axis);
  int64_t position = 0;
  for (const DescriptorPointer& each : inputs->descriptors) {
    View x;
    LIB_TRY(execution.view_of_tensor(*each, &x));
    Shape shape = y;
    shape.dims[static_cast<size_t>(axis)] = x.dims[static_cast<size_t>(axis)];
    if (!shape.has_dims(x) ||
        position + x.dims[static_cast<size_t>(axis)] > y.dims[static_cast<size_t>(axis)]) {
      return invalid("the extents of a concatenation do not match");
    }
    const View to = part_of(y, shape, position * y.strides[static_cast<size_t>(axis)]);
    position += x.dims[static_cast<size_t>(axis)];
    if (to.data != x.data) LIB_TRY(copy_scaled(execution.stream, 1, x, 0, to));
  }
  return CUDNN_STATUS_SUCCESS;
}

}  // namespace km::cudnn
