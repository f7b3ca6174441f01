// SPDX-License-Identifier: MIT
#include "transfer/work.h"

namespace rsmengine {

CompletionStatus status_of(ibv_wc_status status) noexcept {
    switch (status) {
    case IBV_WC_SUCCESS:
        return CompletionStatus::OK;
    case IBV_WC_LOC_LEN_ERR:
        return CompletionStatus::LOCAL_LENGTH;
    case IBV_WC_LOC_QP_OP_ERR:
        return CompletionStatus::LOCAL_ENDPOINT;
    case IBV_WC_LOC_PROT_ERR:
    case IBV_WC_LOC_ACCESS_ERR:
    case IBV_WC_LOC_RDD_VIOL_ERR:
        return CompletionStatus::LOCAL_PROTECTION;
    case IBV_WC_BAD_RESP_ERR:
        return CompletionStatus::BAD_RESPONSE;
    case IBV_WC_REM_ACCESS_ERR:
        return CompletionStatus::REMOTE_ACCESS;
    case IBV_WC_REM_INV_REQ_ERR:
    case IBV_WC_REM_OP_ERR:
    case IBV_WC_REM_INV_RD_REQ_ERR:
    case IBV_WC_REM_ABORT_ERR:
        return CompletionStatus::REMOTE_RESPONDER;
    case IBV_WC_RNR_RETRY_EXC_ERR:
    case IBV_WC_RESP_TIMEOUT_ERR:
        return CompletionStatus::RECEIVER_NOT_READY;
    case IBV_WC_MW_BIND_ERR:
        return CompletionStatus::BIND_FAILED;
    case IBV_WC_RETRY_EXC_ERR:
    case IBV_WC_LOC_EEC_OP_ERR:
    case IBV_WC_INV_EECN_ERR:
    case IBV_WC_INV_EEC_STATE_ERR:
    case IBV_WC_FATAL_ERR:
    case IBV_WC_GENERAL_ERR:
        return CompletionStatus::TRANSPORT;
    default:
        return CompletionStatus::FLUSHED;
    }
}

} // namespace rsmengine
