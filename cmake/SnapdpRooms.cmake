# One CMake library per room of the house, with arrows that only point downwards: a room links exactly the rooms it
# may use, so an upward include fails to build (each room sees only its own headers and those of what it links).
#
#   snapdp_room(<name> [DIRECTORY src/..] [USES rooms...] [PUBLIC libraries...] [PRIVATE libraries...])

add_library(snapdp_options INTERFACE)
target_compile_options(snapdp_options INTERFACE
  -ffp-contract=off -fno-fast-math -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion
  # GCC 12 reports std::string concatenation as overlapping copies (GCC bug 105651).
  $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>
  $<$<BOOL:${SNAPDP_WERROR}>:-Werror>)
if(SNAPDP_SANITIZE)
  target_compile_options(snapdp_options INTERFACE -fsanitize=${SNAPDP_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(snapdp_options INTERFACE -fsanitize=${SNAPDP_SANITIZE})
endif()

set_property(GLOBAL PROPERTY SNAPDP_ROOMS "")

function(snapdp_room name)
  cmake_parse_arguments(ROOM "" "" "USES;PUBLIC;PRIVATE" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*.cpp")
  add_library(snapdp_${name} ${sources})
  add_library(snapdp::${name} ALIAS snapdp_${name})
  set_target_properties(snapdp_${name} PROPERTIES EXPORT_NAME ${name})
  target_compile_features(snapdp_${name} PUBLIC cxx_std_20)
  target_include_directories(snapdp_${name}
    PUBLIC "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>" "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>"
    PRIVATE "${PROJECT_SOURCE_DIR}/src")
  list(TRANSFORM ROOM_USES PREPEND snapdp_)
  target_link_libraries(snapdp_${name} PUBLIC ${ROOM_USES} ${ROOM_PUBLIC} PRIVATE $<BUILD_INTERFACE:snapdp_options> ${ROOM_PRIVATE})
  set_property(GLOBAL APPEND PROPERTY SNAPDP_ROOMS ${name})
endfunction()
