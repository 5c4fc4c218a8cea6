/* A plugin of a host, which links the library and leaves work behind when it is unloaded. */
#include <stddef.h>

#include <kernelmill/c_api.h>

__attribute__((visibility("default"))) int host_plugin_run(void);

int host_plugin_run(void) {
  static const char ptx[] =
      ".version 7.8\n.target sm_80\n.address_size 64\n"
      ".visible .entry endless() { again: bra again; }\n"
      ".visible .entry none() { ret; }\n";
  const km_launch_config config = {{4, 1, 1}, {32, 1, 1}, 0};
  km_device device;
  km_context context;
  km_stream stream, other;
  km_module module;
  km_function endless, none;
  if (km_device_open("cpu", &device) != KM_SUCCESS ||
      km_context_create(device, &context) != KM_SUCCESS ||
      km_stream_create(context, 0, 0, &stream) != KM_SUCCESS ||
      km_stream_create(context, 0, 0, &other) != KM_SUCCESS ||
      km_module_load_ptx(context, ptx, sizeof ptx - 1, "plugin.ptx", &module) != KM_SUCCESS ||
      km_module_function(module, "endless", &endless) != KM_SUCCESS ||
      km_module_function(module, "none", &none) != KM_SUCCESS) {
    return 1;
  }
  /* The first stream never comes to its end; the second is idle. */
  if (km_launch_kernel(other, none, &config, NULL, 0, NULL, 0) != KM_SUCCESS ||
      km_stream_synchronize(other) != KM_SUCCESS ||
      km_launch_kernel(stream, endless, &config, NULL, 0, NULL, 0) != KM_SUCCESS ||
      km_stream_synchronize_timeout(stream, 5000000) != KM_TIMEOUT) {
    return 2;
  }
  return 0;
}
