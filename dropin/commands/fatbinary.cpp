// fatbinary: puts cubins and PTX into one fat binary.
#include <charconv>

#include "base/file/file.h"
#include "base/file/file_writer.h"
#include "dropin/commands/command.h"
#include "dropin/toolchain/fat_binary.h"
#include "dropin/toolchain/release.h"

namespace {

using namespace km;  // NOLINT: a command of this project
using toolchain::NewImage;
using toolchain::Option;
using toolchain::OptionKind;

constexpr int kFailure = 1;
constexpr const char* kCommand = "fatbinary";

constexpr Option kOptions[] = {
    {"32", "32", OptionKind::kFlag},
    {"64", "64", OptionKind::kFlag},
    {"cicc-cmdline", "cicc-cmdline", OptionKind::kValue},  // of nvcc, in no list
    {"cmdline", "cmdline", OptionKind::kValue},
    {"compress", "compress", OptionKind::kBoolean},
    {"compress-all", "compress-all", OptionKind::kFlag},
    {"compress-mode", "compress-mode", OptionKind::kValue},
    {"concat", "concat", OptionKind::kFlag},
    {"create", "create", OptionKind::kValue},
    {"debug", "g", OptionKind::kFlag},
    {"device-c", "c", OptionKind::kFlag},
    {"embedded-fatbin", "fatbin", OptionKind::kValue},
    {"help", "h", OptionKind::kFlag},
    {"ident", "ident", OptionKind::kValue},
    {"image", "image", OptionKind::kValue},
    {"image2", "image2", OptionKind::kValue},
    {"image3", "image3", OptionKind::kValue},
    {"link", "link", OptionKind::kFlag},
    {"no-asm", "no-asm", OptionKind::kFlag},
    {"options-file", "optf", OptionKind::kValue},
    {"tileir-cmdline", "tileir-cmdline", OptionKind::kValue},
    {"version", "V", OptionKind::kFlag},
};

template <class... Arguments>
Error wrong(const char* format, Arguments... arguments) {
  return make_error(KM_ERROR_INVALID_ARGUMENT, format, arguments...);
}

/// The specification of one image: kind=elf,sm=90,file=x.cubin, or profile=sm_90,file=x.
struct Specification {
  std::string kind, sm, file;
};

Result<Specification> read_specification(const std::string& option, const std::string& text) {
  Specification found;
  size_t begin = 0;
  while (begin <= text.size()) {
    const size_t end = std::min(text.find(',', begin), text.size());
    const std::string part = text.substr(begin, end - begin);
    const std::string key = part.substr(0, part.find('='));
    const std::string value = part.size() > key.size() ? part.substr(key.size() + 1) : "";
    if (key == "kind") {
      found.kind = value;
    } else if (key == "sm") {
      found.sm = value;
    } else if (key == "file") {
      found.file = value;
    } else if (key == "profile" && option == "image") {
      found.kind = value.starts_with("compute_") ? "ptx" : "elf";
      found.sm = value.substr(value.find('_') + 1);
    } else {
      return wrong("Keyword '%s' is not defined for option '%s'", key.c_str(), option.c_str());
    }
    begin = end + 1;
  }
  return found;
}

Result<NewImage> read_image(const std::string& option, const std::string& text) {
  KM_ASSIGN(const Specification given, read_specification(option, text));
  NewImage image;
  if (given.kind == "ptx") {
    image.kind = toolchain::ImageKind::kPtx;
  } else if (given.kind == "elf" || given.kind == "cubin") {
    image.kind = toolchain::ImageKind::kElf;
  } else {
    return wrong("Missing or unknown kind in %s", option.c_str());
  }
  if (given.file.empty()) return wrong("Missing file in image");
  std::from_chars(given.sm.data(), given.sm.data() + given.sm.size(), image.capability);
  if (image.capability == 0) return wrong("Missing or unknown sm in %s", option.c_str());
  Result<std::string> content = read_file(given.file, toolchain::kMaxImageBytes);
  if (!content) return wrong("Could not open input file '%s'", given.file.c_str());
  image.content = std::move(*content);
  return image;
}

/// The C source that nvcc compiles into a program: the binary as assembly, and its wrapper.
std::string embedded_source(const std::string& binary, bool is_relocatable) {
  constexpr size_t kWordBytes = 8, kWordsOfLine = 4;
  std::string source =
      "#ifndef __SKIP_INTERNAL_FATBINARY_HEADERS\n#include \"fatbinary_section.h\"\n#endif\n"
      "#define __CUDAFATBINSECTION  \".nvFatBinSegment\"\n";
  const std::string section = is_relocatable ? "__nv_relfatbin" : ".nv_fatbin";
  source += "#define __CUDAFATBINDATASECTION  \"" + section + "\"\nasm(\n\".section " + section +
            ", \\\"a\\\"\\n\"\n\".align 8\\n\"\n\"fatbinData:\\n\"\n";
  std::string padded = binary;
  padded.resize((binary.size() + kWordBytes - 1) / kWordBytes * kWordBytes);
  const size_t words = padded.size() / kWordBytes;
  for (size_t i = 0; i < words; ++i) {
    uint64_t word = 0;
    padded.copy(reinterpret_cast<char*>(&word), kWordBytes, i * kWordBytes);
    char text[32];
    std::snprintf(text, sizeof text, "0x%016llx", static_cast<unsigned long long>(word));
    source += (i % kWordsOfLine == 0 ? "\".quad " : ",") + std::string(text);
    if (i % kWordsOfLine == kWordsOfLine - 1 || i + 1 == words) source += "\\n\"\n";
  }
  return source +
         "\".text\\n\");\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n"
         "extern const unsigned long long fatbinData[" +
         std::to_string(words) +
         "];\n"
         "#ifdef __cplusplus\n}\n#endif\n"
         "#ifdef __cplusplus\nextern \"C\" {\n#endif\n"
         "static const __fatBinC_Wrapper_t __fatDeviceText __attribute__ ((aligned (8))) "
         "__attribute__ ((section (__CUDAFATBINSECTION)))= \n"
         "\t{ 0x466243b1, 1, fatbinData, 0 };\n"
         "#undef __CUDAFATBINDATASECTION\n#undef __CUDAFATBINSECTION\n"
         "#ifdef __cplusplus\n}\n#endif\n";
}

int write(const std::string& path, const std::string& content) {
  if (const Status written = write_file(path, content); written) return 0;
  return commands::fatal(kCommand, "Could not open output file '" + path + "'", kFailure);
}

int run(const toolchain::CommandLine& line) {
  std::vector<NewImage> images;
  for (const char* option : {"image", "image2", "image3"}) {
    for (const std::string& text : line.values(option)) {
      Result<NewImage> image = read_image(option, text);
      if (!image) return commands::fatal(kCommand, image.error().message, kFailure);
      image->options = line.value("cmdline");
      images.push_back(std::move(*image));
    }
  }
  const bool compresses =
      line.value("compress") != "false" && line.value("compress-mode") != "none";
  const std::string binary = toolchain::write_fatbin(images, compresses);
  if (line.has("create")) {
    if (const int code = write(line.value("create"), binary); code != 0) return code;
  }
  if (!line.has("embedded-fatbin")) return 0;
  return write(line.value("embedded-fatbin"), embedded_source(binary, line.has("device-c")));
}

}  // namespace

int main(int count, char** words) {
  const auto line = toolchain::CommandLine::parse(kOptions, commands::words_of(count, words));
  if (!line) return commands::fatal(kCommand, line.error().message, kFailure);
  if (line->has("version")) {
    commands::print(toolchain::version_text(kCommand, "Cuda fat binary constructor"));
    return 0;
  }
  if (line->has("help")) {
    commands::print(commands::help_text("fatbinary [options]", kOptions));
    return 0;
  }
  return run(*line);
}
