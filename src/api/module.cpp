#include "core/module/module.h"

#include <cinttypes>

#include "api/guard.h"
#include "api/output.h"
#include "base/text.h"
#include "core/memory/slice.h"
#include "core/module/program.h"

using namespace km;

namespace {

/// Limits the block sizes of an object file, since each costs tens of milliseconds per kernel.
constexpr uint64_t kMaxBlockSizes = 4096;

}  // namespace

km_status km_module_load_ptx(km_context context, const char* ptx, uint64_t ptx_size_bytes,
                             const char* name, km_module* out_module) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, context);
    KM_REQUIRE(ptx);
    KM_REQUIRE(out_module);
    KM_ASSIGN(const std::string_view text, take_text(ptx, ptx_size_bytes, "ptx"));
    KM_ASSIGN(Ref<Module> loaded,
              Module::load_ptx(*target, text, name != nullptr ? name : "module.ptx"));
    return give_handle(std::move(loaded), out_module);
  });
}

km_status km_module_load_file(km_context context, const char* path,
                              km_module* out_module) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, context);
    KM_REQUIRE(path);
    KM_REQUIRE(out_module);
    KM_ASSIGN(Ref<Module> loaded, Module::load_file(*target, path));
    return give_handle(std::move(loaded), out_module);
  });
}

km_status km_module_from_object(km_context context, const void* data, uint64_t size_bytes,
                                const char* name, km_module* out_module) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, context);
    KM_REQUIRE(data);
    KM_REQUIRE(out_module);
    const std::string_view content(static_cast<const char*>(data), size_bytes);
    KM_ASSIGN(Ref<Module> loaded,
              Module::load_object(*target, content, name != nullptr ? name : "module.kmo"));
    return give_handle(std::move(loaded), out_module);
  });
}

km_status km_module_save_object(km_module module, const char* path, const uint32_t* blocks,
                                uint64_t block_count) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, module);
    KM_REQUIRE(path);
    if (block_count != 0) KM_REQUIRE(blocks);
    if (block_count > kMaxBlockSizes) {
      return make_error(KM_ERROR_INVALID_ARGUMENT,
                        "block_count is %" PRIu64 "; at most %" PRIu64 " sizes are possible",
                        block_count, kMaxBlockSizes);
    }
    std::vector<std::array<uint32_t, 3>> sizes;
    for (uint64_t i = 0; i < block_count; ++i, blocks += 3) {
      sizes.push_back({blocks[0], blocks[1], blocks[2]});
    }
    return target->save_object(path, sizes);
  });
}

km_status km_module_load_source(km_context context, const char* source, uint64_t source_size_bytes,
                                const char* name, km_module* out_module) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, context);
    KM_REQUIRE(source);
    KM_REQUIRE(out_module);
    KM_ASSIGN(const std::string_view text, take_text(source, source_size_bytes, "source"));
    KM_ASSIGN(Ref<Module> loaded,
              Module::load_source(*target, text, name != nullptr ? name : "kernel.cu"));
    return give_handle(std::move(loaded), out_module);
  });
}

km_status km_module_load_program(km_context context, km_program program,
                                 km_module* out_module) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, context);
    KM_GET(compiled, call, program);
    KM_REQUIRE(out_module);
    KM_ASSIGN(Ref<Module> loaded, compiled->load(*target));
    return give_handle(std::move(loaded), out_module);
  });
}

km_status km_module_destroy(km_module module) noexcept {
  return guard(__func__, [&](Call&) { return destroy_handle(module, "module"); });
}

km_status km_module_function_count(km_module module, uint32_t* out_count) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, module);
    KM_REQUIRE(out_count);
    *out_count = static_cast<uint32_t>(target->kernels().size());
    return {};
  });
}

km_status km_module_function_name(km_module module, uint32_t index, char* buffer,
                                  uint64_t capacity_bytes, uint64_t* out_size_bytes) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, module);
    if (index >= target->kernels().size()) {
      return make_error(KM_ERROR_INVALID_ARGUMENT, "index is %u; module '%s' has %s", index,
                        target->name().c_str(),
                        counted(target->kernels().size(), "kernel").c_str());
    }
    return give_text(target->kernels()[index].name, buffer, capacity_bytes, out_size_bytes);
  });
}

km_status km_module_function(km_module module, const char* name,
                             km_function* out_function) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, module);
    KM_REQUIRE(name);
    KM_REQUIRE(out_function);
    KM_ASSIGN(const Kernel* kernel, target->kernel(name));
    return give_handle(make_ref<Function>(Ref<Module>::share(*target), *kernel), out_function);
  });
}

km_status km_module_global(km_module module, const char* name, km_slice* out_slice) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, module);
    KM_REQUIRE(name);
    KM_REQUIRE(out_slice);
    KM_ASSIGN(Ref<Memory> memory, target->global(name));
    const uint64_t element_size = memory->element_size_bytes();
    const uint64_t count = memory->size_bytes() / element_size;
    return give_handle(make_ref<Slice>(std::move(memory), 0, count, element_size, false),
                       out_slice);
  });
}
