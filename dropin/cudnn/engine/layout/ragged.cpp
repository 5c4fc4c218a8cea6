#include "dropin/cudnn/engine/layout/ragged.h"

#include "dropin/cudnn/engine/space.h"

namespace km::cudnn {
namespace {

constexpr double kElementNs = 4;

/// One row along the last dimension: where it lies in the dense tensor and in the ragged one, and
/// how many of its elements the batch has.
struct Row {
  int64_t dense = 0, ragged = 0, count = 0;
};

Row find_row(const View& dense, const RaggedTensor& tensor, int64_t number) {
  const int last = dense.rank - 1;
  int64_t within = 0, batch = 0, rest = number;
  Row row;
  for (int d = last - 1; d >= 0; --d) {
    const auto i = static_cast<size_t>(d);
    const int64_t at = rest % dense.dims[i];
    rest /= dense.dims[i];
    row.dense += at * dense.strides[i];
    if (d == 0) {
      batch = at;
    } else {
      within += at * tensor.elements.strides[i];
    }
  }
  const auto offset = [&](int64_t index) {
    return static_cast<int64_t>(read_one(tensor.offsets, index * tensor.offsets.strides[0])) *
           tensor.multiplier;
  };
  const int64_t begin = offset(batch), size = offset(batch + 1) - begin;
  const auto end = static_cast<size_t>(last);
  const int64_t stride = std::max<int64_t>(tensor.elements.strides[end], 1);
  const int64_t most = size > within ? (size - within + stride - 1) / stride : 0;
  row.ragged = begin + within;
  row.count = std::min(most, dense.dims[end]);
  return row;
}

int64_t rows_of(const View& dense) {
  return dense.count() / dense.dims[static_cast<size_t>(dense.rank - 1)];
}

/// The first element stands for the tensor's memory, whose size only the offsets tell.
Arrays& add_elements(Arrays& arrays, const RaggedTensor& tensor, bool is_written) {
  const auto bytes = static_cast<size_t>(type_bytes(tensor.elements.type));
  arrays.reads("ragged offsets", tensor.offsets);
  return arrays.memory("a ragged tensor", tensor.elements.data, bytes, is_written);
}

template <class Copy>
cudnnStatus_t each_row(cu::CUstream stream, const char* name, const Arrays& arrays,
                       const View& dense, const RaggedTensor& tensor, Copy copy) {
  const auto width = static_cast<size_t>(dense.dims[static_cast<size_t>(dense.rank - 1)]);
  const int64_t rows = rows_of(dense);
  return submit_step(stream, name, arrays, rows, static_cast<double>(width) * kElementNs,
                     [=](uint64_t piece, uint64_t pieces) {
                       std::vector<double> values(width);
                       const Part part(rows, piece, pieces);
                       for (int64_t i = part.begin; i < part.end; ++i) {
                         copy(find_row(dense, tensor, i), values);
                       }
                     });
}

}  // namespace

cudnnStatus_t unpack_ragged(cu::CUstream stream, const RaggedTensor& from, const View& dense) {
  Arrays arrays;
  add_elements(arrays, from, false).writes("a dense copy", dense);
  const auto last = static_cast<size_t>(dense.rank - 1);
  const int64_t to_stride = dense.strides[last], from_stride = from.elements.strides[last];
  return each_row(stream, "cudnn unpack ragged", arrays, dense, from,
                  [=](const Row& row, std::vector<double>& values) {
                    std::fill(values.begin(), values.end(), 0.0);
                    read_row(from.elements, row.ragged, from_stride, row.count, values.data());
                    write_row(dense, row.dense, to_stride, static_cast<int64_t>(values.size()),
                              values.data());
                  });
}

cudnnStatus_t pack_ragged(cu::CUstream stream, const View& dense, const RaggedTensor& to) {
  Arrays arrays;
  add_elements(arrays, to, true).reads("a dense copy", dense);
  const auto last = static_cast<size_t>(dense.rank - 1);
  const int64_t from_stride = dense.strides[last], to_stride = to.elements.strides[last];
  return each_row(stream, "cudnn pack ragged", arrays, dense, to,
                  [=](const Row& row, std::vector<double>& values) {
                    read_row(dense, row.dense, from_stride, row.count, values.data());
                    write_row(to.elements, row.ragged, to_stride, row.count, values.data());
                  });
}

namespace {

/// Copies the rows of one position of a batch, or zeros.
cu::CUresult load_position(const PagedCache& cache, const View& y, int64_t batch, int64_t position,
                           std::vector<double>& values) {
  const View& pages = cache.container;
  const int64_t in_page = pages.dims[2], width = pages.dims[3];
  int64_t length = y.dims[2], page = 0;
  if (cache.lengths.data != nullptr) {
    length = static_cast<int64_t>(read_one(cache.lengths, batch * cache.lengths.strides[0]));
  }
  std::fill(values.begin(), values.end(), 0.0);
  const bool is_there = position < length && position / in_page < cache.table.dims[2];
  if (is_there) {
    page = static_cast<int64_t>(read_one(
        cache.table, batch * cache.table.strides[0] + position / in_page * cache.table.strides[2]));
    if (page < 0 || page >= pages.dims[0]) {
      return library::fail_work(cu::CUDA_ERROR_ILLEGAL_ADDRESS,
                                "page %lld of batch %lld, but the cache has %lld pages",
                                static_cast<long long>(page), static_cast<long long>(batch),
                                static_cast<long long>(pages.dims[0]));
    }
  }
  for (int64_t head = 0; head < y.dims[1]; ++head) {
    if (is_there) {
      read_row(
          pages,
          page * pages.strides[0] + head * pages.strides[1] + position % in_page * pages.strides[2],
          pages.strides[3], width, values.data());
    }
    write_row(y, batch * y.strides[0] + head * y.strides[1] + position * y.strides[2], y.strides[3],
              width, values.data());
  }
  return cu::CUDA_SUCCESS;
}

}  // namespace

cudnnStatus_t load_pages(cu::CUstream stream, const PagedCache& cache, const View& y) {
  Arrays arrays;
  arrays.reads("pages", cache.container).reads("a page table", cache.table);
  arrays.reads("lengths", cache.lengths).writes("keys or values", y);
  const int64_t positions = y.dims[0] * y.dims[2];
  const auto most = static_cast<uint64_t>(library::worker_threads()) * 4;
  const uint64_t pieces = std::clamp<uint64_t>(static_cast<uint64_t>(positions), 1, most);
  const auto run = [cache, y, positions, pieces](uint64_t piece) -> cu::CUresult {
    std::vector<double> values(static_cast<size_t>(y.dims[3]));
    const Part part(positions, piece, pieces);
    for (int64_t i = part.begin; i < part.end; ++i) {
      const cu::CUresult done = load_position(cache, y, i / y.dims[2], i % y.dims[2], values);
      if (done != cu::CUDA_SUCCESS) return done;
    }
    return cu::CUDA_SUCCESS;
  };
  const double ns = static_cast<double>(y.count()) * kElementNs;
  return queue_step(stream,
                    library::make_work("cudnn load pages", pieces, static_cast<uint64_t>(ns), run),
                    arrays);
}

}  // namespace km::cudnn
