/* A library that calls an imported function while it is loaded. */
#include <unistd.h>

static pid_t parent;

__attribute__((constructor)) static void on_load(void) { parent = getppid(); }

__attribute__((visibility("default"))) pid_t parent_when_loaded(void) { return parent; }
