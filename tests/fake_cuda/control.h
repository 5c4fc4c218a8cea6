/* How a test speaks to the fake driver: symbols of its own, found by dlsym. */
#ifndef KM_TESTS_FAKE_CUDA_CONTROL_H
#define KM_TESTS_FAKE_CUDA_CONTROL_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The call with this number from now on (0: the next one) gives `result`; -1: none does. */
void fake_cuda_fail(int64_t index, int32_t result);
/* Calls so far that can be made to fail. */
int64_t fake_cuda_calls(void);
/* The name of the call that was made to fail; empty: none was. */
const char* fake_cuda_failed_call(void);
/* Objects that were made and not destroyed, by kind, as text; empty: none. */
const char* fake_cuda_live(void);
/* Calls with what is no live object, or without the context that they need. */
int64_t fake_cuda_misuses(void);
const char* fake_cuda_last_misuse(void);
/* Contexts on this thread's stack. */
int64_t fake_cuda_depth(void);

/* For libraries that stand on the driver. Between 1 and -1, this thread's calls are theirs: the
 * script does not see them. Objects of theirs belong to the thread's context, and go with it. */
void fake_cuda_enter(int by);
uint64_t fake_cuda_add_object(const char* kind);
int fake_cuda_has_object(const char* kind, uint64_t object);
void fake_cuda_remove_object(const char* kind, uint64_t object);

#ifdef __cplusplus
}
#endif

#endif
