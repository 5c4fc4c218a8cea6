/* A device with one stream, and timed launches of kernels on it. Each function ends the program
 * with a message when it cannot do its work. */
#ifndef KERNELMILL_EXAMPLE_RUNNER_H
#define KERNELMILL_EXAMPLE_RUNNER_H

#include <kernelmill/c_api.h>
#include <stddef.h>

/* A kernel argument: memory of the device, or a value. A list of them ends with one of size 0. */
typedef struct {
  km_slice slice;
  const void* value;
  size_t size;
} argument;
#define SLICE(s) {(s), NULL, sizeof(km_slice)}
#define VALUE(v) {NULL, &(v), sizeof(v)}
#define ARGUMENTS(...) ((argument[]){__VA_ARGS__, {NULL, NULL, 0}})

void check(km_status status);

void open_device(const char* uri); /* and says which it is */
void close_device(void);

km_module load(const char* folder, const char* file);
km_slice new_slice(size_t size_bytes); /* zeroed */
void upload(km_slice slice, const void* bytes, size_t size_bytes);
void download(km_slice slice, void* bytes, size_t size_bytes);

/* Launches a kernel several times and prints the times; zeroes `zeroed` before each, if not null.
 */
void run(km_module module, const char* name, km_launch_config config, const argument* arguments,
         km_slice zeroed);

#endif
