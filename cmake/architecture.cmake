# The folders of the sources that one architecture alone builds: each has its name, as
# src/base/arch/x86_64. KM_ARCHITECTURE is that of this build.
set(km_architectures x86_64)
set(km_llvm_target_of_x86_64 x86)

if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$" AND CMAKE_SIZEOF_VOID_P EQUAL 8)
  set(KM_ARCHITECTURE x86_64)
else()
  message(FATAL_ERROR "Kernelmill: the processor is ${CMAKE_SYSTEM_PROCESSOR}; src/base/arch has "
    "a folder for ${km_architectures} only, and others are not built.")
endif()
set(KM_LLVM_TARGET ${km_llvm_target_of_${KM_ARCHITECTURE}})

# km_keep_own_architecture(list): drops sources in the folders of other architectures.
function(km_keep_own_architecture list)
  set(sources ${${list}})
  foreach(other IN LISTS km_architectures)
    if(NOT other STREQUAL KM_ARCHITECTURE)
      list(FILTER sources EXCLUDE REGEX "/${other}/")
    endif()
  endforeach()
  set(${list} ${sources} PARENT_SCOPE)
endfunction()
