# SPDX-License-Identifier: GPL-2.0-only OR MIT
# shellcheck shell=bash
# Other parts of run.sh read what this one sets.
# shellcheck disable=SC2034
# A guest that starts as a PC with Secure Boot does: UEFI firmware that knows Microsoft's keys, and Debian's signed shim, GRUB and kernel.
#
# VM_FIRMWARE, if it is not empty, is the folder of such a PC: vars.fd, the variables that its firmware keeps, and esp/, what is on the disk
# that the firmware starts from. They outlive a guest.

NEED_FIRMWARE='
/usr/share/OVMF/OVMF_VARS_4M.ms.fd ovmf starts guests with Secure Boot
'

# firmware_make: a new PC, with shim and GRUB of VM_ROOT.
firmware_make() {
	local boot=$VM_FIRMWARE/esp/EFI/BOOT
	rm -rf -- "$VM_FIRMWARE"
	mkdir -p "$boot" "$VM_FIRMWARE/esp/EFI/debian"
	cp -- /usr/share/OVMF/OVMF_VARS_4M.ms.fd "$VM_FIRMWARE/vars.fd"
	# The firmware starts a disk by this name. shim looks for the others next to itself.
	cp -- "$VM_ROOT/usr/lib/shim/shimx64.efi.signed" "$boot/BOOTX64.EFI"
	cp -- "$VM_ROOT/usr/lib/shim/mmx64.efi.signed" "$boot/mmx64.efi"
	cp -- "$VM_ROOT/usr/lib/grub/x86_64-efi-signed/grubx64.efi.signed" "$boot/grubx64.efi"
}

# firmware_kernel APPEND: what GRUB starts is the kernel of VM_ROOT.
firmware_kernel() {
	cp -- "$VM_ROOT/boot/vmlinuz-$KERNEL_RELEASE" "$VM_FIRMWARE/esp/vmlinuz"
	cp -- "$VM_INITRD" "$VM_FIRMWARE/esp/initrd"
	printf '%s\n' "linux /vmlinuz $1" 'initrd /initrd' boot >"$VM_FIRMWARE/esp/EFI/debian/grub.cfg"
}

# firmware_qemu: QEMU's options for it, into FIRMWARE_QEMU. Only code in system management mode can write the variables, as in a PC.
firmware_qemu() {
	FIRMWARE_QEMU=(-machine "q35,smm=on" -global "driver=cfi.pflash01,property=secure,value=on" -global ICH9-LPC.disable_s3=1
		-drive "if=pflash,unit=0,format=raw,readonly=on,file=/usr/share/OVMF/OVMF_CODE_4M.ms.fd"
		-drive "if=pflash,unit=1,format=raw,file=${VM_FIRMWARE//,/,,}/vars.fd"
		-drive "if=virtio,format=raw,readonly=on,file=fat:${VM_FIRMWARE//,/,,}/esp")
}

# firmware_enrol PASSWORD: the restart after `mokutil --import`. shim starts MokManager, and a user confirms the key on the serial console.
firmware_enrol() {
	local text keys seen char console keyboard qemu
	firmware_qemu
	coproc CONSOLE {
		exec setpriv --pdeathsig TERM -- timeout --foreground --kill-after 10 300 \
			qemu-system-x86_64 -nodefaults -no-user-config -no-reboot -display none -accel tcg -cpu max -m 512M \
			"${FIRMWARE_QEMU[@]}" -serial stdio
	}
	# Bash forgets these when the process ends.
	qemu=$CONSOLE_PID
	exec {console}<&"${CONSOLE[0]}" {keyboard}>&"${CONSOLE[1]}"
	while IFS='|' read -r text keys; do
		seen=
		until [[ $seen == *"$text"* ]]; do
			LC_ALL=C IFS= read -r -N 1 -u "$console" char || {
				echo "MokManager did not say '$text', but: ${seen//[^[:print:]]/ }"
				return 1
			}
			seen+=$char
		done
		echo "MokManager: $text"
		# It reads keys when it has drawn the whole screen.
		sleep 2
		printf '%b' "$keys" >&"$keyboard"
	done <<-END
		Press any key|\r
		Enroll MOK|\e[B\r
		View key 0|\e[B\r
		Enroll the key(s)?|\e[B\r
		Password|$1\r
		Reboot|\r
	END
	cat <&"$console" >/dev/null
	wait "$qemu"
}
