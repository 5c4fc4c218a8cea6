#include "math/fft/line_plan.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <utility>

#include "math/fft/lines.h"

namespace km::fft {
namespace {

// Lines with a larger prime factor are convolutions.
constexpr uint64_t kMostPrime = 31;
// Longer lines are cut, so that one group of them stays in the nearest caches.
constexpr uint64_t kMostDirect = 2048;
// Lines from this length are cut if columns and rows fill all vectors: the passes of powers of two
// use few sets of the caches.
constexpr uint64_t kLeastEven = 1024;
// Lines that are too few to fill vectors are cut from this length.
constexpr uint64_t kLeastCut = 256;

std::vector<uint64_t> primes_of(uint64_t n) {
  std::vector<uint64_t> found;
  for (uint64_t p = 2; p * p <= n; ++p) {
    for (; n % p == 0; n /= p) found.push_back(p);
  }
  if (n > 1) found.push_back(n);
  return found;
}

/// The radices of n's passes.
std::vector<uint32_t> radices_of(uint64_t n) {
  std::vector<uint32_t> found;
  for (; n % 8 == 0; n /= 8) found.push_back(8);
  for (; n % 4 == 0; n /= 4) found.push_back(4);
  for (const uint64_t p : primes_of(n)) found.push_back(static_cast<uint32_t>(p));
  // 8 * 2 has more passes' memory accesses in it than 4 * 4 for the same work.
  const auto two = std::find(found.begin(), found.end(), 2);
  if (two != found.end() && found.front() == 8) found.front() = *two = 4;
  return found;
}

template <class T>
void add_passes(const LinePlan<T>& plan) {
  uint64_t rest = plan.n;
  for (const uint32_t radix : radices_of(plan.n)) {
    const Roots<T> roots(rest);
    rest /= radix;
    RadixPass<T> pass{radix, rest, {}, {}};
    pass.twiddles.reserve(rest * (radix - 1));
    for (uint64_t p = 0; p < rest; ++p) {
      for (uint64_t j = 1; j < radix; ++j) pass.twiddles.push_back(roots(p * j));
    }
    const Roots<T> own(radix);
    for (uint64_t j = 0; j < radix; ++j) pass.own_roots.push_back(own(j));
    plan.passes.push_back(std::move(pass));
  }
}

/// The divisor of n that is best as the length of rows: near the square root, and a multiple of the
/// lanes with its partner.
uint64_t row_length(uint64_t n, const std::vector<uint64_t>& primes) {
  std::vector<uint64_t> divisors{1};
  for (size_t i = 0, same = 0; i < primes.size(); ++i) {
    const size_t count = divisors.size();
    same = i > 0 && primes[i] == primes[i - 1] ? same : count;
    for (size_t k = count - same; k < count; ++k) divisors.push_back(divisors[k] * primes[i]);
  }
  uint64_t best = 1;
  double least = 0;
  for (const uint64_t each : divisors) {
    const uint64_t other = n / each;
    // The work for idle lanes, and for tables and buffers that the nearest cache does not hold.
    const double cost = static_cast<double>(padded(each)) * static_cast<double>(padded(other)) *
                        (1 + static_cast<double>(std::max(each, other)) / 4096);
    if (best != 1 && cost >= least) continue;
    if (each == 1 || other == 1) continue;
    best = each;
    least = cost;
  }
  return best;
}

template <class T>
std::shared_ptr<const LinePlan<T>> make_direct(uint64_t n) {
  auto plan = std::make_shared<LinePlan<T>>();
  plan->n = n;
  return plan;
}

template <class T>
void cut(LinePlan<T>& plan, uint64_t rows) {
  plan.kind = LinePlan<T>::Kind::kFourStep;
  const uint64_t columns = plan.n / rows;
  plan.row = make_direct<T>(rows);
  plan.column = rows == columns ? plan.row : make_direct<T>(columns);
}

template <class T>
void add_twiddles(const LinePlan<T>& plan) {
  const uint64_t rows = plan.row->n, columns = plan.n / rows;
  plan.twiddle_re.resize(columns * padded(rows));
  plan.twiddle_im.resize(columns * padded(rows));
  const Roots<T> roots(plan.n);
  for (uint64_t k = 0; k < columns; ++k) {
    for (uint64_t c = 0; c < rows; ++c) {
      const Complex<T> twiddle = roots(k * c);
      plan.twiddle_re[k * padded(rows) + c] = twiddle.re;
      plan.twiddle_im[k * padded(rows) + c] = twiddle.im;
    }
  }
}

/// The least number from `n` on that is a multiple of 16, or of a smaller power of two if it is
/// short, and has no prime factors above 5.
uint64_t smooth_length(uint64_t n) {
  uint64_t best = UINT64_MAX;
  const uint64_t least_twos = std::min<uint64_t>(16, n);
  for (uint64_t five = 1; five < 2 * n; five *= 5) {
    for (uint64_t three = five; three < 2 * n; three *= 3) {
      uint64_t each = three;
      for (uint64_t twos = 1; each < n || twos < least_twos; twos *= 2) each *= 2;
      best = std::min(best, each);
    }
  }
  return best;
}

/// exp(-pi i k^2 / n) for k below n.
template <class T>
std::vector<Complex<T>> chirp_of(uint64_t n) {
  const Roots<T> roots(2 * n);
  std::vector<Complex<T>> chirp(n);
  uint64_t square = 0;
  for (uint64_t k = 0; k < n; ++k) {
    chirp[k] = roots(square);
    square = (square + 2 * k + 1) % (2 * n);
  }
  return chirp;
}

/// The transform of the conjugate chirp, at both ends of `length` numbers, in f64.
std::vector<Complex<double>> kernel_of(uint64_t n, uint64_t length) {
  const std::vector<Complex<double>> chirp = chirp_of<double>(n);
  std::vector<Complex<double>> kernel(length);
  const double scale = 1 / static_cast<double>(length);
  for (uint64_t k = 0; k < n; ++k) {
    kernel[k] = {chirp[k].re * scale, -chirp[k].im * scale};
    if (k > 0) kernel[length - k] = kernel[k];
  }
  LineJob<double> job;
  job.n = length;
  job.plan = make_line_plan<double>(length, true);
  job.plan->prepare();
  job.in.base = job.out.base = reinterpret_cast<char*>(kernel.data());
  job.in.storage = job.out.storage = Storage::kDouble;
  const LineCode<double>& code = line_code<double>();
  struct alignas(64) Block {
    char bytes[64];
  };
  std::vector<Block> scratch(code.scratch_bytes(job) / sizeof(Block) + 1);
  code.run(job, 0, 1, scratch.data());
  return kernel;
}

template <class T>
void convolve(LinePlan<T>& plan, bool few_lines) {
  plan.kind = LinePlan<T>::Kind::kBluestein;
  plan.inner = make_line_plan<T>(smooth_length(2 * plan.n - 1), few_lines);
}

template <class T>
void add_chirp(const LinePlan<T>& plan) {
  plan.chirp = chirp_of<T>(plan.n);
  plan.kernel.reserve(plan.inner->n);
  for (const Complex<double>& each : kernel_of(plan.n, plan.inner->n)) {
    plan.kernel.push_back({static_cast<T>(each.re), static_cast<T>(each.im)});
  }
}

template <class T>
std::shared_ptr<const LinePlan<T>> make_new(uint64_t n, bool few_lines) {
  const std::vector<uint64_t> primes = primes_of(n);
  auto plan = std::make_shared<LinePlan<T>>();
  plan->n = n;
  if (!primes.empty() && primes.back() > kMostPrime) {
    convolve(*plan, few_lines);
    return plan;
  }
  const bool is_even = n >= kLeastEven && n % (kMostLanes * kMostLanes) == 0;
  const bool is_long = n > kMostDirect || is_even || (few_lines && n >= kLeastCut);
  const uint64_t rows = is_long ? row_length(n, primes) : 1;
  if (rows == 1) return make_direct<T>(n);
  cut(*plan, rows);
  return plan;
}

/// The plans that are in use, because programs have many of the same length.
template <class T>
class PlanCache {
 public:
  std::shared_ptr<const LinePlan<T>> get(uint64_t n, bool few_lines) {
    const std::lock_guard lock(mutex_);
    const auto known = plans_.find({n, few_lines});
    if (known != plans_.end()) {
      if (auto plan = known->second.lock()) return plan;
    }
    forget_unused();
    std::shared_ptr<const LinePlan<T>> plan = make_new<T>(n, few_lines);
    plans_.insert_or_assign({n, few_lines}, plan);
    return plan;
  }

 private:
  void forget_unused() {
    constexpr size_t kMost = 64;
    if (plans_.size() < kMost) return;
    std::erase_if(plans_, [](const auto& each) { return each.second.expired(); });
  }

  std::recursive_mutex mutex_;  // plans are made of plans
  std::map<std::pair<uint64_t, bool>, std::weak_ptr<const LinePlan<T>>> plans_;
};

}  // namespace

template <class T>
void LinePlan<T>::prepare() const {
  std::call_once(once_, [&] { make_tables(); });
}

template <class T>
void LinePlan<T>::make_tables() const {
  switch (kind) {
    case Kind::kDirect:
      return add_passes(*this);
    case Kind::kFourStep:
      column->prepare();
      row->prepare();
      return add_twiddles(*this);
    case Kind::kBluestein:
      inner->prepare();
      return add_chirp(*this);
  }
}

template <class T>
std::shared_ptr<const LinePlan<T>> make_line_plan(uint64_t n, bool few_lines) {
  static auto* const cache = new PlanCache<T>;  // other threads may make plans during exit
  return cache->get(n, few_lines);
}

template class LinePlan<float>;
template class LinePlan<double>;
template std::shared_ptr<const LinePlan<float>> make_line_plan(uint64_t, bool);
template std::shared_ptr<const LinePlan<double>> make_line_plan(uint64_t, bool);

}  // namespace km::fft
