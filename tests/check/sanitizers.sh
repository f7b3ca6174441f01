# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# User space with the sanitizers of gcc: "asan" is AddressSanitizer, LeakSanitizer and UBSan, "tsan" is
# ThreadSanitizer. tests/check/host, unit and build-sanitized read this file.

is_sanitizer() {
	[ "$1" = asan ] || [ "$1" = tsan ]
}

# build_sanitized NAME BUILD: builds all in BUILD/NAME. Little optimization: what a function does stays in it.
build_sanitized() {
	sanitizer_build=$2/$1
	launcher=$(tests/check/compiler-launcher "$2")
	case $1 in
	asan) set -- address,undefined "-O1 -g1" ;;
	# gcc says of each memory barrier that ThreadSanitizer does not know it.
	tsan) set -- thread "-O1 -g1 -Wno-tsan" ;;
	esac
	mkdir -p "$sanitizer_build"
	# Two stages of tests/check/run may come here at once.
	{
		flock 8
		{
			# shellcheck disable=SC2086 # a list
			cmake -S . -B "$sanitizer_build" -G Ninja -Wno-dev -DCMAKE_INSTALL_PREFIX=/usr -DBUILD_TESTING=ON \
				$launcher -DRSM_SANITIZE="$1" -DCMAKE_BUILD_TYPE=None \
				-DCMAKE_C_FLAGS="$2" -DCMAKE_CXX_FLAGS="$2" &&
				cmake --build "$sanitizer_build"
		} >"$sanitizer_build/build.log" 2>&1
	} 8>"$sanitizer_build/lock" || {
		tail -n 30 "$sanitizer_build/build.log" >&2
		return 1
	}
}

# use_sanitizer NAME REPORTS: settings of the programs that run from now on; each process that has something to
# report writes a file in REPORTS, whichever user runs it.
use_sanitizer() {
	mkdir -p "$2"
	chmod 1777 "$2"
	# A thread that is cancelled leaves marks of its frames behind, among which AddressSanitizer's own end of the
	# thread would stumble if that had a signal stack to give back. Tests that touch memory that is gone expect
	# the signal, not a report. Programs that were built without AddressSanitizer load our libraries, and
	# the fake of /dev/rsm is loaded before AddressSanitizer.
	ASAN_OPTIONS="log_path=$2/report use_sigaltstack=0 handle_segv=0 handle_sigbus=0 verify_asan_link_order=0 ${ASAN_OPTIONS-}"
	UBSAN_OPTIONS="log_path=$2/report print_stacktrace=1 ${UBSAN_OPTIONS-}"
	# While it forks, librsm holds all of its mutexes, more than the detector of deadlocks can count.
	# Tests start threads in forked children, and expect signals.
	TSAN_OPTIONS="log_path=$2/report suppressions=$PWD/tests/check/tsan-suppressions detect_deadlocks=0 die_after_fork=0 \
handle_segv=0 handle_sigbus=0 ${TSAN_OPTIONS-}"
	export ASAN_OPTIONS UBSAN_OPTIONS TSAN_OPTIONS
}

# The library of a sanitizer, for LD_PRELOAD: programs without it load libraries that need it. The fake of /dev/rsm
# is loaded before it, and calls what the sanitizer wraps.
sanitizer_runtime() {
	gcc -print-file-name="lib$1.so"
}

# show_reports REPORTS: fails if there is one.
show_reports() {
	for report in "$1"/*; do
		[ -e "$report" ] || return 0
		sed 's/^/# /' "$report"
	done
	return 1
}
