# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh disable=SC2034
# Functions of the bars, which read this file with $1 = seconds and $2 = seed of the slice.
cd "$(dirname "$0")/../../.." || exit
build=${RSM_BUILD:-build}
seconds=$1
seed=$2

# needs FILE...: the bar can't run before all of them are built.
needs() {
	for file; do
		[ -e "$file" ] || {
			echo "$file is not built: make soak builds it"
			exit 77
		}
	done
}

# needs_kernel SCRIPT: the debug kernel that the script builds, and its modules.
needs_kernel() {
	kernel=$("$1" --path) || exit 77
	needs "$kernel/done" "$kernel/release"
	release=$(cat "$kernel/release")
	needs "$build/modules/$release/rsm.ko"
	echo "kernel $release"
}

needs_debug() {
	needs_kernel tools/debug-kernel/build
}

# The fastest debug kernel that runs here, in $fast.
needs_fast_debug() {
	fast=$(tests/check/fast-debug-kernel) || exit 77
	case $fast in
	uml) needs_kernel tools/debug-kernel/build-uml ;;
	*) needs_debug ;;
	esac
}

# In $fast, too; some slices have the debug kernel with two processors and huge pages, which may be emulated.
needs_some_debug() {
	if [ $((seed / 9 % 3)) = 0 ]; then
		fast=debug
		needs_debug
	else
		needs_fast_debug
	fi
}

# alone FOLDER: waits until no other run uses the folder. The lock ends with this process and those that it starts.
alone() {
	mkdir -p "$1"
	exec 9>"$1/lock"
	flock 9
}

# kselftests KERNEL FILTER ROUNDS: as often as the environment of support/soak.hpp says. A test that hangs ends after
# some twenty times the seconds, and says what it waits for.
kselftests() {
	kernel_of_tests=$1
	shift
	tools/rsm-vm --kernel "$kernel_of_tests" --mem 2048 --timeout 100000 --copy "$build/tests/kselftest:/ksft" \
		-- env RSM_SOAK_ROUNDS="$2" RSM_SOAK_SEED="$seed" sh /ksft/run-tap --time-limit $((seconds * 4 + 600)) \
		--time-factor 5 --filter "$1"
}
