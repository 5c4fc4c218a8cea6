// The functions of programs whose arguments are lists, handles, or as long as another one says.
#include <string>

#include "dropin/nvrtc/arguments.h"
#include "dropin/nvrtc/options.h"

namespace {

using namespace km::nvrtc;  // NOLINT: its functions are what these call
using km::library::read_host;
using km::library::write_host;

/// Gives the bytes of one of NVIDIA's functions, whose number another one gives.
template <class T, class... Handle>
nvrtcResult give_list(const char* size_name, const char* name, T* out, Handle... handle) {
  using Size = std::conditional_t<sizeof(T) == 1, size_t, int>;
  Size count = 0;
  LIB_REQUIRE(out);
  LIB_TRY(forward(size_name, handle..., &count));
  std::vector<T> list(static_cast<size_t>(count));
  const nvrtcResult made = forward(name, handle..., list.data());
  if (made != NVRTC_SUCCESS || list.empty()) return made;
  if (write_host(out, list.data(), list.size() * sizeof(T))) return NVRTC_SUCCESS;
  return invalid("%zu bytes cannot be written to %p", list.size() * sizeof(T),
                 static_cast<void*>(out));
}

/// The bytes of a program.
nvrtcResult give_bytes(const char* size_name, const char* name, nvrtcProgram program, char* out) {
  LIB_TRY(require_live(program));
  return give_list(size_name, name, out, program);
}

/// The names of the functions for the program's PTX if that replaces machine code.
const char* size_name_of(nvrtcProgram program) {
  return Programs::instance().is_machine_code(program) ? "nvrtcGetPTXSize" : "nvrtcGetCUBINSize";
}
const char* image_name_of(nvrtcProgram program) {
  return Programs::instance().is_machine_code(program) ? "nvrtcGetPTX" : "nvrtcGetCUBIN";
}

/// Stores a new program's handle. If that fails, the program ends.
nvrtcResult give_program(nvrtcProgram* out, nvrtcProgram made) {
  if (!write_host(out, made)) {
    forward("nvrtcDestroyProgram", &made);
    return invalid("prog cannot be written at %p", static_cast<void*>(out));
  }
  Programs::instance().add(made);
  return NVRTC_SUCCESS;
}

}  // namespace

extern "C" {

const char* nvrtcGetErrorString(nvrtcResult result) { return NvrtcLibrary::name_of(result); }

nvrtcResult nvrtcCreateProgram(nvrtcProgram* out, const char* source, const char* name,
                               int header_count, const char* const* headers,
                               const char* const* include_names) {
  return call([&]() -> nvrtcResult {
    LIB_REQUIRE(out);
    Argument<const char*> text(source), own_name(name);
    TextList contents, names;
    LIB_TRY(text.read());
    LIB_TRY(own_name.read());
    LIB_TRY(contents.read(header_count, headers));
    if (include_names != nullptr) LIB_TRY(names.read(header_count, include_names));
    nvrtcProgram made = nullptr;
    LIB_TRY(forward("nvrtcCreateProgram", &made, static_cast<const char*>(text.get()),
                    static_cast<const char*>(own_name.get()), header_count, contents.data(),
                    names.data()));
    return give_program(out, made);
  });
}

nvrtcResult nvrtcCompileProgram(nvrtcProgram program, int option_count,
                                const char* const* options) {
  return call([&]() -> nvrtcResult {
    LIB_TRY(require_live(program));
    TextList read;
    LIB_TRY(read.read(option_count, options));
    const VirtualOptions given({read.data(), static_cast<size_t>(option_count)});
    Programs::instance().set_machine_code(program, given.replaces_machine_code());
    return forward("nvrtcCompileProgram", program, option_count, given.data());
  });
}

nvrtcResult nvrtcDestroyProgram(nvrtcProgram* program) {
  return call([&]() -> nvrtcResult {
    nvrtcProgram given = nullptr;
    if (program != nullptr && !read_host(program, &given)) {
      return invalid("prog cannot be read at %p", static_cast<void*>(program));
    }
    LIB_TRY(require_live(given));
    Programs::instance().remove(given);
    const nvrtcResult ended = forward("nvrtcDestroyProgram", &given);
    write_host(program, given);
    return ended;
  });
}

nvrtcResult nvrtcGetCUBINSize(nvrtcProgram program, size_t* size) {
  return call([&]() -> nvrtcResult {
    LIB_TRY(require_live(program));
    Argument<size_t*> out(size);
    LIB_TRY(out.read());
    const nvrtcResult made = forward(size_name_of(program), program, out.get());
    LIB_TRY(out.write());
    return made;
  });
}

nvrtcResult nvrtcGetCUBIN(nvrtcProgram program, char* image) {
  return call(
      [&] { return give_bytes(size_name_of(program), image_name_of(program), program, image); });
}

#define KM_BYTES_OF_PROGRAM(name)                                               \
  nvrtcResult name(nvrtcProgram program, char* out) {                           \
    return call([&] { return give_bytes(#name "Size", #name, program, out); }); \
  }
KM_BYTES_OF_PROGRAM(nvrtcGetLTOIR)
KM_BYTES_OF_PROGRAM(nvrtcGetOptiXIR)
KM_BYTES_OF_PROGRAM(nvrtcGetPTX)
KM_BYTES_OF_PROGRAM(nvrtcGetProgramLog)
KM_BYTES_OF_PROGRAM(nvrtcGetTileIR)
#undef KM_BYTES_OF_PROGRAM

nvrtcResult nvrtcGetSupportedArchs(int* architectures) {
  return call([&] {
    return give_list("nvrtcGetNumSupportedArchs", "nvrtcGetSupportedArchs", architectures);
  });
}

}  // extern "C"
