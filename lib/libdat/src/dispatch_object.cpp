// SPDX-License-Identifier: MIT
// The functions on an interface adapter, or on any object.
#include "dispatch.h"

DAT_RETURN dat_ia_query(DAT_IA_HANDLE ia_handle, DAT_EVD_HANDLE *async_evd_handle,
                        DAT_IA_ATTR_MASK ia_attr_mask, DAT_IA_ATTR *ia_attr,
                        DAT_PROVIDER_ATTR_MASK provider_attr_mask,
                        DAT_PROVIDER_ATTR *provider_attr) {
    return dat::dispatch<&DAT_PROVIDER::ia_query_func, DAT_INVALID_HANDLE_IA>(
        ia_handle, async_evd_handle, ia_attr_mask, ia_attr, provider_attr_mask, provider_attr);
}

DAT_RETURN dat_set_consumer_context(DAT_HANDLE dat_handle, DAT_CONTEXT context) {
    return dat::dispatch<&DAT_PROVIDER::set_consumer_context_func, DAT_INVALID_HANDLE1>(dat_handle,
                                                                                        context);
}

DAT_RETURN dat_get_consumer_context(DAT_HANDLE dat_handle, DAT_CONTEXT *context) {
    return dat::dispatch<&DAT_PROVIDER::get_consumer_context_func, DAT_INVALID_HANDLE1>(dat_handle,
                                                                                        context);
}

DAT_RETURN dat_get_handle_type(DAT_HANDLE dat_handle, DAT_HANDLE_TYPE *handle_type) {
    return dat::dispatch<&DAT_PROVIDER::get_handle_type_func, DAT_INVALID_HANDLE1>(dat_handle,
                                                                                   handle_type);
}
