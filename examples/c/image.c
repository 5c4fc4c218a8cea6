#include "image.h"

#include <errno.h>
#include <png.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void fail(const char* path, const char* reason) {
  fprintf(stderr, "%s: %s\n", path, reason);
  exit(1);
}

size_t image_bytes(const image* picture) {
  return (size_t)picture->width * (size_t)picture->height * (size_t)picture->channels;
}

image image_new(int width, int height, int channels) {
  image picture = {width, height, channels, NULL};
  picture.pixels = malloc(image_bytes(&picture));
  if (picture.pixels == NULL) fail("image", "out of memory");
  return picture;
}

image image_read(const char* path) {
  png_image png = {.version = PNG_IMAGE_VERSION};
  if (!png_image_begin_read_from_file(&png, path)) fail(path, png.message);
  png.format = PNG_FORMAT_RGB;
  image picture = image_new((int)png.width, (int)png.height, 3);
  if (!png_image_finish_read(&png, NULL, picture.pixels, 0, NULL)) fail(path, png.message);
  return picture;
}

image image_grey(image rgb) {
  image grey = image_new(rgb.width, rgb.height, 1);
  for (size_t i = 0; i < image_bytes(&grey); ++i) {
    const unsigned char* pixel = rgb.pixels + 3 * i;
    grey.pixels[i] = (unsigned char)((77 * pixel[0] + 150 * pixel[1] + 29 * pixel[2] + 128) >> 8);
  }
  free(rgb.pixels);
  return grey;
}

void image_write_pgm(const image* grey, const char* path) {
  FILE* file = fopen(path, "wb");
  if (file == NULL) fail(path, strerror(errno));
  fprintf(file, "P5\n%d %d\n255\n", grey->width, grey->height);
  const size_t written = fwrite(grey->pixels, 1, image_bytes(grey), file);
  if (fclose(file) != 0 || written != image_bytes(grey)) fail(path, "cannot be written");
}

void image_write(const image* picture, const char* beside, const char* name) {
  const char* slash = strrchr(beside, '/');
  const int folder_length = slash != NULL ? (int)(slash + 1 - beside) : 0;
  char path[4096];
  snprintf(path, sizeof path, "%.*s%s.png", folder_length, beside, name);
  png_image png = {.version = PNG_IMAGE_VERSION,
                   .width = (png_uint_32)picture->width,
                   .height = (png_uint_32)picture->height,
                   .format = picture->channels == 1 ? PNG_FORMAT_GRAY : PNG_FORMAT_RGB};
  if (!png_image_write_to_file(&png, path, 0, picture->pixels, 0, NULL)) fail(path, png.message);
  printf("  wrote %s\n", path);
}
