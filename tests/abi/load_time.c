/* load_time LIBRARY LIMIT_US: the best of several fresh processes must load the library within the
 * limit. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { kRepeats = 20 };

static long now_us(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000000L + time.tv_nsec / 1000;
}

/* The time of one load, measured by a child in which nothing is loaded yet; -1 where it fails. */
static long load_us(const char* library) {
  int ends[2];
  long elapsed_us = -1;
  if (pipe(ends) != 0) return -1;
  pid_t child = fork();
  if (child == 0) {
    long start_us = now_us();
    void* handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    elapsed_us = handle == NULL ? -1 : now_us() - start_us;
    if (handle == NULL) fprintf(stderr, "%s\n", dlerror());
    _exit(write(ends[1], &elapsed_us, sizeof(elapsed_us)) == sizeof(elapsed_us) ? 0 : 1);
  }
  close(ends[1]);
  if (read(ends[0], &elapsed_us, sizeof(elapsed_us)) != sizeof(elapsed_us)) elapsed_us = -1;
  close(ends[0]);
  waitpid(child, NULL, 0);
  return elapsed_us;
}

int main(int argc, char** argv) {
  long best_us = -1;
  if (argc != 3) return 2;
  for (int i = 0; i < kRepeats; ++i) {
    long elapsed_us = load_us(argv[1]);
    if (elapsed_us < 0) return 1;
    if (best_us < 0 || elapsed_us < best_us) best_us = elapsed_us;
  }
  printf("loads in %ld us, at most %s us\n", best_us, argv[2]);
  return best_us <= atol(argv[2]) ? 0 : 1;
}
