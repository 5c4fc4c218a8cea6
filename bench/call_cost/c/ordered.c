/* The price of ordering where nothing has to wait: the same launches on one stream of a context
 * with KM_CONTEXT_ORDERED and of one without, in turn, and what is added for each slice that they
 * are given. `ordered [BATCHES]`. */
#define _POSIX_C_SOURCE 199309L /* clock_gettime */
#define PROGRAM "ordered"
#include <string.h>

#include "support.h"

enum { kSlices = 8 };

/* Eight kernels of 1 to 8 parameters, which do nothing. */
static char ptx[4096] = ".version 7.0\n.target sm_70\n.address_size 64\n";

typedef struct side {
  km_context context;
  km_stream stream;
  km_function functions[kSlices + 1];
  km_launch_slice slices[kSlices];
  km_launch_operand operands[kSlices];
} side;

static void append(const char* text) { strncat(ptx, text, sizeof ptx - strlen(ptx) - 1); }

static void write_ptx(void) {
  for (int count = 1; count <= kSlices; ++count) {
    char text[64];
    snprintf(text, sizeof text, ".visible .entry k%d(", count);
    append(text);
    for (int i = 0; i < count; ++i) {
      snprintf(text, sizeof text, "%s.param .u64 p%d", i != 0 ? ", " : "", i);
      append(text);
    }
    append(")\n{\n  ret;\n}\n");
  }
}

static void open_side(side* s, km_device device, km_context_flags flags) {
  km_module module;
  check(km_context_create_with_flags(device, flags, &s->context));
  check(km_stream_create(s->context, KM_STREAM_DEFAULT, 0, &s->stream));
  check(km_module_load_ptx(s->context, ptx, strlen(ptx), "ordered.ptx", &module));
  for (int i = 1; i <= kSlices; ++i) {
    char name[8];
    snprintf(name, sizeof name, "k%d", i);
    check(km_module_function(module, name, &s->functions[i]));
  }
  for (uint32_t i = 0; i < kSlices; ++i) {
    km_slice slice;
    check(km_slice_create(s->context, 1024, 4, KM_SLICE_ZEROED, &slice));
    s->slices[i] = (km_launch_slice){i, 0, (uint64_t)(uintptr_t)slice, 0};
    s->operands[i] = (km_launch_operand){i, KM_ACCESS_READ, (uint64_t)(uintptr_t)slice, 0, 4096};
  }
}

static void launch(const side* s, uint64_t slices, int declared, int calls) {
  static const uint64_t arguments[kSlices];
  const km_launch_config config = {{1, 1, 1}, {1, 1, 1}, 0};
  const km_function function = s->functions[slices];
  for (int i = 1; i <= calls; ++i) {
    check(declared ? km_launch_kernel_operands(s->stream, function, &config, arguments, slices * 8,
                                               s->operands, slices)
                   : km_launch_kernel(s->stream, function, &config, arguments, slices * 8,
                                      s->slices, slices));
    if (i % kLaunchesPerWait == 0) check(km_stream_synchronize(s->stream));
  }
}

/* Nanoseconds of a launch, the least of the batches, on both sides. */
static void measure(const side sides[2], uint64_t slices, int declared, int batches,
                    double least[2]) {
  for (int batch = -1; batch < batches; ++batch) {
    for (int k = 0; k < 2; ++k) {
      const double start = now_ns();
      launch(&sides[k], slices, declared, kLaunches);
      const double per_call = (now_ns() - start) / kLaunches;
      if (batch <= 0 || per_call < least[k]) least[k] = per_call;
    }
  }
}

int main(int argc, char** argv) {
  const int batches = argc > 1 ? atoi(argv[1]) : kBatches;
  static side sides[2];
  km_device device;
  write_ptx();
  check(km_device_open("cpu:0", &device));
  open_side(&sides[0], device, KM_CONTEXT_DEFAULT);
  open_side(&sides[1], device, KM_CONTEXT_ORDERED);
  for (int declared = 0; declared < 2; ++declared) {
    for (uint64_t slices = 1; slices <= kSlices; slices *= 2) {
      double least[2];
      measure(sides, slices, declared, batches, least);
      printf(
          "{\"metric\": \"launch_%d_%s\", \"unit\": \"ns\", \"unordered\": %.1f, "
          "\"ordered\": %.1f, \"per_slice\": %.2f}\n",
          (int)slices, declared ? "read" : "written", least[0], least[1],
          (least[1] - least[0]) / (double)slices);
    }
  }
  return 0;
}
