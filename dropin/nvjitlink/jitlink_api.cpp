// The exported functions of nvJitLink, and those names of them that its header gives to programs of
// each version.
#include <memory>
#include <string>
#include <vector>

#include "base/file/file.h"
#include "dropin/library/handles.h"
#include "dropin/library/host_memory.h"
#include "dropin/nvjitlink/link_job.h"
#include "dropin/toolchain/fat_binary.h"

namespace km::nvjitlink {

const char* JitLinkLibrary::name_of(nvJitLinkResult result) noexcept {
  constexpr const char* kNames[] = {
      "NVJITLINK_SUCCESS",
      "NVJITLINK_ERROR_UNRECOGNIZED_OPTION",
      "NVJITLINK_ERROR_MISSING_ARCH",
      "NVJITLINK_ERROR_INVALID_INPUT",
      "NVJITLINK_ERROR_PTX_COMPILE",
      "NVJITLINK_ERROR_NVVM_COMPILE",
      "NVJITLINK_ERROR_INTERNAL",
      "NVJITLINK_ERROR_THREADPOOL",
      "NVJITLINK_ERROR_UNRECOGNIZED_INPUT",
      "NVJITLINK_ERROR_FINALIZE",
      "NVJITLINK_ERROR_NULL_INPUT",
      "NVJITLINK_ERROR_INCOMPATIBLE_OPTIONS",
      "NVJITLINK_ERROR_INCORRECT_INPUT_TYPE",
      "NVJITLINK_ERROR_ARCH_MISMATCH",
      "NVJITLINK_ERROR_OUTDATED_LIBRARY",
      "NVJITLINK_ERROR_MISSING_FATBIN",
      "NVJITLINK_ERROR_UNRECOGNIZED_ARCH",
      "NVJITLINK_ERROR_UNSUPPORTED_ARCH",
      "NVJITLINK_ERROR_LTO_NOT_ENABLED",
  };
  const auto index = static_cast<size_t>(result);
  return index < std::size(kNames) ? kNames[index] : nullptr;
}

namespace {

using library::read_host;
using library::with_zero;
using library::write_host;

constexpr size_t kMostTextBytes = size_t{1} << 20;
constexpr uint64_t kTag = library::handle_tag(library::HandleKind::kJitLink, KM_JITLINK_MAJOR);

library::HandleMap<LinkJob>& jobs() { return library::handle_map<LinkJob>(); }

/// Runs a body with the job of a handle, which no other thread uses meanwhile.
template <class Body>
nvJitLinkResult call_job(nvJitLinkHandle handle, Body&& body,
                         const char* function = __builtin_FUNCTION()) {
  const auto with_job = [&]() -> nvJitLinkResult {
    const auto job = jobs().find(reinterpret_cast<uint64_t>(handle));
    if (job == nullptr) return invalid("the handle is no live link");
    const std::lock_guard lock(job->mutex());
    return body(*job);
  };
  return call(with_job, function);
}

nvJitLinkResult write_size(size_t* out, size_t value) {
  LIB_REQUIRE(out);
  return write_host(out, value) ? NVJITLINK_SUCCESS : invalid("the size cannot be written");
}

nvJitLinkResult write_bytes(void* out, std::string_view bytes) {
  if (bytes.empty()) return NVJITLINK_SUCCESS;
  LIB_REQUIRE(out);
  return write_host(out, bytes.data(), bytes.size()) ? NVJITLINK_SUCCESS
                                                     : invalid("the result cannot be written");
}

nvJitLinkResult read_words(uint32_t count, const char** words, std::vector<std::string>* out) {
  const size_t read = library::read_host_words(words, count, kMostTextBytes, out);
  return read == count ? NVJITLINK_SUCCESS : invalid("option %zu cannot be read", read);
}

/// Adds a failed input's reasons to those that the frame logs.
nvJitLinkResult add_input(LinkJob& job, nvJitLinkInputType type, std::string_view bytes,
                          const std::string& name) {
  const size_t known = job.error_log().size();
  const nvJitLinkResult result = job.add(type, bytes, name);
  if (result != NVJITLINK_SUCCESS) frame::explain("%s", job.error_log().substr(known).c_str());
  return result;
}

}  // namespace

extern "C" {

nvJitLinkResult nvJitLinkVersion(unsigned int* major, unsigned int* minor) {
  return call([&]() -> nvJitLinkResult {
    LIB_REQUIRE(major);
    LIB_REQUIRE(minor);
    const bool is_written = write_host(major, unsigned{KM_JITLINK_MAJOR}) &&
                            write_host(minor, unsigned{KM_JITLINK_MINOR});
    return is_written ? NVJITLINK_SUCCESS : invalid("the version cannot be written");
  });
}

nvJitLinkResult nvJitLinkCreate(nvJitLinkHandle* handle, uint32_t count, const char** options) {
  return call([&]() -> nvJitLinkResult {
    LIB_REQUIRE(handle);
    std::vector<std::string> words;
    LIB_TRY(read_words(count, options, &words));
    nvJitLinkResult status{};
    auto job = std::make_shared<LinkJob>(words, &status);
    if (status != NVJITLINK_SUCCESS) frame::explain("%s", job->error_log().c_str());
    // Programs ask a failed link for its log.
    const uint64_t id = jobs().add(std::move(job), kTag);
    if (write_host(handle, reinterpret_cast<nvJitLinkHandle>(id))) return status;
    jobs().remove(id);
    return invalid("the handle cannot be written");
  });
}

nvJitLinkResult nvJitLinkDestroy(nvJitLinkHandle* handle) {
  return call([&]() -> nvJitLinkResult {
    LIB_REQUIRE(handle);
    nvJitLinkHandle id = nullptr;
    if (!read_host(handle, &id)) return invalid("the handle cannot be read");
    if (jobs().remove(reinterpret_cast<uint64_t>(id)) == nullptr) {
      return invalid("the handle is no live link");
    }
    write_host(handle, nvJitLinkHandle{});
    return NVJITLINK_SUCCESS;
  });
}

nvJitLinkResult nvJitLinkAddData(nvJitLinkHandle handle, nvJitLinkInputType type, const void* data,
                                 size_t size_bytes, const char* name) {
  return call_job(handle, [&](LinkJob& job) -> nvJitLinkResult {
    LIB_REQUIRE(data);
    if (size_bytes == 0) return invalid("the input has no bytes");
    if (size_bytes > toolchain::kMaxImageBytes) return invalid("the input is too long");
    std::string bytes(size_bytes, '\0');
    if (!read_host(bytes.data(), data, size_bytes)) return invalid("the input cannot be read");
    std::string text = "input";
    if (name != nullptr && !library::read_host_text(name, kMostTextBytes, &text)) {
      return invalid("the name cannot be read");
    }
    return add_input(job, type, bytes, text);
  });
}

nvJitLinkResult nvJitLinkAddFile(nvJitLinkHandle handle, nvJitLinkInputType type,
                                 const char* path) {
  return call_job(handle, [&](LinkJob& job) -> nvJitLinkResult {
    LIB_REQUIRE(path);
    std::string text;
    if (!library::read_host_text(path, kMostTextBytes, &text)) {
      return invalid("the path cannot be read");
    }
    const Result<std::string> content = read_file(text, toolchain::kMaxImageBytes);
    if (!content) {
      job.note_error("no such file: " + text);
      return invalid("%s", content.error().message.c_str());
    }
    return add_input(job, type, *content, text);
  });
}

nvJitLinkResult nvJitLinkComplete(nvJitLinkHandle handle) {
  return call_job(handle, [&](LinkJob& job) -> nvJitLinkResult {
    const size_t known = job.error_log().size();
    const nvJitLinkResult result = job.complete();
    if (result != NVJITLINK_SUCCESS) frame::explain("%s", job.error_log().substr(known).c_str());
    return result;
  });
}

nvJitLinkResult nvJitLinkGetLinkedCubinSize(nvJitLinkHandle handle, size_t* size) {
  return call_job(handle, [&](LinkJob& job) -> nvJitLinkResult {
    if (!job.has_cubin()) return invalid("the link is not complete");
    return write_size(size, job.cubin().size());
  });
}

nvJitLinkResult nvJitLinkGetLinkedCubin(nvJitLinkHandle handle, void* cubin) {
  return call_job(handle, [&](LinkJob& job) -> nvJitLinkResult {
    if (!job.has_cubin()) return invalid("the link is not complete");
    return write_bytes(cubin, job.cubin());
  });
}

nvJitLinkResult nvJitLinkGetLinkedPtxSize(nvJitLinkHandle handle, size_t* size) {
  return call_job(handle, [&](LinkJob& job) -> nvJitLinkResult {
    if (!job.has_ptx()) return invalid("there is no PTX without -lto and -ptx");
    return write_size(size, job.ptx().size());
  });
}

nvJitLinkResult nvJitLinkGetLinkedPtx(nvJitLinkHandle handle, char* ptx) {
  return call_job(handle, [&](LinkJob& job) -> nvJitLinkResult {
    if (!job.has_ptx()) return invalid("there is no PTX without -lto and -ptx");
    return write_bytes(ptx, job.ptx());
  });
}

nvJitLinkResult nvJitLinkGetLinkedLTOIRSize(nvJitLinkHandle handle, size_t*) {
  return call_job(handle, [](LinkJob&) -> nvJitLinkResult {
    return invalid("linked LTO-IR is not given: link to PTX or a cubin");
  });
}

nvJitLinkResult nvJitLinkGetLinkedLTOIR(nvJitLinkHandle handle, void*) {
  return call_job(handle, [](LinkJob&) -> nvJitLinkResult {
    return invalid("linked LTO-IR is not given: link to PTX or a cubin");
  });
}

nvJitLinkResult nvJitLinkGetErrorLogSize(nvJitLinkHandle handle, size_t* size) {
  return call_job(handle, [&](LinkJob& job) -> nvJitLinkResult {
    return write_size(size, with_zero(job.error_log()).size());
  });
}

nvJitLinkResult nvJitLinkGetErrorLog(nvJitLinkHandle handle, char* log) {
  return call_job(handle, [&](LinkJob& job) -> nvJitLinkResult {
    const std::string text = job.error_log();
    return write_bytes(log, with_zero(text));
  });
}

nvJitLinkResult nvJitLinkGetInfoLogSize(nvJitLinkHandle handle, size_t* size) {
  return call_job(handle, [&](LinkJob& job) -> nvJitLinkResult {
    return write_size(size, with_zero(job.info_log()).size());
  });
}

nvJitLinkResult nvJitLinkGetInfoLog(nvJitLinkHandle handle, char* log) {
  return call_job(handle, [&](LinkJob& job) -> nvJitLinkResult {
    const std::string text = job.info_log();
    return write_bytes(log, with_zero(text));
  });
}

}  // extern "C"

}  // namespace km::nvjitlink

// Programs call the names of the version that they were compiled for: __nvJitLinkCreate_12_4.
#define KM_NVJITLINK_TEXT_FUNCTION(symbol, result, parameters, arguments)
#define KM_VERSIONED(symbol, version, result, parameters, arguments) \
  result __##symbol##_##version parameters { return symbol arguments; }
#if KM_JITLINK_MAJOR == 12
#define KM_NVJITLINK_FUNCTION(symbol, result, parameters, arguments) \
  KM_VERSIONED(symbol, 12_0, result, parameters, arguments)          \
  KM_VERSIONED(symbol, 12_1, result, parameters, arguments)          \
  KM_VERSIONED(symbol, 12_2, result, parameters, arguments)          \
  KM_VERSIONED(symbol, 12_3, result, parameters, arguments)          \
  KM_VERSIONED(symbol, 12_4, result, parameters, arguments)          \
  KM_VERSIONED(symbol, 12_5, result, parameters, arguments)          \
  KM_VERSIONED(symbol, 12_6, result, parameters, arguments)          \
  KM_VERSIONED(symbol, 12_7, result, parameters, arguments)          \
  KM_VERSIONED(symbol, 12_8, result, parameters, arguments)          \
  KM_VERSIONED(symbol, 12_9, result, parameters, arguments)
#else
#define KM_NVJITLINK_FUNCTION(symbol, result, parameters, arguments) \
  KM_VERSIONED(symbol, 13_0, result, parameters, arguments)          \
  KM_VERSIONED(symbol, 13_1, result, parameters, arguments)          \
  KM_VERSIONED(symbol, 13_2, result, parameters, arguments)          \
  KM_VERSIONED(symbol, 13_3, result, parameters, arguments)          \
  KM_VERSIONED(symbol, 13_4, result, parameters, arguments)          \
  KM_VERSIONED(symbol, 13_5, result, parameters, arguments)          \
  KM_VERSIONED(symbol, 13_6, result, parameters, arguments)          \
  KM_VERSIONED(symbol, 13_7, result, parameters, arguments)          \
  KM_VERSIONED(symbol, 13_8, result, parameters, arguments)          \
  KM_VERSIONED(symbol, 13_9, result, parameters, arguments)
#endif

extern "C" {
#include "dropin/nvjitlink/generated/functions.def"
}
