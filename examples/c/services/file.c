/* A file as device memory: no read, no copy; kernels' changes stay in this process. */
#include <stdio.h>

#include "session.h"

enum { kCount = 100000, kHeaderBytes = 64 };

static const char kPath[] = "kernelmill-example.bin";

/* A header, then floats 0, 1, 2 ... */
static void write_file(void) {
  static float values[kCount];
  const char header[kHeaderBytes] = "a header";
  for (int i = 0; i < kCount; ++i) values[i] = (float)i;
  FILE* file = fopen(kPath, "wb");
  require(file != NULL, "the file can be made");
  require(fwrite(header, 1, sizeof header, file) == sizeof header, "the header is written");
  require(fwrite(values, 1, sizeof values, file) == sizeof values, "the values are written");
  require(fclose(file) == 0, "the file is whole");
}

static float last_in_file(void) {
  float value = 0;
  FILE* file = fopen(kPath, "rb");
  require(file != NULL && fseek(file, -(long)sizeof value, SEEK_END) == 0, "the file is there");
  require(fread(&value, sizeof value, 1, file) == 1, "the file can be read");
  fclose(file);
  return value;
}

int main(void) {
  session s = open_session();
  write_file();

  km_slice slice;
  km_slice_info info = {.struct_size = sizeof info};
  check(km_slice_map_file(s.context, kPath, kHeaderBytes, UINT64_MAX, sizeof(float), KM_MAP_PRIVATE,
                          &slice)); /* all floats that there are behind the header */
  check(km_slice_info_get(slice, &info));
  require(info.size_bytes == kCount * sizeof(float), "the slice is the rest of the file");
  queue_scale(&s, slice, 2, kCount);
  check(km_stream_synchronize(s.stream));

  float* values = NULL;
  check(km_slice_host_pointer(slice, (void**)&values)); /* the same memory, where it is shared */
  printf("the last value: %g in memory, %g in the file\n", values[kCount - 1], last_in_file());
  require(values[kCount - 1] == 2.0F * (kCount - 1), "the kernel's change is in memory");
  require(last_in_file() == kCount - 1, "the file is as it was");

  check(km_slice_destroy(slice));
  remove(kPath);
  close_session(&s);
  return 0;
}
