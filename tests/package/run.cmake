# Installs the build tree (BINARY_DIR) to a prefix of its own, builds the project beside this file with it, and runs
# both that and the installed program.
cmake_minimum_required(VERSION 3.24)
set(work "${BINARY_DIR}/tests/package_work")
file(REMOVE_RECURSE "${work}")
unset(ENV{DESTDIR})

function(call)
  execute_process(COMMAND ${ARGN} WORKING_DIRECTORY "${BINARY_DIR}" RESULT_VARIABLE code
    OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT code EQUAL 0)
    list(JOIN ARGN " " line)
    message(FATAL_ERROR "${line}\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

function(expect text)
  if(NOT output STREQUAL text)
    message(FATAL_ERROR "expected '${text}', got '${output}'")
  endif()
endfunction()

call("${CMAKE_COMMAND}" --install "${BINARY_DIR}" --prefix "${work}/prefix")
call("${CMAKE_COMMAND}" -G "${GENERATOR}" -S "${CMAKE_CURRENT_LIST_DIR}" -B "${work}/build"
  "-DCMAKE_PREFIX_PATH=${work}/prefix" "-DCMAKE_CXX_COMPILER=${CXX}" "-DCMAKE_CXX_FLAGS=${CXX_FLAGS}"
  "-DCMAKE_BUILD_TYPE=${BUILD_TYPE}")
call("${CMAKE_COMMAND}" --build "${work}/build")
call("${CMAKE_COMMAND}" -E chdir "${work}" "${work}/build/imgpipe_user")
expect("5x4 uint8: 245\n")
call("${work}/prefix/${BINDIR}/imgpipe" --version)
expect("imgpipe ${VERSION}\n")
file(REMOVE_RECURSE "${work}")
