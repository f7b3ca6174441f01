# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh disable=SC2016  # the guest's shell expands what is quoted here
# shellcheck disable=SC2154  # run and common.sh set the variables
# A guest that is a process of this machine, User-Mode Linux.  Sourced by run.

fast_debug=

# A machine may have no source of such a kernel, or forbid what the kernel needs.
runs_processes() {
	[ -n "$fast_debug" ] || fast_debug=$(tests/check/fast-debug-kernel 2>/dev/null)
	[ "$fast_debug" = uml ] || skip 'User-Mode Linux does not run here: tests/check/fast-debug-kernel says why'
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

test_process_has_one_memory_node() {
	guest 2 --kernel uml --memory-nodes 2 -- true && one_line
}

test_processes_have_rdma() {
	runs_processes || return
	guest 0 --kernel uml --controller rdma --nodes 2 --until-first --copy "$(command -v rping)" --on 2 './rping -s -C 3' \
		-- "until ./rping -C 3 -c -v -a 10.77.1.2 >log; do sleep 0.2; done; "'grep -c "^ping data" log
			cat /sys/class/net/eth0/mtu' && prints 3 4200
}

# The card of a killed process leaves the switch, and a network that was down comes up again.
test_processes_find_each_other_again() {
	runs_processes || return
	up=$network'say "@1 up"; hear; sleep 1000'
	guest 0 --kernel uml --controller rdma --nodes 2 --until-first --on 2 "$up" -- "$network"'
		hear; ask "@vm kill 2"; say "@vm start 2"; (hear; hear) | sort; reaches 2
		ip link set eth0 down; ip link set eth0 up; reaches 2' &&
		prints '@2 up' '@vm ok' '@2 up' '@vm ok' 'reaches 2' 'reaches 2'
}

test_process_that_is_killed_comes_back() {
	runs_processes || return
	guest 0 --kernel uml --nodes 2 --controller ivshmem --until-first --on 2 'sleep 1000' \
		-- "$hub"'ask "@vm kill 2"; ask "@vm start 2"' && prints '@vm ok' '@vm ok'
}

# Nothing else wakes the guest. The line is there first but on a busy machine, where the test shows less.
test_process_hears_what_came_before_it_listened() {
	runs_processes || return
	guest 0 --kernel uml --nodes 2 --controller ivshmem --on 2 'sleep 1; head -n 1 /run/rsm-hub' \
		-- 'echo "@2 early" >/run/rsm-hub' && prints '[2] @1 early'
}

# More than a line's buffer holds waits to be read; lines that come after that are read, too. On a busy machine fewer
# lines wait, and the test shows less.
test_process_hears_all_of_what_waited_for_it() {
	runs_processes || return
	guest 0 --kernel uml --nodes 2 --controller ivshmem --on 2 "$hub"'sleep 2
			lines=1; while [ "$(hear)" != "@1 line 1000" ]; do lines=$((lines + 1)); done; echo $lines
			ask "@2 poke"' \
		-- 'for line in $(seq 1000); do echo "@2 line $line"; done >/run/rsm-hub' && prints '[2] 1000' '[2] @2 poke'
}

test_process_takes_no_word_that_breaks_its_command_line() {
	for path in "$scratch/a b" "$scratch/a\"b" "$scratch/à"; do
		guest 2 --kernel uml --nodes 2 --controller ivshmem --ivshmem-socket "$path" -- true && one_line || return
	done
	guest 2 --kernel uml --mem 100000000 -- true && one_line && complains 'of this machine' || return
	mkdir -p "$scratch/a,b" && TMPDIR=$scratch/a,b guest 2 --kernel uml --controller rdma -- true && one_line && complains comma
}

test_processes_stand_still_together() {
	runs_processes || return
	guest 0 --kernel uml --nodes 2 --controller ivshmem --until-first --on 2 'while :; do :; done' \
		-- "$hub"'ask "@vm pause 2"; ask "@vm resume 2"; ask "@vm stall 100"' && prints '@vm ok' '@vm ok' '@vm ok'
}

test_process_has_one_processor_and_enough_memory() {
	guest 2 --kernel uml --smp 2 -- true && one_line && complains 'one processor' &&
		guest 2 --kernel uml --mem 64 -- true && one_line && complains '128'
}

# As in a container. The memory goes where other files go for a time.
test_process_takes_no_memory_that_is_too_small() {
	runs_processes || return
	unshare -m true || {
		skip 'no mount namespace can be had here'
		return
	}
	for options in size=16M size=2G,noexec; do
		unshare -m sh -c "mount -t tmpfs -o $options tmpfs /dev/shm && $vm --kernel uml --timeout 900 -- true" \
			>"$out" 2>"$err" </dev/null || {
			cat "$err" >&2
			return 1
		}
	done
}

test_process_needs_no_home_and_leaves_nothing_there() {
	runs_processes || return
	mkdir -p "$scratch/home"
	cache=${RSM_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/rsm}
	env HOME="$scratch/home" RSM_CACHE="$cache" "$vm" --kernel uml --timeout 900 -- true 2>"$err" &&
		[ -z "$(ls -A "$scratch/home")" ] &&
		env -u HOME RSM_CACHE="$cache" "$vm" --kernel uml --timeout 900 -- true 2>"$err"
}

test_process_leaves_nothing_when_rsm_vm_is_killed() {
	runs_processes || return
	$vm --kernel uml --timeout 900 -- 'echo up; sleep 1000' >"$out" 2>"$err" </dev/null &
	killed=$!
	until grep -q up "$out"; do
		kill -0 $killed || return
		sleep 0.1
	done
	# The kernel, and a process for each address space of the guest.
	guests=$(pgrep -g "$(pgrep -f "initrd=$TMPDIR/rsm-vm-.*/initrd1")")
	kill -KILL $killed
	wait $killed
	for guest in $guests; do
		while kill -0 "$guest" 2>/dev/null && ! grep -q '^State:.Z' "/proc/$guest/status"; do
			sleep 0.1
		done
	done
	# The files of a run that was killed stay.
	rm -rf "${TMPDIR:?}"/*
	[ "$(echo "$guests" | wc -l)" -gt 1 ]
}
