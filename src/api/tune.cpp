#include "core/launch/tune.h"

#include "api/guard.h"
#include "api/launch/kernel_call.h"
#include "api/output.h"
#include "core/object/callback.h"

using namespace km;

km_status km_tune_create(km_device device, const char* source, uint64_t source_size_bytes,
                         const char* kernel, km_tune* out_tune) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, device);
    KM_REQUIRE(source);
    KM_REQUIRE(kernel);
    KM_REQUIRE(out_tune);
    KM_ASSIGN(const std::string_view text, take_text(source, source_size_bytes, "source"));
    return give_handle(make_ref<Tune>(Ref<Device>::share(*target), text, kernel), out_tune);
  });
}

km_status km_tune_destroy(km_tune tune) noexcept {
  return guard(__func__, [&](Call&) { return destroy_handle(tune, "tune"); });
}

km_status km_tune_add_candidate(km_tune tune, const km_launch_config* config, const char* options,
                                uint32_t* out_candidate) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, tune);
    KM_REQUIRE(config);
    KM_REQUIRE(out_candidate);
    KM_ASSIGN(*out_candidate,
              target->add_candidate(shape_of(*config), options != nullptr ? options : ""));
    return {};
  });
}

km_status km_tune_add_buffer(km_tune tune, const void* data, uint64_t size_bytes,
                             km_tune_buffer_flags flags) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, tune);
    KM_TRY(check_flags(flags, KM_TUNE_BUFFER_OUTPUT));
    return target->add_buffer(data, size_bytes, (flags & KM_TUNE_BUFFER_OUTPUT) != 0);
  });
}

km_status km_tune_add_scalar(km_tune tune, const void* value, uint64_t size_bytes) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, tune);
    KM_REQUIRE(value);
    return target->add_scalar(value, size_bytes);
  });
}

km_status km_tune_set_check(km_tune tune, km_tune_check check, double tolerance) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, tune);
    if (check < KM_TUNE_CHECK_OFF || check > KM_TUNE_CHECK_F64) {
      return make_error(KM_ERROR_INVALID_ARGUMENT, "check is %d, which is not a kind of check",
                        check);
    }
    if (!(tolerance >= 0)) {
      return make_error(KM_ERROR_INVALID_ARGUMENT, "tolerance is %g; it must not be negative",
                        tolerance);
    }
    return target->set_check(check, tolerance);
  });
}

km_status km_tune_set_budget(km_tune tune, uint64_t budget_ns, uint32_t warmup_count) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, tune);
    return target->set_budget(budget_ns, warmup_count);
  });
}

km_status km_tune_set_progress(km_tune tune, km_tune_callback callback, void* user_data) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, tune);
    return target->set_progress(callback, user_data);
  });
}

km_status km_tune_run(km_tune tune, const char* problem, km_tune_run_flags flags,
                      uint32_t* out_candidate) {
  return then_end_thread(guard(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, tune);
    KM_REQUIRE(out_candidate);
    KM_TRY(check_flags(flags, KM_TUNE_RUN_AGAIN));
    KM_TRY(require_may_block());  // its launches block
    KM_ASSIGN(*out_candidate,
              target->run(problem != nullptr ? problem : "", (flags & KM_TUNE_RUN_AGAIN) != 0));
    return {};
  }));
}

km_status km_tune_result_get(km_tune tune, uint32_t candidate,
                             km_tune_result* out_result) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, tune);
    KM_REQUIRE(out_result);
    KM_ASSIGN(const km_tune_result result, target->result(candidate));
    return give_struct(result, out_result, "out_result");
  });
}

km_status km_tune_result_message(km_tune tune, uint32_t candidate, char* buffer,
                                 uint64_t capacity_bytes, uint64_t* out_size_bytes) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, tune);
    KM_ASSIGN(const std::string text, target->message(candidate));
    return give_text(text, buffer, capacity_bytes, out_size_bytes);
  });
}

km_status km_tune_function(km_tune tune, uint32_t candidate, km_context context,
                           km_function* out_function) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, tune);
    KM_GET(place, call, context);
    KM_REQUIRE(out_function);
    KM_ASSIGN(Ref<Function> function, target->function(candidate, *place));
    return give_handle(std::move(function), out_function);
  });
}
