#include "tools/arrays/png_file.h"

#include <png.h>

#include <cstring>

#include "base/file/file_writer.h"
#include "tools/error.h"
#include "tools/files.h"

namespace km::tools {
namespace {

/// libpng's state of one image, which owns the error message.
class PngImage {
 public:
  PngImage() {
    std::memset(&image_, 0, sizeof image_);
    image_.version = PNG_IMAGE_VERSION;
  }
  ~PngImage() { png_image_free(&image_); }
  PngImage(const PngImage&) = delete;
  PngImage& operator=(const PngImage&) = delete;

  png_image* get() { return &image_; }
  png_image* operator->() { return &image_; }

 private:
  png_image image_;
};

constexpr png_uint_32 kFormats[] = {PNG_FORMAT_GRAY, PNG_FORMAT_GA, PNG_FORMAT_RGB,
                                    PNG_FORMAT_RGBA};

}  // namespace

Result<Array> read_png(const std::string& path) {
  KM_ASSIGN(const std::string file, read_named_file(path, max_array_bytes()));
  PngImage png;
  if (!png_image_begin_read_from_memory(png.get(), file.data(), file.size())) {
    return file_error(path, png->message);
  }
  png->format &= PNG_FORMAT_FLAG_COLOR | PNG_FORMAT_FLAG_ALPHA;
  const std::vector<uint64_t> shape = {png->height, png->width,
                                       PNG_IMAGE_SAMPLE_CHANNELS(png->format)};
  KM_ASSIGN(const uint64_t size, array_bytes(ElementType::kU8, shape));
  if (size > PNG_UINT_31_MAX) return file_error(path, "an image of more than 2 GiB");
  KM_ASSIGN(Array array, make_array(ElementType::kU8, shape));
  if (!png_image_finish_read(png.get(), nullptr, array.bytes.data(), 0, nullptr)) {
    return file_error(path, png->message);
  }
  return array;
}

Status write_png(const std::string& path, const Array& image) {
  PngImage png;
  png->height = static_cast<png_uint_32>(image.shape[0]);
  png->width = static_cast<png_uint_32>(image.shape[1]);
  png->format = kFormats[image.shape.size() < 3 ? 0 : image.shape[2] - 1];
  png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(*png.get());
  std::string file(size, '\0');
  if (!png_image_write_to_memory(png.get(), file.data(), &size, 0, image.bytes.data(), 0,
                                 nullptr)) {
    return file_error(path, png->message);
  }
  return write_file(path, std::string_view(file).substr(0, size));
}

}  // namespace km::tools
