#include "base/callback/unwind_boundary.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#endif

/* The C parts of pthread_cleanup_push and pthread_cleanup_pop: an unwinding thread jumps back to
 * the frame of each registered buffer and normally continues from there. Here the buffer is
 * unregistered and the frame continues instead. */
int km_call_with_boundary(void (*function)(void*), void* argument, km_unwind_boundary* boundary) {
  if (__sigsetjmp_cancel(boundary->__cancel_jmp_buf, 0) != 0) {
    __pthread_unregister_cancel(boundary);
#if defined(__SANITIZE_ADDRESS__)
    __asan_handle_no_return(); /* the function's frames are abandoned without returning */
#endif
    return 0;
  }
  __pthread_register_cancel(boundary);
  function(argument);
  __pthread_unregister_cancel(boundary);
  return 1;
}

void km_drop_boundary(km_unwind_boundary* boundary) { __pthread_unregister_cancel(boundary); }

void km_resume_thread_end(void) {
  km_unwind_boundary boundary;
  __pthread_register_cancel(&boundary);
  __pthread_unwind_next(&boundary);
}
