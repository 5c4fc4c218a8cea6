# The tree is installed into a folder of the build, and the C tests see nothing else: what they
# include is <kernelmill/c_api.h>, what they link is the library with its version script.
if(NOT TARGET kernelmill)
  return()
endif()

set(KM_STAGE_DIR ${PROJECT_BINARY_DIR}/stage)
set(km_stage_header ${KM_STAGE_DIR}/${CMAKE_INSTALL_INCLUDEDIR}/kernelmill/c_api.h)
set(km_stage_library ${KM_STAGE_DIR}/${CMAKE_INSTALL_LIBDIR}/libkernelmill.so)
set(km_stage_needs kernelmill)
foreach(header IN LISTS KM_PUBLIC_HEADERS)
  list(APPEND km_stage_needs ${PROJECT_SOURCE_DIR}/include/${header})
endforeach()
foreach(target kernelmill-cpu kernelmill-vulkan kernelmill-opengl kernelmill-command)
  if(TARGET ${target})
    list(APPEND km_stage_needs ${target})
  endif()
endforeach()
add_custom_command(
  OUTPUT ${PROJECT_BINARY_DIR}/stage.stamp
  BYPRODUCTS ${km_stage_header} ${km_stage_library}
  COMMAND ${CMAKE_COMMAND} --install ${PROJECT_BINARY_DIR} --prefix ${KM_STAGE_DIR}
    > ${PROJECT_BINARY_DIR}/stage.log
  COMMAND ${CMAKE_COMMAND} -E touch ${PROJECT_BINARY_DIR}/stage.stamp
  DEPENDS ${km_stage_needs}
  COMMENT "Installing into ${KM_STAGE_DIR} for the tests" VERBATIM)
add_custom_target(km_stage DEPENDS ${PROJECT_BINARY_DIR}/stage.stamp)

# `km_staged`: the installed library, as a consumer sees it.
file(MAKE_DIRECTORY ${KM_STAGE_DIR}/${CMAKE_INSTALL_INCLUDEDIR})
add_library(km_staged SHARED IMPORTED GLOBAL)
set_target_properties(km_staged PROPERTIES
  IMPORTED_LOCATION ${km_stage_library} IMPORTED_SONAME libkernelmill.so.${PROJECT_VERSION_MAJOR}
  INTERFACE_INCLUDE_DIRECTORIES ${KM_STAGE_DIR}/${CMAKE_INSTALL_INCLUDEDIR})
add_dependencies(km_staged km_stage)

find_library(KM_CMOCKA NAMES cmocka REQUIRED DOC "libcmocka-dev of Debian has it")

# km_add_staged_tests(folder label): one program and one test per source file of tests/<folder> and
# per test_* of the folders in it, each with what lies in tests/<folder>/support.
function(km_add_staged_tests folder label)
  set(dir ${CMAKE_CURRENT_SOURCE_DIR}/${folder})
  file(GLOB sources CONFIGURE_DEPENDS ${dir}/*.c ${dir}/*.cpp ${dir}/*/test_*.c ${dir}/*/test_*.cpp)
  file(GLOB support CONFIGURE_DEPENDS ${dir}/support/*.c ${dir}/support/*.cpp)
  foreach(source IN LISTS sources)
    get_filename_component(stem ${source} NAME_WE)
    string(REGEX REPLACE "^test_" "" stem ${stem})
    add_executable(km_${label}_${stem} ${source} ${support})
    add_dependencies(km_${label}_${stem} km_stage)
    add_dependencies(km_staged_tests km_${label}_${stem})
    target_include_directories(km_${label}_${stem} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR} ${dir})
    target_link_libraries(km_${label}_${stem} PRIVATE km_staged km_flags ${KM_CMOCKA} m)
    add_test(NAME ${label}.${stem} COMMAND km_${label}_${stem})
    set_tests_properties(${label}.${stem} PROPERTIES TIMEOUT ${KM_TEST_TIMEOUT_S}
      LABELS ${label} ENVIRONMENT "${KM_TEST_ENVIRONMENT}")
  endforeach()
endfunction()

add_custom_target(km_staged_tests)
km_add_staged_tests(c c)
km_add_staged_tests(fault fault)

# After each fault the same kernels are loaded anew, 700 times: an emulated compiler needs hours of
# that, and has each text once with a cache.
if(CMAKE_CROSSCOMPILING)
  set_tests_properties(fault.hostile_async PROPERTIES ENVIRONMENT
    "${KM_TEST_ENVIRONMENT};KM_CACHE_DIR=${PROJECT_BINARY_DIR}/tests/kernel_cache")
endif()

# What needs a second device skips itself otherwise.
foreach(stem comm_values concurrency context event order order_random)
  add_test(NAME c.${stem}.devices COMMAND km_c_${stem})
  set_tests_properties(c.${stem}.devices PROPERTIES TIMEOUT ${KM_TEST_TIMEOUT_S} LABELS c
    ENVIRONMENT "${KM_TEST_ENVIRONMENT};KM_CPU_DEVICES=2;KM_CPU_THREADS=4")
endforeach()

# What the library counts if the environment says so.
add_test(NAME c.profiler.counters COMMAND km_c_profiler)
set_tests_properties(c.profiler.counters PROPERTIES TIMEOUT ${KM_TEST_TIMEOUT_S} LABELS c
  ENVIRONMENT "${KM_TEST_ENVIRONMENT};KM_COUNTERS=1")

# Ranks that fail, several times; `make test-comm` takes a hundred. An emulated process takes more
# than a second to start.
set(km_comm_limit_s 1)
if(CMAKE_CROSSCOMPILING)
  set(km_comm_limit_s 10)
endif()
add_test(NAME c.comm.rounds COMMAND km_c_comm)
set_tests_properties(c.comm.rounds PROPERTIES TIMEOUT 900 LABELS c
  ENVIRONMENT "${KM_TEST_ENVIRONMENT};KM_COMM_TIMEOUT_S=${km_comm_limit_s};KM_TEST_COMM_ROUNDS=5"
  ENVIRONMENT_MODIFICATION "KM_TEST_COMM_OPERATIONS=set:1000")
