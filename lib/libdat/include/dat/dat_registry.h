/* SPDX-License-Identifier: MIT */
/*
 * uDAPL 1.2: the interface between providers and the registry. Providers include it after
 * <dat/udat.h>.
 */
#ifndef _DAT_REGISTRY_H_
#define _DAT_REGISTRY_H_

#if !defined(_UDAT_H_) && !defined(_KDAT_H_)
#error "include <dat/udat.h> before <dat/dat_registry.h>"
#endif

#include <dat/udat_redirection.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * dat_registry_add_provider - register a provider for an IA
 * @provider: its functions; must stay where it is until it is removed
 * @provider_info: name, version and thread safety that it is opened by; copied
 *
 * INVALID_PARAMETER: ARG1 or ARG2 (NULL). PROVIDER_ALREADY_REGISTERED (one of that name, version
 * and thread safety is known). INSUFFICIENT_RESOURCES: MEMORY. INVALID_STATE (the library was
 * shut down).
 */
DAT_RETURN dat_registry_add_provider(const DAT_PROVIDER *provider,
				     const DAT_PROVIDER_INFO *provider_info);

/**
 * dat_registry_remove_provider - remove a provider for an IA
 * @provider: as it was added
 * @provider_info: as it was added
 *
 * INVALID_PARAMETER: ARG1 (NULL), ARG2 (NULL, or there is none). PROVIDER_IN_USE (an IA is open).
 * INVALID_STATE (the library was shut down).
 */
DAT_RETURN dat_registry_remove_provider(const DAT_PROVIDER *provider,
					const DAT_PROVIDER_INFO *provider_info);

/* ---- What the library of a provider exports -------------------------------------------------- */

#define DAT_PROVIDER_INIT_FUNC_NAME dat_provider_init
#define DAT_PROVIDER_INIT_FUNC_STR "dat_provider_init"
#define DAT_PROVIDER_FINI_FUNC_NAME dat_provider_fini
#define DAT_PROVIDER_FINI_FUNC_STR "dat_provider_fini"

/**
 * Registers provider_info->ia_name, and nothing else, by dat_registry_add_provider(). If it can't
 * register the name, it returns without doing so. instance_data is the seventh field of the line of
 * dat.conf. Runs with the registry locked, so no IA can be opened or listed here.
 */
typedef void (*DAT_PROVIDER_INIT_FUNC)(const DAT_PROVIDER_INFO *provider_info,
				       const char *instance_data);

/**
 * Removes that registration, after the last IA of the name was closed. The registry may call both
 * functions again.
 */
typedef void (*DAT_PROVIDER_FINI_FUNC)(const DAT_PROVIDER_INFO *provider_info);

void DAT_PROVIDER_INIT_FUNC_NAME(const DAT_PROVIDER_INFO *provider_info, const char *instance_data);
void DAT_PROVIDER_FINI_FUNC_NAME(const DAT_PROVIDER_INFO *provider_info);

#ifdef __cplusplus
}
#endif

#endif /* _DAT_REGISTRY_H_ */
