#include "dropin/cudart/frame/errors.h"

namespace km::cudart {
namespace {

struct Known {
  cudaError_t error;
  const char* text;
};

// NVIDIA's wording by error number, which programs and their tests compare.
constexpr Known kTexts[] = {
    {cudaSuccess, "no error"},
    {cudaErrorInvalidValue, "invalid argument"},
    {cudaErrorMemoryAllocation, "out of memory"},
    {cudaErrorInitializationError, "initialization error"},
    {cudaErrorCudartUnloading, "driver shutting down"},
    {cudaErrorProfilerDisabled, "profiler disabled while using external profiling tool"},
    {cudaErrorProfilerNotInitialized, "profiler not initialized: call cudaProfilerInitialize()"},
    {cudaErrorProfilerAlreadyStarted, "profiler already started"},
    {cudaErrorProfilerAlreadyStopped, "profiler already stopped"},
    {cudaErrorInvalidConfiguration, "invalid configuration argument"},
    {cudaErrorVersionTranslation,
     "Driver is newer than runtime and returned parameters the runtime cannot process"},
    {cudaErrorInvalidPitchValue, "invalid pitch argument"},
    {cudaErrorInvalidSymbol, "invalid device symbol"},
    {cudaErrorInvalidHostPointer, "invalid host pointer"},
    {cudaErrorInvalidDevicePointer, "invalid device pointer"},
    {cudaErrorInvalidTexture, "invalid texture reference"},
    {cudaErrorInvalidTextureBinding, "texture is not bound to a pointer"},
    {cudaErrorInvalidChannelDescriptor, "invalid channel descriptor"},
    {cudaErrorInvalidMemcpyDirection, "invalid copy direction for memcpy"},
    {cudaErrorAddressOfConstant, "invalid address of constant"},
    {cudaErrorTextureFetchFailed, "fetch from texture failed"},
    {cudaErrorTextureNotBound, "cannot fetch from a texture that is not bound"},
    {cudaErrorSynchronizationError, "incorrect use of __syncthreads()"},
    {cudaErrorInvalidFilterSetting, "linear filtering not supported for non-float type"},
    {cudaErrorInvalidNormSetting, "read as normalized float not supported for data type"},
    {cudaErrorMixedDeviceExecution,
     "device emulation mode and device execution mode cannot be mixed"},
    {cudaErrorNotYetImplemented, "feature not yet implemented"},
    {cudaErrorMemoryValueTooLarge, "memory size or pointer value too large to fit in 32 bit"},
    {cudaErrorStubLibrary, "CUDA driver is a stub library"},
    {cudaErrorInsufficientDriver, "CUDA driver version is insufficient for CUDA runtime version"},
    {cudaErrorCallRequiresNewerDriver, "API call is not supported in the installed CUDA driver"},
    {cudaErrorInvalidSurface, "invalid surface reference"},
    {cudaErrorDuplicateVariableName, "duplicate global variable looked up by string name"},
    {cudaErrorDuplicateTextureName, "duplicate texture looked up by string name"},
    {cudaErrorDuplicateSurfaceName, "duplicate surface looked up by string name"},
    {cudaErrorDevicesUnavailable, "CUDA-capable device(s) is/are busy or unavailable"},
    {cudaErrorIncompatibleDriverContext, "incompatible driver context"},
    {cudaErrorMissingConfiguration, "__global__ function call is not configured"},
    {cudaErrorPriorLaunchFailure, "unspecified launch failure in prior launch"},
    {cudaErrorLaunchMaxDepthExceeded, "launch would exceed maximum depth of nested launches"},
    {cudaErrorLaunchFileScopedTex,
     "launch failed because kernel uses unsupported, file-scoped textures (texture objects are "
     "supported)"},
    {cudaErrorLaunchFileScopedSurf,
     "launch failed because kernel uses unsupported, file-scoped surfaces (surface objects are "
     "supported)"},
    {cudaErrorSyncDepthExceeded,
     "cudaDeviceSynchronize failed because caller's grid depth exceeds "
     "cudaLimitDevRuntimeSyncDepth"},
    {cudaErrorLaunchPendingCountExceeded,
     "launch failed because launch would exceed cudaLimitDevRuntimePendingLaunchCount"},
    {cudaErrorInvalidDeviceFunction, "invalid device function"},
    {cudaErrorNoDevice, "no CUDA-capable device is detected"},
    {cudaErrorInvalidDevice, "invalid device ordinal"},
    {cudaErrorDeviceNotLicensed, "device doesn't have valid Grid license"},
    {cudaErrorSoftwareValidityNotEstablished, "integrity checks failed"},
    {cudaErrorStartupFailure, "startup failure in cuda runtime"},
    {cudaErrorInvalidKernelImage, "device kernel image is invalid"},
    {cudaErrorDeviceUninitialized, "invalid device context"},
    {cudaErrorMapBufferObjectFailed, "mapping of buffer object failed"},
    {cudaErrorUnmapBufferObjectFailed, "unmapping of buffer object failed"},
    {cudaErrorArrayIsMapped, "array is mapped"},
    {cudaErrorAlreadyMapped, "resource already mapped"},
    {cudaErrorNoKernelImageForDevice, "no kernel image is available for execution on the device"},
    {cudaErrorAlreadyAcquired, "resource already acquired"},
    {cudaErrorNotMapped, "resource not mapped"},
    {cudaErrorNotMappedAsArray, "resource not mapped as array"},
    {cudaErrorNotMappedAsPointer, "resource not mapped as pointer"},
    {cudaErrorECCUncorrectable, "uncorrectable ECC error encountered"},
    {cudaErrorUnsupportedLimit, "limit is not supported on this architecture"},
    {cudaErrorDeviceAlreadyInUse, "exclusive-thread device already in use by a different thread"},
    {cudaErrorPeerAccessUnsupported, "peer access is not supported between these two devices"},
    {cudaErrorInvalidPtx, "a PTX JIT compilation failed"},
    {cudaErrorInvalidGraphicsContext, "invalid OpenGL or DirectX context"},
    {cudaErrorNvlinkUncorrectable, "uncorrectable NVLink error detected during the execution"},
    {cudaErrorJitCompilerNotFound, "PTX JIT compiler library not found"},
    {cudaErrorUnsupportedPtxVersion,
     "the provided PTX was compiled with an unsupported toolchain."},
    {cudaErrorJitCompilationDisabled, "PTX JIT compilation was disabled"},
    {cudaErrorUnsupportedExecAffinity, "the provided execution affinity is not supported"},
    {cudaErrorUnsupportedDevSideSync,
     "the provided PTX contains unsupported call to cudaDeviceSynchronize"},
    {cudaErrorContained, "Invalid access of peer GPU memory over nvlink or a hardware error"},
    {cudaErrorInsufficientLoaderVersion, "Loader version is insufficient for fatbin"},
    {cudaErrorInvalidSource, "device kernel image is invalid"},
    {cudaErrorFileNotFound, "file not found"},
    {cudaErrorSharedObjectSymbolNotFound, "shared object symbol not found"},
    {cudaErrorSharedObjectInitFailed, "shared object initialization failed"},
    {cudaErrorOperatingSystem, "OS call failed or operation not supported on this OS"},
    {cudaErrorInvalidResourceHandle, "invalid resource handle"},
    {cudaErrorIllegalState, "the operation cannot be performed in the present state"},
    {cudaErrorLossyQuery, "attempted introspection would be semantically lossy"},
    {cudaErrorSymbolNotFound, "named symbol not found"},
    {cudaErrorNotReady, "device not ready"},
    {cudaErrorIllegalAddress, "an illegal memory access was encountered"},
    {cudaErrorLaunchOutOfResources, "too many resources requested for launch"},
    {cudaErrorLaunchTimeout, "the launch timed out and was terminated"},
    {cudaErrorLaunchIncompatibleTexturing, "launch uses incompatible texturing mode"},
    {cudaErrorPeerAccessAlreadyEnabled, "peer access is already enabled"},
    {cudaErrorPeerAccessNotEnabled, "peer access has not been enabled"},
    {cudaErrorSetOnActiveProcess, "cannot set while device is active in this process"},
    {cudaErrorContextIsDestroyed, "context is destroyed"},
    {cudaErrorAssert, "device-side assert triggered"},
    {cudaErrorTooManyPeers, "peer mapping resources exhausted"},
    {cudaErrorHostMemoryAlreadyRegistered,
     "part or all of the requested memory range is already mapped"},
    {cudaErrorHostMemoryNotRegistered, "pointer does not correspond to a registered memory region"},
    {cudaErrorHardwareStackError, "hardware stack error"},
    {cudaErrorIllegalInstruction, "an illegal instruction was encountered"},
    {cudaErrorMisalignedAddress, "misaligned address"},
    {cudaErrorInvalidAddressSpace, "operation not supported on global/shared address space"},
    {cudaErrorInvalidPc, "invalid program counter"},
    {cudaErrorLaunchFailure, "unspecified launch failure"},
    {cudaErrorCooperativeLaunchTooLarge, "too many blocks in cooperative launch"},
    {cudaErrorTensorMemoryLeak, "tensor memory not completely freed"},
    {cudaErrorNotPermitted, "operation not permitted"},
    {cudaErrorNotSupported, "operation not supported"},
    {cudaErrorSystemNotReady, "system not yet initialized"},
    {cudaErrorSystemDriverMismatch,
     "system has unsupported display driver / cuda driver combination"},
    {cudaErrorCompatNotSupportedOnDevice,
     "forward compatibility was attempted on non supported HW"},
    {cudaErrorMpsConnectionFailed,
     "MPS client failed to connect to the MPS control daemon or the MPS server"},
    {cudaErrorMpsRpcFailure,
     "the remote procedural call between the MPS server and the MPS client failed"},
    {cudaErrorMpsServerNotReady, "MPS server is not ready to accept new MPS client requests"},
    {cudaErrorMpsMaxClientsReached,
     "the hardware resources required to create MPS client have been exhausted"},
    {cudaErrorMpsMaxConnectionsReached,
     "the hardware resources required to support device connections have been exhausted"},
    {cudaErrorMpsClientTerminated, "the MPS client has been terminated by the server"},
    {cudaErrorCdpNotSupported,
     "is using CUDA Dynamic Parallelism, but the current configuration, like MPS, does not support "
     "it"},
    {cudaErrorCdpVersionMismatch,
     "unsupported interaction between different versions of CUDA Dynamic Parallelism"},
    {cudaErrorStreamCaptureUnsupported, "operation not permitted when stream is capturing"},
    {cudaErrorStreamCaptureInvalidated, "operation failed due to a previous error during capture"},
    {cudaErrorStreamCaptureMerge,
     "operation would result in a merge of separate capture sequences"},
    {cudaErrorStreamCaptureUnmatched, "capture was not ended in the same stream as it began"},
    {cudaErrorStreamCaptureUnjoined, "capturing stream has unjoined work"},
    {cudaErrorStreamCaptureIsolation, "dependency created on uncaptured work in another stream"},
    {cudaErrorStreamCaptureImplicit,
     "operation would make the legacy stream depend on a capturing blocking stream"},
    {cudaErrorCapturedEvent,
     "operation not permitted on an event last recorded in a capturing stream"},
    {cudaErrorStreamCaptureWrongThread,
     "attempt to terminate a thread-local capture sequence from another thread"},
    {cudaErrorTimeout, "wait operation timed out"},
    {cudaErrorGraphExecUpdateFailure,
     "the graph update was not performed because it included changes which violated constraints "
     "specific to instantiated graph update"},
    {cudaErrorExternalDevice, "an async error has occured in external entity outside of CUDA"},
    {cudaErrorInvalidClusterSize,
     "a kernel launch error has occurred due to cluster misconfiguration"},
    {cudaErrorFunctionNotLoaded,
     "the function handle is not loaded when calling an API that requires a loaded function"},
    {cudaErrorInvalidResourceType,
     "one or more resources passed in are not valid resource types for the operation"},
    {cudaErrorInvalidResourceConfiguration,
     "one or more resources are insufficient or non-applicable for the operation"},
    {cudaErrorStreamDetached,
     "API call not permitted since the green context associated with the stream has been "
     "destroyed"},
    {cudaErrorGraphRecaptureFailure,
     "recapturing to the source graph failed and had to be terminated"},
    {cudaErrorFabricNotReady,
     "GPU fabric is not ready within the probe wait budget; application may retry (see "
     "CUDA_FABRIC_INIT_TIMEOUT_MS)"},
    {cudaErrorUnknown, "unknown error"},
};

struct Named {
  cudaError_t error;
  const char* name;
};
constexpr Named kNames[] = {
#define KM_CUDART_ERROR(name, number) {number, #name},
#include "dropin/cudart/generated/errors.def"
#undef KM_CUDART_ERROR
};

}  // namespace

const char* error_name(cudaError_t error) noexcept {
  for (const Named& known : kNames) {
    if (known.error == error) return known.name;
  }
  return nullptr;
}

const char* error_text(cudaError_t error) noexcept {
  for (const Known& known : kTexts) {
    if (known.error == error) return known.text;
  }
  return error_name(error);
}

bool is_sticky(cudaError_t error) noexcept {
  switch (error) {
    case cudaErrorECCUncorrectable:
    case cudaErrorIllegalAddress:
    case cudaErrorLaunchTimeout:
    case cudaErrorAssert:
    case cudaErrorHardwareStackError:
    case cudaErrorIllegalInstruction:
    case cudaErrorMisalignedAddress:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorLaunchFailure:
      return true;
    default:
      return false;
  }
}

}  // namespace km::cudart
