/* A program whose handles end in a function that was registered for the end of the process before
 * the library was used, as destructors of static C++ objects are: by then the driver's own static
 * objects, and those of its layers, have ended. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <kernelmill/c_api.h>

static km_device device;
static km_context context, late;
static km_stream stream;
static km_slice slice;
static km_module module;

static void end(void) {
  if (km_context_create(device, &late) == KM_SUCCESS) _exit(3);
  if (km_module_destroy(module) != KM_SUCCESS || km_slice_destroy(slice) != KM_SUCCESS ||
      km_stream_destroy(stream) != KM_SUCCESS || km_context_destroy(context) != KM_SUCCESS ||
      km_device_destroy(device) != KM_SUCCESS) {
    _exit(4);
  }
}

int main(void) {
  static const char ptx[] =
      ".version 7.8\n.target sm_80\n.address_size 64\n"
      ".global .u32 counter;\n"
      ".visible .entry count() {\n.reg .u32 %r;\natom.global.add.u32 %r, [counter], 1;\nret;\n}\n";
  const km_launch_config config = {{4, 1, 1}, {32, 1, 1}, 0};
  const char* const uri = getenv("KM_TEST_DEVICE");
  km_function count;
  if (uri == NULL || atexit(end) != 0) return 1;
  if (km_device_open(uri, &device) != KM_SUCCESS ||
      km_context_create(device, &context) != KM_SUCCESS ||
      km_stream_create(context, 0, 0, &stream) != KM_SUCCESS ||
      km_slice_create(context, 4096, 1, KM_SLICE_DEFAULT, &slice) != KM_SUCCESS ||
      km_module_load_ptx(context, ptx, sizeof ptx - 1, "late_end.ptx", &module) != KM_SUCCESS ||
      km_module_function(module, "count", &count) != KM_SUCCESS ||
      km_launch_kernel(stream, count, &config, NULL, 0, NULL, 0) != KM_SUCCESS ||
      km_stream_synchronize(stream) != KM_SUCCESS) {
    char text[512];
    uint64_t size;
    km_last_error_message(text, sizeof text, &size);
    fprintf(stderr, "%s\n", text);
    return 2;
  }
  return 0;
}
