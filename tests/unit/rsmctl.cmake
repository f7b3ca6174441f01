# SPDX-License-Identifier: GPL-2.0
# rsmctl, as far as it needs no kernel agent: messages are made here.
if(NOT TARGET rsmctl-objects)
    return()
endif()
file(GLOB rsmctl_unit_tests CONFIGURE_DEPENDS rsmctl_*_test.cpp)
add_executable(rsmctl-unit-tests ${rsmctl_unit_tests} rsmctl_message.cpp)
target_precompile_headers(rsmctl-unit-tests REUSE_FROM unit-tests)
target_compile_definitions(rsmctl-unit-tests PRIVATE
    RSM_SOURCE="${PROJECT_SOURCE_DIR}" RSMCTL_VERSION="${PROJECT_VERSION}")
target_link_libraries(rsmctl-unit-tests PRIVATE
    rsmctl-objects GTest::gmock GTest::gtest_main Threads::Threads)
gtest_discover_tests(rsmctl-unit-tests TEST_PREFIX unit. DISCOVERY_TIMEOUT 60)
add_test(NAME unit.rsmctl-completion COMMAND
    ${CMAKE_CURRENT_SOURCE_DIR}/rsmctl-completion
    ${PROJECT_SOURCE_DIR}/tools/rsmctl/completion/rsmctl)
add_test(NAME unit.rsmctl-completion-others COMMAND
    ${CMAKE_CURRENT_SOURCE_DIR}/rsmctl-completion-others
    ${PROJECT_SOURCE_DIR}/tools/rsmctl/completion)
set_tests_properties(unit.rsmctl-completion-others PROPERTIES SKIP_RETURN_CODE 77)
add_test(NAME unit.rsmctl-units COMMAND
    ${CMAKE_CURRENT_SOURCE_DIR}/systemd-units 14 $<TARGET_FILE:rsmctl>
    ${PROJECT_BINARY_DIR}/tools/rsmctl/rsm-metrics.service
    ${PROJECT_SOURCE_DIR}/packaging/systemd/rsm-metrics.timer)
set_tests_properties(unit.rsmctl-units PROPERTIES SKIP_RETURN_CODE 77)
