#include "dropin/cusparse/frame/handle.h"

namespace km::cusparse {
namespace {

struct StatusWords {
  const char* name;
  const char* text;
};

/// The words of status i are at index i.
constexpr StatusWords kWords[] = {
    {"CUSPARSE_STATUS_SUCCESS", "success"},
    {"CUSPARSE_STATUS_NOT_INITIALIZED", "initialization error"},
    {"CUSPARSE_STATUS_ALLOC_FAILED", "out of memory"},
    {"CUSPARSE_STATUS_INVALID_VALUE", "invalid value"},
    {"CUSPARSE_STATUS_ARCH_MISMATCH", "architecture mismatch"},
    {"CUSPARSE_STATUS_MAPPING_ERROR", "texture memory mapping error"},
    {"CUSPARSE_STATUS_EXECUTION_FAILED", "kernel launch failure"},
    {"CUSPARSE_STATUS_INTERNAL_ERROR", "internal error"},
    {"CUSPARSE_STATUS_MATRIX_TYPE_NOT_SUPPORTED", "matrix type not supported"},
    {"CUSPARSE_STATUS_ZERO_PIVOT", "zero pivot"},
    {"CUSPARSE_STATUS_NOT_SUPPORTED", "operation not supported"},
    {"CUSPARSE_STATUS_INSUFFICIENT_RESOURCES", "insufficient resources"},
};

const StatusWords* find_words(cusparseStatus_t status) {
  const auto index = static_cast<uint32_t>(status);
  return index < std::size(kWords) ? &kWords[index] : nullptr;
}

}  // namespace

std::shared_ptr<Handle> find_handle(cusparseHandle_t handle) { return find_object<Handle>(handle); }

const char* status_name(cusparseStatus_t status) noexcept {
  const StatusWords* const words = find_words(status);
  return words == nullptr ? nullptr : words->name;
}

const char* status_text(cusparseStatus_t status) noexcept {
  const StatusWords* const words = find_words(status);
  return words == nullptr ? nullptr : words->text;
}

}  // namespace km::cusparse
