/* What a user's first program does: asks for the version, opens the CPU. */
#include <inttypes.h>
#include <kernelmill/c_api.h>
#include <stdio.h>

int main(void) {
  uint32_t major = 0, minor = 0, patch = 0;
  km_device device = NULL;
  char message[1024] = "";
  if (km_version(&major, &minor, &patch) != KM_SUCCESS) return 1;
  printf("%" PRIu32 ".%" PRIu32 ".%" PRIu32 "\n", major, minor, patch);
  if (km_device_open("cpu", &device) != KM_SUCCESS) {
    km_last_error_message(message, sizeof(message), NULL);
    fprintf(stderr, "%s\n", message);
    return 1;
  }
  return km_device_destroy(device) == KM_SUCCESS ? 0 : 1;
}
