// Finds the edges of a picture by a CUDA C++ kernel: sobel INPUT.png OUTPUT.pgm
#include <png.h>

#include <cstdint>
#include <fstream>
#include <iostream>
#include <kernelmill/kernelmill.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "generated/sobel.hpp"

namespace {

constexpr int kTile = 16;

struct Picture {
  int width = 0, height = 0;
  std::vector<std::uint8_t> pixels;  // grey
};

Picture read_grey(const std::string& path) {
  png_image png{};
  png.version = PNG_IMAGE_VERSION;
  const auto check = [&](int works) {
    if (works == 0) throw std::runtime_error(path + ": " + png.message);
  };
  check(png_image_begin_read_from_file(&png, path.c_str()));
  png.format = PNG_FORMAT_RGB;
  std::vector<std::uint8_t> rgb(PNG_IMAGE_SIZE(png));
  check(png_image_finish_read(&png, nullptr, rgb.data(), 0, nullptr));
  Picture picture{static_cast<int>(png.width), static_cast<int>(png.height), {}};
  for (std::size_t i = 0; i + 2 < rgb.size(); i += 3) {
    const int luma = 77 * rgb[i] + 150 * rgb[i + 1] + 29 * rgb[i + 2] + 128;
    picture.pixels.push_back(static_cast<std::uint8_t>(luma >> 8));
  }
  return picture;
}

std::vector<std::uint8_t> edges(const Picture& picture) {
  const km::context context("auto");  // what KM_DEVICE says, else a GPU, else the CPU
  const km::stream stream(context);
  const sobel::kernels kernels(context);
  const km::slice<std::uint8_t> in(context, picture.pixels.size());
  const km::slice<std::uint8_t> out(context, picture.pixels.size());
  in.upload(stream, picture.pixels);
  const auto blocks = [](int size) {
    return static_cast<std::uint32_t>((size + kTile - 1) / kTile);
  };
  kernels.sobel(stream, {blocks(picture.width), blocks(picture.height), 1}, {kTile, kTile, 1}, 0,
                in, out, picture.width, picture.height);
  return out.to_vector(stream);
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 3) throw std::runtime_error("usage: sobel INPUT.png OUTPUT.pgm");
  const Picture picture = read_grey(argv[1]);
  const std::vector<std::uint8_t> result = edges(picture);
  std::ofstream file(argv[2], std::ios::binary);
  file << "P5\n" << picture.width << ' ' << picture.height << "\n255\n";
  file.write(reinterpret_cast<const char*>(result.data()),
             static_cast<std::streamsize>(result.size()));
  if (!file.flush()) throw std::runtime_error(std::string(argv[2]) + ": cannot be written");
  return 0;
} catch (const std::exception& error) {
  std::cerr << "sobel: " << error.what() << '\n';
  return 1;
}
