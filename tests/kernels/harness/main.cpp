// Runs the kernel tests on the device KM_TEST_DEVICE names. --gtest_filter=Group.name picks some.
#include <cstdio>
#include <cstdlib>
#include <string>

#include <gtest/gtest.h>

#include "harness/session.h"

namespace {

/// What ctest counts as skipped.
constexpr int kSkipped = 77;

/// Whether this processor lacks the instruction set that KM_CPU_ISA asks for.
bool lacks_requested_isa() {
  const char* isa = std::getenv("KM_CPU_ISA");
  if (isa == nullptr || km::kernels::device_uri().rfind("cpu", 0) != 0) return false;
  if (std::string(isa) == "avx512") return !__builtin_cpu_supports("avx512vl");
  if (std::string(isa) == "avx2") return !__builtin_cpu_supports("avx2");
  return false;
}

}  // namespace

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (lacks_requested_isa()) {
    std::fprintf(stderr, "skipped: this processor lacks %s\n", std::getenv("KM_CPU_ISA"));
    return kSkipped;
  }
  return RUN_ALL_TESTS();
}
