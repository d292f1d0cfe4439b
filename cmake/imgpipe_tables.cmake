# The tables of all formats and all filters, written into the build tree from the folder names.
# One folder = one entry: the folder is the name, the namespace and the file stem.

function(imgpipe_write_table out type header function headers_and_names)
  set(includes "#include \"${header}\"\n")
  set(entries "")
  foreach(entry IN LISTS headers_and_names)
    string(REPLACE "|" ";" parts "${entry}")
    list(GET parts 0 header)
    list(GET parts 1 name)
    string(APPEND includes "#include \"${header}\"\n")
    string(APPEND entries "      ${name}::spec(),\n")
  endforeach()
  set(generated "${PROJECT_BINARY_DIR}/generated/${function}.cpp")
  file(CONFIGURE OUTPUT "${generated}" CONTENT "// Generated from the folder names: do not edit.
@includes@
namespace imgpipe {
const std::vector<@type@>& @function@() {
  static const std::vector<@type@> all = {
@entries@  };
  return all;
}
}  // namespace imgpipe
" @ONLY)
  set(${out} "${generated}" PARENT_SCOPE)
endfunction()

function(imgpipe_format_table out)
  file(GLOB headers RELATIVE "${PROJECT_SOURCE_DIR}" CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/io/formats/*/*.h")
  set(entries "")
  foreach(header IN LISTS headers)
    get_filename_component(folder "${header}" DIRECTORY)
    get_filename_component(name "${folder}" NAME)
    if(header STREQUAL "io/formats/${name}/${name}.h")
      list(APPEND entries "${header}|${name}")
    endif()
  endforeach()
  imgpipe_write_table(table Format io/formats/format.h all_formats "${entries}")
  set(${out} "${table}" PARENT_SCOPE)
endfunction()

# filters/<family>/<name>/<name>.h, alphabetical by name; each must have tests/filters/<name>_test.cpp.
function(imgpipe_filter_table out)
  file(GLOB headers RELATIVE "${PROJECT_SOURCE_DIR}" CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/filters/*/*/*.h")
  set(keyed "")
  foreach(header IN LISTS headers)
    get_filename_component(folder "${header}" DIRECTORY)
    get_filename_component(name "${folder}" NAME)
    get_filename_component(stem "${header}" NAME_WE)
    if(NOT stem STREQUAL name)
      continue()
    endif()
    set(test "tests/filters/${name}_test.cpp")
    if(NOT EXISTS "${PROJECT_SOURCE_DIR}/${test}")
      message(FATAL_ERROR "${folder}/ has no ${test}: a filter needs a test")
    endif()
    list(APPEND keyed "${name}|${header}")
  endforeach()
  list(SORT keyed)
  set(entries "")
  foreach(entry IN LISTS keyed)
    string(REGEX REPLACE "^(.*)\\|(.*)$" "\\2|\\1" swapped "${entry}")
    list(APPEND entries "${swapped}")
  endforeach()
  imgpipe_write_table(table FilterSpec filters/base/filter.h all_filters "${entries}")
  set(${out} "${table}" PARENT_SCOPE)
endfunction()
