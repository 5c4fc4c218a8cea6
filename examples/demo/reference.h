/* What the demo's kernels compute, in plain C++ on one core: the same operations in the same order,
 * so that the results agree to the bit. Pixels are rows of interleaved 8-bit channels. */
#ifndef KERNELMILL_DEMO_REFERENCE_H
#define KERNELMILL_DEMO_REFERENCE_H

#ifdef __cplusplus
extern "C" {
#endif

#define BLUR_RADIUS 4

void reference_blur(const unsigned char* in, unsigned char* out, int width, int height,
                    int channels, const float* weights);
void reference_sobel(const unsigned char* in, unsigned char* out, int width, int height,
                     float threshold);
void reference_equalize(const unsigned char* in, unsigned char* out, int pixel_count);
void reference_resize(const unsigned char* in, int in_width, int in_height, unsigned char* out,
                      int out_width, int out_height, int channels);

#ifdef __cplusplus
}
#endif
#endif
