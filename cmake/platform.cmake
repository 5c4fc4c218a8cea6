# Stops early, with the reason, where nobody has tested Kernelmill.
function(km_untested_platform reason)
  if(KM_ALLOW_UNTESTED_PLATFORM)
    message(WARNING "Kernelmill: ${reason}; going on because KM_ALLOW_UNTESTED_PLATFORM is set")
  else()
    message(FATAL_ERROR "Kernelmill: ${reason}. Tested is Linux on x86-64 with glibc 2.36, "
      "gcc 12 and clang 19 or newer; -DKM_ALLOW_UNTESTED_PLATFORM=ON goes on at your own risk.")
  endif()
endfunction()

if(NOT CMAKE_SYSTEM_NAME STREQUAL "Linux")
  km_untested_platform("the system is ${CMAKE_SYSTEM_NAME}, not Linux")
else()
  include(CheckCSourceCompiles)
  check_c_source_compiles("
    #include <features.h>
    #if !defined(__GLIBC__) || !__GLIBC_PREREQ(2, 36)
    #error too old
    #endif
    int main(void) { return 0; }" KM_GLIBC_IS_TESTED)
  if(NOT KM_GLIBC_IS_TESTED)
    km_untested_platform("the C library is not glibc 2.36 or newer")
  endif()
endif()

if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 12)
  km_untested_platform("gcc ${CMAKE_CXX_COMPILER_VERSION} is older than 12")
elseif(CMAKE_CXX_COMPILER_ID STREQUAL "Clang" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 19)
  km_untested_platform("clang ${CMAKE_CXX_COMPILER_VERSION} is older than 19")
elseif(NOT CMAKE_CXX_COMPILER_ID MATCHES "^(GNU|Clang)$")
  km_untested_platform("the compiler is ${CMAKE_CXX_COMPILER_ID}, not gcc or clang")
endif()
