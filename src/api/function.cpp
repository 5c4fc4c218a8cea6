#include "api/guard.h"
#include "api/output.h"
#include "base/text.h"
#include "core/module/module.h"

using namespace km;

namespace {

Status check_attribute(km_function_attribute attribute) {
  if (attribute > KM_FUNCTION_ATTRIBUTE_INVALID &&
      attribute <= KM_FUNCTION_ATTRIBUTE_CLUSTER_POLICY) {
    return {};
  }
  return make_error(KM_ERROR_INVALID_ARGUMENT, "%d is not a function attribute", attribute);
}

bool is_settable(km_function_attribute attribute) {
  return attribute == KM_FUNCTION_ATTRIBUTE_MAX_DYNAMIC_SHARED_BYTES ||
         attribute == KM_FUNCTION_ATTRIBUTE_SHARED_CARVEOUT_PERCENT ||
         attribute == KM_FUNCTION_ATTRIBUTE_NON_PORTABLE_CLUSTER ||
         attribute == KM_FUNCTION_ATTRIBUTE_CLUSTER_POLICY;
}

Status check_param(const Function& function, uint32_t index) {
  const kmb_function_info& kernel = function.info();
  if (index < kernel.param_count) return {};
  return make_error(KM_ERROR_INVALID_ARGUMENT, "index is %u; kernel '%s' has %s", index,
                    source_name(kernel.name).c_str(),
                    counted(kernel.param_count, "parameter").c_str());
}

}  // namespace

km_status km_function_destroy(km_function function) noexcept {
  return guard(__func__, [&](Call&) { return destroy_handle(function, "function"); });
}

km_status km_function_name(km_function function, char* buffer, uint64_t capacity_bytes,
                           uint64_t* out_size_bytes) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, function);
    return give_text(target->info().name, buffer, capacity_bytes, out_size_bytes);
  });
}

km_status km_function_attribute_get(km_function function, km_function_attribute attribute,
                                    int64_t* out_value) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, function);
    KM_REQUIRE(out_value);
    KM_TRY(check_attribute(attribute));
    KM_ASSIGN(*out_value, target->attribute(attribute));
    return {};
  });
}

km_status km_function_attribute_set(km_function function, km_function_attribute attribute,
                                    int64_t value) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, function);
    KM_TRY(check_attribute(attribute));
    if (!is_settable(attribute)) {
      return make_error(KM_ERROR_INVALID_ARGUMENT,
                        "function attribute %d cannot be set; the header says which can",
                        attribute);
    }
    return target->set_attribute(attribute, value);
  });
}

km_status km_function_prepare(km_function function, uint32_t block_x, uint32_t block_y,
                              uint32_t block_z) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, function);
    return target->prepare({block_x, block_y, block_z});
  });
}

km_status km_function_check_argument(km_function function, uint32_t index, km_element_type type,
                                     uint32_t lanes, uint64_t size_bytes) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, function);
    KM_TRY(element_type_of(type, lanes, nullptr));
    return target->types().check_value(index, {type, lanes, size_bytes});
  });
}

km_status km_function_param_count(km_function function, uint32_t* out_count) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, function);
    KM_REQUIRE(out_count);
    *out_count = target->info().param_count;
    return {};
  });
}

km_status km_function_param(km_function function, uint32_t index,
                            km_param_info* out_info) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, function);
    KM_REQUIRE(out_info);
    KM_TRY(check_param(*target, index));
    const kmb_param& param = target->info().params[index];
    km_param_info info{};
    info.kind = param.kind;
    info.value_type = param.value_type;
    info.size_bytes = param.size_bytes;
    info.align_bytes = param.align_bytes;
    info.offset_bytes = param.offset_bytes;
    return give_struct(info, out_info, "out_info");
  });
}

km_status km_function_param_signature(km_function function, uint32_t index,
                                      km_param_signature* out_signature) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, function);
    KM_REQUIRE(out_signature);
    KM_TRY(check_param(*target, index));
    const kmb_param& param = target->info().params[index];
    const ParamType& type = target->types().signature()[index];
    const bool is_value = type.kind == KM_SIGNATURE_KIND_VALUE;
    const uint64_t element_size = type.element.size_bytes();
    km_param_signature result{};
    result.kind = type.kind;
    result.element = type.element.type;
    result.lanes = type.element.lanes;
    result.is_const = type.is_const ? 1 : 0;
    result.element_size_bytes =
        static_cast<uint32_t>(is_value && element_size == 0 ? param.size_bytes : element_size);
    result.size_bytes = param.size_bytes;
    result.offset_bytes = param.offset_bytes;
    return give_struct(result, out_signature, "out_signature");
  });
}

km_status km_function_param_type_name(km_function function, uint32_t index, char* buffer,
                                      uint64_t capacity_bytes, uint64_t* out_size_bytes) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, function);
    KM_TRY(check_param(*target, index));
    return give_text(target->types().signature()[index].element.name, buffer, capacity_bytes,
                     out_size_bytes);
  });
}
