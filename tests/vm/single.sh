# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh disable=SC2016  # the guest's shell expands what is quoted here
# shellcheck disable=SC2154  # run and common.sh set the variables
# One guest: the way from the command line to the command, and back.  Sourced by run.

test_status_passes_through() { guest 7 -- 'exit 7'; }
test_success_is_quiet() {
	guest 0 -- true && ! grep -hv 'in its boot; starting it again$' "$out" "$err" >&2
}

test_a_terminal_sees_that_guests_boot() {
	script --quiet --return --command "$vm -- true" /dev/null >"$out" 2>&1 </dev/null &&
		grep -q '^rsm-vm: booting a guest with Linux [0-9]' "$out"
}

test_streams_are_separate() {
	guest 0 -- 'echo to out; echo to err >&2' && prints 'to out' && complains '^to err$'
}

test_arguments_are_preserved() {
	guest 0 -- printf '<%s>\n' 'two words' "it's" '' '$HOME' '*' -- --nodes &&
		prints '<two words>' "<it's>" '<>' '<$HOME>' '<*>' '<-->' '<--nodes>'
}

test_output_is_complete() {
	guest 0 -- 'seq 200000' && seq 200000 | cmp -s - "$out"
}

test_binary_output() {
	guest 0 -- "printf 'a\\r\\n\\000b'" && printf 'a\r\n\000b' | cmp -s - "$out"
}

test_background_process_does_not_hold_the_guest() {
	guest 3 -- 'sleep 1000 & exit 3'
}

# Every flip of a static key patches code that the other processor executes. With a thread for each
# processor QEMU 7.2 hung within ten seconds each time, and QEMU 10 within two minutes.
test_kernel_that_patches_itself_goes_on() {
	guest 0 -- '(while :; do echo x; done | cat >/dev/null) &
		seconds() {
			read -r up idle </proc/uptime
			echo ${up%.*}
		}
		end=$(($(seconds) + 25))
		while [ $(seconds) -lt $end ]; do
			echo 1 >/proc/sys/kernel/sched_schedstats
			echo 0 >/proc/sys/kernel/sched_schedstats
		done'
}

test_guest_of_another_architecture() {
	command -v qemu-system-aarch64 >/dev/null || {
		skip 'qemu-system-aarch64 is missing; get it with: tools/install-deps arm64'
		return
	}
	guest 0 --arch arm64 -- 'uname -m; grep -c ^processor /proc/cpuinfo' && prints aarch64 2
}

# thread_of ARGUMENT...: what a QEMU that only says so was asked for.
thread_of() {
	mkdir -p "$scratch/telling"
	cat >"$scratch/telling/qemu-system-x86_64" <<-END
		#!/bin/sh
		[ "\$1" = --version ] && echo "QEMU emulator version 99.0" && exit
		echo "\$*" | sed -n 's/.*thread=\([a-z]*\).*/\1/p' >"$scratch/thread"
	END
	chmod +x "$scratch/telling/qemu-system-x86_64"
	emulated_by "$scratch/telling" 125 "$@" -- true && cat "$scratch/thread"
}

# Atomic instructions in memory that guests share take a thread for each processor.
test_only_guests_that_share_memory_have_a_thread_for_each_processor() {
	[ "$(thread_of)" = single ] &&
		[ "$(thread_of --controller rdma)" = single ] &&
		[ "$(thread_of --controller ivshmem)" = multi ] &&
		[ "$(RSM_VM_THREADS=multi thread_of)" = multi ]
}

# emulated_by DIRECTORY ARGUMENT...: guest with the QEMU that lies there, and little patience.
emulated_by() {
	(
		PATH=$1:$PATH
		export PATH RSM_VM_ACCEL=tcg RSM_VM_SILENCE="${RSM_VM_SILENCE-30}"
		shift
		guest "$@"
	)
}

# Without a newer one there is no test above either.
test_emulator_that_is_too_old_is_replaced() {
	mkdir -p "$scratch/old"
	cat >"$scratch/old/qemu-system-x86_64" <<-END
		#!/bin/sh
		[ "\$1" = --version ] || exit 1
		echo "QEMU emulator version 8.0.5 (Debian 1:8.0.5+dfsg-1)"
	END
	chmod +x "$scratch/old/qemu-system-x86_64"
	emulated_by "$scratch/old" 3 -- 'echo up; exit 3' && prints up
}

# lame_emulator DIRECTORY WORDS: a QEMU there that stands still after these words on the console, once.
lame_emulator() {
	mkdir -p "$1"
	real=$(command -v qemu-system-x86_64)
	cat >"$1/qemu-system-x86_64" <<-END
		#!/bin/sh
		[ "\$1" = --version ] && echo "QEMU emulator version 99.0" && exit
		[ -e "$1/hung" ] && exec $real "\$@"
		touch "$1/hung"
		for word; do
			case \$word in
			file,id=console,*)
				word=\${word#*path=}
				echo "$2" >"\${word%%,*}"
				;;
			esac
		done
		exec sleep 1000
	END
	chmod +x "$1/qemu-system-x86_64"
}

# As happens under emulation, once in some hundred boots.
test_kernel_that_hangs_is_started_again() {
	lame_emulator "$scratch/lame" 'Linux version 6.1'
	emulated_by "$scratch/lame" 0 -- 'echo up' && prints up &&
		complains 'node 1: the kernel hangs in its boot; starting it again'
}

# It says so for ever: there is no silence. Its words in that boot are no report.
test_kernel_that_stalls_is_started_again() {
	lame_emulator "$scratch/stalled" 'rcu: INFO: rcu_preempt detected stalls on CPUs/tasks:'
	RSM_VM_SILENCE=1000 emulated_by "$scratch/stalled" 0 -- 'echo up' && prints up &&
		complains 'node 1: the kernel hangs in its boot; starting it again'
}

# mortal_emulator DIRECTORY TIMES: a QEMU there that dies with a word so often before it lives.
mortal_emulator() {
	mkdir -p "$1"
	real=$(command -v qemu-system-x86_64)
	cat >"$1/qemu-system-x86_64" <<-END
		#!/bin/sh
		[ "\$1" = --version ] && echo "QEMU emulator version 99.0" && exit
		echo >>"$1/lives"
		[ \$(wc -l <"$1/lives") -gt $2 ] && exec $real "\$@"
		echo "out of luck" >&2
		exit 1
	END
	chmod +x "$1/qemu-system-x86_64"
}

test_guest_that_dies_in_its_boot_is_started_again() {
	mortal_emulator "$scratch/mortal" 2
	emulated_by "$scratch/mortal" 0 -- 'echo up' && prints up &&
		complains 'node 1: guest died: out of luck, in its boot; starting it again'
}

test_guest_that_always_dies_in_its_boot_is_given_up() {
	mortal_emulator "$scratch/dead" 1000
	emulated_by "$scratch/dead" 125 -- 'echo up' && complains 'node 1: guest died: out of luck$' &&
		[ "$(wc -l <"$scratch/dead/lives")" -eq 3 ]
}

test_root_in_tmp() {
	guest 0 -- 'id -u; pwd; hostname; touch /tmp/x && echo writable' &&
		prints 0 /tmp rsm1 writable
}

# Not what a guest would measure while it boots, which on a busy machine is wrong now and then. The
# emulated hardware clock is the host's.
test_clock_keeps_time() {
	guest 0 -- 'ahead() {
			read -r up idle </proc/uptime
			rtc=$(cat /sys/class/rtc/rtc0/since_epoch)
			read -r again idle </proc/uptime
			[ "${up%.*}" = "${again%.*}" ] || { ahead; return; }
			echo $((${up%.*} - rtc))
		}
		before=$(ahead); sleep 8; echo $(($(ahead) - before))' || return 1
	gained=$(cat "$out")
	[ "$gained" -ge -2 ] && [ "$gained" -le 2 ] || {
		echo "gains $gained s in 8" >&2
		return 1
	}
}

test_users_and_loopback() {
	guest 0 -- 'for user in alice bob nobody; do su -s /bin/sh $user -c "id -Gn"; done;
		ping -c 1 -w 5 127.0.0.1 >/dev/null && echo up' &&
		prints 'alice rsm' 'bob rsm' 'nogroup rsm' up
}

# A guest unpacks all of it into memory, which takes a kernel with KASAN seconds.
test_guest_has_no_debug_information() {
	(
		export RSM_BUILD="$product"
		guest 0 -- 'grep -rlF .debug_info /usr; ls -l /usr/lib/*/librsm.so | grep -o "librsm.so -> .*"'
	) &&
		prints 'librsm.so -> librsm.so.2'
}

test_copy_is_exact() {
	library=$(echo "$product"/lib/librsm/librsm.so.*.*)
	guest 0 --copy "$library:/tmp/library" -- 'sha256sum </tmp/library' && prints "$(sha256sum <"$library")"
}

test_copy_brings_libraries() {
	guest 0 --copy "$(command -v bash)" \
		--copy "$(command -v bash):/opt/a b/shell" -- \
		'/tmp/bash -c "echo \$0 \${BASH_VERSION%%.*}"; "/opt/a b/shell" -c "echo again"' &&
		prints "/tmp/bash $(bash -c 'echo ${BASH_VERSION%%.*}')" again
}

test_copy_of_a_directory() {
	mkdir -p "$scratch/tree/sub" && echo deep >"$scratch/tree/sub/file" &&
		guest 0 --copy "$scratch/tree" --copy "$scratch/tree:/data" -- \
			cat /tmp/tree/sub/file /data/sub/file && prints deep deep
}

run_until_the_time_is_up() {
	guest 124 --timeout "$limit" -- 'echo begun; sleep 1000'
}

test_timeout() {
	times_out "$out" run_until_the_time_is_up && complains 'time is up'
}

# A reader takes one byte, and no more.
write_until_the_time_is_up() {
	(exec 3<"$scratch/pipe" && head -c 1 <&3 >"$scratch/got" && exec sleep 10000) &
	reader=$!
	$vm --timeout "$limit" -- 'yes' >"$scratch/pipe" 2>"$err"
	status=$?
	kill $reader
	[ $status -eq 124 ]
}

# The caller's pipe is full.
test_timeout_while_output_is_blocked() {
	mkfifo "$scratch/pipe"
	times_out "$scratch/got" write_until_the_time_is_up
}

test_signal_ends_the_guest() {
	: >"$out" # or an earlier test's "begun" is taken for this one's
	$vm --timeout 900 -- 'echo begun; sleep 1000' >"$out" 2>"$err" &
	pid=$!
	waits_for begun "$out" $pid || return 1
	kill -TERM $pid
	wait $pid
	status=$?
	[ $status -eq 143 ] || {
		echo "exit status $status" >&2
		cat "$err" >&2
		return 1
	}
	test_nothing_is_left_behind
}

test_panic() {
	guest 125 -- 'echo c >/proc/sysrq-trigger; sleep 100' && complains 'Kernel panic'
}

test_report_in_the_kernel_log() {
	guest 125 -- 'echo "BUG: test" >/dev/kmsg' && complains 'BUG: test'
}

test_status_wins_over_report() {
	guest 9 -- 'echo "WARNING: CPU: 0 test" >/dev/kmsg; exit 9' && complains 'WARNING: CPU: 0'
}

test_usage_errors() {
	for arguments in '--nodes 2' '--nodes 5 --controller ivshmem' '--nodes 0' \
		'--controller rdma --nodes 4' '--controller rdma --ivshmem-size 64' \
		'--controller none' '--on 2 true' '--arch none' '--arch arm64 --controller rdma' \
		'--arch arm64 --kernel debug' '--arch arm64 --kernel 6.1.0-1-amd64' \
		'--nodes 2 --controller ivshmem --on 3 true' \
		'--nodes 2 --controller ivshmem --on 2 true --on 2 true' \
		'--ivshmem-size 64' '--ivshmem-socket /tmp/x' \
		'--controller ivshmem --ivshmem-size 48' \
		'--controller ivshmem --ivshmem-socket /nonexistent/x' \
		'--module-param none:a=1' '--module-param rsm' '--smp x' '--bogus' \
		'--copy /nonexistent' '--kernel 9.9.9-none' '--kernel /nonexistent' '--kernel /tmp'; do
		# shellcheck disable=SC2086  # several words each
		guest 2 $arguments -- true && one_line || return 1
	done
	guest 2 && one_line
}

test_missing_qemu() {
	PATH=$scratch/empty /usr/bin/python3 "$vm" -- true >"$out" 2>"$err"
	[ $? -eq 2 ] && one_line && complains 'tools/install-deps run'
}

test_missing_modules() {
	RSM_VM_NO_MODULES='' $vm -- true >"$out" 2>"$err"
	[ $? -eq 2 ] && one_line && complains 'tools/build-modules --kernel stock'
}

test_missing_server() {
	RSM_BUILD=$scratch/empty $vm --controller ivshmem -- true >"$out" 2>"$err"
	[ $? -eq 2 ] && one_line && complains 'make lib'
}
