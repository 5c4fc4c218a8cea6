// Multi-head attention (the API of cuDNN 7.5).
#include "dropin/cudnn/descriptors/descriptors.h"
#include "dropin/cudnn/descriptors/objects.h"
#include "dropin/cudnn/sequence/multi_head.h"

namespace km::cudnn {
namespace {

/// NVIDIA's macros CUDNN_ATTN_QUERYMAP_ONE_TO_ONE and CUDNN_ATTN_ENABLE_PROJ_BIASES.
constexpr unsigned kOneToOne = 1, kBiases = 2;
/// Products of extents beyond this are no tensors that fit into memory.
constexpr double kMostSequenceElements = 0x1p40;
/// The most sequences and steps, for which the host keeps numbers.
constexpr int kMostLengths = 1 << 24;

/// A cudnnAttnDescriptor_t.
struct AttentionObject {
  std::mutex mutex;  // guards the members below
  MultiHeadShape shape;
  bool is_set = false;
  unsigned mode = 0;
  cudnnDataType_t math = CUDNN_DATA_FLOAT;
  cudnnMathType_t math_type = CUDNN_DEFAULT_MATH;
  cudnnDropoutDescriptor_t attention_dropout = nullptr, output_dropout = nullptr;
};
/// A cudnnSeqDataDescriptor_t.
struct SequenceDataObject {
  std::mutex mutex;  // guards the members below
  SequenceLayout layout;
  std::array<cudnnSeqDataAxis_t, 4> axes{};
  std::vector<int> lengths;
  bool is_set = false;
};

cudnnStatus_t check_attention_type(cudnnDataType_t type) {
  if (type == CUDNN_DATA_FLOAT || type == CUDNN_DATA_DOUBLE || type == CUDNN_DATA_HALF) {
    return CUDNN_STATUS_SUCCESS;
  }
  return unsupported("attention of data type %d", type);
}

cudnnStatus_t check_shape(const MultiHeadShape& s) {
  LIB_TRY(check_attention_type(s.type));
  if (s.heads < 1 || !(s.scale >= 0)) {
    return invalid("%lld heads, smScaler %g", static_cast<long long>(s.heads), s.scale);
  }
  double most = static_cast<double>(s.heads);
  for (size_t i = 0; i < 3; ++i) {
    if (s.size[i] < 1 || s.projection[i] < 0 || s.output_projection < 0) {
      return invalid("vectors of %lld elements and projections to %lld and %lld",
                     static_cast<long long>(s.size[i]), static_cast<long long>(s.projection[i]),
                     static_cast<long long>(s.output_projection));
    }
    const auto width = static_cast<double>(std::max(s.size[i], s.output_projection));
    if (most * width * static_cast<double>(s.width(static_cast<int>(i))) > kMostSequenceElements) {
      return unsupported("more than 2^40 weights");
    }
  }
  if (s.width(0) != s.width(1)) {
    return invalid("queries and keys of %lld and %lld elements", static_cast<long long>(s.width(0)),
                   static_cast<long long>(s.width(1)));
  }
  for (const int64_t each : {s.most_queries, s.most_keys, s.most_batch, s.most_beam}) {
    if (each < 1) return invalid("a largest extent of %lld", static_cast<long long>(each));
    most *= static_cast<double>(each);
  }
  if (most * static_cast<double>(s.output()) > 0x1p62) return unsupported("extents that large");
  if (static_cast<double>(s.most_batch) * static_cast<double>(s.most_beam) >
      kMostSequenceElements) {
    return unsupported("more than 2^40 sequences");
  }
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t get_layout(cudnnSeqDataDescriptor_t descriptor, const void* data, Sequences* out) {
  if (data == nullptr) return invalid("the address of sequences is null");
  out->data = data;
  return with_object<SequenceDataObject>(descriptor,
                                         [&](SequenceDataObject& object) -> cudnnStatus_t {
                                           if (!object.is_set)
                                             return invalid("the sequences have not been set");
                                           out->layout = object.layout;
                                           return CUDNN_STATUS_SUCCESS;
                                         });
}

cudnnStatus_t get_dropout(cudnnDropoutDescriptor_t descriptor, double* probability, void** states) {
  if (descriptor == nullptr) return CUDNN_STATUS_SUCCESS;
  DropoutValue value;
  LIB_TRY(Dropouts::read(descriptor, &value));
  *probability = static_cast<double>(value.probability);
  if (*probability <= 0) return CUDNN_STATUS_SUCCESS;
  if (value.states == nullptr) return invalid("the dropout has no states");
  *states = value.states;
  return CUDNN_STATUS_SUCCESS;
}

/// Checks extents of sequences against the attention; `width` is that of their vectors.
cudnnStatus_t check_sequences(const char* name, const Sequences& s, const MultiHeadShape& shape,
                              int64_t width, int64_t most_steps, const Sequences& like) {
  const auto& dims = s.layout.dims;
  const auto& expected = like.layout.dims;
  if (s.layout.type != shape.type || dims[CUDNN_SEQDATA_VECT_DIM] != width) {
    return invalid("%s: type %d, vectors of %lld elements, not %lld", name, s.layout.type,
                   static_cast<long long>(dims[CUDNN_SEQDATA_VECT_DIM]),
                   static_cast<long long>(width));
  }
  if (dims[CUDNN_SEQDATA_TIME_DIM] > most_steps ||
      dims[CUDNN_SEQDATA_BATCH_DIM] > shape.most_batch ||
      dims[CUDNN_SEQDATA_BEAM_DIM] > shape.most_beam) {
    return invalid("%s has larger extents than the attention's descriptor allows", name);
  }
  for (const int each : {CUDNN_SEQDATA_TIME_DIM, CUDNN_SEQDATA_BATCH_DIM, CUDNN_SEQDATA_BEAM_DIM}) {
    if (dims[static_cast<size_t>(each)] != expected[static_cast<size_t>(each)]) {
      return invalid("%s: extent %d is %lld, not %lld", name, each,
                     static_cast<long long>(dims[static_cast<size_t>(each)]),
                     static_cast<long long>(expected[static_cast<size_t>(each)]));
    }
  }
  return CUDNN_STATUS_SUCCESS;
}

/// Reads the attention, checks the sequences that the call has, and the memory's sizes.
cudnnStatus_t take_attention(cudnnAttnDescriptor_t descriptor, const void* weights,
                             size_t weight_bytes, void* reserve, size_t reserve_bytes,
                             MultiHeadCall* call) {
  cudnnDropoutDescriptor_t dropouts[2] = {};
  LIB_TRY(with_object<AttentionObject>(descriptor, [&](AttentionObject& o) -> cudnnStatus_t {
    if (!o.is_set) return invalid("the attention has not been set");
    call->shape = o.shape;
    dropouts[0] = o.attention_dropout;
    dropouts[1] = o.output_dropout;
    return CUDNN_STATUS_SUCCESS;
  }));
  const MultiHeadShape& s = call->shape;
  LIB_TRY(get_dropout(dropouts[0], &call->attention_dropout, &call->attention_states));
  LIB_TRY(get_dropout(dropouts[1], &call->output_dropout, &call->output_states));
  const auto needed = static_cast<size_t>(s.weight_count() * type_bytes(s.type));
  if (weight_bytes < needed || (needed != 0 && weights == nullptr)) {
    return invalid("%zu bytes of weights at %p, %zu are needed", weight_bytes, weights, needed);
  }
  const auto kept = static_cast<size_t>(multi_head_reserve_bytes(s));
  if (reserve != nullptr && (reserve_bytes < kept || reinterpret_cast<uintptr_t>(reserve) % 8)) {
    return invalid("%zu bytes of reserve space at %p, %zu are needed at a multiple of 8",
                   reserve_bytes, reserve, kept);
  }
  call->weights = weights;
  call->reserve = reserve;
  const Sequences& q = call->q;
  const Sequences& k = call->k;
  LIB_TRY(check_sequences("queries", q, s, s.size[0], s.most_queries, q));
  LIB_TRY(check_sequences("keys", k, s, s.size[1], s.most_keys, k));
  LIB_TRY(check_sequences("values", call->v, s, s.size[2], s.most_keys, k));
  LIB_TRY(check_sequences("out", call->out, s, s.output(), s.most_queries, q));
  const int64_t beams = s.is_one_to_one ? q.layout.dims[CUDNN_SEQDATA_BEAM_DIM] : 1;
  if (k.layout.dims[CUDNN_SEQDATA_BEAM_DIM] != beams ||
      k.layout.dims[CUDNN_SEQDATA_BATCH_DIM] != q.layout.dims[CUDNN_SEQDATA_BATCH_DIM]) {
    return invalid("keys of %lld batches with %lld beams for queries of %lld with %lld",
                   static_cast<long long>(k.layout.dims[CUDNN_SEQDATA_BATCH_DIM]),
                   static_cast<long long>(k.layout.dims[CUDNN_SEQDATA_BEAM_DIM]),
                   static_cast<long long>(q.layout.dims[CUDNN_SEQDATA_BATCH_DIM]),
                   static_cast<long long>(beams));
  }
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t take_windows(const int* first, const int* end, MultiHeadCall* call) {
  const auto steps = static_cast<size_t>(call->q.layout.dims[CUDNN_SEQDATA_TIME_DIM]);
  call->first_key.resize(steps);
  call->end_key.resize(steps);
  LIB_TRY(take(first, steps, call->first_key.data(), "loWinIdx"));
  return take(end, steps, call->end_key.data(), "hiWinIdx");
}

cudnnStatus_t set_sequences(cudnnSeqDataDescriptor_t descriptor, SequenceLayout layout,
                            const std::array<cudnnSeqDataAxis_t, 4>& axes,
                            std::vector<int> lengths) {
  unsigned seen = 0;
  int64_t stride = 1;
  for (size_t i = 4; i-- > 0;) {
    const int axis = axes[i];
    if (axis < 0 || axis > 3 || (seen >> axis & 1) != 0) return invalid("axis %d", axis);
    seen |= 1U << axis;
    layout.strides[static_cast<size_t>(axis)] = stride;
    stride *= layout.dims[static_cast<size_t>(axis)];
  }
  if (axes[3] != CUDNN_SEQDATA_VECT_DIM) {
    return unsupported("the axis %d innermost: it has to be CUDNN_SEQDATA_VECT_DIM", axes[3]);
  }
  for (const int each : lengths) {
    if (each < 0 || each > layout.dims[CUDNN_SEQDATA_TIME_DIM]) {
      return invalid("a sequence of %d steps", each);
    }
  }
  return with_object<SequenceDataObject>(descriptor, [&](SequenceDataObject& object) {
    object.layout = layout;
    object.axes = axes;
    object.lengths = std::move(lengths);
    object.is_set = true;
    return CUDNN_STATUS_SUCCESS;
  });
}

}  // namespace

extern "C" {

cudnnStatus_t cudnnCreateAttnDescriptor(cudnnAttnDescriptor_t* attnDesc) {
  return call([&] { return create_object<AttentionObject>(attnDesc, kAttentionTag); });
}
cudnnStatus_t cudnnDestroyAttnDescriptor(cudnnAttnDescriptor_t attnDesc) {
  return call([&] { return destroy_object<AttentionObject>(attnDesc); });
}
cudnnStatus_t cudnnSetAttnDescriptor(cudnnAttnDescriptor_t attnDesc, unsigned attnMode, int nHeads,
                                     double smScaler, cudnnDataType_t dataType,
                                     cudnnDataType_t computePrec, cudnnMathType_t mathType,
                                     cudnnDropoutDescriptor_t attnDropoutDesc,
                                     cudnnDropoutDescriptor_t postDropoutDesc, int qSize, int kSize,
                                     int vSize, int qProjSize, int kProjSize, int vProjSize,
                                     int oProjSize, int qoMaxSeqLength, int kvMaxSeqLength,
                                     int maxBatchSize, int maxBeamSize) {
  return call([&]() -> cudnnStatus_t {
    if (attnMode > (kOneToOne | kBiases)) return invalid("the mode %u", attnMode);
    MultiHeadShape shape;
    shape.type = dataType;
    shape.is_one_to_one = (attnMode & kOneToOne) != 0;
    shape.has_biases = (attnMode & kBiases) != 0;
    shape.heads = nHeads;
    shape.scale = smScaler;
    shape.size = {qSize, kSize, vSize};
    shape.projection = {qProjSize, kProjSize, vProjSize};
    shape.output_projection = oProjSize;
    shape.most_queries = qoMaxSeqLength;
    shape.most_keys = kvMaxSeqLength;
    shape.most_batch = maxBatchSize;
    shape.most_beam = maxBeamSize;
    LIB_TRY(check_shape(shape));
    return with_object<AttentionObject>(attnDesc, [&](AttentionObject& object) {
      object.shape = shape;
      object.is_set = true;
      object.mode = attnMode;
      object.math = computePrec;
      object.math_type = mathType;
      object.attention_dropout = attnDropoutDesc;
      object.output_dropout = postDropoutDesc;
      return CUDNN_STATUS_SUCCESS;
    });
  });
}
cudnnStatus_t cudnnGetAttnDescriptor(cudnnAttnDescriptor_t attnDesc, unsigned* attnMode,
                                     int* nHeads, double* smScaler, cudnnDataType_t* dataType,
                                     cudnnDataType_t* computePrec, cudnnMathType_t* mathType,
                                     cudnnDropoutDescriptor_t* attnDropoutDesc,
                                     cudnnDropoutDescriptor_t* postDropoutDesc, int* qSize,
                                     int* kSize, int* vSize, int* qProjSize, int* kProjSize,
                                     int* vProjSize, int* oProjSize, int* qoMaxSeqLength,
                                     int* kvMaxSeqLength, int* maxBatchSize, int* maxBeamSize) {
  return call([&] {
    return with_object<AttentionObject>(attnDesc, [&](AttentionObject& object) -> cudnnStatus_t {
      if (!object.is_set) return invalid("the attention has not been set");
      const MultiHeadShape& s = object.shape;
      LIB_TRY(give_if_asked(attnMode, object.mode));
      LIB_TRY(give_if_asked(smScaler, s.scale));
      LIB_TRY(give_if_asked(dataType, s.type));
      LIB_TRY(give_if_asked(computePrec, object.math));
      LIB_TRY(give_if_asked(mathType, object.math_type));
      LIB_TRY(give_if_asked(attnDropoutDesc, object.attention_dropout));
      LIB_TRY(give_if_asked(postDropoutDesc, object.output_dropout));
      int* const places[] = {nHeads,         qSize,          kSize,        vSize,
                             qProjSize,      kProjSize,      vProjSize,    oProjSize,
                             qoMaxSeqLength, kvMaxSeqLength, maxBatchSize, maxBeamSize};
      const int64_t values[] = {s.heads,         s.size[0],           s.size[1],
                                s.size[2],       s.projection[0],     s.projection[1],
                                s.projection[2], s.output_projection, s.most_queries,
                                s.most_keys,     s.most_batch,        s.most_beam};
      for (size_t i = 0; i < std::size(places); ++i) {
        LIB_TRY(give_if_asked(places[i], static_cast<int>(values[i])));
      }
      return CUDNN_STATUS_SUCCESS;
    });
  });
}

cudnnStatus_t cudnnCreateSeqDataDescriptor(cudnnSeqDataDescriptor_t* seqDataDesc) {
  return call([&] { return create_object<SequenceDataObject>(seqDataDesc, kSequenceDataTag); });
}
cudnnStatus_t cudnnDestroySeqDataDescriptor(cudnnSeqDataDescriptor_t seqDataDesc) {
  return call([&] { return destroy_object<SequenceDataObject>(seqDataDesc); });
}
cudnnStatus_t cudnnSetSeqDataDescriptor(cudnnSeqDataDescriptor_t seqDataDesc,
                                        cudnnDataType_t dataType, int nbDims, const int* dimA,
                                        const cudnnSeqDataAxis_t* axes, size_t seqLengthArraySize,
                                        const int* seqLengthArray, void*) {
  return call([&]() -> cudnnStatus_t {
    if (nbDims != 4) return unsupported("sequences of %d dimensions", nbDims);
    LIB_TRY(check_attention_type(dataType));
    int dims[4];
    std::array<cudnnSeqDataAxis_t, 4> order{};
    LIB_TRY(take(dimA, 4, dims, "dimA"));
    LIB_TRY(take(axes, 4, order.data(), "axes"));
    SequenceLayout layout;
    layout.type = dataType;
    double count = 1;
    for (size_t i = 0; i < 4; ++i) {
      if (dims[i] < 1) return invalid("extent %zu is %d", i, dims[i]);
      layout.dims[i] = dims[i];
      count *= dims[i];
    }
    if (count > kMostSequenceElements) return unsupported("more than 2^40 elements");
    const auto sequences = static_cast<size_t>(layout.dims[CUDNN_SEQDATA_BATCH_DIM] *
                                               layout.dims[CUDNN_SEQDATA_BEAM_DIM]);
    if (seqLengthArraySize != sequences) {
      return invalid("%zu lengths of %zu sequences", seqLengthArraySize, sequences);
    }
    if (sequences > kMostLengths || layout.dims[CUDNN_SEQDATA_TIME_DIM] > kMostLengths) {
      return unsupported("%zu sequences of %lld steps", sequences,
                         static_cast<long long>(layout.dims[CUDNN_SEQDATA_TIME_DIM]));
    }
    std::vector<int> lengths(sequences);
    LIB_TRY(take(seqLengthArray, sequences, lengths.data(), "seqLengthArray"));
    return set_sequences(seqDataDesc, layout, order, std::move(lengths));
  });
}
cudnnStatus_t cudnnGetSeqDataDescriptor(const cudnnSeqDataDescriptor_t seqDataDesc,
                                        cudnnDataType_t* dataType, int* nbDims, int nbDimsRequested,
                                        int* dimA, cudnnSeqDataAxis_t* axes,
                                        size_t* seqLengthArraySize, size_t seqLengthSizeRequested,
                                        int* seqLengthArray, void*) {
  return call([&] {
    return with_object<SequenceDataObject>(
        seqDataDesc, [&](SequenceDataObject& object) -> cudnnStatus_t {
          if (!object.is_set) return invalid("the sequences have not been set");
          if (nbDimsRequested < 0) return invalid("%d dimensions", nbDimsRequested);
          LIB_TRY(give_if_asked(dataType, object.layout.type));
          LIB_TRY(give_if_asked(nbDims, 4));
          LIB_TRY(give_if_asked(seqLengthArraySize, object.lengths.size()));
          int dims[4];
          for (size_t i = 0; i < 4; ++i) dims[i] = static_cast<int>(object.layout.dims[i]);
          const auto count = static_cast<size_t>(std::min(nbDimsRequested, 4));
          if (dimA != nullptr) LIB_TRY(give_array(dimA, dims, count));
          if (axes != nullptr) LIB_TRY(give_array(axes, object.axes.data(), count));
          if (seqLengthArray == nullptr) return CUDNN_STATUS_SUCCESS;
          return give_array(seqLengthArray, object.lengths.data(),
                            std::min(seqLengthSizeRequested, object.lengths.size()));
        });
  });
}

cudnnStatus_t cudnnGetMultiHeadAttnBuffers(cudnnHandle_t handle,
                                           const cudnnAttnDescriptor_t attnDesc,
                                           size_t* weightSizeInBytes, size_t* workSpaceSizeInBytes,
                                           size_t* reserveSpaceSizeInBytes) {
  return call(handle, [&](Handle&) {
    return with_object<AttentionObject>(attnDesc, [&](AttentionObject& object) -> cudnnStatus_t {
      if (!object.is_set) return invalid("the attention has not been set");
      const MultiHeadShape& s = object.shape;
      LIB_TRY(give(weightSizeInBytes, static_cast<size_t>(s.weight_count() * type_bytes(s.type))));
      LIB_TRY(give(workSpaceSizeInBytes, size_t{0}));
      return give_if_asked(reserveSpaceSizeInBytes,
                           static_cast<size_t>(multi_head_reserve_bytes(s)));
    });
  });
}

cudnnStatus_t cudnnGetMultiHeadAttnWeights(cudnnHandle_t handle,
                                           const cudnnAttnDescriptor_t attnDesc,
                                           cudnnMultiHeadAttnWeightKind_t wKind,
                                           size_t weightSizeInBytes, const void* weights,
                                           cudnnTensorDescriptor_t wDesc, void** wAddr) {
  return call(handle, [&](Handle&) {
    return with_object<AttentionObject>(attnDesc, [&](AttentionObject& object) -> cudnnStatus_t {
      if (!object.is_set) return invalid("the attention has not been set");
      if (wKind < CUDNN_MH_ATTN_Q_WEIGHTS || wKind > CUDNN_MH_ATTN_O_BIASES) {
        return invalid("the kind of weights %d", wKind);
      }
      const MultiHeadShape& s = object.shape;
      if (weightSizeInBytes < static_cast<size_t>(s.weight_count() * type_bytes(s.type))) {
        return invalid("%zu bytes of weights are too few", weightSizeInBytes);
      }
      const HeadWeight found = s.weight(wKind);
      if (found.count() != 0) LIB_REQUIRE(weights);
      const int64_t dims[] = {found.heads, found.rows, found.columns};
      const Shape shape = found.count() == 0 ? Shape{} : dense_shape(s.type, 3, dims);
      LIB_TRY(Tensors::update(wDesc, [&](TensorValue& value) { value.shape = shape; }));
      const char* const at = static_cast<const char*>(weights) + found.offset * type_bytes(s.type);
      return give(wAddr,
                  found.count() == 0 ? nullptr : const_cast<void*>(static_cast<const void*>(at)));
    });
  });
}

cudnnStatus_t cudnnMultiHeadAttnForward(
    cudnnHandle_t handle, const cudnnAttnDescriptor_t attnDesc, int currIdx, const int* loWinIdx,
    const int* hiWinIdx, const int* devSeqLengthsQO, const int* devSeqLengthsKV,
    const cudnnSeqDataDescriptor_t qDesc, const void* queries, const void* residuals,
    const cudnnSeqDataDescriptor_t kDesc, const void* keys, const cudnnSeqDataDescriptor_t vDesc,
    const void* values, const cudnnSeqDataDescriptor_t oDesc, void* out, size_t weightSizeInBytes,
    const void* weights, size_t, void*, size_t reserveSpaceSizeInBytes, void* reserveSpace) {
  return call(handle, [&](Handle& h) -> cudnnStatus_t {
    MultiHeadCall work;
    LIB_TRY(get_layout(qDesc, queries, &work.q));
    LIB_TRY(get_layout(kDesc, keys, &work.k));
    LIB_TRY(get_layout(vDesc, values, &work.v));
    LIB_TRY(get_layout(oDesc, out, &work.out));
    LIB_TRY(take_attention(attnDesc, weights, weightSizeInBytes, reserveSpace,
                           reserveSpaceSizeInBytes, &work));
    LIB_TRY(take_windows(loWinIdx, hiWinIdx, &work));
    LIB_REQUIRE(devSeqLengthsQO);
    LIB_REQUIRE(devSeqLengthsKV);
    work.query_lengths = devSeqLengthsQO;
    work.key_lengths = devSeqLengthsKV;
    work.residuals = residuals;
    work.only_step = currIdx;
    if (currIdx >= work.q.layout.dims[CUDNN_SEQDATA_TIME_DIM]) return invalid("step %d", currIdx);
    if (currIdx >= 0 && reserveSpace != nullptr) {
      return invalid("currIdx is %d: training calls compute all steps (-1)", currIdx);
    }
    if (residuals != nullptr && work.shape.size[0] != work.shape.output()) {
      return invalid("residuals of %lld elements for results of %lld",
                     static_cast<long long>(work.shape.size[0]),
                     static_cast<long long>(work.shape.output()));
    }
    return multi_head_forward(h.stream, work);
  });
}

cudnnStatus_t cudnnMultiHeadAttnBackwardData(
    cudnnHandle_t handle, const cudnnAttnDescriptor_t attnDesc, const int* loWinIdx,
    const int* hiWinIdx, const int*, const int*, const cudnnSeqDataDescriptor_t doDesc,
    const void* dout, const cudnnSeqDataDescriptor_t dqDesc, void* dqueries, const void* queries,
    const cudnnSeqDataDescriptor_t dkDesc, void* dkeys, const void* keys,
    const cudnnSeqDataDescriptor_t dvDesc, void* dvalues, const void* values,
    size_t weightSizeInBytes, const void* weights, size_t, void*, size_t reserveSpaceSizeInBytes,
    void* reserveSpace) {
  return call(handle, [&](Handle& h) -> cudnnStatus_t {
    MultiHeadCall work;
    LIB_TRY(get_layout(dqDesc, queries, &work.q));
    LIB_TRY(get_layout(dkDesc, keys, &work.k));
    LIB_TRY(get_layout(dvDesc, values, &work.v));
    LIB_TRY(get_layout(doDesc, dout, &work.out));
    LIB_TRY(get_layout(dqDesc, dqueries, &work.dq));
    LIB_TRY(get_layout(dkDesc, dkeys, &work.dk));
    LIB_TRY(get_layout(dvDesc, dvalues, &work.dv));
    LIB_REQUIRE(reserveSpace);
    LIB_TRY(take_attention(attnDesc, weights, weightSizeInBytes, reserveSpace,
                           reserveSpaceSizeInBytes, &work));
    LIB_TRY(take_windows(loWinIdx, hiWinIdx, &work));
    return multi_head_backward_data(h.stream, work);
  });
}

cudnnStatus_t cudnnMultiHeadAttnBackwardWeights(
    cudnnHandle_t handle, const cudnnAttnDescriptor_t attnDesc, cudnnWgradMode_t addGrad,
    const cudnnSeqDataDescriptor_t qDesc, const void* queries, const cudnnSeqDataDescriptor_t kDesc,
    const void* keys, const cudnnSeqDataDescriptor_t vDesc, const void* values,
    const cudnnSeqDataDescriptor_t doDesc, const void* dout, size_t weightSizeInBytes,
    const void* weights, void* dweights, size_t, void*, size_t reserveSpaceSizeInBytes,
    void* reserveSpace) {
  return call(handle, [&](Handle& h) -> cudnnStatus_t {
    MultiHeadCall work;
    LIB_TRY(get_layout(qDesc, queries, &work.q));
    LIB_TRY(get_layout(kDesc, keys, &work.k));
    LIB_TRY(get_layout(vDesc, values, &work.v));
    LIB_TRY(get_layout(doDesc, dout, &work.out));
    LIB_REQUIRE(reserveSpace);
    LIB_REQUIRE(dweights);
    if (addGrad != CUDNN_WGRAD_MODE_ADD && addGrad != CUDNN_WGRAD_MODE_SET) {
      return invalid("the mode %d", addGrad);
    }
    LIB_TRY(take_attention(attnDesc, weights, weightSizeInBytes, reserveSpace,
                           reserveSpaceSizeInBytes, &work));
    work.dweights = dweights;
    work.adds_weights = addGrad == CUDNN_WGRAD_MODE_ADD;
    return multi_head_backward_weights(h.stream, work);
  });
}

}  // extern "C"
}  // namespace km::cudnn
