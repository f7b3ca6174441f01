# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh disable=SC2016  # the guest's shell expands what is quoted here
# shellcheck disable=SC2154  # run and common.sh set the variables
# A guest that is a process of this machine, User-Mode Linux.  Sourced by run.

one_node=

# A machine may have no source of such a kernel, or forbid what the kernel needs.
runs_processes() {
	[ -n "$one_node" ] || one_node=$(tests/check/one-node-kernel 2>/dev/null)
	[ "$one_node" = uml ] || skip 'User-Mode Linux does not run here: tests/check/one-node-kernel says why'
}

test_process_passes_its_status_through() {
	runs_processes || return
	guest 7 --kernel uml -- 'uname -r; exit 7' && grep -q '^[0-9.]*-rsm-uml$' "$out"
}

test_process_keeps_streams_apart_and_binary() {
	runs_processes || return
	guest 0 --kernel uml -- "printf 'a\\r\\n\\000\\003\\004b'; echo to err >&2" &&
		printf 'a\r\n\000\003\004b' | cmp -s - "$out" && complains '^to err$'
}

test_process_prints_all() {
	runs_processes || return
	guest 0 --kernel uml -- 'seq 200000' && seq 200000 | cmp -s - "$out"
}

test_process_reports_what_its_kernel_says() {
	runs_processes || return
	guest 125 --kernel uml -- 'echo "BUG: test" >/dev/kmsg' && complains 'BUG: test'
}

test_process_has_what_finds_bugs() {
	runs_processes || return
	guest 0 --kernel uml -- 'test -f /sys/kernel/debug/kmemleak && cat /proc/lockdep_stats' &&
		grep -q 'debug_locks: *1' "$out"
}

test_process_that_ends_by_itself_is_lost() {
	runs_processes || return
	guest 125 --kernel uml -- 'exec reboot -f' && complains 'guest died'
}

test_process_has_no_devices_and_one_memory_node() {
	runs_processes || return
	guest 2 --kernel uml --nodes 2 --controller ivshmem -- true && one_line &&
		guest 2 --kernel uml --memory-nodes 2 -- true && one_line
}

test_process_leaves_nothing_when_rsm_vm_is_killed() {
	runs_processes || return
	$vm --kernel uml --timeout 900 -- 'echo up; sleep 1000' >"$out" 2>"$err" </dev/null &
	killed=$!
	until grep -q up "$out"; do
		kill -0 $killed || return
		sleep 0.1
	done
	guests=$(pgrep -f "initrd=$TMPDIR/rsm-vm-.*/initrd1")
	kill -KILL $killed
	wait $killed
	for guest in $guests; do
		while kill -0 "$guest" 2>/dev/null && ! grep -q '^State:.Z' "/proc/$guest/status"; do
			sleep 0.1
		done
	done
	[ -n "$guests" ]
}
