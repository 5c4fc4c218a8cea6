/* 8-bit images in host memory, and PNG files by libpng. */
#ifndef KERNELMILL_EXAMPLE_IMAGE_H
#define KERNELMILL_EXAMPLE_IMAGE_H

#include <stddef.h>

typedef struct {
  int width, height, channels; /* 1 grey, 3 RGB */
  unsigned char* pixels;
} image;

/* Each ends the program with a message when it cannot do its work. */
image image_new(int width, int height, int channels);
image image_read(const char* path); /* as RGB */
/* The brightness of an RGB image, which it frees. */
image image_grey(image rgb);
/* Grey, as a binary PGM file. */
void image_write_pgm(const image* grey, const char* path);
/* Writes "<name>.png" into the folder of `beside` and says so. */
void image_write(const image* picture, const char* beside, const char* name);

size_t image_bytes(const image* picture);

#endif
