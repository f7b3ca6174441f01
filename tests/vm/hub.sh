# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh disable=SC2016  # the guest's shell expands what is quoted here
# shellcheck disable=SC2154  # run and common.sh set the variables
# Guests that talk to each other and give orders.  Sourced by run.

# For commands in guests: say LINE, hear a line (at most so many seconds), ask for an answer.
hub='exec 5<>/run/rsm-hub
say() { echo "$*" >&5; }
hear() { IFS= read -r ${1:+-t $1} line <&5 && echo "$line" || echo silence; }
ask() { say "$*"; hear; }
'
# Tells node 1 that it is up, then repeats what it hears.
echoes=$hub'say "@1 up"; while IFS= read -r line <&5; do say "@1 <$line>"; done'

# hub_run NODES SCRIPT [STATUS]: the script on node 1, echoes on the others.
hub_run() {
	script=$hub$2
	expected=${3:-0}
	set -- --nodes "$1" --on 2 "$echoes"
	[ "$2" = 2 ] || set -- "$@" --on 3 "$echoes"
	guest "$expected" --smp 1 --controller ivshmem --until-first "$@" -- "$script"
}

test_hub_carries_lines_both_ways() {
	hub_run 2 'hear; ask "@2 to two"; ask "@1 to myself"; ask @2
		ask "@1 $(head -c 4092 /dev/zero | tr "\0" x)" | wc -c' &&
		prints '@2 up' '@2 <@1 to two>' '@1 to myself' '@2 <@1 >' 4096
}

test_hub_refuses_nonsense() {
	hub_run 2 'hear; for line in hello "" "@7 x" "@x" "@vm" "@vm kill" "@vm kill 7" \
			"@vm dance 2" "@vm resume 2" "@vm start 2"; do ask "$line" | cut -d " " -f 1-2; done
		ask "$(head -c 5000 /dev/zero | tr "\0" x)" | cut -d " " -f 1-2' &&
		[ "$(uniq -c "$out" | tr -s ' \n' ' ')" = ' 1 @2 up 11 @vm error ' ] || {
		cat "$out" >&2
		return 1
	}
}

test_killed_and_started_again() {
	hub_run 2 'hear; ask "@vm kill 2"; say "@2 dropped"; ask "@vm kill 2"
		ask "@vm start 2"; hear; ask "@2 alive?"
		ask "@vm kill 2"; say "@vm start 2"; say "@vm kill 2"; (hear; hear) | sort; exit 6' 6 &&
		prints '@2 up' '@vm ok' '@vm error node 2 is not running' '@vm ok' '@2 up' \
			'@2 <@1 alive?>' '@vm ok' '@vm error node 2 was killed' '@vm ok'
}

# Without --until-first, with a command that would fail and never end.
test_killed_node_is_no_failure() {
	guest 0 --smp 1 --controller ivshmem --nodes 2 --on 2 'echo begun; sleep 1000; exit 5' -- \
		"$hub"'sleep 1; ask "@vm kill 2"' && grep -q '^@vm ok$' "$out"
}

# A node that has ended its command, killed by itself and started by another: the status of
# its last life counts.
test_last_life_counts() {
	guest 125 --smp 1 --controller ivshmem --nodes 2 \
		--on 2 "$hub"'say "@1 up"; hear; [ "$line" != "@1 die" ] || say "@vm kill 2"; exit 5' \
		-- "$hub"'hear; say "@2 die"; until ask "@vm start 2" | grep ok; do sleep 0.2; done
			say "@2 live"; exit 0' &&
		complains 'node 2: the command failed with status 5'
}

test_report_of_an_earlier_life() {
	guest 125 --smp 1 --controller ivshmem --nodes 2 --until-first \
		--on 2 "$hub"'echo "BUG: in some life" >/dev/kmsg; say "@1 up"; sleep 1000' \
		-- "$hub"'hear; ask "@vm kill 2"' &&
		complains 'node 2: the kernel log holds a report' && complains 'BUG: in some life'
}

# Ends with a paused node, which must not keep the run from ending.
test_pause_and_resume() {
	hub_run 3 'hear >/dev/null; hear >/dev/null
		ask "@vm pause 3"; ask "@vm pause 3"; say "@3 asleep"; hear 2; ask "@2 awake"
		say "@vm resume 3"; (hear; hear 100) | sort; ask "@vm pause 2"' &&
		prints '@vm ok' '@vm error node 3 is paused already' silence '@2 <@1 awake>' \
			'@3 <@1 asleep>' '@vm ok' '@vm ok'
}

test_stall() {
	hub_run 2 'hear >/dev/null; for time in 0 60001 x; do ask "@vm stall $time"; done | uniq
		ask "@vm stall 100"; ask "@2 awake"' &&
		prints '@vm error a stall lasts 1 to 60000 milliseconds' '@vm ok' '@2 <@1 awake>'
}

# Lines for a guest that does not read pile up in it and then here, but not without limit.
test_flood() {
	guest 0 --smp 1 --controller ivshmem --nodes 2 --until-first --on 2 'sleep 1000' -- \
		"$hub"'line="@2 $(head -c 4000 /dev/zero | tr "\0" x)"
		count=0; while [ $count -lt 600 ]; do count=$((count + 1)); echo "$line"; done >&5
		hear' && prints '@vm error node 2 does not read'
}
