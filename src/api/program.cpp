#include "core/module/program.h"

#include "api/guard.h"
#include "api/output.h"

using namespace km;

km_status km_program_create(const char* source, uint64_t source_size_bytes, const char* name,
                            km_program* out_program) noexcept {
  return guard(__func__, [&](Call&) -> Status {
    KM_REQUIRE(source);
    KM_REQUIRE(out_program);
    KM_ASSIGN(const std::string_view text, take_text(source, source_size_bytes, "source"));
    return give_handle(make_ref<Program>(text, name != nullptr ? name : "kernel.cu"), out_program);
  });
}

km_status km_program_destroy(km_program program) noexcept {
  return guard(__func__, [&](Call&) { return destroy_handle(program, "program"); });
}

km_status km_program_add_option(km_program program, const char* option) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, program);
    KM_REQUIRE(option);
    target->add_option(option);
    return {};
  });
}

km_status km_program_add_header(km_program program, const char* name, const char* source,
                                uint64_t source_size_bytes) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, program);
    KM_REQUIRE(name);
    KM_ASSIGN(const std::string_view text, take_text(source, source_size_bytes, "source"));
    return target->add_header(name, text);
  });
}

km_status km_program_add_name_expression(km_program program, const char* expression) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, program);
    KM_REQUIRE(expression);
    target->add_name_expression(expression);
    return {};
  });
}

km_status km_program_compile(km_program program) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, program);
    return target->compile();
  });
}

km_status km_program_log(km_program program, char* buffer, uint64_t capacity_bytes,
                         uint64_t* out_size_bytes) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, program);
    return give_text(target->log(), buffer, capacity_bytes, out_size_bytes);
  });
}

km_status km_program_ptx(km_program program, char* buffer, uint64_t capacity_bytes,
                         uint64_t* out_size_bytes) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, program);
    KM_ASSIGN(const std::string ptx, target->ptx());
    return give_text(ptx, buffer, capacity_bytes, out_size_bytes);
  });
}

km_status km_program_lowered_name(km_program program, const char* expression, char* buffer,
                                  uint64_t capacity_bytes, uint64_t* out_size_bytes) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, program);
    KM_REQUIRE(expression);
    KM_ASSIGN(const std::string name, target->lowered_name(expression));
    return give_text(name, buffer, capacity_bytes, out_size_bytes);
  });
}
