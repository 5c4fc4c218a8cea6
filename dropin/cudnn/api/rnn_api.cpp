// Recurrent networks.
#include "dropin/cudnn/descriptors/descriptors.h"
#include "dropin/cudnn/descriptors/objects.h"
#include "dropin/cudnn/sequence/rnn.h"

namespace km::cudnn {
namespace {

/// A cudnnRNNDescriptor_t.
struct RnnObject {
  std::mutex mutex;  // guards the members below
  RnnShape shape;
  bool is_set = false;
  cudnnRNNAlgo_t algorithm = CUDNN_RNN_ALGO_STANDARD;
  cudnnRNNInputMode_t input_mode = CUDNN_LINEAR_INPUT;
  cudnnDataType_t math = CUDNN_DATA_FLOAT;
  cudnnMathType_t math_type = CUDNN_DEFAULT_MATH;
  cudnnNanPropagation_t clip_nan = CUDNN_PROPAGATE_NAN;
  cudnnDropoutDescriptor_t dropout = nullptr;
  uint32_t flags = 0;
};
/// A cudnnRNNDataDescriptor_t.
struct RnnDataObject {
  std::mutex mutex;  // guards the members below
  RnnData data;
  bool is_set = false;
};

cudnnStatus_t get_shape(cudnnRNNDescriptor_t descriptor, RnnShape* out, void** states) {
  cudnnDropoutDescriptor_t dropout = nullptr;
  LIB_TRY(with_object<RnnObject>(descriptor, [&](RnnObject& object) -> cudnnStatus_t {
    if (!object.is_set) return invalid("the network has not been set");
    *out = object.shape;
    dropout = object.dropout;
    return CUDNN_STATUS_SUCCESS;
  }));
  if (dropout == nullptr) return CUDNN_STATUS_SUCCESS;
  DropoutValue value;
  LIB_TRY(Dropouts::read(dropout, &value));
  out->dropout = static_cast<double>(value.probability);
  if (states != nullptr) *states = value.states;
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t get_data(cudnnRNNDataDescriptor_t descriptor, RnnData* out) {
  return with_object<RnnDataObject>(descriptor, [&](RnnDataObject& object) -> cudnnStatus_t {
    if (!object.is_set) return invalid("the sequences have not been set");
    *out = object.data;
    return CUDNN_STATUS_SUCCESS;
  });
}

/// Tables have a row for each layer, and sizes of weights are counted in 64 bits.
cudnnStatus_t check_size(const RnnShape& s) {
  constexpr int64_t kMostLayers = 1 << 16;
  constexpr double kMostWeights = 1LL << 50;
  if (s.layers > kMostLayers) {
    return unsupported("networks of %lld layers; there are at most %lld",
                       static_cast<long long>(s.layers), static_cast<long long>(kMostLayers));
  }
  const double columns = static_cast<double>(s.input) + 3 * static_cast<double>(s.hidden) + 2;
  const double weights = columns * static_cast<double>(s.hidden) *
                         static_cast<double>(s.gates() * s.directions() * s.layers);
  if (weights <= kMostWeights) return CUDNN_STATUS_SUCCESS;
  return unsupported("networks of about %g weights; no memory holds them", weights);
}

cudnnStatus_t check_shape(const RnnShape& s, int hidden, int layers) {
  if (s.mode < CUDNN_RNN_RELU || s.mode > CUDNN_GRU) return invalid("the mode %d", s.mode);
  if (s.bias < CUDNN_RNN_NO_BIAS || s.bias > CUDNN_RNN_SINGLE_REC_BIAS) {
    return invalid("the bias mode %d", s.bias);
  }
  if (hidden < 1 || layers < 1 || s.input < 1 || s.projection < 0 || s.projection > s.hidden) {
    return invalid("sizes of %lld, %d and %lld, %d layers", static_cast<long long>(s.input), hidden,
                   static_cast<long long>(s.projection), layers);
  }
  if (s.projection > 0 && s.projection < s.hidden && s.mode != CUDNN_LSTM) {
    return unsupported("a projection of another network than LSTM");
  }
  if (s.skips_input && s.input != s.hidden) return invalid("an input that skips and other sizes");
  if (type_bits(s.type) < 16 || type_bits(s.type) > 64 || s.type == CUDNN_DATA_INT32 ||
      s.type == CUDNN_DATA_INT64) {
    return unsupported("networks of data type %d", s.type);
  }
  return check_size(s);
}

/// Checks that the sequences and the network fit together.
cudnnStatus_t check_data(const RnnShape& s, const RnnData& x, const RnnData& y) {
  if (x.width != s.input || y.width != s.output() * s.directions()) {
    return invalid("vectors of %lld and %lld elements", static_cast<long long>(x.width),
                   static_cast<long long>(y.width));
  }
  if (x.steps != y.steps || x.batch != y.batch || x.lengths != y.lengths || x.type != s.type ||
      y.type != s.type) {
    return invalid("the sequences of x and y differ");
  }
  return CUDNN_STATUS_SUCCESS;
}

/// The memory and descriptors that all three operations take.
struct Operands {
  RnnCall call;
  cudnnStatus_t take(cudnnRNNDescriptor_t network, cudnnRNNDataDescriptor_t x,
                     cudnnRNNDataDescriptor_t y, size_t weight_bytes) {
    LIB_TRY(get_shape(network, &call.shape, &call.dropout_states));
    LIB_TRY(get_data(x, &call.x));
    LIB_TRY(get_data(y, &call.y));
    LIB_TRY(check_data(call.shape, call.x, call.y));
    const auto needed =
        static_cast<size_t>(RnnWeights(call.shape).count() * type_bytes(call.shape.type));
    if (weight_bytes < needed)
      return invalid("%zu bytes of weights, %zu are needed", weight_bytes, needed);
    return CUDNN_STATUS_SUCCESS;
  }
  /// The records of the cells lie in the reserve space, or in the workspace of inference.
  cudnnStatus_t take_reserve(void* memory, size_t bytes, const char* name) {
    const auto needed = static_cast<size_t>(rnn_reserve_bytes(call.shape, call.x));
    if (memory == nullptr || bytes < needed) {
      return invalid("%zu bytes of %s, %zu are needed", bytes, name, needed);
    }
    if (reinterpret_cast<uintptr_t>(memory) % alignof(double) != 0) {
      return invalid("%s is not aligned", name);
    }
    call.reserve = memory;
    return CUDNN_STATUS_SUCCESS;
  }
};

cudnnStatus_t give_weight(cudnnTensorDescriptor_t descriptor, void** address, const RnnShape& s,
                          const RnnWeight& weight, const void* space) {
  const int64_t dims[] = {1, weight.rows, weight.columns};
  const Shape shape = weight.count() == 0 ? Shape{} : dense_shape(s.type, 3, dims);
  if (descriptor != nullptr) {
    LIB_TRY(Tensors::update(descriptor, [&](TensorValue& value) { value.shape = shape; }));
  }
  if (address == nullptr) return CUDNN_STATUS_SUCCESS;
  const char* const at = static_cast<const char*>(space) + weight.offset * type_bytes(s.type);
  return give(address,
              weight.count() == 0 ? nullptr : const_cast<void*>(static_cast<const void*>(at)));
}

cudnnStatus_t set_clip(cudnnRNNDescriptor_t descriptor, cudnnRNNClipMode_t mode,
                       cudnnNanPropagation_t nan, double least, double most) {
  if (mode != CUDNN_RNN_CLIP_NONE && mode != CUDNN_RNN_CLIP_MINMAX)
    return invalid("the mode %d", mode);
  if (mode == CUDNN_RNN_CLIP_MINMAX && !(least <= most))
    return invalid("the range %g to %g", least, most);
  return with_object<RnnObject>(descriptor, [&](RnnObject& object) {
    object.shape.clips = mode == CUDNN_RNN_CLIP_MINMAX;
    object.shape.least = least;
    object.shape.most = most;
    object.clip_nan = nan;
    return CUDNN_STATUS_SUCCESS;
  });
}
cudnnStatus_t get_clip(cudnnRNNDescriptor_t descriptor, cudnnRNNClipMode_t* mode,
                       cudnnNanPropagation_t* nan, double* least, double* most) {
  return with_object<RnnObject>(descriptor, [&](RnnObject& object) -> cudnnStatus_t {
    LIB_TRY(give_if_asked(mode, object.shape.clips ? CUDNN_RNN_CLIP_MINMAX : CUDNN_RNN_CLIP_NONE));
    LIB_TRY(give_if_asked(nan, object.clip_nan));
    LIB_TRY(give_if_asked(least, object.shape.least));
    return give_if_asked(most, object.shape.most);
  });
}

cudnnStatus_t set_data(cudnnRNNDataDescriptor_t descriptor, RnnData data, const int* lengths,
                       const void* fill) {
  std::vector<int> found(static_cast<size_t>(data.batch));
  LIB_TRY(take(lengths, found.size(), found.data(), "seqLengthArray"));
  for (const int each : found) {
    if (each < 0 || each > data.steps) return invalid("a sequence of %d steps", each);
    data.lengths.push_back(each);
  }
  const bool is_packed = data.layout == CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_PACKED;
  if (is_packed && !std::is_sorted(data.lengths.rbegin(), data.lengths.rend())) {
    return invalid("packed sequences that are not sorted by length");
  }
  if (fill != nullptr) {
    uint64_t room = 0;
    if (!library::read_host(&room, fill, static_cast<size_t>(type_bytes(data.type)))) {
      return invalid("paddingFill cannot be read at %p", fill);
    }
    data.fills_padding = true;
    data.padding = read_one(View(Shape{data.type, 0, {}, {}}, &room), 0);
  }
  return with_object<RnnDataObject>(descriptor, [&](RnnDataObject& object) {
    object.data = std::move(data);
    object.is_set = true;
    return CUDNN_STATUS_SUCCESS;
  });
}

}  // namespace

extern "C" {

cudnnStatus_t cudnnCreateRNNDescriptor(cudnnRNNDescriptor_t* rnnDesc) {
  return call([&] { return create_object<RnnObject>(rnnDesc, kRnnTag); });
}
cudnnStatus_t cudnnDestroyRNNDescriptor(cudnnRNNDescriptor_t rnnDesc) {
  return call([&] { return destroy_object<RnnObject>(rnnDesc); });
}
cudnnStatus_t cudnnSetRNNDescriptor_v8(cudnnRNNDescriptor_t rnnDesc, cudnnRNNAlgo_t algo,
                                       cudnnRNNMode_t cellMode, cudnnRNNBiasMode_t biasMode,
                                       cudnnDirectionMode_t dirMode, cudnnRNNInputMode_t inputMode,
                                       cudnnDataType_t dataType, cudnnDataType_t mathPrec,
                                       cudnnMathType_t mathType, int32_t inputSize,
                                       int32_t hiddenSize, int32_t projSize, int32_t numLayers,
                                       cudnnDropoutDescriptor_t dropoutDesc, uint32_t auxFlags) {
  return call([&]() -> cudnnStatus_t {
    RnnShape shape;
    shape.mode = cellMode;
    shape.bias = biasMode;
    shape.is_bidirectional = dirMode == CUDNN_BIDIRECTIONAL;
    shape.skips_input = inputMode == CUDNN_SKIP_INPUT;
    shape.type = dataType;
    shape.input = inputSize;
    shape.hidden = hiddenSize;
    shape.projection = projSize;
    shape.layers = numLayers;
    LIB_TRY(check_shape(shape, hiddenSize, numLayers));
    return with_object<RnnObject>(rnnDesc, [&](RnnObject& object) {
      shape.clips = object.shape.clips;
      shape.least = object.shape.least;
      shape.most = object.shape.most;
      object.shape = shape;
      object.is_set = true;
      object.algorithm = algo;
      object.input_mode = inputMode;
      object.math = mathPrec;
      object.math_type = mathType;
      object.dropout = dropoutDesc;
      object.flags = auxFlags;
      return CUDNN_STATUS_SUCCESS;
    });
  });
}
cudnnStatus_t cudnnGetRNNDescriptor_v8(cudnnRNNDescriptor_t rnnDesc, cudnnRNNAlgo_t* algo,
                                       cudnnRNNMode_t* cellMode, cudnnRNNBiasMode_t* biasMode,
                                       cudnnDirectionMode_t* dirMode,
                                       cudnnRNNInputMode_t* inputMode, cudnnDataType_t* dataType,
                                       cudnnDataType_t* mathPrec, cudnnMathType_t* mathType,
                                       int32_t* inputSize, int32_t* hiddenSize, int32_t* projSize,
                                       int32_t* numLayers, cudnnDropoutDescriptor_t* dropoutDesc,
                                       uint32_t* auxFlags) {
  return call([&] {
    return with_object<RnnObject>(rnnDesc, [&](RnnObject& object) -> cudnnStatus_t {
      const RnnShape& s = object.shape;
      LIB_TRY(give_if_asked(algo, object.algorithm));
      LIB_TRY(give_if_asked(cellMode, s.mode));
      LIB_TRY(give_if_asked(biasMode, s.bias));
      LIB_TRY(
          give_if_asked(dirMode, s.is_bidirectional ? CUDNN_BIDIRECTIONAL : CUDNN_UNIDIRECTIONAL));
      LIB_TRY(give_if_asked(inputMode, object.input_mode));
      LIB_TRY(give_if_asked(dataType, s.type));
      LIB_TRY(give_if_asked(mathPrec, object.math));
      LIB_TRY(give_if_asked(mathType, object.math_type));
      LIB_TRY(give_if_asked(inputSize, static_cast<int32_t>(s.input)));
      LIB_TRY(give_if_asked(hiddenSize, static_cast<int32_t>(s.hidden)));
      LIB_TRY(give_if_asked(projSize, static_cast<int32_t>(s.projection)));
      LIB_TRY(give_if_asked(numLayers, static_cast<int32_t>(s.layers)));
      LIB_TRY(give_if_asked(dropoutDesc, object.dropout));
      return give_if_asked(auxFlags, object.flags);
    });
  });
}
cudnnStatus_t cudnnRNNSetClip_v8(cudnnRNNDescriptor_t rnnDesc, cudnnRNNClipMode_t clipMode,
                                 cudnnNanPropagation_t clipNanOpt, double lclip, double rclip) {
  return call([&] { return set_clip(rnnDesc, clipMode, clipNanOpt, lclip, rclip); });
}
cudnnStatus_t cudnnRNNSetClip_v9(cudnnRNNDescriptor_t rnnDesc, cudnnRNNClipMode_t clipMode,
                                 double lclip, double rclip) {
  return call([&] { return set_clip(rnnDesc, clipMode, CUDNN_NOT_PROPAGATE_NAN, lclip, rclip); });
}
cudnnStatus_t cudnnRNNGetClip_v8(cudnnRNNDescriptor_t rnnDesc, cudnnRNNClipMode_t* clipMode,
                                 cudnnNanPropagation_t* clipNanOpt, double* lclip, double* rclip) {
  return call([&] { return get_clip(rnnDesc, clipMode, clipNanOpt, lclip, rclip); });
}
cudnnStatus_t cudnnRNNGetClip_v9(cudnnRNNDescriptor_t rnnDesc, cudnnRNNClipMode_t* clipMode,
                                 double* lclip, double* rclip) {
  return call([&] { return get_clip(rnnDesc, clipMode, nullptr, lclip, rclip); });
}

cudnnStatus_t cudnnCreateRNNDataDescriptor(cudnnRNNDataDescriptor_t* rnnDataDesc) {
  return call([&] { return create_object<RnnDataObject>(rnnDataDesc, kRnnDataTag); });
}
cudnnStatus_t cudnnDestroyRNNDataDescriptor(cudnnRNNDataDescriptor_t rnnDataDesc) {
  return call([&] { return destroy_object<RnnDataObject>(rnnDataDesc); });
}
cudnnStatus_t cudnnSetRNNDataDescriptor(cudnnRNNDataDescriptor_t rnnDataDesc,
                                        cudnnDataType_t dataType, cudnnRNNDataLayout_t layout,
                                        int maxSeqLength, int batchSize, int vectorSize,
                                        const int* seqLengthArray, void* paddingFill) {
  return call([&]() -> cudnnStatus_t {
    if (layout < CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_UNPACKED ||
        layout > CUDNN_RNN_DATA_LAYOUT_BATCH_MAJOR_UNPACKED) {
      return invalid("the layout %d", layout);
    }
    if (maxSeqLength < 1 || batchSize < 1 || vectorSize < 1) {
      return invalid("%d steps of %d vectors of %d elements", maxSeqLength, batchSize, vectorSize);
    }
    if (type_bits(dataType) < 16) return unsupported("data type %d", dataType);
    RnnData data;
    data.type = dataType;
    data.layout = layout;
    data.steps = maxSeqLength;
    data.batch = batchSize;
    data.width = vectorSize;
    return set_data(rnnDataDesc, std::move(data), seqLengthArray, paddingFill);
  });
}
cudnnStatus_t cudnnGetRNNDataDescriptor(cudnnRNNDataDescriptor_t rnnDataDesc,
                                        cudnnDataType_t* dataType, cudnnRNNDataLayout_t* layout,
                                        int* maxSeqLength, int* batchSize, int* vectorSize,
                                        int arrayLengthRequested, int* seqLengthArray,
                                        void* paddingFill) {
  return call([&]() -> cudnnStatus_t {
    RnnData data;
    LIB_TRY(get_data(rnnDataDesc, &data));
    LIB_TRY(give(dataType, data.type));
    LIB_TRY(give(layout, data.layout));
    LIB_TRY(give(maxSeqLength, static_cast<int>(data.steps)));
    LIB_TRY(give(batchSize, static_cast<int>(data.batch)));
    LIB_TRY(give(vectorSize, static_cast<int>(data.width)));
    const auto count = static_cast<size_t>(
        std::clamp<int64_t>(arrayLengthRequested, 0, static_cast<int64_t>(data.lengths.size())));
    const std::vector<int> lengths(data.lengths.begin(), data.lengths.end());
    if (count > 0) LIB_TRY(give_array(seqLengthArray, lengths.data(), count));
    if (paddingFill == nullptr || !data.fills_padding) return CUDNN_STATUS_SUCCESS;
    uint64_t room = 0;
    write_one(View(Shape{data.type, 0, {}, {}}, &room), 0, data.padding);
    return give_array(static_cast<char*>(paddingFill), reinterpret_cast<const char*>(&room),
                      static_cast<size_t>(type_bytes(data.type)));
  });
}

cudnnStatus_t cudnnBuildRNNDynamic(cudnnHandle_t handle, cudnnRNNDescriptor_t rnnDesc, int) {
  return call(handle, [&](Handle&) -> cudnnStatus_t {
    RnnShape shape;
    return get_shape(rnnDesc, &shape, nullptr);
  });
}
cudnnStatus_t cudnnGetRNNTempSpaceSizes(cudnnHandle_t handle, cudnnRNNDescriptor_t rnnDesc,
                                        cudnnForwardMode_t fwdMode, cudnnRNNDataDescriptor_t xDesc,
                                        size_t* workSpaceSize, size_t* reserveSpaceSize) {
  return call(handle, [&](Handle&) -> cudnnStatus_t {
    RnnShape shape;
    RnnData x;
    LIB_TRY(get_shape(rnnDesc, &shape, nullptr));
    LIB_TRY(get_data(xDesc, &x));
    const auto bytes = static_cast<size_t>(rnn_reserve_bytes(shape, x));
    const bool is_training = fwdMode == CUDNN_FWD_MODE_TRAINING;
    LIB_TRY(give_if_asked(workSpaceSize, is_training ? size_t{8} : bytes));
    return give_if_asked(reserveSpaceSize, is_training ? bytes : size_t{0});
  });
}
cudnnStatus_t cudnnGetRNNWeightSpaceSize(cudnnHandle_t handle, cudnnRNNDescriptor_t rnnDesc,
                                         size_t* weightSpaceSize) {
  return call(handle, [&](Handle&) -> cudnnStatus_t {
    RnnShape shape;
    LIB_TRY(get_shape(rnnDesc, &shape, nullptr));
    const RnnWeights weights(shape);
    return give(weightSpaceSize, static_cast<size_t>(weights.count() * type_bytes(shape.type)));
  });
}
cudnnStatus_t cudnnGetRNNWeightParams(cudnnHandle_t handle, cudnnRNNDescriptor_t rnnDesc,
                                      int32_t pseudoLayer, size_t weightSpaceSize,
                                      const void* weightSpace, int32_t linLayerID,
                                      cudnnTensorDescriptor_t mDesc, void** mAddr,
                                      cudnnTensorDescriptor_t bDesc, void** bAddr) {
  return call(handle, [&](Handle&) -> cudnnStatus_t {
    RnnShape shape;
    LIB_TRY(get_shape(rnnDesc, &shape, nullptr));
    const RnnWeights weights(shape);
    const int64_t most = 2 * shape.gates() + (shape.mode == CUDNN_LSTM ? 1 : 0);
    if (pseudoLayer < 0 || pseudoLayer >= shape.layers * shape.directions() || linLayerID < 0 ||
        linLayerID >= most) {
      return invalid("matrix %d of layer %d", linLayerID, pseudoLayer);
    }
    const auto needed = static_cast<size_t>(weights.count() * type_bytes(shape.type));
    if (weightSpaceSize < needed) return invalid("%zu bytes of weights", weightSpaceSize);
    LIB_TRY(give_weight(mDesc, mAddr, shape, weights.matrix(pseudoLayer, linLayerID), weightSpace));
    return give_weight(bDesc, bAddr, shape, weights.bias(pseudoLayer, linLayerID), weightSpace);
  });
}

cudnnStatus_t cudnnRNNForward(cudnnHandle_t handle, cudnnRNNDescriptor_t rnnDesc,
                              cudnnForwardMode_t fwdMode, const int32_t*,
                              cudnnRNNDataDescriptor_t xDesc, const void* x,
                              cudnnRNNDataDescriptor_t yDesc, void* y, cudnnTensorDescriptor_t,
                              const void* hx, void* hy, cudnnTensorDescriptor_t, const void* cx,
                              void* cy, size_t weightSpaceSize, const void* weightSpace,
                              size_t workSpaceSize, void* workSpace, size_t reserveSpaceSize,
                              void* reserveSpace) {
  return call(handle, [&](Handle& h) -> cudnnStatus_t {
    Operands operands;
    LIB_TRY(operands.take(rnnDesc, xDesc, yDesc, weightSpaceSize));
    for (const void* each : {x, static_cast<const void*>(y), weightSpace}) {
      if (each == nullptr) return invalid("an address is null");
    }
    RnnCall& c = operands.call;
    c.is_training = fwdMode == CUDNN_FWD_MODE_TRAINING;
    LIB_TRY(c.is_training ? operands.take_reserve(reserveSpace, reserveSpaceSize, "reserve space")
                          : operands.take_reserve(workSpace, workSpaceSize, "workspace"));
    c.x_data = x;
    c.y_data = y;
    c.weights = weightSpace;
    c.hx = hx;
    c.hy = hy;
    c.cx = c.shape.mode == CUDNN_LSTM ? cx : nullptr;
    c.cy = c.shape.mode == CUDNN_LSTM ? cy : nullptr;
    return rnn_forward(h.stream, c);
  });
}

cudnnStatus_t cudnnRNNBackwardData_v8(cudnnHandle_t handle, cudnnRNNDescriptor_t rnnDesc,
                                      const int32_t*, cudnnRNNDataDescriptor_t yDesc, const void* y,
                                      const void* dy, cudnnRNNDataDescriptor_t xDesc, void* dx,
                                      cudnnTensorDescriptor_t, const void* hx, const void* dhy,
                                      void* dhx, cudnnTensorDescriptor_t, const void* cx,
                                      const void* dcy, void* dcx, size_t weightSpaceSize,
                                      const void* weightSpace, size_t, void*,
                                      size_t reserveSpaceSize, void* reserveSpace) {
  return call(handle, [&](Handle& h) -> cudnnStatus_t {
    Operands operands;
    LIB_TRY(operands.take(rnnDesc, xDesc, yDesc, weightSpaceSize));
    for (const void* each : {y, dy, static_cast<const void*>(dx), weightSpace}) {
      if (each == nullptr) return invalid("an address is null");
    }
    LIB_TRY(operands.take_reserve(reserveSpace, reserveSpaceSize, "reserve space"));
    RnnCall& c = operands.call;
    c.is_training = true;
    c.dy = dy;
    c.dx = dx;
    c.weights = weightSpace;
    c.hx = hx;
    c.dhy = dhy;
    c.dhx = dhx;
    const bool is_lstm = c.shape.mode == CUDNN_LSTM;
    c.cx = is_lstm ? cx : nullptr;
    c.dcy = is_lstm ? dcy : nullptr;
    c.dcx = is_lstm ? dcx : nullptr;
    return rnn_backward_data(h.stream, c);
  });
}

cudnnStatus_t cudnnRNNBackwardWeights_v8(cudnnHandle_t handle, cudnnRNNDescriptor_t rnnDesc,
                                         cudnnWgradMode_t addGrad, const int32_t*,
                                         cudnnRNNDataDescriptor_t xDesc, const void* x,
                                         cudnnTensorDescriptor_t, const void* hx,
                                         cudnnRNNDataDescriptor_t yDesc, const void* y,
                                         size_t weightSpaceSize, void* dweightSpace, size_t, void*,
                                         size_t reserveSpaceSize, void* reserveSpace) {
  return call(handle, [&](Handle& h) -> cudnnStatus_t {
    Operands operands;
    LIB_TRY(operands.take(rnnDesc, xDesc, yDesc, weightSpaceSize));
    for (const void* each : {x, y, static_cast<const void*>(dweightSpace)}) {
      if (each == nullptr) return invalid("an address is null");
    }
    if (addGrad != CUDNN_WGRAD_MODE_ADD && addGrad != CUDNN_WGRAD_MODE_SET) {
      return invalid("the mode %d", addGrad);
    }
    LIB_TRY(operands.take_reserve(reserveSpace, reserveSpaceSize, "reserve space"));
    RnnCall& c = operands.call;
    c.is_training = true;
    c.x_data = x;
    c.y_data = const_cast<void*>(y);
    c.hx = hx;
    c.dweights = dweightSpace;
    c.adds = addGrad == CUDNN_WGRAD_MODE_ADD;
    return rnn_backward_weights(h.stream, c);
  });
}

}  // extern "C"
}  // namespace km::cudnn
