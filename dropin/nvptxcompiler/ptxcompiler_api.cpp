// The exported functions of NVIDIA's PTX compiler as a library.
#include <algorithm>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "dropin/frame/call.h"
#include "dropin/library/handles.h"
#include "dropin/library/host_memory.h"
#include "dropin/nvptxcompiler/generated/api.h"
#include "dropin/toolchain/assembler.h"
#include "dropin/toolchain/fat_binary.h"
#include "dropin/toolchain/release.h"

namespace km::nvptxcompiler {
namespace {

using library::read_host;
using library::with_zero;
using library::write_host;

constexpr toolchain::Release kRelease = {KM_PTXCOMPILER_MAJOR, KM_PTXCOMPILER_MINOR};
constexpr size_t kMostTextBytes = size_t{1} << 20;
constexpr uint64_t kTag =
    library::handle_tag(library::HandleKind::kPtxCompiler, KM_PTXCOMPILER_MAJOR);

/// Describes the library to the shared frame.
struct CompilerLibrary : frame::Library {
  using Status = nvPTXCompileResult;
  static constexpr Status kOutOfMemory = NVPTXCOMPILE_ERROR_OUT_OF_MEMORY;
  static constexpr Status kUnexpected = NVPTXCOMPILE_ERROR_INTERNAL;
  /// The newest version of PTX is found by compiling some of a later one.
  static bool is_answer(const char*, int status) noexcept {
    return status == NVPTXCOMPILE_ERROR_UNSUPPORTED_PTX_VERSION ||
           status == NVPTXCOMPILE_PARSE_ONLY_SUCCESS;
  }
  static const char* name_of(nvPTXCompileResult result) noexcept {
    constexpr const char* kNames[] = {
        "NVPTXCOMPILE_SUCCESS",
        "NVPTXCOMPILE_ERROR_INVALID_COMPILER_HANDLE",
        "NVPTXCOMPILE_ERROR_INVALID_INPUT",
        "NVPTXCOMPILE_ERROR_COMPILATION_FAILURE",
        "NVPTXCOMPILE_ERROR_INTERNAL",
        "NVPTXCOMPILE_ERROR_OUT_OF_MEMORY",
        "NVPTXCOMPILE_ERROR_COMPILER_INVOCATION_INCOMPLETE",
        "NVPTXCOMPILE_ERROR_UNSUPPORTED_PTX_VERSION",
        "NVPTXCOMPILE_ERROR_UNSUPPORTED_DEVSIDE_SYNC",
        "NVPTXCOMPILE_ERROR_CANCELLED",
        "NVPTXCOMPILE_PARSE_ONLY_SUCCESS",
    };
    const auto index = static_cast<size_t>(result);
    return index < std::size(kNames) ? kNames[index] : nullptr;
  }
};

/// One compilation: the program's text and what was made of it.
struct Compilation {
  std::mutex mutex;  // guards the members below
  std::string text;
  toolchain::Assembly made;
};

constexpr frame::Failure<NVPTXCOMPILE_ERROR_INVALID_INPUT> invalid;

library::HandleMap<Compilation>& compilations() { return library::handle_map<Compilation>(); }

template <class Body>
nvPTXCompileResult call(Body&& body, const char* function = __builtin_FUNCTION()) {
  return frame::call<CompilerLibrary>(function, body);
}

/// Runs a body with the compilation of a handle, which no other thread uses meanwhile.
template <class Body>
nvPTXCompileResult call_with(nvPTXCompilerHandle handle, Body&& body,
                             const char* function = __builtin_FUNCTION()) {
  const auto with_compilation = [&]() -> nvPTXCompileResult {
    const auto found = compilations().find(reinterpret_cast<uint64_t>(handle));
    if (found == nullptr) {
      return frame::fail(NVPTXCOMPILE_ERROR_INVALID_COMPILER_HANDLE, "the handle is not live");
    }
    const std::lock_guard lock(found->mutex);
    return body(*found);
  };
  return call(with_compilation, function);
}

template <class T>
nvPTXCompileResult give(T* out, const T& value) {
  LIB_REQUIRE(out);
  return write_host(out, value) ? NVPTXCOMPILE_SUCCESS : invalid("the result cannot be written");
}

nvPTXCompileResult give_bytes(void* out, std::string_view bytes) {
  if (bytes.empty()) return NVPTXCOMPILE_SUCCESS;
  LIB_REQUIRE(out);
  return write_host(out, bytes.data(), bytes.size()) ? NVPTXCOMPILE_SUCCESS
                                                     : invalid("the result cannot be written");
}

nvPTXCompileResult read_words(int count, const char* const* words, std::vector<std::string>* out) {
  const auto wanted = static_cast<size_t>(std::max(count, 0));
  const size_t read = library::read_host_words(words, wanted, kMostTextBytes, out);
  return read == wanted ? NVPTXCOMPILE_SUCCESS : invalid("option %zu cannot be read", read);
}

nvPTXCompileResult result_of(toolchain::AssemblyStatus status) {
  switch (status) {
    case toolchain::AssemblyStatus::kDone:
      return NVPTXCOMPILE_SUCCESS;
    case toolchain::AssemblyStatus::kParsedOnly:
      return NVPTXCOMPILE_PARSE_ONLY_SUCCESS;
    case toolchain::AssemblyStatus::kUnsupportedVersion:
      return NVPTXCOMPILE_ERROR_UNSUPPORTED_PTX_VERSION;
    default:
      return NVPTXCOMPILE_ERROR_COMPILATION_FAILURE;
  }
}

void compile(const std::vector<std::string>& words, Compilation& compilation) {
  compilation.made = {};
  const auto line = toolchain::CommandLine::parse(toolchain::assembler_options(), words);
  auto options = line ? toolchain::AssemblerOptions::from(*line)
                      : Result<toolchain::AssemblerOptions>(line.error());
  if (!options) {
    compilation.made.errors = "ptxas fatal   : " + options.error().message + "\n";
    return;
  }
  options->release = kRelease;
  compilation.made = toolchain::assemble(compilation.text, toolchain::kApplicationInput, *options);
}

}  // namespace

extern "C" {

nvPTXCompileResult nvPTXCompilerGetVersion(unsigned int* major, unsigned int* minor) {
  return call([&]() -> nvPTXCompileResult {
    LIB_TRY(give(major, kRelease.major));
    return give(minor, kRelease.minor);
  });
}

nvPTXCompileResult nvPTXCompilerGetNumSupportedVersions(int* count) {
  return call([&] {
    const auto versions = toolchain::isa_versions(kRelease.isa_version());
    return give(count, static_cast<int>(versions.size()));
  });
}

nvPTXCompileResult nvPTXCompilerGetSupportedVersions(int (*versions)[2]) {
  return call([&]() -> nvPTXCompileResult {
    constexpr int kUnitsOfMajor = 10;
    LIB_REQUIRE(versions);
    std::vector<int> numbers;
    for (const uint32_t each : toolchain::isa_versions(kRelease.isa_version())) {
      numbers.push_back(static_cast<int>(each) / kUnitsOfMajor);
      numbers.push_back(static_cast<int>(each) % kUnitsOfMajor);
    }
    return give_bytes(versions, {reinterpret_cast<const char*>(numbers.data()),
                                 numbers.size() * sizeof numbers[0]});
  });
}

nvPTXCompileResult nvPTXCompilerGetNumSupportedArchs(int* count) {
  return call([&] { return give(count, static_cast<int>(toolchain::architectures().size())); });
}

nvPTXCompileResult nvPTXCompilerGetSupportedArchs(int* architectures) {
  return call([&]() -> nvPTXCompileResult {
    LIB_REQUIRE(architectures);
    const std::vector<uint32_t> numbers = toolchain::architectures();
    return give_bytes(architectures, {reinterpret_cast<const char*>(numbers.data()),
                                      numbers.size() * sizeof numbers[0]});
  });
}

nvPTXCompileResult nvPTXCompilerCreate(nvPTXCompilerHandle* handle, size_t text_bytes,
                                       const char* text) {
  return call([&]() -> nvPTXCompileResult {
    LIB_REQUIRE(handle);
    LIB_REQUIRE(text);
    if (text_bytes == 0) return invalid("the text has no bytes");
    if (text_bytes > toolchain::kMaxImageBytes) return invalid("the text is too long");
    auto compilation = std::make_shared<Compilation>();
    compilation->text.resize(text_bytes);
    if (!read_host(compilation->text.data(), text, text_bytes)) {
      return invalid("the text cannot be read");
    }
    const uint64_t id = compilations().add(std::move(compilation), kTag);
    if (write_host(handle, reinterpret_cast<nvPTXCompilerHandle>(id))) return NVPTXCOMPILE_SUCCESS;
    compilations().remove(id);
    return invalid("the handle cannot be written");
  });
}

nvPTXCompileResult nvPTXCompilerDestroy(nvPTXCompilerHandle* handle) {
  return call([&]() -> nvPTXCompileResult {
    LIB_REQUIRE(handle);
    nvPTXCompilerHandle id = nullptr;
    if (!read_host(handle, &id)) return invalid("the handle cannot be read");
    if (compilations().remove(reinterpret_cast<uint64_t>(id)) == nullptr) {
      return frame::fail(NVPTXCOMPILE_ERROR_INVALID_COMPILER_HANDLE, "the handle is not live");
    }
    write_host(handle, nvPTXCompilerHandle{});
    return NVPTXCOMPILE_SUCCESS;
  });
}

nvPTXCompileResult nvPTXCompilerCompile(nvPTXCompilerHandle handle, int count,
                                        const char* const* options) {
  return call_with(handle, [&](Compilation& compilation) -> nvPTXCompileResult {
    std::vector<std::string> words;
    LIB_TRY(read_words(count, options, &words));
    compile(words, compilation);
    const nvPTXCompileResult result = result_of(compilation.made.status);
    if (result != NVPTXCOMPILE_SUCCESS) frame::explain("%s", compilation.made.errors.c_str());
    return result;
  });
}

nvPTXCompileResult nvPTXCompilerGetCompiledProgramSize(nvPTXCompilerHandle handle, size_t* size) {
  return call_with(handle, [&](Compilation& compilation) {
    return compilation.made.image.empty() ? NVPTXCOMPILE_ERROR_COMPILER_INVOCATION_INCOMPLETE
                                          : give(size, compilation.made.image.size());
  });
}

nvPTXCompileResult nvPTXCompilerGetCompiledProgram(nvPTXCompilerHandle handle, void* image) {
  return call_with(handle, [&](Compilation& compilation) {
    return compilation.made.image.empty() ? NVPTXCOMPILE_ERROR_COMPILER_INVOCATION_INCOMPLETE
                                          : give_bytes(image, compilation.made.image);
  });
}

nvPTXCompileResult nvPTXCompilerGetErrorLogSize(nvPTXCompilerHandle handle, size_t* size) {
  return call_with(handle, [&](Compilation& compilation) {
    return give(size, with_zero(compilation.made.errors).size());
  });
}

nvPTXCompileResult nvPTXCompilerGetErrorLog(nvPTXCompilerHandle handle, char* log) {
  return call_with(handle, [&](Compilation& compilation) {
    return give_bytes(log, with_zero(compilation.made.errors));
  });
}

nvPTXCompileResult nvPTXCompilerGetInfoLogSize(nvPTXCompilerHandle handle, size_t* size) {
  return call_with(handle, [&](Compilation& compilation) {
    return give(size, with_zero(compilation.made.info).size());
  });
}

nvPTXCompileResult nvPTXCompilerGetInfoLog(nvPTXCompilerHandle handle, char* log) {
  return call_with(handle, [&](Compilation& compilation) {
    return give_bytes(log, with_zero(compilation.made.info));
  });
}

// The callback may end a compilation at points that this one, which is short, does not have.
nvPTXCompileResult nvPTXCompilerSetFlowCallback(nvPTXCompilerHandle handle, int (*)(void*, void*),
                                                void*) {
  return call_with(handle, [](Compilation&) { return NVPTXCOMPILE_SUCCESS; });
}

}  // extern "C"

}  // namespace km::nvptxcompiler
