#include "dropin/cudnn/engine/onednn/onednn_convolution.h"

#include <cstring>
#include <string>
#include <unordered_map>

#include "dropin/cudnn/engine/onednn/onednn.h"

namespace km::cudnn {
namespace {

using onednn::Argument;
using onednn::Functions;
using onednn::Library;

/// One tensor of a primitive: the program's memory, and memory in the layout that the primitive
/// works with, if that differs.
struct Operand {
  int number = 0;  // of the primitive's argument
  bool is_written = false, is_read = true;
  onednn::MemoryDescriptor* given = nullptr;
  onednn::Memory* outer = nullptr;
  onednn::Memory* inner = nullptr;  // null: `outer` is used
  onednn::Primitive* to_inner = nullptr;
  onednn::Primitive* to_outer = nullptr;
};

/// A convolution that is ready to run, in this process's cache.
class Prepared {
 public:
  explicit Prepared(const Library& library) : library_(library), f_(library.functions()) {}
  ~Prepared();
  Prepared(const Prepared&) = delete;
  Prepared& operator=(const Prepared&) = delete;

  bool init(Direction direction, const ConvolutionSettings& settings, const Shape& x,
            const Shape& w, const Shape& y, double alpha, double beta);
  /// Runs it on all threads.
  bool run(void* x, void* w, void* y) const;

 private:
  struct Problem;
  bool make_attributes(double alpha, double beta, onednn::Attributes** out) const;
  bool make_primitive(Direction direction, const Problem& problem, bool any_layout, double alpha,
                      double beta);
  bool make_forward(const Problem& problem, int prop, onednn::MemoryDescriptor* const* layouts,
                    const onednn::Attributes* attributes, onednn::PrimitiveDescriptor** out) const;
  bool add_operand(size_t index, int number, int query, bool is_written, bool is_read);
  bool make_reorder(const onednn::MemoryDescriptor* from, const onednn::MemoryDescriptor* to,
                    onednn::Primitive** out) const;

  const Library& library_;
  const Functions& f_;
  onednn::PrimitiveDescriptor* descriptor_ = nullptr;
  onednn::Primitive* primitive_ = nullptr;
  Operand operands_[3];  // x, w, y
};

/// The numbers of a convolution as oneDNN takes them.
struct Prepared::Problem {
  Problem(const ConvolutionSettings& s, const Shape& x, const Shape& w, const Shape& y);
  int rank, weight_rank, type;
  onednn::Dims dims[3], strides[3];  // x, w, y
  onednn::Dims steps, dilates, left, right;
};

int type_of(cudnnDataType_t type) {
  return type == CUDNN_DATA_BFLOAT16 ? onednn::kBfloat : onednn::kFloat;
}

Prepared::Problem::Problem(const ConvolutionSettings& s, const Shape& x, const Shape& w,
                           const Shape& y)
    : rank(x.rank), weight_rank(x.rank), type(type_of(x.type)) {
  const auto copy = [](const Shape& shape, int64_t* to_dims, int64_t* to_strides) {
    std::copy_n(shape.dims.begin(), shape.rank, to_dims);
    std::copy_n(shape.strides.begin(), shape.rank, to_strides);
  };
  copy(x, dims[0], strides[0]);
  copy(y, dims[2], strides[2]);
  const int64_t groups = x.dims[1] / w.dims[1];
  if (groups == 1) {
    copy(w, dims[1], strides[1]);
  } else {
    weight_rank = rank + 1;
    copy(w, dims[1] + 1, strides[1] + 1);
    dims[1][0] = groups;
    dims[1][1] = w.dims[0] / groups;
    strides[1][0] = w.strides[0] * dims[1][1];
  }
  for (int i = 0; i < s.spatial; ++i) {
    const auto at = static_cast<size_t>(i);
    steps[i] = s.steps[at];
    dilates[i] = s.dilations[at] - 1;
    left[i] = s.pads[at];
    right[i] = (y.dims[at + 2] - 1) * s.steps[at] + (w.dims[at + 2] - 1) * s.dilations[at] + 1 -
               x.dims[at + 2] - s.pads[at];
  }
}

Prepared::~Prepared() {
  for (Operand& each : operands_) {
    if (each.to_inner != nullptr) f_.primitive_destroy(each.to_inner);
    if (each.to_outer != nullptr) f_.primitive_destroy(each.to_outer);
    if (each.inner != nullptr) f_.memory_destroy(each.inner);
    if (each.outer != nullptr) f_.memory_destroy(each.outer);
    if (each.given != nullptr) f_.memory_desc_destroy(each.given);
  }
  if (primitive_ != nullptr) f_.primitive_destroy(primitive_);
  if (descriptor_ != nullptr) f_.primitive_desc_destroy(descriptor_);
}

bool Prepared::make_attributes(double alpha, double beta, onednn::Attributes** out) const {
  *out = nullptr;
  if (alpha == 1 && beta == 0) return true;
  onednn::PostOperations* steps = nullptr;
  if (f_.primitive_attr_create(out) != 0 || f_.post_ops_create(&steps) != 0) return false;
  bool is_made = true;
  if (alpha != 1) {
    is_made = f_.post_ops_append_eltwise(steps, onednn::kLinear, static_cast<float>(alpha), 0) == 0;
  }
  if (beta != 0) {
    is_made = is_made && f_.post_ops_append_sum(steps, static_cast<float>(beta), 0, 0) == 0;
  }
  is_made = is_made && f_.primitive_attr_set_post_ops(*out, steps) == 0;
  f_.post_ops_destroy(steps);
  return is_made;
}

bool Prepared::make_forward(const Problem& p, int prop, onednn::MemoryDescriptor* const* layouts,
                            const onednn::Attributes* attributes,
                            onednn::PrimitiveDescriptor** out) const {
  return f_.convolution_forward_primitive_desc_create(
             out, library_.engine(), prop, onednn::kDirectConvolution, layouts[0], layouts[1],
             nullptr, layouts[2], p.steps, p.dilates, p.left, p.right, attributes) == 0;
}

bool Prepared::make_primitive(Direction direction, const Problem& p, bool any_layout, double alpha,
                              double beta) {
  onednn::MemoryDescriptor* layouts[3] = {};
  onednn::Attributes* attributes = nullptr;
  onednn::PrimitiveDescriptor* hint = nullptr;
  bool is_made = make_attributes(alpha, beta, &attributes);
  for (int i = 0; i < 3; ++i) {
    const int rank = i == 1 ? p.weight_rank : p.rank;
    is_made = is_made &&
              (any_layout || i == 1 ? f_.memory_desc_create_with_tag(&layouts[i], rank, p.dims[i],
                                                                     p.type, onednn::kAnyTag)
                                    : f_.memory_desc_create_with_strides(
                                          &layouts[i], rank, p.dims[i], p.type, p.strides[i])) == 0;
  }
  if (direction == Direction::kForward) {
    is_made =
        is_made && make_forward(p, onednn::kForwardInference, layouts, attributes, &descriptor_);
  } else {
    is_made = is_made && make_forward(p, onednn::kForwardTraining, layouts, nullptr, &hint);
  }
  if (direction == Direction::kBackwardData) {
    is_made = is_made &&
              f_.convolution_backward_data_primitive_desc_create(
                  &descriptor_, library_.engine(), onednn::kDirectConvolution, layouts[0],
                  layouts[1], layouts[2], p.steps, p.dilates, p.left, p.right, hint, nullptr) == 0;
  } else if (direction == Direction::kBackwardFilter) {
    is_made = is_made && f_.convolution_backward_weights_primitive_desc_create(
                             &descriptor_, library_.engine(), onednn::kDirectConvolution,
                             layouts[0], layouts[1], nullptr, layouts[2], p.steps, p.dilates,
                             p.left, p.right, hint, nullptr) == 0;
  }
  is_made = is_made && f_.primitive_create(&primitive_, descriptor_) == 0;
  for (onednn::MemoryDescriptor* each : layouts) {
    if (each != nullptr) f_.memory_desc_destroy(each);
  }
  if (hint != nullptr) f_.primitive_desc_destroy(hint);
  if (attributes != nullptr) f_.primitive_attr_destroy(attributes);
  return is_made;
}

bool Prepared::make_reorder(const onednn::MemoryDescriptor* from,
                            const onednn::MemoryDescriptor* to, onednn::Primitive** out) const {
  onednn::PrimitiveDescriptor* descriptor = nullptr;
  if (f_.reorder_primitive_desc_create(&descriptor, from, library_.engine(), to, library_.engine(),
                                       nullptr) != 0) {
    return false;
  }
  const bool is_made = f_.primitive_create(out, descriptor) == 0;
  f_.primitive_desc_destroy(descriptor);
  return is_made;
}

bool Prepared::add_operand(size_t index, int number, int query, bool is_written, bool is_read) {
  static void* const kAllocate = reinterpret_cast<void*>(~uintptr_t{0});  // DNNL_MEMORY_ALLOCATE
  Operand& operand = operands_[index];
  operand.number = number;
  operand.is_written = is_written;
  operand.is_read = is_read;
  const onednn::MemoryDescriptor* const wanted = f_.primitive_desc_query_md(descriptor_, query, 0);
  if (wanted == nullptr ||
      f_.memory_create(&operand.outer, operand.given, library_.engine(), nullptr) != 0) {
    return false;
  }
  if (f_.memory_desc_equal(wanted, operand.given) != 0) return true;
  if (f_.memory_create(&operand.inner, wanted, library_.engine(), kAllocate) != 0) return false;
  return (!is_read || make_reorder(operand.given, wanted, &operand.to_inner)) &&
         (!is_written || make_reorder(wanted, operand.given, &operand.to_outer));
}

bool Prepared::init(Direction direction, const ConvolutionSettings& settings, const Shape& x,
                    const Shape& w, const Shape& y, double alpha, double beta) {
  const Problem problem(settings, x, w, y);
  for (int i = 0; i < 3; ++i) {
    const int rank = i == 1 ? problem.weight_rank : problem.rank;
    if (f_.memory_desc_create_with_strides(&operands_[i].given, rank, problem.dims[i], problem.type,
                                           problem.strides[i]) != 0) {
      return false;
    }
  }
  // Channels that lie together are what oneDNN works with; other layouts are its own choice.
  const bool any_layout = x.strides[1] != 1 || y.strides[1] != 1;
  if (!make_primitive(direction, problem, any_layout, alpha, beta)) return false;
  const bool sums = beta != 0;
  switch (direction) {
    case Direction::kForward:
      return add_operand(0, onednn::kArgumentSource, onednn::kQuerySource, false, true) &&
             add_operand(1, onednn::kArgumentWeights, onednn::kQueryWeights, false, true) &&
             add_operand(2, onednn::kArgumentDestination, onednn::kQueryDestination, true, sums);
    case Direction::kBackwardData:
      return add_operand(0, onednn::kArgumentDiffSource, onednn::kQueryDiffSource, true, false) &&
             add_operand(1, onednn::kArgumentWeights, onednn::kQueryWeights, false, true) &&
             add_operand(2, onednn::kArgumentDiffDestination, onednn::kQueryDiffDestination, false,
                         true);
    default:
      return add_operand(0, onednn::kArgumentSource, onednn::kQuerySource, false, true) &&
             add_operand(1, onednn::kArgumentDiffWeights, onednn::kQueryDiffWeights, true, false) &&
             add_operand(2, onednn::kArgumentDiffDestination, onednn::kQueryDiffDestination, false,
                         true);
  }
}

bool Prepared::run(void* x, void* w, void* y) const {
  const std::lock_guard lock(library_.running());
  library_.set_threads(static_cast<int>(library::worker_threads()));
  onednn::Stream* const stream = library_.stream();
  void* const addresses[] = {x, w, y};
  Argument arguments[3];
  bool is_right = true;
  const auto reorder = [&](onednn::Primitive* primitive, onednn::Memory* from, onednn::Memory* to) {
    const Argument pair[] = {{onednn::kArgumentSource, from}, {onednn::kArgumentDestination, to}};
    is_right = is_right && f_.primitive_execute(primitive, stream, 2, pair) == 0;
  };
  for (size_t i = 0; i < 3; ++i) {
    const Operand& each = operands_[i];
    is_right = is_right && f_.memory_set_data_handle(each.outer, addresses[i]) == 0;
    if (each.to_inner != nullptr) reorder(each.to_inner, each.outer, each.inner);
    arguments[i] = {each.number, each.inner != nullptr ? each.inner : each.outer};
  }
  is_right = is_right && f_.primitive_execute(primitive_, stream, 3, arguments) == 0;
  for (const Operand& each : operands_) {
    if (each.to_outer != nullptr) reorder(each.to_outer, each.inner, each.outer);
  }
  return f_.stream_wait(stream) == 0 && is_right;
}

/// The bytes of everything that a prepared convolution depends on.
template <class T>
void append(std::string* key, const T& value) {
  key->append(reinterpret_cast<const char*>(&value), sizeof value);
}
void append_shape(std::string* key, const Shape& shape) {
  append(key, shape.type);
  append(key, shape.rank);
  key->append(reinterpret_cast<const char*>(shape.dims.data()), sizeof shape.dims);
  key->append(reinterpret_cast<const char*>(shape.strides.data()), sizeof shape.strides);
}

constexpr size_t kMostPrepared = 64;

/// Null if oneDNN has no such convolution.
std::shared_ptr<const Prepared> prepared_for(const Library& library, Direction direction,
                                             const ConvolutionSettings& s, const Shape& x,
                                             const Shape& w, const Shape& y, double alpha,
                                             double beta) {
  static std::mutex& mutex = *std::make_unique<std::mutex>().release();
  static auto& cache =
      *std::make_unique<std::unordered_map<std::string, std::shared_ptr<const Prepared>>>()
           .release();
  std::string key;
  append(&key, direction);
  append(&key, s.spatial);
  for (const Extents* each : {&s.pads, &s.steps, &s.dilations}) append(&key, *each);
  for (const Shape* each : {&x, &w, &y}) append_shape(&key, *each);
  append(&key, alpha);
  append(&key, beta);
  const std::lock_guard lock(mutex);
  if (const auto found = cache.find(key); found != cache.end()) return found->second;
  auto made = std::make_shared<Prepared>(library);
  if (!made->init(direction, s, x, w, y, alpha, beta)) made = nullptr;
  if (cache.size() >= kMostPrepared) cache.clear();
  return cache[key] = std::move(made);
}

/// Elements of which two have one place are for the loops.
bool has_overlaps(const Shape& shape) {
  Extents order{};
  for (int i = 0; i < shape.rank; ++i) order[static_cast<size_t>(i)] = i;
  std::sort(order.begin(), order.begin() + shape.rank, [&](int64_t a, int64_t b) {
    return shape.strides[static_cast<size_t>(a)] < shape.strides[static_cast<size_t>(b)];
  });
  int64_t end = 1;
  for (int i = 0; i < shape.rank; ++i) {
    const auto d = static_cast<size_t>(order[static_cast<size_t>(i)]);
    if (shape.dims[d] == 1) continue;
    if (shape.strides[d] < end) return true;
    end += shape.strides[d] * (shape.dims[d] - 1);
  }
  return false;
}

bool suits(Direction direction, const ConvolutionSettings& s, const View& x, const View& w,
           const View& y, const Epilogue& e) {
  const bool has_type = x.type == CUDNN_DATA_FLOAT || x.type == CUDNN_DATA_BFLOAT16;
  if (!has_type || w.type != x.type || y.type != x.type || s.spatial > 3 || s.is_flipped) {
    return false;
  }
  if (e.z != nullptr || e.bias != nullptr || e.activation != nullptr) return false;
  if (direction != Direction::kForward && (e.alpha != 1 || e.beta != 0)) return false;
  return !has_overlaps(x) && !has_overlaps(w) && !has_overlaps(y);
}

}  // namespace

cudnnStatus_t convolve_by_onednn(cu::CUstream stream, Direction direction,
                                 const ConvolutionSettings& settings, const View& x, const View& w,
                                 const View& y, const Epilogue& epilogue, bool* is_done) {
  *is_done = false;
  if (!suits(direction, settings, x, w, y, epilogue)) return CUDNN_STATUS_SUCCESS;
  const Library* const library = Library::instance();
  if (library == nullptr) return CUDNN_STATUS_SUCCESS;
  const auto prepared =
      prepared_for(*library, direction, settings, x, w, y, epilogue.alpha, epilogue.beta);
  if (prepared == nullptr) return CUDNN_STATUS_SUCCESS;
  *is_done = true;
  const View& result = direction == Direction::kForward        ? y
                       : direction == Direction::kBackwardData ? x
                                                               : w;
  Arrays arrays;
  for (const View* each : {&x, &w, &y}) {
    each == &result ? arrays.writes("the result", *each) : arrays.reads("an operand", *each);
  }
  const double products = static_cast<double>(y.count()) * static_cast<double>(w.count()) /
                          static_cast<double>(w.dims[0]);
  const auto work = library::make_work(
      "cudnn convolution (oneDNN)", 1, static_cast<uint64_t>(products / 20),
      [prepared, x, w, y](uint64_t) -> cu::CUresult {
        if (prepared->run(x.data, w.data, y.data)) return cu::CUDA_SUCCESS;
        return library::fail_work(cu::CUDA_ERROR_LAUNCH_FAILED, "oneDNN has failed");
      });
  return queue_step(stream, work, arrays);
}

}  // namespace km::cudnn
