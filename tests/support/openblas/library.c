/* An OpenBLAS of long ago: it runs rotations of reals, and has no other function of BLAS. */
int openblas_get_parallel(void);
void openblas_set_num_threads(int count);
void cblas_srot(int n, float* x, int x_step, float* y, int y_step, float cosine, float sine);

int openblas_get_parallel(void) { return 1; }

void openblas_set_num_threads(int count) { (void)count; }

void cblas_srot(int n, float* x, int x_step, float* y, int y_step, float cosine, float sine) {
  /* Vectors of negative steps begin at their last element in memory. */
  if (x_step < 0) x -= (long)(n - 1) * x_step;
  if (y_step < 0) y -= (long)(n - 1) * y_step;
  for (int i = 0; i < n; ++i) {
    float* const a = x + (long)i * x_step;
    float* const b = y + (long)i * y_step;
    const float turned = cosine * *a + sine * *b;
    *b = cosine * *b - sine * *a;
    *a = turned;
  }
}
