#include "core/error/status.h"

namespace km {
namespace {

constexpr km_error_category kNone = KM_ERROR_CATEGORY_NONE;
constexpr km_error_category kUsage = KM_ERROR_CATEGORY_USAGE;
constexpr km_error_category kResource = KM_ERROR_CATEGORY_RESOURCE;
constexpr km_error_category kEnvironment = KM_ERROR_CATEGORY_ENVIRONMENT;
constexpr km_error_category kProgram = KM_ERROR_CATEGORY_PROGRAM;
constexpr km_error_category kFault = KM_ERROR_CATEGORY_KERNEL_FAULT;
constexpr km_error_category kInternal = KM_ERROR_CATEGORY_INTERNAL;

constexpr const char* kReset = "Fix the kernel or its arguments, then call km_context_reset.";

#define KM_ROW(status, category, description, recovery) \
  {status, category, #status, description, recovery}
constexpr StatusText kTexts[] = {
    KM_ROW(KM_SUCCESS, kNone, "The call did what it says.", "Nothing to do."),
    KM_ROW(KM_NOT_READY, kNone, "The work asked about is still running.",
           "Ask again later, or synchronize."),
    KM_ROW(KM_TIMEOUT, kNone, "The time limit passed before the work was done.",
           "Wait again; the work goes on."),
    KM_ROW(KM_ERROR_INTERNAL, kInternal, "Something inside the library failed.",
           "Report it with the message and the log of KM_LOG=debug."),
    KM_ROW(KM_ERROR_INVALID_ARGUMENT, kUsage, "An argument has a value that the call cannot use.",
           "Correct the argument that the message names."),
    KM_ROW(KM_ERROR_INVALID_HANDLE, kUsage, "A handle is not a live object of its type.",
           "Use handles only between their creation and their destroy call."),
    KM_ROW(KM_ERROR_OUT_OF_HOST_MEMORY, kResource, "The host is out of memory.",
           "Free host memory, or raise the limit that the message names, and call again."),
    KM_ROW(KM_ERROR_OUT_OF_DEVICE_MEMORY, kResource, "The device is out of memory.",
           "Free slices or work in smaller parts, then call again."),
    KM_ROW(KM_ERROR_OUT_OF_BOUNDS, kUsage, "An offset or size reaches beyond the allocation.",
           "Stay within the memory or file that the message names with its size."),
    KM_ROW(
        KM_ERROR_NOT_FOUND, kUsage, "What the call names does not exist.",
        "Check the name, path or number that the message has, and whether the call that makes or "
        "opens it came before."),
    KM_ROW(KM_ERROR_NOT_SUPPORTED, kEnvironment, "This backend or device cannot do that.",
           "Use another device or another way; the message says what is possible."),
    KM_ROW(
        KM_ERROR_NOT_PERMITTED, kUsage, "The call is not allowed here or now.",
        "Do first what the message names, such as beginning or ending a capture; calls that wait "
        "belong outside of host callbacks."),
    KM_ROW(KM_ERROR_BUFFER_TOO_SMALL, kUsage, "The text does not fit into the buffer.",
           "Ask for the size with a null buffer and capacity 0, then call again."),
    KM_ROW(KM_ERROR_IO, kEnvironment, "A file could not be read or written.",
           "Check the path, its permissions and the room on the disk; the message has the reason."),
    KM_ROW(KM_ERROR_CONTEXT_MISMATCH, kUsage, "The objects belong to different contexts.",
           "Use objects of one context in one call."),
    KM_ROW(KM_ERROR_CONTEXT_LOST, kUsage, "The object's context was reset after its creation.",
           "Destroy the object and create it again from the context."),
    KM_ROW(KM_ERROR_PROCESS_LOST, kFault, "The device cannot recover within this process.",
           "Start a new process."),
    KM_ROW(KM_ERROR_FORKED, kUsage, "The process was forked after the library was used.",
           "Use the library in the parent only, or fork before the first use, or exec."),
    KM_ROW(KM_ERROR_CAPTURE_UNSUPPORTED, kUsage,
           "A call that a capture cannot hold was made on what is being captured.",
           "Make the call outside of captures; if the message calls a capture invalid, end that."),
    KM_ROW(KM_ERROR_CAPTURE_INVALIDATED, kUsage, "An earlier call has invalidated the capture.",
           "End it with km_stream_end_capture if it has not ended, and begin again without that "
           "call."),
    KM_ROW(KM_ERROR_CAPTURE_UNJOINED, kUsage,
           "A capture ended while streams that joined it had work that nothing waits for.",
           "Record an event in each of them, and wait for it in the first before the end."),
    KM_ROW(KM_ERROR_GRAPH_MISMATCH, kUsage,
           "The graph differs from what was instantiated by more than parameters.",
           "Instantiate the new graph."),
    KM_ROW(KM_ERROR_RESULT_MISMATCH, kProgram,
           "A candidate of a tuning gives other results than the first one.",
           "Correct the kernel for this candidate, or allow a tolerance."),
    KM_ROW(KM_ERROR_BACKEND_UNAVAILABLE, kEnvironment, "The backend does not work here.",
           "Install what the message names, or open another device."),
    KM_ROW(KM_ERROR_NO_DEVICE, kEnvironment, "There is no such device.",
           "Open a device that `kernelmill info` lists."),
    KM_ROW(KM_ERROR_BUILD_MISMATCH, kEnvironment,
           "Library, plugin or object file come from different builds.",
           "Restart the program after an upgrade, install both from one build, make object files "
           "again."),
    KM_ROW(KM_ERROR_NVRTC_UNAVAILABLE, kEnvironment, "NVRTC, the CUDA C++ compiler, is missing.",
           "Install it as the message says, or load PTX."),
    KM_ROW(KM_ERROR_BLAS_UNAVAILABLE, kEnvironment, "The BLAS library of the device is missing.",
           "Install it, or start a new process, as the message says."),
    KM_ROW(
        KM_ERROR_UNSUPPORTED_BACKEND, kEnvironment,
        "The backend is known, and no build for this platform has it.",
        "Open a device that `kernelmill info` lists; the message says what would have this one."),
    KM_ROW(KM_ERROR_INVALID_PTX, kProgram, "The text is not valid PTX.",
           "Correct the line that the message names."),
    KM_ROW(KM_ERROR_UNSUPPORTED_PTX, kProgram, "Valid PTX that this device cannot run.",
           "Avoid the instruction that the message names, or use another device."),
    KM_ROW(KM_ERROR_COMPILATION_FAILED, kProgram, "The CUDA C++ source has errors.",
           "Correct them; the message has the first, and km_program_log all of a program's."),
    KM_ROW(KM_ERROR_COMPILER, kInternal, "The code generator failed.",
           "Report it with the PTX and the message, unless that names a limit of the machine."),
    KM_ROW(KM_ERROR_INVALID_LAUNCH, kUsage,
           "Dimensions, shared memory or arguments do not fit the kernel or the device.",
           "Correct what the message names; nothing was run."),
    KM_ROW(KM_ERROR_ILLEGAL_ADDRESS, kFault, "A kernel accessed memory that is not its own.",
           kReset),
    KM_ROW(KM_ERROR_MISALIGNED_ADDRESS, kFault, "A kernel accessed a misaligned address.", kReset),
    KM_ROW(KM_ERROR_TRAP, kFault, "A kernel executed trap.", kReset),
    KM_ROW(KM_ERROR_ASSERT, kFault, "An assertion in a kernel failed.", kReset),
    KM_ROW(KM_ERROR_STACK_OVERFLOW, kFault, "A kernel used up its stack.", kReset),
    KM_ROW(KM_ERROR_ILLEGAL_INSTRUCTION, kFault, "A kernel executed an illegal instruction.",
           kReset),
    KM_ROW(KM_ERROR_LAUNCH_TIMEOUT, kFault, "A kernel ran longer than KM_KERNEL_TIMEOUT_MS.",
           "Raise the limit or fix the kernel, then call km_context_reset."),
    KM_ROW(KM_ERROR_LAUNCH_FAILED, kFault, "A kernel failed for another reason.", kReset),
};
#undef KM_ROW

}  // namespace

const StatusText* status_text(km_status status) {
  for (const StatusText& text : kTexts) {
    if (text.status == status) return &text;
  }
  return nullptr;
}

}  // namespace km
