// Opens the libraries that it is given by dlopen(), and says for each which file that is; a name
// after "loaded:" has to be there already.
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <string.h>

static int open_one(const char* name) {
  static const char kLoaded[] = "loaded:";
  const int is_loaded = strncmp(name, kLoaded, strlen(kLoaded)) == 0;
  const char* const path = is_loaded ? name + strlen(kLoaded) : name;
  struct link_map* map = NULL;
  void* const library = dlopen(path, is_loaded ? RTLD_NOW | RTLD_NOLOAD : RTLD_LAZY);
  if (library == NULL || dlinfo(library, RTLD_DI_LINKMAP, &map) != 0) {
    printf("none\n");
    return 0;
  }
  printf("%s\n", map->l_name);
  return 0;
}

int main(int count, char** names) {
  for (int i = 1; i < count; ++i) open_one(names[i]);
  return 0;
}
