/* After fork, every call in the child is a clear status, the child ends without hanging, and the
 * parent goes on. */
#include <sys/wait.h>
#include <unistd.h>

#include "support/host.h"

static int g_in_child;

/* LeakSanitizer asks: what the stacks of the parent's threads hold looks lost in a child. */
__attribute__((visibility("default"))) int __lsan_is_turned_off(void);
int __lsan_is_turned_off(void) { return g_in_child; }

int main(void) {
  host h;
  host_open(&h);
  check_works(&h);
  for (int i = 0; i < 5; ++i) {
    launch_store(&h, 0, 0); /* workers are awake, and something may be queued */
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
      g_in_child = 1;
      alarm(20);
      CHECK_STATUS(KM_ERROR_FORKED, km_stream_synchronize(h.stream));
      km_context context = NULL;
      CHECK_STATUS(KM_ERROR_FORKED, km_context_create(h.device, &context));
      exit(0); /* with all exit handlers */
    }
    int status = 0;
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    CHECK_STATUS(KM_ERROR_ILLEGAL_ADDRESS, km_stream_synchronize(h.stream));
    OK(km_context_reset(h.context));
    host_load(&h);
  }
  check_works(&h);
  host_close(&h);
  return 0;
}
