# The CUDA backend: device headers embedded in the program, and the toolkit's headers where there are any. The program
# loads driver and NVRTC at run time, so it links against neither and starts on any machine.

# All filters/**/*.cuh as text, by their path from the source root.
function(imgpipe_device_headers out)
  file(GLOB_RECURSE headers RELATIVE "${PROJECT_SOURCE_DIR}" CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/filters/*.cuh")
  list(SORT headers)
  set(generated "${PROJECT_BINARY_DIR}/generated/device_headers.cpp")
  set(absolute "")
  foreach(header IN LISTS headers)
    list(APPEND absolute "${PROJECT_SOURCE_DIR}/${header}")
  endforeach()
  string(REPLACE ";" "|" joined "${headers}")
  # A header that goes or comes with an old date changes only the list.
  set(list_file "${PROJECT_BINARY_DIR}/generated/device_headers.txt")
  file(CONFIGURE OUTPUT "${list_file}" CONTENT "${joined}" @ONLY)
  add_custom_command(OUTPUT "${generated}"
    COMMAND "${CMAKE_COMMAND}" -DROOT=${PROJECT_SOURCE_DIR} "-DHEADERS=${joined}" -DOUTPUT=${generated}
            -P "${PROJECT_SOURCE_DIR}/cmake/embed_headers.cmake"
    DEPENDS ${absolute} "${list_file}" "${PROJECT_SOURCE_DIR}/cmake/embed_headers.cmake" VERBATIM)
  set(${out} "${generated}" PARENT_SCOPE)
endfunction()

function(imgpipe_cuda target)
  string(TOUPPER "${IMGPIPE_CUDA}" wanted)
  if(NOT wanted STREQUAL "AUTO")
    if(NOT wanted)
      message(STATUS "CUDA backend: off (IMGPIPE_CUDA=${IMGPIPE_CUDA})")
      return()
    endif()
    set(wanted ON)
  endif()
  find_path(IMGPIPE_CUDA_INCLUDE NAMES nvrtc.h
    # The vendor's folder comes before /usr, where distributions keep older toolkits.
    HINTS "${CUDAToolkit_ROOT}" ENV CUDAToolkit_ROOT ENV CUDA_PATH ENV CUDA_HOME /usr/local/cuda
    PATHS /usr PATH_SUFFIXES include targets/x86_64-linux/include)
  set(version 0)
  if(IMGPIPE_CUDA_INCLUDE AND EXISTS "${IMGPIPE_CUDA_INCLUDE}/cuda.h")
    file(STRINGS "${IMGPIPE_CUDA_INCLUDE}/cuda.h" line REGEX "^#define CUDA_VERSION [0-9]+")
    string(REGEX MATCH "[0-9]+" version "${line}")
  endif()
  if(version GREATER_EQUAL 12040)
    math(EXPR major "${version} / 1000")
    math(EXPR minor "${version} % 1000 / 10")
    message(STATUS "CUDA backend: on (toolkit ${major}.${minor} in ${IMGPIPE_CUDA_INCLUDE})")
    target_compile_definitions(${target} PUBLIC IMGPIPE_HAS_CUDA)
    target_include_directories(${target} SYSTEM PRIVATE "${IMGPIPE_CUDA_INCLUDE}")
  elseif(wanted STREQUAL "ON")
    message(FATAL_ERROR "IMGPIPE_CUDA=ON, but no CUDA toolkit 12.4 or newer was found: set CUDAToolkit_ROOT to its folder")
  else()
    message(STATUS "CUDA backend: off (no CUDA toolkit 12.4 or newer found)")
  endif()
endfunction()
