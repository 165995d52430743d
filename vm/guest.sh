# SPDX-License-Identifier: GPL-2.0-only OR MIT
# shellcheck shell=bash
# Other parts of run.sh read what this one sets.
# shellcheck disable=SC2034
# Starts a guest that does one job: qemu, the job's folder, and the three ways out of it (stdout, stderr, the kernel log).

# guest_directory: the directory of the guest that is this one here; only the repository is in both.
guest_directory() {
	local here
	here=$(pwd -P)
	if [[ $KERNEL_NAME == native ]]; then
		echo "$here"
		return
	fi
	case $here/ in
	"$TOP_DIR"/*) echo "$here" ;;
	*)
		say "$here is not in the guest; the command runs in $TOP_DIR"
		echo "$TOP_DIR"
		;;
	esac
}

# from_guest FILE: what a guest wrote, if it is a file. A link there would lead anywhere.
from_guest() {
	[[ ! -f $1 || -L $1 ]] || cat -- "$1"
}

# guest_run MODE DIRECTORY COMMAND...: runs it in a new guest; returns its status. MODE is batch or shell.
guest_run() {
	local mode=$1 cwd=$2 job log status=0 readers=() ended='' ended_status qemu_status='' append boot=() consoles=() icount=() step=() disk=() limit=0 stdin stdout each
	shift 2
	mkdir -p "$BUILD_DIR/job" "$BUILD_DIR/log" "$GUEST_DIR"
	job=$(mktemp -d "$BUILD_DIR/job/XXXXXX") || return 125
	JOB_DIR=$job
	log=$BUILD_DIR/log/kernel-$(date +%Y%m%d-%H%M%S)-${job##*/}.log
	cp -- "$TOP_DIR/vm/guest-init" "$job/init"
	{
		printf '%s=%q\n' JOB_MODE "$mode" JOB_TOP "$TOP_DIR" JOB_GUEST "$GUEST_DIR" JOB_CWD "$cwd" \
			JOB_TIMEOUT "$JOB_TIMEOUT" JOB_MODULE "$MODULE_LOAD" JOB_TERM "${TERM-dumb}" JOB_SIZE "$(stty size <&2 2>/dev/null || true)" \
			JOB_TOOLS "$VM_TOOLS"
		printf 'JOB_COMMAND=('
		(($#)) && printf ' %q' "$@"
		printf ' )\n'
	} >"$job/job"
	mkfifo "$job/stdout" "$job/stderr"
	: >"$job/console"

	stdin=/dev/null stdout=$job/qemu
	if [[ $mode == shell ]]; then
		stdin=/dev/stdin stdout=/dev/stdout
		consoles=(-chardev "stdio,id=tty,signal=off" -device "virtconsole,chardev=tty")
	fi
	# The guest itself ends the command in time; if even that fails, its end is here. Set-up takes 10 s on an idle machine.
	((JOB_TIMEOUT)) && limit=$((JOB_TIMEOUT + 180))
	cat "$job/stdout" &
	readers[$!]=yes
	cat "$job/stderr" >&2 &
	readers[$!]=yes
	# thread=single: with a thread for each CPU, QEMU 7.2 lets one CPU run into the int3 of a text_poke_bp() that the other
	# one has completed, and the guest panics. Seen without kunwind, on the stock kernel: `echo function >current_tracer` and
	# nop again, filtered to perf_event_mmap, while programs start, for a minute. ftrace, and so kunwind, patches text when a
	# consumer comes or goes. VM_THREADS=multi, for `test smp`, takes that risk.
	#
	# no_timer_check: on a busy machine the guest's clock runs on while its CPU waits, and the kernel's test of the timer
	# (timer_irq_works()) then sees too few interrupts and panics: "IO-APIC + timer doesn't work!". KVM guests skip it, too.
	#
	# log_buf_len: a test's verdict is over all that the kernel said meanwhile, of hours.
	#
	# norandmaps: with random addresses QEMU translates a library's code anew for each process, as its wiki says (Features/TCG). Programs
	# took three times as long to start.
	#
	# A group of its own, so that a Ctrl-C on the terminal reaches only this script, which then ends the guest in order;
	# and no guest outlives the script, whatever ends it.
	# But only who is in the terminal's own group can read from it.
	#
	# mapped-xattr: what the guest's root says of a file that it makes, QEMU keeps in attributes. Here each is an ordinary file of mode 0600:
	# no program of root's, no device, and no link that leads elsewhere.
	[[ $mode == shell ]] || set -m
	# With VM_ICOUNT an instruction takes a nanosecond, and waiting no time: what the guest's clock measures is the number
	# of instructions, however busy this machine is.
	[[ -z $VM_ICOUNT ]] || icount=(-icount 'shift=0,sleep=off')
	# With VM_STEP the guest can have QEMU's CPUs take interrupts behind each instruction, not only at the ends of blocks of them. That
	# is slow, so a test asks for it, by QEMU's monitor.
	[[ -z $VM_STEP ]] || step=(-chardev "socket,id=monitor,path=${job//,/,,}/monitor,server=on,wait=off" -mon "chardev=monitor,mode=readline"
		-chardev "socket,id=control,path=${job//,/,,}/monitor" -device "virtserialport,chardev=control,name=monitor")
	[[ -z $VM_DISK ]] || disk=(-drive "file=${VM_DISK//,/,,},if=virtio,format=raw,readonly=on")
	append="console=ttyS0 quiet panic=-1 oops=panic no_timer_check watchdog_thresh=60 rcupdate.rcu_cpu_stall_timeout=180 log_buf_len=8M norandmaps $VM_APPEND"
	boot=(-machine "$VM_MACHINE" -kernel "$VM_ROOT/boot/vmlinuz-$KERNEL_RELEASE" -initrd "$VM_INITRD" -append "$append")
	if [[ $VM_FIRMWARE ]]; then
		firmware_kernel "$append"
		firmware_qemu
		boot=("${FIRMWARE_QEMU[@]}")
	fi
	setpriv --pdeathsig TERM -- timeout --foreground --kill-after 10 "$limit" \
		qemu-system-x86_64 -nodefaults -no-user-config -no-reboot -display none \
		-accel "tcg,thread=$VM_THREADS" "${icount[@]}" -cpu max -smp "$VM_CPUS" -m "$VM_MEMORY" \
		-drive "file=${VM_IMAGE//,/,,},if=virtio,format=raw,snapshot=on" "${boot[@]}" "${disk[@]}" \
		-chardev "file,id=log,path=${job//,/,,}/console" -serial chardev:log \
		-device virtio-serial-pci \
		-chardev "file,id=out,path=${job//,/,,}/stdout" -device virtserialport,chardev=out,name=stdout \
		-chardev "file,id=err,path=${job//,/,,}/stderr" -device virtserialport,chardev=err,name=stderr \
		"${consoles[@]}" "${step[@]}" \
		-virtfs "local,path=${job//,/,,},mount_tag=job,security_model=mapped-xattr,multidevs=remap" \
		-virtfs "local,path=${TOP_DIR//,/,,},mount_tag=top,security_model=none,readonly=on,multidevs=remap" \
		-virtfs "local,path=${GUEST_DIR//,/,,},mount_tag=guest,security_model=mapped-xattr,multidevs=remap" \
		<"$stdin" >"$stdout" 2>"$job/qemu" &
	RUN_CHILD=$!
	set +m
	while [[ -z $qemu_status ]]; do
		ended_status=0
		# Those that have ended are no longer waited for.
		wait -n -p ended "$RUN_CHILD" "${!readers[@]}" || ended_status=$?
		if [[ $ended == "$RUN_CHILD" ]]; then
			qemu_status=$ended_status
		elif ((ended_status)); then
			# Nobody reads what the command says any more, as with `| head`: a pipe's writer ends here, too.
			stop_child
			qemu_status=141
		else
			unset "readers[$ended]"
		fi
	done
	RUN_CHILD=
	# If qemu never opened them, these readers still wait for a writer.
	for each in "$job"/std{out,err}; do
		[[ ! -p $each || -L $each ]] || : 1<>"$each"
	done
	wait || true

	{ from_guest "$job/boot"; from_guest "$job/console"; } 2>/dev/null | tr -d '\r' >"$log" || true
	ln -sfn -- "${log##*/}" "$BUILD_DIR/log/kernel.log"
	VM_LOG=$log
	status=$(from_guest "$job/status")
	if [[ $status =~ ^[0-9]{1,3}$ ]]; then
		if [[ -e $job/timeout ]]; then
			say "the command was stopped after $JOB_TIMEOUT s; --timeout S allows more"
		fi
	elif ((qemu_status == 124 || qemu_status == 137)); then
		say "the guest did not end within $limit s; its kernel log is $log"
		status=124
	elif ((qemu_status == 141)); then
		status=141
	else
		{ from_guest "$job/qemu"; tail -n 15 "$log"; } | sed 's/^/    /' >&2
		say "the guest ended without a verdict (qemu: $qemu_status); its kernel log is $log"
		status=125
	fi
	job_clean
	return "$status"
}

# stop_child: ends what runs in the background, with all that it started.
stop_child() {
	if [[ -n $RUN_CHILD ]]; then
		kill -TERM -- "-$RUN_CHILD" 2>/dev/null || kill -TERM "$RUN_CHILD" 2>/dev/null || true
		wait "$RUN_CHILD" 2>/dev/null || true
		RUN_CHILD=
	fi
}

# job_clean: nothing of a job stays behind but its log.
job_clean() {
	if [[ -n ${JOB_DIR-} ]]; then
		rm -rf -- "$JOB_DIR"
		JOB_DIR=
	fi
	# shellcheck disable=SC2012
	ls -t "$BUILD_DIR"/log/kernel-*.log 2>/dev/null | tail -n +21 | xargs -r -d '\n' rm -f -- || true
}
