# Every switch of the build, and where its outputs lie.
include(GNUInstallDirs)

option(KM_BUILD_TESTS "Build the tests" ${PROJECT_IS_TOP_LEVEL})
option(KM_BUILD_BENCH "Build the benchmarks" ${PROJECT_IS_TOP_LEVEL})
option(KM_BUILD_EXAMPLES "Build the examples and the demo" ${PROJECT_IS_TOP_LEVEL})
option(KM_ASSERTIONS "Test invariants at run time (presets of CI, debug, sanitizers)" OFF)
option(KM_WERROR "Treat warnings as errors (the CI presets do)" OFF)
option(KM_ALLOW_UNTESTED_PLATFORM "Configure on a platform that nobody tests" OFF)
set(KM_SANITIZE "" CACHE STRING "Sanitizers to build with: address, undefined, thread (by comma)")
set(KM_DEPS_DIR "${PROJECT_SOURCE_DIR}/.deps" CACHE PATH "Where scripts/setup.sh puts NVRTC")

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Release, Debug or RelWithDebInfo" FORCE)
endif()

set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/archive)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

# The plugin's folder below the library's, the same in the build tree and installed.
set(KM_PLUGIN_SUBDIR kernelmill-${PROJECT_VERSION})
# Commands that take the place of NVIDIA's, first on PATH under `kernelmill exec`.
set(KM_COMMANDS_SUBDIR ${KM_PLUGIN_SUBDIR}/cuda/bin)
