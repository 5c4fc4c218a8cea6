#include <cblas.h>

#include "kernels/sgemm/problem.h"

namespace km::bench {
namespace {

class OpenblasSgemm : public Sgemm {
 public:
  using Sgemm::Sgemm;
  void run() override {
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, edge_, edge_, edge_, 1.0f, a_.data(),
                edge_, b_.data(), edge_, 0.0f, c_.data(), edge_);
  }
};

const Registration kTiled16("sgemm_tiled16", make<OpenblasSgemm>);
const Registration kBlock64("sgemm_block64", make<OpenblasSgemm>);

}  // namespace
}  // namespace km::bench
