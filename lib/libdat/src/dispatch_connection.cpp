// SPDX-License-Identifier: MIT
// Service points and connection requests.
#include "dispatch.h"

DAT_RETURN dat_cr_accept(DAT_CR_HANDLE cr_handle, DAT_EP_HANDLE ep_handle,
                         DAT_COUNT private_data_size, DAT_PVOID private_data) {
    return dat::dispatch<&DAT_PROVIDER::cr_accept_func, DAT_INVALID_HANDLE_CR>(
        cr_handle, ep_handle, private_data_size, private_data);
}

DAT_RETURN dat_cr_handoff(DAT_CR_HANDLE cr_handle, DAT_CONN_QUAL handoff) {
    return dat::dispatch<&DAT_PROVIDER::cr_handoff_func, DAT_INVALID_HANDLE_CR>(cr_handle, handoff);
}

DAT_RETURN dat_cr_query(DAT_CR_HANDLE cr_handle, DAT_CR_PARAM_MASK cr_param_mask,
                        DAT_CR_PARAM *cr_param) {
    return dat::dispatch<&DAT_PROVIDER::cr_query_func, DAT_INVALID_HANDLE_CR>(
        cr_handle, cr_param_mask, cr_param);
}

DAT_RETURN dat_cr_reject(DAT_CR_HANDLE cr_handle) {
    return dat::dispatch<&DAT_PROVIDER::cr_reject_func, DAT_INVALID_HANDLE_CR>(cr_handle);
}

DAT_RETURN dat_psp_create(DAT_IA_HANDLE ia_handle, DAT_CONN_QUAL conn_qual,
                          DAT_EVD_HANDLE evd_handle, DAT_PSP_FLAGS psp_flags,
                          DAT_PSP_HANDLE *psp_handle) {
    return dat::dispatch<&DAT_PROVIDER::psp_create_func, DAT_INVALID_HANDLE_IA>(
        ia_handle, conn_qual, evd_handle, psp_flags, psp_handle);
}

DAT_RETURN dat_psp_create_any(DAT_IA_HANDLE ia_handle, DAT_CONN_QUAL *conn_qual,
                              DAT_EVD_HANDLE evd_handle, DAT_PSP_FLAGS psp_flags,
                              DAT_PSP_HANDLE *psp_handle) {
    return dat::dispatch<&DAT_PROVIDER::psp_create_any_func, DAT_INVALID_HANDLE_IA>(
        ia_handle, conn_qual, evd_handle, psp_flags, psp_handle);
}

DAT_RETURN dat_psp_free(DAT_PSP_HANDLE psp_handle) {
    return dat::dispatch<&DAT_PROVIDER::psp_free_func, DAT_INVALID_HANDLE_PSP>(psp_handle);
}

DAT_RETURN dat_psp_query(DAT_PSP_HANDLE psp_handle, DAT_PSP_PARAM_MASK psp_param_mask,
                         DAT_PSP_PARAM *psp_param) {
    return dat::dispatch<&DAT_PROVIDER::psp_query_func, DAT_INVALID_HANDLE_PSP>(
        psp_handle, psp_param_mask, psp_param);
}

DAT_RETURN dat_rsp_create(DAT_IA_HANDLE ia_handle, DAT_CONN_QUAL conn_qual, DAT_EP_HANDLE ep_handle,
                          DAT_EVD_HANDLE evd_handle, DAT_RSP_HANDLE *rsp_handle) {
    return dat::dispatch<&DAT_PROVIDER::rsp_create_func, DAT_INVALID_HANDLE_IA>(
        ia_handle, conn_qual, ep_handle, evd_handle, rsp_handle);
}

DAT_RETURN dat_rsp_free(DAT_RSP_HANDLE rsp_handle) {
    return dat::dispatch<&DAT_PROVIDER::rsp_free_func, DAT_INVALID_HANDLE_RSP>(rsp_handle);
}

DAT_RETURN dat_rsp_query(DAT_RSP_HANDLE rsp_handle, DAT_RSP_PARAM_MASK rsp_param_mask,
                         DAT_RSP_PARAM *rsp_param) {
    return dat::dispatch<&DAT_PROVIDER::rsp_query_func, DAT_INVALID_HANDLE_RSP>(
        rsp_handle, rsp_param_mask, rsp_param);
}
