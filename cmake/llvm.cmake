# LLVM 19 as static archives, for the CPU plugin alone: the target km_llvm.
find_program(KM_LLVM_CONFIG NAMES llvm-config-19 HINTS /usr/lib/llvm-19/bin
  DOC "llvm-config of LLVM 19 with its static libraries")
if(NOT KM_LLVM_CONFIG)
  message(FATAL_ERROR "LLVM 19 is missing: run scripts/setup.sh, install llvm-19-dev, or set "
                      "-DKM_LLVM_CONFIG to the llvm-config of an LLVM 19 with static libraries.")
endif()

# What is linked but not used costs nothing: --gc-sections and archive semantics drop it.
set(km_llvm_components core support analysis passes target ${km_llvm_targets} mc object bitreader
  bitwriter irreader linker debuginfodwarf)

function(km_llvm_query out)
  execute_process(COMMAND ${KM_LLVM_CONFIG} ${ARGN} OUTPUT_VARIABLE text
    OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE failed ERROR_VARIABLE reason)
  if(failed)
    message(FATAL_ERROR "${KM_LLVM_CONFIG} ${ARGN}: ${reason}")
  endif()
  set(${out} "${text}" PARENT_SCOPE)
endfunction()

km_llvm_query(KM_LLVM_VERSION --version)
if(NOT KM_LLVM_VERSION VERSION_GREATER_EQUAL 19 OR NOT KM_LLVM_VERSION VERSION_LESS 20)
  message(FATAL_ERROR "LLVM 19 is needed; ${KM_LLVM_CONFIG} is ${KM_LLVM_VERSION}")
endif()
km_llvm_query(km_llvm_include --includedir)
km_llvm_query(km_llvm_files --link-static --libfiles ${km_llvm_components})
separate_arguments(km_llvm_files UNIX_COMMAND "${km_llvm_files}")
# llvm-config is of this machine; its names lie in the sysroot of a cross build too.
list(TRANSFORM km_llvm_files PREPEND "${CMAKE_SYSROOT}")
set(km_llvm_include ${CMAKE_SYSROOT}${km_llvm_include})

find_library(KM_ZSTD_STATIC NAMES libzstd.a REQUIRED DOC "libzstd-dev of Debian has it")
find_library(KM_ZLIB_STATIC NAMES libz.a REQUIRED DOC "zlib1g-dev of Debian has it")

# LLVM's headers alone: libc++, if it is installed, lies in the same folder, and its C++ ABI header
# would come before the compiler's own.
set(km_llvm_headers ${PROJECT_BINARY_DIR}/llvm_headers)
file(MAKE_DIRECTORY ${km_llvm_headers})
foreach(folder llvm llvm-c)
  file(CREATE_LINK ${km_llvm_include}/${folder} ${km_llvm_headers}/${folder} SYMBOLIC)
endforeach()

add_library(km_llvm INTERFACE)
target_include_directories(km_llvm SYSTEM INTERFACE ${km_llvm_headers})
target_link_libraries(km_llvm INTERFACE
  ${km_llvm_files} ${KM_ZSTD_STATIC} ${KM_ZLIB_STATIC} rt m ${CMAKE_DL_LIBS})

# Its parser of Itanium names is headers alone: the library uses it without linking LLVM.
add_library(km_llvm_demangle INTERFACE)
target_include_directories(km_llvm_demangle SYSTEM INTERFACE ${km_llvm_headers})
