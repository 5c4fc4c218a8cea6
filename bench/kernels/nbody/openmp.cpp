#include "common/pages.h"
#include "kernels/nbody/problem.h"

namespace km::bench {
namespace {

/// Structure of arrays, and the inner loop a simd reduction: what one writes for a CPU.
class OpenmpNbody : public Nbody {
 public:
  OpenmpNbody() {
    for (int i = 0; i < kCount; ++i) {
      for (int c = 0; c < 4; ++c) in_[c][i] = bodies_[4 * i + c];
    }
  }
  void run() override {
    const float *x = in_[0].data(), *y = in_[1].data(), *z = in_[2].data(), *m = in_[3].data();
    float *out_x = out_[0].data(), *out_y = out_[1].data(), *out_z = out_[2].data();
#pragma omp parallel for schedule(static)
    for (int i = 0; i < kCount; ++i) {
      const float own_x = x[i], own_y = y[i], own_z = z[i];
      float ax = 0.0f, ay = 0.0f, az = 0.0f;
#pragma omp simd reduction(+ : ax, ay, az)
      for (int k = 0; k < kCount; ++k) {
        const float dx = x[k] - own_x, dy = y[k] - own_y, dz = z[k] - own_z;
        const float inverse = 1.0f / std::sqrt(dx * dx + dy * dy + dz * dz + 1e-3f);
        const float scale = m[k] * inverse * inverse * inverse;
        ax += dx * scale;
        ay += dy * scale;
        az += dz * scale;
      }
      out_x[i] = ax;
      out_y[i] = ay;
      out_z[i] = az;
    }
  }
  std::string check() override {
    return check_accelerations([&](int i, int c) { return out_[c][i]; });
  }

 private:
  Pages<float> in_[4] = {Pages<float>(kCount), Pages<float>(kCount), Pages<float>(kCount),
                         Pages<float>(kCount)};
  Pages<float> out_[3] = {Pages<float>(kCount), Pages<float>(kCount), Pages<float>(kCount)};
};

const Registration kRegistration("nbody", make<OpenmpNbody>);

}  // namespace
}  // namespace km::bench
