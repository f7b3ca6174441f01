# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh disable=SC2016  # the guest's shell expands what is quoted here
# shellcheck disable=SC2154  # run, common.sh and hub.sh set the variables
# Guests on one Ethernet with soft-RoCE devices.  Sourced by run.

# For commands in guests: reaches NODE says so, however long it takes; misses NODE says that six seconds were too short.
network=$hub'reaches() {
	until ping -c 1 -W 2 10.77.1.$1 >/dev/null; do :; done
	echo "reaches $1"
}
misses() {
	for try in 1 2 3; do
		! ping -c 1 -W 2 10.77.1.$1 >/dev/null || return
	done
	echo "misses $1"
}
'

# on_network STATUS NODES ARGUMENT...
on_network() {
	expected=$1
	shift
	guest "$expected" --smp 1 --controller rdma --until-first --nodes "$@"
}

test_switch() {
	python3 -B tests/vm/switch.py >&2
}

test_two_nodes_reach_each_other() {
	on_network 0 2 --on 2 "$network"'reaches 1; say "@1 done"; sleep 1000' \
		-- "$network"'reaches 2; hear >/dev/null; cat /sys/class/net/eth0/mtu' &&
		sort -o "$out" "$out" && prints 4200 '[2] reaches 1' 'reaches 2'
}

# As somebody who is not root, with the tools of the host.
test_usable_rdma_device() {
	on_network 0 1 --copy "$(command -v ibv_devinfo)" -- '
		/usr/sbin/rdma link show rxe0/1 | cut -d " " -f 2-4
		su -s /bin/sh nobody -c /tmp/ibv_devinfo | grep -E "state|active_mtu" | tr -s "\t" " "
		grep ^verbs0 /etc/dat/dat.conf' &&
		prints 'rxe0/1 state ACTIVE' ' state: PORT_ACTIVE (4)' ' active_mtu: 4096 (5)' \
			'verbs0 u1.2 threadsafe default libdaplverbs.so.1 rsm.1.0 "device=rxe0" ""'
}

test_connection_over_rdma() {
	rping='./rping -C 3'
	on_network 0 2 --copy "$(command -v rping)" --on 2 "$rping -s" \
		-- "until $rping -c -v -a 10.77.1.2 >log; do sleep 0.2; done; "'grep -c "^ping data" log' &&
		prints 3
}

test_killed_node_leaves_the_network() {
	up=$network'say "@1 up"; hear; sleep 1000'
	on_network 0 3 --on 2 "$up" --on 3 "$up" -- "$network"'
		hear; hear; ask "@vm kill 2"; reaches 3; misses 2
		say "@vm start 2"; (hear; hear) | sort; reaches 2; reaches 3' &&
		sed -i 's/^@[23] up$/up/' "$out" &&
		prints up up '@vm ok' 'reaches 3' 'misses 2' up '@vm ok' 'reaches 2' 'reaches 3'
}

# More than the switch holds is on its way to a guest that stands still.
test_paused_node_holds_up_nobody() {
	up=$network'say "@1 up"; sleep 1000'
	on_network 0 3 --on 2 "$up" --on 3 "$up" -- "$network"'
		hear >/dev/null; hear >/dev/null; reaches 2; ask "@vm pause 2"
		ping -q -s 4000 -i 0.002 -c 1000 -w 20 10.77.1.2 | grep -o " 0 packets received"
		reaches 3; ask "@vm resume 2"; reaches 2' &&
		prints 'reaches 2' '@vm ok' ' 0 packets received' 'reaches 3' '@vm ok' 'reaches 2'
}

test_lost_packets() {
	up=$network'say "@1 up"; sleep 1000'
	on_network 0 2 --on 2 "$up" -- "$network"'hear >/dev/null
		/usr/sbin/tc qdisc change dev eth0 root netem loss 100%; misses 2
		/usr/sbin/tc qdisc change dev eth0 root netem; reaches 2' && prints 'misses 2' 'reaches 2'
}

# Node 2 of one run is not there for another.
test_runs_do_not_see_each_other() {
	begin --controller rdma --nodes 2 --on 2 'sleep 1000' --until-first \
		-- 'until ping -c 1 -w 5 10.77.1.2 >/dev/null; do :; done; echo begun; sleep 1000' || return 1
	other=$scratch/other
	$vm --timeout 900 --smp 1 --controller rdma -- \
		'! ping -c 1 -w 5 10.77.1.2' >"$other" 2>&1 </dev/null
	alone=$?
	kill "$pid"
	wait "$pid"
	[ $alone -eq 0 ] || {
		cat "$other" >&2
		return 1
	}
}

test_switch_that_dies() {
	begin --controller rdma -- 'echo begun; sleep 30' || return 1
	pkill -KILL -f "socket $TMPDIR/"
	wait "$pid"
	status=$?
	[ $status -eq 125 ] && complains 'the switch ended'
}

# With our own modules (make modules).
test_controller_of_rdma() {
	with_modules "$product" 0 --controller rdma --nodes 2 --until-first \
		--module-param rsm_rdma:port=7000 --on 2 'sleep 1000' -- '
		until dmesg | grep -o "rdma0: node 2 is up"; do sleep 0.2; done
		cd /sys/module/rsm_rdma/parameters && cat nodes port' &&
		prints 'rdma0: node 2 is up' '1=10.77.1.1,2=10.77.1.2' 7000
}
