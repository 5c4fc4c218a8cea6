#include "hosts/on_device.h"
#include "kernels/spmv/problem.h"

namespace km::bench {
namespace {

class DeviceSpmv : public OnDevice<Spmv> {
 public:
  DeviceSpmv(const char* kernel, uint32_t threads_per_row, uint64_t rows) : OnDevice("spmv", rows) {
    const uint32_t blocks = static_cast<uint32_t>(rows) * threads_per_row / kBlock;
    add_kernel(kernel, {blocks}, {kBlock}, input(starts_), input(columns_), input(values_),
               input(x_), output(y_), rows_);
  }
};

struct Scalar : DeviceSpmv {
  explicit Scalar(uint64_t rows) : DeviceSpmv("spmv_scalar", 1, rows) {}
};
struct Vector : DeviceSpmv {
  explicit Vector(uint64_t rows) : DeviceSpmv("spmv_vector", 16, rows) {}
};

const Registration kScalar("spmv_scalar", make<Scalar>);
const Registration kVector("spmv_vector", make<Vector>);

}  // namespace
}  // namespace km::bench
