// SPDX-License-Identifier: MIT
// Service points (PSP, RSP), the segment in which each hears of requests, and the requests (CR).
#pragma once

#include "connect/ep.h"

namespace rsmdat {

// Public and reserved service point alike; a base because both listen.
class Sp : public Object, public Source {
  public:
    ~Sp() override;
    DAT_CONN_QUAL qualifier;
    Evd *evd;

  protected:
    Sp(DAT_HANDLE_TYPE kind, Ia &ia, DAT_CONN_QUAL qualifier, Evd &evd);
    // P4 decides: the listening segment, ready()
};

class Psp final : public Sp {
  public:
    static constexpr DAT_HANDLE_TYPE KIND = DAT_HANDLE_TYPE_PSP;
    DAT_PSP_FLAGS flags;
    // P4 decides
};

class Rsp final : public Sp {
  public:
    static constexpr DAT_HANDLE_TYPE KIND = DAT_HANDLE_TYPE_RSP;
    Ep *ep; // null once freed
    // P4 decides
};

class Cr final : public Object, public Source {
  public:
    static constexpr DAT_HANDLE_TYPE KIND = DAT_HANDLE_TYPE_CR;
    // P4 decides: the requester's channel (imported), copied terms, the Ep of RSP / PSP_PROVIDER
};

} // namespace rsmdat
