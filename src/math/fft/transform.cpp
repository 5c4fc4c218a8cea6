#include "math/fft/transform.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "math/fft/passes.h"

namespace km::fft {
namespace {

// Transforms of so few bytes run on one thread, in one piece.
constexpr uint64_t kLeastSharedBytes = 64 << 10;
// Batches of transforms of up to so many bytes are cut into whole transforms.
constexpr uint64_t kMostCachedBytes = 512 << 10;
// Lines from this length are shared by threads if there are too few of them.
constexpr uint64_t kLeastSharedLine = 1 << 13;
// Pieces for each thread, so that none waits long for the slowest.
constexpr uint64_t kPiecesEach = 4;

/// One stage: lines, or a step of long lines.
struct Stage {
  int pass = 0;
  bool is_step = false;
  Step step = Step::kBegin;
  uint64_t pieces = 1;
};

/// All transforms of T.
template <class T>
class TransformOf final : public Transform {
 public:
  TransformOf(const TransformShape& shape, uint32_t threads);
  void prepare() const override { places_.prepare(); }
  std::shared_ptr<const Execution> bind(const Binding& binding) const override;
  uint64_t memory_bytes() const override { return shared_bytes_ + places_.temporary_bytes(); }

  void add_stages(const std::vector<LineJob<T>>& jobs, std::vector<Stage>* stages) const;
  bool is_whole() const { return bytes_ < kLeastSharedBytes; }
  uint64_t batch_pieces() const { return batch_pieces_; }
  uint64_t batch_count() const { return batch_count_; }

 private:
  bool is_shared(const LineJob<T>& job) const {
    return threads_ > 1 && job.lines < threads_ && job.plan->n >= kLeastSharedLine &&
           line_code<T>().is_long(job);
  }

  const uint32_t threads_;
  Places<T> places_;
  uint64_t bytes_ = 0, batch_count_ = 1, batch_pieces_ = 0;
  uint64_t shared_bytes_ = 0;  // of steps of long lines
  std::shared_ptr<MemoryPool> pool_ = std::make_shared<MemoryPool>();
};

template <class T>
class ExecutionOf final : public Execution {
 public:
  std::vector<LineJob<T>> jobs;
  std::vector<Stage> stage_list;
  std::shared_ptr<char> memory;  // of the pool
  char* shared = nullptr;        // for steps of long lines
  bool is_whole = false;         // one piece runs all stages
  uint64_t batch_pieces = 0;     // pieces of whole transforms; 0: stages one by one
  uint64_t batch_count = 1;

  int stages() const override {
    return is_whole || batch_pieces != 0 ? 1 : static_cast<int>(stage_list.size());
  }
  uint64_t pieces(int stage) const override {
    if (is_whole) return 1;
    return batch_pieces != 0 ? batch_pieces : stage_list[stage].pieces;
  }
  uint64_t estimated_ns(int stage) const override;
  void prepare_thread(int stage) const override;
  void run(int stage, uint64_t piece) const override;

 private:
  void run_lines(const LineJob<T>& job, uint64_t part, uint64_t parts, uint64_t units) const;
};

template <class T>
uint64_t ns_of(const LineJob<T>& job) {
  return job.lines * job.n * std::bit_width(job.n) / 8;
}

template <class T>
uint64_t ExecutionOf<T>::estimated_ns(int stage) const {
  if (!is_whole && batch_pieces == 0) return ns_of(jobs[stage_list[stage].pass]);
  uint64_t total = 0;
  for (const LineJob<T>& job : jobs) total += ns_of(job);
  return total;
}

/// Runs one of `parts` equal parts of the lines, which lie in `units` that are not cut.
template <class T>
void ExecutionOf<T>::run_lines(const LineJob<T>& job, uint64_t part, uint64_t parts,
                               uint64_t units) const {
  const LineCode<T>& code = line_code<T>();
  const uint64_t unit = (job.lines + units - 1) / units;
  const uint64_t first = std::min(job.lines, unit * (units * part / parts));
  const uint64_t last = std::min(job.lines, unit * (units * (part + 1) / parts));
  if (first == last) return;
  code.run(job, first, last - first, thread_memory(code.scratch_bytes(job)));
}

template <class T>
void ExecutionOf<T>::prepare_thread(int stage) const {
  const LineCode<T>& code = line_code<T>();
  uint64_t bytes = 0;
  if (is_whole || batch_pieces != 0) {
    for (const LineJob<T>& job : jobs) bytes = std::max(bytes, code.scratch_bytes(job));
  } else {
    const Stage& own = stage_list[stage];
    const LineJob<T>& job = jobs[own.pass];
    bytes = own.is_step ? code.step_scratch_bytes(job) : code.scratch_bytes(job);
  }
  thread_memory(bytes);
}

template <class T>
void ExecutionOf<T>::run(int stage, uint64_t piece) const {
  if (is_whole || batch_pieces != 0) {
    for (const LineJob<T>& job : jobs) {
      run_lines(job, piece, is_whole ? 1 : batch_pieces, is_whole ? 1 : batch_count);
    }
    return;
  }
  const Stage& own = stage_list[stage];
  const LineJob<T>& job = jobs[own.pass];
  const LineCode<T>& code = line_code<T>();
  if (!own.is_step) {
    const uint64_t unit = code.is_long(job) ? 1 : code.lanes;
    return run_lines(job, piece, own.pieces, (job.lines + unit - 1) / unit);
  }
  const uint64_t line = piece % job.lines;
  code.run_step(job, line, own.step, piece / job.lines, own.pieces / job.lines,
                shared + line * code.shared_bytes(job),
                thread_memory(code.step_scratch_bytes(job)));
}

template <class T>
TransformOf<T>::TransformOf(const TransformShape& shape, uint32_t threads)
    : threads_(threads), places_(shape) {
  shape_ = shape;
  uint64_t numbers = 1;
  for (const Axis& axis : shape.axes) numbers *= axis.n;
  for (const Axis& axis : shape.batch) batch_count_ *= axis.n;
  bytes_ = numbers * batch_count_ * sizeof(Complex<T>);
  places_.make_plans(line_code<T>().lanes);
  const std::vector<LineJob<T>> jobs = places_.bind(Binding(), nullptr);
  for (const LineJob<T>& job : jobs) {
    if (!is_whole() && is_shared(job)) {
      shared_bytes_ = std::max(shared_bytes_, line_code<T>().shared_bytes(job) * job.lines);
    }
  }
  const bool is_cached = numbers * sizeof(Complex<T>) <= kMostCachedBytes;
  if (!is_whole() && is_cached && jobs.size() > 1 && batch_count_ >= threads) {
    batch_pieces_ = std::min<uint64_t>(batch_count_, kPiecesEach * threads);
  }
}

template <class T>
void TransformOf<T>::add_stages(const std::vector<LineJob<T>>& jobs,
                                std::vector<Stage>* stages) const {
  const LineCode<T>& code = line_code<T>();
  for (size_t i = 0; i < jobs.size(); ++i) {
    const LineJob<T>& job = jobs[i];
    const int pass = static_cast<int>(i);
    if (!is_shared(job)) {
      const uint64_t units = code.is_long(job) ? job.lines : (job.lines - 1) / code.lanes + 1;
      stages->push_back({pass, false, Step::kBegin, std::min(units, kPiecesEach * threads_)});
      continue;
    }
    for (int k = 0; k < kSteps; ++k) {
      const auto step = static_cast<Step>(k);
      if (code.has_step(job, step)) stages->push_back({pass, true, step, job.lines * threads_});
    }
  }
}

template <class T>
std::shared_ptr<const Execution> TransformOf<T>::bind(const Binding& binding) const {
  prepare();
  auto made = std::make_shared<ExecutionOf<T>>();
  const uint64_t bytes = shared_bytes_ + places_.temporary_bytes(binding);
  char* memory = binding.work_area;
  if (bytes > (memory != nullptr ? memory_bytes() : 0)) {
    made->memory = pool_->take(bytes);
    memory = made->memory.get();
  }
  made->shared = memory;
  made->jobs = places_.bind(binding, memory + shared_bytes_);
  made->is_whole = is_whole();
  made->batch_pieces = batch_pieces_;
  made->batch_count = batch_count_;
  if (!is_whole() && batch_pieces_ == 0) add_stages(made->jobs, &made->stage_list);
  return made;
}

bool find_extent(const TransformShape& shape, bool is_input, Extent* out) {
  constexpr __int128 kMost = __int128{1} << 62;
  __int128 low = 0, high = 0;
  const uint64_t number_bytes = is_input ? shape.in_bytes() : shape.out_bytes();
  const bool is_half =
      shape.kind != TransformKind::kComplex && is_input == shape.is_real_out();  // the complex side
  const auto add = [&](const Axis& axis, bool is_halved) {
    const uint64_t n = is_halved ? axis.n / 2 + 1 : axis.n;
    if (n > uint64_t{1} << 62) return false;
    const __int128 distance = static_cast<__int128>(n - 1) * (is_input ? axis.in : axis.out);
    if (distance > kMost || distance < -kMost) return false;
    (distance < 0 ? low : high) += distance;
    return true;
  };
  for (const Axis& axis : shape.batch) {
    if (!add(axis, false)) return false;
  }
  for (size_t i = 0; i < shape.axes.size(); ++i) {
    if (!add(shape.axes[i], is_half && i + 1 == shape.axes.size())) return false;
  }
  if ((high - low + 1) * number_bytes > kMost) return false;
  *out = {static_cast<uint64_t>(-low) * number_bytes,
          static_cast<uint64_t>(high + 1) * number_bytes};
  return true;
}

/// The numbers of all dimensions are as many as a computer can hold.
bool is_countable(const TransformShape& shape) {
  uint64_t count = 64;
  for (const std::vector<Axis>* axes : {&shape.axes, &shape.batch}) {
    for (const Axis& axis : *axes) {
      if (__builtin_mul_overflow(count, axis.n, &count)) return false;
    }
  }
  return count < uint64_t{1} << 60;
}

}  // namespace

void Transform::prepare_unless_long() const {
  constexpr double kMostNumbers = 1 << 24;
  double numbers = 1;
  for (const Axis& axis : shape_.axes) numbers *= static_cast<double>(axis.n);
  if (numbers <= kMostNumbers) prepare();
}

bool find_extents(const TransformShape& shape, Extent* in, Extent* out) {
  return is_countable(shape) && find_extent(shape, true, in) && find_extent(shape, false, out);
}

std::shared_ptr<const Transform> make_transform(const TransformShape& shape, uint32_t threads) {
  if (shape.is_double) return std::make_shared<TransformOf<double>>(shape, threads);
  return std::make_shared<TransformOf<float>>(shape, threads);
}

void run_here(const Execution& execution) {
  for (int stage = 0; stage < execution.stages(); ++stage) {
    for (uint64_t piece = 0; piece < execution.pieces(stage); ++piece) execution.run(stage, piece);
  }
}

}  // namespace km::fft
