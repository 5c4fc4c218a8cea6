// What the machine's vector units can do: loops that live in registers, on all threads.
#include "common/benchmark.h"

namespace km::bench {
namespace {

#if defined(__AVX512F__)
constexpr int kLanes = 16;
#elif defined(__AVX__)
constexpr int kLanes = 8;
#else
constexpr int kLanes = 4;
#endif
using Vector = float __attribute__((vector_size(4 * kLanes)));

// Enough independent chains to fill the pipes, few enough to stay in registers.
constexpr int kChains = 12;
constexpr int64_t kSteps = 400000;

/// Keeps the compiler from moving or merging what happens to a value.
inline void pin(Vector& value) { asm volatile("" : "+v"(value)); }

/// Runs `step(chain, constant)` kSteps times on every chain and thread; counts the threads. The
/// chains are variables because gcc keeps the elements of an array in memory.
template <class Step>
int run_chains(const Step& step) {
  int threads = 0;
#pragma omp parallel reduction(+ : threads)
  {
    ++threads;
    Vector k = Vector{} + 0.999f;
    pin(k);
    Vector a = k + 1, b = k + 2, c = k + 3, d = k + 4, e = k + 5, f = k + 6;
    Vector g = k + 7, h = k + 8, i = k + 9, j = k + 10, l = k + 11, m = k + 12;
    for (int64_t s = 0; s < kSteps; ++s) {
      step(a, k), step(b, k), step(c, k), step(d, k), step(e, k), step(f, k);
      step(g, k), step(h, k), step(i, k), step(j, k), step(l, k), step(m, k);
    }
    pin(a), pin(b), pin(c), pin(d), pin(e), pin(f);
    pin(g), pin(h), pin(i), pin(j), pin(l), pin(m);
  }
  return threads;
}

/// Lane operations per nanosecond.
class Arithmetic : public Benchmark {
 public:
  explicit Arithmetic(uint64_t) {}
  double value(double seconds) const override {
    return static_cast<double>(kChains * kSteps * kLanes) * threads_ / seconds * 1e-9;
  }
  std::string check() override { return {}; }

 protected:
  int threads_ = 0;
};

class MultiplyAdd : public Arithmetic {
 public:
  using Arithmetic::Arithmetic;
  void run() override {
    threads_ = run_chains([](Vector& chain, const Vector& constant) {
      chain = chain * constant + constant;
      pin(chain);
    });
  }
};

class Divide : public Arithmetic {
 public:
  using Arithmetic::Arithmetic;
  void run() override {
    threads_ = run_chains([](Vector& chain, const Vector& constant) {
      chain = constant / chain;
      pin(chain);
    });
  }
};

class SquareRoot : public Arithmetic {
 public:
  using Arithmetic::Arithmetic;
  void run() override {
    threads_ = run_chains([](Vector& chain, const Vector&) {
#if defined(__AVX512F__)
      asm volatile("vsqrtps %0, %0" : "+v"(chain));
#elif defined(__AVX__)
      asm volatile("vsqrtps %0, %0" : "+x"(chain));
#else
      asm volatile("sqrtps %0, %0" : "+x"(chain));
#endif
    });
  }
};

const Registration kMultiplyAdd("fma", make<MultiplyAdd>);
const Registration kDivide("divide", make<Divide>);
const Registration kSquareRoot("square_root", make<SquareRoot>);

}  // namespace
}  // namespace km::bench
