// cuobjdump: tells what fat binaries, cubins that hold PTX, and programs with either contain.
#include <algorithm>
#include <filesystem>

#include "base/file/file.h"
#include "base/file/file_writer.h"
#include "dropin/commands/command.h"
#include "dropin/toolchain/container.h"
#include "dropin/toolchain/fat_binary.h"
#include "dropin/toolchain/host_object.h"
#include "dropin/toolchain/linker.h"
#include "dropin/toolchain/release.h"
#include "dropin/toolchain/usage.h"
#include "ptx/ptx.h"

namespace {

using namespace km;  // NOLINT: a command of this project
using toolchain::ImageKind;
using toolchain::Option;
using toolchain::OptionKind;

constexpr int kFailure = 255, kWrongOption = 1;
constexpr const char* kCommand = "cuobjdump";

constexpr Option kOptions[] = {
    {"all-fatbin", "all", OptionKind::kFlag},
    {"dump-elf", "elf", OptionKind::kFlag},
    {"dump-elf-symbols", "symbols", OptionKind::kFlag},
    {"dump-ptx", "ptx", OptionKind::kFlag},
    {"dump-resource-usage", "res-usage", OptionKind::kFlag},
    {"dump-sass", "sass", OptionKind::kFlag},
    {"extract-elf", "xelf", OptionKind::kList},
    {"extract-ptx", "xptx", OptionKind::kList},
    {"extract-text", "xtext", OptionKind::kList},
    {"function", "fun", OptionKind::kList},
    {"function-index", "findex", OptionKind::kValue},
    {"gpu-architecture", "arch", OptionKind::kValue},
    {"help", "h", OptionKind::kFlag},
    {"list-elf", "lelf", OptionKind::kFlag},
    {"list-ptx", "lptx", OptionKind::kFlag},
    {"list-text", "ltext", OptionKind::kValue},
    {"options-file", "optf", OptionKind::kValue},
    {"sort-functions", "sort", OptionKind::kFlag},
    {"version", "V", OptionKind::kFlag},
};

/// One image of the file.
struct Item {
  ImageKind kind{};
  uint32_t capability = 0;
  std::string version;  // "[8,0]"
  bool is_in_fatbin = false, is_compressed = false;
  std::string content;  // PTX, or an ELF file
  std::string name;     // "app.1.sm_80.ptx"

  bool is_ptx() const { return kind == ImageKind::kPtx; }
  /// The PTX of the image; empty if it is machine code.
  std::string ptx() const {
    if (is_ptx()) return content;
    if (!toolchain::is_container(content.data(), content.size())) return {};
    const auto container = toolchain::read_container(content.data(), content.size());
    return container ? std::string(container->ptx) : std::string();
  }
};

Status add_fatbin(std::string_view bytes, std::vector<Item>* items) {
  KM_ASSIGN(const auto images, toolchain::list_fatbin(bytes.data(), bytes.size()));
  for (const toolchain::FatbinImage& image : images) {
    Item item;
    item.kind = image.kind;
    item.capability = image.capability;
    item.version = "[" + std::to_string(image.major) + "," + std::to_string(image.minor) + "]";
    item.is_in_fatbin = true;
    item.is_compressed = image.is_compressed();
    KM_ASSIGN(item.content, toolchain::unpack(image));
    items->push_back(std::move(item));
  }
  return {};
}

/// The images of a file, with the names that lists and extracted files have.
Result<std::vector<Item>> read_items(const std::string& path, const std::string& bytes) {
  std::vector<Item> items;
  switch (toolchain::kind_of(bytes)) {
    case toolchain::InputKind::kFatbin:
      KM_TRY(add_fatbin(bytes, &items));
      break;
    case toolchain::InputKind::kCubin: {
      Item item;
      item.kind = ImageKind::kElf;
      item.content = bytes;
      if (toolchain::is_container(bytes.data(), bytes.size())) {
        KM_ASSIGN(const auto container, toolchain::read_container(bytes.data(), bytes.size()));
        item.capability = container.traits.capability;
      }
      items.push_back(std::move(item));
      break;
    }
    case toolchain::InputKind::kObject:
    case toolchain::InputKind::kLibrary:
      for (const std::string_view each : toolchain::find_fatbins(bytes)) {
        KM_TRY(add_fatbin(each, &items));
      }
      break;
    default:
      break;
  }
  const std::string stem = std::filesystem::path(path).stem().string();
  int number[2] = {0, 0};
  for (Item& item : items) {
    const std::string index = std::to_string(++number[item.is_ptx() ? 1 : 0]) + ".";
    item.name = stem + "." + (item.is_in_fatbin ? index : "") + "sm_" +
                std::to_string(item.capability) + (item.is_ptx() ? ".ptx" : ".cubin");
  }
  return items;
}

std::string heading(const Item& item) {
  if (!item.is_in_fatbin) return "";
  return std::string("\nFatbin ") + (item.is_ptx() ? "ptx" : "elf") +
         " code:\n================\narch = sm_" + std::to_string(item.capability) +
         "\ncode version = " + item.version + "\nhost = linux\ncompile_size = 64bit\n" +
         (item.is_compressed ? "compressed\n" : "");
}

std::string list(const std::vector<Item>& items, bool lists_ptx) {
  std::string text;
  int number = 0;
  for (const Item& item : items) {
    if (item.is_ptx() != lists_ptx) continue;
    char line[32];
    std::snprintf(line, sizeof line, " file %4d: ", ++number);
    text += (lists_ptx ? "PTX" : "ELF") + std::string(line) + item.name + "\n";
  }
  return text;
}

const char* binding_of(ptx::Linkage linkage, bool is_entry) {
  if (linkage == ptx::Linkage::internal && !is_entry) return "LOCAL";
  const bool is_weak = linkage == ptx::Linkage::weak || linkage == ptx::Linkage::common;
  return is_weak ? "WEAK" : "GLOBAL";
}

/// One line of the symbol table: in the form of CUDA 13, or the one before it.
std::string symbol_line(const char* type, const char* binding, bool is_entry, bool is_undefined,
                        const std::string& name) {
  constexpr uint32_t kFirstOfNewForm = 13;
  char line[128];
  if (toolchain::command_release().major >= kFirstOfNewForm) {
    std::snprintf(line, sizeof line, "%-13s %-7s %-10s %-33s %s  ", type, binding, "DEFAULT",
                  is_entry ? "ENTRY" : "-", is_undefined ? "U" : " ");
  } else {
    std::snprintf(line, sizeof line, "STT_%-12s STB_%-6s STO_%-10s %s ", type, binding,
                  is_entry ? "ENTRY" : "DEFAULT", is_undefined ? "U" : " ");
  }
  return line + name + "\n";
}

std::string symbols_of(const ptx::Module& module) {
  std::string text = "\nsymbols:\n";
  for (const ptx::Symbol& symbol : module.symbols) {
    const bool is_stored = !symbol.is_function && (symbol.space == ptx::Space::global ||
                                                   symbol.space == ptx::Space::constant);
    if (!is_stored) continue;
    text += symbol_line("OBJECT", binding_of(symbol.linkage, false), false,
                        symbol.linkage == ptx::Linkage::external, symbol.name);
  }
  for (const ptx::Function& function : module.functions) {
    text += symbol_line("FUNC", binding_of(function.linkage, function.is_entry), function.is_entry,
                        function.is_declaration, function.name);
  }
  return text;
}

std::string usage_of(const ptx::Module& module) {
  const toolchain::ModuleUsage usage = toolchain::measure(module);
  std::string text = "\nResource usage:\n Common:\n  GLOBAL:" + std::to_string(usage.global_bytes);
  if (usage.constant_bytes != 0) text += " CONSTANT[3]:" + std::to_string(usage.constant_bytes);
  text += "\n";
  for (const toolchain::FunctionUsage& each : usage.functions) {
    text += " Function " + each.name + ":\n  REG:" + std::to_string(each.registers) +
            " STACK:" + std::to_string(each.stack_bytes) +
            " SHARED:" + std::to_string(each.shared_bytes) + " LOCAL:0";
    if (each.is_entry) text += " CONSTANT[0]:" + std::to_string(each.parameter_bytes);
    text += " TEXTURE:0 SURFACE:0 SAMPLER:0\n";
  }
  return text;
}

/// The questions of a command line about each image.
struct Questions {
  bool wants_ptx, wants_symbols, wants_usage, wants_elf;
};

Result<std::string> answer(const Item& item, const Questions& questions) {
  std::string text = heading(item);
  const std::string ptx = item.ptx();
  if (ptx.empty()) {
    if (questions.wants_symbols || questions.wants_usage || questions.wants_elf) {
      return make_error(KM_ERROR_NOT_SUPPORTED,
                        "'%s' is machine code of a GPU: NVIDIA's cuobjdump reads it",
                        item.name.c_str());
    }
    return text;
  }
  const bool is_cubin = !item.is_ptx();
  if (questions.wants_ptx) text += ptx + "\n";
  if (!is_cubin) return text;
  KM_ASSIGN(const auto module, ptx::parse(ptx, item.name));
  if (questions.wants_elf) {
    text += "\n64-bit ELF: ABI=7, sm=" + std::to_string(item.capability) +
            ", PTX of Kernelmill in section .kernelmill.ptx, " +
            std::to_string(item.content.size()) + " bytes\n";
  }
  if (questions.wants_elf || questions.wants_symbols) text += symbols_of(*module);
  if (questions.wants_usage) text += usage_of(*module);
  return text;
}

int extract(const std::vector<Item>& items, const std::vector<std::string>& parts, bool is_ptx) {
  int number = 0;
  for (const Item& item : items) {
    if (item.is_ptx() != is_ptx) continue;
    ++number;
    const bool is_named = std::any_of(parts.begin(), parts.end(), [&](const std::string& part) {
      return part == "all" || item.name.find(part) != std::string::npos;
    });
    if (!is_named) continue;
    char line[64];
    std::snprintf(line, sizeof line, "Extracting %s file %s%4d: ", is_ptx ? "PTX" : "ELF",
                  is_ptx ? "and ptxas options " : "", number);
    commands::print(line + item.name +
                    (is_ptx ? " -arch=sm_" + std::to_string(item.capability) : "") + "\n");
    if (const Status written = write_file(item.name, item.content); !written) {
      return commands::fatal(kCommand, written.error().message, kFailure);
    }
  }
  return 0;
}

int run(const toolchain::CommandLine& line) {
  const std::string& path = line.inputs()[0];
  const Result<std::string> bytes = read_file(path, toolchain::kMaxImageBytes);
  if (!bytes)
    return commands::fatal(kCommand, "Could not open input file '" + path + "'", kWrongOption);
  const auto items = read_items(path, *bytes);
  if (!items) return commands::fatal(kCommand, items.error().message, kFailure);
  if (items->empty()) {
    commands::print_error("cuobjdump info    : File '" + path + "' does not contain device code\n");
    return kFailure;
  }
  for (const bool is_ptx : {false, true}) {
    const char* const option = is_ptx ? "extract-ptx" : "extract-elf";
    if (line.has(option)) return extract(*items, line.values(option), is_ptx);
  }
  const bool lists_elf = line.has("list-elf"), lists_ptx = line.has("list-ptx");
  if (lists_elf || lists_ptx) {
    commands::print((lists_elf ? list(*items, false) : "") + (lists_ptx ? list(*items, true) : ""));
    return 0;
  }
  if (line.has("dump-sass")) {
    return commands::fatal(kCommand,
                           "'" + path +
                               "' is asked for machine code (-sass), which Kernelmill does "
                               "not make: -ptx prints what its cubins hold",
                           kFailure);
  }
  const Questions questions{line.has("dump-ptx"), line.has("dump-elf-symbols"),
                            line.has("dump-resource-usage"), line.has("dump-elf")};
  const std::string arch = line.value("gpu-architecture");
  for (const Item& item : *items) {
    if (!arch.empty() && arch != "sm_" + std::to_string(item.capability)) continue;
    const auto text = answer(item, questions);
    if (!text) return commands::fatal(kCommand, text.error().message, kFailure);
    commands::print(*text);
  }
  return 0;
}

}  // namespace

int main(int count, char** words) {
  const auto line = toolchain::CommandLine::parse(kOptions, commands::words_of(count, words));
  if (!line) return commands::fatal(kCommand, line.error().message, kWrongOption);
  if (line->has("version")) {
    commands::print(toolchain::version_text(kCommand, "fat binary listing tool"));
    return 0;
  }
  if (line->has("help") || line->inputs().size() != 1) {
    commands::print(commands::help_text("cuobjdump [options] <file>", kOptions));
    return 0;
  }
  return run(*line);
}
