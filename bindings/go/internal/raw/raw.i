/* The raw layer: every function of c_api.h as a Go function Km_..., made by SWIG (`make gen`).
 * Handles are uint64, every pointer is an unsafe.Pointer (SWIG's own choice for void* and char* is
 * uintptr and string: the one does not keep memory where it is, the other copies it), and every
 * call returns *Failure, nil for KM_SUCCESS. */
%module raw

%insert(cgo_comment_typedefs) %{
#cgo pkg-config: kernelmill
#define KM_HANDLES_AS_U64
#include <stdlib.h>
#include <kernelmill/c_api.h>

typedef struct kmgo_failure {
  km_status status;
  int64_t native_code;
  uint64_t text_size;
  char text[];
} kmgo_failure;
%}

%{
#define KM_HANDLES_AS_U64
#include <stdlib.h>
#include <kernelmill/c_api.h>

typedef struct kmgo_failure {
  km_status status;
  int64_t native_code;
  uint64_t text_size;
  char text[];
} kmgo_failure;

/* What a call that did not succeed left, or null. The library keeps the text by thread, and the
 * next cgo call may run on another one: so it is taken here, within the same call. */
static void *kmgo_outcome(km_status status) {
  static kmgo_failure not_ready = {KM_NOT_READY, 0, 0};
  static kmgo_failure timeout = {KM_TIMEOUT, 0, 0};
  static kmgo_failure out_of_memory = {KM_ERROR_OUT_OF_HOST_MEMORY, 0, 0};
  kmgo_failure *failure;
  uint64_t size = 0;
  if (status == KM_SUCCESS) return NULL;
  if (status == KM_NOT_READY) return &not_ready;
  if (status == KM_TIMEOUT) return &timeout;
  km_last_error_message(NULL, 0, &size);
  failure = (kmgo_failure *)malloc(sizeof(kmgo_failure) + (size_t)size);
  if (failure == NULL) return &out_of_memory;
  failure->status = status;
  failure->native_code = 0;
  failure->text_size = 0;
  km_last_error_native_code(&failure->native_code);
  if (km_last_error_message(failure->text, size, NULL) == KM_SUCCESS && size > 0) {
    failure->text_size = size - 1; /* without the closing zero */
  }
  return failure;
}
%}

%insert(go_wrapper) %{
// Failure is what a call left that did not return KM_SUCCESS.
type Failure struct {
    Status     int32
    NativeCode int64
    Text       string
}

var (
    notReady = &Failure{Status: NOT_READY}
    timeout  = &Failure{Status: TIMEOUT}
)

// takeFailure copies a record of kmgo_outcome into Go's memory and frees it. Those without a text
// of their own are static.
func takeFailure(record unsafe.Pointer) *Failure {
    if record == nil {
        return nil
    }
    failure := (*C.kmgo_failure)(record)
    switch {
    case failure.status == NOT_READY:
        return notReady
    case failure.status == TIMEOUT:
        return timeout
    case failure.text_size == 0:
        return &Failure{Status: int32(failure.status)}
    }
    text := unsafe.Add(record, unsafe.Sizeof(*failure))
    taken := &Failure{
        Status:     int32(failure.status),
        NativeCode: int64(failure.native_code),
        Text:       string(unsafe.Slice((*byte)(text), failure.text_size)),
    }
    C.free(record)
    return taken
}
%}

%include <stdint.i>

/* Structures and constants are in types.go. */
%rename("$ignore", %$isclass) "";
%rename("$ignore", %$isenumitem) "";

%typemap(gotype) km_status "*Failure"
%typemap(imtype) km_status "unsafe.Pointer"
%typemap(out) km_status %{ $result = kmgo_outcome($1); %}
%typemap(goout) km_status %{ $result = takeFailure($1) %}

%typemap(gotype) SWIGTYPE *, SWIGTYPE **, void *, char *, char ** "unsafe.Pointer"
%typemap(in) SWIGTYPE *, SWIGTYPE **, void *, char *, char ** %{ $1 = ($1_ltype)$input; %}
%typemap(freearg) char * "" /* what SWIG would have copied, and freed here */
%typemap(gotype) int32_t "int32"
%typemap(gotype) uint32_t "uint32"

/* A status is a result above, and a number as a parameter. */
%typemap(gotype) km_status status "int32"
%typemap(imtype) km_status status "int32"

%include "c_api.h"
