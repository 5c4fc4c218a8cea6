// Operations of graphs that read a cache of keys or values in pages.
#include "dropin/cudnn/graph/pages.h"

#include "dropin/cudnn/graph/operation.h"

namespace km::cudnn {
namespace {

/// True if y is (batch, head, element, position), as the keys of a product are.
bool has_positions_last(const Shape& y, const Shape& container) {
  if (y.dims[3] != container.dims[3]) return true;
  return y.dims[2] == container.dims[3] && y.strides[2] == 1 && y.strides[3] != 1;
}

View with_positions_third(View y, const Shape& container) {
  if (!has_positions_last(y, container)) return y;
  std::swap(y.dims[2], y.dims[3]);
  std::swap(y.strides[2], y.strides[3]);
  return y;
}

bool read_four(const Descriptor* tensor, Shape* out) {
  TensorInfo info;
  if (tensor == nullptr || read_tensor(*tensor, &info) != CUDNN_STATUS_SUCCESS) return false;
  *out = info.shape;
  return info.shape.rank == 4;
}

}  // namespace

const char* pages_problem(const Descriptor* container_tensor, const Descriptor* table_tensor,
                          const Descriptor* lengths_tensor, int64_t batches) {
  Shape container, table, lengths;
  if (!read_four(container_tensor, &container) || !read_four(table_tensor, &table)) {
    return "pages that are not tensors of four dimensions";
  }
  const bool has_lengths = lengths_tensor != nullptr;
  if (has_lengths && (!read_four(lengths_tensor, &lengths) || lengths.dims[0] != batches)) {
    return "lengths of pages that are not one for each batch";
  }
  if (table.dims[0] != batches) return "a page table that has not a row for each batch";
  if (table.type != CUDNN_DATA_INT32 && table.type != CUDNN_DATA_INT64) {
    return "a page table that is not of integers";
  }
  return nullptr;
}

const char* page_load_problem(const Descriptor& operation) {
  Shape container, y;
  const Descriptor* const pages =
      operation.descriptor(CUDNN_ATTR_OPERATION_PAGED_CACHE_LOAD_CONTAINER_DESC);
  if (!read_four(operation.descriptor(CUDNN_ATTR_OPERATION_PAGED_CACHE_LOAD_YDESC), &y) ||
      !read_four(pages, &container)) {
    return "pages that are not tensors of four dimensions";
  }
  const View found = with_positions_third(View(y, nullptr), container);
  if (found.dims[1] != container.dims[1] || found.dims[3] != container.dims[3]) {
    return "keys or values that do not fit their pages";
  }
  return pages_problem(
      pages, operation.descriptor(CUDNN_ATTR_OPERATION_PAGED_CACHE_LOAD_PAGE_TABLE_DESC),
      operation.descriptor(CUDNN_ATTR_OPERATION_PAGED_CACHE_LOAD_SEQUENCE_DESC), y.dims[0]);
}

cudnnStatus_t run_page_load(const Execution& execution, const Descriptor& operation) {
  PagedCache cache;
  View y;
  const std::pair<cudnnBackendAttributeName_t, View*> tensors[] = {
      {CUDNN_ATTR_OPERATION_PAGED_CACHE_LOAD_CONTAINER_DESC, &cache.container},
      {CUDNN_ATTR_OPERATION_PAGED_CACHE_LOAD_PAGE_TABLE_DESC, &cache.table},
      {CUDNN_ATTR_OPERATION_PAGED_CACHE_LOAD_SEQUENCE_DESC, &cache.lengths},
      {CUDNN_ATTR_OPERATION_PAGED_CACHE_LOAD_YDESC, &y}};
  for (const auto& [name, view] : tensors) LIB_TRY(execution.view(operation, name, view));
  return load_pages(execution.stream, cache, with_positions_third(y, cache.container));
}

}  // namespace km::cudnn
