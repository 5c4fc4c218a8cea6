#include "dropin/cudnn/engine/layers/attention.h"

#include <cmath>
#include <limits>

#include "dropin/cudnn/engine/random.h"
#include "dropin/cudnn/engine/space.h"

namespace km::cudnn {
namespace {

/// Calls `row(batch, query, offset)` for the rows of scores of four dimensions.
template <class Row>
void each_row(const View& scores, const Part& part, Row&& row) {
  const int64_t queries = scores.dims[2], heads = scores.dims[1];
  for (int64_t i = part.begin; i < part.end; ++i) {
    const int64_t query = i % queries, head = i / queries % heads, batch = i / queries / heads;
    row(batch, head, query,
        batch * scores.strides[0] + head * scores.strides[1] + query * scores.strides[2]);
  }
}
int64_t rows_of(const View& scores) { return scores.dims[0] * scores.dims[1] * scores.dims[2]; }
double row_ns(const View& scores) { return static_cast<double>(scores.dims[3]) * 4; }

int64_t length_of(const View& lengths, int64_t batch, int64_t otherwise) {
  if (lengths.data == nullptr) return otherwise;
  const auto found = static_cast<int64_t>(read_one(lengths, batch * lengths.strides[0]));
  return std::clamp<int64_t>(found, 0, otherwise);
}

}  // namespace

cudnnStatus_t mask_scores(cu::CUstream stream, const View& scores, const View& query_lengths,
                          const View& key_lengths) {
  if (query_lengths.data == nullptr && key_lengths.data == nullptr) return CUDNN_STATUS_SUCCESS;
  Arrays arrays;
  arrays.reads("lengths", query_lengths).reads("lengths", key_lengths).writes("scores", scores);
  const int64_t rows = rows_of(scores);
  return submit_step(
      stream, "cudnn attention mask", arrays, rows, row_ns(scores),
      [=](uint64_t piece, uint64_t pieces) {
        const std::vector<double> masked(static_cast<size_t>(scores.dims[3]),
                                         -std::numeric_limits<double>::infinity());
        each_row(scores, Part(rows, piece, pieces),
                 [&](int64_t batch, int64_t, int64_t query, int64_t at) {
                   const bool is_there = query < length_of(query_lengths, batch, scores.dims[2]);
                   const int64_t keys =
                       is_there ? length_of(key_lengths, batch, scores.dims[3]) : 0;
                   write_row(scores, at + keys * scores.strides[3], scores.strides[3],
                             scores.dims[3] - keys, masked.data());
                 });
      });
}

cudnnStatus_t drop_out(cu::CUstream stream, const View& values, double probability,
                       const View& seed, const View& offset) {
  const double scale = probability < 1 ? 1 / (1 - probability) : 0;
  Arrays arrays;
  arrays.reads("seed", seed).reads("offset", offset).writes("probabilities", values);
  const int64_t rows = rows_of(values), width = values.dims[3];
  return submit_step(stream, "cudnn dropout", arrays, rows, row_ns(values) * 4,
                     [=](uint64_t piece, uint64_t pieces) {
                       const auto key = static_cast<uint64_t>(
                           seed.data == nullptr ? 0 : static_cast<int64_t>(read_one(seed, 0)));
                       const auto first = static_cast<uint64_t>(
                           offset.data == nullptr ? 0 : static_cast<int64_t>(read_one(offset, 0)));
                       std::vector<double> row(static_cast<size_t>(width));
                       each_row(values, Part(rows, piece, pieces),
                                [&](int64_t b, int64_t h, int64_t q, int64_t at) {
                                  const int64_t number =
                                      (b * values.dims[1] + h) * values.dims[2] + q;
                                  read_row(values, at, values.strides[3], width, row.data());
                                  for (int64_t i = 0; i < width; ++i) {
                                    const double drawn = uniform(
                                        key, first + static_cast<uint64_t>(number * width + i));
                                    row[static_cast<size_t>(i)] *= drawn < probability ? 0 : scale;
                                  }
                                  write_row(values, at, values.strides[3], width, row.data());
                                });
                     });
}

cudnnStatus_t restore_probabilities(cu::CUstream stream, const View& scores, const View& stats) {
  Arrays arrays;
  arrays.reads("stats", stats).writes("scores", scores);
  const int64_t rows = rows_of(scores), width = scores.dims[3];
  return submit_step(stream, "cudnn attention", arrays, rows, row_ns(scores) * 3,
                     [=](uint64_t piece, uint64_t pieces) {
                       std::vector<double> row(static_cast<size_t>(width));
                       each_row(scores, Part(rows, piece, pieces),
                                [&](int64_t b, int64_t h, int64_t q, int64_t at) {
                                  const double center =
                                      read_one(stats, b * stats.strides[0] + h * stats.strides[1] +
                                                          q * stats.strides[2]);
                                  read_row(scores, at, scores.strides[3], width, row.data());
                                  for (double& each : row) {
                                    const bool is_masked = std::isinf(each) && each < 0;
                                    each = is_masked ? 0 : std::exp(each - center);
                                  }
                                  write_row(scores, at, scores.strides[3], width, row.data());
                                });
                     });
}

cudnnStatus_t score_gradients(cu::CUstream stream, const View& p, const View& sums,
                              const View& gradient) {
  Arrays arrays;
  arrays.reads("probabilities", p).reads("sums", sums).writes("gradients", gradient);
  const int64_t rows = rows_of(p), width = p.dims[3];
  return submit_step(
      stream, "cudnn attention backward", arrays, rows, row_ns(p),
      [=](uint64_t piece, uint64_t pieces) {
        std::vector<double> ps(static_cast<size_t>(width)), gs(ps.size());
        each_row(p, Part(rows, piece, pieces), [&](int64_t b, int64_t h, int64_t q, int64_t at) {
          const double sum =
              read_one(sums, b * sums.strides[0] + h * sums.strides[1] + q * sums.strides[2]);
          const int64_t to =
              b * gradient.strides[0] + h * gradient.strides[1] + q * gradient.strides[2];
          read_row(p, at, p.strides[3], width, ps.data());
          read_row(gradient, to, gradient.strides[3], width, gs.data());
          for (size_t i = 0; i < ps.size(); ++i) gs[i] = ps[i] * (gs[i] - sum);
          write_row(gradient, to, gradient.strides[3], width, gs.data());
        });
      });
}

namespace {

bool compares(cudnnPointwiseMode_t mode, double a, double b) {
  switch (mode) {
    case CUDNN_POINTWISE_CMP_EQ:
      return a == b;
    case CUDNN_POINTWISE_CMP_NEQ:
      return a != b;
    case CUDNN_POINTWISE_CMP_GT:
      return a > b;
    case CUDNN_POINTWISE_CMP_LT:
      return a < b;
    case CUDNN_POINTWISE_CMP_LE:
      return a <= b;
    default:
      return a >= b;
  }
}
double number_of(const View& view, int64_t batch) {
  if (view.data == nullptr) return 0;
  return read_one(view, view.dims[0] == 1 ? 0 : batch * view.strides[0]);
}

void mask_row(const BandMask& m, int64_t batch, int64_t query, double* row) {
  const double fill =
      m.fill.data == nullptr ? -std::numeric_limits<double>::infinity() : read_one(m.fill, 0);
  const double lengths = number_of(m.key_lengths, batch) - number_of(m.query_lengths, batch);
  const bool is_left = m.left.data != nullptr;
  const double shift = number_of(is_left ? m.left : m.shift, batch);
  for (int64_t key = 0; key < m.x.dims[3]; ++key) {
    const auto i = static_cast<double>(query), j = static_cast<double>(key);
    const bool stays = is_left ? compares(m.mode, j + shift - lengths, i)
                               : compares(m.mode, i + lengths + shift, j);
    if (!stays) row[key] = fill;
  }
}

}  // namespace

cudnnStatus_t mask_band(cu::CUstream stream, const BandMask& mask) {
  if (mask.x.rank != 4 || !mask.x.has_dims(mask.y)) {
    return invalid("the extents of a band mask's tensors");
  }
  Arrays arrays;
  for (const View* each :
       {&mask.x, &mask.fill, &mask.query_lengths, &mask.key_lengths, &mask.left, &mask.shift}) {
    arrays.reads("an operand of a mask", *each);
  }
  arrays.writes("y", mask.y);
  const int64_t rows = rows_of(mask.x), width = mask.x.dims[3];
  return submit_step(stream, "cudnn band mask", arrays, rows, row_ns(mask.x),
                     [mask, rows, width](uint64_t piece, uint64_t pieces) {
                       std::vector<double> row(static_cast<size_t>(width));
                       const View& y = mask.y;
                       each_row(mask.x, Part(rows, piece, pieces),
                                [&](int64_t b, int64_t h, int64_t q, int64_t at) {
                                  read_row(mask.x, at, mask.x.strides[3], width, row.data());
                                  mask_row(mask, b, q, row.data());
                                  write_row(y,
                                            b * y.strides[0] + h * y.strides[1] + q * y.strides[2],
                                            y.strides[3], width, row.data());
                                });
                     });
}

}  // namespace km::cudnn
