// Runs the kernel tests on the device KM_TEST_DEVICE names. --gtest_filter=Group.name picks some;
// --write-forms renews tested_forms.txt. KM_TEST_LEFT_OUT names the tests that the device cannot
// pass (harness/left_out.h). KM_TEST_LIMIT_S=N ends the process by SIGPROF in a test that takes
// more seconds of processor time.
#include <sys/time.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "harness/coverage.h"
#include "harness/left_out.h"
#include "harness/session.h"

namespace {

/// What ctest counts as skipped.
constexpr int kSkipped = 77;

/// Whether this processor lacks the instruction set that KM_CPU_ISA asks for.
bool lacks_requested_isa() {
  if (std::getenv("KM_CPU_ISA") == nullptr) return false;
  if (km::kernels::device_uri().rfind("cpu", 0) != 0) return false;
  km::kernels::set_default_variables();  // opening a device reads them
  km_device device{};
  const km_status status = km_device_open(km::kernels::device_uri().c_str(), &device);
  if (status == KM_SUCCESS) km_device_destroy(device);
  return status == KM_ERROR_NOT_SUPPORTED;
}

/// ProcessorTimeLimit bounds each test by the time of all threads, which other programs that share
/// the machine do not change.
class ProcessorTimeLimit : public testing::EmptyTestEventListener {
 public:
  explicit ProcessorTimeLimit(const char* seconds) : limit_s_(std::atol(seconds)) {}

  void OnTestStart(const testing::TestInfo&) override { set_timer(limit_s_); }
  void OnTestEnd(const testing::TestInfo&) override { set_timer(0); }

 private:
  static void set_timer(time_t seconds) {
    const itimerval timer{.it_interval = {}, .it_value = {.tv_sec = seconds, .tv_usec = 0}};
    setitimer(ITIMER_PROF, &timer, nullptr);
  }

  const time_t limit_s_;
};

/// Runs the tests that the list leaves, or those that it names as refused, which must fail.
int run_tests() {
  const km::kernels::LeftOutList left_out;
  std::string& filter = testing::GTEST_FLAG(filter);
  filter = left_out.filtered(filter);
  const int status = RUN_ALL_TESTS();
  const std::vector<std::string> faults = left_out.faults();
  for (const std::string& line : faults) std::printf("%s\n", line.c_str());
  if (!faults.empty()) return 1;
  return left_out.runs_refused() ? 0 : status;
}

}  // namespace

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (lacks_requested_isa()) {
    std::fprintf(stderr, "skipped: this processor lacks %s\n", std::getenv("KM_CPU_ISA"));
    return kSkipped;
  }
  if (const char* const limit_s = std::getenv("KM_TEST_LIMIT_S"); limit_s != nullptr) {
    testing::UnitTest::GetInstance()->listeners().Append(new ProcessorTimeLimit(limit_s));
  }
  const bool write_forms = argc == 2 && std::strcmp(argv[1], "--write-forms") == 0;
  auto* coverage = new km::kernels::Coverage;  // the list of listeners owns it
  testing::UnitTest::GetInstance()->listeners().Append(coverage);
  km::kernels::on_kernel_run = [coverage](const std::string& ptx, const char* kernel) {
    coverage->note(ptx, kernel);
  };
  const int status = run_tests();
  km::kernels::on_kernel_run = nullptr;
  if (write_forms) coverage->write(KM_TESTED_FORMS, KM_COMPARED_FORMS);
  const std::vector<std::string> missing = coverage->differences(KM_TESTED_FORMS);
  for (const std::string& line : missing) std::printf("%s\n", line.c_str());
  return missing.empty() ? status : 1;
}
