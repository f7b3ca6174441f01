# SPDX-License-Identifier: GPL-2.0
# Tests of libdat's registry: of its parts, and of the library with fake providers.
set(dat_fake_directory ${CMAKE_CURRENT_BINARY_DIR}/dat-fake)

function(dat_fake_provider name)
    add_library(${name} MODULE fake_provider.cpp)
    target_compile_definitions(${name} PRIVATE ${ARGN})
    target_link_libraries(${name} PRIVATE dat)
    set_target_properties(${name} PROPERTIES
        PREFIX ""
        LIBRARY_OUTPUT_DIRECTORY ${dat_fake_directory})
endfunction()

# The last two can't be loaded: one lacks a function, the other a library.
dat_fake_provider(dat_fake)
dat_fake_provider(dat_fake_no_init FAKE_WITHOUT_INIT FAKE_WITHOUT_FINI)
dat_fake_provider(dat_fake_no_fini FAKE_WITHOUT_FINI)
dat_fake_provider(dat_fake_unresolved FAKE_DEPENDS_ON=dat_fake_nowhere_defined)
dat_fake_provider(dat_fake_dependent FAKE_DEPENDS_ON=dat_late_call)

add_library(dat_late SHARED late.c)
add_library(dat_not_found SHARED late.c)
target_link_libraries(dat_fake_dependent PRIVATE dat_not_found)
set_target_properties(dat_fake_dependent PROPERTIES SKIP_BUILD_RPATH ON)

add_executable(dat-conf-tests
    beside_test.cpp
    conf_file_test.cpp
    conf_fuzz_test.cpp
    conf_test.cpp
    debug_test.cpp
    known_provider_test.cpp
    matching_test.cpp
)
# Paths only where they are used: ccache remembers the other objects for each folder.
set(dat_conf_paths LIBDAT="$<TARGET_FILE:dat>" FAKE_PROVIDER="$<TARGET_FILE:dat_fake>"
    PACKAGED_DAT_CONF="${PROJECT_SOURCE_DIR}/packaging/dat.conf")
set_source_files_properties(beside_test.cpp conf_file_test.cpp PROPERTIES COMPILE_DEFINITIONS "${dat_conf_paths}")
target_precompile_headers(dat-conf-tests REUSE_FROM unit-tests)
target_link_libraries(dat-conf-tests PRIVATE
    dat-objects GTest::gtest_main Threads::Threads ${CMAKE_DL_LIBS})
add_dependencies(dat-conf-tests dat dat_fake)
gtest_discover_tests(dat-conf-tests TEST_PREFIX unit. DISCOVERY_TIMEOUT 60)

add_executable(dat-list list.c)
target_link_libraries(dat-list PRIVATE dat)

# dat_late after dat: its destructor runs later.
add_executable(dat-registry-tests
    environment_test.cpp
    open_test.cpp
    open_threads_test.cpp
    registry_fixture.cpp
    registry_test.cpp
)
set_target_properties(dat-registry-tests PROPERTIES ENABLE_EXPORTS ON)
set(dat_registry_paths FAKE_PROVIDERS="${dat_fake_directory}" DAT_LIST="$<TARGET_FILE:dat-list>")
set_source_files_properties(environment_test.cpp registry_fixture.cpp PROPERTIES
    COMPILE_DEFINITIONS "${dat_registry_paths}")
target_precompile_headers(dat-registry-tests REUSE_FROM unit-tests)
target_link_libraries(dat-registry-tests PRIVATE
    dat dat_late GTest::gtest_main Threads::Threads)
add_dependencies(dat-registry-tests
    dat-list dat_fake dat_fake_no_init dat_fake_no_fini dat_fake_unresolved dat_fake_dependent)
gtest_discover_tests(dat-registry-tests TEST_PREFIX unit. DISCOVERY_TIMEOUT 60
    PROPERTIES TIMEOUT 120)
