// Attention of graphs, as products of matrices and steps between them.
#include <algorithm>
#include <set>

#include "dropin/cudnn/engine/layers/attention.h"

#include "dropin/cudnn/engine/layers/softmax.h"
#include "dropin/cudnn/engine/matmul.h"
#include "dropin/cudnn/engine/reduction.h"
#include "dropin/cudnn/graph/finalize.h"
#include "dropin/cudnn/graph/operation.h"
#include "dropin/cudnn/graph/pages.h"

namespace km::cudnn {
namespace {

constexpr int64_t kAlignment = 256;

int64_t aligned(int64_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

/// The extents of the tensors that attention has between its products.
struct AttentionShapes {
  /// Returns false if q, k and the page table of k, if there is one, are not tensors of four
  /// dimensions.
  bool init(const Descriptor* q_tensor, const Descriptor* k_tensor,
            const Descriptor* table_tensor = nullptr) {
    TensorInfo q, k;
    if (q_tensor == nullptr || k_tensor == nullptr ||
        read_tensor(*q_tensor, &q) != CUDNN_STATUS_SUCCESS ||
        read_tensor(*k_tensor, &k) != CUDNN_STATUS_SUCCESS || q.shape.rank != 4 ||
        k.shape.rank != 4) {
      return false;
    }
    int64_t keys = k.shape.dims[2];
    if (table_tensor != nullptr) {
      TensorInfo table;
      if (read_tensor(*table_tensor, &table) != CUDNN_STATUS_SUCCESS || table.shape.rank != 4) {
        return false;
      }
      keys *= table.shape.dims[2];
    }
    const auto& qd = q.shape.dims;
    const int64_t dims[] = {qd[0], qd[1], qd[2], keys};
    const int64_t row_dims[] = {qd[0], qd[1], qd[2], 1};
    scores = dense_shape(CUDNN_DATA_FLOAT, 4, dims);
    rows = dense_shape(CUDNN_DATA_FLOAT, 4, row_dims);
    return true;
  }
  int64_t score_bytes() const { return aligned(scores.span_bytes()); }
  int64_t row_bytes() const { return aligned(rows.span_bytes()); }
  Shape scores, rows;
};

View transposed(View view) {
  std::swap(view.dims[2], view.dims[3]);
  std::swap(view.strides[2], view.strides[3]);
  return view;
}

/// The plan of a subgraph that changes scores; null if there is none.
std::shared_ptr<const Plan> subplan(const Descriptor& operation, cudnnBackendAttributeName_t name) {
  const AttributeValue* const value = operation.find(name);
  std::shared_ptr<const Plan> found;
  if (value == nullptr || value->descriptors.empty()) return found;
  if (plan_of(*value->descriptors[0], &found) != CUDNN_STATUS_SUCCESS) return nullptr;
  return found;
}
bool has_broken_subgraph(const Descriptor& operation, cudnnBackendAttributeName_t name,
                         cudnnBackendAttributeName_t input, cudnnBackendAttributeName_t output) {
  if (!operation.has(name)) return false;
  const auto plan = subplan(operation, name);
  return plan == nullptr || plan->offsets.count(operation.integer(input)) == 0 ||
         plan->offsets.count(operation.integer(output)) == 0;
}

/// The attributes of scores that both directions have.
struct ScoreNames {
  cudnnBackendAttributeName_t q, k, scale, query_lengths, key_lengths, subgraph, input, output;
};
constexpr ScoreNames kForwardNames = {CUDNN_ATTR_OPERATION_SDPA_FWD_QDESC,
                                      CUDNN_ATTR_OPERATION_SDPA_FWD_KDESC,
                                      CUDNN_ATTR_OPERATION_SDPA_FWD_SCALEDESC,
                                      CUDNN_ATTR_OPERATION_SDPA_FWD_SEQ_LEN_QDESC,
                                      CUDNN_ATTR_OPERATION_SDPA_FWD_SEQ_LEN_KVDESC,
                                      CUDNN_ATTR_OPERATION_SDPA_FWD_SUBGRAPH,
                                      CUDNN_ATTR_OPERATION_SDPA_FWD_SUBGRAPH_INPUT_UID,
                                      CUDNN_ATTR_OPERATION_SDPA_FWD_SUBGRAPH_OUTPUT_UID};
constexpr ScoreNames kBackwardNames = {CUDNN_ATTR_OPERATION_SDPA_BWD_QDESC,
                                       CUDNN_ATTR_OPERATION_SDPA_BWD_KDESC,
                                       CUDNN_ATTR_OPERATION_SDPA_BWD_SCALEDESC,
                                       CUDNN_ATTR_OPERATION_SDPA_BWD_SEQ_LEN_QDESC,
                                       CUDNN_ATTR_OPERATION_SDPA_BWD_SEQ_LEN_KVDESC,
                                       CUDNN_ATTR_OPERATION_SDPA_BWD_SUBGRAPH,
                                       CUDNN_ATTR_OPERATION_SDPA_BWD_SUBGRAPH_INPUT_UID,
                                       CUDNN_ATTR_OPERATION_SDPA_BWD_SUBGRAPH_OUTPUT_UID};

cudnnStatus_t scale_by(const Execution& execution, const Descriptor& operation,
                       cudnnBackendAttributeName_t name, const View& values) {
  if (operation.descriptor(name) == nullptr) return CUDNN_STATUS_SUCCESS;
  View scale;
  LIB_TRY(execution.view(operation, name, &scale));
  PointwiseSettings settings;
  settings.mode = CUDNN_POINTWISE_MUL;
  return pointwise(execution.stream, settings, values, &scale, nullptr, values);
}

/// The scores of q and k, scaled, changed by the subgraph and masked, in `scores`.
cudnnStatus_t make_scores(const Execution& execution, const Descriptor& operation,
                          const ScoreNames& names, const View& k, const View& scores,
                          char* inner_workspace) {
  View q, query_lengths, key_lengths;
  LIB_TRY(execution.view(operation, names.q, &q));
  LIB_TRY(execution.view(operation, names.query_lengths, &query_lengths));
  LIB_TRY(execution.view(operation, names.key_lengths, &key_lengths));
  LIB_TRY(matmul(execution.stream, q, transposed(k), scores));
  LIB_TRY(scale_by(execution, operation, names.scale, scores));
  if (const auto inner = subplan(operation, names.subgraph)) {
    Execution nested(execution.stream, *inner, inner_workspace, execution.memory());
    LIB_TRY(execution.lend(*inner, &nested));
    LIB_TRY(copy_scaled(execution.stream, 1, scores, 0,
                        nested.virtual_view(operation.integer(names.input))));
    LIB_TRY(run_plan(nested, *inner));
    LIB_TRY(copy_scaled(execution.stream, 1, nested.virtual_view(operation.integer(names.output)),
                        0, scores));
  }
  const bool has_pages = operation.has(CUDNN_ATTR_OPERATION_SDPA_FWD_PAGE_TABLE_KDESC);
  if (!has_pages && (query_lengths.data == nullptr || key_lengths.data == nullptr)) {
    return CUDNN_STATUS_SUCCESS;
  }
  return mask_scores(execution.stream, scores, query_lengths, key_lengths);
}

int64_t inner_bytes(const Descriptor& operation, const ScoreNames& names) {
  const auto inner = subplan(operation, names.subgraph);
  return inner == nullptr ? 0 : inner->workspace_bytes;
}

/// Keys or values of the forward operation and the table of their pages.
struct CacheNames {
  cudnnBackendAttributeName_t tensor, table;
};
constexpr CacheNames kCaches[] = {
    {CUDNN_ATTR_OPERATION_SDPA_FWD_KDESC, CUDNN_ATTR_OPERATION_SDPA_FWD_PAGE_TABLE_KDESC},
    {CUDNN_ATTR_OPERATION_SDPA_FWD_VDESC, CUDNN_ATTR_OPERATION_SDPA_FWD_PAGE_TABLE_VDESC}};

bool init_forward(const Descriptor& operation, AttentionShapes* shapes) {
  return shapes->init(operation.descriptor(kForwardNames.q), operation.descriptor(kForwardNames.k),
                      operation.descriptor(kCaches[0].table));
}

/// The dense tensor for keys or values that lie in pages.
Shape loaded_shape(const Descriptor& operation, const CacheNames& names,
                   const AttentionShapes& shapes) {
  TensorInfo pages;
  static_cast<void>(read_tensor(*operation.descriptor(names.tensor), &pages));
  const int64_t dims[] = {shapes.scores.dims[0], pages.shape.dims[1], shapes.scores.dims[3],
                          pages.shape.dims[3]};
  return dense_shape(pages.shape.type, 4, dims);
}

int64_t loaded_bytes(const Descriptor& operation, const AttentionShapes& shapes) {
  int64_t bytes = 0;
  for (const CacheNames& each : kCaches) {
    if (operation.has(each.table)) {
      bytes += aligned(loaded_shape(operation, each, shapes).span_bytes());
    }
  }
  return bytes;
}

const char* cache_problem(const Descriptor& operation, const AttentionShapes& shapes) {
  for (const CacheNames& each : kCaches) {
    if (!operation.has(each.table)) continue;
    const char* const problem =
        pages_problem(operation.descriptor(each.tensor), operation.descriptor(each.table),
                      operation.descriptor(kForwardNames.key_lengths), shapes.scores.dims[0]);
    if (problem != nullptr) return problem;
  }
  return nullptr;
}

/// The keys or values: those of the program, or loaded from their pages to `*at`, which moves on.
cudnnStatus_t view_cache(const Execution& execution, const Descriptor& operation,
                         const CacheNames& names, const AttentionShapes& shapes, char** at,
                         View* out) {
  LIB_TRY(execution.view(operation, names.tensor, out));
  if (!operation.has(names.table)) return CUDNN_STATUS_SUCCESS;
  PagedCache cache;
  cache.container = *out;
  LIB_TRY(execution.view(operation, names.table, &cache.table));
  LIB_TRY(execution.view(operation, kForwardNames.key_lengths, &cache.lengths));
  *out = execution.own_view(loaded_shape(operation, names, shapes), *at);
  *at += aligned(out->span_bytes());
  return load_pages(execution.stream, cache, *out);
}

}  // namespace

const char* attention_problem(const Descriptor& operation) {
  AttentionShapes shapes;
  if (!init_forward(operation, &shapes)) return "attention of such tensors";
  if (const char* const problem = cache_problem(operation, shapes)) return problem;
  for (const auto name :
       {CUDNN_ATTR_OPERATION_SDPA_FWD_BLOCK_MASK_DESC,
        CUDNN_ATTR_OPERATION_SDPA_FWD_DROPOUT_RNG_DUMP_DESC,
        CUDNN_ATTR_OPERATION_SDPA_FWD_CU_SEQ_LEN_QDESC,
        CUDNN_ATTR_OPERATION_SDPA_FWD_CU_SEQ_LEN_KVDESC,
        CUDNN_ATTR_OPERATION_SDPA_FWD_DESCALE_QDESC, CUDNN_ATTR_OPERATION_SDPA_FWD_AMAX_ODESC}) {
    if (operation.has(name)) return "block masks, cumulative lengths or scales of attention";
  }
  if (has_broken_subgraph(operation, kForwardNames.subgraph, kForwardNames.input,
                          kForwardNames.output)) {
    return "the subgraph of an attention";
  }
  const Descriptor* const softmax =
      operation.descriptor(CUDNN_ATTR_OPERATION_SDPA_FWD_SOFTMAX_DESC);
  if (softmax != nullptr && softmax->integer(CUDNN_ATTR_OPERATION_SOFTMAX_STATS_LOG2) != 0) {
    return "statistics of base 2";
  }
  return nullptr;
}

int64_t attention_scratch(const Descriptor& operation) {
  AttentionShapes shapes;
  init_forward(operation, &shapes);
  return shapes.score_bytes() + loaded_bytes(operation, shapes) +
         inner_bytes(operation, kForwardNames);
}

cudnnStatus_t run_attention(const Execution& execution, const Descriptor& operation) {
  AttentionShapes shapes;
  View k, v, o;
  init_forward(operation, &shapes);
  const View scores = execution.own_view(shapes.scores, execution.scratch());
  char* at = execution.scratch() + shapes.score_bytes();
  LIB_TRY(view_cache(execution, operation, kCaches[0], shapes, &at, &k));
  LIB_TRY(view_cache(execution, operation, kCaches[1], shapes, &at, &v));
  LIB_TRY(make_scores(execution, operation, kForwardNames, k, scores, at));
  SoftmaxExtras extras;
  LIB_TRY(execution.view(operation, CUDNN_ATTR_OPERATION_SDPA_FWD_STATSDESC, &extras.stats));
  if (const Descriptor* const softmax_descriptor =
          operation.descriptor(CUDNN_ATTR_OPERATION_SDPA_FWD_SOFTMAX_DESC)) {
    const auto read = [&](cudnnBackendAttributeName_t name, View* out) {
      return execution.view(*softmax_descriptor, name, out);
    };
    LIB_TRY(read(CUDNN_ATTR_OPERATION_SOFTMAX_STATS_DESC, &extras.stats));
    LIB_TRY(read(CUDNN_ATTR_OPERATION_SOFTMAX_MAX_DESC, &extras.maximum));
    LIB_TRY(read(CUDNN_ATTR_OPERATION_SOFTMAX_SUM_EXP_DESC, &extras.sum));
    LIB_TRY(read(CUDNN_ATTR_OPERATION_SOFTMAX_SINK_DESC, &extras.sink));
  }
  LIB_TRY(softmax(execution.stream, false, 1, scores, 0, scores, shapes.rows, extras));
  const double probability = operation.number(CUDNN_ATTR_OPERATION_SDPA_FWD_DROPOUT_PROBABILITY, 0);
  if (probability > 0) {
    View seed, offset;
    LIB_TRY(execution.view(operation, CUDNN_ATTR_OPERATION_SDPA_FWD_DROPOUT_SEED_DESC, &seed));
    LIB_TRY(execution.view(operation, CUDNN_ATTR_OPERATION_SDPA_FWD_DROPOUT_OFFSET_DESC, &offset));
    LIB_TRY(drop_out(execution.stream, scores, probability, seed, offset));
  }
  LIB_TRY(execution.view(operation, CUDNN_ATTR_OPERATION_SDPA_FWD_ODESC, &o));
  return matmul(execution.stream, scores, v, o);
}

namespace {

/// True if a step of a subgraph hands gradients of its result on to the scores as they are, or not
/// at all where it masks.
bool keeps_gradient(const Descriptor& operation) {
  if (operation.type == CUDNN_BACKEND_OPERATION_DIAGONAL_BAND_MASK_DESCRIPTOR ||
      operation.type == CUDNN_BACKEND_OPERATION_RESHAPE_DESCRIPTOR) {
    return true;
  }
  const Descriptor* const pw = operation.descriptor(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR);
  if (pw == nullptr || operation.number(CUDNN_ATTR_OPERATION_POINTWISE_ALPHA1, 1) != 1)
    return false;
  switch (pw->integer(CUDNN_ATTR_POINTWISE_MODE)) {
    case CUDNN_POINTWISE_ADD:
      return operation.number(CUDNN_ATTR_OPERATION_POINTWISE_ALPHA2, 1) == 1;
    case CUDNN_POINTWISE_SUB:
    case CUDNN_POINTWISE_IDENTITY:
    case CUDNN_POINTWISE_BINARY_SELECT:
      return true;
    default:
      return false;
  }
}

/// True if the gradient of the subgraph's result is that of the scores: what the scores go through
/// only adds to them or masks them.
bool is_additive(const Descriptor& operation) {
  const auto plan = subplan(operation, kBackwardNames.subgraph);
  if (plan == nullptr) return true;
  std::set<int64_t> scores{operation.integer(kBackwardNames.input)};
  for (const PlannedOperation& each : plan->operations) {
    const bool is_on_path = std::any_of(each.inputs.begin(), each.inputs.end(),
                                        [&](int64_t id) { return scores.count(id) != 0; });
    if (!is_on_path) continue;
    // Indices of elements are no scores, whatever tensor they are made from.
    const Descriptor* const pw =
        each.descriptor->descriptor(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR);
    const bool is_index =
        pw != nullptr && pw->integer(CUDNN_ATTR_POINTWISE_MODE) == CUDNN_POINTWISE_GEN_INDEX;
    if (is_index) continue;
    if (!keeps_gradient(*each.descriptor)) return false;
    scores.insert(each.outputs.begin(), each.outputs.end());
  }
  return true;
}

bool has_bias_extents(const Descriptor& operation, const Shape& scores) {
  const Descriptor* const tensor = operation.descriptor(CUDNN_ATTR_OPERATION_SDPA_BWD_DBIAS_DESC);
  if (tensor == nullptr) return true;
  TensorInfo info;
  if (read_tensor(*tensor, &info) != CUDNN_STATUS_SUCCESS || info.shape.rank != 4) return false;
  for (size_t d = 0; d < 4; ++d) {
    if (info.shape.dims[d] != 1 && info.shape.dims[d] != scores.dims[d]) return false;
  }
  return true;
}

}  // namespace

const char* attention_backward_problem(const Descriptor& operation) {
  AttentionShapes shapes;
  if (!shapes.init(operation.descriptor(kBackwardNames.q),
                   operation.descriptor(kBackwardNames.k))) {
    return "attention of such tensors";
  }
  for (const auto name :
       {CUDNN_ATTR_OPERATION_SDPA_BWD_SINK_DESC, CUDNN_ATTR_OPERATION_SDPA_BWD_DSINK_DESC,
        CUDNN_ATTR_OPERATION_SDPA_BWD_CU_SEQ_LEN_QDESC,
        CUDNN_ATTR_OPERATION_SDPA_BWD_CU_SEQ_LEN_KVDESC,
        CUDNN_ATTR_OPERATION_SDPA_BWD_DROPOUT_PROBABILITY}) {
    if (operation.has(name)) return "sinks, dropout or cumulative lengths of a gradient";
  }
  if (!has_bias_extents(operation, shapes.scores)) {
    return "a gradient of a bias whose extents are neither 1 nor those of the scores";
  }
  if (has_broken_subgraph(operation, kBackwardNames.subgraph, kBackwardNames.input,
                          kBackwardNames.output)) {
    return "the subgraph of an attention";
  }
  if (!is_additive(operation)) return "gradients of subgraphs that do more than add and mask";
  return nullptr;
}

int64_t attention_backward_scratch(const Descriptor& operation) {
  AttentionShapes shapes;
  shapes.init(operation.descriptor(kBackwardNames.q), operation.descriptor(kBackwardNames.k));
  TensorInfo q, k;
  static_cast<void>(read_tensor(*operation.descriptor(kBackwardNames.q), &q));
  const int64_t keys = shapes.scores.dims[0] * shapes.scores.dims[1] * shapes.scores.dims[3];
  const int64_t width = q.shape.dims[3];
  TensorInfo v;
  static_cast<void>(read_tensor(*operation.descriptor(CUDNN_ATTR_OPERATION_SDPA_BWD_VDESC), &v));
  const int64_t wide = std::max(width, v.shape.dims[3]);
  const int64_t queries = shapes.rows.count();
  return 2 * shapes.score_bytes() + shapes.row_bytes() + aligned(queries * wide * 4) +
         aligned(keys * wide * 4) + inner_bytes(operation, kBackwardNames);
}

namespace {

/// Memory that is handed out piece by piece.
struct Arena {
  View take(const Shape& shape) {
    const View found = execution.own_view(shape, at);
    at += aligned(shape.span_bytes());
    return found;
  }
  const Execution& execution;
  char* at;
};

/// out (B, H_kv, S, D) = the sums over the heads that share one of `whole` (B, H, S, D).
cudnnStatus_t sum_heads(const Execution& execution, const View& whole, const View& out) {
  const int64_t shared = whole.dims[1] / out.dims[1];
  if (shared == 1) return copy_scaled(execution.stream, 1, whole, 0, out);
  View from = whole, to = out;
  from.rank = to.rank = 5;
  from.dims = {whole.dims[0], out.dims[1], shared, whole.dims[2], whole.dims[3]};
  from.strides = {whole.strides[0], whole.strides[1] * shared, whole.strides[1], whole.strides[2],
                  whole.strides[3]};
  to.dims = {out.dims[0], out.dims[1], 1, out.dims[2], out.dims[3]};
  to.strides = {out.strides[0], out.strides[1], 0, out.strides[2], out.strides[3]};
  return reduce(execution.stream, CUDNN_REDUCE_TENSOR_ADD, 1, from, 0, to);
}

}  // namespace

cudnnStatus_t run_attention_backward(const Execution& execution, const Descriptor& operation) {
  AttentionShapes shapes;
  shapes.init(operation.descriptor(kBackwardNames.q), operation.descriptor(kBackwardNames.k));
  View q, k, v, o, stats, d_o, dq, dk, dv, dbias;
  const std::pair<cudnnBackendAttributeName_t, View*> tensors[] = {
      {CUDNN_ATTR_OPERATION_SDPA_BWD_QDESC, &q},
      {CUDNN_ATTR_OPERATION_SDPA_BWD_KDESC, &k},
      {CUDNN_ATTR_OPERATION_SDPA_BWD_VDESC, &v},
      {CUDNN_ATTR_OPERATION_SDPA_BWD_ODESC, &o},
      {CUDNN_ATTR_OPERATION_SDPA_BWD_DODDESC, &d_o},
      {CUDNN_ATTR_OPERATION_SDPA_BWD_DQDESC, &dq},
      {CUDNN_ATTR_OPERATION_SDPA_BWD_DKDESC, &dk},
      {CUDNN_ATTR_OPERATION_SDPA_BWD_DVDESC, &dv},
      {CUDNN_ATTR_OPERATION_SDPA_BWD_STATSDESC, &stats},
      {CUDNN_ATTR_OPERATION_SDPA_BWD_DBIAS_DESC, &dbias}};
  for (const auto& [name, view] : tensors) LIB_TRY(execution.view(operation, name, view));
  Arena arena{execution, execution.scratch()};
  const View p = arena.take(shapes.scores), ds = arena.take(shapes.scores);
  const View rows = arena.take(shapes.rows);
  const int64_t heads = shapes.scores.dims[1], keys = shapes.scores.dims[3];
  const int64_t product_dims[] = {q.dims[0], heads, q.dims[2], o.dims[3]};
  const int64_t key_dims[] = {q.dims[0], heads, keys, q.dims[3]};
  const int64_t value_dims[] = {q.dims[0], heads, keys, v.dims[3]};
  const int64_t wide_dims[] = {q.dims[0], heads, keys, std::max(q.dims[3], v.dims[3])};
  const View product = arena.take(dense_shape(CUDNN_DATA_FLOAT, 4, product_dims));
  const View room = arena.take(dense_shape(CUDNN_DATA_FLOAT, 4, wide_dims));
  const View all_dk = execution.own_view(dense_shape(CUDNN_DATA_FLOAT, 4, key_dims), room.data);
  const View all_dv = execution.own_view(dense_shape(CUDNN_DATA_FLOAT, 4, value_dims), room.data);

  const cu::CUstream stream = execution.stream;
  LIB_TRY(make_scores(execution, operation, kBackwardNames, k, p, arena.at));
  LIB_TRY(restore_probabilities(stream, p, stats));
  LIB_TRY(matmul(stream, transposed(p), d_o, all_dv));
  LIB_TRY(sum_heads(execution, all_dv, dv));
  LIB_TRY(matmul(stream, d_o, transposed(v), ds));
  PointwiseSettings settings;
  settings.mode = CUDNN_POINTWISE_MUL;
  LIB_TRY(pointwise(stream, settings, d_o, &o, nullptr, product));
  LIB_TRY(reduce(stream, CUDNN_REDUCE_TENSOR_ADD, 1, product, 0, rows));
  LIB_TRY(score_gradients(stream, p, rows, ds));
  // The subgraph has added the bias behind the scale.
  if (dbias.data != nullptr) LIB_TRY(reduce(stream, CUDNN_REDUCE_TENSOR_ADD, 1, ds, 0, dbias));
  LIB_TRY(scale_by(execution, operation, kBackwardNames.scale, ds));
  LIB_TRY(matmul(stream, ds, k, dq));
  LIB_TRY(matmul(stream, transposed(ds), q, all_dk));
  return sum_heads(execution, all_dk, dk);
}

const char* band_mask_problem(const Descriptor& operation) {
  for (const auto name : {CUDNN_ATTR_OPERATION_DIAGONAL_BAND_MASK_CU_SEQ_LEN_KVDESC,
                          CUDNN_ATTR_OPERATION_DIAGONAL_BAND_MASK_CU_SEQ_LEN_QDESC}) {
    if (operation.has(name)) return "cumulative lengths of a mask";
  }
  return nullptr;
}

cudnnStatus_t run_band_mask(const Execution& execution, const Descriptor& operation) {
  BandMask mask;
  const std::pair<cudnnBackendAttributeName_t, View*> tensors[] = {
      {CUDNN_ATTR_OPERATION_DIAGONAL_BAND_MASK_XDESC, &mask.x},
      {CUDNN_ATTR_OPERATION_DIAGONAL_BAND_MASK_YDESC, &mask.y},
      {CUDNN_ATTR_OPERATION_DIAGONAL_BAND_MASK_BDESC, &mask.fill},
      {CUDNN_ATTR_OPERATION_DIAGONAL_BAND_MASK_SEQ_LEN_QDESC, &mask.query_lengths},
      {CUDNN_ATTR_OPERATION_DIAGONAL_BAND_MASK_SEQ_LEN_KVDESC, &mask.key_lengths},
      {CUDNN_ATTR_OPERATION_DIAGONAL_BAND_MASK_LEFT_BOUND_DESC, &mask.left},
      {CUDNN_ATTR_OPERATION_DIAGONAL_BAND_MASK_SHIFT_RIGHT_BOUND_DESC, &mask.shift}};
  for (const auto& [name, view] : tensors) LIB_TRY(execution.view(operation, name, view));
  mask.mode = static_cast<cudnnPointwiseMode_t>(operation.integer(
      CUDNN_ATTR_OPERATION_DIAGONAL_BAND_MASK_COMPARISON_MODE, CUDNN_POINTWISE_CMP_GE));
  return mask_band(execution.stream, mask);
}

}  // namespace km::cudnn
