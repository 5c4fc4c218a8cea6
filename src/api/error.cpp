#include <algorithm>

#include "api/guard.h"
#include "api/output.h"
#include "base/cuda/cuda_results.h"
#include "core/error/status.h"
#include "core/error/thread_error.h"

using namespace km;

namespace {

Result<const StatusText*> text_of(km_status status) {
  if (const StatusText* text = status_text(status)) return text;
  return make_error(KM_ERROR_INVALID_ARGUMENT, "%d is not a status of this library", status);
}

Error no_cuda_result(int32_t cuda_result) {
  return make_error(KM_ERROR_INVALID_ARGUMENT, "%d is not a result of the CUDA driver",
                    cuda_result);
}

// Reading the last error must not replace it, so these calls set no text of their own.
km_status read_error(const char* function, Status (*body)(char*, uint64_t, uint64_t*), char* buffer,
                     uint64_t capacity_bytes, uint64_t* out_size_bytes) noexcept {
  try {
    const Status status = body(buffer, capacity_bytes, out_size_bytes);
    return status ? KM_SUCCESS : status.error().status;
  } catch (...) {
    return Call(function).fail(KM_ERROR_OUT_OF_HOST_MEMORY, "the host is out of memory");
  }
}

}  // namespace

km_status km_status_name(km_status status, const char** out_name) noexcept {
  return guard_anywhere(__func__, [&](Call&) -> Status {
    KM_REQUIRE(out_name);
    KM_ASSIGN(const StatusText* text, text_of(status));
    *out_name = text->name;
    return {};
  });
}

km_status km_status_description(km_status status, const char** out_description) noexcept {
  return guard_anywhere(__func__, [&](Call&) -> Status {
    KM_REQUIRE(out_description);
    KM_ASSIGN(const StatusText* text, text_of(status));
    *out_description = text->description;
    return {};
  });
}

km_status km_status_recovery(km_status status, const char** out_suggestion) noexcept {
  return guard_anywhere(__func__, [&](Call&) -> Status {
    KM_REQUIRE(out_suggestion);
    KM_ASSIGN(const StatusText* text, text_of(status));
    *out_suggestion = text->recovery;
    return {};
  });
}

km_status km_status_category(km_status status, km_error_category* out_category) noexcept {
  return guard_anywhere(__func__, [&](Call&) -> Status {
    KM_REQUIRE(out_category);
    KM_ASSIGN(const StatusText* text, text_of(status));
    *out_category = text->category;
    return {};
  });
}

km_status km_last_error_message(char* buffer, uint64_t capacity_bytes,
                                uint64_t* out_size_bytes) noexcept {
  const auto body = [](char* to, uint64_t capacity, uint64_t* out_size) {
    return give_text(thread_error_message(), to, capacity, out_size);
  };
  return read_error(__func__, body, buffer, capacity_bytes, out_size_bytes);
}

km_status km_last_error_native_code(int64_t* out_code) noexcept {
  if (out_code == nullptr) return KM_ERROR_INVALID_ARGUMENT;
  *out_code = thread_error_native_code();
  return KM_SUCCESS;
}

km_status km_last_error_status(km_status* out_status) noexcept {
  if (out_status == nullptr) return KM_ERROR_INVALID_ARGUMENT;
  *out_status = thread_error_status();
  return KM_SUCCESS;
}

km_status km_last_error_take(km_status* out_status) noexcept {
  if (out_status == nullptr) return KM_ERROR_INVALID_ARGUMENT;
  *out_status = thread_error_status();
  clear_thread_error();
  return KM_SUCCESS;
}

km_status km_status_from_cuda(int32_t cuda_result, km_status* out_status) noexcept {
  return guard_anywhere(__func__, [&](Call&) -> Status {
    KM_REQUIRE(out_status);
    const std::optional<km_status> status = status_of_cuda(cuda_result);
    if (!status) return no_cuda_result(cuda_result);
    *out_status = *status;
    return {};
  });
}

km_status km_status_to_cuda(km_status status, int32_t* out_cuda_result) noexcept {
  return guard_anywhere(__func__, [&](Call&) -> Status {
    KM_REQUIRE(out_cuda_result);
    KM_ASSIGN([[maybe_unused]] const StatusText* text, text_of(status));
    *out_cuda_result = *cuda_of_status(status);
    return {};
  });
}

km_status km_cuda_result_name(int32_t cuda_result, const char** out_name) noexcept {
  return guard_anywhere(__func__, [&](Call&) -> Status {
    KM_REQUIRE(out_name);
    const char* name = cuda_result_name(cuda_result);
    if (name == nullptr) return no_cuda_result(cuda_result);
    *out_name = name;
    return {};
  });
}

km_status km_context_error_native_code(km_context context, int64_t* out_code) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, context);
    KM_REQUIRE(out_code);
    *out_code = target->error().native_code;
    return {};
  });
}

km_status km_context_error_history(km_context context, uint64_t capacity,
                                   km_error_record* out_records, uint64_t* out_count) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, context);
    KM_TRY(require_room(out_records, capacity, "out_records"));
    KM_REQUIRE(out_count);
    const std::vector<ErrorRecord> records = target->error_history().records();
    KM_TRY(give_structs(records, capacity, out_records, "out_records",
                        [](const ErrorRecord& one) { return one.info(); }));
    *out_count = records.size();
    return {};
  });
}

km_status km_context_error_counts(km_context context, uint64_t capacity, km_error_count* out_counts,
                                  uint64_t* out_count) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, context);
    KM_TRY(require_room(out_counts, capacity, "out_counts"));
    KM_REQUIRE(out_count);
    const std::vector<km_error_count> counts = target->error_history().counts();
    std::copy_n(counts.begin(), std::min<uint64_t>(capacity, counts.size()), out_counts);
    *out_count = counts.size();
    return {};
  });
}

km_status km_context_clear_error_history(km_context context) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, context);
    target->error_history().clear();
    return {};
  });
}
