# The folders of the sources that one architecture alone builds: each has its name, as
# src/base/arch/x86_64. KM_ARCHITECTURE is that of this build.
set(km_architectures x86_64 aarch64)
# LLVM's targets: code is generated for each architecture, whichever this build is for.
set(km_llvm_targets x86 aarch64)

if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$" AND CMAKE_SIZEOF_VOID_P EQUAL 8)
  set(KM_ARCHITECTURE x86_64)
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64)$" AND CMAKE_SIZEOF_VOID_P EQUAL 8)
  set(KM_ARCHITECTURE aarch64)
  km_untested_platform("no processor of AArch64 has run it (docs/internals/machines.md)")
else()
  message(FATAL_ERROR "Kernelmill: the processor is ${CMAKE_SYSTEM_PROCESSOR}; src/base/arch has "
    "a folder for ${km_architectures} only, and others are not built.")
endif()

# The values of KM_CPU_ISA that tests of an architecture run with, the newest first.
set(km_isas_x86_64 avx512 avx2 x86-64-v2)
set(km_isas_aarch64 neon)
set(km_isas ${km_isas_${KM_ARCHITECTURE}})

# km_isa_at(place result): the value at this place of km_isas, or the last one if there are fewer.
function(km_isa_at place result)
  list(LENGTH km_isas count)
  if(NOT place LESS count)
    math(EXPR place "${count} - 1")
  endif()
  list(GET km_isas ${place} isa)
  set(${result} ${isa} PARENT_SCOPE)
endfunction()

# km_keep_own_architecture(list): drops sources in the folders of other architectures. Those of
# simt/machine stay: they are about the machine that code is generated for.
function(km_keep_own_architecture list)
  set(sources ${${list}})
  set(machines ${sources})
  list(FILTER machines INCLUDE REGEX "/src/simt/machine/")
  foreach(other IN LISTS km_architectures)
    if(NOT other STREQUAL KM_ARCHITECTURE)
      list(FILTER sources EXCLUDE REGEX "/${other}/")
    endif()
  endforeach()
  list(APPEND sources ${machines})
  list(REMOVE_DUPLICATES sources)
  set(${list} ${sources} PARENT_SCOPE)
endfunction()
