// The operations of communicators.
#include "api/guard.h"
#include "api/library/comm_request.h"

using namespace km;

namespace {

km_status request(const CommArguments& arguments, const char* function = __builtin_FUNCTION()) {
  return guard(function, [&](Call& call) { return request_comm(call, function, arguments); });
}

}  // namespace

km_status km_comm_all_reduce(km_comm comm, km_stream stream, const km_array* send,
                             const km_array* receive, uint64_t count, km_element_type type,
                             km_comm_reduction reduction, const void* scale) noexcept {
  return request({KMB_COMM_ALL_REDUCE, comm, stream, send, receive, count, type, reduction, scale});
}

km_status km_comm_reduce(km_comm comm, km_stream stream, const km_array* send,
                         const km_array* receive, uint64_t count, km_element_type type,
                         km_comm_reduction reduction, const void* scale, uint32_t root) noexcept {
  return request(
      {KMB_COMM_REDUCE, comm, stream, send, receive, count, type, reduction, scale, root});
}

km_status km_comm_reduce_scatter(km_comm comm, km_stream stream, const km_array* send,
                                 const km_array* receive, uint64_t count, km_element_type type,
                                 km_comm_reduction reduction, const void* scale) noexcept {
  return request(
      {KMB_COMM_REDUCE_SCATTER, comm, stream, send, receive, count, type, reduction, scale});
}

km_status km_comm_broadcast(km_comm comm, km_stream stream, const km_array* send,
                            const km_array* receive, uint64_t count, km_element_type type,
                            uint32_t root) noexcept {
  return request({KMB_COMM_BROADCAST, comm, stream, send, receive, count, type,
                  KM_COMM_REDUCTION_INVALID, nullptr, root});
}

km_status km_comm_all_gather(km_comm comm, km_stream stream, const km_array* send,
                             const km_array* receive, uint64_t count,
                             km_element_type type) noexcept {
  return request({KMB_COMM_ALL_GATHER, comm, stream, send, receive, count, type});
}

km_status km_comm_all_to_all(km_comm comm, km_stream stream, const km_array* send,
                             const km_array* receive, uint64_t count,
                             km_element_type type) noexcept {
  return request({KMB_COMM_ALL_TO_ALL, comm, stream, send, receive, count, type});
}

km_status km_comm_gather(km_comm comm, km_stream stream, const km_array* send,
                         const km_array* receive, uint64_t count, km_element_type type,
                         uint32_t root) noexcept {
  return request({KMB_COMM_GATHER, comm, stream, send, receive, count, type,
                  KM_COMM_REDUCTION_INVALID, nullptr, root});
}

km_status km_comm_scatter(km_comm comm, km_stream stream, const km_array* send,
                          const km_array* receive, uint64_t count, km_element_type type,
                          uint32_t root) noexcept {
  return request({KMB_COMM_SCATTER, comm, stream, send, receive, count, type,
                  KM_COMM_REDUCTION_INVALID, nullptr, root});
}

km_status km_comm_send(km_comm comm, km_stream stream, const km_array* send, uint64_t count,
                       km_element_type type, uint32_t peer) noexcept {
  return request({KMB_COMM_SEND, comm, stream, send, nullptr, count, type,
                  KM_COMM_REDUCTION_INVALID, nullptr, peer});
}

km_status km_comm_receive(km_comm comm, km_stream stream, const km_array* receive, uint64_t count,
                          km_element_type type, uint32_t peer) noexcept {
  return request({KMB_COMM_RECEIVE, comm, stream, nullptr, receive, count, type,
                  KM_COMM_REDUCTION_INVALID, nullptr, peer});
}
