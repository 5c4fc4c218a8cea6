/* plugin_host PLUGIN: a program that knows nothing of the library, loads a plugin that uses it, and
 * unloads it while its kernels run: again and again, on several threads at once, and then exits. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { kThreads = 3, kTurns = 4 };

static const char* path;

static int use_plugin(void) {
  void* const plugin = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  void* const symbol = plugin != NULL ? dlsym(plugin, "host_plugin_run") : NULL;
  if (symbol == NULL) {
    fprintf(stderr, "%s\n", dlerror());
    return 1;
  }
  int (*run)(void);
  memcpy(&run, &symbol, sizeof run);
  const int status = run();
  return dlclose(plugin) != 0 ? 3 : status;
}

static void* use_again(void* unused) {
  (void)unused;
  for (int i = 0; i < kTurns; ++i) {
    const int status = use_plugin();
    if (status != 0) {
      fprintf(stderr, "the plugin gave %d\n", status);
      _exit(4);
    }
  }
  return NULL;
}

int main(int argc, char** argv) {
  pthread_t threads[kThreads];
  if (argc != 2) return 2;
  path = argv[1];
  alarm(120);
  for (int i = 0; i < kThreads; ++i) {
    if (pthread_create(&threads[i], NULL, use_again, NULL) != 0) return 3;
  }
  for (int i = 0; i < kThreads; ++i) pthread_join(threads[i], NULL);
  return 0;
}
