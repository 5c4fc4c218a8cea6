// What memory costs: allocations from a pool, without one and from malloc; copies of pageable,
// page-locked and mapped memory beside memcpy. Medians; prints two tables.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <vector>

#include "kernelmill/c_api.h"

namespace {

constexpr int kSamples = 15;
constexpr uint64_t kCopyBytes = uint64_t{256} << 20;

void require(km_status status) {
  if (status == KM_SUCCESS) return;
  char text[1024] = "";
  km_last_error_message(text, sizeof text, nullptr);
  std::fprintf(stderr, "%s\n", text);
  std::exit(1);
}

/// Median nanoseconds of one call.
double time_of(int rounds, const std::function<void()>& call) {
  std::vector<double> samples;
  call();
  for (int sample = 0; sample < kSamples; ++sample) {
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < rounds; ++i) call();
    const std::chrono::duration<double, std::nano> spent = std::chrono::steady_clock::now() - start;
    samples.push_back(spent.count() / rounds);
  }
  std::sort(samples.begin(), samples.end());
  return samples[kSamples / 2];
}

struct Device {
  km_device device = nullptr;
  km_context context = nullptr;
  km_stream stream = nullptr;
  km_pool pool = nullptr;
  Device() {
    require(km_device_open("cpu", &device));
    require(km_context_create(device, &context));
    require(km_stream_create(context, 0, 0, &stream));
    require(km_pool_create(context, 0, &pool));
  }
};

void allocations(const Device& d) {
  std::printf(
      "| bytes | pool | pool, on a stream | without a pool | malloc |\n|---|---|---|---|---|\n");
  for (const uint64_t size : {uint64_t{64}, uint64_t{1000}, uint64_t{100000}, uint64_t{4} << 20}) {
    km_slice slice;
    const double pooled = time_of(20000, [&] {
      require(km_pool_allocate(d.pool, size, 1, 0, &slice));
      require(km_slice_destroy(slice));
    });
    const double on_stream = time_of(20000, [&] {
      require(km_pool_allocate_on_stream(d.pool, d.stream, size, 1, 0, &slice));
      require(km_slice_destroy_on_stream(slice, d.stream));
    });
    const double plain = time_of(2000, [&] {
      require(km_slice_create(d.context, size, 1, 0, &slice));
      require(km_slice_destroy(slice));
    });
    const double libc = time_of(20000, [&] {
      void* volatile memory = std::malloc(size);
      std::free(memory);
    });
    std::printf("| %llu | %.0f ns | %.0f ns | %.0f ns | %.0f ns |\n",
                static_cast<unsigned long long>(size), pooled, on_stream, plain, libc);
  }
}

void print_rate(const char* what, double ns) {
  std::printf("| %s | %.1f |\n", what, static_cast<double>(kCopyBytes) / ns);
}

/// A file of that size in the page cache.
const char* make_file() {
  static char path[] = "/tmp/kernelmill-bench-XXXXXX";
  const int file = mkstemp(path);
  std::vector<char> part(1 << 20, 1);
  bool good = file >= 0;
  for (uint64_t done = 0; good && done < kCopyBytes; done += part.size()) {
    good = write(file, part.data(), part.size()) == static_cast<ssize_t>(part.size());
  }
  if (!good) std::exit(1);
  close(file);
  return path;
}

void copies(const Device& d) {
  std::vector<char> from(kCopyBytes, 1), to(kCopyBytes, 2);
  km_slice slice, mapped;
  km_host_memory pinned;
  void* locked = nullptr;
  const char* path = make_file();
  require(km_slice_create(d.context, kCopyBytes, 1, KM_SLICE_ZEROED, &slice));
  require(km_slice_map_file(d.context, path, 0, UINT64_MAX, 1, KM_MAP_READ_ONLY, &mapped));
  unlink(path);
  require(km_host_memory_create(d.context, kCopyBytes, 0, &pinned));
  require(km_host_memory_pointer(pinned, &locked));
  std::memset(locked, 3, kCopyBytes);
  const auto waited = [&](km_status status) {
    require(status);
    require(km_stream_synchronize(d.stream));
  };
  std::printf("\n| 256 MiB | GB/s |\n|---|---|\n");
  print_rate("memcpy, one thread",
             time_of(1, [&] { std::memcpy(to.data(), from.data(), kCopyBytes); }));
  print_rate("upload, pageable", time_of(1, [&] {
               waited(km_slice_upload(d.stream, slice, 0, from.data(), kCopyBytes));
             }));
  print_rate("upload, page-locked",
             time_of(1, [&] { waited(km_slice_upload(d.stream, slice, 0, locked, kCopyBytes)); }));
  print_rate("download, page-locked", time_of(1, [&] {
               waited(km_slice_download(d.stream, slice, 0, locked, kCopyBytes));
             }));
  print_rate("copy from a mapped file",
             time_of(1, [&] { waited(km_slice_copy(d.stream, slice, 0, mapped, 0, kCopyBytes)); }));
  const km_copy_3d rows{4000, kCopyBytes / 4096, 1, 0, 4096, 0, 0, 4096, 0};
  print_rate("upload of rows of 4000 in 4096 bytes",
             time_of(1, [&] { waited(km_slice_upload_3d(d.stream, slice, locked, &rows)); }));
}

}  // namespace

int main() {
  const Device device;
  allocations(device);
  copies(device);
  return 0;
}
