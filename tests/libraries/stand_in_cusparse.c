/* The descriptions of cuSPARSE's matrices, for tests of cuSOLVER in builds without libcusparse. */
#include <stdlib.h>

typedef struct {
  int base;
} description;

int cusparseCreateMatDescr(description** out);
int cusparseDestroyMatDescr(description* d);
int cusparseSetMatIndexBase(description* d, int base);
int cusparseGetMatIndexBase(const description* d);

int cusparseCreateMatDescr(description** out) {
  *out = calloc(1, sizeof **out);
  return *out == NULL ? 2 : 0;
}
int cusparseDestroyMatDescr(description* d) {
  free(d);
  return 0;
}
int cusparseSetMatIndexBase(description* d, int base) {
  d->base = base;
  return 0;
}
int cusparseGetMatIndexBase(const description* d) { return d->base; }
