# A CUDA toolkit is never needed; where there is one, tests check our prototypes against its
# headers, and its NVRTC and nvcc are offered. Without one, the headers of scripts/setup.sh serve.
find_package(CUDAToolkit QUIET)
if(CUDAToolkit_FOUND)
  message(STATUS "CUDA toolkit ${CUDAToolkit_VERSION}: ${CUDAToolkit_INCLUDE_DIRS}")
  set(KM_CUDA_INCLUDE_DIRS ${CUDAToolkit_INCLUDE_DIRS})
else()
  file(GLOB KM_CUDA_INCLUDE_DIRS ${KM_DEPS_DIR}/nvidia/cu*/include)
endif()
find_program(KM_NVCC NAMES nvcc HINTS ${CUDAToolkit_BIN_DIR} NO_CACHE)
