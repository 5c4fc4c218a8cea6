#include "kernels/nbody/problem.h"

namespace km::bench {
namespace {

/// Structure of arrays, and the inner loop a simd reduction: what one writes for a CPU.
class OpenmpNbody : public Nbody {
  auto part(int component) const {
    return [this, component](uint64_t i) { return bodies_[4 * i + component]; };
  }

 public:
  explicit OpenmpNbody(uint64_t count)
      : Nbody(count),
        x_(count, part(0)),
        y_(count, part(1)),
        z_(count, part(2)),
        m_(count, part(3)) {}

  void run() override {
    const float *x = x_.data(), *y = y_.data(), *z = z_.data(), *m = m_.data();
    float* const out = accelerations_.data();
    const int count = count_;
#pragma omp parallel for schedule(static)
    for (int i = 0; i < count; ++i) {
      const float own_x = x[i], own_y = y[i], own_z = z[i];
      float ax = 0.0f, ay = 0.0f, az = 0.0f;
#pragma omp simd reduction(+ : ax, ay, az)
      for (int k = 0; k < count; ++k) {
        const float dx = x[k] - own_x, dy = y[k] - own_y, dz = z[k] - own_z;
        const float inverse = 1.0f / std::sqrt(dx * dx + dy * dy + dz * dz + 1e-3f);
        const float scale = m[k] * inverse * inverse * inverse;
        ax += dx * scale;
        ay += dy * scale;
        az += dz * scale;
      }
      out[4 * i] = ax;
      out[4 * i + 1] = ay;
      out[4 * i + 2] = az;
    }
  }

 private:
  const Pages<float> x_, y_, z_, m_;
};

// C++ has no approximate square root: the second is the same code, and faster only with fast-math.
const Registration kExact("nbody", make<OpenmpNbody>);
const Registration kApproximate("nbody_rsqrt", make<OpenmpNbody>);

}  // namespace
}  // namespace km::bench
