/* What the layout of data costs: particles as structures or as arrays, and elements read in order,
 * with a stride, or at random. Times by events; the results are compared. */
#include <stdio.h>
#include <stdlib.h>

#include "session.h"

enum { kCount = 1 << 20, kRounds = 5 };

static const char kSource[] =
    "struct Particle { float x, y, z, vx, vy, vz, mass, charge; };\n"
    "extern \"C\" __global__ void structures(Particle* p, float t, int n) {\n"
    "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "  if (i < n) p[i].x += t * p[i].vx;\n"
    "}\n"
    "extern \"C\" __global__ void arrays(float* x, const float* vx, float t, int n) {\n"
    "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "  if (i < n) x[i] += t * vx[i];\n"
    "}\n"
    "extern \"C\" __global__ void gather(const float* in, const int* order, float* out, int n) {\n"
    "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "  if (i < n) out[i] = 2 * in[order[i]];\n"
    "}\n";

typedef struct particle {
  float x, y, z, vx, vy, vz, mass, charge;
} particle;

typedef struct patterns {
  session s;
  km_event begin, end;
  km_module module;
} patterns;

static patterns open_patterns(void) {
  patterns p;
  km_program program;
  p.s = open_session();
  check(km_event_create(p.s.context, KM_EVENT_DEFAULT, &p.begin));
  check(km_event_create(p.s.context, KM_EVENT_DEFAULT, &p.end));
  check(km_program_create(kSource, sizeof kSource - 1, "patterns.cu", &program));
  check(km_program_add_option(program, "--fmad=false")); /* the host's results to the bit */
  check(km_program_compile(program));
  check(km_module_load_program(p.s.context, program, &p.module));
  check(km_program_destroy(program));
  return p;
}

static void close_patterns(patterns* p) {
  check(km_module_destroy(p->module));
  check(km_event_destroy(p->begin));
  check(km_event_destroy(p->end));
  close_session(&p->s);
}

static km_slice upload(const patterns* p, const void* data, uint64_t element_bytes) {
  km_slice slice;
  check(km_slice_create(p->s.context, kCount, element_bytes, KM_SLICE_DEFAULT, &slice));
  check(km_slice_upload(p->s.stream, slice, 0, data, kCount * element_bytes));
  return slice;
}

/* The best of some launches, in GB/s of `bytes`. */
static double measure(const patterns* p, const char* name, const void* arguments, uint64_t size,
                      const km_launch_slice* slices, uint64_t slice_count, double bytes) {
  const km_launch_config config = {{kCount / 256, 1, 1}, {256, 1, 1}, 0};
  km_function function;
  int64_t best_ns = INT64_MAX;
  check(km_module_function(p->module, name, &function));
  for (int round = 0; round < kRounds; ++round) {
    int64_t elapsed_ns = 0;
    check(km_event_record(p->begin, p->s.stream));
    check(km_launch_kernel(p->s.stream, function, &config, arguments, size, slices, slice_count));
    check(km_event_record(p->end, p->s.stream));
    check(km_stream_synchronize(p->s.stream));
    check(km_event_elapsed_ns(p->begin, p->end, &elapsed_ns));
    if (elapsed_ns < best_ns) best_ns = elapsed_ns;
  }
  check(km_function_destroy(function));
  return bytes / (double)(best_ns > 0 ? best_ns : 1);
}

/* The same step on both layouts: 12 bytes of each particle are needed, 32 are there. */
static void compare_layouts(const patterns* p) {
  static particle structures[kCount];
  static float x[kCount], vx[kCount];
  for (int i = 0; i < kCount; ++i) {
    structures[i].x = x[i] = (float)(i % 1000);
    structures[i].vx = vx[i] = (float)(i % 7) - 3;
  }
  const struct {
    uint64_t data;
    float t;
    int n;
  } of_structures = {0, 0.5F, kCount};
  const struct {
    uint64_t x, vx;
    float t;
    int n;
  } of_arrays = {0, 0, 0.5F, kCount};
  const km_slice all = upload(p, structures, sizeof(particle));
  const km_slice first = upload(p, x, sizeof(float)), second = upload(p, vx, sizeof(float));
  const km_launch_slice one[] = {{0, 0, (uint64_t)all, 0}};
  const km_launch_slice two[] = {{0, 0, (uint64_t)first, 0}, {1, 0, (uint64_t)second, 0}};
  printf("particles as structures: %.1f GB/s of what is needed\n",
         measure(p, "structures", &of_structures, sizeof of_structures, one, 1, 12.0 * kCount));
  printf("particles as arrays:     %.1f GB/s\n",
         measure(p, "arrays", &of_arrays, sizeof of_arrays, two, 2, 12.0 * kCount));
  check(km_slice_download(p->s.stream, all, 0, structures, sizeof structures));
  check(km_slice_download(p->s.stream, first, 0, x, sizeof x));
  for (int i = 0; i < kCount; ++i) {
    const float moved = (float)(i % 1000) + kRounds * 0.5F * vx[i];
    require(structures[i].x == moved && x[i] == moved, "both layouts give the same positions");
  }
  check(km_slice_destroy(all));
  check(km_slice_destroy(first));
  check(km_slice_destroy(second));
}

static void compare_orders(const patterns* p) {
  static const char* const kNames[] = {"in order", "every 32nd", "at random"};
  static float in[kCount], out[kCount];
  static int order[kCount];
  const struct {
    uint64_t in, order, out;
    int n;
    int padding;
  } arguments = {0, 0, 0, kCount, 0};
  for (int i = 0; i < kCount; ++i) in[i] = (float)i;
  const km_slice source = upload(p, in, sizeof(float)), target = upload(p, in, sizeof(float));
  for (int pattern = 0; pattern < 3; ++pattern) {
    for (int i = 0; i < kCount; ++i) {
      const unsigned stride = (unsigned)i * 32 % kCount + (unsigned)i * 32 / kCount;
      const unsigned random = (unsigned)i * 2654435761U % kCount; /* odd: every element once */
      order[i] = pattern == 0 ? i : pattern == 1 ? (int)stride : (int)random;
    }
    const km_slice places = upload(p, order, sizeof(int));
    const km_launch_slice slices[] = {
        {0, 0, (uint64_t)source, 0}, {1, 0, (uint64_t)places, 0}, {2, 0, (uint64_t)target, 0}};
    printf("%-10s: %.1f GB/s\n", kNames[pattern],
           measure(p, "gather", &arguments, 28, slices, 3, 12.0 * kCount));
    check(km_slice_download(p->s.stream, target, 0, out, sizeof out));
    for (int i = 0; i < kCount; ++i) require(out[i] == 2 * in[order[i]], "elements are found");
    check(km_slice_destroy(places));
  }
  check(km_slice_destroy(source));
  check(km_slice_destroy(target));
}

int main(void) {
  patterns p = open_patterns();
  compare_layouts(&p);
  compare_orders(&p);
  close_patterns(&p);
  return 0;
}
