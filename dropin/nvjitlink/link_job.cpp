#include "dropin/nvjitlink/link_job.h"

#include "dropin/toolchain/fat_binary.h"

namespace km::nvjitlink {
namespace {

using toolchain::InputKind;
using toolchain::InputStatus;

struct InputType {
  nvJitLinkInputType type;
  InputKind kind;
  const char* name;
};
constexpr InputType kTypes[] = {
    {NVJITLINK_INPUT_CUBIN, InputKind::kCubin, "NVJITLINK_INPUT_CUBIN"},
    {NVJITLINK_INPUT_PTX, InputKind::kPtx, "NVJITLINK_INPUT_PTX"},
    {NVJITLINK_INPUT_LTOIR, InputKind::kLinkTimeCode, "NVJITLINK_INPUT_LTOIR"},
    {NVJITLINK_INPUT_FATBIN, InputKind::kFatbin, "NVJITLINK_INPUT_FATBIN"},
    {NVJITLINK_INPUT_OBJECT, InputKind::kObject, "NVJITLINK_INPUT_OBJECT"},
    {NVJITLINK_INPUT_LIBRARY, InputKind::kLibrary, "NVJITLINK_INPUT_LIBRARY"},
    {NVJITLINK_INPUT_ANY, InputKind::kAny, "NVJITLINK_INPUT_ANY"},
};

const InputType* find_type(nvJitLinkInputType type) {
  for (const InputType& each : kTypes) {
    if (each.type == type) return &each;
  }
  return nullptr;
}

/// The type by which NVIDIA's linker takes link-time code; NVJITLINK_INPUT_NONE if it is none.
nvJitLinkInputType link_time_type(InputKind kind, std::string_view bytes) {
  const bool is_any = kind == InputKind::kAny;
  if ((is_any || kind == InputKind::kLinkTimeCode) && toolchain::is_link_time_code(bytes)) {
    return NVJITLINK_INPUT_LTOIR;
  }
  if ((is_any || kind == InputKind::kFatbin) && toolchain::has_link_time_image(bytes)) {
    return NVJITLINK_INPUT_FATBIN;
  }
  return NVJITLINK_INPUT_NONE;
}

}  // namespace

LinkJob::LinkJob(const std::vector<std::string>& options, nvJitLinkResult* status) {
  *status = read_options(options, &options_, &errors_);
  if (*status == NVJITLINK_SUCCESS && options_.is_lto && !has_nvidia_linker()) {
    note_error(kNoNvidiaLinker);
    *status = NVJITLINK_ERROR_UNRECOGNIZED_OPTION;
  }
  if (*status != NVJITLINK_SUCCESS) return;
  options_.assembler.release = {KM_JITLINK_MAJOR, KM_JITLINK_MINOR};
  linker_ = std::make_unique<toolchain::Linker>(options_.assembler);
}

void LinkJob::note_error(const std::string& line) {
  if (linker_) {
    linker_->note_error(line);
  } else {
    errors_ += line + "\n";
  }
}

nvJitLinkResult LinkJob::add(nvJitLinkInputType type, std::string_view bytes,
                             const std::string& name) {
  if (!linker_) return NVJITLINK_ERROR_INVALID_INPUT;
  const InputType* const given = find_type(type);
  if (given == nullptr) {
    note_error("unsupported input type: " + name);
    return NVJITLINK_ERROR_INCORRECT_INPUT_TYPE;
  }
  if (options_.is_lto) {
    const nvJitLinkInputType own = link_time_type(given->kind, bytes);
    if (own != NVJITLINK_INPUT_NONE) {
      link_time_inputs_.push_back({own, std::string(bytes), name});
      return NVJITLINK_SUCCESS;
    }
  }
  switch (linker_->add(given->kind, bytes, name)) {
    case InputStatus::kAdded:
      return NVJITLINK_SUCCESS;
    case InputStatus::kWrongKind:
      note_error(std::string("ERROR 1: bad input: does not match type ") + given->name + ": " +
                 name);
      return NVJITLINK_ERROR_INCORRECT_INPUT_TYPE;
    case InputStatus::kUnknownKind:
      note_error("unrecognized input type: " + name);
      return NVJITLINK_ERROR_UNRECOGNIZED_INPUT;
    case InputStatus::kLinkTimeCode:
      note_error("ERROR NVJITLINK_ERROR_LTO_NOT_ENABLED: " + name);
      return NVJITLINK_ERROR_LTO_NOT_ENABLED;
    case InputStatus::kMachineCode:
      return NVJITLINK_ERROR_ARCH_MISMATCH;
    case InputStatus::kDamaged:
      return NVJITLINK_ERROR_INVALID_INPUT;
    case InputStatus::kAssemblyFailed:
    case InputStatus::kUnsupportedVersion:
      break;
  }
  note_error("ERROR NVJITLINK_ERROR_PTX_COMPILE: JIT the PTX (" + name + ")");
  return NVJITLINK_ERROR_PTX_COMPILE;
}

/// Has NVIDIA's library compile what it alone can read, and adds the PTX that it gives.
nvJitLinkResult LinkJob::compile_link_time() {
  std::string errors;
  const auto result =
      compile_link_time_inputs(link_time_inputs_, options_.given, &ptx_, &errors, &infos_);
  if (!errors.empty()) linker_->note_error(errors.substr(0, errors.find_last_not_of('\n') + 1));
  if (result != NVJITLINK_SUCCESS || options_.gives_ptx) return result;
  return add(NVJITLINK_INPUT_PTX, ptx_, "link-time optimised code");
}

nvJitLinkResult LinkJob::complete() {
  if (!linker_) return NVJITLINK_ERROR_INVALID_INPUT;
  if (!link_time_inputs_.empty()) LIB_TRY(compile_link_time());
  if (options_.gives_ptx) {
    if (!linker_->is_empty() || link_time_inputs_.empty()) {
      note_error("ERROR: -ptx requires that all inputs have LTOIR");
      return NVJITLINK_ERROR_INCORRECT_INPUT_TYPE;
    }
    return NVJITLINK_SUCCESS;
  }
  cubin_ = linker_->link();
  if (!cubin_.empty()) return NVJITLINK_SUCCESS;
  note_error("ERROR 9: complete");
  return NVJITLINK_ERROR_INTERNAL;
}

}  // namespace km::nvjitlink
