/* unload LIBRARY: a host that closes the library while objects live and work is queued, loads it
 * again, goes on and ends. Threads of the library must not lose their code. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Declarations only: nothing of the library is linked. */
#include <kernelmill/c_api.h>

enum { kCount = 1 << 20, kRounds = 50 };

static void* library;

/* The function of a name, as a pointer of the caller's type. */
static int find(const char* name, void* function) {
  void* found = dlsym(library, name);
  if (found == NULL) fprintf(stderr, "%s\n", dlerror());
  memcpy(function, &found, sizeof found);
  return found != NULL;
}

static int expect(km_status status, const char* what) {
  if (status != KM_SUCCESS) fprintf(stderr, "%s: status %d\n", what, status);
  return status == KM_SUCCESS;
}

/* Leaves a context with queued work behind. */
static int use(km_stream* out_stream) {
  km_status (*open)(const char*, km_device*);
  km_status (*create)(km_device, km_context*);
  km_status (*create_stream)(km_context, km_stream_flags, int32_t, km_stream*);
  km_status (*create_slice)(km_context, uint64_t, uint64_t, km_slice_flags, km_slice*);
  km_status (*fill)(km_stream, km_slice, uint64_t, uint32_t, uint64_t);
  km_device device;
  km_context context;
  km_slice slice;
  if (!find("km_device_open", &open) || !find("km_context_create", &create) ||
      !find("km_stream_create", &create_stream) || !find("km_slice_create", &create_slice) ||
      !find("km_slice_fill_u32", &fill)) {
    return 0;
  }
  if (!expect(open("cpu", &device), "open") || !expect(create(device, &context), "context") ||
      !expect(create_stream(context, 0, 0, out_stream), "stream") ||
      !expect(create_slice(context, kCount, 4, 0, &slice), "slice")) {
    return 0;
  }
  for (uint32_t i = 0; i < kRounds; ++i) {
    if (!expect(fill(*out_stream, slice, 0, i, kCount), "fill")) return 0;
  }
  return 1;
}

int main(int argc, char** argv) {
  const struct timespec moment = {0, 20000000};
  km_status (*synchronize)(km_stream);
  km_stream first, second;
  if (argc != 2) return 2;
  alarm(60); /* instead of hanging */
  library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  if (library == NULL || !use(&first) || dlclose(library) != 0) return 1;
  nanosleep(&moment, NULL);
  library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  if (library == NULL || !use(&second) || !find("km_stream_synchronize", &synchronize)) return 1;
  if (!expect(synchronize(first), "wait") || !expect(synchronize(second), "wait")) return 1;
  return dlclose(library) == 0 ? 0 : 1;
}
