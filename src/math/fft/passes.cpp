#include "math/fft/passes.h"

#include <algorithm>
#include <cstdlib>

namespace km::fft {

template <class T>
Places<T>::Places(const TransformShape& shape) : shape_(shape), dimensions_(shape.batch) {
  dimensions_.insert(dimensions_.end(), shape.axes.begin(), shape.axes.end());
  find_extents(shape, &in_extent_, &out_extent_);
  const size_t last = dimensions_.size() - 1, first = shape.batch.size();
  std::vector<size_t> order;
  for (size_t i = first; i < last; ++i) {
    if (dimensions_[i].n > 1) order.push_back(i);
  }
  if (shape.kind == TransformKind::kComplexToReal) {
    order.push_back(last);
  } else {
    std::reverse(order.begin(), order.end());
    if (dimensions_[last].n > 1 || order.empty() || !is_complex_kind()) {
      order.insert(order.begin(), last);
    }
  }
  for (const size_t dimension : order) passes_.push_back({dimension, {}});
  needs_temporary_ = passes_.size() > 1 &&
                     (shape.kind == TransformKind::kComplexToReal || !is_native(shape.out_storage));
}

/// The length of a dimension in an array of complex or of real numbers.
template <class T>
uint64_t Places<T>::extent(size_t dimension, bool is_complex) const {
  const uint64_t n = dimensions_[dimension].n;
  const bool is_halved = is_complex && !is_complex_kind() && dimension + 1 == dimensions_.size();
  return is_halved ? n / 2 + 1 : n;
}

template <class T>
void Places<T>::make_plans(uint64_t lanes) {
  for (Pass& pass : passes_) {
    LineJob<T>& job = pass.job;
    const bool is_last = pass.dimension + 1 == dimensions_.size();
    job.n = dimensions_[pass.dimension].n;
    if (is_last && shape_.is_real_in()) job.kind = LineKind::kRealToComplex;
    if (is_last && shape_.is_real_out()) job.kind = LineKind::kComplexToReal;
    if (!is_last && shape_.is_real_out()) job.kind = LineKind::kInverse;
    for (size_t i = 0; i < dimensions_.size(); ++i) {
      if (i == pass.dimension) continue;
      job.extents[job.outer_rank++] = extent(i, !is_last || is_complex_kind());
      job.lines *= job.extents[job.outer_rank - 1];
    }
    job.plan = make_line_plan<T>(job.plan_length(), job.lines < lanes);
    if (!job.is_packed()) continue;
    real_roots_ = std::make_shared<std::vector<Complex<T>>>();
    job.real_roots = real_roots_;
  }
}

template <class T>
void Places<T>::prepare() const {
  std::call_once(prepared_, [&] {
    for (const Pass& pass : passes_) pass.job.plan->prepare();
    if (real_roots_ == nullptr) return;
    const uint64_t n = dimensions_.back().n;
    const Roots<T> roots(n);
    real_roots_->reserve(n / 2 + 1);
    for (uint64_t k = real_roots_->size(); k <= n / 2; ++k) real_roots_->push_back(roots(k));
  });
}

template <class T>
uint64_t Places<T>::temporary_numbers() const {
  uint64_t bytes = sizeof(Complex<T>);
  for (size_t i = 0; i < dimensions_.size(); ++i) bytes *= extent(i, true);
  return bytes;
}

template <class T>
bool Places<T>::overlaps(const Binding& binding) const {
  const char* const in = binding.in - in_extent_.below;
  const char* const out = binding.out - out_extent_.below;
  return in < out + out_extent_.below + out_extent_.above &&
         out < in + in_extent_.below + in_extent_.above;
}

/// True if each line of the result lies in the bytes of the line that it is made of.
template <class T>
bool Places<T>::is_in_place(const Binding& binding) const {
  if (binding.in != binding.out || shape_.in_storage != shape_.out_storage) return false;
  const auto in_bytes = static_cast<int64_t>(shape_.in_bytes());
  const auto out_bytes = static_cast<int64_t>(shape_.out_bytes());
  const auto line = static_cast<int64_t>(extent(dimensions_.size() - 1, true));
  for (size_t i = 0; i < dimensions_.size(); ++i) {
    const Axis& each = dimensions_[i];
    const bool is_line = i + 1 == dimensions_.size() && !is_complex_kind();
    if (each.n == 1) continue;
    if (is_line && (each.in != 1 || each.out != 1)) return false;
    if (!is_line && each.in * in_bytes != each.out * out_bytes) return false;
    // Lines of an input may overlap each other, but not in place.
    if (!is_line && shape_.is_real_out() && std::abs(each.in) < line) return false;
  }
  return true;
}

template <class T>
uint64_t Places<T>::temporary_bytes(const Binding& binding) const {
  if (binding.in == nullptr || !overlaps(binding)) return temporary_bytes();
  if (!is_in_place(binding)) return temporary_bytes() + temporary_numbers();
  // The input of a real result may be overwritten in its place.
  return is_native(shape_.out_storage) ? 0 : temporary_bytes();
}

template <class T>
Place Places<T>::place_of(char* base, bool is_input) const {
  Place place;
  place.base = base;
  place.storage = is_input ? shape_.in_storage : shape_.out_storage;
  place.is_complex = is_input ? !shape_.is_real_in() : !shape_.is_real_out();
  for (const Axis& each : dimensions_) place.strides.push_back(is_input ? each.in : each.out);
  return place;
}

template <class T>
Place Places<T>::contiguous(char* base, bool is_complex) const {
  Place place;
  place.base = base;
  place.storage = sizeof(T) == sizeof(float) ? Storage::kFloat : Storage::kDouble;
  place.is_complex = is_complex;
  place.strides.resize(dimensions_.size());
  int64_t stride = 1;
  for (size_t i = dimensions_.size(); i-- > 0;) {
    place.strides[i] = stride;
    stride *= static_cast<int64_t>(extent(i, is_complex));
  }
  return place;
}

template <class T>
Side Places<T>::side_of(const Place& place, const Pass& pass) const {
  Side side;
  side.base = place.base;
  side.storage = place.storage;
  side.is_complex = place.is_complex;
  side.stride = place.strides[pass.dimension];
  for (size_t i = 0, k = 0; i < dimensions_.size(); ++i) {
    if (i != pass.dimension) side.outer[k++] = place.strides[i];
  }
  return side;
}

/// A copy: transforms of one number.
template <class T>
LineJob<T> Places<T>::copy_job(const Place& from, const Place& to) const {
  LineJob<T> job;
  job.plan = make_line_plan<T>(1, false);
  job.in.base = from.base;
  job.out.base = to.base;
  job.in.storage = from.storage;
  job.out.storage = to.storage;
  job.in.is_complex = job.out.is_complex = from.is_complex;
  for (size_t i = 0; i < dimensions_.size(); ++i) {
    job.extents[i] = extent(i, from.is_complex);
    job.lines *= job.extents[i];
    job.in.outer[i] = from.strides[i];
    job.out.outer[i] = to.strides[i];
  }
  job.outer_rank = static_cast<int>(dimensions_.size());
  return job;
}

template <class T>
std::vector<LineJob<T>> Places<T>::bind(const Binding& binding, char* memory) const {
  std::vector<LineJob<T>> jobs;
  Place from = place_of(binding.in, true);
  const Place out = place_of(binding.out, false);
  bool may_overwrite = false;
  if (binding.in != nullptr && overlaps(binding)) {
    may_overwrite = is_in_place(binding) && is_native(shape_.out_storage);
    if (!is_in_place(binding)) {
      const Place copy = contiguous(memory, from.is_complex);
      jobs.push_back(copy_job(from, copy));
      from = copy;
      memory += temporary_numbers();
    }
  }
  const bool is_kept_in_out =
      shape_.kind != TransformKind::kComplexToReal && is_native(shape_.out_storage);
  const Place between = is_kept_in_out ? out : may_overwrite ? from : contiguous(memory, true);
  for (const Pass& pass : passes_) {
    const Place& to = &pass == &passes_.back() ? out : between;
    LineJob<T> job = pass.job;
    if (is_complex_kind() && binding.is_inverse) job.kind = LineKind::kInverse;
    job.in = side_of(from, pass);
    job.out = side_of(to, pass);
    jobs.push_back(std::move(job));
    from = to;
  }
  return jobs;
}

template class Places<float>;
template class Places<double>;

}  // namespace km::fft
