/* How a test speaks to the stand-in for cuBLAS: symbols of its own, found by dlsym. */
#ifndef KM_TESTS_FAKE_CUBLAS_CONTROL_H
#define KM_TESTS_FAKE_CUBLAS_CONTROL_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The call with this number from now on (0: the next one) gives `status`; -1: none does. */
void fake_cublas_fail(int64_t index, int32_t status);
/* Calls so far that can be made to fail. */
int64_t fake_cublas_calls(void);
/* The name of the call that was made to fail; empty: none was. */
const char* fake_cublas_failed_call(void);
/* Calls with what is no live handle. */
int64_t fake_cublas_misuses(void);

#ifdef __cplusplus
}
#endif

#endif
