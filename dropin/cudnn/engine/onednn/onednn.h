// oneDNN 3, found at run time, by the functions of its C interface that the engine calls.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>

#include "base/result.h"

namespace km::cudnn::onednn {

/// oneDNN's handles.
struct Engine;
struct Stream;
struct MemoryDescriptor;
struct Memory;
struct PrimitiveDescriptor;
struct Primitive;
struct Attributes;
struct PostOperations;

constexpr int kMostDims = 12;  // DNNL_MAX_NDIMS
using Dims = int64_t[kMostDims];

/// Numbers of oneDNN's enumerations.
enum : int {
  kBfloat = 2,
  kFloat = 3,
  kAnyTag = 1,
  kForwardInference = 96,
  kForwardTraining = 64,
  kDirectConvolution = 1,
  kRelu = 0x20,
  kLinear = 0x26,
  kQuerySource = 129,
  kQueryDiffSource = 130,
  kQueryWeights = 131,
  kQueryDiffWeights = 132,
  kQueryDestination = 133,
  kQueryDiffDestination = 134,
  kArgumentSource = 1,
  kArgumentDestination = 17,
  kArgumentWeights = 33,
  kArgumentBias = 41,
  kArgumentDiffSource = 129,
  kArgumentDiffDestination = 145,
  kArgumentDiffWeights = 161,
};

/// dnnl_exec_arg_t.
struct Argument {
  int number;
  Memory* memory;
};

/// The functions; their results are 0 for success.
struct Functions {
  int (*engine_create)(Engine**, int kind, size_t index);
  int (*stream_create)(Stream**, Engine*, unsigned flags);
  int (*stream_wait)(Stream*);
  int (*memory_desc_create_with_strides)(MemoryDescriptor**, int ndims, const int64_t* dims,
                                         int type, const int64_t* strides);
  int (*memory_desc_create_with_tag)(MemoryDescriptor**, int ndims, const int64_t* dims, int type,
                                     int tag);
  int (*memory_desc_destroy)(MemoryDescriptor*);
  int (*memory_desc_equal)(const MemoryDescriptor*, const MemoryDescriptor*);
  int (*memory_create)(Memory**, const MemoryDescriptor*, Engine*, void* handle);
  int (*memory_set_data_handle)(Memory*, void* handle);
  int (*memory_destroy)(Memory*);
  int (*convolution_forward_primitive_desc_create)(
      PrimitiveDescriptor**, Engine*, int prop, int algorithm, const MemoryDescriptor* source,
      const MemoryDescriptor* weights, const MemoryDescriptor* bias,
      const MemoryDescriptor* destination, const int64_t* strides, const int64_t* dilates,
      const int64_t* padding_left, const int64_t* padding_right, const Attributes*);
  int (*convolution_backward_data_primitive_desc_create)(
      PrimitiveDescriptor**, Engine*, int algorithm, const MemoryDescriptor* diff_source,
      const MemoryDescriptor* weights, const MemoryDescriptor* diff_destination,
      const int64_t* strides, const int64_t* dilates, const int64_t* padding_left,
      const int64_t* padding_right, const PrimitiveDescriptor* hint, const Attributes*);
  int (*convolution_backward_weights_primitive_desc_create)(
      PrimitiveDescriptor**, Engine*, int algorithm, const MemoryDescriptor* source,
      const MemoryDescriptor* diff_weights, const MemoryDescriptor* diff_bias,
      const MemoryDescriptor* diff_destination, const int64_t* strides, const int64_t* dilates,
      const int64_t* padding_left, const int64_t* padding_right, const PrimitiveDescriptor* hint,
      const Attributes*);
  int (*reorder_primitive_desc_create)(PrimitiveDescriptor**, const MemoryDescriptor* from, Engine*,
                                       const MemoryDescriptor* to, Engine*, const Attributes*);
  const MemoryDescriptor* (*primitive_desc_query_md)(const PrimitiveDescriptor*, int what,
                                                     int index);
  int (*primitive_desc_destroy)(PrimitiveDescriptor*);
  int (*primitive_create)(Primitive**, const PrimitiveDescriptor*);
  int (*primitive_destroy)(Primitive*);
  int (*primitive_execute)(const Primitive*, Stream*, int count, const Argument*);
  int (*primitive_attr_create)(Attributes**);
  int (*primitive_attr_destroy)(Attributes*);
  int (*primitive_attr_set_post_ops)(Attributes*, const PostOperations*);
  int (*post_ops_create)(PostOperations**);
  int (*post_ops_destroy)(PostOperations*);
  int (*post_ops_append_eltwise)(PostOperations*, int algorithm, float alpha, float beta);
  int (*post_ops_append_sum)(PostOperations*, float scale, int32_t zero_point, int type);
};

/// The library of this process.
class Library {
 public:
  /// Null if there is none; the log says why.
  static const Library* instance();

  const Functions& functions() const { return functions_; }
  Engine* engine() const { return engine_; }
  Stream* stream() const { return stream_; }
  /// Held while primitives run: each call uses all threads, and primitives own their memory.
  std::mutex& running() const { return *running_; }
  /// Makes the calling thread's parallel regions use so many threads.
  void set_threads(int count) const {
    if (set_threads_ != nullptr) set_threads_(count);
  }

 private:
  static Result<Library> load(const std::string& path);

  Functions functions_{};
  Engine* engine_ = nullptr;
  Stream* stream_ = nullptr;
  void (*set_threads_)(int) = nullptr;
  std::shared_ptr<std::mutex> running_ = std::make_shared<std::mutex>();
};

}  // namespace km::cudnn::onednn
