# How everything in Zig is built here: against the library as it was installed for the tests, with
# caches inside the build folder.

# km_zig_environment(VERSION OUT): Zig compiles parts of itself on first use, optimised, which takes
# minutes; ZIG_DEBUG_CMD makes that seconds.
function(km_zig_environment version out)
  set(cache ${PROJECT_BINARY_DIR}/zig/${version})
  set(${out}
    KM_LIBRARY_DIR=${PROJECT_BINARY_DIR}/stage/${CMAKE_INSTALL_LIBDIR} ZIG_DEBUG_CMD=1
    ZIG_GLOBAL_CACHE_DIR=${cache} ZIG_LOCAL_CACHE_DIR=${cache} PARENT_SCOPE)
endfunction()

# km_add_zig_program(TARGET FOLDER OUTPUT NAME [FLAG...]): the program NAME of a project, built anew
# whenever Zig says so.
function(km_add_zig_program target folder output name)
  km_zig_environment(base environment)
  set(prefix ${PROJECT_BINARY_DIR}/zig/${target})
  add_custom_target(${target}
    COMMAND ${CMAKE_COMMAND} -E env ${environment} ${KM_ZIG} build --prefix ${prefix} ${ARGN}
    COMMAND ${CMAKE_COMMAND} -E copy_if_different ${prefix}/bin/${name} ${output}
    WORKING_DIRECTORY ${folder} BYPRODUCTS ${output} VERBATIM
    COMMENT "Building ${target} with Zig")
  add_dependencies(${target} km_stage)
endfunction()
