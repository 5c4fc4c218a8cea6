#include "tools/arrays/jpeg_file.h"

#include <csetjmp>
#include <cstdio>

#include <jpeglib.h>

#include "tools/error.h"
#include "tools/files.h"

namespace km::tools {
namespace {

/// libjpeg's state of one image. Its error handler must not return, so it jumps back to decode().
struct Decoder {
  jpeg_decompress_struct image{};
  jpeg_error_mgr errors{};
  std::jmp_buf failed{};
  char message[JMSG_LENGTH_MAX] = "";

  Decoder() {
    image.err = jpeg_std_error(&errors);
    image.client_data = this;
    errors.error_exit = [](j_common_ptr common) {
      auto* const self = static_cast<Decoder*>(common->client_data);
      common->err->format_message(common, self->message);
      std::longjmp(self->failed, 1);
    };
    // A warning means damaged or truncated data, so pixels would be guesses; it counts as an error.
    errors.emit_message = [](j_common_ptr common, int level) {
      if (level < 0) common->err->error_exit(common);
    };
  }
  ~Decoder() { jpeg_destroy_decompress(&image); }
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;
};

/// Returns false with a message. No frame up to libjpeg's calls may have destructors, since errors
/// jump over them.
bool read_header(Decoder* decoder, const std::string& file) {
  if (setjmp(decoder->failed) != 0) return false;
  jpeg_create_decompress(&decoder->image);
  jpeg_mem_src(&decoder->image, reinterpret_cast<const unsigned char*>(file.data()), file.size());
  jpeg_read_header(&decoder->image, TRUE);
  const bool is_grey = decoder->image.num_components == 1;
  decoder->image.out_color_space = is_grey ? JCS_GRAYSCALE : JCS_RGB;
  jpeg_calc_output_dimensions(&decoder->image);
  return true;
}

bool read_rows(Decoder* decoder, unsigned char* pixels, uint64_t row_bytes) {
  if (setjmp(decoder->failed) != 0) return false;
  jpeg_start_decompress(&decoder->image);
  while (decoder->image.output_scanline < decoder->image.output_height) {
    JSAMPROW row = pixels + decoder->image.output_scanline * row_bytes;
    jpeg_read_scanlines(&decoder->image, &row, 1);
  }
  return jpeg_finish_decompress(&decoder->image) != 0;
}

}  // namespace

Result<Array> read_jpeg(const std::string& path) {
  KM_ASSIGN(const std::string file, read_named_file(path, max_array_bytes()));
  Decoder decoder;
  if (!read_header(&decoder, file)) return file_error(path, decoder.message);
  const auto channels = static_cast<uint64_t>(decoder.image.output_components);
  Result<Array> array = make_array(
      ElementType::kU8, {decoder.image.output_height, decoder.image.output_width, channels});
  if (!array) return file_error(path, array.error().message);
  auto* const pixels = reinterpret_cast<unsigned char*>(array->bytes.data());
  if (!read_rows(&decoder, pixels, decoder.image.output_width * channels)) {
    return file_error(path, decoder.message);
  }
  return array;
}

}  // namespace km::tools
