# What `cmake --install` lays down. Everything is found relative to itself, so an installed tree
# may be moved.
include(CMakePackageConfigHelpers)

# The headers lie as in include/: programs say <kernelmill/...>, or <infinicore/...>.
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/kernelmill ${PROJECT_SOURCE_DIR}/include/infinicore
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})

set(km_cmake_dir ${CMAKE_INSTALL_LIBDIR}/cmake/kernelmill)
if(TARGET kernelmill)
  install(TARGETS kernelmill EXPORT kernelmill-targets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(EXPORT kernelmill-targets NAMESPACE kernelmill:: DESTINATION ${km_cmake_dir})
  configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/kernelmill-config.cmake.in
    ${PROJECT_BINARY_DIR}/kernelmill-config.cmake INSTALL_DESTINATION ${km_cmake_dir}
    PATH_VARS CMAKE_INSTALL_BINDIR)
  write_basic_package_version_file(${PROJECT_BINARY_DIR}/kernelmill-config-version.cmake
    COMPATIBILITY SameMajorVersion)
  install(FILES ${PROJECT_BINARY_DIR}/kernelmill-config.cmake
    ${PROJECT_BINARY_DIR}/kernelmill-config-version.cmake
    ${PROJECT_SOURCE_DIR}/cmake/kernelmill-add-kernels.cmake DESTINATION ${km_cmake_dir})

  # pkg-config knows the place of its own file: the prefix follows from it.
  file(RELATIVE_PATH KM_PREFIX_FROM_PC
    ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
  configure_file(${PROJECT_SOURCE_DIR}/cmake/kernelmill.pc.in
    ${PROJECT_BINARY_DIR}/kernelmill.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/kernelmill.pc
    DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endif()
foreach(plugin kernelmill-cpu kernelmill-vulkan kernelmill-opengl)
  if(TARGET ${plugin})
    install(TARGETS ${plugin} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/${KM_PLUGIN_SUBDIR})
  endif()
endforeach()
if(TARGET km_cuda_dropin)  # with libcuda.so, which some programs look for
  install(TARGETS km_cuda_dropin
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/${KM_PLUGIN_SUBDIR}/cuda)
endif()
foreach(major 12 13)
  set(km_cudart_dir ${CMAKE_INSTALL_LIBDIR}/${KM_PLUGIN_SUBDIR}/cuda/${major})
  if(TARGET km_cudart_${major})
    install(TARGETS km_cudart_${major} LIBRARY DESTINATION ${km_cudart_dir})
  endif()
  if(TARGET km_cudart_static_${major})
    get_target_property(km_cudart_archive km_cudart_static_${major} KM_ARCHIVE)
    install(FILES ${km_cudart_archive} DESTINATION ${km_cudart_dir})
  endif()
endforeach()
if(TARGET kernelmill-command)
  install(TARGETS kernelmill-command RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()

# km_install_files(folder pattern destination): what matches, if anything does.
function(km_install_files folder pattern destination)
  file(GLOB found CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/${folder}/${pattern})
  if(found)
    install(FILES ${found} DESTINATION ${destination})
  endif()
endfunction()

km_install_files(man *.1 ${CMAKE_INSTALL_MANDIR}/man1)
# A page for each header, and for each function a page that sends to it.
km_install_files(man/generated *.3 ${CMAKE_INSTALL_MANDIR}/man3)
set(km_man_dir ${PROJECT_BINARY_DIR}/man3)
set(km_man_names ${PROJECT_SOURCE_DIR}/man/generated/names.txt)
set_property(DIRECTORY ${PROJECT_SOURCE_DIR}
  APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${km_man_names})
file(STRINGS ${km_man_names} km_man_lines REGEX "^km_")
foreach(line ${km_man_lines})
  string(REPLACE " " ";" line "${line}")
  list(GET line 0 name)
  list(GET line 1 page)
  file(CONFIGURE OUTPUT ${km_man_dir}/${name}.3 CONTENT ".so man3/@page@.3\n" @ONLY)
endforeach()
install(DIRECTORY ${km_man_dir}/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man3)
km_install_files(completions _kernelmill ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
km_install_files(completions *.fish ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
file(GLOB km_bash_completion CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/completions/*.bash)
if(km_bash_completion)
  install(FILES ${km_bash_completion} RENAME kernelmill
    DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
endif()
install(DIRECTORY ${PROJECT_SOURCE_DIR}/examples/quickstart
  DESTINATION ${CMAKE_INSTALL_DATADIR}/kernelmill/examples)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
