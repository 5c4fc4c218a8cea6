// 10^5 cycles of creating and destroying every kind of object leave nothing behind.
#include <dirent.h>
#include <unistd.h>

#include <cstdio>

#include "support.h"

namespace {

#ifdef KM_TEST_SANITIZED
constexpr bool kIsSanitized = true;  // it keeps freed memory for a while, and finds leaks itself
#else
constexpr bool kIsSanitized = false;
#endif
constexpr int kCycles = kIsSanitized ? 5000 : 100000;
constexpr int kWarmUp = 2000;

long resident_bytes() {
  long total = 0, resident = 0;
  std::FILE* file = std::fopen("/proc/self/statm", "r");
  if (file == nullptr || std::fscanf(file, "%ld %ld", &total, &resident) != 2) return -1;
  std::fclose(file);
  return resident * sysconf(_SC_PAGESIZE);
}

int open_files() {
  int count = 0;
  DIR* folder = opendir("/proc/self/fd");
  if (folder == nullptr) return -1;
  while (readdir(folder) != nullptr) ++count;
  closedir(folder);
  return count;
}

struct Leaks : km_test::Fixture {
  km::device device = context.device();
  km::module module = km_test::load(context);

  void one_of_each() {
    const km::context other(device);
    const km::event event(context);
    const km::stream second(context);
    const km::slice<std::uint32_t> slice(context, 64);
    const auto part = slice.part(8, 8);
    const auto wrapped =
        km::slice<std::uint32_t>::from_host(context, std::vector<std::uint32_t>(64));
    const km::host_memory<int> memory(context, 64);
    const km::function function = module.function("fill_index");
    km::launch launch = second.launch(function);
    launch.grid(1).block(8).args(part, 1u, 8u);
    EXPECT_THROW(launch.arg(1u), km::error);
  }
};

TEST_F(Leaks, NothingIsLeftAfterManyCycles) {
  for (int i = 0; i < kWarmUp; ++i) one_of_each();
  const long resident = resident_bytes();
  const int files = open_files();
  ASSERT_GT(resident, 0);
  for (int i = kWarmUp; i < kCycles; ++i) one_of_each();
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // which keep what is freed
  // 16 bytes lost in each cycle would be 1.5 MB.
  if (!kIsSanitized) {
    EXPECT_LT(resident_bytes() - resident, 1 << 20);
  }
#endif
  EXPECT_EQ(open_files(), files);
}

}  // namespace
