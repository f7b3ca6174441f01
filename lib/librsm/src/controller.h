// SPDX-License-Identifier: MIT
// The controllers that the process has opened.
#pragma once

#include "api.h"
#include "controller_name.h"
#include "handle_pool.h"

namespace rsm {

struct Controller {
    static constexpr Kind kind = Kind::controller;

    ControllerName name;
    rsmapi_controller_attr_t attributes;
    // Both guarded by locks.controllers.
    unsigned references;
    Controller *next;

    [[nodiscard]] std::string_view name_text() const noexcept { return name.data(); }
};

} // namespace rsm
