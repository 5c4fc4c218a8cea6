#include "dropin/toolchain/linker.h"

#include <algorithm>
#include <cstring>
#include <set>

#include "base/printable.h"
#include "dropin/toolchain/container.h"
#include "dropin/toolchain/device_runtime.h"
#include "dropin/toolchain/fat_binary.h"
#include "dropin/toolchain/host_object.h"
#include "dropin/toolchain/ptx_scanner.h"
#include "dropin/toolchain/usage.h"
#include "ptx/target.h"

namespace km::toolchain {
namespace {

constexpr std::string_view kElfMagic = "\177ELF";
constexpr const char* kRuntimeName = "cudadevrt";

bool begins_as_ptx(std::string_view bytes) {
  Scanner scanner(bytes);
  while (!scanner.at_end()) {
    const std::string_view piece = scanner.next();
    if (!is_blank(piece)) return piece == ".version";
  }
  return false;
}

bool begins_as_fatbin(std::string_view bytes) {
  uint32_t magic = 0;
  if (bytes.size() < sizeof magic) return false;
  std::memcpy(&magic, bytes.data(), sizeof magic);
  return magic == kFatbinMagic;
}

uint32_t capability_of(const std::string& gpu) {
  const auto target = ptx::find_target(gpu);
  return target ? target->number : 0;
}

/// Names that a module gives to others.
void collect_definitions(const ptx::Module& module, std::set<std::string, std::less<>>* names) {
  for (const ptx::Symbol& symbol : module.symbols) {
    const bool is_external = symbol.linkage == ptx::Linkage::external;
    const bool is_declared = symbol.is_function && module.functions[symbol.function].is_declaration;
    const bool is_shared = symbol.linkage != ptx::Linkage::internal;
    if (is_shared && !is_external && !is_declared) names->insert(symbol.name);
  }
}

/// NVIDIA's device runtime comes with PTX for the newest GPUs only; ours takes its place.
bool holds_device_runtime(const std::vector<FatbinImage>& images) {
  return std::any_of(images.begin(), images.end(), [](const FatbinImage& image) {
    if (image.kind != ImageKind::kPtx) return false;
    const auto text = ptx_of(image);
    return text && is_device_runtime_text(*text);
  });
}

}  // namespace

InputKind kind_of(std::string_view bytes) {
  if (is_link_time_code(bytes)) return InputKind::kLinkTimeCode;
  if (begins_as_fatbin(bytes)) return InputKind::kFatbin;
  if (is_archive(bytes)) return InputKind::kLibrary;
  if (is_host_object(bytes)) return InputKind::kObject;
  if (bytes.starts_with(kElfMagic)) return InputKind::kCubin;
  return begins_as_ptx(bytes) ? InputKind::kPtx : InputKind::kAny;
}

InputStatus Linker::fail(InputStatus status, const std::string& message) {
  errors_ += printable(message) + "\n";
  return status;
}

InputStatus Linker::add_text(std::string_view text, const std::string& name) {
  AssemblerOptions options = options_;
  options.is_relocatable = true;
  Assembly made = assemble(text, kApplicationInput, options);
  infos_ += made.info;
  errors_ += made.errors;
  if (made.status == AssemblyStatus::kUnsupportedVersion) return InputStatus::kUnsupportedVersion;
  if (made.status != AssemblyStatus::kDone) return InputStatus::kAssemblyFailed;
  text = text.substr(0, std::min(text.find('\0'), text.size()));
  inputs_.push_back({{name, std::string(text)}, std::move(made.module)});
  return InputStatus::kAdded;
}

InputStatus Linker::add_fatbins(const std::vector<std::string_view>& fatbins,
                                const std::string& name) {
  const uint32_t capability = capability_of(options_.gpu_name);
  for (const std::string_view each : fatbins) {
    const auto images = list_fatbin(each.data(), each.size());
    if (!images) return fail(InputStatus::kDamaged, images.error().message + ": " + name);
    const FatbinImage* const chosen = choose_image(*images, capability);
    if (chosen == nullptr) {
      if (images->empty()) continue;
      if (holds_device_runtime(*images)) {
        const auto status = add_text(device_runtime_ptx(), name);
        if (status != InputStatus::kAdded) return status;
        continue;
      }
      return fail(InputStatus::kMachineCode, "the fat binary '" + name + "' holds no PTX for " +
                                                 options_.gpu_name +
                                                 ": build it with PTX (code=compute_75)");
    }
    const auto text = ptx_of(*chosen);
    if (!text) return fail(InputStatus::kDamaged, text.error().message + ": " + name);
    const bool is_runtime = is_device_runtime_text(*text);
    const auto status = add_text(is_runtime ? device_runtime_ptx() : *text, name);
    if (status != InputStatus::kAdded) return status;
  }
  return InputStatus::kAdded;
}

InputStatus Linker::add(InputKind kind, std::string_view bytes, const std::string& name) {
  const InputKind found = kind_of(bytes);
  if (kind == InputKind::kAny && found == InputKind::kAny) return InputStatus::kUnknownKind;
  // Our NVRTC gives PTX as cubins, which all drivers load.
  const bool is_given_as_cubin = kind == InputKind::kCubin && found == InputKind::kPtx;
  if (kind != InputKind::kAny && found != kind && !is_given_as_cubin) {
    return InputStatus::kWrongKind;
  }
  switch (found) {
    case InputKind::kLinkTimeCode:
      return fail(InputStatus::kLinkTimeCode,
                  "'" + name +
                      "' is code for link-time optimisation (LTO-IR), which only NVIDIA's "
                      "libraries compile: give PTX");
    case InputKind::kCubin: {
      if (!is_container(bytes.data(), bytes.size())) {
        return fail(InputStatus::kMachineCode, "'" + name + "' is machine code of a GPU: give PTX");
      }
      const auto container = read_container(bytes.data(), bytes.size());
      if (!container) return fail(InputStatus::kDamaged, container.error().message + ": " + name);
      return add_text(container->ptx, name);
    }
    case InputKind::kFatbin:
      return add_fatbins({bytes}, name);
    case InputKind::kObject:
      return add_fatbins(find_fatbins(bytes), name);
    case InputKind::kLibrary:
      // Its machine code runs nowhere here, so the functions that programs link are given as PTX.
      if (is_device_runtime(bytes)) return add_text(device_runtime_ptx(), kRuntimeName);
      return add_fatbins(find_fatbins(bytes), name);
    default:
      return add_text(bytes, name);
  }
}

/// Reports names that an input uses and no input defines. True if there are any.
bool Linker::find_undefined() {
  std::set<std::string, std::less<>> defined;
  for (const Input& input : inputs_) collect_definitions(*input.module, &defined);
  bool has_undefined = false;
  for (const Input& input : inputs_) {
    const Unresolved unresolved = find_unresolved(*input.module);
    for (const auto* names : {&unresolved.functions, &unresolved.variables}) {
      for (const std::string& name : *names) {
        if (defined.contains(name)) continue;
        errors_ += printable("error   : Undefined reference to '" + name + "' in '" +
                             input.text.name + "'\n");
        has_undefined = true;
      }
    }
  }
  return has_undefined;
}

std::string Linker::link() {
  std::vector<PtxInput> texts;
  for (const Input& input : inputs_) texts.push_back(input.text);
  if (texts.empty()) {
    const std::string target =
        options_.gpu_name.substr(0, options_.gpu_name.find_last_of("0123456789") + 1);
    texts.push_back({"", ".version 9.0\n.target " + target + "\n.address_size 64\n"});
  }
  const auto linked = link_ptx(texts);
  if (!linked) {
    errors_ += printable("error   : " + linked.error().message + "\n");
    return {};
  }
  if (!options_.is_relocatable && find_undefined()) return {};
  AssemblerOptions options = options_;
  options.is_verbose = false;  // each input has told its figures
  options.warns_of_local_memory = false;
  const Assembly made = assemble(*linked, "linked", options);
  errors_ += made.errors;
  return made.image;
}

}  // namespace km::toolchain
