# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh disable=SC2016  # the guest's shell expands what is quoted here
# shellcheck disable=SC2154  # run and common.sh set the variables
# Several guests joined by ivshmem.  Sourced by run.

test_two_nodes_and_their_lines() {
	guest 0 --nodes 2 --controller ivshmem --ivshmem-size 16 \
		--on 2 'hostname; printf "a\nb"; echo e >&2; printf f >&2' \
		-- 'hostname; cat /sys/bus/pci/devices/*/modalias | grep -c v00001AF4d00001110;
			stat -c %s /sys/bus/pci/devices/*/resource2' &&
		sort -o "$out" "$out" &&
		prints 1 16777216 '[2] a' '[2] b' '[2] rsm2' rsm1 &&
		complains '^\[2\] e$' && complains '^\[2\] f$'
}

test_three_nodes_and_their_failures() {
	guest 9 --smp 1 --nodes 3 --controller ivshmem --on 2 'exit 3' \
		--on 3 'echo "BUG: test" >/dev/kmsg' -- 'exit 9' &&
		complains 'node 2: the command failed with status 3' &&
		complains 'node 3: the kernel log holds a report' && complains 'BUG: test'
}

# Node 1 talks at once: what it says is lost to a node whose command has not started.
test_four_nodes_start_together() {
	listen='head -n 1 /run/rsm-hub'
	guest 0 --nodes 4 --controller ivshmem --on 2 "$listen" --on 3 "$listen" --on 4 "$listen" \
		-- 'printf "@%s go\n" 2 3 4 >/run/rsm-hub; echo sent' &&
		sort -o "$out" "$out" && prints '[2] @1 go' '[3] @1 go' '[4] @1 go' sent
}

# Node 2 may be told to end before its command has begun.
test_first_command_is_over_at_once() {
	guest 0 --smp 1 --nodes 2 --controller ivshmem --until-first --on 2 'sleep 1000' -- true
}

test_panic_of_another_node() {
	guest 125 --smp 1 --nodes 2 --controller ivshmem --on 2 'echo c >/proc/sysrq-trigger; sleep 100' \
		-- true && complains 'node 2: guest died' && complains 'Kernel panic'
}

run_three_nodes_until_the_time_is_up() {
	guest 124 --timeout "$limit" --smp 1 --nodes 3 --controller ivshmem --on 3 'sleep 1000' -- echo begun
}

test_timeout_of_three_nodes() {
	times_out "$out" run_three_nodes_until_the_time_is_up && complains 'time is up'
}

# begin ARGUMENT...: starts rsm-vm with pid $pid, returns when its command has said "begun".
begin() {
	: >"$out"
	$vm --timeout 900 --smp 1 --controller ivshmem "$@" >"$out" 2>"$err" </dev/null &
	pid=$!
	waits_for begun "$out" $pid
}

test_sigkill_leaves_no_process() {
	begin --nodes 2 -- 'echo begun; sleep 1000' || return 1
	[ "$(processes | wc -l)" -eq 3 ] || {
		echo "not two guests and a server:" >&2
		processes >&2
		return 1
	}
	kill -KILL $pid
	wait $pid
	while [ -n "$(processes)" ]; do
		sleep 0.1
	done
	rm -rf "${TMPDIR:?}"/*
	test_nothing_is_left_behind
}

test_server_that_dies() {
	begin -- 'stat -c %s /sys/bus/pci/devices/*/resource2
		[ -e /run/rsm-hub ] || echo no hub; echo begun; sleep 30' || return 1
	pkill -KILL -f "socket $TMPDIR/"
	wait $pid
	status=$?
	[ $status -eq 125 ] && complains 'rsm-ivshmem-server ended' &&
		prints 67108864 'no hub' begun
}

# Another program joins through the socket, which is gone when the run is over.
test_socket_for_others() {
	begin --ivshmem-socket "$scratch/others" -- 'echo begun; sleep 30' || return 1
	python3 - "$scratch/others" <<-'END'
		import socket, struct, sys
		with socket.socket(socket.AF_UNIX) as end:
		    end.connect(sys.argv[1])
		    sys.exit(struct.unpack("<q", end.recv(8, socket.MSG_WAITALL))[0])
	END
	joined=$?
	wait $pid && [ $joined -eq 0 ] && [ ! -e "$scratch/others" ]
}

test_module_parameters() {
	guest 0 --module-param virtio_pci:force_legacy=1 -- \
		cat /sys/module/virtio_pci/parameters/force_legacy && prints Y
}

# with_modules BUILD EXPECTED_STATUS ARGUMENT...: a guest with the modules that lie there.
with_modules() {
	(
		export RSM_VM_NO_MODULES='' RSM_BUILD="$1"
		expected=$2
		shift 2
		guest "$expected" --smp 1 --controller ivshmem "$@"
	)
}

# Any modules of the kernel will do for ours, as long as no device asks for them.
test_driver_that_does_not_come_up() {
	release=$(python3 -c 'import sys; sys.path.insert(0, "tools"); sys.dont_write_bytecode = True
from rsmvm import kernels; print(kernels.stock_release())')
	modules=$scratch/strange/modules/$release
	mkdir -p "$modules"
	cp -r "$scratch/build/tools" "$scratch/strange/"
	for name in rsm rsm_ivshmem; do
		cp "/lib/modules/$release/kernel/drivers/net/dummy.ko" "$modules/$name.ko" || return 1
	done
	with_modules "$scratch/strange" 125 -- 'echo not reached' && [ ! -s "$out" ] && complains 'no PCI device has brought up rsm_ivshmem'
}

# With our own modules (make modules), which nothing in the guest names but the device.
test_driver_comes_up_by_itself() {
	with_modules "$product" 0 --nodes 2 --module-param rsm:max_segments=77 \
		--on 2 'cat /sys/module/rsm/parameters/node_id' -- '
		ls /sys/module/rsm_ivshmem/drivers
		cd /sys/module/rsm/parameters && cat node_id max_segments' &&
		sort -o "$out" "$out" && prints 1 77 '[2] 2' pci:rsm_ivshmem
}
