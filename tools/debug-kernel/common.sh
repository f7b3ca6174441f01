# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=sh
# shellcheck disable=SC2154  # build and build-uml set the variables
# The build of a kernel from a source package of Debian, once: sourced by build and build-uml.
#
# They set: config, a fragment for allnoconfig; image, what make is to build besides the modules; tarball, the source;
# adjust, the script that adjusts it, which runs with the unpacked source as its argument; version, of the source;
# compiler; about, how long it takes; inputs, a function that prints whatever else goes into the kernel; and what make
# reads from the environment.

cache=${RSM_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/rsm}

die() {
	echo "debug-kernel: $*" >&2
	exit 2
}

# Kconfig drops a line without a word when a dependency is missing; a debug kernel that
# silently lacks KASAN would make every test lie.
check_config() {
	missing=$(grep '^CONFIG_' "$config" | grep -vxF -f "$out/.config") || true
	missing=$missing$(sed -n 's/^# \(CONFIG_[A-Za-z0-9_]*\) is not set$/\1=/p' "$config" | grep -F -f - "$out/.config") || true
	[ -z "$missing" ] || die "these lines of $config are not in the final .config:
$missing"
}

# The tree gets its name when it is complete.
unpack_source() {
	[ ! -d "$source" ] || return 0
	rm -rf "$source.new"
	mkdir -p "$source.new"
	tar -xJf "$tarball" -C "$source.new" --strip-components=1
	"$adjust" "$source.new"
	mv "$source.new" "$source"
}

# A shell of its own, which ends at the first command that fails: "set -e" is off where the caller looks at the status.
compile() (
	set -e
	mkdir -p "$out"
	make -s -C "$source" O="$out" KCONFIG_ALLCONFIG="$config" allnoconfig
	check_config
	make -s -C "$out" -j"$(nproc)" "$image" modules
	rm -rf "$out/modroot"
	make -s -C "$out" INSTALL_MOD_PATH="$out/modroot" modules_install
	make -s --no-print-directory -C "$out" kernelrelease >"$out/release"
)

# The directory is named by a hash of all that goes into the kernel: an unchanged input costs nothing, and a changed
# one never finds a stale tree.
name_directories() {
	hash=$({
		echo "$version"
		"$compiler" --version
		cat "$config" "$here/common.sh" "$0"
		inputs
	} | sha256sum | cut -c1-16)
	source=$cache/src/linux-source-$version-$(inputs | sha256sum | cut -c1-8)
	out=$cache/debug-kernel/$hash
}

# Two callers at once wait for one build.
build_once() {
	[ ! -e "$out/done" ] || return 0
	mkdir -p "$cache/src" "$cache/debug-kernel"
	exec 9>"$cache/debug-kernel/lock-$image"
	flock 9
	[ ! -e "$out/done" ] || return 0
	echo "debug-kernel: building in $out (about $about minutes, once)" >&2
	unpack_source
	set +e
	compile >"$out.log" 2>&1
	status=$?
	set -e
	[ $status = 0 ] || die "build failed, see $out.log:
$(tail -n 20 "$out.log")"
	touch "$out/done"
}
